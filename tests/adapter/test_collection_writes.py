"""Creating, changing and deleting the items of collections that are held in memory."""

from dataclasses import dataclass, field
from datetime import time
from decimal import Decimal
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field, model_validator

from headgate import Adapter, Engine
from tests.adapter.library import Book, Tool, answered, engine, some_books
from tests.engine.asking import error

pytestmark = pytest.mark.anyio

NEW = {"isbn": "9", "title": "Brand", "author_id": 1, "price": "3.20"}
BRAND = Book("9", "Brand", 1, Decimal("3.20"))


@pytest.fixture(params=["list", "dictionary"])
def held(request: pytest.FixtureRequest) -> Any:
    """Four books, kept either way."""
    return some_books() if request.param == "list" else {book.isbn: book for book in some_books()}


def objects(held: Any) -> list[Book]:
    return list(held.values()) if isinstance(held, dict) else list(held)


# creating


async def test_a_new_item_is_the_authors_own_object_with_its_defaults(held: Any) -> None:
    made = engine(items=held)
    found = await answered(made, "create_book", **NEW)
    assert objects(held) == [*some_books(), BRAND]
    assert (found["binding"], found["tags"], found["details"]) == ("paper", [], {})
    assert found == await answered(made, "get_book", isbn="9")


async def test_a_key_that_is_taken_is_a_conflict_and_changes_nothing(held: Any) -> None:
    found = await error(engine(items=held), "create_book", **{**NEW, "isbn": "1"})
    assert (found["code"], found["message"]) == ("CONFLICT_ALREADY_EXISTS", "Resource 'book' already exists: '1'")
    assert found["details"] == {"resource_type": "book", "resource_id": "1"}
    assert objects(held) == some_books()


async def test_a_trial_of_creating_shows_the_item_and_adds_nothing(held: Any) -> None:
    made = engine(items=held)
    found = await answered(made, "create_book", **NEW, dry_run=True)
    assert (found["dry_run"], found["affected"]) == (True, 1)
    assert found["would_create"]["title"] == "Brand"
    assert objects(held) == some_books()
    taken = await error(made, "create_book", **{**NEW, "isbn": "1"}, dry_run=True)
    assert taken["code"] == "CONFLICT_ALREADY_EXISTS"


@pytest.mark.parametrize(
    ("given", "code", "name"),
    [
        pytest.param({"title": None}, "VALIDATION_INVALID_TYPE", "title", id="null where a value is needed"),
        pytest.param({"price": "dear"}, "VALIDATION_INVALID_VALUE", "price", id="a text that is no decimal"),
        pytest.param({"author_id": "x"}, "VALIDATION_INVALID_TYPE", "author_id", id="a text that is no integer"),
        pytest.param({"binding": "leather"}, "VALIDATION_INVALID_ENUM", "binding", id="a value that is no choice"),
        pytest.param({"published": "soon"}, "VALIDATION_INVALID_VALUE", "published", id="a text that is no date"),
        pytest.param({"tags": "play"}, "VALIDATION_INVALID_TYPE", "tags", id="a text in place of a list"),
        pytest.param({"tags": [1]}, "VALIDATION_INVALID_TYPE", "tags[0]", id="a list of the wrong items"),
        pytest.param({"details": 5}, "VALIDATION_INVALID_TYPE", "details", id="a number in place of an object"),
    ],
)
async def test_what_is_no_item_is_refused_with_the_place(given: dict[str, Any], code: str, name: str) -> None:
    held = some_books()
    found = await error(engine(items=held), "create_book", **{**NEW, **given})
    assert (found["code"], found["details"]["param_name"]) == (code, name)
    assert held == some_books()


async def test_what_is_missing_or_unknown_is_told() -> None:
    missing = await error(engine(), "create_book", isbn="9", author_id=1, price="1")
    assert (missing["code"], missing["details"]["param_name"]) == ("VALIDATION_MISSING_PARAM", "title")
    unknown = await error(engine(), "create_book", **NEW, titel="x")
    assert unknown["code"] == "VALIDATION_UNKNOWN_PARAM"


class Span(BaseModel):
    """Two numbers in order."""

    id: int
    low: int
    high: Annotated[int, Field(le=100)] = 100

    @model_validator(mode="after")
    def _in_order(self) -> "Span":
        if self.low > self.high:
            raise ValueError("secret words of the author")
        return self


async def test_a_rule_of_the_whole_type_is_upheld_without_telling_how_it_is_written() -> None:
    made = Adapter("spans")
    held = [Span(id=1, low=1, high=2)]
    made.collection(Span, key="id", items=held)
    served = Engine(made)
    for found in (
        await error(served, "create_span", id=2, low=5, high=4),
        await error(served, "update_span", id=1, input={"low": 9}),
    ):
        assert found["code"] == "VALIDATION_INVALID_VALUE"
        assert "the item would not be complete or consistent" in found["message"]
        assert "secret" not in str(found)
    assert held == [Span(id=1, low=1, high=2)]


@dataclass
class Code:
    """A type whose fields have rules of their own."""

    code: Annotated[str, Field(min_length=2, pattern="^[A-Z]+$")]
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    opens: time = time(9)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param({"code": "A"}, "VALIDATION_OUT_OF_RANGE", id="too short"),
        pytest.param({"code": "ab"}, "VALIDATION_PATTERN_MISMATCH", id="another pattern"),
        pytest.param({"code": "AB", "share": 0}, "VALIDATION_OUT_OF_RANGE", id="on a bound that is excluded"),
        pytest.param({"code": "AB", "opens": "9"}, "VALIDATION_PATTERN_MISMATCH", id="no time of a day"),
    ],
)
async def test_the_rules_of_a_field_are_told_before_anything_is_made(given: dict[str, Any], code: str) -> None:
    made = Adapter("codes")
    held: list[Code] = []
    made.collection(Code, key="code", items=held)
    assert (await error(Engine(made), "create_code", **given))["code"] == code
    assert held == []
    assert await answered(Engine(made), "create_code", code="AB", share=0.25, opens="10:30")
    assert held == [Code("AB", 0.25, time(10, 30))]


@dataclass
class Form:
    """A type with fields whose names requests use themselves."""

    id: int
    operation: str
    dry_run: str = "no"


async def test_a_field_with_a_name_that_requests_use_is_given_under_another() -> None:
    made = Adapter("forms")
    held: list[Form] = []
    made.collection(Form, key="id", items=held)
    await answered(Engine(made), "create_form", id=1, operation_value="cut", dry_run_value="yes")
    assert held == [Form(1, "cut", "yes")]


# changing


async def test_an_update_changes_what_is_named_and_keeps_the_rest(held: Any) -> None:
    made = engine(items=held)
    found = await answered(made, "update_book", isbn="2", input={"price": "11", "binding": "cloth"})
    assert (found["price"], found["binding"], found["title"]) == ("11", "cloth", "Emma")
    assert found == await answered(made, "get_book", isbn="2")
    assert [book.title for book in objects(held)] == [book.title for book in some_books()]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"x": 1}, {"a": {"b": 1, "c": [1, 2]}, "x": 1}, id="a key is added"),
        pytest.param({"a": {"b": 2}}, {"a": {"b": 2, "c": [1, 2]}}, id="objects merge at every depth"),
        pytest.param({"a": {"b": None}}, {"a": {"c": [1, 2]}}, id="null removes a key"),
        pytest.param({"a": None}, {}, id="null removes an object"),
        pytest.param({"a": {"c": [3]}}, {"a": {"b": 1, "c": [3]}}, id="arrays are replaced"),
        pytest.param({"a": 5}, {"a": 5}, id="a value replaces an object"),
        pytest.param({"a": {"b": {"d": 1}}}, {"a": {"b": {"d": 1}, "c": [1, 2]}}, id="an object replaces a value"),
        pytest.param({"x": {"y": None}}, {"a": {"b": 1, "c": [1, 2]}, "x": {}}, id="null inside what is new"),
        pytest.param({}, {"a": {"b": 1, "c": [1, 2]}}, id="nothing changes nothing"),
    ],
)
async def test_json_is_merged(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    held = [Book("1", "x", 1, Decimal(1), details={"a": {"b": 1, "c": [1, 2]}})]
    await answered(engine(items=held), "update_book", isbn="1", input={"details": changes})
    assert held[0].details == expected


async def test_arrays_are_replaced_whole_and_null_empties_a_field_that_may_be_empty() -> None:
    held = some_books()
    await answered(engine(items=held), "update_book", isbn="1", input={"tags": ["x"], "published": None})
    assert (held[0].tags, held[0].published) == (["x"], None)


async def test_null_is_refused_where_a_field_must_have_a_value() -> None:
    found = await error(engine(), "update_book", isbn="1", input={"title": None})
    assert (found["code"], found["details"]["param_name"]) == ("VALIDATION_INVALID_TYPE", "input.title")


async def test_an_item_with_fields_that_may_be_missing_can_be_changed() -> None:
    made = Adapter("tools")
    held: list[Tool] = [{"name": "ladder"}]
    made.collection(Tool, key="name", items=held)
    await answered(Engine(made), "update_tool", name="ladder", input={"weight": 2.5})
    assert held[0]["weight"] == 2.5


@pytest.mark.parametrize(
    ("given", "code", "key", "value"),
    [
        pytest.param({"isbn": "7"}, "VALIDATION_UNKNOWN_FIELD", "unknown_fields", ["isbn"], id="the identifier"),
        pytest.param({"titel": "x"}, "VALIDATION_UNKNOWN_FIELD", "unknown_fields", ["titel"], id="an unknown field"),
        pytest.param({"title": "x"}, "VALIDATION_READ_ONLY_FIELD", "field", "title", id="a read-only field"),
    ],
)
async def test_what_no_update_can_change_is_refused(given: dict[str, Any], code: str, key: str, value: object) -> None:
    held = some_books()
    found = await error(engine(items=held, read_only=["title"]), "update_book", isbn="1", input=given)
    assert (found["code"], found["details"][key]) == (code, value)
    assert held == some_books()


async def test_a_read_only_field_cannot_be_given_to_a_new_item_either() -> None:
    made = engine(read_only=["binding"])
    found = await error(made, "create_book", **NEW, binding="cloth")
    assert found["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert (await answered(made, "create_book", **NEW))["binding"] == "paper"


async def test_an_update_of_nothing_is_refused() -> None:
    assert (await error(engine(), "update_book", isbn="1", input={}))["code"].startswith("VALIDATION_")
    assert (await error(engine(), "update_book", isbn="1"))["code"] == "VALIDATION_MISSING_PARAM"


@dataclass
class Diary:
    """What only grows."""

    id: int
    text: str = ""
    lines: list[str] = field(default_factory=list)
    note: str | None = None


def diary() -> tuple[Engine, list[Diary]]:
    made = Adapter("diaries")
    held = [Diary(1, "a", ["x"], "n")]
    made.collection(Diary, key="id", items=held, append_only=["text", "lines", "note"])
    return Engine(made), held


async def test_what_only_grows_is_added_to_and_never_replaced() -> None:
    served, held = diary()
    await answered(served, "update_diary", id=1, input={"text": "b", "lines": ["y", "z"], "note": "!"})
    assert held == [Diary(1, "ab", ["x", "y", "z"], "n!")]
    found = await error(served, "update_diary", id=1, input={"note": None})
    assert found["code"] == "VALIDATION_INVALID_TYPE"
    assert held == [Diary(1, "ab", ["x", "y", "z"], "n!")]


async def test_what_only_grows_can_be_given_to_a_new_item() -> None:
    served, held = diary()
    await answered(served, "create_diary", id=2, text="start")
    await answered(served, "update_diary", id=2, input={"note": "first"})
    assert held[1] == Diary(2, "start", [], "first")


async def test_a_trial_of_changing_shows_before_and_after_and_changes_nothing(held: Any) -> None:
    made = engine(items=held)
    found = await answered(made, "update_book", isbn="2", input={"details": {"pages": None}}, dry_run=True)
    assert (found["dry_run"], found["affected"]) == (True, 1)
    assert found["before"]["details"] == {"pages": 474, "signed": True}
    assert found["after"]["details"] == {"signed": True}
    assert objects(held) == some_books()
    gone = await error(made, "update_book", isbn="8", input={"title": "x"}, dry_run=True)
    assert gone["code"] == "NOT_FOUND_RESOURCE"


# deleting


async def test_a_deleted_item_is_gone(held: Any) -> None:
    made = engine(items=held)
    assert await answered(made, "delete_book", isbn="2") == {"deleted": True, "isbn": "2"}
    assert [book.isbn for book in objects(held)] == ["1", "3", "4"]
    assert (await error(made, "delete_book", isbn="2"))["code"] == "NOT_FOUND_RESOURCE"


async def test_a_trial_of_deleting_shows_the_item_and_keeps_it(held: Any) -> None:
    found = await answered(engine(items=held), "delete_book", isbn="2", dry_run=True)
    assert (found["dry_run"], found["affected"], found["would_delete"]["title"]) == (True, 1, "Emma")
    assert objects(held) == some_books()


# versions

CHANGES = [
    pytest.param("update_book", {"input": {"title": "x"}}, id="update"),
    pytest.param("delete_book", {}, id="delete"),
]


@pytest.mark.parametrize(("operation", "more"), CHANGES)
@pytest.mark.parametrize("dry_run", [False, True], ids=["for good", "as a trial"])
async def test_a_change_for_a_version_that_is_gone_is_a_conflict(
    operation: str, more: dict[str, Any], dry_run: bool
) -> None:
    held = some_books()
    made = engine(items=held)
    before = (await answered(made, "get_book", isbn="1"))["_etag"]
    now = (await answered(made, "update_book", isbn="1", input={"price": "1"}))["_etag"]
    assert before != now
    found = await error(made, operation, isbn="1", if_match=before, dry_run=dry_run, **more)
    assert found["code"] == "CONFLICT_VERSION_MISMATCH"
    assert found["details"]["current_etag"] == now
    assert held[0].title == "A Doll's House"
    assert await answered(made, operation, isbn="1", if_match=now, dry_run=dry_run, **more)


async def test_any_version_will_do_where_a_star_is_said() -> None:
    made = engine()
    assert await answered(made, "update_book", isbn="1", input={"price": "1"}, if_match="*")
    assert await answered(made, "delete_book", isbn="1", if_match="*")


@dataclass
class Page:
    """A page of a wiki."""

    slug: str
    text: str
    edits: int = 0


async def test_a_count_of_changes_is_the_version_where_there_is_one() -> None:
    made = Adapter("wiki")
    held = [Page("home", "hello")]
    made.collection(Page, key="slug", items=held, version="edits")
    served = Engine(made)
    assert (await answered(served, "get_page", slug="home", fields=["text"]))["_etag"] == '"0"'
    changed = await answered(served, "update_page", slug="home", input={"text": "hi"}, if_match='"0"')
    assert (changed["_etag"], held) == ('"1"', [Page("home", "hi", 1)])
    stale = await error(served, "update_page", slug="home", input={"text": "ho"}, if_match='"0"')
    assert stale["code"] == "CONFLICT_VERSION_MISMATCH"
    own = await error(served, "update_page", slug="home", input={"edits": 7})
    assert (own["code"], own["details"]["field"]) == ("VALIDATION_READ_ONLY_FIELD", "edits")
    trial = await answered(served, "update_page", slug="home", input={"text": "x"}, dry_run=True)
    assert (trial["after"]["edits"], held[0].edits) == (2, 1)


# what cannot be changed


async def test_where_every_field_is_fixed_there_is_no_update() -> None:
    @dataclass
    class Fact:
        """What stays as it is."""

        id: int
        text: str

    made = Adapter("facts")
    made.collection(Fact, key="id", items=[], read_only=["text"])
    assert "update_fact" not in made.operations
    assert {"create_fact", "delete_fact"} <= set(made.operations)


async def test_changes_by_several_callers_at_once_all_count() -> None:
    made = Adapter("wiki")
    held = [Page("home", "")]
    made.collection(Page, key="slug", items=held, version="edits", append_only=["text"])
    served = Engine(made)
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(served.call, {"operation": "update_page", "slug": "home", "input": {"text": "x"}})
    assert held == [Page("home", "x" * 20, 20)]


def test_a_field_that_only_grows_is_told_where_it_is_changed() -> None:
    made = Adapter("pages")
    made.collection(Diary, key="id", items=[], append_only=["text"])
    parameter = made.operations["update_diary"].parameter("input")
    assert parameter is not None
    assert "text is append-only" in parameter.schema["description"]
    assert "lines is append-only" not in parameter.schema["description"]
