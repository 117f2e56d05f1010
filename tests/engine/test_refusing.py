"""What the pipeline refuses: the code, the words and the details of each (Spec 4 to 6; Operations 5.4, 6.3)."""

import json
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
import typing_extensions
from pydantic import BaseModel

from headgate import Adapter, Category, Engine, EngineOptions, Limits, Mode, Operation, Param, Parameter
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspection import Introspector
from headgate.protocol.profiles import PROFILES
from tests.engine.asking import answer, ask, engine_of, error

pytestmark = pytest.mark.anyio

Numbers = typing_extensions.TypeAliasType("Numbers", "list[Numbers] | int")


class Author(BaseModel):
    name: str
    born: int = 0


async def create_user(
    user_name: Annotated[str, Param(min_length=2, description="How the user is called")],
    age: Annotated[int, Param(minimum=0, maximum=150)],
    role: Literal["reader", "writer"] = "reader",
    code: Annotated[str, Param(pattern="^[0-9]+$")] = "0",
    author: Author | None = None,
    tags: list[str] = [],  # noqa: B006
) -> dict[str, Any]:
    """Add a user."""
    return {"user_name": user_name, "age": age, "role": role, "tags": tags}


def library(**options: Any) -> Engine:
    adapter = Adapter("library")
    adapter.create(create_user)

    @adapter.read
    async def get_user(user_name: str) -> str:
        """Get a user."""
        return user_name

    @adapter.update
    async def update_user(user_name: str, input: dict[str, Any]) -> str:  # noqa: A002
        """Change a user."""
        return user_name

    @adapter.delete
    async def delete_user(user_name: str) -> str:
        """Remove a user."""
        return user_name

    return Engine(adapter, EngineOptions(**options))


GOOD: dict[str, Any] = {"user_name": "ada", "age": 36}


# Routing.


async def test_an_unknown_operation_is_refused_with_the_nearest_names() -> None:
    found = await error(library(), "create_usr")
    assert found == {
        "code": "NOT_FOUND_OPERATION",
        "message": "Unknown operation: 'create_usr'. Did you mean 'create_user'?",
        "details": {"operation": "create_usr", "available": ["create_user"]},
    }


async def test_an_unknown_operation_that_is_near_to_none_lists_the_few_there_are() -> None:
    found = await error(library(), "frobnicate")
    assert found["message"] == "Unknown operation: 'frobnicate'. Use introspect with query 'search' to find one"
    assert found["details"]["available"] == ["create_user", "get_user", "update_user", "delete_user", "introspect"]


async def test_an_unknown_operation_among_many_lists_none() -> None:
    adapter = Adapter("many")

    async def nothing() -> None:
        """Do nothing."""

    for number in range(30):
        adapter.read(name=f"get_item_{number}")(nothing)
    found = await error(Engine(adapter), "frobnicate")
    assert found["details"] == {"operation": "frobnicate"}


@pytest.mark.parametrize(
    "name",
    [
        "look at me",
        "a\nb",
        "x" * 5000,
        "'; drop",
        "/etc/passwd",
        "KeyError",
        "\u202egnp",
        "Traceback (most recent call)",
    ],
    ids=lambda name: repr(name[:12]),
)
async def test_an_odd_name_is_not_repeated_in_the_message(name: str) -> None:
    found = await error(library(), name)
    assert found["message"].startswith("Unknown operation: (not a name)")
    assert len(found["details"]["operation"]) <= 100


@pytest.mark.parametrize(
    ("operation", "endpoint", "expected"),
    [
        ("create_user", "read", "create"),
        ("get_user", "delete", "read"),
        ("update_user", "create", "update"),
        ("delete_user", "read", "delete"),
        ("introspect", "execute", "read"),
    ],
)
async def test_an_operation_sent_to_another_endpoint_is_refused(operation: str, endpoint: str, expected: str) -> None:
    envelope = await answer(library(), {"operation": operation}, endpoint=endpoint)
    assert envelope["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
    assert envelope["error"]["message"] == (
        f"Operation '{operation}' must be called via mcp_aql_{expected}, not mcp_aql_{endpoint}"
    )
    if operation != "introspect":
        details = envelope["error"]["details"]
        assert (details["expected_endpoint"], details["actual_endpoint"]) == (expected, endpoint)


async def test_the_right_endpoint_and_the_single_one_are_taken() -> None:
    for endpoint in ("read", None):
        envelope = await answer(library(), {"operation": "get_user", "user_name": "ada"}, endpoint=endpoint)
        assert envelope == {"success": True, "data": "ada"}


async def test_the_mismatch_names_the_tools_by_their_prefix_and_profile() -> None:
    exposure = Exposure(mode=Mode.SEMANTIC, profile=PROFILES["discover"], prefix="my_")
    envelope = await answer(library(exposure=exposure), {"operation": "get_user"}, endpoint="manage")
    assert (
        envelope["error"]["message"]
        == "Operation 'get_user' must be called via my_mcp_aql_query, not my_mcp_aql_manage"
    )


# Each kind of problem, alone.


@pytest.mark.parametrize(
    ("params", "code", "message", "details"),
    [
        pytest.param(
            {"age": 1},
            "VALIDATION_MISSING_PARAM",
            "Missing required parameter 'user_name'. Expected: string (How the user is called)",
            {"param_name": "user_name"},
            id="missing",
        ),
        pytest.param(
            {**GOOD, "age": "old"},
            "VALIDATION_INVALID_TYPE",
            "Parameter 'age' expected 'integer', got 'string'",
            {"param_name": "age", "expected_type": "integer", "actual_type": "string"},
            id="wrong type",
        ),
        pytest.param(
            {**GOOD, "force": True},
            "VALIDATION_UNKNOWN_PARAM",
            "Unknown parameter(s) for operation 'create_user': 'force'",
            {
                "unknown_params": ["force"],
                "valid_params": ["user_name", "age", "role", "code", "author", "tags", "dry_run"],
            },
            id="unknown",
        ),
        pytest.param(
            {**GOOD, "rolle": "reader"},
            "VALIDATION_UNKNOWN_PARAM",
            "Unknown parameter(s) for operation 'create_user': 'rolle'. Did you mean 'role'?",
            {
                "unknown_params": ["rolle"],
                "valid_params": ["user_name", "age", "role", "code", "author", "tags", "dry_run"],
            },
            id="misspelt",
        ),
        pytest.param(
            {**GOOD, "author": {"name": "x", "bron": 1}},
            "VALIDATION_UNKNOWN_FIELD",
            "Unknown field(s) in 'author' for operation 'create_user': 'bron'. Did you mean 'born'?",
            {"param_name": "author", "unknown_fields": ["bron"], "valid_fields": ["name", "born"]},
            id="unknown field",
        ),
        pytest.param(
            {**GOOD, "role": "admin"},
            "VALIDATION_INVALID_ENUM",
            "Parameter 'role' must be one of: 'reader', 'writer'",
            {"param_name": "role", "allowed_values": ["reader", "writer"]},
            id="enum",
        ),
        pytest.param(
            {**GOOD, "age": 151},
            "VALIDATION_OUT_OF_RANGE",
            "Parameter 'age' must be 150 or less",
            {"param_name": "age", "maximum": 150},
            id="out of range",
        ),
        pytest.param(
            {**GOOD, "code": "x"},
            "VALIDATION_PATTERN_MISMATCH",
            "Parameter 'code' must match the pattern '^[0-9]+$'",
            {"param_name": "code", "pattern": "^[0-9]+$"},
            id="pattern",
        ),
    ],
)
async def test_a_problem_is_told_with_what_repairs_it(
    params: dict[str, Any], code: str, message: str, details: dict[str, Any]
) -> None:
    found = await error(library(), "create_user", **params)
    assert found == {"code": code, "message": message, "details": {**details, "operation": "create_user"}}


# Schemas that come from elsewhere.


class Level(Enum):
    LOW = 1


async def nothing(**_: Any) -> None:
    """Do nothing."""


FOREIGN = [
    ({"uniqueItems": True}, [1, 1], "Parameter 'x' is not valid: no item may stand twice"),
    ({"contains": {"type": "null"}}, [1], "Parameter 'x' is not valid: an item of the demanded kind is missing"),
    ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, "Parameter 'x' is not valid: a key has the wrong form"),
    ({"not": {"const": 1}}, 1, "Parameter 'x' is not valid: this value is excluded"),
    ({"items": False}, [1], "Parameter 'x[0]' is not valid: the value breaks a rule of its type"),
    ({"minProperties": 1}, {}, "Parameter 'x' must have 1 or more fields"),
    ({"maxProperties": 0}, {"a": 1}, "Parameter 'x' must have 0 or fewer fields"),
    ({"exclusiveMaximum": 5}, 5, "Parameter 'x' must be less than 5"),
    ({"multipleOf": 5}, 6, "Parameter 'x' must be a multiple of 5"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "Missing required parameter 'x.b'. Expected: any"),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
        5,
        "Parameter 'x' is not valid: it fits more than one of the possible types",
    ),
    ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, "a", "Parameter 'x' expected 'integer | null', got 'string'"),
    ({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}, 1, "Parameter 'x' must be 3 or more"),
    ({"allOf": [{"type": "integer"}, {"maximum": 3}]}, 4, "Parameter 'x' must be 3 or less"),
    (
        {"properties": {"a": {}}, "unevaluatedProperties": False},
        {"b": 1},
        "Unknown field(s) in 'x' for operation 'get_thing': 'b'",
    ),
    ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", "Parameter 'x' must be one of: 'a', 'b'"),
]


@pytest.mark.parametrize(("schema", "value", "message"), FOREIGN, ids=[str(row[0]) for row in FOREIGN])
async def test_whatever_a_schema_demands_is_told_in_words(schema: dict[str, Any], value: object, message: str) -> None:
    adapter = Adapter("foreign")
    adapter.add(Operation("get_thing", Category.READ, nothing, (Parameter("x", schema),), "Get a thing."))
    assert (await error(Engine(adapter), "get_thing", x=value))["message"] == message


async def test_a_parameter_whose_name_is_too_long_to_say_is_described() -> None:
    adapter, name = Adapter("foreign"), "x" * 90
    adapter.add(Operation("get_thing", Category.READ, nothing, (Parameter(name, {"type": "integer"}),), "Get a thing."))
    found = await error(Engine(adapter), "get_thing", **{name: "a"})
    assert found["message"] == "Parameter (with an odd name) expected 'integer', got 'string'"
    assert found["details"]["param_name"] == name


@pytest.mark.parametrize("value", [UUID(int=1), {"a": UUID(int=1)}, Level.LOW], ids=repr)
async def test_what_only_a_caller_in_the_same_process_can_send_is_refused(value: object) -> None:
    async def get_thing(thing_id: int) -> None:
        """Get a thing."""

    found = await error(engine_of(get_thing), "get_thing", thing_id=value)
    assert found["code"] in ("VALIDATION_INVALID_VALUE", "VALIDATION_INVALID_TYPE")


# Several problems at once: the first kind gives the code, and all are told.

EVERYTHING = {
    "age": "old",
    "user_nam": "ada",
    "role": "admin",
    "code": "x",
    "author": {"name": 1, "x": 1},
    "tags": [1, 2],
}


async def test_all_problems_of_a_request_are_told_in_the_order_of_validation() -> None:
    found = await error(library(), "create_user", **EVERYTHING)
    assert found["code"] == "VALIDATION_MISSING_PARAM"
    assert found["message"].endswith("(and 8 more, see details)")
    assert [problem["code"] for problem in found["details"]["problems"]] == [
        "VALIDATION_MISSING_PARAM",
        *["VALIDATION_INVALID_TYPE"] * 4,
        "VALIDATION_UNKNOWN_PARAM",
        "VALIDATION_UNKNOWN_FIELD",
        *(problem["code"] for problem in found["details"]["problems"][7:]),
    ]
    assert {problem["code"] for problem in found["details"]["problems"][7:]} == {
        "VALIDATION_INVALID_ENUM",
        "VALIDATION_PATTERN_MISMATCH",
    }
    assert {problem["param_name"] for problem in found["details"]["problems"]} == {
        *("user_name", "age", "author.name", "tags[0]", "tags[1]", "user_nam", "author", "role", "code")
    }


ORDER = [
    ("user_name", None, "VALIDATION_MISSING_PARAM"),
    ("age", 36, "VALIDATION_INVALID_TYPE"),
    ("user_nam", None, "VALIDATION_UNKNOWN_PARAM"),
    ("author", None, "VALIDATION_UNKNOWN_FIELD"),
    ("role", None, "VALIDATION_INVALID_ENUM"),
]


async def test_each_repair_uncovers_the_next_kind() -> None:
    params: dict[str, Any] = {"age": "old", "user_nam": "ada", "role": "admin", "author": {"name": "x", "y": 1}}
    engine = library()
    for name, right, code in ORDER:
        assert (await error(engine, "create_user", **params))["code"] == code
        params.pop(name, None)
        if name == "user_name":
            params["user_name"] = "ada"
        elif right is not None:
            params[name] = right
    assert (await ask(engine, "create_user", **params))["success"] is True


async def test_an_unknown_name_near_a_missing_one_was_surely_meant() -> None:
    found = await error(library(), "create_user", age=1, usr_name="ada")
    messages = {problem["code"]: problem["message"] for problem in found["details"]["problems"]}
    assert messages["VALIDATION_UNKNOWN_PARAM"].endswith("Did you mean 'user_name'?")


async def test_a_single_problem_needs_no_list() -> None:
    assert "problems" not in (await error(library(), "create_user", **GOOD, force=1))["details"]


async def test_hundreds_of_problems_are_counted_and_a_hundred_told() -> None:
    found = await error(library(), "create_user", **GOOD, tags=list(range(500)))
    assert found["message"].endswith("(and 499 more, see details)")
    assert len(found["details"]["problems"]) == 100


async def test_of_thousands_of_problems_only_the_first_is_looked_for() -> None:
    async def get_things(things: list[Author | int | None]) -> None:
        """Get things."""

    found = await error(engine_of(get_things), "get_things", things=[{"nam": "x"}] * 10_000)
    assert found["details"]["param_name"].startswith("things[0]")


async def test_many_unknown_names_are_shortened_everywhere() -> None:
    unknown = {f"{'x' * 300}{number}": 1 for number in range(30)}
    found = await error(library(), "create_user", **GOOD, **unknown)
    assert found["message"].endswith("and 10 more")
    assert len(found["details"]["unknown_params"]) == 20
    assert max(map(len, found["details"]["unknown_params"])) == 200


@pytest.mark.parametrize("key", ["look at me", "a\nb", "it's", "KeyError", "/etc", "\u200b"], ids=repr)
async def test_an_odd_key_inside_a_parameter_is_not_repeated_in_the_message(key: str) -> None:
    async def get_scores(scores: dict[str, int]) -> None:
        """Get scores."""

    found = await error(engine_of(get_scores), "get_scores", scores={key: "x"})
    assert found["message"] == "Parameter 'scores.…' expected 'integer', got 'string'"
    assert found["details"]["param_name"] == f"scores.{key}"


@pytest.mark.parametrize("description", ["What the user looks at now", "A KeyError is raised", "See main.py"])
async def test_a_description_that_sounds_like_a_trace_is_left_out_of_messages(description: str) -> None:
    async def get_thing(thing_id: Annotated[int, Param(description=description)]) -> None:
        """Get a thing."""

    found = await error(engine_of(get_thing), "get_thing")
    assert found["message"] == "Missing required parameter 'thing_id'. Expected: integer"


async def test_a_type_whose_name_sounds_like_a_trace_is_quoted() -> None:
    class Cat(BaseModel):
        """A cat."""

        name: str

    async def get_thing(cat: Cat) -> None:
        """Get a thing."""

    found = await error(engine_of(get_thing), "get_thing")
    assert found["message"] == "Missing required parameter 'cat'. Expected: 'Cat' (A cat.)"


# Repairs.


@pytest.mark.parametrize(
    ("params", "received"),
    [
        pytest.param({"userName": "ada", "age": 1}, {"user_name": "ada"}, id="camelCase"),
        pytest.param({"UserName": "ada", "age": 1}, {"user_name": "ada"}, id="PascalCase"),
        pytest.param({**GOOD, "tags": '["a"]'}, {"tags": ["a"]}, id="an array as text"),
    ],
)
async def test_what_hosts_are_known_to_send_is_put_right(params: dict[str, Any], received: dict[str, Any]) -> None:
    envelope = await ask(library(), "create_user", **params)
    assert envelope["data"].items() >= received.items()


async def test_a_camel_case_name_beside_the_right_one_is_unknown() -> None:
    assert (await error(library(), "create_user", **GOOD, userName="x"))["code"] == "VALIDATION_UNKNOWN_PARAM"


async def test_a_parameter_read_from_text_is_told_as_a_warning() -> None:
    envelope = await ask(library(), "create_user", **GOOD, tags='["a"]', author='{"name": "x"}')
    assert {warning["details"]["param_name"] for warning in envelope["warnings"]} == {"tags", "author"}
    assert {warning["code"] for warning in envelope["warnings"]} == {"VALIDATION_STRINGIFIED_WARNING"}


async def test_texts_are_read_where_they_stand_nested_too() -> None:
    class Shelf(BaseModel):
        books: list[dict[str, int]]

    async def get_shelf(shelf: Shelf, ids: list[int]) -> list[object]:
        """Get a shelf."""
        return [shelf.books, ids]

    envelope = await ask(
        engine_of(get_shelf), "get_shelf", shelf={"books": ['{"a": 1}', {"b": 2}]}, ids=[1, "90071992547409931"]
    )
    assert envelope["data"] == [[{"a": 1}, {"b": 2}], [1, "90071992547409931"]]
    assert [warning["details"]["param_name"] for warning in envelope["warnings"]] == ["shelf.books[0]"]


async def test_texts_are_read_inside_the_branch_of_a_union_that_was_meant() -> None:
    class Shelf(BaseModel):
        books: dict[str, int]

    async def get_shelf(shelf: Shelf | Author | None) -> object:
        """Get a shelf."""
        return shelf

    envelope = await ask(engine_of(get_shelf), "get_shelf", shelf={"books": '{"a": 1}'})
    assert envelope["data"] == {"books": {"a": 1}}


async def test_texts_inside_texts_are_read_too() -> None:
    async def get_shelf(shelf: dict[str, dict[str, int]]) -> object:
        """Get a shelf."""
        return shelf

    envelope = await ask(engine_of(get_shelf), "get_shelf", shelf=json.dumps({"a": json.dumps({"b": 1})}))
    assert envelope["data"] == {"a": {"b": 1}}
    assert [warning["details"]["param_name"] for warning in envelope["warnings"]] == ["shelf", "shelf.a"]


async def test_texts_inside_texts_without_end_are_a_wrong_type() -> None:
    async def get_numbers(numbers: Numbers) -> object:
        """Get numbers."""
        return numbers

    text: object = 1
    for _ in range(10):
        text = json.dumps([text])
    found = await error(engine_of(get_numbers), "get_numbers", numbers=text)
    assert (found["code"], found["details"]["param_name"]) == ("VALIDATION_INVALID_TYPE", "numbers[0][0][0][0][0]")


async def test_texts_are_read_among_very_many_values() -> None:
    async def get_things(ids: list[int], shelf: dict[str, int], tags: list[str]) -> object:
        """Get things."""
        return [len(ids), shelf, tags]

    envelope = await ask(engine_of(get_things), "get_things", ids=list(range(5000)), shelf='{"a": 1}', tags='["t"]')
    assert envelope["data"] == [5000, {"a": 1}, ["t"]]
    assert len(envelope["warnings"]) == 2


async def test_no_more_than_twenty_warnings_are_given_of_texts() -> None:
    async def list_things(things: list[dict[str, int]]) -> int:
        """List things."""
        return len(things)

    envelope = await ask(engine_of(list_things), "list_things", things=['{"a": 1}'] * 100)
    assert (envelope["data"], len(envelope["warnings"])) == (100, 20)


async def test_a_text_that_holds_something_else_is_a_wrong_type() -> None:
    for text in ("[1", "plain", '{"a": 1}'):
        assert (await error(library(), "create_user", **GOOD, tags=text))["code"] == "VALIDATION_INVALID_TYPE"


async def test_the_limits_hold_for_what_is_inside_a_text() -> None:
    engine = library(limits=Limits(max_array_elements=100))
    found = await error(engine, "create_user", **GOOD, tags=f"[{','.join(['1'] * 101)}]")
    assert (found["code"], found["details"]["limit_type"]) == ("VALIDATION_PAYLOAD_TOO_LARGE", "array_elements")


# Outside strict mode.


async def test_outside_strict_mode_an_unknown_parameter_is_dropped_with_a_warning() -> None:
    envelope = await ask(library(strict=False), "create_user", **GOOD, force=True)
    assert envelope["success"] is True
    (warning,) = envelope["warnings"]
    assert warning["code"] == "VALIDATION_UNKNOWN_PARAM_WARNING"
    assert warning["message"] == "Unknown parameter(s) for operation 'create_user': 'force' (ignored)"
    assert warning["severity"] == "medium"


async def test_outside_strict_mode_every_other_problem_is_still_refused() -> None:
    found = await error(library(strict=False), "create_user", age="x", user_name="ada", force=True)
    assert found["code"] == "VALIDATION_INVALID_TYPE"
    assert "problems" not in found["details"]


# Before any operation.


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "VALIDATION_INVALID_TYPE"),
        ({}, "VALIDATION_MISSING_PARAM"),
        ({"operation": 5}, "VALIDATION_INVALID_TYPE"),
        ({"operation": ""}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "get_user", "params": []}, "VALIDATION_INVALID_TYPE"),
        ({"operation": "get_user", "operations": []}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "get_user", "user_name": "\ud800"}, "VALIDATION_INVALID_ENCODING"),
        ({"operation": "get_user", "user_name": "\0"}, "VALIDATION_INVALID_ENCODING"),
        ({"operation": "get_user", "user_name": float("nan")}, "VALIDATION_INVALID_VALUE"),
        ({"operation": "get_user", "user_name": 2**60}, "VALIDATION_OUT_OF_RANGE"),
        ({"operation": "get_user", "user_name": "x" * 2_000_000}, "VALIDATION_PAYLOAD_TOO_LARGE"),
        ({"operation": "get_user", "user_name": [0] * 10_001}, "VALIDATION_PAYLOAD_TOO_LARGE"),
        ({"operations": []}, "VALIDATION_OUT_OF_RANGE"),
        ({"operations": 5}, "VALIDATION_INVALID_TYPE"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_is_no_request_is_refused(arguments: object, code: str) -> None:
    envelope = await answer(library(), arguments)
    assert envelope["error"]["code"] == code


async def test_a_failed_introspection_has_only_code_and_message() -> None:
    for params in ({"query": "nonsense"}, {}, {"query": "operations", "after": "x"}, 5, {"query": "types", "x": 1}):
        envelope = await answer(library(), {"operation": "introspect", "params": params})
        assert set(envelope["error"]) == {"code", "message"}


async def test_an_unknown_query_of_introspection_names_the_known_ones() -> None:
    found = await error(library(), "introspect", query="operation")
    assert found["code"] == "VALIDATION_INVALID_ENUM"
    assert "'operations', 'types'" in found["message"]
    assert found["message"].endswith("Did you mean 'operations'?")


async def test_introspection_that_breaks_has_only_code_and_message_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise KeyError("x")

    monkeypatch.setattr(Introspector, "answer", broken)
    envelope = await answer(library(), {"operation": "introspect", "query": "types"})
    assert set(envelope["error"]) == {"code", "message"}
    assert envelope["error"]["code"] == "INTERNAL_ERROR"


async def test_only_what_the_caller_cannot_repair_is_an_error_of_the_tool() -> None:
    async def get_thing() -> None:
        """Get a thing."""
        raise KeyError("x")

    engine = engine_of(get_thing)
    assert (await engine.call({"operation": "nonsense"})).is_error is False
    assert (await engine.call({"operation": "get_thing"})).is_error is True
    assert (await engine.call({"operation": "introspect", "query": "types"})).is_error is False
