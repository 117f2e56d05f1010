"""A market stall that answers everything as it should, until a twist makes something else of its answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.values import Check, CheckResult
from tests.conformance.servers import opener_of_server, result_of, toy_server

__all__ = ["CHECKS", "Arguments", "Twist", "failure", "looked_at", "params_in", "stall", "success"]

Arguments = dict[str, Any]
Twist = Callable[[str, Arguments, Arguments], Any]
"""The tool, the arguments and the right answer in; the answer that is given out."""

CHECKS: Final[Mapping[str, Check]] = {check.id: check for check in ALL_CHECKS}
TOOLS: Final = ("mcp_aql_read", "mcp_aql_create")
ITEMS: Final = [{"item_id": f"i{number}", "title": f"Item {number}"} for number in range(1, 6)]
KINDS: Final = {"string": str, "integer": int, "boolean": bool}


def _parameter(name: str, kind: str, *, required: bool = False, **rules: Any) -> Arguments:
    return {"name": name, "type": kind, "required": required, "description": f"The {name}.", **rules}


OPERATIONS: Final[dict[str, list[Arguments]]] = {
    "list_items": [
        _parameter("first", "integer", default=2, minimum=1, maximum=4),
        _parameter("state", "string", enum=["new", "old"]),
    ],
    "get_item": [_parameter("item_id", "string", required=True, maxLength=8)],
    "find_items": [_parameter("query", "string", required=True, minLength=1)],
    "create_item": [_parameter("title", "string", required=True, maxLength=12), _parameter("dry_run", "boolean")],
}


def success(data: Any = None) -> Arguments:
    return {"success": True, "data": data}


def failure(code: str, message: str = "It is refused.", **details: Any) -> Arguments:
    return {"success": False, "error": {"code": code, "message": message, "details": details}}


def params_in(arguments: Arguments) -> Arguments:
    """The parameters of a request, wherever they stand, those in ``params`` first."""
    inner = arguments.get("params")
    beside = {key: value for key, value in arguments.items() if key not in ("operation", "params") and key[0] != "_"}
    return {**beside, **(inner if isinstance(inner, dict) else {})}


def stall(
    twist: Twist = lambda _tool, _arguments, answer: answer,
    *,
    details: Mapping[str, list[Arguments]] | None = None,
    tools: tuple[str, ...] = TOOLS,
) -> Callable[[str, Any], Any]:
    """What a stall answers. ``details`` are other declarations in introspection, in place of the true ones."""

    def answer(tool: str, arguments: Any) -> Any:
        request = arguments or {}
        if request.get("operation") == "introspect" and "query" in params_in(request):
            return _introspected(params_in(request), {**OPERATIONS, **(details or {})}, tools)
        return twist(tool, request, _answer(tool, request))

    return answer


async def looked_at(check: str, twist: Any = None, **options: Any) -> CheckResult:
    """What becomes of one check at a stall."""
    more = {key: options.pop(key) for key in ("details", "tools") if key in options}
    fixtures = Fixtures.of(options.pop("fixtures", {}), "test")
    server = toy_server(stall(twist, **more) if twist else stall(**more), more.get("tools", TOOLS))
    return await result_of(opener_of_server(server), CHECKS[check], fixtures=fixtures, **options)


def _introspected(params: Arguments, operations: Mapping[str, list[Arguments]], tools: tuple[str, ...]) -> Arguments:
    name = params.get("name")
    if params["query"] == "types":
        return success({"type": None} if name else {"types": []})
    if name is None:
        entries = [_entry(one, tools) for one in operations]
        return success({"_protocol": {"version": "1.0.0"}, "operations": entries})
    found = operations.get(name)
    return success({"operation": None if found is None else {**_entry(name, tools), "parameters": found}})


def _entry(name: str, tools: tuple[str, ...]) -> Arguments:
    category = "CREATE" if name.startswith("create_") else "READ"
    own = f"mcp_aql_{category.lower()}"
    tool = own if own in tools else tools[0]
    return {"name": name, "semantic_category": category, "endpoint": category.lower(), "mcpTool": tool}


def _answer(tool: str, request: Arguments) -> Arguments:
    name = request.get("operation")
    if not isinstance(name, str) or not name:
        return failure("VALIDATION_MISSING_PARAM")
    if name not in OPERATIONS:
        return failure("NOT_FOUND_OPERATION")
    if tool in TOOLS and _entry(name, TOOLS)["mcpTool"] != tool:
        return failure("VALIDATION_ENDPOINT_MISMATCH")
    if not isinstance(request.get("params", {}), dict):
        return failure("VALIDATION_INVALID_TYPE")
    params = params_in(request)
    return _refusal(name, params) or _done(name, params)


def _refusal(name: str, params: Arguments) -> Arguments | None:
    declared = {one["name"]: one for one in OPERATIONS[name]}
    for one in declared.values():
        if one["required"] and one["name"] not in params:
            return failure("VALIDATION_MISSING_PARAM", param_name=one["name"])
    for key, value in params.items():
        if key in declared and not isinstance(value, KINDS[declared[key]["type"]]):
            return failure("VALIDATION_INVALID_TYPE", param_name=key)
    unknown = [key for key in params if key not in declared]
    if unknown:
        return failure("VALIDATION_UNKNOWN_PARAM", operation=name, unknown_params=unknown, valid_params=[*declared])
    return next((found for key, value in params.items() if (found := _beyond(declared[key], value))), None)


def _beyond(rules: Arguments, value: Any) -> Arguments | None:
    if "enum" in rules and value not in rules["enum"]:
        return failure("VALIDATION_INVALID_ENUM", param_name=rules["name"])
    size = len(value) if isinstance(value, str) else int(value)
    low = int(rules.get("minimum") or rules.get("minLength") or 0)
    high = int(rules.get("maximum") or rules.get("maxLength") or 999)
    return None if low <= size <= high else failure("VALIDATION_OUT_OF_RANGE", param_name=rules["name"])


def _done(name: str, params: Arguments) -> Arguments:
    match name:
        case "list_items":
            return success({"items": ITEMS[: params.get("first", 2)], "state": params.get("state")})
        case "get_item":
            found = next((one for one in ITEMS if one["item_id"] == params["item_id"]), None)
            return success(found) if found else failure("NOT_FOUND_RESOURCE")
        case "find_items":
            return success({"items": [one for one in ITEMS if params["query"] in one["title"]]})
        case _:
            return success({"would_create": params["title"]})
