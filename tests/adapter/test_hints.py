"""Type hints: what an author may write, what a caller may send, and what the handler gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict
from uuid import UUID

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from headgate import AdapterError, Binary, Param, Patch
from headgate.adapter.hints import hint_for
from tests.adapter.making import operation_of, read, refusal


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(Enum):
    NAME = "name"
    NUMBER = 7


class Author(BaseModel):
    name: str
    born: date | None = None


class Book(BaseModel):
    title: str
    author: Author
    tags: list[str] = []


@dataclass
class Point:
    x: float
    y: float = 0.0
    labels: list[str] = dataclass_field(default_factory=list)


class Options(typing_extensions.TypedDict, total=False):
    depth: typing_extensions.Required[int]
    deep: bool


class OldOptions(TypedDict):
    depth: int


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Chain(BaseModel):
    value: int
    rest: Optional["Chain"]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


class Attachment(BaseModel):
    name: str
    content: bytes
    parts: list["Attachment"] = []


class Isbn(BaseModel):
    model_config = ConfigDict(extra="forbid")
    digits: str

    @field_validator("digits")
    @classmethod
    def _check(cls, digits: str) -> str:
        if digits == "secret":
            raise ValueError("a ValueError with internal words")
        if digits != "ok":
            raise PydanticCustomError("isbn", "the check digit is wrong")
        return digits


class Exact(BaseModel):
    model_config = ConfigDict(strict=True)
    when: date


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
UserId = NewType("UserId", int)
Numbers = typing_extensions.TypeAliasType("Numbers", "list[Numbers] | int")

UUID_TEXT = "123e4567-e89b-12d3-a456-426614174000"
MORNING = datetime(2026, 2, 4, 10, 30, tzinfo=UTC)

TAKEN = [
    pytest.param(str, "a", "a", id="str"),
    pytest.param(str, "", "", id="empty str"),
    pytest.param(int, 5, 5, id="int"),
    pytest.param(int, 5.0, 5, id="int written with a point"),
    pytest.param(int, "9007199254740993", 2**53 + 1, id="large int as text"),
    pytest.param(int, "-123456789012345678901234567890", -123456789012345678901234567890, id="huge int as text"),
    pytest.param(float, 1, 1.0, id="float from int"),
    pytest.param(float, 1.5, 1.5, id="float"),
    pytest.param(bool, True, True, id="bool"),
    pytest.param(None, None, None, id="None"),
    pytest.param(Any, {"a": [1]}, {"a": [1]}, id="Any"),
    pytest.param(object, 1, 1, id="object"),
    pytest.param(list, [1, "a"], [1, "a"], id="list"),
    pytest.param(dict, {"a": 1}, {"a": 1}, id="dict"),
    pytest.param(Literal["a", "b"], "b", "b", id="Literal"),
    pytest.param(Literal[1, "a", None], None, None, id="Literal with None"),  # noqa: PYI061
    pytest.param(Colour, "red", Colour.RED, id="StrEnum"),
    pytest.param(Level, 2, Level.HIGH, id="IntEnum"),
    pytest.param(Mixed, 7, Mixed.NUMBER, id="Enum of several types"),
    pytest.param(Colour | None, None, None, id="Enum or None"),
    pytest.param(Colour | None, "blue", Colour.BLUE, id="Enum or None, given"),
    pytest.param(Optional[int], None, None, id="Optional"),  # noqa: UP045
    pytest.param(int | None, 3, 3, id="int or None"),
    pytest.param(int | str, "5", "5", id="a union keeps text as text"),
    pytest.param(int | str, 5, 5, id="a union keeps a number as number"),
    pytest.param(list[int], [1, 2.0], [1, 2], id="list of int"),
    pytest.param(list[Colour], ["red"], [Colour.RED], id="list of Enum"),
    pytest.param(list[list[str]], [["a"], []], [["a"], []], id="list of lists"),
    pytest.param(dict[str, int], {"a": 1}, {"a": 1}, id="dict of int"),
    pytest.param(dict[str, Author], {"a": {"name": "A"}}, {"a": Author(name="A")}, id="dict of models"),
    pytest.param(Sequence[int], [1], [1], id="Sequence"),
    pytest.param(Mapping[str, str], {"a": "b"}, {"a": "b"}, id="Mapping"),
    pytest.param(tuple[int, str], [1, "a"], (1, "a"), id="tuple"),
    pytest.param(set[int], [1, 2], {1, 2}, id="set"),
    pytest.param(frozenset[str], ["a"], frozenset({"a"}), id="frozenset"),
    pytest.param(
        Book,
        {"title": "T", "author": {"name": "A", "born": "1900-01-02"}},
        Book(title="T", author=Author(name="A", born=date(1900, 1, 2))),
        id="nested models",
    ),
    pytest.param(Point, {"x": 1}, Point(1.0), id="dataclass"),
    pytest.param(Options, {"depth": 1}, {"depth": 1}, id="TypedDict"),
    pytest.param(
        Tree,
        {"value": 1, "children": [{"value": 2, "children": []}]},
        Tree(value=1, children=[Tree(value=2)]),
        id="recursive model",
    ),
    pytest.param(
        Chain,
        {"value": 1, "rest": {"value": 2, "rest": None}},
        Chain(value=1, rest=Chain(value=2, rest=None)),
        id="chain",
    ),
    pytest.param(Numbers, [1, [2, []]], [1, [2, []]], id="recursive alias"),
    pytest.param(Pet, {"kind": "dog", "breed": "x"}, Dog(kind="dog", breed="x"), id="discriminated union"),
    pytest.param(Cat | Dog, {"kind": "cat", "lives": 9}, Cat(kind="cat", lives=9), id="union of models"),
    pytest.param(datetime, "2026-02-04T10:30:00Z", MORNING, id="datetime in UTC"),
    pytest.param(
        datetime,
        "2026-02-04T16:00:00+05:30",
        datetime(2026, 2, 4, 16, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        id="datetime with offset",
    ),
    pytest.param(list[datetime], ["2026-02-04T10:30:00Z"], [MORNING], id="list of datetime"),
    pytest.param(date, "2026-02-04", date(2026, 2, 4), id="date"),
    pytest.param(time, "10:30:00Z", time(10, 30, tzinfo=UTC), id="time"),
    pytest.param(timedelta, "PT30M", timedelta(minutes=30), id="timedelta"),
    pytest.param(Decimal, "12.50", Decimal("12.50"), id="Decimal as text keeps every digit"),
    pytest.param(Decimal, 0.1, Decimal("0.1"), id="Decimal as number"),
    pytest.param(Decimal | None, "1e3", Decimal(1000), id="Decimal or None"),
    pytest.param(UUID, UUID_TEXT, UUID(UUID_TEXT), id="UUID"),
    pytest.param(bytes, "SGVsbG8=", b"Hello", id="bytes"),
    pytest.param(bytes | None, "SGVsbG8=", b"Hello", id="bytes or None"),
    pytest.param(list[bytes], ["SGVsbG8=", ""], [b"Hello", b""], id="list of bytes"),
    pytest.param(dict[str, bytes], {"a": "SGVsbG8="}, {"a": b"Hello"}, id="dict of bytes"),
    pytest.param(tuple[bytes, str], ["SGVsbG8=", "SGVsbG8="], (b"Hello", "SGVsbG8="), id="tuple of bytes and text"),
    pytest.param(bytes | int, "SGVsbG8=", b"Hello", id="bytes or int"),
    pytest.param(bytes | str, "SGVsbG8=", "SGVsbG8=", id="bytes or text is text"),
    pytest.param(bytes | Literal["none"], "none", "none", id="bytes or a word, the word"),
    pytest.param(bytes | Literal["none"], "SGVsbG8=", b"Hello", id="bytes or a word, bytes"),
    pytest.param(
        Attachment,
        {"name": "SGVsbG8=", "content": "SGVsbG8=", "parts": [{"name": "n", "content": ""}]},
        Attachment(name="SGVsbG8=", content=b"Hello", parts=[Attachment(name="n", content=b"")]),
        id="bytes in a recursive model",
    ),
    pytest.param(Binary, "SGVsbG8=", Binary(b"Hello"), id="Binary"),
    pytest.param(Binary | None, "SGVsbG8=", Binary(b"Hello"), id="Binary or None"),
    pytest.param(list[Binary], ["SGVsbG8="], [Binary(b"Hello")], id="list of Binary"),
    pytest.param(UserId, 5, 5, id="NewType"),
    pytest.param(Patch, {"a": None}, Patch({"a": None}), id="Patch of anything"),
    pytest.param(Isbn, {"digits": "ok"}, Isbn.model_construct(digits="ok"), id="model with a rule of its own"),
    pytest.param(Exact, {"when": "2026-02-04"}, Exact.model_construct(when=date(2026, 2, 4)), id="strict model"),
    pytest.param(Annotated[int, Param(minimum=1)], 1, 1, id="Param"),
    pytest.param(Annotated[int, Field(ge=1), Param(description="x")], 1, 1, id="Field and Param"),
    pytest.param(Annotated[Decimal, Param(minimum=0)], "0", Decimal(0), id="bounded Decimal"),
]


@pytest.mark.parametrize(("annotation", "sent", "received"), TAKEN)
def test_a_value_of_the_type_reaches_the_handler_as_that_type(
    annotation: object, sent: object, received: object
) -> None:
    got = read(annotation, sent)
    assert got == received
    assert type(got) is type(received)


REFUSED = [
    pytest.param(str, 1, "VALIDATION_INVALID_TYPE", "x", id="str"),
    pytest.param(str, None, "VALIDATION_INVALID_TYPE", "x", id="null where it is not declared"),
    pytest.param(int, "1", "VALIDATION_INVALID_TYPE", "x", id="int as short text"),
    pytest.param(int, "0000000000000000000001", "VALIDATION_INVALID_TYPE", "x", id="int as text of zeros"),
    pytest.param(int, 1.5, "VALIDATION_INVALID_TYPE", "x", id="int with a fraction"),
    pytest.param(int, True, "VALIDATION_INVALID_TYPE", "x", id="int from bool"),
    pytest.param(int, 1e300, "VALIDATION_OUT_OF_RANGE", "x", id="int that lost digits"),
    pytest.param(float, "1.5", "VALIDATION_INVALID_TYPE", "x", id="float as text"),
    pytest.param(bool, 1, "VALIDATION_INVALID_TYPE", "x", id="bool from int"),
    pytest.param(bool, "true", "VALIDATION_INVALID_TYPE", "x", id="bool as text"),
    pytest.param(None, 0, "VALIDATION_INVALID_TYPE", "x", id="None"),
    pytest.param(list, "a", "VALIDATION_INVALID_TYPE", "x", id="list"),
    pytest.param(dict, [], "VALIDATION_INVALID_TYPE", "x", id="dict"),
    pytest.param(Literal["a", "b"], "c", "VALIDATION_INVALID_ENUM", "x", id="Literal"),
    pytest.param(Literal["a"], "c", "VALIDATION_INVALID_ENUM", "x", id="Literal of one"),
    pytest.param(Literal[1], True, "VALIDATION_INVALID_TYPE", "x", id="Literal 1 is not true"),
    pytest.param(Colour, "green", "VALIDATION_INVALID_ENUM", "x", id="Enum"),
    pytest.param(Colour | None, "green", "VALIDATION_INVALID_ENUM", "x", id="Enum or None"),
    pytest.param(list[int], [1, "a"], "VALIDATION_INVALID_TYPE", "x[1]", id="element"),
    pytest.param(dict[str, int], {"a": "b"}, "VALIDATION_INVALID_TYPE", "x.a", id="value of a dict"),
    pytest.param(tuple[int, str], [1], "VALIDATION_OUT_OF_RANGE", "x", id="short tuple"),
    pytest.param(tuple[int, str], [1, 2], "VALIDATION_INVALID_TYPE", "x[1]", id="element of a tuple"),
    pytest.param(set[int], [1, 1], "VALIDATION_INVALID_VALUE", "x", id="set with an item twice"),
    pytest.param(Author, {}, "VALIDATION_MISSING_PARAM", "x.name", id="field missing"),
    pytest.param(Author, {"name": 1}, "VALIDATION_INVALID_TYPE", "x.name", id="field of wrong type"),
    pytest.param(Author, {"name": "a", "nam": 1}, "VALIDATION_UNKNOWN_FIELD", "x", id="unknown field of a model"),
    pytest.param(Point, {"x": 1, "z": 1}, "VALIDATION_UNKNOWN_FIELD", "x", id="unknown field of a dataclass"),
    pytest.param(Options, {"depth": 1, "z": 1}, "VALIDATION_UNKNOWN_FIELD", "x", id="unknown key of a TypedDict"),
    pytest.param(Options, {"deep": True}, "VALIDATION_MISSING_PARAM", "x.depth", id="missing key of a TypedDict"),
    pytest.param(Book, {"title": "T", "author": {}}, "VALIDATION_MISSING_PARAM", "x.author.name", id="nested field"),
    pytest.param(Tree, {"value": 1, "children": [{}]}, "VALIDATION_MISSING_PARAM", "x.children[0].value", id="tree"),
    pytest.param(Numbers, [1, ["a"]], "VALIDATION_INVALID_TYPE", "x[1][0]", id="recursive alias"),
    pytest.param(
        Author | None, {"name": 1}, "VALIDATION_INVALID_TYPE", "x.name", id="inside the branch that was meant"
    ),
    pytest.param(Author | None, "a", "VALIDATION_INVALID_TYPE", "x", id="none of the branches"),
    pytest.param(Pet, {"kind": "fish", "lives": 1}, "VALIDATION_INVALID_ENUM", "x.kind", id="tag of no branch"),
    pytest.param(Pet, {"kind": "dog"}, "VALIDATION_MISSING_PARAM", "x.breed", id="field of the tagged branch"),
    pytest.param(datetime, "2026-02-04", "VALIDATION_INVALID_VALUE", "x", id="datetime without time"),
    pytest.param(datetime, "2026-02-04T10:30:00", "VALIDATION_INVALID_VALUE", "x", id="datetime without zone"),
    pytest.param(datetime, "2016-12-31T23:59:60Z", "VALIDATION_INVALID_VALUE", "x", id="leap second"),
    pytest.param(date, "04.02.2026", "VALIDATION_INVALID_VALUE", "x", id="date"),
    pytest.param(date, "2026-02-30", "VALIDATION_INVALID_VALUE", "x", id="date that is none"),
    pytest.param(Decimal, "12,5", "VALIDATION_INVALID_VALUE", "x", id="Decimal with a comma"),
    pytest.param(Decimal, "NaN", "VALIDATION_INVALID_VALUE", "x", id="Decimal that is no number"),
    pytest.param(Decimal, "1e99999", "VALIDATION_INVALID_VALUE", "x", id="Decimal of a huge exponent"),
    pytest.param(UUID, "not-a-uuid", "VALIDATION_INVALID_VALUE", "x", id="UUID"),
    pytest.param(bytes, "SGVsbG8", "VALIDATION_INVALID_VALUE", "x", id="base64 without padding"),
    pytest.param(bytes, "SGVs bG8=", "VALIDATION_INVALID_VALUE", "x", id="base64 with a space"),
    pytest.param(bytes, "é", "VALIDATION_INVALID_VALUE", "x", id="base64 of other letters"),
    pytest.param(Binary | None, "!", "VALIDATION_INVALID_VALUE", "x", id="Binary or None"),
    pytest.param(
        Attachment, {"name": "n", "content": "!"}, "VALIDATION_INVALID_VALUE", "x.content", id="nested base64"
    ),
    pytest.param(Isbn, {"digits": "no"}, "VALIDATION_INVALID_VALUE", "x.digits", id="the author's rule"),
    pytest.param(Annotated[int, Param(minimum=1)], 0, "VALIDATION_OUT_OF_RANGE", "x", id="minimum"),
    pytest.param(Annotated[int, Param(maximum=9)], "99999999999999999999", "VALIDATION_OUT_OF_RANGE", "x", id="huge"),
    pytest.param(Annotated[Decimal, Param(minimum=0)], "-1", "VALIDATION_OUT_OF_RANGE", "x", id="Decimal text below"),
    pytest.param(Annotated[Decimal, Param(minimum=0)], -1, "VALIDATION_OUT_OF_RANGE", "x", id="Decimal number below"),
    pytest.param(Annotated[Decimal, Field(lt=10)], "10.0", "VALIDATION_OUT_OF_RANGE", "x", id="Decimal at a limit"),
    pytest.param(
        Annotated[Decimal | None, Param(maximum=1)], "1.01", "VALIDATION_OUT_OF_RANGE", "x", id="Decimal or None above"
    ),
]


@pytest.mark.parametrize(("annotation", "sent", "code", "place"), REFUSED)
def test_a_value_that_is_not_of_the_type_is_refused_with_its_place(
    annotation: object, sent: object, code: str, place: str
) -> None:
    error = refusal(annotation, sent)
    assert (error.code, (error.details or {})["param_name"]) == (code, place)


def test_the_words_of_an_authors_rule_reach_the_caller_but_those_of_an_exception_do_not() -> None:
    assert refusal(Isbn, {"digits": "no"}).message == "Parameter 'x.digits' is not valid: the check digit is wrong"
    assert "internal" not in refusal(Isbn, {"digits": "secret"}).message


def test_the_bound_of_a_decimal_is_said_in_numbers() -> None:
    error = refusal(Annotated[Decimal, Field(gt=Decimal("0.5"))], "0.5")
    assert error.message == "Parameter 'x' must be greater than 0.5"


@given(st.integers(-(10**40), 10**40))
def test_every_integer_can_be_sent_exactly(number: int) -> None:
    sent = number if abs(number) < 2**53 else str(number)
    assert read(int, sent) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5))
def test_every_decimal_can_be_sent_exactly(number: Decimal) -> None:
    got = read(Decimal, str(number))
    assert (got, str(got)) == (number, str(number))


@given(st.binary(max_size=50))
def test_all_bytes_can_be_sent(data: bytes) -> None:
    import base64

    assert read(bytes, base64.b64encode(data).decode()) == data


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))])))
def test_every_moment_can_be_sent(moment: datetime) -> None:
    assert read(datetime, moment.isoformat()) == moment


# Schemas.


SCHEMAS = [
    pytest.param(int, {"type": "integer"}, id="int"),
    pytest.param(int | None, {"type": ["integer", "null"]}, id="or None is one schema of two types"),
    pytest.param(Literal["a", "b"] | None, {"type": ["string", "null"], "enum": ["a", "b", None]}, id="enum or None"),
    pytest.param(list[str], {"type": "array", "items": {"type": "string"}}, id="list"),
    pytest.param(Colour, {"$ref": "#/$defs/Colour"}, id="a class goes by its name"),
    pytest.param(Decimal, {"type": ["string", "number"], "format": "decimal"}, id="Decimal"),
    pytest.param(
        Annotated[Decimal, Field(ge=0, le=Decimal("9.5"), gt=-1, lt=10, multiple_of=0.5)],
        {
            "type": ["string", "number"],
            "format": "decimal",
            "minimum": 0,
            "maximum": 9.5,
            "exclusiveMinimum": -1,
            "exclusiveMaximum": 10,
            "multipleOf": 0.5,
        },
        id="bounds of a Decimal",
    ),
    pytest.param(Binary | None, {"type": ["string", "null"], "format": "base64"}, id="Binary or None"),
    pytest.param(Patch, {"type": "object"}, id="Patch of anything"),
    pytest.param(Patch[dict[str, Any]], {"type": "object"}, id="Patch of a dict"),
]


@pytest.mark.parametrize(("annotation", "schema"), SCHEMAS)
def test_a_hint_becomes_a_schema(annotation: object, schema: dict[str, Any]) -> None:
    assert {key: value for key, value in hint_for(annotation).schema.items() if value is not True} == schema


def test_titles_are_left_out_of_schemas_but_not_out_of_values() -> None:
    class Titled(BaseModel):
        title: dict[str, str] = {"title": "Untitled", "discriminator": "x"}

    schema = hint_for(Titled).definitions["Titled"]
    assert "title" not in schema
    assert schema["properties"]["title"]["default"] == {"title": "Untitled", "discriminator": "x"}


def test_an_annotation_that_cannot_be_hashed_works_like_any_other() -> None:
    annotation = Annotated[str, Param(enum=["a", "b"])]
    with pytest.raises(TypeError):
        hash(annotation)
    assert read(annotation, "a") == "a"
    assert refusal(annotation, "c").code == "VALIDATION_INVALID_ENUM"


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        pytest.param(type("Strange", (), {}), "the type 'Strange' has no JSON form: use a scalar", id="a class"),
        pytest.param(typing_extensions.Never, "the type 'Never' has no JSON form", id="Never"),
        pytest.param(5, "the type '5' has no JSON form", id="not a type at all"),
        pytest.param(dict[str, type], "has no JSON form", id="inside another"),
        pytest.param(Patch[Author] | None, "a Patch stands alone", id="a Patch or nothing"),
        pytest.param(list[Patch[Author]], "a Patch stands alone", id="a list of Patches"),
        pytest.param(Annotated[str, Field(pattern="(")], "cannot be used: unclosed group", id="a bad pattern"),
        pytest.param(Annotated[int, Field(multiple_of=0)], "cannot be used: .*greater than 0", id="a bad bound"),
        pytest.param(
            Annotated[int, Field(json_schema_extra={"type": "nonsense"})],
            "schema that cannot be used",
            id="a bad schema",
        ),
    ],
)
def test_a_type_that_cannot_be_served_is_refused_when_the_adapter_is_built(annotation: object, words: str) -> None:
    with pytest.raises(AdapterError, match=words):
        operation_of(annotation)


@pytest.mark.skipif("sys.version_info >= (3, 12)", reason="later versions know typing.TypedDict")
def test_the_typed_dict_of_an_old_python_is_refused_with_the_remedy() -> None:
    with pytest.raises(AdapterError, match="import TypedDict from typing_extensions"):
        operation_of(OldOptions)


def test_what_only_the_type_says_is_found_by_the_same_hint_twice() -> None:
    assert hint_for(list[int]) is hint_for(list[int])
