"""Whether words lead to operations."""

import pytest

from headgate.conformance.fixtures import Fixtures
from tests.conformance.checks.shelf import Json, Shelf, found_wrong, operation, results_on, verdicts

pytestmark = pytest.mark.anyio

ID = "discoverability.search-finds"


async def test_operations_that_the_search_finds_pass() -> None:
    """Each among the first three for the words of its own description."""
    assert verdicts(await results_on(Shelf(), ID)) == {ID: "PASS"}


def _answering(*names: object) -> Shelf:
    """A server whose search always gives the same."""

    def after(params: Json, answer: Json) -> Json:
        return {"success": True, "data": {"operations": list(names)}} if params.get("query") == "search" else answer

    return Shelf(after=after)


async def test_an_operation_that_the_search_does_not_find_is_told() -> None:
    """With what was found in its place."""
    results = await results_on(_answering({"name": "list_tales"}), ID)
    assert [finding.subject for finding in results[ID].broken] == ["search_tales"]
    assert results[ID].broken[0].words == (
        "'search_tales' is not among the first 3 for 'Search tales words titles': the first are 'list_tales'"
    )


async def test_a_search_that_finds_nothing_is_told() -> None:
    """For every operation."""
    results = await results_on(_answering(), ID)
    assert len(results[ID].broken) == 2
    assert results[ID].broken[0].words.endswith("nothing is found")


async def test_results_may_have_other_forms() -> None:
    """Names alone, or under another word."""
    assert not found_wrong(await results_on(_answering("list_tales", {"operation": "search_tales"}), ID))


async def test_the_words_of_people_go_before_those_of_the_description() -> None:
    """Each phrase of the fixtures is tried."""
    fixtures = Fixtures(words={"list_tales": ("what is on the shelf", "which tales are there")})
    results = await results_on(Shelf(), ID, fixtures=fixtures)
    asked = [finding.exchanges[0].arguments for finding in results[ID].findings if finding.subject == "list_tales"]
    assert [request["params"]["name"] for request in asked if isinstance(request, dict)] == [
        "what is on the shelf",
        "which tales are there",
    ]


async def test_a_search_that_fails_is_not_judged() -> None:
    """That is another check's matter."""

    def after(params: Json, answer: Json) -> Json:
        failure = {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "No"}}
        return failure if params.get("query") == "search" else answer

    assert verdicts(await results_on(Shelf(after=after), ID)) == {ID: "SKIP"}


def _without_search(told: dict[str, Json]) -> None:
    told["introspect"]["parameters"] = [
        row | ({"enum": ["operations", "types"]} if row["name"] == "query" else {})
        for row in told["introspect"]["parameters"]
    ]


async def test_without_a_search_the_list_must_set_operations_apart() -> None:
    """As far as words go."""
    assert verdicts(await results_on(Shelf(declare=_without_search), ID)) == {ID: "PASS"}

    def declare(told: dict[str, Json]) -> None:
        _without_search(told)
        for name in ("list_pots", "list_pans", "list_cups", "list_jars"):
            told[name] = operation(name, "Manages data.", [])

    results = await results_on(Shelf(declare=declare), ID)
    assert {finding.subject for finding in results[ID].broken} == {"list_pots", "list_pans", "list_cups", "list_jars"}
    assert "does not set it apart" in results[ID].broken[0].words


def _pots(told: dict[str, Json]) -> None:
    """Three operations that say much, and one that says little."""
    _without_search(told)
    for name in ("list_pots", "list_pans", "list_cups"):
        told[name] = operation(name, "All that is for tea in the old kitchen.", [])
    told["list_jars"] = operation("list_jars", "Kitchen glass.", [])


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("zebra stripes", "none of the words of 'zebra stripes' occurs in any name or description"),
        ("tea", "none of the words of 'tea' occurs in the name or the description of 'list_jars'; they fit"),
        ("old kitchen tea", "'old kitchen tea' fits 'list_pots', 'list_pans', 'list_cups' better than 'list_jars'"),
        ("kitchen", None),
        ("glass for tea", None),
    ],
    ids=["nowhere", "elsewhere", "better elsewhere", "a tie of four", "a tie of single words"],
)
async def test_without_a_search_the_words_of_people_are_counted(phrase: str, words: str | None) -> None:
    """Who is as good as the best three is found."""
    fixtures = Fixtures(words={"list_jars": (phrase,)})
    results = await results_on(Shelf(declare=_pots), ID, fixtures=fixtures)
    told = [finding.words for finding in results[ID].broken if finding.subject == "list_jars"]
    assert [one.startswith(words or "") for one in told] == ([] if words is None else [True])


async def test_an_operation_without_a_description_has_no_words() -> None:
    """That it has none is another check's matter."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            one["description"] = ""

    assert verdicts(await results_on(Shelf(declare=declare), ID)) == {ID: "SKIP"}


async def test_a_search_may_be_declared_in_words() -> None:
    """Where the queries of 'introspect' are told in its description, and not as an enum."""

    def declare(told: dict[str, Json]) -> None:
        row = {"name": "query", "type": "string", "required": True, "description": "'operations', 'types' or 'search'."}
        told["introspect"]["parameters"] = [row, *told["introspect"]["parameters"][1:]]

    shelf = _answering({"name": "list_tales"})
    shelf.declare = declare
    assert found_wrong(await results_on(shelf, ID)) == {ID}
