"""JSON-RPC in bytes: what is a message, what the answer is if it is none, and what goes out."""

import json
import math

import mcp_types as types
import pytest

from headgate.server.jsonrpc import Refused, line_of, read_message, refusal

UNREADABLE = {
    "not UTF-8": (b'{"jsonrpc":"2.0","method":"\xff"}', "the line is not UTF-8 from byte 27 on"),
    "UTF-16": ('{"jsonrpc":"2.0"}'.encode("utf-16"), "the line is not UTF-8 from byte 0 on"),
    "not JSON": (b"GET / HTTP/1.1", "the line is not JSON"),
    "cut off": (b'{"jsonrpc":"2.0","id":1', "the line is not JSON"),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', "the line is not JSON"),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":-Infinity}}', "the line is not JSON"),
    "byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', "the line is not JSON"),
    "null byte": (b"\x00", "the line is not JSON"),
    "endless number": (b'{"jsonrpc":"2.0","id":%s,"method":"x"}' % (b"9" * 5000), "the line is not JSON"),
    "too deep": (b"[" * 100_000 + b"]" * 100_000, "the line is nested too deeply"),
}


@pytest.mark.parametrize(("line", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_a_parse_error_that_says_why(line: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why) as refused:
        read_message(line, "line")
    error = refused.value.answer
    assert isinstance(error, types.JSONRPCError)
    assert (error.id, error.error.code, error.error.message) == (None, types.PARSE_ERROR, f"Parse error: {why}")


NO_MESSAGES = {
    "batch": (b"[]", None),
    "number": (b"42", None),
    "empty": (b"{}", None),
    "older version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', 7),
    "params that are a list": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}', "a"),
    "an id that is no id": (b'{"jsonrpc":"2.0","id":[],"result":{}}', None),
    "truth as id": (b'{"jsonrpc":"3.0","id":true}', None),
}


@pytest.mark.parametrize(("line", "request_id"), NO_MESSAGES.values(), ids=NO_MESSAGES)
def test_json_that_is_no_message_is_an_invalid_request_with_the_id_if_there_is_one(
    line: bytes, request_id: object
) -> None:
    with pytest.raises(Refused, match=r"not a JSON-RPC 2\.0 message") as refused:
        read_message(line, "line")
    error = refused.value.answer
    assert isinstance(error, types.JSONRPCError)
    assert (error.error.code, error.id) == (types.INVALID_REQUEST, request_id)


@pytest.mark.parametrize("request_id", ["1.5", "null", "true", "{}"])
def test_a_request_with_a_wrong_id_is_not_mistaken_for_a_notification(request_id: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":{request_id},"method":"tools/list"}}'.encode()
    with pytest.raises(Refused, match="the id must be a string or an integer"):
        read_message(line, "line")


def test_integers_are_read_exactly_however_long() -> None:
    huge = 123456789012345678901234567890
    message = read_message(b'{"jsonrpc":"2.0","id":%d,"method":"x","params":{"n":-%d}}' % (huge, huge), "line")
    assert isinstance(message, types.JSONRPCRequest)
    assert message.id == huge
    assert message.params == {"n": -huge}


def test_a_lone_surrogate_is_left_for_the_engine_to_name() -> None:
    message = read_message(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"\\ud800"}}', "line")
    assert isinstance(message, types.JSONRPCRequest)
    assert message.params == {"text": "\ud800"}


def test_a_number_that_no_float_can_hold_is_infinite_and_for_the_engine_to_name() -> None:
    message = read_message(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1e400}}', "line")
    assert isinstance(message, types.JSONRPCRequest)
    assert message.params is not None
    assert math.isinf(message.params["n"])


def test_an_answer_is_one_line() -> None:
    line = line_of(types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "a\nb\u2028ü"}))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["result"] == {"text": "a\nb\u2028ü"}


def test_an_error_for_no_request_in_particular_has_the_id_null() -> None:
    assert json.loads(line_of(refusal(types.PARSE_ERROR, "Parse error"))) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "Parse error"},
    }


def test_a_lone_surrogate_goes_back_as_it_came() -> None:
    line = line_of(types.JSONRPCResponse(jsonrpc="2.0", id="\ud800", result={}))
    assert line.isascii()
    assert json.loads(line)["id"] == "\ud800"


CALL = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":{"a":"\xff"}}}'


def test_a_call_whose_text_is_damaged_gets_an_envelope_with_the_place() -> None:
    with pytest.raises(Refused) as refused:
        read_message(CALL, "body")
    answer = refused.value.answer
    assert isinstance(answer, types.JSONRPCResponse)
    error = json.loads(answer.result["content"][0]["text"])["error"]
    assert (answer.id, answer.result["isError"]) == (7, False)
    assert (error["code"], error["details"]) == (
        "VALIDATION_INVALID_ENCODING",
        {"location": "body", "byte_offset": CALL.index(b"\xff")},
    )
