"""The changes of an UPDATE as a type: what may be sent and what becomes of the resource (Spec 4.5)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, computed_field, create_model, model_validator

from headgate import Binary, Category, Invalid, Limits, Operation, Param, Patch
from headgate.engine.validation import validate
from headgate.protocol.errors import AqlError, ErrorDetail
from tests.adapter.making import operation


class Mixed(Enum):
    NAME = "name"
    NUMBER = 7


@dataclass
class Point:
    x: int
    y: int = 0


class Author(BaseModel):
    name: str
    born: int
    died: int | None = None


class Book(BaseModel):
    book_id: str = "b1"
    title: Annotated[str, Param(min_length=1)]
    author: Author
    translator: Author | None = None
    published: date | None = None
    tags: list[str] = []
    notes: dict[str, int] = {}
    editions: dict[str, Author] = {}
    cover: bytes = b""
    picture: Binary | None = None
    pages: int = Field(1, alias="pageCount")
    created: Annotated[str, Param(read_only=True)] = "yesterday"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def label(self) -> str:
        return self.title.upper()


DUNE = Book(
    title="Dune",
    author=Author(name="Frank", born=1920),
    pageCount=412,
    tags=["sand"],
    notes={"a": 1},
    editions={"de": Author(name="E", born=1)},
)


def update(kind: Any) -> Operation:
    async def update_thing(thing_id: str, input: Any, if_match: str | None = None) -> None:  # noqa: A002
        """Change a thing."""

    update_thing.__annotations__["input"] = kind
    return operation(update_thing, Category.UPDATE)


def changed(kind: Any, resource: Any, changes: dict[str, Any]) -> Any:
    """The resource after a request with these changes."""
    params = {"thing_id": "1", "input": changes}
    patch: Any = validate(update(kind), params, Limits(), strict=True).values["input"]
    return patch.apply(resource)


def refusal(kind: Any, changes: object) -> ErrorDetail:
    with pytest.raises(AqlError) as raised:
        validate(update(kind), {"thing_id": "1", "input": changes}, Limits(), strict=True)
    return raised.value.error


def dune(**changes: Any) -> Book:
    return DUNE.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        pytest.param({}, DUNE, id="nothing"),
        pytest.param({"title": "Dune II"}, dune(title="Dune II"), id="a field"),
        pytest.param({"pageCount": 500}, dune(pages=500), id="a field by its alias"),
        pytest.param({"tags": []}, dune(tags=[]), id="an array replaces"),
        pytest.param({"notes": {"b": 2}}, dune(notes={"a": 1, "b": 2}), id="an object merges"),
        pytest.param({"notes": {"a": None}}, dune(notes={}), id="null removes a key"),
        pytest.param(
            {"editions": {"de": {"born": 2}}}, dune(editions={"de": Author(name="E", born=2)}), id="in a dict"
        ),
        pytest.param({"editions": {"de": None}}, dune(editions={}), id="null removes an object from a dict"),
        pytest.param({"tags": None}, dune(tags=[]), id="null brings the default back"),
        pytest.param({"published": "1965-08-01"}, dune(published=date(1965, 8, 1)), id="a date"),
        pytest.param({"published": None}, DUNE, id="null for what is not there"),
        pytest.param({"cover": "SGVsbG8="}, dune(cover=b"Hello"), id="bytes"),
        pytest.param({"picture": "SGVsbG8="}, dune(picture=Binary(b"Hello")), id="Binary"),
        pytest.param(
            {"author": {"born": 1921}}, dune(author=Author(name="Frank", born=1921)), id="a field of a nested object"
        ),
        pytest.param(
            {"translator": {"name": "T", "born": 1}},
            dune(translator=Author(name="T", born=1)),
            id="a whole optional object",
        ),
    ],
)
def test_changes_are_merged_into_a_model(changes: dict[str, Any], after: Book) -> None:
    before = DUNE.model_copy(deep=True)
    assert changed(Patch[Book], DUNE, changes) == after
    assert before == DUNE


def test_a_part_of_an_optional_object_can_be_changed_where_it_exists() -> None:
    translated = dune(translator=Author(name="T", born=1, died=2))
    assert changed(Patch[Book], translated, {"translator": {"died": None}}).translator == Author(name="T", born=1)
    assert changed(Patch[Book], translated, {"translator": None}) == DUNE


def test_a_part_of_an_object_that_does_not_exist_leaves_it_incomplete() -> None:
    with pytest.raises(Invalid) as raised:
        changed(Patch[Book], DUNE, {"translator": {"died": 3}})
    assert raised.value.error.details == {"param_name": "input.translator.name"}
    assert "pydantic" not in raised.value.error.message


def test_a_binary_keeps_its_media_type_when_something_else_changes() -> None:
    pictured = dune(picture=Binary(b"x", "image/png"))
    assert changed(Patch[Book], pictured, {"title": "T"}).picture == Binary(b"x", "image/png")


@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        pytest.param({"title": None}, "VALIDATION_INVALID_TYPE", "input.title", id="null for a required field"),
        pytest.param({"title": ""}, "VALIDATION_OUT_OF_RANGE", "input.title", id="a constraint"),
        pytest.param({"titel": "x"}, "VALIDATION_UNKNOWN_FIELD", "input", id="an unknown field"),
        pytest.param({"author": {"nam": 1}}, "VALIDATION_UNKNOWN_FIELD", "input.author", id="an unknown nested field"),
        pytest.param({"author": {"name": None}}, "VALIDATION_INVALID_TYPE", "input.author.name", id="a nested null"),
        pytest.param({"translator": {"x": 1}}, "VALIDATION_UNKNOWN_FIELD", "input.translator", id="in an optional one"),
        pytest.param({"notes": {"a": "x"}}, "VALIDATION_INVALID_TYPE", "input.notes.a", id="a value of a dict"),
        pytest.param({"created": "now"}, "VALIDATION_READ_ONLY_FIELD", None, id="a read-only field"),
        pytest.param({"label": "X"}, "VALIDATION_UNKNOWN_FIELD", "input", id="a computed field"),
        pytest.param([], "VALIDATION_INVALID_TYPE", "input", id="an array"),
        pytest.param(None, "VALIDATION_INVALID_TYPE", "input", id="null"),
    ],
)
def test_changes_that_do_not_fit_are_refused(changes: object, code: str, place: str | None) -> None:
    error = refusal(Patch[Book], changes)
    assert error.code == code
    assert (error.details or {}).get("param_name") == place


@pytest.mark.parametrize(
    "kind",
    [
        str,
        str | None,
        Literal["a"],
        Literal["a", "b"],
        Decimal,
        list[int],
        dict[str, int],
        Point,
        Point | None,
        Any,
        Mixed,
    ],
    ids=str,
)
def test_null_removes_a_field_of_whatever_type_that_has_a_default(kind: Any) -> None:
    resource = create_model("Thing", field=(kind, None))
    assert changed(Patch[resource], resource(), {"field": None}) == resource()  # type: ignore[valid-type]


def test_a_read_only_field_is_named() -> None:
    error = refusal(Patch[Book], {"created": "now"})
    assert error.message == "Field 'created' is read-only and cannot be updated"
    assert error.details == {"field": "created", "operation": "update_thing"}


# Other kinds of resources.


class Options(typing_extensions.TypedDict, total=False):
    depth: typing_extensions.Required[int]
    deep: bool


class Tree(BaseModel):
    value: int = 0
    left: "Tree | None" = None


class Span(BaseModel):
    model_config = ConfigDict(extra="forbid")
    start: int
    end: int

    @model_validator(mode="after")
    def _ordered(self) -> "Span":
        if self.end < self.start:
            raise ValueError("end before start")
        return self


@pytest.mark.parametrize(
    ("kind", "resource", "changes", "after"),
    [
        pytest.param(Patch[Point], Point(1, 2), {"y": 5}, Point(1, 5), id="dataclass"),
        pytest.param(Patch[Point], Point(1, 2), {"y": None}, Point(1, 0), id="dataclass with a default"),
        pytest.param(Patch[Options], {"depth": 1, "deep": True}, {"deep": None}, {"depth": 1}, id="TypedDict"),
        pytest.param(Patch[dict[str, Any]], {"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, id="dict"),
        pytest.param(Patch, {"a": 1}, {"a": None}, {}, id="anything"),
        pytest.param(
            Patch[Tree],
            Tree(left=Tree(value=1)),
            {"left": {"value": 2}},
            Tree(left=Tree(value=2)),
            id="recursive model",
        ),
        pytest.param(Patch[Span], Span(start=1, end=2), {"end": 3}, Span(start=1, end=3), id="model with a rule"),
    ],
)
def test_other_resources_are_changed_alike(kind: Any, resource: Any, changes: dict[str, Any], after: object) -> None:
    assert changed(kind, resource, changes) == after


def test_changes_that_break_the_whole_are_refused_without_pythons_words() -> None:
    with pytest.raises(Invalid) as raised:
        changed(Patch[Span], Span(start=1, end=2), {"end": 0})
    assert raised.value.error.message == (
        "Parameter 'input' is not valid: the resource would not be complete or consistent after the change"
    )


def test_the_values_of_a_dict_keep_their_type() -> None:
    assert refusal(Patch[dict[str, int]], {"a": "x"}).code == "VALIDATION_INVALID_TYPE"
    assert changed(Patch[dict[str, int]], {"a": 1}, {"a": None, "b": 2}) == {"b": 2}


# Identifiers stand beside the input.


@pytest.mark.parametrize(
    "kind",
    [dict, dict[str, Any], Patch, Patch[dict[str, Any]], Patch[dict[str, int]]],
    ids=["dict", "dict of anything", "Patch", "Patch of a dict", "Patch of a dict of int"],
)
def test_an_identifier_in_a_free_form_input_is_refused(kind: Any) -> None:
    error = refusal(kind, {"thing_id": 2})
    assert error.code == "VALIDATION_UNKNOWN_FIELD"
    assert error.message == (
        "Unknown field(s) in 'input' for operation 'update_thing': 'thing_id'"
        "; identifiers stand beside 'input', not in it"
    )


def test_an_identifier_among_the_fields_of_a_model_is_refused() -> None:
    class Thing(BaseModel):
        thing_id: str = ""
        name: str = ""

    error = refusal(Patch[Thing], {"thing_id": "2"})
    assert error.code == "VALIDATION_UNKNOWN_FIELD"
    assert (error.details or {})["valid_fields"] == ["name"]
    assert changed(Patch[Thing], Thing(thing_id="1"), {"name": "x"}) == Thing(thing_id="1", name="x")


def test_an_optional_parameter_is_no_identifier() -> None:
    class Thing(BaseModel):
        if_match: str = ""

    assert changed(Patch[Thing], Thing(), {"if_match": "x"}) == Thing(if_match="x")


def test_an_identifier_in_an_open_model_is_refused() -> None:
    class Thing(BaseModel):
        model_config = ConfigDict(extra="allow")
        name: str = ""

    assert refusal(Patch[Thing], {"thing_id": 1, "more": 2}).code == "VALIDATION_UNKNOWN_FIELD"
    assert changed(Patch[Thing], Thing(), {"more": 2}).more == 2
