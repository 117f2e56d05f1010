"""From raw arguments to a request: shape, limits and encoding (Spec 4.1, 4.2, 4.6.1, 4.7)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import orjson

from headgate.protocol.errors import AqlError, quoted
from headgate.protocol.inspection import check_payload, too_large
from headgate.protocol.limits import Limits
from headgate.protocol.names import REQUEST_FIELDS, is_metadata
from headgate.protocol.results import LARGEST_BRIEF_ITEM, Notice

__all__ = [
    "Batch",
    "Request",
    "decode",
    "json_type",
    "parse_stringified",
    "request_from",
    "stringified_notice",
]


class Request(NamedTuple):
    """One operation to perform: its parameters from both places, and the metadata beside them."""

    operation: str
    params: Mapping[str, object]
    metadata: Mapping[str, object]
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Several requests in one, still raw: one that is malformed fails alone (Operations 7.3)."""

    items: tuple[object, ...]
    transaction: bool = False
    """Whether all of it must be kept together, or undone together."""


Decoded: TypeAlias = Request | Batch

_TRANSACTION: Final = "transaction"
_NO_PARAMS: Final[Mapping[str, object]] = {}
_JSON_TYPES: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}
_LOOKS_LIKE_JSON: Final = re.compile(r"\s*[\[{]")


def json_type(value: object) -> str:
    """The JSON name of a value's type."""
    return _JSON_TYPES.get(type(value), "unknown")


def decode(arguments: object, limits: Limits) -> Decoded:
    """The request or batch in a tool call's arguments, or an AqlError (Spec 4.1, 4.7; Operations 7.1)."""
    check_payload(arguments, limits)
    if isinstance(arguments, dict) and "operations" in arguments and "operation" not in arguments:
        return _batch(arguments, limits)
    return request_from(arguments, limits)


def request_from(arguments: object, limits: Limits) -> Request:
    """One request out of its raw form (Spec 4.1, 4.2)."""
    if not isinstance(arguments, dict):
        raise _wrong_type("request", "object", arguments)
    if "operations" in arguments:
        raise AqlError(
            "VALIDATION_INVALID_VALUE",
            "Send either 'operation' for one request or 'operations' for a batch, not both"
            if "operation" in arguments
            else "A batch cannot hold another batch: send its operations one by one",
            {"param_name": "operations"},
        )
    name = _operation_name(arguments)
    params, warnings = _params(arguments.get("params"), limits)
    if len(arguments) == 1 + ("params" in arguments) and not any(map(is_metadata, params)):
        return Request(name, params, _NO_PARAMS, warnings)
    together = {key: value for key, value in arguments.items() if key not in REQUEST_FIELDS} | params
    metadata = {key: value for key, value in together.items() if is_metadata(key)}
    return Request(name, {key: together[key] for key in together if key not in metadata}, metadata, warnings)


def _operation_name(arguments: Mapping[str, object]) -> str:
    name = arguments.get("operation")
    if isinstance(name, str) and name:
        return name
    if name is None:
        raise AqlError(
            "VALIDATION_MISSING_PARAM",
            "Missing required parameter 'operation'. Expected: string (the operation to perform; "
            '"introspect" with query "operations" lists them)',
            {"param_name": "operation"},
        )
    if name == "":
        raise AqlError("VALIDATION_INVALID_VALUE", "Parameter 'operation' is empty", {"param_name": "operation"})
    raise _wrong_type("operation", "string", name)


def _params(given: object, limits: Limits) -> tuple[dict[str, object], tuple[Notice, ...]]:
    if given is None:
        return {}, ()
    if isinstance(given, dict):
        return given, ()
    parsed = parse_stringified(given)
    if isinstance(parsed, dict):
        check_payload(parsed, limits)
        return parsed, (stringified_notice("params", "object"),)
    raise _wrong_type("params", "object", given)


def _batch(arguments: Mapping[str, object], limits: Limits) -> Batch:
    """A batch; the schema of its failures has no room for details."""
    unknown = [key for key in arguments if key not in ("operations", _TRANSACTION) and not is_metadata(key)]
    if unknown:
        raise AqlError(
            "VALIDATION_UNKNOWN_PARAM",
            "A batch has no parameters beside 'operations' and 'transaction': "
            + ", ".join(quoted(key, "(an odd name)") for key in unknown),
        )
    items = arguments["operations"]
    if isinstance(items, str):
        parsed = parse_stringified(items)
        items = items if parsed is None else parsed
        check_payload(items, limits)
    if not isinstance(items, list | tuple):
        raise AqlError("VALIDATION_INVALID_TYPE", f"Parameter 'operations' expected 'array', got '{json_type(items)}'")
    if not items:
        raise AqlError("VALIDATION_OUT_OF_RANGE", "A batch must contain one operation or more")
    most = limits.max_response_size // LARGEST_BRIEF_ITEM - 1
    if len(items) > most:
        raise too_large("max_array_elements", most, len(items), " for a batch: more could not be answered in one piece")
    together = arguments.get(_TRANSACTION)
    if together is not None and not isinstance(together, bool):
        raise AqlError(
            "VALIDATION_INVALID_TYPE", f"Parameter 'transaction' expected 'boolean', got '{json_type(together)}'"
        )
    return Batch(tuple(items), bool(together))


def parse_stringified(value: object) -> object:
    """The object or array inside a JSON text, or None: some hosts send nested values as text."""
    if not isinstance(value, str) or not _LOOKS_LIKE_JSON.match(value):
        return None
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None


def stringified_notice(name: str, expected: str) -> Notice:
    """The warning when a text was read as the object or array that it holds."""
    return Notice(
        "VALIDATION_STRINGIFIED_WARNING",
        f"'{name}' was sent as JSON text and read as {expected}; send the {expected} itself",
        {"param_name": name},
        "low",
    )


def _wrong_type(name: str, expected: str, value: object) -> AqlError:
    actual = json_type(value)
    return AqlError(
        "VALIDATION_INVALID_TYPE",
        f"Parameter '{name}' expected '{expected}', got '{actual}'",
        {"param_name": name, "expected_type": expected, "actual_type": actual},
    )
