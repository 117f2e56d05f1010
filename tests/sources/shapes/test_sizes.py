"""Schemas that are enormous, endless or nonsense are refused or loosened, soon, and with words."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.adapter.examples import examples_of
from headgate.adapter.schemas import parameter_info
from headgate.sources.shapes import MalformedSchema, shaped
from tests.sources.shapes.making import operation_of

KEYWORDS = (
    *("$ref", "$defs", "definitions", "type", "properties", "required", "items", "additionalProperties", "allOf"),
    *("anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "default", "examples", "pattern", "format"),
    *("patternProperties", "propertyNames", "dependencies", "dependentRequired", "minimum", "exclusiveMinimum"),
    *("maxLength", "minItems", "multipleOf", "nullable", "$anchor", "$id", "id", "$schema", "title", "description"),
    *("prefixItems", "contains", "unevaluatedProperties", "x-sensitive", "readOnly", "maxContains"),
)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ("#", "#/", "#/$defs/a", "#/properties/a", "a", "object", "string", "array", "(", "^a", "\ud800", "http://[", "")
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.sampled_from((10**400, -(10**400), 1e308, 2**63))
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYWORDS) | TEXTS, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=150)
@given(ANYTHING)
def test_anything_is_a_schema_that_compiles(given_schema: Any) -> None:
    shape = shaped(given_schema)
    operation = operation_of(shape)
    assert operation.validator.is_valid({}) in (True, False)
    assert isinstance(shape.back({}), dict)
    for parameter in shape.parameters:
        parameter_info(parameter.name, parameter.schema, shape.definitions, required=True)
    examples_of(operation)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(KEYWORDS), ANYTHING, max_size=6))
def test_any_keywords_of_a_parameter_compile(schema: dict[str, Any]) -> None:
    shape = shaped({"type": "object", "properties": {"aB": schema}, "required": ["aB"]})
    assert [parameter.name for parameter in shape.parameters] == ["a_b"]
    examples_of(operation_of(shape))


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"aB": schema}}
    return schema


def nested_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (nested(10_000), "levels"),
        ({"properties": {f"p{number}": {} for number in range(100_000)}}, "parts"),
        ({"properties": {"x" * 1000 + str(number): {} for number in range(10_000)}}, "characters"),
        ({"properties": {f"p{number}": {"description": "x" * 10_000} for number in range(1000)}}, "characters"),
        ({"anyOf": [{"required": [f"p{number}"]} for number in range(25_000)]}, "parts"),
        ({"properties": {"a": {"enum": ["x" * 1000 + str(number) for number in range(9000)]}}}, "characters"),
    ],
    ids=["levels", "properties", "names", "descriptions", "branches", "choices"],
)
def test_what_is_too_large_is_refused_with_the_bound(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedSchema, match=words):
        shaped(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": list(range(1_000_000))},
        {"const": nested_list(10_000)},
        {"default": nested_list(10_000)},
        {"pattern": "(a{1000}){1000}"},
        {"minItems": 10**9, "type": "array", "items": {}},
        {"minLength": 10**9, "type": "string"},
        {"type": "string", "pattern": "^((a{100}){100}){100}$"},
        {"description": "x" * 10_000_000},
    ],
    ids=["a million choices", "deep constant", "deep default", "large pattern", "items", "characters", "text", "words"],
)
def test_a_parameter_may_be_odd_and_large_without_harm(schema: dict[str, Any]) -> None:
    shape = shaped({"properties": {"a": schema}, "required": ["a"]})
    operation = operation_of(shape)
    assert len(str(shape.parameters)) < 200_000
    assert len(str(examples_of(operation))) < 200_000


def diamonds(levels: int, key: str) -> dict[str, Any]:
    """Each name refers twice to the next, in slightly other words."""

    def twice(target: str) -> dict[str, Any]:
        one, other = {"$ref": f"#/$defs/{target}"}, {"$ref": f"#/$defs/{target}", "title": "again"}
        return (
            {"properties": {"aB": one, "cD": other}, "required": ["aB", "cD"]}
            if key == "properties"
            else {key: [one, other]}
        )

    names = [f"N{number}" for number in range(levels)]
    definitions = {name: twice(names[number + 1]) for number, name in enumerate(names[:-1])}
    return {"$defs": {**definitions, names[-1]: {"type": "object", "properties": {"eF": {"type": "string"}}}}}


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf", "properties"])
@pytest.mark.parametrize("is_root", [True, False], ids=["of the request", "of a parameter"])
def test_names_that_are_referred_to_twice_by_twice_cost_no_more_than_once(key: str, is_root: bool) -> None:
    target = {"$ref": "#/$defs/N0"}
    document = diamonds(60, key) | (target if is_root else {"properties": {"first": target}, "required": ["first"]})
    shape = shaped(document)
    operation = operation_of(shape)
    value: dict[str, Any] = {"e_f": "x"}
    operation.validator.is_valid(value if is_root else {"first": value})
    back = shape.back(value if is_root else {"first": value})
    assert back in ({"eF": "x"}, {"e_f": "x"}, {"first": {"eF": "x"}}, {"first": {"e_f": "x"}})
    examples_of(operation)


def test_an_entangled_schema_is_checked_by_the_upstream_alone() -> None:
    shape = shaped({"properties": {"first": {"$ref": "#/$defs/N0"}}} | diamonds(60, "allOf"))
    assert shape.notes == ("its schema is too entangled, so that only the upstream checks it",)
    assert shape.definitions == {}
    assert shape.back({"first": {"eF": 1}}) == {"first": {"eF": 1}}


@pytest.mark.parametrize("length", [10, 5000])
def test_a_long_chain_of_names_is_followed(length: int) -> None:
    chain = {f"N{number}": {"$ref": f"#/$defs/N{number + 1}"} for number in range(length)}
    document = {"$ref": "#/$defs/N0", "$defs": {**chain, f"N{length}": {"properties": {"aB": {"type": "string"}}}}}
    shape = shaped(document)
    assert shape.back({"a_b": "x"}) == {"aB": "x"}
