"""JSON-RPC messages as bytes: what comes in is checked, what goes out never fails."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import mcp_types as types
import orjson

from headgate.protocol.errors import AqlError
from headgate.protocol.inspection import bad_encoding
from headgate.protocol.results import Failure

__all__ = ["Refused", "id_by_ends", "line_of", "read_message", "refusal", "refused_call", "tool_result"]

_LONG_NUMBER: Final = re.compile(rb"\d{19}")
"""What may be an integer that the fast reader would round."""
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]*")\s*'
_VERSION: Final = rb'(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
_FIRST: Final = re.compile(rb"\s*\{\s*" + _VERSION + _ID + rb',\s*"method"\s*:')
_METHOD_FIRST: Final = re.compile(rb"\s*\{\s*" + _VERSION + rb'"method"\s*:')
_LAST: Final = re.compile(rb",\s*" + _ID + rb"\}\s*\Z")
"""What stands before the last brace is the outermost object's: within a text there would be backslashes."""


class Refused(Exception):
    """Bytes that are no message; what to answer them with."""

    def __init__(self, answer: types.JSONRPCError | types.JSONRPCResponse) -> None:
        super().__init__(answer.error.message if isinstance(answer, types.JSONRPCError) else "damaged text")
        self.answer = answer


def read_message(raw: bytes, place: str) -> types.JSONRPCMessage:
    """The message in a line or body; ``place`` is what a refusal calls it."""
    try:
        value = _json(raw)
    except UnicodeDecodeError as error:
        raise _not_utf8(raw, place, error.start) from None
    except RecursionError:
        raise _unreadable(f"the {place} is nested too deeply") from None
    except ValueError:
        raise _unreadable(f"the {place} is not JSON") from None
    return _message(value)


def id_by_ends(head: bytes, tail: bytes) -> types.RequestId | None:
    """The id of a request of which only both ends are known, as common libraries write it: first or last."""
    found = _FIRST.match(head) or (_METHOD_FIRST.match(head) and _LAST.search(tail))
    try:
        known: types.RequestId | None = orjson.loads(found[1]) if found else None
    except orjson.JSONDecodeError:
        return None
    return known


def _json(raw: bytes) -> Any:
    """Fast and strict; what that refuses or rounds is read once more: a lone surrogate is for the engine to name."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _slowly(raw)
    return _slowly(raw) if _LONG_NUMBER.search(raw) else value


def _slowly(raw: bytes) -> Any:
    return json.loads(raw.decode(), parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


def _message(value: Any) -> types.JSONRPCMessage:
    try:
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        raise Refused(
            refusal(types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", _id_of(value))
        ) from None
    if isinstance(message, types.JSONRPCNotification) and "id" in value:
        raise Refused(refusal(types.INVALID_REQUEST, "Invalid request: the id must be a string or an integer"))
    return message


def _id_of(value: Any) -> types.RequestId | None:
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _not_utf8(raw: bytes, place: str, offset: int) -> Refused:
    """A call whose text is damaged gets the envelope that Spec 4.7.1 demands; anything else gets a bare error."""
    try:
        message = _message(json.loads(raw.decode(errors="surrogateescape")))
    except (ValueError, RecursionError, Refused):
        message = None
    if isinstance(message, types.JSONRPCRequest) and message.method == "tools/call":
        return Refused(refused_call(message, bad_encoding(place, offset)))
    return _unreadable(f"the {place} is not UTF-8 from byte {offset} on")


def refused_call(message: types.JSONRPCRequest, error: AqlError) -> types.JSONRPCResponse:
    """The answer to a tool call that cannot reach the engine, in the form of those that it gives."""
    text = orjson.dumps(Failure(error.error).wire()).decode()
    result = {"resultType": "complete", **tool_result(text, is_error=False)}
    return types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)


def tool_result(text: str, *, is_error: bool, attachments: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """An envelope as the result of a tool call, in MCP's wire form, and after it what is sent beside it."""
    return {"content": [{"type": "text", "text": text}, *attachments], "isError": is_error}


def _unreadable(why: str) -> Refused:
    return Refused(refusal(types.PARSE_ERROR, f"Parse error: {why}"))


def refusal(code: int, message: str, request_id: types.RequestId | None = None) -> types.JSONRPCError:
    """A JSON-RPC error; without an id if the request had none that could be read."""
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))


def line_of(message: types.JSONRPCMessage) -> bytes:
    """The message as one line. A lone surrogate, which a client may have sent as an id, goes back as it came."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"
