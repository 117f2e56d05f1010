"""Charts: whatever they show, everything is inside, no text lies on another, and what is drawn is what was said."""

import io
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from headgate.charts import (
    Bar,
    BarChart,
    Chart,
    Group,
    LineChart,
    Mark,
    PillowMissingError,
    Point,
    Series,
    png,
    svg,
)
from headgate.charts.drawing import drawn
from headgate.charts.pixels import spelt
from headgate.charts.shapes import Box, Line, Picture, Rect, Text, box_of

SVG = "{http://www.w3.org/2000/svg}"
WORDS = st.text(max_size=60)
VALUES = st.just(0.0) | st.floats(1e-15, 1e15)
NEAR = st.floats(0.5, 20)


@st.composite
def spreads(draw: st.DrawFn, values: st.SearchStrategy[float]) -> tuple[float | None, float, float | None]:
    low, value, high = sorted([draw(values), draw(values), draw(values)])
    return (draw(st.sampled_from([None, low])), value, draw(st.sampled_from([None, high])))


@st.composite
def bars(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Bar:
    low, value, high = draw(spreads(values))
    return Bar(draw(WORDS), value, low, high, draw(st.booleans()), draw(WORDS))


@st.composite
def points(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Point:
    low, value, high = draw(spreads(values))
    return Point(draw(VALUES), value, low, high)


def several(one: st.SearchStrategy[Any], most: int = 4) -> st.SearchStrategy[list[Any]]:
    return st.lists(one, min_size=1, max_size=most)


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    values = draw(st.sampled_from([VALUES, NEAR]))
    mark = draw(st.none() | st.builds(Mark, values, WORDS))
    captions: dict[str, Any] = {name: draw(WORDS) for name in ("subtitle", "unit", "footnote")}
    title = draw(st.text(max_size=200))
    if draw(st.booleans()):
        groups = draw(several(st.builds(Group, several(bars(values)), WORDS)))
        return BarChart(title, groups, mark, **captions)
    series = draw(several(st.builds(Series, WORDS, several(points(values)), st.booleans()), 30))
    return LineChart(title, series, draw(WORDS), mark, **captions)


def overlap(one: Box, other: Box) -> bool:
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return across > 0.01 and down > 0.01


def texts(picture: Picture) -> list[Text]:
    return [shape for shape in picture.shapes if isinstance(shape, Text)]


def words(chart: Chart) -> list[str]:
    return [text.words for text in texts(drawn(chart))]


def parsed(chart: Chart) -> Element:
    root = fromstring(svg(chart))
    assert isinstance(root, Element)
    return root


def simple(*bars: Bar, **more: Any) -> BarChart:
    return BarChart("Costs", [Group(bars)], **more)


def lengths(chart: Chart) -> list[float]:
    """How long the bars are, from above."""
    return [shape.width for shape in drawn(chart).shapes[1:] if isinstance(shape, Rect)]


@settings(max_examples=100, deadline=None)
@given(charts())
def test_everything_is_inside_the_picture(chart: Chart) -> None:
    picture = drawn(chart)
    for shape in picture.shapes:
        left, top, right, bottom = box_of(shape)
        assert 0 <= left <= right <= picture.width, shape
        assert 0 <= top <= bottom <= picture.height, shape


@settings(max_examples=100, deadline=None)
@given(charts())
def test_no_text_lies_on_another(chart: Chart) -> None:
    for one, other in combinations(texts(drawn(chart)), 2):
        assert not overlap(box_of(one), box_of(other)), (one, other)


@settings(max_examples=100, deadline=None)
@given(charts())
def test_svg_is_well_formed_whatever_the_words(chart: Chart) -> None:
    root = parsed(chart)
    assert [one.tag for one in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    shown = [one.text or "" for one in root.iter(f"{SVG}text")]
    assert shown == [text.words for text in texts(drawn(chart))]


@settings(max_examples=20, deadline=None)
@given(charts())
def test_png_is_a_picture_whatever_the_words(chart: Chart) -> None:
    with Image.open(io.BytesIO(png(chart, 1))) as image:
        assert (image.format, image.width) == ("PNG", 860)


def test_no_text_needs_more_room_than_was_reckoned_with() -> None:
    from PIL import ImageFont

    for text in texts(drawn(simple(Bar("".join(map(chr, range(32, 127))), 3.14)))):
        measured = ImageFont.load_default(text.size).getlength(spelt(text.words))
        box = box_of(text)
        assert measured <= box.right - box.left


def test_a_label_is_text_and_never_markup() -> None:
    chart = simple(Bar("<script>alert('&')</script>", 1), subtitle='"><svg onload="x">', footnote="]]>\x00\u202eabc")
    root = parsed(chart)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {"svg", "title", "desc", "rect", "polyline", "text"}
    shown = [one.text for one in root.iter(f"{SVG}text")]
    assert {"<script>alert('&')</script>", '"><svg onload="x">', "]]> abc"} <= {*shown}


def test_bars_are_as_long_as_their_values() -> None:
    one, two, none = lengths(simple(Bar("a", 10), Bar("b", 20), Bar("c", 0)))
    assert two == pytest.approx(2 * one)
    assert none < 2


def test_values_that_are_far_apart_are_on_a_logarithmic_axis_which_says_so() -> None:
    small, middle, large = lengths(far := simple(Bar("a", 10), Bar("b", 100), Bar("c", 1000), unit="tokens"))
    assert large - middle == pytest.approx(middle - small)
    assert small > 10, "the smallest is seen too"
    assert "tokens, logarithmic scale" in words(far)
    assert "logarithmic scale" not in " ".join(words(simple(Bar("a", 20), Bar("b", 1000))))
    assert "logarithmic scale" not in " ".join(words(simple(Bar("a", 0), Bar("b", 1000)))), "0 has no logarithm"
    small, middle, large = lengths(simple(Bar("a", 10), Bar("b", 100), Bar("c", 1000), is_linear=True))
    assert middle / small == pytest.approx(10)
    assert large / middle == pytest.approx(10)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([52_877, 123, 1], ["52,877", "123", "1"]),
        ([1, 1.044, 12.34], ["1.00", "1.04", "12.3"]),
        ([0.25, 0.0005, 120.5, 0], ["0.250", "0.0005", "120", "0"]),
    ],
    ids=["whole", "ratios", "parts"],
)
def test_values_stand_behind_their_bars_as_people_write_them(values: Sequence[float], shown: Sequence[str]) -> None:
    chart = simple(*(Bar(f"bar {value}", value) for value in values))
    bold = [text.words for text in texts(drawn(chart)) if text.size == 13 and text.anchor == "start"]
    assert bold == shown


def test_ours_is_told_apart_by_its_colour_and_its_label() -> None:
    picture = drawn(simple(Bar("ours", 1, is_ours=True), Bar("one", 2), Bar("other", 3)))
    ours, one, other = [shape.fill for shape in picture.shapes[1:] if isinstance(shape, Rect)]
    assert one == other != ours
    assert [text.words for text in texts(picture) if text.is_bold and text.anchor == "end"] == ["ours"]


def test_a_bar_of_the_same_name_has_the_same_colour_in_every_group() -> None:
    groups = [Group([Bar("five", 1, is_ours=True), Bar("one", 1, is_ours=True)], str(number)) for number in range(2)]
    picture = drawn(BarChart("", groups))
    five, one, *again = [shape.fill for shape in picture.shapes[1:] if isinstance(shape, Rect)]
    assert (five != one, again) == (True, [five, one])


def test_a_mark_is_a_line_across_all_bars_with_its_words_above() -> None:
    picture = drawn(simple(Bar("a", 1), Bar("b", 2), mark=Mark(1.5, "aim 1.5")))
    [mark] = [shape for shape in picture.shapes if isinstance(shape, Line) and shape.dash]
    [label] = [text for text in texts(picture) if text.words == "aim 1.5"]
    rects = [shape for shape in picture.shapes[1:] if isinstance(shape, Rect)]
    assert rects[0].x + rects[0].width < mark.points[0][0] < rects[1].x + rects[1].width
    assert label.y < mark.points[0][1] < rects[0].y
    assert mark.points[1][1] > rects[1].y + rects[1].height


def test_a_spread_reaches_from_its_lower_to_its_upper_end() -> None:
    picture = drawn(simple(Bar("a", 10, 5, 20), Bar("b", 5), Bar("c", 20)))
    _, five, twenty = [shape for shape in picture.shapes[1:] if isinstance(shape, Rect)]
    spread = next(shape for shape in picture.shapes if isinstance(shape, Line) and shape.width == 1.4)
    assert [x for x, _ in spread.points] == [
        pytest.approx(five.x + five.width),
        pytest.approx(twenty.x + twenty.width),
    ]


def test_lines_go_through_their_points_from_left_to_right_in_any_order() -> None:
    chart = LineChart("", [Series("a", [Point(3, 1), Point(1, 2), Point(2, 3)])], "clients", unit="ms")
    [line] = [shape for shape in drawn(chart).shapes if isinstance(shape, Line) and len(shape.points) == 3]
    (a_x, a_y), (b_x, b_y), (c_x, c_y) = line.points
    assert b_x - a_x == pytest.approx(c_x - b_x)
    assert b_y < a_y < c_y
    assert {"a", "clients", "ms", "1", "2", "3"} <= {*words(chart)}


def test_what_was_measured_is_written_below_a_line() -> None:
    chart = LineChart("", [Series("a", [Point(x, 1) for x in (1, 16, 256)])], "clients")
    assert {"1", "16", "256", "clients, logarithmic scale"} <= {*words(chart)}


def test_many_points_are_a_line_without_dots() -> None:
    few, many = (LineChart("", [Series("a", [Point(x, 1) for x in range(count)])]) for count in (10, 100))
    assert ("<circle" in svg(few), "<circle" in svg(many)) == (True, False)


def test_a_mark_across_lines_has_its_words() -> None:
    chart = LineChart("", [Series("a", [Point(1, 1, 0.5, 2)])], mark=Mark(1.5, "aim"))
    assert "aim" in words(chart)


def test_those_who_cannot_see_a_chart_hear_all_of_its_values() -> None:
    chart = BarChart(
        "Costs",
        [Group([Bar("five", 800), Bar("all", 9000)], "list"), Group([Bar("one", 200)])],
        Mark(700, "aim"),
        subtitle="In one session",
        unit="tokens",
    )
    told = "In one session. list: five 800 tokens, all 9,000 tokens. one 200 tokens. aim: 700 tokens."
    assert parsed(chart)[1].text == told
    lines = LineChart("", [Series("a", [Point(16, 2), Point(1, 1)])], unit="ms")
    assert parsed(lines)[1].text == "a: 1 ms by 1, 2 ms by 16."


@pytest.mark.parametrize(
    "build",
    [
        lambda: Bar("a", -1),
        lambda: Bar("a", float("nan")),
        lambda: Bar("a", float("inf")),
        lambda: Bar("a", 1e16),
        lambda: Bar("a", 1, low=2),
        lambda: Bar("a", 1, high=0.5),
        lambda: Point(-1, 1),
        lambda: Point(1, 1, low=3),
        lambda: Mark(-1, "aim"),
        lambda: Group([]),
        lambda: BarChart("", []),
        lambda: LineChart("", []),
        lambda: Series("a", []),
    ],
)
def test_what_could_not_be_drawn_cannot_be_built(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        build()


def test_without_pillow_the_message_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PillowMissingError, match="pip install pillow"):
        png(simple(Bar("a", 1)))
    assert svg(simple(Bar("a", 1)))


@pytest.mark.parametrize(
    ("text", "shown"), [("µs \N{EN DASH} fünf → 3…", "us - funf > 3…"), ("文 ﷽", "? ?"), ("plain", "plain")]
)
def test_png_spells_what_its_font_does_not_have(text: str, shown: str) -> None:
    assert spelt(text) == shown


def test_the_same_chart_is_the_same_file() -> None:
    chart = simple(Bar("a", 1, is_ours=True), Bar("b", 2))
    assert (svg(chart), png(chart)) == (svg(chart), png(chart))


def test_a_long_title_goes_on_in_the_next_line_and_loses_no_word() -> None:
    title = " ".join(f"word{number}" for number in range(30))
    chart = BarChart(title, [Group([Bar("a", 1)])])
    lines = [text for text in texts(drawn(chart)) if text.size == 22]
    assert " ".join(line.words for line in lines) == title
    assert len({line.y for line in lines}) == len(lines) > 1
    assert len({line.x for line in lines}) == 1
