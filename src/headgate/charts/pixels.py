"""A chart as PNG, drawn by Pillow with the font that it brings, so that the picture is the same on every machine."""

import io
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from headgate.charts.drawing import drawn
from headgate.charts.shapes import Dot, Line, Picture, Rect, Shape, Text
from headgate.charts.values import Chart

if TYPE_CHECKING:
    from PIL import ImageDraw

__all__ = ["PillowMissingError", "check_pillow", "png"]

_FINER: Final = 2
"""Drawn so many times finer and made smaller again, since Pillow's own lines have stairs."""
_BOLDER: Final = 0.017
_SPELT: Final = {
    "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00d7": "x", "\u00b5": "u", "\u03bc": "u", "\u2192": ">",
}  # fmt: skip
_SHOWN: Final = frozenset("\u00b7\u2026\u2018\u2019\u201c\u201d\u00b0\u00b1")


class PillowMissingError(RuntimeError):
    """PNG was asked for where Pillow is not installed."""


def check_pillow() -> None:
    """Refuse to draw a PNG where Pillow is not installed."""
    try:
        import PIL  # noqa: F401, PLC0415  (optional)
    except ImportError:
        raise PillowMissingError(
            "PNG is drawn by Pillow, which is not installed: pip install pillow, or write SVG"
        ) from None


def png(chart: Chart, scale: int = 2) -> bytes:
    """The chart as a PNG of ``scale`` pixels for each unit: 1,720 wide unless said."""
    check_pillow()
    from PIL import Image, ImageDraw  # noqa: PLC0415  (optional)

    picture = drawn(chart)
    finer = scale * _FINER
    image = Image.new("RGB", (round(picture.width * finer), round(picture.height * finer)), "#ffffff")
    _Pen(ImageDraw.Draw(image), finer).draw(picture)
    smaller = image.resize((image.width // _FINER, image.height // _FINER), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    smaller.save(stream, "PNG", optimize=True)
    return stream.getvalue()


class _Pen:
    """Draws shapes."""

    def __init__(self, draw: "ImageDraw.ImageDraw", finer: int) -> None:
        self._draw = draw
        self._finer = finer

    def draw(self, picture: Picture) -> None:
        for shape in picture.shapes:
            self._shape(shape)

    def _shape(self, shape: Shape) -> None:
        match shape:
            case Rect():
                self._rect(shape)
            case Line():
                self._line(shape)
            case Dot(x, y, radius, fill):
                self._draw.circle((x * self._finer, y * self._finer), radius * self._finer, fill=fill)
            case Text():
                self._text(shape)

    def _rect(self, shape: Rect) -> None:
        corners = [shape.x, shape.y, shape.x + shape.width, shape.y + shape.height]
        left, top, right, bottom = (round(corner * self._finer) for corner in corners)
        radius = min(shape.radius * self._finer, (right - left) / 2, (bottom - top) / 2)
        self._draw.rounded_rectangle(
            (left, top, right, bottom), radius, shape.fill, shape.edge, self._finer if shape.edge else 0
        )

    def _line(self, shape: Line) -> None:
        points = [(x * self._finer, y * self._finer) for x, y in shape.points]
        width = max(1, round(shape.width * self._finer))
        for piece in _dashes(points, [part * self._finer for part in shape.dash]) if shape.dash else [points]:
            self._draw.line(piece, fill=shape.colour, width=width, joint="curve")

    def _text(self, shape: Text) -> None:
        from PIL import ImageFont  # noqa: PLC0415  (optional)

        font = ImageFont.load_default(shape.size * self._finer)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
        place, words = (shape.x * self._finer, shape.y * self._finer), spelt(shape.words)
        if shape.has_halo:
            self._draw.text(place, words, "#ffffff", font, anchor, stroke_width=2 * self._finer, stroke_fill="#ffffff")
        bold = _BOLDER * shape.size * self._finer if shape.is_bold else 0
        self._draw.text(place, words, shape.colour, font, anchor, stroke_width=bold, stroke_fill=shape.colour)


def spelt(text: str) -> str:
    """The text in signs that Pillow's own font has; letters lose what is above and below them."""
    return "".join(_spelt(sign) for sign in text)


def _spelt(sign: str) -> str:
    if sign.isascii() or sign in _SHOWN:
        return sign
    plain = [one for one in unicodedata.normalize("NFKD", sign) if one.isascii()]
    return _SPELT.get(sign) or (plain[0] if len(plain) == 1 else "?")


def _dashes(points: Sequence[tuple[float, float]], dash: Sequence[float]) -> Iterator[Sequence[tuple[float, float]]]:
    """The pieces of a dashed line; each leg begins with a dash."""
    drawn_part, gap = dash
    for (x, y), (to_x, to_y) in pairwise(points):
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        done = 0.0
        while done < length:
            ends = (done / length, min(done + drawn_part, length) / length)
            yield [(x + (to_x - x) * end, y + (to_y - y) * end) for end in ends]
            done += drawn_part + gap
