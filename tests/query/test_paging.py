"""Pages: by cursor, by offset or by number, what cannot stand together, and how large one may be."""

from itertools import combinations
from typing import Any

import pytest

from headgate.query.paging import QueryOptions
from headgate.query.shapes import Direction, Paging, Window
from tests.query.shop import Shop, refusal, shop


def window(**params: Any) -> Window:
    query = shop().read(**params).query
    assert query is not None
    return query.window


def cursor(made: Shop, **params: Any) -> str:
    """The cursor of the third book."""
    found: str = made.page(**{"first": 3, **params})["pageInfo"]["endCursor"]
    return found


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param({}, Window(Paging.CURSOR, 25), id="the first 25 unless said"),
        pytest.param({"first": 10}, Window(Paging.CURSOR, 10), id="from the start"),
        pytest.param({"first": 0}, Window(Paging.CURSOR, 0), id="none"),
        pytest.param({"last": 10}, Window(Paging.CURSOR, 10, direction=Direction.BACKWARD), id="from the end"),
        pytest.param({"edges": True}, Window(Paging.CURSOR, 25, edges=True), id="with edges"),
        pytest.param({"first": 5, "edges": False}, Window(Paging.CURSOR, 5), id="without edges"),
        pytest.param({"limit": 10}, Window(Paging.OFFSET, 10), id="by offset from the start"),
        pytest.param({"offset": 7}, Window(Paging.OFFSET, 25, 7), id="by offset, 25 unless said"),
        pytest.param({"limit": 10, "offset": 0}, Window(Paging.OFFSET, 10), id="by offset, none skipped"),
        pytest.param({"limit": 10, "edges": False}, Window(Paging.OFFSET, 10), id="by offset, no edges wanted"),
        pytest.param({"page": 3}, Window(Paging.PAGE, 25, 50, 3), id="by number, 25 unless said"),
        pytest.param({"page": 3, "page_size": 10}, Window(Paging.PAGE, 10, 20, 3), id="by number"),
        pytest.param({"page_size": 10}, Window(Paging.PAGE, 10), id="the first page unless said"),
        pytest.param({"first": 5, "last": None, "limit": None}, Window(Paging.CURSOR, 5), id="null is not said"),
    ],
)
def test_a_page_is_asked_for(asked: dict[str, Any], expected: Window) -> None:
    assert window(**asked) == expected


TOGETHER = [
    pytest.param("first", "last", id="both ends"),
    pytest.param("first", "before", id="from the start, before"),
    pytest.param("last", "after", id="from the end, after"),
]


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_what_contradicts_itself_is_refused(one: str, other: str) -> None:
    made = shop()
    given: dict[str, Any] = {"first": 1, "last": 1, "before": cursor(made), "after": cursor(made)}
    error = refusal(lambda: made.read(**{one: given[one], other: given[other]}))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert f"Parameters '{one}' and '{other}' cannot stand together" in error.message
    assert error.details == {"param_name": one, "conflicting_params": [one, other]}


@pytest.mark.parametrize(("name", "needed"), [("after", "first"), ("before", "last")])
def test_a_cursor_goes_with_a_number(name: str, needed: str) -> None:
    made = shop()
    error = refusal(lambda: made.read(**{name: cursor(made)}))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert error.details == {"param_name": name}
    assert f"'{name}' goes with '{needed}', which says how many items to give" in error.message


STYLES: dict[str, dict[str, Any]] = {
    "cursor": {"first": 1, "last": 1, "after": "x", "before": "x", "edges": True},
    "offset": {"limit": 1, "offset": 0},
    "number": {"page": 1, "page_size": 1},
}
MIXED = [
    pytest.param({one: STYLES[left][one], other: STYLES[right][other]}, id=f"{one} and {other}")
    for left, right in combinations(STYLES, 2)
    for one in STYLES[left]
    for other in STYLES[right]
]


@pytest.mark.parametrize("asked", MIXED)
def test_two_styles_of_paging_are_never_mixed(asked: dict[str, Any]) -> None:
    error = refusal(lambda: shop().read(**asked))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert "page by cursor, by offset, or by number" in error.message
    assert (error.details or {})["conflicting_params"] == list(asked)


def test_all_three_styles_at_once_are_refused_with_one_of_each() -> None:
    error = refusal(lambda: shop().read(first=1, limit=1, page=1))
    assert (error.details or {})["conflicting_params"] == ["first", "limit", "page"]


@pytest.mark.parametrize("name", ["first", "last", "limit", "page_size"])
def test_more_than_a_page_may_hold_is_cut_with_a_warning(name: str) -> None:
    for wanted, size in ((100, 100), (101, 100), (10**9, 100)):
        asked = shop().read(**{name: wanted})
        assert asked.query is not None
        assert asked.query.window.size == size
        assert [notice.code for notice in asked.warnings] == ["VALIDATION_TRUNCATED_WARNING"] * (wanted > size)
        for notice in asked.warnings:
            assert notice.details == {"field": name, "original_count": wanted, "truncated_count": 100, "limit": 100}
            assert f"'{name}' was {wanted}" in notice.message


def test_the_bounds_are_settings() -> None:
    made = shop(QueryOptions(page_size=2, max_page_size=4))
    assert len(made.shown()) == 2
    assert len(made.shown(first=5)) == 4
    assert [item["isbn"] for item in made.shown(page=3, page_size=2)] == ["5"]
    assert made.read(first=4).warnings == ()


def test_a_numbered_page_that_was_cut_is_a_page_of_the_smaller_size() -> None:
    made = shop(QueryOptions(max_page_size=2))
    assert [item["isbn"] for item in made.shown(page=2, page_size=50)] == ["3", "4"]


def test_without_a_key_pages_go_forward_by_their_place() -> None:
    made = shop()
    page = made.page("log", first=3)
    assert page["pageInfo"]["hasNextPage"] is True
    rest = made.page("log", first=3, after=page["pageInfo"]["endCursor"])
    assert len(rest["items"]) == 1
    assert rest["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": True,
        "startCursor": rest["pageInfo"]["endCursor"],
        "endCursor": rest["pageInfo"]["endCursor"],
        "totalCount": 4,
    }
    every = [*page["items"], *rest["items"]]
    assert sorted(item["level"] for item in every) == [0, 1, 2, 3]


def test_without_a_key_there_is_no_way_back() -> None:
    error = refusal(lambda: shop().read("log", last=1))
    assert error.details == {"param_name": "last"}
    assert "have no key to go back by: page forwards, or sort the other way" in error.message
