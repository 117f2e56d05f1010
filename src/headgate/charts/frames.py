"""What all charts have around them: the ground, the title, the lines below it, and the colours of everything."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from headgate.charts.shapes import Picture, Rect, Shape, Text
from headgate.charts.values import Chart
from headgate.charts.words import clean, wrapped

__all__ = ["AXIS", "GRID", "INK", "INNER", "MARGIN", "MARKED", "OTHERS", "OURS", "SOFT", "WIDTH", "Header", "framed"]

WIDTH: Final = 860.0
MARGIN: Final = 36.0
INNER: Final = WIDTH - 2 * MARGIN

GROUND: Final = "#ffffff"
INK: Final = "#16212e"
SOFT: Final = "#586675"
GRID: Final = "#e8ecf1"
AXIS: Final = "#9aa6b4"
MARKED: Final = "#c2410c"
OURS: Final = ("#0b5cad", "#4c9be0", "#8cc1f0")
"""Told apart from grey and from each other without seeing colours, by how light they are."""
OTHERS: Final = ("#b3bec9", "#ccd4dc", "#98a5b3")

_TITLE_SIZE: Final = 22.0
_SUBTITLE_SIZE: Final = 14.0
_NOTE_SIZE: Final = 12.0
_LEADING: Final = 1.35


@dataclass(frozen=True, slots=True)
class Header:
    """The title and what stands below it."""

    shapes: tuple[Text, ...]
    bottom: float


def header_of(chart: Chart) -> Header:
    """The first lines of a chart."""
    titles = _lines(chart.title, _TITLE_SIZE, MARGIN, INK, is_bold=True)
    subtitles = _lines(chart.subtitle, _SUBTITLE_SIZE, _below(titles, MARGIN), SOFT)
    return Header((*titles, *subtitles), _below(subtitles, _below(titles, MARGIN)))


def framed(chart: Chart, header: Header, body: list[Shape], bottom: float, description: str) -> Picture:
    """A whole picture of what stands in the middle, which ends at ``bottom``."""
    notes = _lines(chart.footnote, _NOTE_SIZE, bottom + 14, SOFT)
    height = _below(notes, bottom + (14 if notes else 0)) + MARGIN - 10
    ground = Rect(0.5, 0.5, WIDTH - 1, height - 1, GROUND, 10, "#dde3ea")
    shapes = (ground, *header.shapes, *body, *notes)
    return Picture(WIDTH, height, clean(chart.title), description, shapes)


def _lines(text: str, size: float, top: float, colour: str, *, is_bold: bool = False) -> tuple[Text, ...]:
    def placed() -> Iterator[Text]:
        for place, line in enumerate(wrapped(clean(text), INNER, size, is_bold=is_bold)):
            yield Text(MARGIN, top + size + place * size * _LEADING, line, size, colour, is_bold=is_bold)

    return tuple(placed())


def _below(lines: tuple[Text, ...], top: float) -> float:
    return lines[-1].y + 0.5 * lines[-1].size if lines else top
