"""Pages: a small collection that does it right, and one fault at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.checks.shelf import Json, Shelf, details, found_wrong, results_on, verdicts

pytestmark = pytest.mark.anyio


async def test_a_collection_that_is_paged_rightly_passes() -> None:
    """Every check of pages holds."""
    assert set(verdicts(await results_on(Shelf(), "paging.")).values()) == {"PASS"}


def _info(**said: Any) -> Callable[[Json, Json], Json]:
    """An answer whose metadata says something else; what is said as nothing is left out."""

    def after(_params: Json, answer: Json) -> Json:
        for place in ("pageInfo", "pagination"):
            if place in answer["data"]:
                changed = {**answer["data"][place], **{k: v for k, v in said.items() if k in answer["data"][place]}}
                answer["data"][place] = {key: value for key, value in changed.items() if value is not None}
        return answer

    return after


def _without(place: str) -> Callable[[Json, Json], Json]:
    def after(_params: Json, answer: Json) -> Json:
        answer["data"].pop(place, None)
        return answer

    return after


def _ignoring(*names: str) -> Callable[[Json], Json]:
    return lambda params: {key: value for key, value in params.items() if key not in names}


def _repeating(params: Json) -> Json:
    """The next page begins with the last item of the one before."""
    if "after" in params:
        place = int(params["after"][1:])
        params["after"] = f"c{place - 1}" if place else "c0"
    return params


def _skipping(params: Json) -> Json:
    """The item at the edge is lost."""
    if "after" in params:
        params["after"] = f"c{int(params['after'][1:]) + 1}"
    return params


def _back_to_the_end(params: Json) -> Json:
    """Going back ends at the end of the collection."""
    return {key: value for key, value in params.items() if key != "before"}


def _larger(params: Json) -> Json:
    return {**params, **({"first": params["first"] + 1} if "first" in params else {})}


def _first_wins(params: Json) -> Json:
    """Of two sizes, the first is silently taken."""
    return {"first": params["first"]} if "first" in params else params


@pytest.mark.parametrize(
    ("shelf", "check"),
    [
        pytest.param(Shelf(after=_without("pageInfo")), "paging.metadata", id="no pageInfo"),
        pytest.param(Shelf(after=_info(endCursor=None)), "paging.metadata", id="no endCursor"),
        pytest.param(Shelf(after=_info(hasPreviousPage="no")), "paging.metadata", id="a text for a boolean"),
        pytest.param(Shelf(after=_info(offset=0)), "paging.offset-metadata", id="another offset"),
        pytest.param(Shelf(after=_info(page=None)), "paging.page-metadata", id="no page"),
        pytest.param(Shelf(before=_larger), "paging.size", id="one item too many"),
        pytest.param(Shelf(before=_ignoring("limit")), "paging.size", id="limit ignored"),
        pytest.param(Shelf(before=_repeating), "paging.walk", id="an item comes twice"),
        pytest.param(Shelf(before=_skipping), "paging.walk", id="an item is lost"),
        pytest.param(Shelf(before=_ignoring("offset")), "paging.walk", id="offset ignored"),
        pytest.param(Shelf(after=_info(hasNextPage=False)), "paging.walk", id="always at the end"),
        pytest.param(Shelf(after=_info(hasNextPage=True)), "paging.walk", id="never at the end"),
        pytest.param(Shelf(after=_info(totalCount=2)), "paging.walk", id="too few in all"),
        pytest.param(Shelf(after=_info(totalCount=999)), "paging.walk", id="too many in all"),
        pytest.param(Shelf(after=_info(total_items=2)), "paging.walk", id="too few in all by number"),
        pytest.param(Shelf(after=_info(has_more=False)), "paging.walk", id="always at the end by offset"),
        pytest.param(Shelf(before=_back_to_the_end), "paging.walk", id="before ignored"),
        pytest.param(Shelf(before=_first_wins), "paging.mixed-refused", id="two styles at once"),
        pytest.param(Shelf(before=_ignoring("after", "before")), "paging.false-cursor-refused", id="any cursor"),
    ],
)
async def test_a_fault_of_pages_is_found(shelf: Shelf, check: str) -> None:
    """By the check that is meant for it."""
    results = await results_on(shelf, "paging.")
    assert check in found_wrong(results)
    assert verdicts(results)[check] == "WARN"


async def test_one_faulty_cursor_is_the_only_finding() -> None:
    """What a page lacks is told once; what depends on it is not judged."""
    results = await results_on(Shelf(after=_info(endCursor=None)), "paging.")
    assert found_wrong(results) == {"paging.metadata"}
    assert "'endCursor'" in results["paging.metadata"].broken[0].words


async def test_what_is_not_declared_is_not_asked_for() -> None:
    """No parameter, no check."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            one["parameters"] = [row for row in one["parameters"] if row["name"] in ("query", "name")]

    assert set(verdicts(await results_on(Shelf(declare=declare), "paging.")).values()) == {"SKIP"}


@pytest.mark.parametrize("items", [[], details()["list_tales"]["parameters"][:1]], ids=["none", "one"])
async def test_a_collection_of_fewer_than_two_items_shows_no_pages(items: list[Json]) -> None:
    """That is said, and nothing is held against it."""
    full = Shelf().items[: len(items)]
    results = await results_on(Shelf(items=full), "paging.walk")
    assert verdicts(results) == {"paging.walk": "SKIP"}
    assert "fewer than two items" in results["paging.walk"].reason


async def test_a_collection_that_changes_meanwhile_is_not_judged() -> None:
    """New items at every request make any walk odd."""
    shelf = Shelf()

    def before(params: Json) -> Json:
        shelf.items.insert(0, {**shelf.items[0], "id": len(shelf.items) + 1})
        return params

    shelf.before = before
    results = await results_on(shelf, "paging.walk")
    assert not found_wrong(results)
    assert any("changes while" in finding.words for finding in results["paging.walk"].findings)


async def test_a_documented_size_makes_a_cursor_alone_complete() -> None:
    """'after' without 'first' is only refused where no default applies."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            one["parameters"] = [
                row | ({"default": 25} if row["name"] in ("first", "last") else {}) for row in one["parameters"]
            ]

    def before(params: Json) -> Json:
        alone = set(params) & {"after", "before"} and not set(params) & {"first", "last"}
        return params | ({"first" if "after" in params else "last": 25} if alone else {})

    assert not found_wrong(await results_on(Shelf(declare=declare, before=before), "paging.mixed"))
    assert found_wrong(await results_on(Shelf(before=before), "paging.mixed")) == {"paging.mixed-refused"}


async def test_items_that_cannot_be_told_apart_show_nothing() -> None:
    """The same item twice in one page is no repetition between pages."""
    shelf = Shelf()
    shelf.items = [dict(shelf.items[0]) for _ in range(6)]
    assert not found_wrong(await results_on(shelf, "paging.walk"))


async def test_a_page_that_fails_midway_is_not_judged() -> None:
    """Why it failed is another check's matter."""

    def after(params: Json, answer: Json) -> Json:
        is_further = params.get("after") or params.get("offset") or params.get("page", 1) > 1
        return {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "No"}} if is_further else answer

    results = await results_on(Shelf(after=after), "paging.walk")
    assert verdicts(results) == {"paging.walk": "SKIP"}


async def test_a_server_that_pages_only_at_first_is_not_judged() -> None:
    """Neither is one that fails whenever it is asked for pages, once its first answer was seen."""
    asked: list[Json] = []

    def after(params: Json, answer: Json) -> Json:
        asked.append(params)
        return answer if len(asked) <= 3 else {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "No"}}

    results = await results_on(Shelf(after=after), "paging.")
    assert not found_wrong(results)
