"""Introspection 8.1.1 and 8.1.2: what introspection says of parameters is what operations do, for each of them.

Nothing here knows an operation by name: requests are made from introspection alone, as an agent would make them.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.spec.wires import Aql, Envelope, error_of

pytestmark = pytest.mark.anyio

CROSS_CUTTING = ["fields", "filter", "sort", "limit", "offset", "first", "after", "last", "before", "page", "dry_run"]
OTHERS = ["verbose", "confirmation_token", "if_none_match", "element_type", "ctx", "self"]
OF_TYPE: dict[str, Any] = {
    "boolean": True,
    "number": 1.5,
    "string": "a text",
    "array": [[]],
    "object": {"no_such_field": 1},
}


async def operations(aql: Aql) -> AsyncIterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every operation in full, with the parameters of its first example."""
    for name in await aql.operation_names():
        details = await aql.operation(name)
        params = details["examples"][0]["request"].get("params", {})
        if "lane" in params:
            await aql.execute("execute_opening", lane=params["lane"])
        yield details, params


async def send(aql: Aql, details: dict[str, Any], *variants: dict[str, Any]) -> list[Envelope]:
    """What the operation answers to each of several sets of parameters, asked for in one batch."""
    requests = [{"operation": details["name"], "params": params} for params in variants]
    if not requests:
        return []
    answer = await aql.call(details["mcpTool"], {"operations": requests})
    return [item["result"] for item in answer["results"]]


def is_valid(answer: Envelope) -> bool:
    """Whether the request passed validation, whatever became of it then."""
    return answer["success"] or not answer["error"]["code"].startswith("VALIDATION_")


async def accepted_types(aql: Aql, declared: str) -> set[str]:
    """The JSON types that a type of introspection stands for."""
    found: set[str] = set()
    for name in declared.split(" | "):
        if name.endswith("[]"):
            found.add("array")
        elif name == "any":
            found |= set(OF_TYPE) | {"integer", "null"}
        elif name[0].islower():
            found.add(name)
        else:
            kind = (await aql.introspect("types", name))["type"]["kind"]
            found.add({"enum": "string", "object": "object"}[kind])
    return found | ({"integer"} if "number" in found else set())


@pytest.mark.proves("intro-8.2-examples-for-all-operations")
async def test_every_example_passes_validation(aql: Aql) -> None:
    async for details, _ in operations(aql):
        for example in details["examples"]:
            answer = await aql.call(details["mcpTool"], example["request"])
            assert is_valid(answer), (example, answer)


@pytest.mark.proves("intro-8.1.1-required-status-matches-handler", "intro-8.1-required-flag-per-parameter")
async def test_an_operation_fails_without_each_required_parameter_and_works_without_the_others(aql: Aql) -> None:
    async for details, params in operations(aql):
        required = {parameter["name"] for parameter in details["parameters"] if parameter["required"]}
        only = {name: value for name, value in params.items() if name in required}
        assert set(only) == required
        assert all(map(is_valid, await send(aql, details, only)))
        without = {name: {key: value for key, value in only.items() if key != name} for name in required}
        for name, answer in zip(without, await send(aql, details, *without.values()), strict=True):
            assert f"'{name}'" in error_of(answer, "VALIDATION_MISSING_PARAM")["message"]


@pytest.mark.proves("intro-8.1.1-parameter-names-match-handler", "intro-8.1.1-parameter-types-match-handler")
async def test_an_operation_takes_every_parameter_under_its_name_with_the_default_shown(aql: Aql) -> None:
    async for details, params in operations(aql):
        shown = {p["name"]: p["default"] for p in details["parameters"] if "default" in p}
        answers = await send(aql, details, {**shown, **params})
        assert all(map(is_valid, answers)), (details["name"], answers)


@pytest.mark.proves("intro-8.1.1-parameter-types-match-handler")
async def test_an_operation_refuses_a_value_of_another_type_than_the_one_shown(aql: Aql) -> None:
    tried = 0
    async for details, params in operations(aql):
        for parameter in details["parameters"]:
            others = set(OF_TYPE) - await accepted_types(aql, parameter["type"])
            wrong = [{**params, parameter["name"]: OF_TYPE[other]} for other in others]
            for answer in await send(aql, details, *wrong):
                assert error_of(answer)["code"] == "VALIDATION_INVALID_TYPE", (details["name"], parameter)
                tried += 1
    assert tried > 100


@pytest.mark.proves("intro-8.1.2-every-accepted-parameter-listed", "intro-8.1.1-parameter-names-match-handler")
async def test_an_operation_takes_no_parameter_that_is_not_shown(aql: Aql) -> None:
    async for details, params in operations(aql):
        shown = {parameter["name"] for parameter in details["parameters"]}
        foreign = [name for name in (*CROSS_CUTTING, *OTHERS) if name not in shown]
        answers = await send(aql, details, *({**params, name: "x"} for name in foreign))
        for name, answer in zip(foreign, answers, strict=True):
            assert f"'{name}'" in error_of(answer, "VALIDATION_UNKNOWN_PARAM")["message"]
