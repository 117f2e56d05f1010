"""The examples of the specification's own table of styles, and what no style can write."""

from typing import Any

import pytest

from headgate.protocol.errors import Invalid
from headgate.sources.openapi.styles import Style, as_cookies, as_header, as_path, as_query

ARRAY = ["blue", "black", "brown"]
THING = {"R": 100, "G": 200, "B": 150}


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("matrix", False, "", ";color"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, ARRAY, ";color=blue,black,brown"),
        ("matrix", False, THING, ";color=R,100,G,200,B,150"),
        ("matrix", True, "", ";color"),
        ("matrix", True, "blue", ";color=blue"),
        ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
        ("matrix", True, THING, ";R=100;G=200;B=150"),
        ("label", False, "blue", ".blue"),
        ("label", False, ARRAY, ".blue,black,brown"),
        ("label", False, THING, ".R,100,G,200,B,150"),
        ("label", True, ARRAY, ".blue.black.brown"),
        ("label", True, THING, ".R=100.G=200.B=150"),
        ("simple", False, "blue", "blue"),
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, THING, "R,100,G,200,B,150"),
        ("simple", True, ARRAY, "blue,black,brown"),
        ("simple", True, THING, "R=100,G=200,B=150"),
    ],
)
def test_a_path_is_written_as_the_table_has_it(style: str, explode: bool, value: Any, written: str) -> None:
    assert as_path("color", Style(name=style, explode=explode), value) == written


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("form", False, "", "color="),
        ("form", False, "blue", "color=blue"),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", False, THING, "color=R,100,G,200,B,150"),
        ("form", True, ARRAY, "color=blue&color=black&color=brown"),
        ("form", True, THING, "R=100&G=200&B=150"),
        ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
        ("spaceDelimited", False, THING, "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, THING, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("deepObject", True, THING, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": [1, 2]}}, "color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2"),
        ("deepObject", True, {"a": {}, "b": 1}, "color%5Bb%5D=1"),
        ("deepObject", True, "blue", "color=blue"),
        ("form", True, None, ""),
        ("form", True, {}, ""),
        ("form", True, 3.0, "color=3"),
        ("form", True, 1.5, "color=1.5"),
        ("form", True, True, "color=true"),
        ("form", True, [None], "color=null"),
        ("form", True, [{"a": 1}], "color=%7B%22a%22%3A1%7D"),
    ],
)
def test_a_query_is_written_as_the_table_has_it(style: str, explode: bool, value: Any, written: str) -> None:
    pairs = as_query("color", Style(name=style, explode=explode), value)
    assert "&".join(f"{name}={text}" for name, text in pairs) == written


@pytest.mark.parametrize("value", [None, []], ids=["null", "no items"])
def test_what_may_be_empty_is_sent_without_a_value(value: Any) -> None:
    assert list(as_query("color", Style(explode=True, empty=True), value)) == [("color", "")]


@pytest.mark.parametrize(
    ("explode", "value", "written"),
    [
        (False, "a, b", "a, b"),
        (False, ARRAY, "blue,black,brown"),
        (False, THING, "R,100,G,200,B,150"),
        (True, THING, "R=100,G=200,B=150"),
        (False, None, None),
        (False, [], None),
    ],
)
def test_a_header_is_written_as_it_is(explode: bool, value: Any, written: str | None) -> None:
    assert as_header("color", Style(name="simple", explode=explode), value) == written


def test_an_exploded_cookie_stands_once_for_each_item() -> None:
    assert list(as_cookies("color", Style(explode=True), ["a;b", "c"])) == [("color", "a%3Bb"), ("color", "c")]


@pytest.mark.parametrize("half", ["\ud800", "a\udfff"])
def test_half_of_a_character_is_refused(half: str) -> None:
    with pytest.raises(Invalid):
        list(as_query("color", Style(), half))
    with pytest.raises(Invalid):
        as_path("color", Style(name="label"), half)


@pytest.mark.parametrize("value", [[], {}], ids=["no items", "no fields"])
def test_nothing_cannot_stand_in_a_path(value: Any) -> None:
    with pytest.raises(Invalid, match="must not be empty"):
        as_path("color", Style(name="simple"), value)


def test_a_document_in_a_parameter_that_is_text_already_stays_text() -> None:
    assert list(as_query("q", Style(media="text/plain"), "a b")) == [("q", "a%20b")]
    assert list(as_query("q", Style(media="application/json"), "a")) == [("q", "%22a%22")]
