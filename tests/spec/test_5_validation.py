"""Operations 5: operations are defined by schemas, and a handler sees only what has passed its schema."""

from typing import Any

import pytest

from headgate import Adapter, AdapterError, Category, Operation, Parameter
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("left_out", ["note_id", "title"])
@pytest.mark.proves(
    "ops-5.4-required-params-verified",
    "ops-8.1-missing-param-error-code",
    "ops-5.1-requests-validated-before-execution",
    "intro-8.1.1-required-status-matches-handler",
)
async def test_a_request_that_lacks_a_required_parameter_is_refused(aql: Aql, key: str, left_out: str) -> None:
    params = {"note_id": key, "title": "One"}
    del params[left_out]
    error = error_of(await aql.create("create_note", **params), "VALIDATION_MISSING_PARAM")
    assert error["details"]["param_name"] == left_out
    assert error["details"]["operation"] == "create_note"
    assert await aql.runs(key) == []


WRONG_TYPES: list[tuple[str, object]] = [
    ("text", 5),
    ("text", True),
    ("text", ["abc"]),
    ("text", None),
    ("code", 1),
    ("count", "5"),
    ("count", 2.5),
    ("count", True),
    ("count", None),
    ("ratio", "half"),
    ("ratio", False),
    ("flag", 1),
    ("flag", "true"),
    ("flag", None),
    ("color", 5),
    ("size", 5),
    ("words", "one two"),
    ("words", {"a": 1}),
    ("words", ["one", 2]),
    ("options", "many"),
    ("options", [1]),
    ("place", "here"),
    ("place", {"name": 5}),
    ("day", 5),
    ("moment", 5),
    ("ident", 5),
    ("serial", "many"),
    ("amount", True),
    ("amount", [1]),
]


@pytest.mark.parametrize(("name", "value"), WRONG_TYPES, ids=repr)
@pytest.mark.proves(
    "ops-5.4-param-types-validated",
    "ops-8.1-invalid-type-error-code",
    "ops-5.1-requests-validated-before-execution",
    "intro-8.1.1-parameter-types-match-handler",
)
async def test_a_parameter_of_another_type_is_refused(aql: Aql, key: str, name: str, value: object) -> None:
    error = error_of(await aql.read("get_sample", key=key, **{name: value}), "VALIDATION_INVALID_TYPE")
    assert error["details"]["param_name"].startswith(name)
    assert error["details"]["expected_type"]
    assert error["details"]["actual_type"]
    assert name in error["message"]
    assert await aql.runs(key) == []


RIGHT: dict[str, tuple[object, str]] = {
    "text": ("other", "str"),
    "code": ("XYZ-42", "str"),
    "count": (10, "int"),
    "ratio": (0.25, "float"),
    "flag": (True, "bool"),
    "color": ("blue", "Color"),
    "size": ("large", "str"),
    "words": (["one", "two"], "list"),
    "options": ({"any": {"thing": [1, None]}}, "dict"),
    "place": ({"name": "Zürich", "height": 408.0}, "Place"),
    "day": ("2026-02-04", "date"),
    "moment": ("2026-02-04T10:30:00Z", "datetime"),
    "ident": ("123e4567-e89b-12d3-a456-426614174000", "UUID"),
    "serial": (7, "int"),
    "user_name": ("ada", "str"),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.proves("intro-8.1.1-parameter-types-match-handler", "intro-8.1.1-parameter-names-match-handler")
async def test_a_parameter_of_the_declared_type_reaches_the_handler_as_what_it_was_declared(
    aql: Aql, key: str, name: str
) -> None:
    value, kind = RIGHT[name]
    sample = data_of(await aql.read("get_sample", key=key, **{name: value}))
    assert sample["values"][name] == value
    assert sample["kinds"][name] == kind
    assert name in [parameter["name"] for parameter in (await aql.operation("get_sample"))["parameters"]]


BROKEN: list[tuple[str, object, str, dict[str, object]]] = [
    ("color", "green", "VALIDATION_INVALID_ENUM", {"allowed_values": ["red", "blue"]}),
    ("color", "RED", "VALIDATION_INVALID_ENUM", {"allowed_values": ["red", "blue"]}),
    ("size", "medium", "VALIDATION_INVALID_ENUM", {"allowed_values": ["small", "large"]}),
    ("count", 0, "VALIDATION_OUT_OF_RANGE", {"minimum": 1}),
    ("count", 11, "VALIDATION_OUT_OF_RANGE", {"maximum": 10}),
    ("ratio", -0.1, "VALIDATION_OUT_OF_RANGE", {"minimum": 0}),
    ("ratio", 1.1, "VALIDATION_OUT_OF_RANGE", {"maximum": 1}),
    ("text", "a", "VALIDATION_OUT_OF_RANGE", {"min_length": 2}),
    ("text", "elevenchars", "VALIDATION_OUT_OF_RANGE", {"max_length": 10}),
    ("code", "abc-1", "VALIDATION_PATTERN_MISMATCH", {"pattern": "^[A-Z]{3}-[0-9]+$"}),
    ("code", "ABC-1\n", "VALIDATION_PATTERN_MISMATCH", {"pattern": "^[A-Z]{3}-[0-9]+$"}),
    ("ident", "not-a-uuid", "VALIDATION_INVALID_VALUE", {"expected_form": "uuid"}),
]


@pytest.mark.parametrize(("name", "value", "code", "details"), BROKEN, ids=repr)
@pytest.mark.proves("ops-5.4-param-constraints-applied", "ops-5.1-requests-validated-before-execution")
async def test_a_value_that_breaks_a_constraint_is_refused(
    aql: Aql, key: str, name: str, value: object, code: str, details: dict[str, object]
) -> None:
    error = error_of(await aql.read("get_sample", key=key, **{name: value}), code)
    assert error["details"]["param_name"] == name
    assert details.items() <= error["details"].items()
    assert await aql.runs(key) == []


@pytest.mark.parametrize(
    ("name", "value"), [("count", 1), ("count", 10), ("ratio", 0), ("ratio", 1), ("text", "ab"), ("text", "x" * 10)]
)
@pytest.mark.proves("ops-5.4-param-constraints-applied")
async def test_a_bound_itself_is_within_the_bounds(aql: Aql, key: str, name: str, value: object) -> None:
    assert data_of(await aql.read("get_sample", key=key, **{name: value}))["values"][name] == value


@pytest.mark.proves("ops-5.4-param-defaults-applied")
async def test_the_handler_gets_the_declared_default_of_what_was_left_out(aql: Aql, key: str) -> None:
    sample = data_of(await aql.read("get_sample", key=key))["values"]
    shown = {p["name"]: p["default"] for p in (await aql.operation("get_sample"))["parameters"] if not p["required"]}
    assert {**shown, "key": key} == sample
    given = data_of(await aql.read("get_sample", key=key, count=7))["values"]
    assert given == {**sample, "count": 7}


ORDER = [
    ({"note_id": 5, "foreign": 1, "pages": 0}, "VALIDATION_MISSING_PARAM"),
    ({"title": 5, "foreign": 1, "pages": 0}, "VALIDATION_INVALID_TYPE"),
    ({"title": "One", "foreign": 1, "pages": 0}, "VALIDATION_UNKNOWN_PARAM"),
    ({"title": "One", "pages": 0}, "VALIDATION_OUT_OF_RANGE"),
    ({"title": "One"}, None),
]


@pytest.mark.parametrize(("params", "code"), ORDER, ids=["missing", "type", "unknown", "constraint", "none"])
@pytest.mark.proves("ops-5.4-validation-order-kept")
async def test_of_several_faults_the_first_kind_gives_the_code(
    aql: Aql, key: str, params: dict[str, Any], code: str | None
) -> None:
    answer = await aql.create("create_note", **{"note_id": key, **params})
    if code is None:
        assert data_of(answer)["pages"] == 1
        return
    error = error_of(answer, code)
    assert await aql.runs(key) == []
    problems = error["details"].get("problems", [])
    assert [problem["code"] for problem in problems][:1] in ([], [code])


@pytest.mark.proves("ops-5.4-validation-order-kept", "ops-8.4-error-messages-specific")
async def test_every_fault_of_a_request_is_named_at_once(aql: Aql, key: str) -> None:
    answer = await aql.read("get_sample", key=key, count=0, text=5, colour="red", size="medium")
    problems = error_of(answer, "VALIDATION_INVALID_TYPE")["details"]["problems"]
    assert {(problem["code"], problem["param_name"]) for problem in problems} == {
        ("VALIDATION_INVALID_TYPE", "text"),
        ("VALIDATION_UNKNOWN_PARAM", "colour"),
        ("VALIDATION_OUT_OF_RANGE", "count"),
        ("VALIDATION_INVALID_ENUM", "size"),
    }


@pytest.mark.proves("ops-5.4-validation-order-kept", "ops-5.4-param-defaults-applied")
async def test_a_default_is_not_a_fault_even_where_its_constraint_would_make_it_one(serve: Serve) -> None:
    adapter = Adapter("defaults")
    words = Parameter(
        "words", {"type": "array", "minItems": 1, "items": {"type": "string"}}, required=False, default=[]
    )

    async def handler(words: list[str]) -> int:
        return len(words)

    adapter.add(Operation("get_size", Category.READ, handler, (words,), "How many words"))
    async with serve(adapter) as aql:
        assert data_of(await aql.read("get_size")) == 0
        error_of(await aql.read("get_size", words=[]), "VALIDATION_OUT_OF_RANGE")


async def handler() -> None: ...


@pytest.mark.parametrize("category", [None, "", "create", "MODIFY", "READ ", 5])
@pytest.mark.proves("spec-6.2-exactly-one-semantic-category", "ops-5.1-schema-has-semantic-category")
def test_an_operation_without_one_of_the_five_categories_cannot_be_registered(category: Any) -> None:
    with pytest.raises((AdapterError, ValueError), match=r"category|CREATE"):
        Adapter("wrong").add(Operation("get_item", category, handler, summary="One item"))


@pytest.mark.proves("spec-6.2-exactly-one-semantic-category", "ops-5.1-schema-has-semantic-category")
def test_an_operation_cannot_be_registered_twice_under_two_categories() -> None:
    adapter = Adapter("twice")
    adapter.add(Operation("get_item", Category.READ, handler, summary="One item"))
    with pytest.raises(AdapterError, match="already"):
        adapter.add(Operation("get_item", Category.EXECUTE, handler, summary="One item"))
    assert adapter.operations["get_item"].category is Category.READ


@pytest.mark.parametrize("text", [None, "", "  \n "])
@pytest.mark.proves("ops-5.1-schema-has-description")
def test_an_operation_without_a_description_cannot_be_registered(text: str | None) -> None:
    async def get_item() -> None: ...

    get_item.__doc__ = text
    with pytest.raises(AdapterError, match="description"):
        Adapter("silent").read(get_item)
    with pytest.raises(AdapterError, match="description"):
        Operation("get_item", Category.READ, handler, summary=text or "")


@pytest.mark.parametrize("declared", ["text", "", None, [], ["string", "text"], 5], ids=repr)
@pytest.mark.proves("ops-5.2-parameter-has-type")
def test_a_parameter_of_a_type_that_does_not_exist_cannot_be_declared(declared: object) -> None:
    with pytest.raises(AdapterError, match=r"item_id.*type"):
        Parameter("item_id", {"type": declared})


@pytest.mark.proves("ops-5.2-parameter-has-type")
def test_a_function_with_a_parameter_without_a_type_cannot_be_registered() -> None:
    async def get_item(item_id) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """One item."""

    with pytest.raises(AdapterError, match=r"item_id.*type"):
        Adapter("vague").read(get_item)


@pytest.mark.proves("ops-5.2-parameter-has-type", "ops-5.1-operation-defined-by-schema")
async def test_every_parameter_in_introspection_has_a_type(aql: Aql) -> None:
    for name in await aql.operation_names():
        for parameter in (await aql.operation(name))["parameters"]:
            assert parameter["type"], (name, parameter)


@pytest.mark.proves("ops-5.1-operation-defined-by-schema", "spec-10.2-operations-documented-in-introspection")
async def test_a_function_that_was_not_registered_cannot_be_called(aql: Aql) -> None:
    for name in ("ran", "main", "answer", "eval", "execute", "call"):
        error_of(await aql.read(name), "NOT_FOUND_OPERATION")
