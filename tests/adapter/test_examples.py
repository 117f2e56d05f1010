"""Examples made from schemas: whatever is shown works."""

from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from headgate import Category, Example, Limits, Operation, Param, Parameter, Patch
from headgate.adapter.examples import examples_of
from headgate.engine.validation import validate
from tests.adapter.making import operation, operation_of


class Chain(BaseModel):
    value: int
    rest: Optional["Chain"]


class Tree(BaseModel):
    children: list["Tree"]


class Endless(BaseModel):
    inner: "Endless"


class Account(BaseModel):
    name: str
    password: Annotated[str, Param(sensitive=True)] = "hunter2"  # noqa: S105


class Book(BaseModel):
    book_id: Annotated[str, Param(read_only=True)] = ""
    title: str


Numbers = typing_extensions.TypeAliasType("Numbers", "list[Numbers] | int")
Lists = typing_extensions.TypeAliasType("Lists", "list[Lists]")


def example(annotation: object) -> Any:
    (made,) = examples_of(operation_of(annotation))
    return made.params["x"]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (bool, True),
        (int, 1),
        (None, None),
        (Annotated[int, Param(minimum=7)], 7),
        (Annotated[int, Param(maximum=-7)], -7),
        (Annotated[int, Field(gt=3, multiple_of=5)], 5),
        (Annotated[int, Field(lt=-3, multiple_of=5)], -5),
        (Annotated[float, Field(gt=0, lt=1)], 0.5),
        (Annotated[Decimal, Field(gt=20)], "21"),
        (Literal["b", "a"], "b"),
        (Literal["only"], "only"),
        (Annotated[str, Param(examples=["Dune"])], "Dune"),
        (Annotated[str, Param(pattern="^[0-9]{3}-x$")], "000-x"),
        (Annotated[str, Param(min_length=20)], "example x" + "x" * 11),
        (Annotated[str, Param(max_length=4)], "exam"),
        (Annotated[str, Param(sensitive=True)], "***"),
        (list[bool], [True]),
        (Annotated[list[bool], Param(min_length=2)], [True, True]),
        (tuple[bool, int], [True, 1]),
        (dict[str, int], {}),
        (Chain, {"value": 1, "rest": None}),
        (Tree, {"children": []}),
        (Numbers, []),
        (Lists, []),
        (Account, {"name": "example name"}),
    ],
    ids=str,
)
def test_an_example_is_the_plainest_value_of_its_type(annotation: object, value: object) -> None:
    assert example(annotation) == value


def test_the_authors_examples_come_before_any_other() -> None:
    async def get_thing(thing_id: int) -> None:
        """Get a thing."""

    given_by_author = (Example({"thing_id": 42}, "The answer"),)
    assert examples_of(operation(get_thing, examples=given_by_author)) == given_by_author


def test_optional_parameters_are_left_out_and_the_summary_describes() -> None:
    async def get_thing(thing_id: int, shelf: str = "a") -> None:
        """Get a thing."""

    assert examples_of(operation(get_thing)) == (Example({"thing_id": 1}, "Get a thing."),)


def test_the_default_of_a_secret_is_never_an_example() -> None:
    assert "hunter2" not in str(example(Annotated[Account, Param(description="x")]))

    class Vault(BaseModel):
        key: Annotated[str, Param(sensitive=True)] = "hunter2"

    assert example(Vault) == {"key": "***"}


def test_a_default_is_the_best_example() -> None:
    made = Operation("get_thing", Category.READ, nothing, (Parameter("one", {"type": "integer", "default": 9}),), "x")
    assert [shown.params for shown in examples_of(made)] == [{"one": 9}]


def test_an_example_of_changes_leaves_out_what_cannot_be_changed() -> None:
    async def update_book(book_id: str, input: Patch[Book]) -> None:  # noqa: A002
        """Change a book."""

    (made,) = examples_of(operation(update_book, Category.UPDATE))
    assert made.params == {"book_id": "example book id", "input": {"title": "example title"}}


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param(Endless, id="a type that contains itself for ever"),
        pytest.param(Annotated[int, Field(ge=5, le=4)], id="bounds that exclude everything"),
        pytest.param(Annotated[int, Field(gt=0, lt=1)], id="no integer between"),
        pytest.param(Annotated[str, Param(pattern="^a$", max_length=0)], id="a pattern and no room"),
        pytest.param(Annotated[str, Param(pattern=r"^\p{Lu}+$")], id="a pattern beyond making one"),
        pytest.param(Annotated[set[bool], Param(min_length=2)], id="items that must differ"),
    ],
)
def test_an_example_that_would_be_refused_is_not_shown(annotation: object) -> None:
    assert examples_of(operation_of(annotation)) == ()


# Any schema at all.


def numbers() -> st.SearchStrategy[dict[str, Any]]:
    bounds = st.integers(-20, 20)
    return st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": bounds,
            "maximum": bounds,
            "exclusiveMinimum": bounds,
            "exclusiveMaximum": bounds,
            "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
        },
    )


def texts() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 30),
            "maxLength": st.integers(0, 30),
            "pattern": st.sampled_from(["^a+$", "[0-9]{2,4}", "^(x|y)?z$", r"^\w+@\w+$", "^[^a]$"]),
            "format": st.sampled_from(
                ["date", "date-time", "uuid", "email", "uri", "time", "duration", "base64", "decimal"]
            ),
            "x-sensitive": st.booleans(),
        },
    )


def containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    arrays = st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner,
            "minItems": st.integers(0, 3),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
        },
    )
    objects = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3).map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": sorted(properties)[:2],
            "additionalProperties": False,
        }
    )
    unions = st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches})
    return arrays | objects | unions


LEAVES = (
    numbers()
    | texts()
    | st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}, {"const": 3}, {"$ref": "#/$defs/Ring"}])
    | st.lists(st.integers() | st.text(max_size=3) | st.none(), min_size=1, max_size=3).map(
        lambda values: {"enum": values}
    )
    | st.sampled_from([{"type": ["integer", "null"]}, {"type": ["null", "string"]}, {"type": ["string", "number"]}])
)
SCHEMAS = st.recursive(LEAVES, containers, max_leaves=6)
RING = {
    "type": "object",
    "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Ring"}, {"type": "null"}]}, "all": {"$ref": "#/$defs/Rings"}},
    "required": ["next"],
}
RINGS = {"type": "array", "items": {"$ref": "#/$defs/Ring"}}


async def nothing() -> None:
    """Do nothing."""


@settings(max_examples=300)
@given(SCHEMAS, SCHEMAS)
def test_whatever_example_is_shown_is_accepted(one: dict[str, Any], two: dict[str, Any]) -> None:
    made = Operation(
        "get_thing",
        Category.READ,
        nothing,
        (Parameter("one", one), Parameter("two", two)),
        "Get a thing.",
        definitions={"Ring": RING, "Rings": RINGS},
    )
    for shown in examples_of(made):
        assert validate(made, shown.params, Limits(), strict=True).given == shown.params


def test_most_schemas_do_get_an_example() -> None:
    shown = []

    @settings(max_examples=200)
    @given(texts().filter(lambda schema: len(schema) < 3) | numbers().filter(lambda schema: len(schema) < 3))
    def count(schema: dict[str, Any]) -> None:
        made = Operation("get_thing", Category.READ, nothing, (Parameter("one", schema),), "x")
        shown.append(bool(examples_of(made)))

    count()
    assert sum(shown) > len(shown) * 0.9
