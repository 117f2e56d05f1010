"""A drawing as shapes with coordinates from the upper left corner, before it is written in any format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from headgate.charts.words import width_of

__all__ = ["Box", "Dot", "Line", "Picture", "Rect", "Shape", "Text", "box_of"]


class Box(NamedTuple):
    """What a shape covers."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled rectangle; with ``radius``, its corners are round."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0
    edge: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line through two points or more."""

    points: Sequence[tuple[float, float]]
    colour: str
    width: float = 1
    dash: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text. ``y`` is its base line, ``x`` where it starts, has its middle or ends."""

    x: float
    y: float
    words: str
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    is_bold: bool = False
    has_halo: bool = False
    """Whether the ground around the letters is kept free of lines."""


Shape: TypeAlias = Rect | Line | Dot | Text


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished drawing, and what it says to those who cannot see it."""

    width: float
    height: float
    title: str
    description: str
    shapes: Sequence[Shape]


def box_of(shape: Shape) -> Box:
    """What a shape covers; of a text, at most."""
    match shape:
        case Rect(x, y, width, height):
            return Box(x, y, x + width, y + height)
        case Line(points):
            across, down = [x for x, _ in points], [y for _, y in points]
            return Box(min(across), min(down), max(across), max(down))
        case Dot(x, y, radius):
            return Box(x - radius, y - radius, x + radius, y + radius)
        case Text():
            width = width_of(shape.words, shape.size, is_bold=shape.is_bold)
            left = shape.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor]
            return Box(left, shape.y - 0.8 * shape.size, left + width, shape.y + 0.25 * shape.size)
