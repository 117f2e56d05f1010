"""Charts as SVG, drawn here: a page needs no script to show them, and no style of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

__all__ = ["Series", "bars", "lines"]

_WIDTH: Final = 360
_HEIGHT: Final = 100
_LEFT: Final = 34
_BOTTOM: Final = 18


@dataclass(frozen=True, slots=True)
class Series:
    """Values in the order of time; None where there is nothing to tell. The kind is a class in the style sheet."""

    name: str
    kind: str
    values: Sequence[float | None]


def bars(title: str, unit: str, series: Sequence[Series]) -> Markup:
    """Bars upon each other, one for each moment."""
    totals = [sum(value or 0 for value in values) for values in zip(*(one.values for one in series), strict=True)]
    top = _round_up(max(totals, default=0))
    width = (_WIDTH - _LEFT) / max(1, len(totals))
    shapes: list[Markup] = []
    below = [0.0] * len(totals)
    for one in series:
        for index, value in enumerate(one.values):
            if value:
                x, y = _LEFT + index * width, _y(below[index] + value, top)
                height = _y(below[index], top) - y
                shapes.append(
                    Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
                        one.kind, x, y, max(1.0, width - 1), height
                    )
                )
                below[index] += value
    return _framed(title, unit, top, series, shapes)


def lines(title: str, unit: str, series: Sequence[Series]) -> Markup:
    """A line for each series, broken where there is nothing to tell."""
    top = _round_up(max((value or 0 for one in series for value in one.values), default=0))
    shapes = [shape for one in series for shape in _line(one, top)]
    return _framed(title, unit, top, series, shapes)


def _line(one: Series, top: float) -> list[Markup]:
    step = (_WIDTH - _LEFT) / max(1, len(one.values))
    runs: list[list[tuple[float, float]]] = [[]]
    for index, value in enumerate(one.values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((_LEFT + (index + 0.5) * step, _y(value, top)))
    shapes = []
    for run in filter(None, runs):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
        shapes.append(Markup('<polyline class="{}" points="{}"/>').format(one.kind, points))
        if len(run) == 1:
            shapes.append(Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="2"/>').format(one.kind, *run[0]))
    return shapes


def _framed(title: str, unit: str, top: float, series: Sequence[Series], shapes: Sequence[Markup]) -> Markup:
    said = "; ".join(_told(one, unit) for one in series)
    return Markup(
        '<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{title}: {said}">'
        '<line class="axis" x1="{left}" x2="{width}" y1="{base}" y2="{base}"/>'
        '<text x="{edge}" y="10" class="tick">{top:g}</text><text x="{edge}" y="{base}" class="tick">0</text>'
        '{shapes}<text x="{left}" y="{foot}" class="time">60 min ago</text>'
        '<text x="{width}" y="{foot}" class="time end">now</text></svg>'
    ).format(
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        edge=_LEFT - 4,
        base=_HEIGHT - _BOTTOM,
        foot=_HEIGHT - 4,
        title=title,
        said=said,
        top=top,
        shapes=Markup("").join(shapes),
    )


def _told(one: Series, unit: str) -> str:
    """A series in words, for whoever does not see it."""
    known = [value for value in one.values if value is not None]
    return f"{one.name} at most {max(known):g} {unit}" if known else f"{one.name} nothing yet"


def _y(value: float, top: float) -> float:
    return (_HEIGHT - _BOTTOM) * (1 - value / top) if top else float(_HEIGHT - _BOTTOM)


def _round_up(value: float) -> float:
    """A figure with one digit that is not below a value."""
    if value <= 0:
        return 1.0
    size = 10.0 ** (len(str(int(value))) - 1) if value >= 1 else 1.0
    return next(size * step for step in (1, 2, 5, 10) if size * step >= value)
