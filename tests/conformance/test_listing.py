"""Collections in whatever form: items, orders, dates, and requests that may cost the connection."""

from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.client.wires import Answer, Era, Lost, Refused, Silent, WireError
from headgate.conformance.apart import asked_apart
from headgate.conformance.listing import Listing, collection_operations, items_in, listings, scalar_fields, words_in
from headgate.conformance.members import members_of
from headgate.conformance.moments import is_iso, is_named_like_one, looks_like_one
from headgate.conformance.ordering import is_sorted
from headgate.conformance.payloads import LIMITS, Limit, padding_of
from headgate.conformance.probe import NotAllowed, Options, opened_probe
from tests.conformance.checks.shelf import Json, Shelf, operation
from tests.conformance.servers import opener_of_server, toy_server

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("data", "items"),
    [
        ([1, 2], [1, 2]),
        ({"items": [1], "warnings": [2]}, [1]),
        ({"edges": [{"node": {"id": 1}, "cursor": "a"}, 2], "pageInfo": {}}, [{"id": 1}, 2]),
        ({"books": [1], "total": 1}, [1]),
        ({"books": [1], "authors": [2]}, None),
        ({"count": 3}, None),
        ("text", None),
        (None, None),
    ],
    ids=["list", "items", "edges", "the only list", "two lists", "no list", "text", "nothing"],
)
def test_items_are_found_in_answers_of_any_style(data: object, items: list[Any] | None) -> None:
    """And nowhere else."""
    assert items_in(data) == items


def test_only_fields_with_plain_values_in_every_item_are_compared() -> None:
    """Metadata, objects and what some items lack are left out."""
    items = [
        {"id": 1, "_etag": "a", "tags": [], "title": "x", "note": None},
        {"id": 2, "_etag": "b", "tags": [], "note": "y"},
    ]
    assert scalar_fields(items) == {"id": [1, 2], "note": [None, "y"]}
    assert scalar_fields([]) == {}
    assert scalar_fields([{"id": 1}, "text"]) == {}


def test_words_to_search_for_are_words() -> None:
    """The longest of each text, without numbers and short ones."""
    assert words_in([{"a": "The Old Lighthouse 42", "b": 7, "c": "x1 y2"}, "text"]) == ["Lighthouse"]


@given(st.lists(st.integers()))
def test_numbers_are_sorted_or_not(values: list[int]) -> None:
    """Whatever they are."""
    assert is_sorted(sorted(values), values)
    assert is_sorted(sorted(values, reverse=True), values, descending=True)
    assert is_sorted(values, values) == (values == sorted(values))


@given(st.lists(st.one_of(st.none(), st.text(max_size=5))))
def test_texts_are_sorted_by_any_usual_order(values: list[str | None]) -> None:
    """With or without regard to case; items without a value may stand anywhere."""
    texts = [value for value in values if value is not None]
    assert is_sorted([None, *sorted(texts), None], values)
    downwards = sorted(texts, key=str.casefold, reverse=True)
    assert is_sorted([*downwards], values, descending=True)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["9.50", "10.00", "11.00"], True),
        (["10.00", "11.00", "9.50"], True),
        (["b", "a"], False),
        ([False, True], True),
        ([True, False], False),
        ([1, "a", True], True),
        (["NaN", "1", "Infinity"], False),
        (["de Vries", "Del Rey", "d'Arc"], False),
        ([], True),
    ],
    ids=[
        "decimals",
        "decimals as texts",
        "texts",
        "booleans",
        "booleans down",
        "a mixture",
        "names of numbers",
        "names",
        "nothing",
    ],
)
def test_an_order_is_one_that_somebody_uses(values: list[Any], expected: bool) -> None:
    """Numbers in texts may be sorted as either."""
    assert is_sorted(values, values) is expected


def test_a_page_that_is_sorted_by_itself_is_not_sorted() -> None:
    """A smaller number that is known would have to come first."""
    assert not is_sorted([5, 6, 7], [1, 9])
    assert not is_sorted([7, 6, 5], [1, 9], descending=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-04", True),
        ("2026-02-04T10:30:00Z", True),
        ("2026-02-04T10:30:00.5+05:30", True),
        ("20260204T103000Z", True),
        ("2026-W06-3", True),
        ("2026-035", True),
        ("2026", True),
        ("2026-02", True),
        ("2026-02-30", False),
        ("2026-02-04 10:30:00", False),
        ("04.02.2026", False),
        (1_770_000_000, False),
        ("", False),
    ],
)
def test_a_date_of_iso_8601_is_one_that_exists(value: object, expected: bool) -> None:
    """In any of the forms that the standard has."""
    assert is_iso(value) is expected


@pytest.mark.parametrize("name", ["created_at", "due_date", "date", "opened_on", "timestamp", "updatedAt", "birthDate"])
def test_names_of_dates_are_known(name: str) -> None:
    """In either spelling."""
    assert is_named_like_one(name)


@pytest.mark.parametrize("name", ["format", "update", "season", "candidate", "stat", "validate", "person"])
def test_other_names_are_not_taken_for_dates(name: str) -> None:
    """Although they end alike."""
    assert not is_named_like_one(name)


@pytest.mark.parametrize("value", ["12 Main Street", "task_1", "ready", True, 7, None, "x" * 100, 3.5])
def test_what_is_no_date_is_not_judged_as_one(value: object) -> None:
    """Whatever its name is."""
    assert not looks_like_one(value)


@pytest.mark.parametrize("limit", LIMITS)
@given(allowed=st.integers(min_value=8, max_value=2000))
def test_a_padding_is_beyond_its_limit(limit: Limit, allowed: int) -> None:
    """By as much as is needed."""
    value = padding_of(limit, allowed)
    sizes = {
        "max_nesting_depth": _depth(value),
        "max_array_elements": len(value) if isinstance(value, list) else 0,
        "max_string_length": len(value) if isinstance(value, str) else 0,
        "max_request_size": sum(map(len, value)) if isinstance(value, list) and isinstance(value[0], str) else 0,
    }
    assert sizes[limit] > allowed


def _depth(value: object) -> int:
    levels = 0
    while isinstance(value, list) and value:
        levels, value = levels + 1, value[0]
    return levels


def _declaring(**operations: list[Json]) -> Shelf:
    def declare(told: dict[str, Json]) -> None:
        for name, parameters in operations.items():
            told[name] = operation(name, "Something.", parameters)

    return Shelf(declare=declare)


async def _found(shelf: Shelf) -> list[Listing]:
    async with opened_probe(opener_of_server(toy_server(shelf.answer)), Options()) as probe:
        return await listings(probe)


async def test_a_search_is_tried_with_words_of_what_is_listed() -> None:
    """Else it would find nothing."""
    found = {listing.name: listing for listing in await _found(Shelf())}
    assert set(found) == {"list_tales", "search_tales"}
    assert len(found["list_tales"].items) == 8
    assert found["search_tales"].items


async def test_a_search_that_finds_nothing_is_still_one() -> None:
    """It can be asked what does not need items."""
    found = {listing.name: listing for listing in await _found(Shelf(items=[]))}
    assert found["search_tales"].items == ()


async def test_graphs_and_what_cannot_be_called_are_no_listings() -> None:
    """What needs a value of a type that is not told cannot be called."""
    needed = {"name": "shape", "type": "Unheard", "required": True, "description": "Of a type that is not told."}
    query = {"name": "query", "type": "Unheard", "required": True, "description": "The same."}
    shelf = _declaring(query_relationships=[], list_shapes=[needed], search_shapes=[query])
    assert [listing.name for listing in await _found(shelf)] == ["list_tales", "search_tales"]
    async with opened_probe(opener_of_server(toy_server(shelf.answer)), Options()) as probe:
        assert "query_relationships" not in {one.name for one in collection_operations(probe)}


async def test_a_size_is_within_what_is_declared() -> None:
    """A server may have small pages."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            rows = one["parameters"]
            one["parameters"] = [row | ({"maximum": 3} if row["name"] == "first" else {}) for row in rows]

    found = await _found(Shelf(declare=declare))
    assert len(found[0].items) == 3
    assert found[0].few() == {"first": 3}


async def test_members_are_also_read_from_what_does_not_list() -> None:
    """Operations that nobody has called yet are called; what cannot be is passed over."""
    needed = {"name": "shape", "type": "Unheard", "required": True, "description": "Of a type that is not told."}
    shelf = _declaring(get_time=[], get_shape=[needed])
    async with opened_probe(opener_of_server(toy_server(shelf.answer)), Options()) as probe:
        seen = {member.exchange.operation for member in await members_of(probe)}
    assert seen == {"list_tales", "search_tales", "get_time"}


class _Faulty:
    """A connection on which everything fails in one way, and how often it was made."""

    def __init__(self, error: Exception) -> None:
        self.error, self.made = error, 0

    def __call__(self, *, mode: str | None = None, era: Era = "auto") -> Any:
        self.made += 1
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        return None

    async def call(self, *_args: object, **_more: object) -> Answer:
        raise self.error


REQUEST = {"operation": "introspect", "params": {"query": "operations"}}


@pytest.mark.parametrize(
    ("error", "kinds", "made"),
    [
        (Refused(-32602, "no"), ["refused"] * 4, 4),
        (Lost("gone"), ["lost"] * 4, 4),
        (Silent(1.0), ["silent"] * 4, 2),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), ["lost"] * 4, 4),
    ],
    ids=["refused", "lost", "silent", "cannot be sent"],
)
async def test_what_is_not_answered_costs_a_connection_and_no_more(
    error: WireError | UnicodeEncodeError, kinds: list[str], made: int
) -> None:
    """The ledger knows nothing of it; a server that stays silent is not asked for ever."""
    faulty = _Faulty(error)
    async with opened_probe(opener_of_server(toy_server(Shelf().answer)), Options()) as probe:
        before = len(probe.ledger)
        probe.opener = faulty
        assert [exchange.kind for exchange in await asked_apart(probe, [REQUEST] * 4)] == kinds
        assert len(probe.ledger) == before
    assert faulty.made == made


async def test_nothing_but_introspection_is_asked_apart() -> None:
    """What is not in the ledger may change nothing."""
    async with opened_probe(opener_of_server(toy_server(Shelf().answer)), Options()) as probe:
        with pytest.raises(NotAllowed):
            await asked_apart(probe, [{"operation": "list_tales"}])
