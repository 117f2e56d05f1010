"""Charts, differences and words: what persons see of numbers, changes and times."""

import json
import math
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.console.charts import Series, bars, lines
from headgate.console.differences import Difference, differences
from headgate.console.words import (
    ago,
    caller_shown,
    draft_json,
    json_shown,
    shown,
    stamp,
    typed_json,
    visible_lines,
    whole_json,
)
from headgate.protocol.times import span

# charts

Drawn = dict[str, list[dict[str, str]]]
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=20)
NUMBERS = st.floats(0, 1e12)
"""What is counted is never below nothing."""


def drawn(svg: object) -> Drawn:
    """The elements of a chart, which must be XML."""
    root = ElementTree.fromstring(str(svg))  # noqa: S314  (it is our own)
    found: Drawn = {}
    for element in root.iter():
        found.setdefault(element.tag, []).append(dict(element.attrib))
    return found


def inside(elements: list[dict[str, str]], **bounds: tuple[float, float]) -> bool:
    return all(low <= float(one[name]) <= high for one in elements for name, (low, high) in bounds.items())


@given(title=WORDS, unit=WORDS, name=WORDS, rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=60))
def test_bars_are_well_formed_and_stay_within_their_frame(
    title: str, unit: str, name: str, rows: list[tuple[float, float, float]]
) -> None:
    series = [Series(f"{name}{index}", "good", [row[index] for row in rows]) for index in range(3)]
    found = drawn(bars(title, unit, series))
    shapes = found.get("rect", [])
    assert len(shapes) == sum(1 for row in rows for value in row if value)
    assert inside(shapes, x=(34, 360), y=(-0.1, 82), height=(0, 82.1))
    assert all(float(one["x"]) + float(one["width"]) <= 361 for one in shapes)


def test_bars_stand_upon_each_other() -> None:
    series = [Series(name, "good", [values]) for name, values in (("a", 20.0), ("b", 0.0), ("c", 30.0), ("d", 50.0))]
    shapes = drawn(bars("Requests", "a minute", series))["rect"]
    assert [(float(one["y"]), float(one["height"])) for one in shapes] == [(65.6, 16.4), (41.0, 24.6), (0.0, 41.0)]
    assert len({one["x"] for one in shapes}) == 1


@given(
    title=WORDS,
    unit=WORDS,
    rows=st.lists(st.lists(st.none() | NUMBERS, max_size=60), max_size=3),
)
def test_lines_are_well_formed_and_stay_within_their_frame(
    title: str, unit: str, rows: list[list[float | None]]
) -> None:
    found = drawn(lines(title, unit, [Series("a", "good", row) for row in rows]))
    points = [point.split(",") for line in found.get("polyline", []) for point in line["points"].split()]
    assert len(points) == sum(1 for row in rows for value in row if value is not None)
    assert all(34 <= float(x) <= 360 and -0.1 <= float(y) <= 82 for x, y in points)
    assert inside(found.get("circle", []), cx=(34, 360), cy=(-0.1, 82))


@pytest.mark.parametrize("draw", [bars, lines])
def test_a_chart_says_in_words_what_it_shows(draw: Any) -> None:
    series = [Series("good", "good", [1.0, 3.0]), Series("bad", "bad", [0, 2.0])]
    [svg] = drawn(draw("Requests", "a minute", series))["svg"]
    assert svg["role"] == "img"
    assert svg["aria-label"] == "Requests: good at most 3 a minute; bad at most 2 a minute"


def test_where_there_is_nothing_to_tell_nothing_is_drawn() -> None:
    found = drawn(lines("Latency", "ms", [Series("half", "good", [None, None])]))
    assert "polyline" not in found
    assert "nothing yet" in found["svg"][0]["aria-label"]
    assert "rect" not in drawn(bars("Requests", "a minute", [Series("good", "good", [0.0, 0.0])]))


def test_a_line_is_broken_where_there_is_nothing_to_tell_and_a_lone_point_is_seen() -> None:
    found = drawn(lines("Latency", "ms", [Series("half", "good", [1.0, 2.0, None, 3.0])]))
    assert [len(one["points"].split()) for one in found["polyline"]] == [2, 1]
    assert len(found["circle"]) == 1


@pytest.mark.parametrize(
    ("highest", "top"),
    [
        (0.0, 1),
        (0.3, 1),
        (1.0, 1),
        (1.1, 2),
        (2.0, 2),
        (3.0, 5),
        (5.1, 10),
        (10.0, 10),
        (11.0, 20),
        (999.0, 1000),
        (1e6, 1e6),
    ],
)
def test_the_axis_ends_with_a_round_figure_that_is_not_below_the_values(highest: float, top: float) -> None:
    texts = [one.text for one in ElementTree.fromstring(str(bars("a", "b", [Series("c", "good", [highest])])))]  # noqa: S314
    assert f"{top:g}" in texts


def test_names_cannot_become_markup() -> None:
    svg = str(bars('<b>"', "'><script>", [Series("</svg>", 'x" onload="y', [1.0])]))
    assert "<b>" not in svg
    assert "<script>" not in svg
    assert 'onload="y' not in svg
    drawn(svg)


# differences

NAMES = st.text("abc", min_size=1, max_size=2)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


def applied(before: dict[str, Any], found: list[Difference]) -> dict[str, Any]:
    """What becomes of something when all of the differences are made."""
    after = json.loads(json.dumps(before))
    for one in found:
        *way, name = one.field.split(".")
        inner = after
        for step in way:
            inner = inner[step]
        if one.is_gone:
            del inner[name]
        else:
            inner[name] = one.after
    return dict(after)


@given(OBJECTS, OBJECTS)
def test_from_before_and_the_differences_follows_after(before: dict[str, Any], after: dict[str, Any]) -> None:
    found = differences(before, after)
    made = applied(before, found)
    assert json.dumps(made, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert len({one.field for one in found}) == len(found)


@given(OBJECTS)
def test_what_is_the_same_does_not_differ(value: dict[str, Any]) -> None:
    assert differences(value, json.loads(json.dumps(value))) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 2}, [Difference("a", 1, 2)]),
        ({"a": 1}, {}, [Difference("a", 1, None, is_gone=True)]),
        ({}, {"a": None}, [Difference("a", None, None, is_new=True)]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [Difference("a.c", 2, 3)]),
        ({"a": {"b": 1}}, {"a": [1]}, [Difference("a", {"b": 1}, [1])]),
        ({"a": 1}, {"a": True}, [Difference("a", 1, True)]),
        ({"a": [1]}, {"a": [True]}, [Difference("a", [1], [True])]),
        ({"a": "1"}, {"a": 1}, [Difference("a", "1", 1)]),
        ({"a": [1, 2]}, {"a": [2, 1]}, [Difference("a", [1, 2], [2, 1])]),
        ({"a": {}}, {"a": {"b": {}}}, [Difference("a.b", None, {}, is_new=True)]),
    ],
    ids=str,
)
def test_a_difference_names_the_field_and_both_values(before: Any, after: Any, expected: list[Difference]) -> None:
    assert differences(before, after) == expected


# times


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (86399, "23 h"),
        (86400, "1 d"),
        (1e9, "11574 d"),
    ],
)
def test_a_length_of_time_is_told_in_its_largest_unit(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (1000.0, "0 s ago"),
        (940.0, "1 min ago"),
        (1090.0, "in 1 min"),
        (0, "16 min ago"),
        ("soon", "soon"),
        (None, "null"),
        (math.nan, "NaN"),
        (1e300, "1e+300"),
        (-1, "-1"),
        (True, "16 min ago"),
        ([1], "[1]"),
    ],
)
def test_a_moment_is_told_from_now_and_what_is_none_as_it_is(at: object, words: str) -> None:
    assert ago(at, 1000.0) == words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_770_200_000.9, "2026-02-04T10:13:20Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "253402300800"),
        (10**400, str(10**400)),
        ("<b>\u202e", "<b>\\u202e"),
        ({}, "{}"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_a_moment_has_a_stamp_and_what_is_none_is_shown(at: object, words: str) -> None:
    assert stamp(at) == words


# values


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_is_shown_with_everything_visible_and_can_be_read_again(value: Any) -> None:
    text = whole_json(value)
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert typed_json(text) == value


@given(st.text())
def test_in_a_text_only_the_ends_of_lines_stay_unseen(text: str) -> None:
    told = visible_lines(text)
    assert all(sign.isprintable() or sign == "\n" for sign in told)
    assert told.count("\n") == text.count("\n")


def test_a_long_value_is_cut_and_says_how_much_is_left_out() -> None:
    assert json_shown("x" * 19_998) == f'"{"x" * 19_998}"'
    cut = json_shown("\u202e" * 300_000)
    assert cut.endswith("… NOT ALL IS SHOWN: these are 20,000 of 300,002 characters.")
    assert "\u202e" not in cut
    assert whole_json("x" * 300_000) == f'"{"x" * 300_000}"', "who decides sees all of it"


@pytest.mark.parametrize(
    "text", ["é\u202e\x1b", "\u05d0" * 30_000, "\u202e" * 30_000, "x" * 30_000], ids=lambda one: one[:3]
)
def test_what_is_to_be_changed_is_all_there_and_visible(text: str) -> None:
    draft = draft_json({"a": text})
    assert typed_json(draft) == {"a": text}
    assert all(sign.isprintable() or sign == "\n" for sign in draft)


def test_what_is_no_text_is_shown_all_the_same() -> None:
    assert shown("a\x1b") == "a\\u001b"
    assert shown(None) == "null"
    assert shown({"a": "\u202e"}) == '{"a": "\\u202e"}'
    assert shown(object).startswith('"<class')


@pytest.mark.parametrize(
    ("caller", "words"),
    [
        ("anonymous", "anonymous"),
        ('["bo","assistant"]', "bo via assistant"),
        ('["bo",null]', "bo"),
        ("[", "["),
        (7, "7"),
        ("a\u202e", "a\\u202e"),
    ],
)
def test_a_caller_is_shown_with_the_client(caller: object, words: str) -> None:
    assert caller_shown(caller) == words


@pytest.mark.parametrize(
    "text", ["", "{", "nul", "[1,]", "'a'", "NaN", "[Infinity]", "1" * 5000, "[" * 100_000, '"\n"']
)
def test_what_is_not_json_is_told_without_a_word_of_the_program(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"^(look into line \d+, column \d+|it has a number that is none, or is too deep)$"
    ):
        typed_json(text)
