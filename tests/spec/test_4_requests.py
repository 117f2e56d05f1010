"""Specification 4.1 to 4.3 and 4.6, operations 2: the form of a request and the places of its parameters."""

from typing import Any

import pytest

from headgate import Adapter, AdapterError, Category, Operation, Parameter
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio


@pytest.mark.proves("ops-2.1-standard-input-structure")
async def test_an_operation_is_called_by_one_object_with_operation_and_params(aql: Aql, key: str) -> None:
    assert data_of(await aql.call("mcp_aql_read", {"operation": "get_nothing"})) is None
    assert data_of(await aql.call("mcp_aql_read", {"operation": "get_nothing", "params": {}})) is None
    assert data_of(await aql.call("mcp_aql_read", {"operation": "get_text", "params": {"text": key}})) == key


@pytest.mark.parametrize("request_", [{}, {"params": {}}, {"params": {"text": "x"}}, {"text": "x"}], ids=str)
@pytest.mark.proves("spec-4.1-operation-field-required", "ops-2.2-operation-field-required")
async def test_a_request_without_an_operation_is_refused(aql: Aql, request_: dict[str, Any]) -> None:
    error = error_of(await aql.call("mcp_aql_read", request_), "VALIDATION_MISSING_PARAM")
    assert error["details"]["param_name"] == "operation"


@pytest.mark.parametrize("operation", ["", None, 5, 1.5, True, [], ["get_nothing"], {"name": "get_nothing"}], ids=repr)
@pytest.mark.proves("ops-2.2-operation-is-nonempty-string")
async def test_an_operation_that_is_no_name_is_refused(aql: Aql, operation: object) -> None:
    error = error_of(await aql.call("mcp_aql_read", {"operation": operation}))
    assert error["code"].startswith("VALIDATION_")
    assert error["details"]["param_name"] == "operation"


@pytest.mark.parametrize("operation", ["get_unheard_of", "get note", "drop table", "__init__", "get_note "])
@pytest.mark.proves(
    "ops-2.2-operation-name-is-defined", "ops-8.1-unknown-operation-error-code", "ops-5.1-operation-defined-by-schema"
)
async def test_an_operation_that_is_not_defined_is_refused(aql: Aql, operation: str) -> None:
    error = error_of(await aql.call("mcp_aql_read", {"operation": operation}), "NOT_FOUND_OPERATION")
    assert error["details"]["operation"] == operation


@pytest.mark.parametrize("operation", ["Get_Note", "GET_NOTE", "get_Note", "getNote"])
@pytest.mark.proves("ops-2.4-operation-names-case-sensitive")
async def test_an_operation_name_in_other_letter_case_is_unknown(aql: Aql, operation: str) -> None:
    error_of(await aql.read(operation, note_id="n"), "NOT_FOUND_OPERATION")


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"params": {"text": "inside"}}, "inside"),
        ({"text": "beside"}, "beside"),
        ({"text": "beside", "params": {}}, "beside"),
        ({"text": "beside", "params": None}, "beside"),
        ({"text": "beside", "params": {"text": "inside"}}, "inside"),
    ],
    ids=["inside", "beside", "beside-empty-params", "beside-null-params", "both"],
)
@pytest.mark.proves("spec-4.2-params-take-precedence", "ops-2.3-params-take-precedence")
async def test_a_parameter_is_found_inside_params_or_beside_them_and_inside_wins(
    aql: Aql, request_: dict[str, Any], text: str
) -> None:
    assert data_of(await aql.call("mcp_aql_read", {"operation": "get_text", **request_})) == text


@pytest.mark.proves("spec-4.2-params-take-precedence")
async def test_parameters_from_both_places_come_together(aql: Aql, key: str) -> None:
    request = {"operation": "get_sample", "key": key, "count": 2, "params": {"count": 3, "text": "both"}}
    values = data_of(await aql.call("mcp_aql_read", request))["values"]
    assert (values["key"], values["count"], values["text"]) == (key, 3, "both")


BAD_NAMES = ["itemId", "Item", "_item", "1st_item", "item-id", "item id", "größe", ""]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.proves("spec-4.3-parameter-names-snake-case", "ops-4.1-parameter-names-snake-case")
def test_a_parameter_whose_name_is_not_snake_case_cannot_be_declared(name: str) -> None:
    with pytest.raises(AdapterError, match="snake_case"):
        Parameter(name, {"type": "string"})


@pytest.mark.proves("spec-4.3-parameter-names-snake-case", "ops-4.1-parameter-names-snake-case")
def test_a_function_with_a_parameter_whose_name_is_not_snake_case_cannot_be_registered() -> None:
    adapter = Adapter("wrong")

    async def get_item(itemId: str) -> str:  # noqa: N803
        """One item."""
        return itemId

    with pytest.raises(AdapterError, match="itemId"):
        adapter.read(get_item)
    assert "get_item" not in adapter.operations


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.proves("spec-8.5.2-operation-names-snake-case", "ops-2.4-operation-names-snake-case")
def test_an_operation_whose_name_is_not_snake_case_cannot_be_registered(name: str) -> None:
    async def handler() -> None: ...

    with pytest.raises(AdapterError, match="snake_case"):
        Operation(name=name, category=Category.READ, function=handler, summary="Anything")


@pytest.mark.proves("ops-4.1-canonical-names-snake-case")
async def test_a_camel_case_spelling_is_read_but_the_parameter_is_known_by_its_own_name(aql: Aql, key: str) -> None:
    values = data_of(await aql.read("get_sample", key=key, userName="ada"))["values"]
    assert values["user_name"] == "ada"
    assert "userName" not in values
    names = [parameter["name"] for parameter in (await aql.operation("get_sample"))["parameters"]]
    assert "user_name" in names
    assert "userName" not in names


@pytest.mark.proves("ops-4.1-canonical-names-snake-case", "intro-8.2.1-unknown-params-not-ignored")
async def test_a_camel_case_spelling_beside_the_name_itself_is_refused(aql: Aql, key: str) -> None:
    answer = await aql.read("get_sample", key=key, userName="ada", user_name="bob")
    assert error_of(answer, "VALIDATION_UNKNOWN_PARAM")["details"]["unknown_params"] == ["userName"]


@pytest.mark.proves(
    "spec-4.6-unknown-params-rejected",
    "spec-4.6-unknown-params-error-code",
    "ops-5.4-unknown-params-rejected",
    "intro-8.2.1-unknown-params-rejected",
)
async def test_unknown_parameters_are_refused_and_named(aql: Aql, key: str) -> None:
    answer = await aql.create("create_note", note_id=key, title="One", force_create=True, admin_override=1)
    error = error_of(answer, "VALIDATION_UNKNOWN_PARAM")
    assert error["details"]["operation"] == "create_note"
    assert set(error["details"]["unknown_params"]) == {"force_create", "admin_override"}
    assert set(error["details"]["valid_params"]) == {"note_id", "title", "body", "pages", "metadata", "dry_run"}
    assert "force_create" in error["message"]
    assert "create_note" in error["message"]
    assert await aql.runs(key) == []
    error_of(await aql.read("get_note", note_id=key), "NOT_FOUND_RESOURCE")


@pytest.mark.parametrize(
    "request_",
    [
        {"force": True, "params": {"title": "One"}},
        {"force": True, "title": "One"},
        {"params": {"title": "One", "force": True}},
        {"force": 1, "params": {"title": "One", "force": 2}},
    ],
    ids=["beside", "all-beside", "inside", "both"],
)
@pytest.mark.proves(
    "spec-4.6.1-unknown-params-top-level",
    "intro-8.2.1-unknown-params-not-ignored",
    "intro-8.2.1-unknown-params-rejected",
)
async def test_an_unknown_parameter_is_refused_wherever_it_stands(aql: Aql, key: str, request_: dict[str, Any]) -> None:
    answer = await aql.call("mcp_aql_create", {"operation": "create_note", "note_id": key, **request_})
    assert error_of(answer, "VALIDATION_UNKNOWN_PARAM")["details"]["unknown_params"] == ["force"]
    assert await aql.runs(key) == []


@pytest.mark.parametrize("name", ["_meta", "_request_id", "_anything", "__", "_Ünderscore"])
@pytest.mark.proves("spec-4.6.1-underscore-metadata-not-refused")
async def test_metadata_with_an_underscore_is_never_an_unknown_parameter(aql: Aql, key: str, name: str) -> None:
    beside = {"operation": "get_text", "params": {"text": key}, name: {"any": "thing"}}
    assert data_of(await aql.call("mcp_aql_read", beside)) == key
    inside = {"operation": "get_text", "params": {"text": key, name: 5}}
    assert data_of(await aql.call("mcp_aql_read", inside)) == key
    error = error_of(await aql.call("mcp_aql_read", {**inside, "foreign": 1}), "VALIDATION_UNKNOWN_PARAM")
    assert error["details"]["unknown_params"] == ["foreign"]


@pytest.mark.proves("spec-4.6.2-strict-mode-is-default")
async def test_unknown_parameters_are_refused_by_default_and_in_strict_mode(serve: Serve) -> None:
    for settings in ({}, {"strict": True}):
        async with serve(**settings) as aql:
            error_of(await aql.read("get_text", text="x", loud=True), "VALIDATION_UNKNOWN_PARAM")


@pytest.mark.proves("spec-4.6.2-strict-mode-is-default", "intro-8.2.1-unknown-params-not-ignored")
async def test_outside_strict_mode_an_unknown_parameter_still_draws_a_warning(serve: Serve) -> None:
    async with serve(strict=False) as aql:
        answer = await aql.read("get_text", text="x", loud=True)
        assert data_of(answer) == "x"
        assert ["loud" in warning["message"] for warning in answer["warnings"]] == [True]


@pytest.mark.parametrize("arguments", ["text", ["list"], 5, True], ids=repr)
@pytest.mark.proves("ops-2.1-standard-input-structure")
async def test_a_request_that_is_no_object_is_refused(aql: Aql, arguments: object) -> None:
    error_of(await aql.call("mcp_aql_read", arguments), "VALIDATION_INVALID_TYPE")
