"""What introspection says of collections: in the prescribed form, for models in words, and true."""

from collections.abc import Callable
from typing import Any

import pytest

from headgate import Adapter, Engine
from headgate.query.collections import Computed
from headgate.query.kinds import Kind
from headgate.query.operators import OPERATORS, operators_for
from tests.adapter.library import Loan, answered, library
from tests.adapter.test_collections import Sample, sample
from tests.adapter.test_relationship_queries import hall
from tests.engine.asking import ask
from tests.support import schema_errors

pytestmark = pytest.mark.anyio


def everything() -> Adapter:
    """A library that has whatever a collection can have."""
    adapter = library(
        computed=[
            Computed(name="cheap", kind=Kind.BOOLEAN, description="Under ten", function=lambda book: book.price < 10),
            Computed(name="odd", kind=Kind.JSON, function=lambda book: {}, filterable=False, sortable=False),
        ],
        presets={"card": ["title", "author.name"]},
        read_only=["binding"],
    )
    adapter.collection(Loan, key="loan_id", items=[])
    return adapter


def kinds() -> Adapter:
    """A collection with a field of every kind."""
    adapter = Adapter("samples")
    adapter.collection(Sample, key="id", items=[sample()])
    return adapter


OPERATIONS = list(everything().operations)


async def details(served: Engine, name: str) -> dict[str, Any]:
    found: dict[str, Any] = (await answered(served, "introspect", query="operations", name=name))["operation"]
    return found


@pytest.mark.parametrize("name", OPERATIONS)
async def test_the_details_of_every_operation_have_the_prescribed_form(name: str) -> None:
    served = Engine(everything())
    envelope = await ask(served, "introspect", query="operations", name=name)
    assert schema_errors(envelope, "introspection-response") == []
    found = envelope["data"]["operation"]
    assert schema_errors(found, "introspection-response", "OperationDetails") == []
    if "aggregation_support" in found:
        assert schema_errors({"introspection": found["aggregation_support"]}, "aggregation-query") == []
    if "computed_fields" in found:
        assert schema_errors({"computed_fields": found["computed_fields"]}, "computed-fields") == []
    if "relationship_capabilities" in found:
        assert schema_errors(found["relationship_capabilities"], "relationship-query", "RelationshipCapabilities") == []


@pytest.mark.parametrize(
    "served",
    [
        pytest.param(everything, id="library"),
        pytest.param(lambda: hall().adapter, id="hall"),
        pytest.param(kinds, id="kinds"),
    ],
)
async def test_every_example_of_every_operation_is_a_request_that_is_right(served: Any) -> None:
    """Whether there is already an item of that key, an example cannot know."""
    adapter = served()
    engine = Engine(adapter)
    for name in adapter.operations:
        examples = (await details(engine, name))["examples"]
        assert examples, name
        for example in examples:
            envelope = await ask(engine, name, **example["request"].get("params", {}))
            code = envelope.get("error", {}).get("code")
            unknowable = {"create": "CONFLICT_ALREADY_EXISTS"}.get(name.partition("_")[0], "NOT_FOUND_RESOURCE")
            names_no_item = name.startswith(("list_", "search_", "count_"))
            assert code is None or (not names_no_item and code == unknowable), (example, envelope)


@pytest.mark.parametrize("name", ["list_books", "search_books", "list_authors", "list_loans"])
async def test_the_examples_of_a_listing_fit_the_schema_of_collection_queries(name: str) -> None:
    for example in (await details(Engine(everything()), name))["examples"]:
        assert schema_errors(example["request"]["params"], "collection-query") == []


@pytest.mark.parametrize("name", OPERATIONS)
async def test_every_parameter_says_what_it_is(name: str) -> None:
    shown = (await details(Engine(everything()), name))["parameters"]
    assert [one["name"] for one in shown if len(one.get("description", "").split()) < 2] == []


async def test_an_example_combines_several_controls() -> None:
    first = (await details(Engine(everything()), "list_books"))["examples"][0]["request"]["params"]
    assert {"filter", "sort", "fields", "first"} <= set(first)


async def test_listings_say_what_can_be_summed_up_and_that_is_true() -> None:
    served = Engine(everything())
    support = (await details(served, "list_books"))["aggregation_support"]
    assert support["functions"] == ["count", "group_by", "sum", "avg", "min", "max"]
    for field in support["groupable_fields"]:
        await answered(served, "list_books", aggregate={"a": {"group_by": field, "count": True}})
    for field in support["numeric_fields"]:
        await answered(served, "list_books", aggregate={"a": {"sum": field, "avg": field}})
    assert {"binding", "author_id", "_computed.cheap"} <= set(support["groupable_fields"])
    assert support["numeric_fields"] == ["author_id", "price"]


async def test_computed_fields_are_told_with_what_can_be_done_with_them() -> None:
    told = (await details(Engine(everything()), "list_books"))["computed_fields"]
    assert told == [
        {"name": "cheap", "type": "boolean", "description": "Under ten", "filterable": True, "sortable": True},
        {"name": "odd", "type": "any", "filterable": False, "sortable": False},
    ]


async def test_answers_with_summaries_have_the_prescribed_form() -> None:
    served = Engine(everything())
    for more in ({}, {"include_items": True}, {"include_items": True, "page": 1}):
        asked = {"aggregate": {"n": {"count": True}, "by": {"group_by": "binding", "count": True}}, **more}
        assert schema_errors({"request": asked}, "aggregation-query") == []
        assert schema_errors({"response": await answered(served, "list_books", **asked)}, "aggregation-query") == []


async def test_the_words_of_a_listing_name_fields_operators_presets_and_pages() -> None:
    words = (await details(Engine(everything()), "list_books"))["description"]
    for told in (
        "price (decimal)",
        "binding (cloth|paper)",
        "author. (authors)",
        "_computed.cheap",
        "card (title, author.name)",
        "Without fields: standard",
        "first/after or last/before",
        *OPERATORS,
    ):
        assert told in words


# the query for machines


async def test_all_collections_or_one_can_be_asked_for() -> None:
    served = Engine(everything())
    every = (await answered(served, "introspect", query="collections"))["collections"]
    assert [one["name"] for one in every] == ["authors", "books", "loans"]
    one = (await answered(served, "introspect", query="collections", name="books"))["collection"]
    assert one == every[1]
    assert (await answered(served, "introspect", query="collections", name="nothing")) == {"collection": None}
    bare = Engine(Adapter("bare"))
    assert await answered(bare, "introspect", query="collections") == {"collections": []}


async def test_a_collection_is_described_for_machines() -> None:
    told = (await answered(Engine(everything()), "introspect", query="collections", name="books"))["collection"]
    assert (told["singular"], told["key"], told["description"]) == ("book", ["isbn"], "What is written.")
    fields = {one["name"]: one for one in told["fields"]}
    assert fields["binding"]["enum"] == ["cloth", "paper"]
    assert (fields["isbn"]["access"], fields["binding"]["access"], fields["title"]["access"]) == (
        "once",
        "never",
        "always",
    )
    assert all(one["operators"] == operators_for(_kind(one["type"])) for one in told["fields"])
    assert told["relationships"] == [{"name": "author", "target": "authors", "many": False, "type": "written_by"}]
    assert set(told["presets"]) == {"minimal", "standard", "full", "card"}
    assert told["search_fields"] == ["title"]
    assert told["pagination"] == {"styles": ["cursor", "offset", "page"], "page_size": 25, "max_page_size": 100}


def _kind(word: str) -> Kind:
    return next(kind for kind in Kind if kind.word == word)


async def test_what_is_told_of_fields_is_metadata_of_the_prescribed_form() -> None:
    told = (await answered(Engine(everything()), "introspect", query="collections", name="books"))["collection"]
    metadata = {
        "supported": True,
        "presets": [{"name": name, "fields": paths} for name, paths in told["presets"].items()],
        "available_fields": [{"name": one["name"], "type": one["type"]} for one in told["fields"]],
        "computed_fields": told["computed_fields"],
        "default_preset": "standard",
    }
    assert schema_errors({"metadata": metadata}, "field-selection") == []


async def test_every_sort_field_and_every_operator_that_is_told_works() -> None:
    served = Engine(everything())
    told = (await answered(served, "introspect", query="collections", name="books"))["collection"]
    for name in told["sort_fields"]:
        await answered(served, "list_books", sort={"field": name, "order": "desc"}, first=1)
    for one in told["fields"]:
        if "is_null" in one["operators"]:
            await answered(served, "count_books", filter={one["name"]: {"is_null": True}})


async def test_capabilities_follow_from_what_is_served() -> None:
    async def capabilities(adapter: Adapter) -> dict[str, bool]:
        told: dict[str, bool] = (await answered(Engine(adapter), "introspect", query="operations"))["_protocol"][
            "capabilities"
        ]
        return told

    names = ("field_selection", "aggregations", "computed_fields", "pagination", "relationship_queries")
    served = await capabilities(everything())
    assert [served[name] for name in names] == [True] * 5
    bare = await capabilities(Adapter("bare"))
    assert [bare[name] for name in names] == [False] * 5
    plain = Adapter("plain")
    plain.collection(Loan, key="loan_id", items=[])
    some = await capabilities(plain)
    assert [some[name] for name in names] == [True, True, False, True, False]


async def test_pages_need_no_collection() -> None:
    async def is_paged(function: Callable[..., object]) -> object:
        adapter = Adapter("pages")
        adapter.read(function)
        told = await answered(Engine(adapter), "introspect", query="operations")
        return told["_protocol"]["capabilities"]["pagination"]

    def list_rooms(first: int = 10, after: str | None = None) -> list[str]:
        """List the rooms."""
        return [after or ""][:first]

    def list_beds(first: int = 10) -> list[str]:
        """List the first beds."""
        return [""][:first]

    assert await is_paged(list_rooms) is True
    assert await is_paged(list_beds) is False


async def test_operations_of_collections_are_found_by_words() -> None:
    found = await answered(Engine(everything()), "introspect", query="search", name="count the books")
    assert found["operations"][0]["name"] == "count_books"
