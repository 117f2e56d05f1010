"""What tools answer is what operations answer: every kind of content, nothing lost, and errors with codes."""

import json
from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
import pytest

from headgate import connect
from headgate.client.wires import Era
from headgate.engine.pipeline import Engine, EngineOptions
from headgate.protocol.limits import Limits
from tests.sources.mcp.opening import Opened, lines, opened

pytestmark = pytest.mark.anyio

PICTURE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "bGE=", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///a.txt", "name": "a"}
FILE = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "words"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///a.bin", "mimeType": "application/x", "blob": "AAAA"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Opened]:
    async with opened(lines()) as found:
        yield found


def result(*content: Any, **more: Any) -> str:
    return json.dumps({"content": list(content), **more})


DATA = {
    "an object": (result(text('{"a": [1, {"b": null}]}')), {"a": [1, {"b": None}]}),
    "an array": (result(text(" [1, 2]\n")), [1, 2]),
    "plain text": (result(text("hello")), "hello"),
    "a bare number": (result(text("12")), "12"),
    "a bare word": (result(text("true")), "true"),
    "what only begins like JSON": (result(text("[note] hello")), "[note] hello"),
    "no numbers of JSON": (result(text("[NaN, 12345678901234567890]")), "[NaN, 12345678901234567890]"),
    "an empty text": (result(text("")), ""),
    "a big number": (result(text('{"n": 123456789012345678901234567890}')), {"n": "123456789012345678901234567890"}),
    "numbers within what all can hold": (result(text("[9007199254740991]")), [9007199254740991]),
    "nothing": (result(), None),
    "structured content that a text repeats": (result(text('{"n": 1}'), structuredContent={"n": 1}), {"n": 1}),
    "structured content that texts repeat in parts": (
        result(text("one"), text("two"), structuredContent={"result": ["one", "two"]}),
        {"result": ["one", "two"]},
    ),
    "structured content alone": ('{"structuredContent": {"n": 1}}', {"n": 1}),
    "structured content and more": (
        result(text("see"), structuredContent={"n": 1}),
        {"structured": {"n": 1}, "content": [text("see")]},
    ),
    "structured content with a big number": (
        result(structuredContent={"n": 2**70}),
        {"n": "1180591620717411303424"},
    ),
    "several texts": (result(text("a"), text("[1]")), {"content": [text("a"), text("[1]")]}),
    "a text that is for somebody": (
        result(text("[1]", annotations={"audience": ["user"]})),
        {"content": [text("[1]", annotations={"audience": ["user"]})]},
    ),
    "a text with marks of its own": (
        result(text("[1]", _meta={"x/y": 1})),
        {"content": [text("[1]", _meta={"x/y": 1})]},
    ),
    "a text with empty marks": (result(text("[1]", annotations=None, _meta={})), [1]),
    "a picture": (result(PICTURE), {"content": [PICTURE]}),
    "a sound": (result(text("la"), SOUND), {"content": [text("la"), SOUND]}),
    "a link": (result(LINK), {"content": [LINK]}),
    "a file": (result(FILE), {"content": [FILE]}),
    "a file of bytes": (result(BLOB), {"content": [BLOB]}),
    "a kind that nobody knows yet": (result({"type": "hologram", "x": 1}), {"content": [{"type": "hologram", "x": 1}]}),
    "the marks of the whole": (result(text("hello"), _meta={"x/y": 1}), "hello"),
}


@pytest.mark.parametrize(("given", "data"), DATA.values(), ids=DATA)
async def test_data_is_what_the_tool_gave(server: Opened, given: str, data: object) -> None:
    assert await server.call("give", {"text": given}) == {"success": True, "data": data}


async def test_a_text_too_deep_to_be_written_again_stays_text(server: Opened) -> None:
    deep = "[" * 180 + "]" * 180
    wide = json.dumps([[]] * 180)
    assert await server.data("give", text=result(text(deep))) == deep
    assert await server.data("give", text=result(text(wide))) == [[]] * 180


BESIDE = {
    "a picture": (
        result(PICTURE),
        {"content": [{"type": "image", "mimeType": "image/png", "attachment": 1}]},
        [PICTURE],
    ),
    "several, in order": (
        result(text("see"), PICTURE, LINK, BLOB, SOUND),
        {
            "content": [
                text("see"),
                {"type": "image", "mimeType": "image/png", "attachment": 1},
                LINK,
                {
                    "type": "resource",
                    "resource": {"uri": "file:///a.bin", "mimeType": "application/x"},
                    "attachment": 2,
                },
                {"type": "audio", "mimeType": "audio/wav", "attachment": 3},
            ]
        },
        [PICTURE, BLOB, SOUND],
    ),
    "with structured content": (
        result(PICTURE, structuredContent={"n": 1}),
        {"structured": {"n": 1}, "content": [{"type": "image", "mimeType": "image/png", "attachment": 1}]},
        [PICTURE],
    ),
    "nothing to show": (result(text("a"), FILE), {"content": [text("a"), FILE]}, []),
}


@pytest.mark.parametrize(("given", "data", "parts"), BESIDE.values(), ids=BESIDE)
async def test_what_a_host_can_show_stands_beside_the_text(
    server: Opened, given: str, data: object, parts: list[object]
) -> None:
    reply = await server.engine.call({"operation": "give", "params": {"text": given}}, attaches=True)
    assert json.loads(reply.text) == {"success": True, "data": data}
    assert list(reply.attachments) == parts


async def test_in_a_batch_everything_stands_inside_the_data(server: Opened) -> None:
    one = {"operation": "give", "params": {"text": result(PICTURE)}}
    reply = await server.engine.call({"operations": [one, one]}, attaches=True)
    assert reply.attachments == ()
    assert [done["result"]["data"] for done in json.loads(reply.text)["results"]] == [{"content": [PICTURE]}] * 2


@pytest.mark.parametrize("attaches", [False, True], ids=["inside", "beside"])
async def test_the_limit_of_an_answer_counts_what_stands_beside_it(server: Opened, attaches: bool) -> None:
    engine = Engine(server.adapter, EngineOptions(limits=Limits(max_response_size=2**20)))
    reply = await engine.call({"operation": "get_picture", "params": {"size": 2**20}}, attaches=attaches)
    assert json.loads(reply.text)["error"]["code"] == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert reply.attachments == ()
    reply = await engine.call({"operation": "get_picture", "params": {"size": 2**20 - 1000}}, attaches=attaches)
    assert json.loads(reply.text)["success"]


FAILURES = {
    "a rate limit": ("Too Many Requests, slow down", "RATE_LIMIT_EXCEEDED"),
    "wrong arguments": ("Invalid arguments for tool read", "VALIDATION_INVALID_VALUE"),
    "a file that is there": ("EEXIST: file already exists, mkdir '/x'", "CONFLICT_ALREADY_EXISTS"),
    "a file that is not there": ("ENOENT: no such file or directory, open '/x'", "NOT_FOUND_RESOURCE"),
    "a thing that is not there": ("There is no such note", "NOT_FOUND_RESOURCE"),
    "a closed door": ("Access denied - path outside allowed directories", "PERMISSION_DENIED"),
    "anything else": ("it broke", "INTERNAL_ERROR"),
    "no words": ("", "INTERNAL_ERROR"),
}


@pytest.mark.parametrize(("words", "code"), FAILURES.values(), ids=FAILURES)
async def test_a_tool_that_fails_is_a_failure_with_its_own_words(server: Opened, words: str, code: str) -> None:
    error = await server.error("give", text=result(text(words), isError=True))
    assert error["code"] == code
    assert error["details"]["upstream"] == words
    assert (error["details"]["source"], error["details"]["tool"]) == ("lines", "give")
    assert words not in error["message"] or not words, "a foreign text is no message of ours"


async def test_a_failure_keeps_data_and_pictures_in_its_details(server: Opened) -> None:
    error = await server.error("give", text=result(text('{"why": 7}'), isError=True))
    assert error["details"]["upstream"] == {"why": 7}
    error = await server.error("give", text=result(text("not found"), PICTURE, isError=True))
    assert (error["code"], error["details"]["upstream"]) == (
        "NOT_FOUND_RESOURCE",
        {"content": [text("not found"), PICTURE]},
    )


async def test_only_a_plain_true_makes_a_failure(server: Opened) -> None:
    assert await server.data("give", text=result(text("fine"), isError=False)) == "fine"


NO_RESULTS = {
    "no content": "{}",
    "content that is no list": '{"content": {"type": "text"}}',
    "content that is a text": '{"content": "hello"}',
    "blocks that are none": '{"content": ["hello"]}',
    "a block without a type": '{"content": [{"text": "hello"}]}',
    "a text that is none": '{"content": [{"type": "text", "text": 5}]}',
    "a text without words": '{"content": [{"type": "text"}]}',
    "a picture without its kind": '{"content": [{"type": "image", "data": "AAAA"}]}',
    "a picture with odd annotations": (
        '{"content": [{"type": "image", "data": "A", "mimeType": "a/b", "annotations": {"audience": "robots"}}]}'
    ),
    "a file that is none": '{"content": [{"type": "resource", "resource": 7}]}',
    "a failure that is none": '{"content": [7], "isError": true}',
}


@pytest.mark.parametrize("given", NO_RESULTS.values(), ids=NO_RESULTS)
async def test_what_is_no_result_is_said_to_be_unreadable(server: Opened, given: str) -> None:
    error = await server.error("give", text=given)
    assert error["code"] == "SERIALIZATION_PARSE_ERROR"
    assert "'lines'" in error["message"]
    assert await server.data("echo", value=1) == {"value": 1}, "the next call is none the worse"


NEST = "[" * 3000 + "]" * 3000
ROOMS = '{"a":' * 980 + "1" + "}" * 980
LINES = {
    "half of a pair in a text": r'{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"\ud800"}]}}',
    "a result that is no object": '{"jsonrpc":"2.0","id":%ID%,"result":7}',
    "neither a result nor an error": '{"jsonrpc":"2.0","id":%ID%}',
    "an error that is none": '{"jsonrpc":"2.0","id":%ID%,"error":"no"}',
    "deeper than is read": f'{{"jsonrpc":"2.0","result":{{"content":[],"a":{NEST}}},"id":%ID%}}',
    "as deep with brackets in texts": f'{{"jsonrpc":"2.0","x\\"}}":"]","id":%ID%,"result":{{"a":{NEST}}}}}',
    "deeper than is compared": (
        '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":'
        + ROOMS
        + "}}"
    ),
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
async def test_an_answer_that_cannot_be_read_ends_the_wait_for_it(server: Opened, line: str) -> None:
    error = await server.error("show_line", line=line)
    assert error["code"] == "SERIALIZATION_PARSE_ERROR"


async def test_noise_between_messages_is_no_harm(server: Opened) -> None:
    noise = 'Server ready!\n\n{"loading": true}\n[]\n{"jsonrpc":"2.0","id":null,"result":{}}\n'
    answer = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"fine"}]}}'
    assert await server.data("show_line", line=noise + answer) == "fine"


CODES = {
    -32602: ("VALIDATION_INVALID_VALUE", "Parameters refused by 'lines': too long"),
    -32601: ("NOT_FOUND_RESOURCE", "Tool 'fail' not found in 'lines': too long"),
    -32603: ("INTERNAL_ERROR", "Internal error: 'lines refuses the request'"),
    -32700: ("SERIALIZATION_PARSE_ERROR", "The answer of 'lines' is not one of MCP, and cannot be read"),
    -32000: ("INTERNAL_ERROR", "Internal error: 'lines refuses the request'"),
    12345: ("INTERNAL_ERROR", "Internal error: 'lines refuses the request'"),
}


@pytest.mark.parametrize("number", CODES)
async def test_an_error_of_the_protocol_has_a_code_and_its_words(server: Opened, number: int) -> None:
    error = await server.error("fail", code=number, message="too long")
    assert (error["code"], error["message"]) == CODES[number]


async def test_a_server_may_refuse_in_the_words_of_a_broken_connection(server: Opened) -> None:
    error = await server.error("fail", code=types.CONNECTION_CLOSED, message="Connection closed")
    assert error["code"] == "INTERNAL_ERROR"
    assert error["details"]["upstream_error"] == "Connection closed"


async def test_words_like_a_trace_stay_out_of_the_message(server: Opened) -> None:
    error = await server.error("fail", code=-32602, message="ValueError at /src/secret.py \x1b[31mred")
    assert error["message"] == "Parameters refused by 'lines'"
    assert error["details"]["upstream_error"] == "ValueError at /src/secret.py red"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_what_tools_answer_reaches_a_client_in_the_same_process(server: Opened, era: Era) -> None:
    """The client waits for an answer, and so does the server that its request has reached."""
    async with connect(server.adapter, era=era) as aql:
        assert await aql.call("echo", value=[1]) == {"value": [1]}
