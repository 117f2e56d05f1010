"""A line chart as shapes: values go up, and each line has its name behind its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.charts.frames import AXIS, GRID, INK, INNER, MARGIN, MARKED, OURS, SOFT, WIDTH, framed, header_of
from headgate.charts.scales import Scale, scale_of
from headgate.charts.shapes import Dot, Line, Picture, Shape, Text
from headgate.charts.values import LineChart, Mark, Series
from headgate.charts.words import are_whole, clean, number, shortened, width_of

__all__ = ["lines_drawn"]

_SIZE: Final = 13.0
_TICK_SIZE: Final = 11.0
_LEAST_HEIGHT: Final = 280.0
_NAME_ROW: Final = 19.0
_MOST_DOTS: Final = 25
_MOST_NAME: Final = 0.3 * INNER
_GAP: Final = 10.0
_COLOURS: Final = ("#d55e00", "#009e73", "#8d5a97", "#7a6200", "#56657a")
_DASHES: Final = (None, (7.0, 4.0), (2.5, 3.5), (10.0, 4.0), (5.0, 2.5))


@dataclass(frozen=True, slots=True)
class _Look:
    colour: str
    width: float
    dash: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class _Plot:
    left: float
    right: float
    top: float
    bottom: float
    across: Scale
    up: Scale

    def place(self, x: float, y: float) -> tuple[float, float]:
        return self.x(x), self.y(y)

    def x(self, value: float) -> float:
        return self.left + self.across.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.up.share(value) * (self.bottom - self.top)


def lines_drawn(chart: LineChart) -> Picture:
    """The picture of a line chart."""
    header = header_of(chart)
    plot = _plot(chart, header.bottom + 52)
    looks = _looks(chart.series)
    body = [*_grid(plot, chart), *(_mark(chart.mark, plot) if chart.mark else [])]
    for series, look in sorted(zip(chart.series, looks, strict=True), key=lambda one: one[0].is_ours):
        body += _series(series, look, plot)
    body += _names(chart.series, looks, plot)
    bottom = plot.bottom + (44 if _x_words(chart, plot) else 24)
    return framed(chart, header, body, bottom, _told(chart))


def _plot(chart: LineChart, top: float) -> _Plot:
    points = [point for series in chart.series for point in series.points]
    marked = [chart.mark.value] if chart.mark else []
    up = scale_of([*(end for p in points for end in (p.low, p.y, p.high) if end is not None), *marked], is_below=False)
    ticks = max(width_of(words, _TICK_SIZE) for words in _tick_words(up).values())
    names = max(width_of(_name(series), _SIZE, is_bold=series.is_ours) for series in chart.series)
    left, right = MARGIN + ticks + _GAP, WIDTH - MARGIN - names - 2 * _GAP
    height = max(_LEAST_HEIGHT, _NAME_ROW * len(chart.series))
    return _Plot(left, right, top, top + height, _across([point.x for point in points]), up)


def _across(values: Sequence[float]) -> Scale:
    """From the first to the last value; even steps where these are far apart."""
    found = scale_of(values)
    low, high = min(values), max(values)
    return Scale(low, high if high > low else low + (low or 1.0), found.is_log)


def _looks(series: Sequence[Series]) -> list[_Look]:
    """How each line is drawn: ours in strong blues, others in colours that differ by their dashes too."""
    ours, others = 0, 0
    found = []
    for one in series:
        if one.is_ours:
            found.append(_Look(OURS[min(ours, len(OURS) - 1)], 3, None))
            ours += 1
        else:
            found.append(_Look(_COLOURS[others % len(_COLOURS)], 1.8, _DASHES[others % len(_DASHES)]))
            others += 1
    return found


def _name(series: Series) -> str:
    return shortened(clean(series.label), _MOST_NAME, _SIZE, is_bold=series.is_ours)


def _tick_words(scale: Scale) -> dict[float, str]:
    ticks = scale.ticks()
    is_whole = scale.is_log or are_whole(ticks)
    return {tick: number(tick, is_whole=is_whole) for tick in ticks}


def _grid(plot: _Plot, chart: LineChart) -> Iterator[Shape]:
    for tick, words in _tick_words(plot.up).items():
        y = plot.y(tick)
        yield Line(((plot.left, y), (plot.right, y)), GRID)
        yield Text(plot.left - _GAP, y + 4, words, _TICK_SIZE, SOFT, "end")
    yield Line(((plot.left, plot.bottom), (plot.right, plot.bottom)), AXIS)
    yield from _x_ticks(plot, sorted({point.x for series in chart.series for point in series.points}))
    if words := ", ".join(filter(None, (clean(chart.unit), "logarithmic scale" if plot.up.is_log else ""))):
        yield Text(MARGIN, plot.top - 28, shortened(words, INNER, _TICK_SIZE), _TICK_SIZE, SOFT)
    if words := _x_words(chart, plot):
        room = WIDTH - MARGIN - plot.left
        yield Text(plot.left, plot.bottom + 38, shortened(words, room, _TICK_SIZE), _TICK_SIZE, SOFT)


def _x_words(chart: LineChart, plot: _Plot) -> str:
    return ", ".join(filter(None, (clean(chart.x_label), "logarithmic scale" if plot.across.is_log else "")))


def _x_ticks(plot: _Plot, values: Sequence[float]) -> Iterator[Shape]:
    """What was measured is what is written, where there is room; the last goes before the others."""
    free = WIDTH
    for value in reversed(values):
        x, words = plot.x(value), number(value)
        half = width_of(words, _TICK_SIZE) / 2
        if x - half > 0 and x + half < free:
            yield Line(((x, plot.bottom), (x, plot.bottom + 5)), AXIS)
            yield Text(x, plot.bottom + 18, words, _TICK_SIZE, SOFT, "middle")
            free = x - half - _GAP


def _mark(mark: Mark, plot: _Plot) -> Iterator[Shape]:
    y = plot.y(mark.value)
    words = shortened(clean(mark.label), plot.right - plot.left - _GAP, _TICK_SIZE, is_bold=True)
    yield Line(((plot.left, y), (plot.right, y)), MARKED, 1.6, (5, 4))
    yield Text(plot.left + _GAP, y - 6, words, _TICK_SIZE, MARKED, is_bold=True, has_halo=True)


def _series(series: Series, look: _Look, plot: _Plot) -> Iterator[Shape]:
    points = sorted(series.points, key=lambda point: point.x)
    for point in points:
        if point.low is not None or point.high is not None:
            x = plot.x(point.x)
            low, high = (plot.y(point.y if end is None else end) for end in (point.low, point.high))
            yield Line(((x, low), (x, high)), look.colour, 1.2)
            for end in (low, high):
                yield Line(((x - 3, end), (x + 3, end)), look.colour, 1.2)
    if len(points) > 1:
        yield Line([plot.place(point.x, point.y) for point in points], look.colour, look.width, look.dash)
    for point in points if len(points) <= _MOST_DOTS else ():
        yield Dot(*plot.place(point.x, point.y), 4 if series.is_ours else 3, look.colour)


def _names(series: Sequence[Series], looks: Sequence[_Look], plot: _Plot) -> Iterator[Shape]:
    """Each name beside the end of its line, moved up or down where two would meet."""
    ends = [plot.y(max(one.points, key=lambda point: point.x).y) for one in series]
    for one, look, end, y in zip(series, looks, ends, _apart(ends, plot.top, plot.bottom), strict=True):
        place = plot.right + 2 * _GAP
        yield Line(((plot.right + 5, end), (place - 4, y)), look.colour, 1.2)
        yield Text(place, y + 4, _name(one), _SIZE, OURS[0] if one.is_ours else INK, is_bold=one.is_ours)


def _apart(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places in the same order that are a row apart, within the plot."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    found = list(wanted)
    reached = top - _NAME_ROW
    for place in order:
        reached = found[place] = max(found[place], reached + _NAME_ROW)
    reached = bottom + _NAME_ROW
    for place in reversed(order):
        reached = found[place] = min(found[place], reached - _NAME_ROW)
    return found


def _told(chart: LineChart) -> str:
    """All values in words."""
    unit = f" {clean(chart.unit)}" if chart.unit else ""
    told = [
        f"{clean(one.label)}: "
        + ", ".join(f"{number(p.y)}{unit} by {number(p.x)}" for p in sorted(one.points, key=lambda point: point.x))
        for one in chart.series
    ]
    return ". ".join([*filter(None, [clean(chart.subtitle)]), *told]) + "."
