"""``adapter.collection``: from a Python type and its items to operations that read them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest

from headgate import Adapter, AdapterError, Engine, Param
from headgate.query.backends import Backend
from headgate.query.collections import Computed, Relationship
from headgate.query.kinds import Kind
from tests.adapter.library import WRITTEN_BY, Author, Book, Loan, Tool, answered, engine, library, page, some_books
from tests.engine.asking import ask, error

pytestmark = pytest.mark.anyio

READING = {"list_books", "get_book", "search_books", "count_books"}
WRITING = {"create_book", "update_book", "delete_book"}


def books(adapter: Adapter) -> set[str]:
    return {name for name in adapter.operations if name.endswith(("_book", "_books"))}


# types


async def test_a_dataclass_becomes_a_collection_with_all_operations() -> None:
    made = library()
    assert books(made) == READING | WRITING
    assert await page(Engine(made), "list_books", fields=["title", "price"], first=2) == [
        {"title": "A Doll's House", "price": "9.50"},
        {"title": "Emma", "price": "12.00"},
    ]


async def test_a_pydantic_model_becomes_a_collection() -> None:
    made = Adapter("library")
    loan = Loan(loan_id=uuid4(), isbn="1")
    made.collection(Loan, key="loan_id", items=[loan])
    assert await page(Engine(made), "list_loans") == [
        {"loan_id": str(loan.loan_id), "isbn": "1", "state": "open", "days": 14}
    ]
    found = await answered(Engine(made), "get_loan", loan_id=str(loan.loan_id).upper())
    assert found["isbn"] == "1"


async def test_a_typed_dictionary_becomes_a_collection_and_what_an_item_lacks_is_null() -> None:
    made = Adapter("library")
    made.collection(
        Tool,
        key="name",
        items=[{"name": "ladder"}, {"name": "stamp", "weight": 0.5}],
        computed=[Computed(name="known", kind=Kind.BOOLEAN, function=lambda tool: "weight" in tool)],
    )
    assert await page(Engine(made), "list_tools", fields=["name", "weight", "_computed.known"]) == [
        {"name": "ladder", "weight": None, "_computed": {"known": False}},
        {"name": "stamp", "weight": 0.5, "_computed": {"known": True}},
    ]


async def test_a_type_without_fields_is_refused() -> None:
    with pytest.raises(AdapterError, match="needs a type with fields, such as a dataclass"):
        Adapter("library").collection(int, key="id", items=[])


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Sample:
    """Every kind of field."""

    id: UUID
    text: str
    whole: int
    part: float
    money: Decimal
    flag: bool
    day: date
    hour: time
    moment: datetime
    size: Size
    numbers: list[int]
    nested: dict[str, Any]
    raw: bytes = b""
    nothing: str | None = None


IDENT = UUID("123e4567-e89b-12d3-a456-426614174000")


def sample(**more: Any) -> Sample:
    moment = datetime(2024, 2, 29, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    plain: dict[str, Any] = {
        "id": IDENT,
        "text": "a",
        "whole": 2**60,
        "part": 0.5,
        "money": Decimal("1.10"),
        "flag": True,
        "day": date(2024, 2, 29),
        "hour": time(10, 30),
        "moment": moment,
        "size": Size.LARGE,
        "numbers": [1, 2],
        "nested": {"a": {"b": 1}},
        "raw": b"hi",
    }
    return Sample(**{**plain, **more})


async def test_every_kind_of_field_is_known_and_answered() -> None:
    made = Adapter("samples")
    collection = made.collection(Sample, key="id", items=[sample()])
    assert {name: one.kind for name, one in collection.fields.items()} == {
        "id": Kind.UUID,
        "text": Kind.TEXT,
        "whole": Kind.INTEGER,
        "part": Kind.NUMBER,
        "money": Kind.DECIMAL,
        "flag": Kind.BOOLEAN,
        "day": Kind.DATE,
        "hour": Kind.TIME,
        "moment": Kind.DATETIME,
        "size": Kind.TEXT,
        "numbers": Kind.ARRAY,
        "nested": Kind.JSON,
        "raw": Kind.BYTES,
        "nothing": Kind.TEXT,
    }
    assert collection.fields["size"].choices == ("small", "large")
    assert collection.fields["numbers"].item_kind is Kind.INTEGER
    assert collection.fields["nothing"].nullable
    found = await answered(Engine(made), "get_sample", id=str(IDENT))
    del found["_etag"]
    assert found == {
        "id": str(IDENT),
        "text": "a",
        "whole": str(2**60),
        "part": 0.5,
        "money": "1.10",
        "flag": True,
        "day": "2024-02-29",
        "hour": "10:30:00",
        "moment": "2024-02-29T09:30:00Z",
        "size": "large",
        "numbers": [1, 2],
        "nested": {"a": {"b": 1}},
        "raw": "aGk=",
        "raw_encoding": "base64",
        "raw_mime_type": "application/octet-stream",
        "nothing": None,
    }


@pytest.mark.parametrize(
    "asked",
    [
        {"whole": str(2**60)},
        {"money": {"gt": "1.09"}},
        {"moment": {"between": ["2024-02-29T09:00:00Z", "2024-02-29T11:00:00+01:00"]}},
        {"size": "large"},
        {"numbers": {"contains": 2}},
        {"nested.a.b": 1},
        {"nothing": None},
        {"hour": {"lte": "10:30"}},
    ],
    ids=", ".join,
)
async def test_every_kind_of_field_can_be_filtered_by(asked: dict[str, Any]) -> None:
    made = Adapter("samples")
    made.collection(Sample, key="id", items=[sample()])
    assert await answered(Engine(made), "count_samples", filter=asked) == {"count": 1}
    assert await answered(Engine(made), "count_samples", filter={"not": asked}) == {"count": 0}


async def test_a_moment_without_a_zone_is_taken_for_utc() -> None:
    made = Adapter("samples")
    made.collection(Sample, key="id", items=[sample(moment=datetime(2024, 1, 1, 12))])
    assert (await page(Engine(made), "list_samples", fields=["moment"])) == [{"moment": "2024-01-01T12:00:00Z"}]


# what holds the items

KEPT: list[Any] = [
    pytest.param(list, True, id="a list"),
    pytest.param(lambda items: {book.isbn: book for book in items}, True, id="a dictionary"),
    pytest.param(tuple, False, id="a tuple"),
    pytest.param(lambda items: lambda: items, False, id="a function"),
]


@pytest.mark.parametrize(("keep", "writable"), KEPT)
async def test_items_are_kept_as_their_author_likes(keep: Callable[[Sequence[Book]], Any], writable: bool) -> None:
    made = library(items=keep(some_books()))
    assert books(made) == (READING | WRITING if writable else READING)
    assert await page(Engine(made), "list_books", fields=["isbn"]) == [{"isbn": isbn} for isbn in "1234"]
    assert (await answered(Engine(made), "get_book", isbn="2"))["title"] == "Emma"


async def test_a_function_is_asked_anew_each_time() -> None:
    held: list[Book] = []
    made = Engine(library(items=lambda: held))
    assert await answered(made, "count_books") == {"count": 0}
    held.append(some_books()[0])
    assert await answered(made, "count_books") == {"count": 1}


async def test_what_the_author_changes_is_seen_at_once() -> None:
    held = some_books()
    made = engine(items=held)
    held[0].title = "Et dukkehjem"
    assert (await answered(made, "get_book", isbn="1"))["title"] == "Et dukkehjem"


@pytest.mark.parametrize("given", [{"items": [], "backend": object()}, {"items": None}], ids=["both", "neither"])
async def test_a_collection_has_items_or_a_backend(given: dict[str, Any]) -> None:
    with pytest.raises(AdapterError, match="needs items or a backend: one of them"):
        Adapter("library").collection(Author, key="id", **given)


async def test_another_backend_takes_part_in_everything() -> None:
    inner = library()
    backend: Backend = inner.collections._memory
    made = Adapter("outer")
    made.collection(Book, key="isbn", backend=backend)
    assert books(made) == READING | WRITING
    assert len(await page(Engine(made), "list_books")) == 4


# names and what is left out


async def test_names_follow_from_the_type_or_are_given() -> None:
    made = Adapter("library")
    made.collection(Author, key="id", items=[], name="people", singular="person", description="Who writes.")
    assert {"list_people", "get_person", "search_people", "count_people", "create_person"} <= set(made.operations)
    assert "Who writes." in made.operations["list_people"].full_description


@pytest.mark.parametrize(
    ("word", "expected"),
    [("story", "stories"), ("box", "boxes"), ("day", "days"), ("class", "classes"), ("book", "books")],
)
async def test_the_plural_follows_a_rule(word: str, expected: str) -> None:
    made = Adapter("library")
    assert made.collection(Author, key="id", items=[], singular=word).name == expected


async def test_operations_can_be_left_out() -> None:
    assert books(library(leave_out=["delete", "search"])) == (READING | WRITING) - {"delete_book", "search_books"}


async def test_leaving_out_what_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(AdapterError, match=r"no operation 'delet' to leave out\. Did you mean 'delete'"):
        library(leave_out=["delet"])


async def test_an_operation_that_the_author_wrote_stays() -> None:
    made = Adapter("library")

    @made.read
    async def get_book(isbn: str) -> str:
        """My own."""
        return f"my own {isbn}"

    made.collection(Book, key="isbn", items=some_books())
    assert await answered(Engine(made), "get_book", isbn="1") == "my own 1"
    assert await answered(Engine(made), "count_books") == {"count": 4}


async def test_two_collections_of_one_name_are_refused() -> None:
    made = library()
    with pytest.raises(AdapterError, match="There is already a collection 'books'"):
        made.collection(Book, key="isbn", items=[])


@dataclass
class Odd:
    """A type whose field has a name that callers could not write."""

    Id: int


async def test_a_field_that_callers_could_not_write_is_refused() -> None:
    with pytest.raises(AdapterError, match="'Id' in collection 'odds' is not snake_case"):
        Adapter("library").collection(Odd, key="Id", items=[])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        pytest.param({"read_only": ["titel"]}, "no field 'titel'. Did you mean 'title'", id="read-only"),
        pytest.param({"append_only": ["x"]}, "no field 'x'", id="only growing"),
        pytest.param({"version": "x"}, "no field 'x'", id="a version"),
        pytest.param({"append_only": ["price"]}, "'price' cannot only grow", id="a number that only grows"),
        pytest.param(
            {"relationships": [Relationship(name="author", target="authors", local=("autor_id",), remote=("id",))]},
            "starts from 'autor_id', which is no field. Did you mean 'author_id'",
            id="where a relationship starts",
        ),
        pytest.param({"search": ["x"]}, "names 'x', which is no field", id="a search"),
        pytest.param(
            {"relationships": [Relationship(name="title", target="authors", local=("author_id",), remote=("id",))]},
            "both a field and a relationship",
            id="a relationship of a field's name",
        ),
    ],
)
async def test_what_names_no_field_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(AdapterError, match=words):
        library(**said)


async def test_a_key_that_is_no_field_is_refused() -> None:
    with pytest.raises(AdapterError, match="no field 'number'"):
        Adapter("library").collection(Book, key="number", items=[])


async def test_a_computed_field_needs_one_way_to_compute_it() -> None:
    with pytest.raises(AdapterError, match="needs a function or an SQL expression: one of them"):
        Computed(name="both", kind=Kind.TEXT)
    with pytest.raises(AdapterError, match="'isCheap' is not snake_case"):
        Computed(name="isCheap", kind=Kind.TEXT, function=str)


# reading


async def test_a_function_computes_from_the_authors_own_object() -> None:
    taken: list[object] = []

    def note(book: Book) -> int:
        taken.append(book)
        return len(book.title)

    made = engine(computed=[Computed(name="length", kind=Kind.INTEGER, function=note)])
    asked = {"fields": ["_computed.length"], "sort": {"field": "_computed.length", "order": "desc"}, "first": 1}
    assert await page(made, "list_books", **asked) == [{"_computed": {"length": 14}}]
    assert all(isinstance(one, Book) for one in taken)
    assert await page(made, "list_books", fields=["title"], filter={"_computed.length": {"lt": 5}}) == [
        {"title": "Emma"}
    ]


async def test_one_item_shows_every_field_a_list_the_standard_ones_and_a_search_the_least() -> None:
    made = engine()
    one = await answered(made, "get_book", isbn="1")
    assert set(one) == {
        "isbn", "title", "author_id", "price", "published", "binding", "tags", "details", "_etag"
    }  # fmt: skip
    assert set((await page(made, "list_books"))[0]) == set(one) - {"details", "_etag"}
    assert set((await page(made, "search_books", query="emma"))[0]) == {"isbn", "title"}


async def test_fields_and_presets_of_the_author_apply_to_one_item_as_well() -> None:
    made = engine(presets={"card": ["title", "author.name", "_computed.cheap"]})
    expected = {"title": "Emma", "author": {"name": "Austen"}, "_computed": {"cheap": False}}
    found = await answered(made, "get_book", isbn="2", fields="card")
    assert {name: value for name, value in found.items() if name != "_etag"} == expected
    assert await page(made, "list_books", fields="card", filter={"isbn": "2"}) == [expected]


async def test_the_version_of_an_item_does_not_depend_on_what_is_shown() -> None:
    made = engine(presets={"full": ["title"]})
    shown: list[dict[str, Any]] = [
        {"fields": "minimal"},
        {"fields": ["title"]},
        {"fields": "full"},
        {"fields": "standard"},
        {},
    ]
    tags = {(await answered(made, "get_book", isbn="1", **asked))["_etag"] for asked in shown}
    assert len(tags) == 1
    assert await answered(made, "update_book", isbn="1", input={"title": "x"}, if_match=tags.pop())


async def test_an_item_that_is_not_there_is_told() -> None:
    found = await error(engine(), "get_book", isbn="9")
    assert (found["code"], found["message"]) == ("NOT_FOUND_RESOURCE", "Resource 'book' not found: '9'")
    assert found["details"] == {"resource_type": "book", "resource_id": "9"}


async def test_a_search_looks_into_the_texts_unless_told_otherwise() -> None:
    assert await page(engine(), "search_books", query="GHOSTS nonsense") == [{"isbn": "4", "title": "Ghosts"}]
    made = library(search=["isbn"])
    assert await page(Engine(made), "search_books", query="4") == [{"isbn": "4", "title": "Ghosts"}]
    assert "search_books" not in library(search=[]).operations


async def test_a_search_is_filtered_sorted_paged_and_summed_up_like_a_list() -> None:
    made = engine()
    asked = {"query": "emma ghosts house", "sort": {"field": "price"}, "filter": {"price": {"lt": 10}}}
    assert [book["isbn"] for book in await page(made, "search_books", **asked)] == ["4", "1"]
    found = await answered(made, "search_books", query="emma ghosts", aggregate={"n": {"count": True}})
    assert found == {"aggregations": {"n": 2}}
    first = await answered(made, "search_books", query="emma ghosts", first=1)
    assert first["pageInfo"]["hasNextPage"] is True
    rest = await answered(made, "search_books", query="emma ghosts", first=1, after=first["pageInfo"]["endCursor"])
    assert [first["items"][0]["isbn"], rest["items"][0]["isbn"]] == ["2", "4"]


async def test_a_count_takes_a_filter_and_words() -> None:
    made = engine()
    assert await answered(made, "count_books", filter={"author.country": "NO"}) == {"count": 2}
    assert await answered(made, "count_books", query="emma") == {"count": 1}
    assert await answered(made, "count_books", query="emma", filter={"author_id": 1}) == {"count": 0}


async def test_summaries_and_items_can_be_had_together() -> None:
    found = await answered(
        engine(), "list_books", aggregate={"n": {"count": True}}, include_items=True, first=1, fields=["isbn"]
    )
    assert found["aggregations"] == {"n": 4}
    assert found["items"] == [{"isbn": "1"}]
    assert found["pageInfo"]["hasNextPage"] is True


async def test_a_page_that_is_cut_says_so_in_a_warning() -> None:
    envelope = await ask(engine(), "list_books", first=1000)
    assert [warning["code"] for warning in envelope["warnings"]] == ["VALIDATION_TRUNCATED_WARNING"]


async def test_groups_that_are_left_out_are_told_in_a_warning() -> None:
    many = [Book(str(number), "x", number, Decimal(1)) for number in range(150)]
    asked = {"by": {"group_by": "author_id", "count": True}}
    envelope = await ask(engine(items=many), "list_books", aggregate=asked)
    assert len(envelope["data"]["aggregations"]["by"]) == 100
    assert envelope["warnings"][0]["details"]["original_count"] == 150


async def test_a_key_of_several_fields_names_one_item() -> None:
    @dataclass
    class Seat:
        """A chair in a row."""

        row: int
        chair: str
        taken: bool = False

    made = Adapter("hall")
    made.collection(Seat, key=["row", "chair"], items=[Seat(1, "a"), Seat(1, "b", True)])
    served = Engine(made)
    assert (await answered(served, "get_seat", row=1, chair="b"))["taken"] is True
    assert await answered(served, "delete_seat", row=1, chair="a") == {"deleted": True, "row": 1, "chair": "a"}
    found = await error(served, "get_seat", row=1, chair="a")
    assert found["details"]["resource_id"] == [1, "a"]
    assert (await error(served, "create_seat", row=1, chair="b"))["code"] == "CONFLICT_ALREADY_EXISTS"


# what a query gets wrong, through the whole pipeline

WRONG = [
    pytest.param({"filter": {"titel": "x"}}, "VALIDATION_UNKNOWN_FIELD", id="an unknown field in a filter"),
    pytest.param({"sort": {"field": "titel"}}, "VALIDATION_UNKNOWN_FIELD", id="an unknown field in a sort"),
    pytest.param({"fields": ["titel"]}, "VALIDATION_UNKNOWN_FIELD", id="an unknown field"),
    pytest.param({"fields": []}, "VALIDATION_INVALID_VALUE", id="no field"),
    pytest.param({"fields": "[]"}, "VALIDATION_INVALID_VALUE", id="no field in a text"),
    pytest.param({"fields": [""]}, "VALIDATION_UNKNOWN_FIELD", id="an empty name"),
    pytest.param({"aggregate": {"a": {"median": "price"}}}, "VALIDATION_UNKNOWN_FIELD", id="an unknown function"),
    pytest.param({"first": 1, "last": 1}, "VALIDATION_INVALID_VALUE", id="both ends"),
    pytest.param({"first": -1}, "VALIDATION_OUT_OF_RANGE", id="fewer than none"),
    pytest.param({"page": 0}, "VALIDATION_OUT_OF_RANGE", id="a page before the first"),
    pytest.param({"first": "ten"}, "VALIDATION_INVALID_TYPE", id="a number in words"),
    pytest.param({"filter": "x"}, "VALIDATION_INVALID_TYPE", id="a filter in words"),
    pytest.param({"flter": {}}, "VALIDATION_UNKNOWN_PARAM", id="an unknown parameter"),
    pytest.param({"fields": ["author.books"]}, "VALIDATION_INVALID_VALUE", id="a relationship to many"),
    pytest.param({"filter": {"binding": "leather"}}, "VALIDATION_INVALID_VALUE", id="a value that is no choice"),
]


@pytest.mark.parametrize(("asked", "code"), WRONG)
async def test_a_mistake_in_a_query_has_a_code_and_words_for_people(asked: dict[str, Any], code: str) -> None:
    assert (await error(engine(), "list_books", **asked))["code"] == code


async def test_a_relationship_to_a_collection_that_is_not_there_harms_nothing() -> None:
    made = Adapter("library")
    made.collection(Book, key="isbn", items=some_books(), relationships=[WRITTEN_BY])
    served = Engine(made)
    assert "query_relationships" not in made.operations
    assert len(await page(served, "list_books")) == 4
    found = await error(served, "list_books", fields=["author.name"])
    assert (found["code"], "author.name" in found["details"]["valid_fields"]) == ("VALIDATION_UNKNOWN_FIELD", False)


@dataclass
class Card:
    """What opens a door."""

    number: int
    pin: Annotated[str, Param(sensitive=True)]


async def test_a_secret_is_neither_filtered_nor_grouped_by() -> None:
    made = Adapter("doors")
    made.collection(Card, key="number", items=[Card(1, "1234")])
    served = Engine(made)
    assert (await error(served, "list_cards", filter={"pin": {"starts_with": "1"}}))[
        "code"
    ] == "VALIDATION_INVALID_VALUE"
    grouped = {"a": {"group_by": "pin", "count": True}}
    assert (await error(served, "list_cards", aggregate=grouped))["code"] == "VALIDATION_INVALID_VALUE"
