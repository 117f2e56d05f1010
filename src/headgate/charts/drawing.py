"""From what a chart shows to its picture."""

from headgate.charts.bars import bars_drawn
from headgate.charts.lines import lines_drawn
from headgate.charts.shapes import Picture
from headgate.charts.values import BarChart, Chart

__all__ = ["drawn"]


def drawn(chart: Chart) -> Picture:
    """The picture of a chart, as shapes that any format can hold."""
    return bars_drawn(chart) if isinstance(chart, BarChart) else lines_drawn(chart)
