"""Charts for pages and terminals' files: what is to be shown as values, written as SVG or as PNG.

chart = BarChart("Tokens", [Group(bars=[Bar("five tools", 900, is_ours=True), Bar("89 tools", 12_000)])], unit="tokens")
svg(chart)  # text
png(chart)  # bytes; needs Pillow
"""

from headgate.charts.pixels import PillowMissingError, check_pillow, png
from headgate.charts.values import Bar, BarChart, Chart, Group, LineChart, Mark, Point, Series
from headgate.charts.vectors import svg

__all__ = [
    "Bar",
    "BarChart",
    "Chart",
    "Group",
    "LineChart",
    "Mark",
    "PillowMissingError",
    "Point",
    "Series",
    "check_pillow",
    "png",
    "svg",
]
