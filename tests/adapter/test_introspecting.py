"""What introspection answers: made from the registry alone, and always of the demanded form (Spec 7)."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from headgate import (
    Adapter,
    AqlError,
    Binary,
    Category,
    Context,
    Deprecated,
    Example,
    Limits,
    Mode,
    Operation,
    Param,
    Parameter,
    Patch,
    __version__,
)
from headgate.adapter.exposure import Exposure
from headgate.adapter.hints import hint_for
from headgate.adapter.introspection import QUERIES, Introspector
from headgate.adapter.schemas import parameter_info
from headgate.adapter.types import PROTOCOL_TYPES, type_from_schema
from headgate.protocol.error_codes import REGISTRY
from headgate.protocol.profiles import PROFILES
from tests.support import schema_errors

Lists = typing_extensions.TypeAliasType("Lists", "list[Lists]")


class Genre(StrEnum):
    """A kind of book."""

    NOVEL = "novel"
    POEM = "poem"


class Author(BaseModel):
    """Who wrote it."""

    name: str
    mentor: "Author | None" = None


class Book(BaseModel):
    """A book on the shelf."""

    book_id: Annotated[str, Param(read_only=True)] = ""
    title: Annotated[str, Param(min_length=1, description="As printed")]
    author: Author
    genre: Genre = Genre.NOVEL
    price: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    tags: list[Annotated[str, Param(max_length=20)]] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


def introspector(adapter: Adapter | None = None, **exposure: Any) -> Introspector:
    return Introspector(adapter or made(), Exposure(**exposure), Limits(), "resource-locked", 100)


def made() -> Adapter:
    adapter = Adapter("library", "Books and readers", version="2.0.1")

    @adapter.read(examples=[Example({"genre": "poem"}, "Poems")])
    async def list_books(
        genre: Genre | None = None,
        first: Annotated[int, Param(minimum=1, maximum=100, description="How many.")] = 25,
        since: date | None = None,
    ) -> list[Book]:
        """List books.

        Returns:
            The newest first.
        """
        return []

    @adapter.update
    async def update_book(book_id: str, input: Patch[Book], if_match: str | None = None) -> Book:  # noqa: A002
        """Change a book."""
        raise NotImplementedError

    @adapter.create(deprecated=Deprecated("slow", "create_books"))
    async def create_book(
        book: Book, cover: Binary | None = None, old: Annotated[str, Param(deprecated="gone")] = ""
    ) -> str:
        """Add a book."""
        return ""

    @adapter.execute
    async def execute_export(
        ctx: Context,
        kinds: Annotated[list[str], Field(min_length=1, max_length=3)],
        target: Annotated[str, Param(sensitive=True, description="A URL with its password")] = "ftp://u:hunter2@h",
        unique: set[int] | None = None,
        pet: Cat | Dog | None = None,
        lists: Lists | None = None,
        ratio: Annotated[float, Field(gt=0, lt=1, multiple_of=0.5)] = 0.5,
        mode: Literal["fast"] = "fast",
    ) -> dict[str, Lists]:
        """Export everything."""
        return {}

    return adapter


def answer(query: str, name: str | None = None, first: int | None = None, after: str | None = None) -> Any:
    return introspector().answer("sess_1", query, name, first, after)


def details(name: str, **exposure: Any) -> Any:
    found: Any = introspector(**exposure).answer("sess_1", "operations", name, None, None)
    return found["operation"]


def parameter(operation: str, name: str) -> dict[str, Any]:
    return next(info for info in details(operation)["parameters"] if info["name"] == name)


# The form of the answers.


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("profile", list(PROFILES))
def test_every_answer_has_the_form_of_the_schema(mode: Mode, profile: str) -> None:
    asked = introspector(mode=mode, profile=PROFILES[profile], prefix="my_")
    names = [*asked.operations, None, "nonsense"]
    types = [*(info["name"] for info in answer("types")["types"]), None, "Nonsense"]
    for query, items in (("operations", names), ("types", types)):
        for name in items:
            data = asked.answer("sess_1", query, name, None, None)
            assert schema_errors({"success": True, "data": data}, "introspection-response") == [], name


def test_an_unknown_name_is_answered_with_null() -> None:
    assert answer("operations", "nonsense") == {"operation": None}
    assert answer("types", "Nonsense") == {"type": None}
    assert answer("operations", "") == {"operation": None}


# Operations.


def test_operations_are_listed_with_category_and_endpoint_and_introspect_itself() -> None:
    assert answer("operations")["operations"] == [
        {"name": "list_books", "semantic_category": "READ", "endpoint": "read", "description": "List books."},
        {"name": "update_book", "semantic_category": "UPDATE", "endpoint": "update", "description": "Change a book."},
        {
            "name": "create_book",
            "semantic_category": "CREATE",
            "endpoint": "create",
            "description": "Add a book. (deprecated)",
        },
        {
            "name": "execute_export",
            "semantic_category": "EXECUTE",
            "endpoint": "execute",
            "description": "Export everything.",
        },
        {
            "name": "introspect",
            "semantic_category": "READ",
            "endpoint": "read",
            "description": "Discover available operations and types",
        },
    ]


def test_an_operation_is_described_in_full() -> None:
    found = details("list_books", prefix="my_")
    assert found | {"parameters": []} == {
        "name": "list_books",
        "semantic_category": "READ",
        "endpoint": "read",
        "mcpTool": "my_mcp_aql_read",
        "description": "List books.",
        "permissions": {"readOnly": True, "destructive": False},
        "parameters": [],
        "returns": {"name": "Book[]", "kind": "object", "description": "The newest first."},
        "examples": [{"description": "Poems", "request": {"operation": "list_books", "params": {"genre": "poem"}}}],
    }


def test_the_tool_of_an_operation_is_the_one_that_exists() -> None:
    assert details("list_books", mode=Mode.SINGLE)["mcpTool"] == "mcp_aql"
    assert details("list_books", profile=PROFILES["discover"])["mcpTool"] == "mcp_aql_query"


@pytest.mark.parametrize(
    ("operation", "name", "info"),
    [
        (
            "list_books",
            "genre",
            {"type": "string | null", "required": False, "default": None, "enum": ["novel", "poem", None]},
        ),
        (
            "list_books",
            "first",
            {
                "type": "integer",
                "required": False,
                "default": 25,
                "minimum": 1,
                "maximum": 100,
                "description": "How many.",
            },
        ),
        ("update_book", "book_id", {"type": "string", "required": True}),
        (
            "create_book",
            "old",
            {"type": "string", "required": False, "default": "", "description": "Deprecated: gone."},
        ),
        (
            "create_book",
            "cover",
            {
                "type": "string | null",
                "required": False,
                "default": None,
                "format": "base64",
                "description": "(binary data as base64 with padding)",
            },
        ),
        (
            "execute_export",
            "target",
            {"type": "string", "required": False, "description": "A URL with its password", "sensitive": True},
        ),
        (
            "execute_export",
            "kinds",
            {
                "type": "array",
                "required": True,
                "items": {"type": "string"},
                "description": "(1 or more items, 3 or fewer items)",
            },
        ),
        (
            "execute_export",
            "unique",
            {
                "type": "array | null",
                "required": False,
                "default": None,
                "items": {"type": "integer"},
                "description": "(no item twice)",
            },
        ),
        ("execute_export", "pet", {"type": "Cat | Dog | null", "required": False, "default": None}),
        ("execute_export", "lists", {"type": "Lists | null", "required": False, "default": None}),
        (
            "execute_export",
            "ratio",
            {
                "type": "number",
                "required": False,
                "default": 0.5,
                "description": "(greater than 0, less than 1, a multiple of 0.5)",
            },
        ),
        ("execute_export", "mode", {"type": "string", "required": False, "default": "fast", "enum": ["fast"]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_parameter_is_described_with_all_that_a_caller_must_know(
    operation: str, name: str, info: dict[str, Any]
) -> None:
    assert parameter(operation, name) == {"name": name, **info}


def test_the_input_of_an_update_says_what_null_and_silence_mean() -> None:
    info = parameter("update_book", "input")
    assert info["type"] == "BookPatch"
    assert "Fields: title, author, genre, price, tags." in info["description"]
    assert "null removes it" in info["description"]


def test_the_default_of_a_secret_is_never_shown() -> None:
    asked = introspector()
    everything = [asked.answer("s", "operations", name, None, None) for name in asked.operations]
    assert "hunter2" not in str(everything)


def test_a_verb_of_ones_own_is_explained() -> None:
    assert details("introspect")["description"].startswith("Discover available operations and types")


def test_introspect_documents_itself() -> None:
    query = parameter("introspect", "query")
    assert query["enum"] == list(QUERIES)
    assert all(f"'{word}'" in query["description"] for word in QUERIES)
    taken = [info["name"] for info in details("introspect")["parameters"]]
    assert taken == ["query", "name", "first", "after", "names", "format"]


def test_the_context_is_no_parameter() -> None:
    assert "ctx" not in [info["name"] for info in details("execute_export")["parameters"]]


# The protocol.


def test_the_protocol_says_version_mode_limits_concurrency_and_session() -> None:
    protocol = answer("operations")["_protocol"]
    assert protocol["version"] == "1.0.0-draft"
    assert protocol["mode"] == "semantic"
    assert protocol["limits"] == Limits().wire()
    assert protocol["concurrency"] == "resource-locked"
    assert protocol["max_concurrent_requests"] == 100
    assert protocol["supports_etag"] is True
    assert protocol["session_id"] == "sess_1"
    assert protocol["capabilities"]["batch"] is True
    assert "page" not in protocol


def test_an_adapter_without_conditional_changes_does_not_claim_etags() -> None:
    protocol: Any = introspector(Adapter("x")).answer("s", "operations", None, None, None)
    assert protocol["_protocol"]["supports_etag"] is False


# Pages.


def test_a_list_comes_in_pages_that_name_the_next() -> None:
    names: list[str] = []
    after = None
    for is_last in (False, False, True):
        page = answer("operations", first=2, after=after)
        names += [operation["name"] for operation in page["operations"]]
        after = page["_protocol"]["page"].get("after")
        assert (after is None) is is_last
        assert page["_protocol"]["page"]["total"] == 5
    assert names == list(introspector().operations)


def test_a_page_after_the_last_is_empty() -> None:
    page = answer("operations", after="introspect")
    assert page["operations"] == []
    assert page["_protocol"]["page"] == {"total": 5, "returned": 0}


def test_types_come_in_pages_too_and_all_of_them_if_no_number_is_given() -> None:
    everything = [info["name"] for info in answer("types")["types"]]
    assert [info["name"] for info in answer("types", first=2)["types"]] == everything[:2]
    assert [info["name"] for info in answer("types", first=2, after=everything[1])["types"]] == everything[2:4]


@pytest.mark.parametrize("query", ["operations", "types"])
def test_an_unknown_cursor_is_refused(query: str) -> None:
    with pytest.raises(AqlError) as raised:
        answer(query, after="nonsense")
    assert raised.value.error.code == "VALIDATION_INVALID_VALUE"


async def nothing(**_: Any) -> None:
    """Do nothing."""


def test_ten_thousand_operations_are_listed_in_pages_that_never_hide_any() -> None:
    adapter = Adapter("large")
    for number in range(10_000):
        adapter.add(Operation(f"get_item_{number}", Category.READ, nothing, (Parameter("a", {}),), f"Item {number}"))
    asked = introspector(adapter)
    seen: list[str] = []
    after = None
    while len(seen) < 10_001:
        page: Any = asked.answer("s", "operations", None, 1000, after)
        seen += [operation["name"] for operation in page["operations"]]
        after = page["_protocol"]["page"].get("after")
    assert after is None
    assert seen == list(asked.operations)
    default: Any = asked.answer("s", "operations", None, None, None)
    assert default["_protocol"]["page"] == {"total": 10_001, "returned": 500, "after": "get_item_499"}
    found: Any = asked.answer("s", "search", "item 4711", None, None)
    assert found["operations"][0]["name"] == "get_item_4711"
    assert len(found["operations"]) == 10


@pytest.mark.parametrize(
    ("annotation", "choices"),
    [
        (Genre, ["novel", "poem"]),
        (Genre | None, ["novel", "poem", None]),
        (Literal["a"], ["a"]),
        (Literal["a"] | None, ["a", None]),
        (Genre | Literal[1, 2], ["novel", "poem", 1, 2]),
        (Genre | int, None),
        (int | None, None),
        (Book | None, None),
    ],
    ids=str,
)
def test_the_allowed_values_are_listed_wherever_they_can_be_counted(
    annotation: object, choices: list[object] | None
) -> None:
    schema = hint_for(annotation)
    info = parameter_info("x", schema.schema, schema.definitions, required=True)
    assert info.get("enum") == choices


# Types.


def test_the_types_of_the_adapter_and_of_the_protocol_are_listed() -> None:
    names = [info["name"] for info in answer("types")["types"]]
    assert set(names) >= {"Book", "BookPatch", "Author", "Genre", "Lists", "Cat", "Dog", *PROTOCOL_TYPES}
    assert len(names) == len(set(names))


def test_a_type_is_described_by_its_kind() -> None:
    assert answer("types", "Genre")["type"] == {
        "name": "Genre",
        "kind": "enum",
        "description": "A kind of book.",
        "values": ["novel", "poem"],
    }
    assert answer("types", "OperationResult")["type"]["members"] == ["OperationSuccess", "OperationFailure"]
    book = answer("types", "Book")["type"]
    assert (book["kind"], book["description"]) == ("object", "A book on the shelf.")
    assert {field["name"]: (field["type"], field["required"]) for field in book["fields"]} == {
        "book_id": ("string", False),
        "title": ("string", True),
        "author": ("Author", True),
        "genre": ("string", False),
        "price": ("string | number", False),
        "tags": ("array", False),
    }
    assert book["fields"][0]["description"] == "(read-only)"


@pytest.mark.parametrize(
    ("schema", "kind", "more"),
    [
        pytest.param({"type": "string"}, "scalar", {}, id="scalar"),
        pytest.param({"enum": ["a", 1, True, None]}, "enum", {"values": ["a", "1", "true", "null"]}, id="enum"),
        pytest.param({"type": "object"}, "object", {"fields": []}, id="object"),
        pytest.param(
            {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            "union",
            {"members": ["string", "integer[]"]},
            id="union",
        ),
        pytest.param(
            {"anyOf": [{"allOf": [{"type": "integer"}, {"minimum": 3}]}, {}]},
            "union",
            {"members": ["integer", "any"]},
            id="of all and of anything",
        ),
        pytest.param({"$ref": "#/$defs/Other"}, "enum", {"values": ["x"]}, id="another name"),
    ],
)
def test_a_named_schema_becomes_a_type(schema: dict[str, Any], kind: str, more: dict[str, Any]) -> None:
    found = type_from_schema("Thing", schema, {"Other": {"enum": ["x"]}}).details()
    assert found == {"name": "Thing", "kind": kind, **more}


@pytest.mark.parametrize(
    ("annotation", "name", "kind"),
    [
        (None, "null", "scalar"),
        (int, "integer", "scalar"),
        (int | None, "integer | null", "union"),
        (list[int], "integer[]", "scalar"),
        (list[Book], "Book[]", "object"),
        (Book | None, "Book | null", "union"),
        (Genre, "string", "enum"),
        (Cat | Dog, "Cat | Dog", "union"),
        (dict[str, int], "object", "object"),
        (list[list[int]], "integer[][]", "scalar"),
        (Lists, "Lists", "scalar"),
        (Literal["a", 1], "string | integer", "enum"),
        (Any, "any", "scalar"),
        (list, "array", "scalar"),
        (Binary, "object", "object"),
    ],
    ids=str,
)
def test_what_an_operation_returns_has_a_name_and_a_kind(annotation: object, name: str, kind: str) -> None:
    async def get_thing() -> Any:
        """Get a thing."""

    get_thing.__annotations__["return"] = annotation
    adapter = Adapter("x")
    adapter.read(get_thing)
    found: Any = introspector(adapter).answer("s", "operations", "get_thing", None, None)
    assert found["operation"]["returns"] == {"name": name, "kind": kind}


# More queries.


def test_search_answers_what_a_first_request_needs() -> None:
    found = answer("search", "add a book")["operations"][0]
    assert found["name"] == "create_book"
    assert (found["semantic_category"], found["endpoint"], found["mcpTool"]) == ("CREATE", "create", "mcp_aql_create")
    assert [info["name"] for info in found["required"]] == ["book"]
    assert len(answer("search", "book", first=1)["operations"]) == 1


@pytest.mark.parametrize("words", [None, "", "  "], ids=repr)
def test_a_search_needs_words(words: str | None) -> None:
    with pytest.raises(AqlError) as raised:
        answer("search", words)
    assert raised.value.error.code == "VALIDATION_MISSING_PARAM"


def test_the_errors_are_listed_or_one_by_its_code() -> None:
    assert [row["code"] for row in answer("errors")["errors"]] == list(REGISTRY)
    assert answer("errors", "TOKEN_EXPIRED")["errors"] == [REGISTRY["TOKEN_EXPIRED"].wire()]
    assert answer("errors", "NONSENSE")["errors"] == []


def test_the_limits_are_listed_with_their_ranges() -> None:
    limits = answer("limits")["limits"]
    assert {row["name"]: row["value"] for row in limits} == Limits().wire()
    assert limits[-1] == {"name": "max_nesting_depth", "value": 32, "unit": "levels", "lowest": 8, "highest": 64}


def test_the_adapter_tells_of_itself() -> None:
    info = answer("adapter_info")
    assert (info["name"], info["version"], info["description"]) == ("library", "2.0.1", "Books and readers")
    assert info["implementation"] == {"name": "headgate", "version": __version__}
    assert info["profile"] == "crude"
    assert {row["endpoint"]: row["operations"] for row in info["endpoints"]} == {
        "create": 1,
        "read": 2,
        "update": 1,
        "delete": 0,
        "execute": 1,
    }
    assert info["conventions"]["null"]
    assert all(any(query in extension for extension in info["extensions"]) for query in QUERIES[2:])


def test_answers_stay_the_same_when_the_adapter_grows() -> None:
    adapter = made()
    asked = introspector(adapter)
    adapter.add(Operation("get_more", Category.READ, nothing, summary="More"))
    assert "get_more" not in asked.operations
    for _ in range(2):
        assert asked.answer("s", "operations", "list_books", None, None) == answer("operations", "list_books")


def test_large_bounds_are_said_in_words() -> None:
    adapter = Adapter("x")

    @adapter.read
    async def get_thing(thing_id: Annotated[int, Param(minimum=0, maximum=10**20)]) -> None:
        """Get a thing."""

    found: Any = introspector(adapter).answer("s", "operations", "get_thing", None, None)
    (info,) = found["operation"]["parameters"]
    assert info == {
        "name": "thing_id",
        "type": "integer",
        "required": True,
        "minimum": 0,
        "description": f"({10**20} or less) (beyond 2^53-1 as a string of digits)",
    }


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        pytest.param(dict[str, float], "(values: number)", id="a dictionary"),
        pytest.param(dict[str, list[str]], "(values: string[])", id="a dictionary of lists"),
        pytest.param(tuple[int, str], "(in this order: integer, string)", id="a tuple"),
    ],
)
def test_what_is_inside_a_container_is_said(annotation: object, said: str) -> None:
    hint = hint_for(annotation)
    assert said in str(parameter_info("x", hint.schema, hint.definitions, required=True)["description"])


@pytest.mark.parametrize("annotation", [bytes, Binary], ids=["bytes", "Binary"])
def test_an_answer_that_is_only_binary_is_an_object_with_its_metadata(annotation: type) -> None:
    async def get_picture() -> None:
        """Get a picture."""

    get_picture.__annotations__ = {"return": annotation}
    adapter = Adapter("pictures")
    adapter.read(get_picture)
    made = adapter.operations["get_picture"]
    assert (made.returns["type"], list(made.returns["properties"])) == ("object", ["content", "encoding", "mime_type"])
