"""A chart as SVG text, which needs nothing else to be shown."""

from collections.abc import Iterator
from html import escape
from typing import Final

from headgate.charts.drawing import drawn
from headgate.charts.shapes import Dot, Line, Picture, Rect, Shape, Text
from headgate.charts.values import Chart

__all__ = ["svg"]

_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg(chart: Chart) -> str:
    """The chart as an SVG document with its own light ground, so that it can stand on a dark page too."""
    return "\n".join(_lines(drawn(chart))) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    size = f"{_short(picture.width)} {_short(picture.height)}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_short(picture.width)}" '
        f'height="{_short(picture.height)}" role="img" aria-labelledby="title desc" font-family="{_FONTS}">'
    )
    yield f'<title id="title">{escape(picture.title)}</title>'
    yield f'<desc id="desc">{escape(picture.description)}</desc>'
    yield from map(_element, picture.shapes)
    yield "</svg>"


def _element(shape: Shape) -> str:
    match shape:
        case Rect():
            return _rect(shape)
        case Line():
            return _line(shape)
        case Dot(x, y, radius, fill):
            return f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}" fill="{fill}"/>'
        case Text():
            return _text(shape)


def _rect(shape: Rect) -> str:
    edge = f' stroke="{shape.edge}"' if shape.edge else ""
    radius = f' rx="{_short(shape.radius)}"' if shape.radius else ""
    return (
        f'<rect x="{_short(shape.x)}" y="{_short(shape.y)}" width="{_short(shape.width)}" '
        f'height="{_short(shape.height)}"{radius} fill="{shape.fill}"{edge}/>'
    )


def _line(shape: Line) -> str:
    points = " ".join(f"{_short(x)},{_short(y)}" for x, y in shape.points)
    dash = f' stroke-dasharray="{_short(shape.dash[0])} {_short(shape.dash[1])}"' if shape.dash else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{shape.colour}" stroke-width="{_short(shape.width)}" '
        f'stroke-linejoin="round"{dash}/>'
    )


def _text(shape: Text) -> str:
    anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
    weight = ' font-weight="600"' if shape.is_bold else ""
    halo = ' stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if shape.has_halo else ""
    return (
        f'<text x="{_short(shape.x)}" y="{_short(shape.y)}" font-size="{_short(shape.size)}" '
        f'fill="{shape.colour}"{anchor}{weight}{halo}>{escape(shape.words)}</text>'
    )


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
