"""A bar chart as shapes: labels on the left, bars from one line, each with its value behind its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.charts.frames import (
    AXIS,
    GRID,
    INK,
    INNER,
    MARGIN,
    MARKED,
    OTHERS,
    OURS,
    SOFT,
    WIDTH,
    framed,
    header_of,
)
from headgate.charts.scales import Scale, scale_of
from headgate.charts.shapes import Line, Picture, Rect, Shape, Text
from headgate.charts.values import Bar, BarChart, Group, Mark
from headgate.charts.words import are_whole, clean, number, shortened, width_of

__all__ = ["bars_drawn"]

_SIZE: Final = 13.0
_TICK_SIZE: Final = 11.0
_BAR: Final = 20.0
_ROW: Final = 28.0
_HEADING: Final = 26.0
_BETWEEN_GROUPS: Final = 14.0
_MOST_LABEL: Final = 0.5 * INNER
_MOST_NOTE: Final = 0.2 * INNER
_GAP: Final = 8.0


@dataclass(frozen=True, slots=True)
class _Plot:
    """Where the bars are: they begin on the left, and the largest ends on the right."""

    left: float
    right: float
    scale: Scale
    is_whole: bool
    """Whether its values have nothing behind their points."""

    def x(self, value: float) -> float:
        return self.left + self.scale.share(value) * (self.right - self.left)

    def shown(self, value: float) -> str:
        return number(value, is_whole=self.is_whole)


def bars_drawn(chart: BarChart) -> Picture:
    """The picture of a bar chart."""
    header = header_of(chart)
    plot = _plot(chart)
    top = header.bottom + (34 if chart.mark else 16)
    tones = _tones(chart)
    rows, bottom = _rows(chart.groups, plot, top, tones)
    behind = [*_grid(chart.groups, plot, top), *_axis(plot, bottom + 2, chart)]
    behind += _mark(chart.mark, plot, top - 4, bottom + 2) if chart.mark else []
    unit_line = bottom + (44 if _axis_words(chart, plot.scale) else 24)
    return framed(chart, header, [*behind, *rows], unit_line, _told(chart))


def _plot(chart: BarChart) -> _Plot:
    bars = [bar for group in chart.groups for bar in group.bars]
    labels = max(width_of(_label(bar), _SIZE, is_bold=bar.is_ours) for bar in bars)
    is_whole = are_whole(bar.value for bar in bars)
    ends = max(_end_width(bar, is_whole) for bar in bars)
    marked = [chart.mark.value] if chart.mark else []
    spreads = [end for bar in bars for end in (bar.low, bar.value, bar.high) if end is not None]
    left = MARGIN + labels + _GAP if labels else MARGIN
    return _Plot(
        left, WIDTH - MARGIN - ends, scale_of([*spreads, *marked, *([0.0] if chart.is_linear else [])]), is_whole
    )


def _label(bar: Bar) -> str:
    return shortened(clean(bar.label), _MOST_LABEL, _SIZE, is_bold=bar.is_ours)


def _note(bar: Bar) -> str:
    return shortened(clean(bar.note), _MOST_NOTE, _SIZE)


def _end_width(bar: Bar, is_whole: bool) -> float:
    noted = width_of(_note(bar), _SIZE) + _GAP if bar.note else 0
    return _GAP + width_of(number(bar.value, is_whole=is_whole), _SIZE, is_bold=bar.is_ours) + noted


def _tones(chart: BarChart) -> dict[tuple[str, bool], str]:
    """A colour for each label: blues for ours, greys for others, the same in every group."""
    found: dict[tuple[str, bool], str] = {}
    for group in chart.groups:
        for bar in group.bars:
            tones = OURS if bar.is_ours else OTHERS
            used = sum(is_ours == bar.is_ours for _, is_ours in found)
            found.setdefault((bar.label, bar.is_ours), tones[min(used, len(tones) - 1)] if bar.is_ours else OTHERS[0])
    return found


def _rows(
    groups: Sequence[Group], plot: _Plot, top: float, tones: dict[tuple[str, bool], str]
) -> tuple[list[Shape], float]:
    shapes: list[Shape] = []
    for place, group in enumerate(groups):
        top += _BETWEEN_GROUPS if place else 0
        if group.label:
            words = shortened(clean(group.label), INNER, _SIZE, is_bold=True)
            shapes.append(Text(MARGIN, top + _SIZE + 3, words, _SIZE, INK, is_bold=True, has_halo=True))
            top += _HEADING
        for bar in group.bars:
            shapes += _bar(bar, plot, top, tones[bar.label, bar.is_ours])
            top += _ROW
    return shapes, top


def _bar(bar: Bar, plot: _Plot, top: float, colour: str) -> Iterator[Shape]:
    base = top + (_ROW + _SIZE) / 2 - 2
    start, end = plot.left, plot.x(bar.value)
    yield Text(start - _GAP, base, _label(bar), _SIZE, INK, "end", is_bold=bar.is_ours)
    yield Rect(start, top + (_ROW - _BAR) / 2, max(end - start, 1.5), _BAR, colour, 2)
    reach = max(end, plot.x(bar.high) if bar.high is not None else end)
    yield from _spread(bar, plot, top + _ROW / 2)
    value = plot.shown(bar.value)
    yield Text(reach + _GAP, base, value, _SIZE, INK, is_bold=bar.is_ours, has_halo=True)
    if note := _note(bar):
        after = reach + 2 * _GAP + width_of(value, _SIZE, is_bold=bar.is_ours)
        yield Text(after, base, note, _SIZE, SOFT, has_halo=True)


def _spread(bar: Bar, plot: _Plot, middle: float) -> Iterator[Line]:
    if bar.low is None and bar.high is None:
        return
    low, high = plot.x(bar.value if bar.low is None else bar.low), plot.x(bar.value if bar.high is None else bar.high)
    yield Line(((low, middle), (high, middle)), INK, 1.4)
    for end in (low, high):
        yield Line(((end, middle - 4), (end, middle + 4)), INK, 1.4)


def _grid(groups: Sequence[Group], plot: _Plot, top: float) -> Iterator[Line]:
    """The lines behind the bars; none goes through a heading."""
    ticks = [(plot.x(tick), GRID) for tick in plot.scale.ticks()]
    for place, group in enumerate(groups):
        begin = top + (_BETWEEN_GROUPS if place else 0) + (_HEADING if group.label else 0)
        end = begin + len(group.bars) * _ROW
        upper = begin if group.label or not place else top
        for x, colour in [*ticks, (plot.left, AXIS)]:
            yield Line(((x, upper - 2), (x, end + 2)), colour)
        top = end


def _axis(plot: _Plot, bottom: float, chart: BarChart) -> Iterator[Shape]:
    ticks, written = plot.scale.ticks(), 0.0
    is_whole = are_whole(ticks)
    for tick in ticks:
        x, words = plot.x(tick), number(tick, is_whole=is_whole or plot.scale.is_log)
        half = width_of(words, _TICK_SIZE) / 2
        if x - half > written + _GAP and x + half < WIDTH:
            yield Text(x, bottom + 16, words, _TICK_SIZE, SOFT, "middle")
            written = x + half
    if words := _axis_words(chart, plot.scale):
        yield Text(plot.left, bottom + 36, shortened(words, WIDTH - plot.left - MARGIN, _TICK_SIZE), _TICK_SIZE, SOFT)


def _axis_words(chart: BarChart, scale: Scale) -> str:
    return ", ".join(filter(None, (clean(chart.unit), "logarithmic scale" if scale.is_log else "")))


def _mark(mark: Mark, plot: _Plot, top: float, bottom: float) -> Iterator[Shape]:
    x = plot.x(mark.value)
    words = shortened(clean(mark.label), INNER, _TICK_SIZE + 1, is_bold=True)
    half = width_of(words, _TICK_SIZE + 1, is_bold=True) / 2
    middle = min(max(x, MARGIN + half), WIDTH - MARGIN - half)
    yield Line(((x, top), (x, bottom)), MARKED, 1.6, (5, 4))
    yield Text(middle, top - 6, words, _TICK_SIZE + 1, MARKED, "middle", is_bold=True)


def _told(chart: BarChart) -> str:
    """All values in words."""
    unit = f" {clean(chart.unit)}" if chart.unit else ""
    is_whole = are_whole(bar.value for group in chart.groups for bar in group.bars)
    told = [
        f"{clean(group.label)}{': ' if group.label else ''}"
        + ", ".join(f"{clean(bar.label)} {number(bar.value, is_whole=is_whole)}{unit}" for bar in group.bars)
        for group in chart.groups
    ]
    marked = [f"{clean(chart.mark.label)}: {number(chart.mark.value)}{unit}"] if chart.mark else []
    return ". ".join([*filter(None, [clean(chart.subtitle)]), *told, *marked]) + "."
