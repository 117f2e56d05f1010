"""Reading requests: their size, their form, and whether the parameters are what was declared."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from tests.conformance.faulty.declarations import EXHIBIT_FIELDS, LIMITS, Declared, Wanted
from tests.conformance.faulty.offers import offered
from tests.conformance.faulty.world import Museum, Refusal

__all__ = ["checked_value", "operation_of", "params_of", "refuse_oversized"]

_PROTOCOL: Final = ("operation", "params", "operations")
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def refuse_oversized(museum: Museum, arguments: object) -> None:
    """Refuse what is too large, too deep, or no text, before anybody looks what it means."""
    try:
        size = len(json.dumps(arguments, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        if museum.has("surrogates-accepted"):
            return
        code = "VALIDATION_INVALID_VALUE" if museum.has("encoding-code-other") else "VALIDATION_INVALID_ENCODING"
        raise Refusal(
            code, "Invalid character encoding in the request. Send UTF-8 text.", location="arguments"
        ) from None
    if size > LIMITS["max_request_size"] and not museum.has("request-size-unlimited"):
        raise _too_large(museum, "request_size", "max_request_size", size, "bytes")
    _refuse_value(museum, arguments, 1)


def _refuse_value(museum: Museum, value: object, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth > LIMITS["max_nesting_depth"] and not museum.has("depth-unlimited"):
            raise _too_large(museum, "nesting_depth", "max_nesting_depth", depth, "levels")
        if isinstance(value, list) and len(value) > LIMITS["max_array_elements"] and not museum.has("arrays-unlimited"):
            raise _too_large(museum, "array_elements", "max_array_elements", len(value), "elements")
        for part in value.values() if isinstance(value, dict) else value:
            _refuse_value(museum, part, depth + 1)
    elif isinstance(value, str):
        _refuse_text(museum, value)


def _refuse_text(museum: Museum, text: str) -> None:
    size = len(text.encode(errors="surrogatepass"))
    if size > LIMITS["max_string_length"] and not museum.has("strings-unlimited"):
        raise _too_large(museum, "string_length", "max_string_length", size, "bytes")
    if "\0" in text and not museum.has("null-bytes-accepted"):
        raise Refusal("VALIDATION_INVALID_ENCODING", "A text holds a null byte. Leave it out.", location="arguments")


def _too_large(museum: Museum, kind: str, limit: str, found: int, unit: str) -> Refusal:
    code = "VALIDATION_INVALID_VALUE" if museum.has("limit-code-other") else "VALIDATION_PAYLOAD_TOO_LARGE"
    if museum.has("limit-details-left-out"):
        return Refusal(code, "The payload is too large. Send less.")
    words = f"Payload exceeds the {kind} limit of {LIMITS[limit]} {unit}. Send less."
    return Refusal(code, words, limit_type=kind, limit_value=LIMITS[limit], actual_value=found, unit=unit)


def operation_of(museum: Museum, arguments: Mapping[str, Any], family: str | None) -> Declared:
    """The operation that a request names, if this tool may run it."""
    name = arguments.get("operation")
    if "operation" not in arguments and museum.has("operation-defaulted"):
        name = "list_exhibits"
    if "operation" in arguments and (not isinstance(name, str) or not name) and museum.has("operation-any-value"):
        name = "list_exhibits"
    if name is None and "operation" not in arguments:
        raise _missing("operation", "string", "the operation to perform", "")
    if not isinstance(name, str) or not name:
        raise Refusal(
            "VALIDATION_INVALID_TYPE",
            "Parameter 'operation' expected a text with the name of an operation",
            param_name="operation",
        )
    if museum.has("names-in-any-case"):
        name = name.lower()
    found = next((one for one in offered(museum) if one.name == _original(museum, name)), None)
    if found is None:
        raise _unknown_operation(museum, name)
    if family is not None and found.family != family and not _lets_in(museum, found, family):
        raise _misrouted(museum, found, family)
    return found


def _lets_in(museum: Museum, found: Declared, family: str) -> bool:
    """Whether a tool runs an operation that does not belong to it."""
    if found.family == "delete" and museum.has("delete-anywhere"):
        return True
    creates = family == "read" and found.family == "create" and museum.has("read-tool-creates")
    return creates or museum.has("wrong-endpoint-runs")


def _original(museum: Museum, name: str) -> str:
    """The name behind the one that is shown."""
    if museum.has("camel-case-operation"):
        return {"listLoans": "list_loans", "list_loans": ""}.get(name, name)
    return name


def _unknown_operation(museum: Museum, name: str) -> Refusal:
    code = "NOT_FOUND_RESOURCE" if museum.has("unknown-operation-code-other") else "NOT_FOUND_OPERATION"
    return Refusal(code, f"Unknown operation: '{name}'. Ask 'introspect' for those there are.", operation=name)


def _misrouted(museum: Museum, found: Declared, family: str) -> Refusal:
    code = "INTERNAL_ERROR" if museum.has("wrong-endpoint-code-other") else "VALIDATION_ENDPOINT_MISMATCH"
    words = f"Operation '{found.name}' must be called via 'mcp_aql_{found.family}', not 'mcp_aql_{family}'"
    return Refusal(code, words, operation=found.name, expected_endpoint=found.family, actual_endpoint=family)


def params_of(museum: Museum, operation: Declared, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a request, as they were declared, with the defaults filled in."""
    inner = arguments.get("params", {})
    if not isinstance(inner, dict):
        if not museum.has("params-of-any-form"):
            raise Refusal(
                "VALIDATION_INVALID_TYPE",
                "Parameter 'params' expected 'object'",
                param_name="params",
                expected_type="object",
            )
        inner = {}
    outer = {name: value for name, value in arguments.items() if name not in _PROTOCOL}
    if not museum.has("metadata-refused"):
        outer = _without_metadata(outer)
        inner = _without_metadata(inner)
    wanted = {one.name: one for one in operation.parameters}
    if museum.has("unknown-top-level-ignored"):
        outer = {name: value for name, value in outer.items() if name in wanted}
    given = {**inner, **outer} if museum.has("top-level-wins") else {**outer, **inner}
    given = _renamed(museum, operation, given)
    _refuse_missing(museum, operation, given)
    given = dict(_typed(museum, wanted, given))
    _refuse_unknown(museum, operation, given)
    unchecked = operation.name == "create_exhibit" and museum.has("create-unchecked")
    for name in given:
        if name in wanted and not unchecked:
            _refuse_unfit(museum, wanted[name], given[name])
    return given


def _without_metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if not name.startswith("_")}


def _renamed(museum: Museum, operation: Declared, given: dict[str, Any]) -> dict[str, Any]:
    """What faulty names stand for."""
    if museum.has("camel-case-parameter") and operation.name == "list_rooms":
        given = {
            {"pageSize": "page_size", "page_size": "page_size_"}.get(name, name): value for name, value in given.items()
        }
    if museum.has("flat-update") and operation.name == "update_exhibit":
        fields = {one.name for one in EXHIBIT_FIELDS}
        kept = {name: value for name, value in given.items() if name not in fields}
        return {**kept, "input": {name: value for name, value in given.items() if name in fields}}
    if museum.has("limit-taken-in-secret") and operation.name == "list_exhibits" and "limit" in given:
        given = {"first": given["limit"], **{name: value for name, value in given.items() if name != "limit"}}
    return given


def _refuse_missing(museum: Museum, operation: Declared, given: dict[str, Any]) -> None:
    for one in operation.parameters:
        if one.name in given or not one.required:
            continue
        if museum.has("missing-defaulted") and one.name == "exhibit_id" and operation.name == "get_exhibit":
            given[one.name] = "ex_1"
        elif museum.has("query-defaulted") and operation.name == "introspect":
            given[one.name] = "operations"
        elif museum.has("input-optional") and one.name == "input":
            given[one.name] = {}
        elif museum.has("hint-optional") and one.name == "next_action_hint":
            given[one.name] = "nothing told"
        elif museum.has("agent-optional") and operation.name == "record_execution_step" and one.name == "element_name":
            given[one.name] = "somebody"
        else:
            refusal = _missing(one.name, one.type, one.description, operation.name)
            if museum.has("missing-code-other"):
                refusal.code = "VALIDATION_INVALID_VALUE"
            if museum.has("missing-words-vague"):
                refusal.message = f"'{operation.name}' lacks '{one.name}'"
            raise refusal


def _missing(name: str, kind: str, description: str, operation: str) -> Refusal:
    words = f"Missing required parameter '{name}'. Expected: {kind} ({description})"
    return Refusal("VALIDATION_MISSING_PARAM", words, param_name=name, operation=operation)


def _typed(museum: Museum, wanted: Mapping[str, Wanted], given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        one = wanted.get(name)
        if one is None or is_of(value, one.type) or _taken_anyway(museum, name, value):
            yield name, value
        elif one.type == "integer" and isinstance(value, float) and museum.has("fractions-cut"):
            yield name, int(value)
        elif not museum.has("wrong-types-taken") or one.type == "object":
            raise _mistyped(museum, name, one.type, value)
        elif one.required:
            yield name, str(value)


def _taken_anyway(museum: Museum, name: str, value: object) -> bool:
    return name == "input" and isinstance(value, str) and museum.has("input-as-text")


def _mistyped(museum: Museum, name: str, kind: str, value: object) -> Refusal:
    code = "VALIDATION_INVALID_VALUE" if museum.has("wrong-type-code-other") else "VALIDATION_INVALID_TYPE"
    found = _kind_of(value)
    return Refusal(
        code,
        f"Parameter '{name}' expected '{kind}', got '{found}'",
        param_name=name,
        expected_type=kind,
        actual_type=found,
    )


def _kind_of(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")


def is_of(value: object, told: str) -> bool:
    """Whether a value is of a declared type, such as ``string | string[]``."""
    return any(_is_one(value, kind.strip()) for kind in told.split("|"))


def _is_one(value: object, kind: str) -> bool:
    if kind.endswith("[]"):
        return isinstance(value, list) and all(_is_one(part, kind[:-2]) for part in value)
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[kind])


def _refuse_unknown(museum: Museum, operation: Declared, given: dict[str, Any]) -> None:
    known = {one.name for one in operation.parameters}
    unknown = [name for name in given if name not in known]
    if museum.has("documented-parameter-refused") and operation.name == "get_exhibit" and "preset" in given:
        raise _unknown(museum, operation, ["preset"])
    if unknown and museum.has("unknown-ignored"):
        for name in unknown:
            del given[name]
    elif unknown:
        raise _unknown(museum, operation, unknown)


def _unknown(museum: Museum, operation: Declared, names: list[str]) -> Refusal:
    code = "VALIDATION_INVALID_VALUE" if museum.has("unknown-code-other") else "VALIDATION_UNKNOWN_PARAM"
    known = [one.name for one in operation.parameters]
    words = f"Unknown parameter(s) for operation '{operation.name}': {', '.join(repr(name) for name in names)}"
    if museum.has("unknown-details-left-out"):
        return Refusal(code, words)
    return Refusal(code, words, operation=operation.name, unknown_params=names, valid_params=known)


def _refuse_unfit(museum: Museum, one: Wanted, value: object) -> None:
    words, code = checked_value(museum, one, value)
    if words:
        raise Refusal(code, words, param_name=one.name)


def checked_value(museum: Museum, one: Wanted, value: Any) -> tuple[str, str]:
    """What is wrong with a value of the right type, and the code for it; nothing if it is fine."""
    more = one.more
    lenient = museum.has("enum-not-enforced") or (one.name == "query" and museum.has("any-query-answered"))
    if "enum" in more and value not in more["enum"] and not lenient:
        code = "NOT_ALLOWED_HERE" if museum.has("code-made-up") else "VALIDATION_INVALID_ENUM"
        return f"Parameter '{one.name}' must be one of {', '.join(more['enum'])}", code
    if isinstance(value, int | float) and not isinstance(value, bool) and _beyond(museum, more, value):
        return (
            f"Parameter '{one.name}' must lie between {more.get('minimum', 'any')} and {more.get('maximum', 'any')}",
            "VALIDATION_OUT_OF_RANGE",
        )
    if isinstance(value, str) and not more.get("minLength", 0) <= len(value) <= more.get("maxLength", 10**9):
        return f"Parameter '{one.name}' is too short or too long", "VALIDATION_OUT_OF_RANGE"
    if more.get("format") == "date" and not _is_day(value):
        return f"Parameter '{one.name}' must be a day such as 2026-02-04", "VALIDATION_PATTERN_MISMATCH"
    if "items" in more and not all(isinstance(part, str) for part in value):
        return f"Parameter '{one.name}' must hold texts only", "VALIDATION_INVALID_TYPE"
    return "", ""


def _beyond(museum: Museum, more: Mapping[str, Any], value: float) -> bool:
    least, most = more.get("minimum", -(10**18)), more.get("maximum", 10**18)
    if museum.has("minimum-not-enforced"):
        least = -(10**18)
    return value < least or value > most or (museum.has("maximum-refused") and value == most)


def _is_day(value: object) -> bool:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
