"""What collections declare: a server that does it right, and one fault at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.checks.shelf import Json, Shelf, found_wrong, operation, results_on, verdicts

pytestmark = pytest.mark.anyio

Declare = Callable[[dict[str, Json]], None]


async def test_collections_that_are_declared_rightly_pass() -> None:
    """Every check that applies holds."""
    results = await results_on(Shelf(), "collections.")
    skipped = {id_ for id_, verdict in verdicts(results).items() if verdict == "SKIP"}
    assert not found_wrong(results)
    assert "collections.grammar-documented" in skipped
    assert not skipped & {"collections.capabilities", "collections.style-documented", "collections.any-word-matches"}


def _changed(operation_name: str, parameter: str, /, **changes: Any) -> Declare:
    """A parameter that is declared otherwise in one operation."""

    def declare(told: dict[str, Json]) -> None:
        rows = told[operation_name]["parameters"]
        told[operation_name]["parameters"] = [row | (changes if row["name"] == parameter else {}) for row in rows]

    return declare


def _lacking(*names: str) -> Declare:
    def declare(told: dict[str, Json]) -> None:
        rows = told["list_tales"]["parameters"]
        told["list_tales"]["parameters"] = [row for row in rows if row["name"] not in names]

    return declare


def _needing_words(told: dict[str, Json]) -> None:
    told["list_tales"]["parameters"] = told["search_tales"]["parameters"]


def _every_word(params: Json) -> Json:
    """A search for several words finds nothing unless all of them match."""
    words = str(params.get("query", "")).split()
    return params | ({"query": "nothing"} if len(words) > 1 else {})


@pytest.mark.parametrize(
    ("shelf", "check"),
    [
        pytest.param(
            Shelf(declare=_changed("search_tales", "query", name="text", required=False)),
            "collections.search-takes-query",
            id="another name for query",
        ),
        pytest.param(Shelf(declare=_needing_words), "collections.list-needs-no-query", id="a list that needs words"),
        pytest.param(
            Shelf(declare=_changed("search_tales", "first", type="number")),
            "collections.shared-parameters-alike",
            id="another type",
        ),
        pytest.param(
            Shelf(declare=_changed("search_tales", "first", default=5)),
            "collections.shared-parameters-alike",
            id="another default",
        ),
        pytest.param(Shelf(declare=_lacking("filter", "sort")), "collections.capabilities", id="no filter"),
        pytest.param(Shelf(before=_every_word), "collections.any-word-matches", id="all words must match"),
    ],
)
async def test_a_fault_of_collections_is_found(shelf: Shelf, check: str) -> None:
    """By the check that is meant for it, as a warning."""
    results = await results_on(shelf, "collections.")
    assert check in found_wrong(results)
    assert verdicts(results)[check] == "WARN"
    assert "FAIL" not in verdicts(results).values()


@pytest.mark.parametrize(
    "paging",
    [("after", "before"), ("after", "before", "offset", "page", "page_size")],
    ids=["cursors without after", "no way to go on"],
)
async def test_pages_that_nobody_can_ask_for_are_found(paging: tuple[str, ...]) -> None:
    """An answer that has more to give, and no parameter to get it with."""
    shelf = Shelf(declare=_lacking(*paging))
    shelf.items = [{**shelf.items[0], "id": number} for number in range(30)]
    results = await results_on(shelf, "collections.style-documented")
    assert verdicts(results) == {"collections.style-documented": "FAIL"}
    assert "declares no 'after'" in results["collections.style-documented"].broken[0].words


async def test_what_is_missing_may_be_said_in_the_description() -> None:
    """An omission that is explicit is none."""

    def declare(told: dict[str, Json]) -> None:
        _lacking("filter", "sort")(told)
        told["list_tales"]["description"] = "List the tales. They cannot be filtered or sorted."

    assert not found_wrong(await results_on(Shelf(declare=declare), "collections.capabilities"))


async def test_a_search_that_is_documented_to_want_all_words_may() -> None:
    """The default is only expected where nothing else is said."""
    shelf = Shelf(declare=_changed("search_tales", "query", description="All words must match."), before=_every_word)
    assert not found_wrong(await results_on(shelf, "collections.any-word-matches"))


def _grammar(**changes: Any) -> Declare:
    """An operation with a grammar of its own."""

    def declare(told: dict[str, Json]) -> None:
        words = "A tree of conditions: {all: [...]} or {any: [...]}, whose leaves are {field, is}."
        query = {"name": "query", "type": "object", "required": True, "description": words}
        one = operation("query_tales", "Query tales by a tree of conditions, page by page, with fields.", [query])
        request = {"operation": "query_tales", "params": {"query": {"all": [{"field": "genre", "is": "novel"}]}}}
        one["examples"] = [{"request": request}]
        one["parameters"][0].update(changes.get("query", {}))
        told["query_tales"] = one | {key: value for key, value in changes.items() if key != "query"}

    return declare


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"query": {"type": None}}, "the type of 'query' is not told"),
        ({"examples": []}, "no example shows a 'query'"),
        ({"description": "Query tales.", "query": {"description": "The query."}}, "tells how a query is written"),
    ],
    ids=["fine", "no type", "no example", "no words"],
)
async def test_a_grammar_is_to_be_told(changes: Json, words: str) -> None:
    """What is named as a query of its own kind says how one is written."""
    results = await results_on(Shelf(declare=_grammar(**changes)), "collections.grammar")
    result = results["collections.grammar-documented"]
    assert result.verdict.value == ("FAIL" if words else "PASS")
    assert not words or words in result.broken[0].words


async def test_a_query_without_a_grammar_has_none_to_tell() -> None:
    """Its parameters say it all."""

    def declare(told: dict[str, Json]) -> None:
        _grammar()(told)
        told["query_tales"]["parameters"] = []

    results = await results_on(Shelf(declare=declare), "collections.grammar")
    assert verdicts(results) == {"collections.grammar-documented": "SKIP"}
