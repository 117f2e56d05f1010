"""The wire of HTTP: whatever bytes come, a clear answer, and the server lives on."""

import http.client
import json

import pytest

from tests.server.mutations import mutated
from tests.server.processes import MODERN_META, PATIENCE, Serving, tool_call
from tests.server.requests import Answer, Caller, Era, caller, legacy, modern


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    found: Era = request.param
    return found


@pytest.fixture
def client(era: Era, http_server: Serving) -> Caller:
    return caller(era, http_server.port)


BODIES = {
    "not UTF-8": (b'{"jsonrpc":"2.0","\xff":1}', -32700, "Parse error: the body is not UTF-8 from byte 18 on"),
    "not JSON": (b"hello", -32700, "Parse error: the body is not JSON"),
    "nothing": (b"", -32700, "Parse error: the body is not JSON"),
    "cut off": (b'{"jsonrpc":"2.0",', -32700, "Parse error: the body is not JSON"),
    "deep": (b"[" * 50_000 + b"]" * 50_000, -32700, "Parse error: the body is nested too deeply"),
    "endless number": (b'{"a":%s}' % (b"9" * 5000), -32700, "Parse error: the body is not JSON"),
    "batch": (b"[]", -32600, "Invalid request: not a JSON-RPC 2.0 message"),
    "number": (b"5", -32600, "Invalid request: not a JSON-RPC 2.0 message"),
    "empty object": (b"{}", -32600, "Invalid request: not a JSON-RPC 2.0 message"),
}


@pytest.mark.parametrize(("body", "code", "message"), BODIES.values(), ids=BODIES)
def test_a_bad_body_gets_a_clear_error_and_the_server_lives_on(
    client: Caller, body: bytes, code: int, message: str
) -> None:
    answer = client.send(body, Mcp_Method="tools/call", Mcp_Name="mcp_aql_read")
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    assert client.call("get_echo", {"text": "alive"}).envelope["data"] == "alive"


def test_no_body_however_damaged_breaks_the_server(client: Caller) -> None:
    for body in mutated(200, seed=2):
        answer = client.send(body, Mcp_Method="tools/call", Mcp_Name="mcp_aql_read")
        assert answer.status < 500, body
        assert b"pydantic" not in answer.body


def test_a_body_that_is_too_large_is_refused(client: Caller) -> None:
    answer = client.send(b'"' + b"x" * 5_000_000 + b'"')
    assert (answer.status, answer.body) == (413, b"Request body too large")


@pytest.mark.parametrize(
    ("number", "code"),
    [(b"NaN", "VALIDATION_INVALID_VALUE"), (b"1e400", "VALIDATION_INVALID_VALUE"), (b'"x"', "VALIDATION_INVALID_TYPE")],
)
def test_values_that_cannot_be_meant_get_an_envelope(client: Caller, number: bytes, code: str) -> None:
    message = tool_call(1, "get_number", {"number": 0})
    if client.era == "modern":
        message["params"]["_meta"] = MODERN_META
    body = json.dumps(message).encode().replace(b'"number": 0', b'"number": ' + number)
    answer = client.send(body, Mcp_Method="tools/call", Mcp_Name="mcp_aql_read")
    assert answer.envelope["error"]["code"] == code


def test_a_lone_surrogate_is_refused_as_such_in_the_modern_era(http_server: Serving) -> None:
    message = tool_call("\ud800", "get_echo", {"text": "\ud800"})
    message["params"]["_meta"] = MODERN_META
    answer = modern(http_server.port).send(
        json.dumps(message).encode(), Mcp_Method="tools/call", Mcp_Name="mcp_aql_read"
    )
    assert answer.json["id"] == "\ud800"
    assert answer.envelope["error"]["code"] == "VALIDATION_INVALID_ENCODING"


def test_a_lone_surrogate_is_named_in_the_legacy_era_too(http_server: Serving) -> None:
    answer = legacy(http_server.port).send(json.dumps(tool_call(1, "get_echo", {"text": "\ud800"})).encode())
    envelope = json.loads(answer.json["result"]["content"][0]["text"])
    assert (answer.status, envelope["error"]["code"]) == (200, "VALIDATION_INVALID_ENCODING")


@pytest.mark.parametrize("arguments", ['"text"', "[1]", "7", "true"])
def test_arguments_that_are_no_object_get_an_envelope(client: Caller, arguments: str) -> None:
    answer = client.request("tools/call", {"name": "mcp_aql_read", "arguments": json.loads(arguments)})
    assert answer.status == 200
    assert answer.envelope["error"]["code"] == "VALIDATION_INVALID_TYPE"
    assert answer.message["result"]["_meta"]["headgate/sessionId"].startswith("sess_")


def test_a_wrong_message_of_the_right_form_keeps_the_sdks_own_words(http_server: Serving) -> None:
    answer = modern(http_server.port).send(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}', Mcp_Method="tools/list"
    )
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32602


def test_a_call_without_a_session_is_refused_for_that_whatever_its_text(http_server: Serving) -> None:
    headers = {name: value for name, value in legacy(http_server.port).headers.items() if name != "mcp-session-id"}
    answer = Caller(http_server.port, "legacy", headers).call("get_echo", {"text": "😀"})
    assert (answer.status, answer.json["error"]["message"]) == (400, "Bad Request: Missing session ID")


def test_a_client_of_the_newer_era_may_keep_its_name(http_server: Serving) -> None:
    answer = introduced(http_server, {})
    assert (answer.status, answer.envelope) == (200, {"success": True, "data": "hello"})


@pytest.mark.parametrize("name", [7, {}, {"name": "tests", "version": 1}], ids=repr)
def test_a_client_that_names_itself_wrongly_is_refused(http_server: Serving, name: object) -> None:
    answer = introduced(http_server, {"io.modelcontextprotocol/clientInfo": name})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def introduced(server: Serving, words: dict[str, object]) -> Answer:
    """A call of the newer era by a client that says this of itself, and nothing else but what it must."""
    must = {key: value for key, value in MODERN_META.items() if not key.endswith("clientInfo")}
    message = tool_call(1, "get_echo", {"text": "hello"})
    message["params"]["_meta"] = must | words
    return modern(server.port).send(json.dumps(message).encode(), Mcp_Method="tools/call", Mcp_Name="mcp_aql_read")


def test_a_body_of_another_type_is_refused(client: Caller) -> None:
    answer = client.send(b"hello", Content_Type="text/plain")
    assert (answer.status, answer.body) == (400, b"Invalid Content-Type header")


def test_an_answer_is_marked_as_an_error_only_if_the_caller_cannot_repair_it(client: Caller) -> None:
    assert client.call("get_echo").message["result"]["isError"] is False
    failed = client.execute("execute_fault").message["result"]
    assert failed["isError"] is True
    assert set(failed["_meta"]) >= {"headgate/requestId", "headgate/sessionId"}


def test_large_answers_arrive_whole(client: Caller) -> None:
    assert client.call("get_blob", {"size": 2_000_000}).envelope["data"] == "x" * 2_000_000


def test_progress_is_streamed(client: Caller) -> None:
    params = {
        "name": "mcp_aql_execute",
        "arguments": {"operation": "execute_steps", "params": {"count": 3}},
        "_meta": {"progressToken": "t"},
    }
    if client.era == "modern":
        params["_meta"] = {**MODERN_META, "progressToken": "t"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = client.send(json.dumps(message).encode(), Mcp_Method="tools/call", Mcp_Name="mcp_aql_execute")
    else:
        answer = client.request("tools/call", params)
    steps = [message["params"] for message in answer.messages if message.get("method") == "notifications/progress"]
    assert [(step["progressToken"], step["progress"], step["message"]) for step in steps] == [
        ("t", 1, "step 1"),
        ("t", 2, "step 2"),
        ("t", 3, "step 3"),
    ]
    assert answer.envelope["data"] == 3


def test_a_browser_is_told_where_it_is(http_server: Serving) -> None:
    client = Caller(http_server.port, "modern", {})
    assert client.send(b"", "GET", "/health").body == b"ok\n"
    assert client.send(b"", "GET", "/").body == (
        b"workshop: an MCP server that speaks MCP-AQL. Connect an MCP client to /mcp\n"
    )
    assert client.send(b"", "GET", "/elsewhere").status == 404


def test_what_is_no_http_does_not_end_the_server(http_server: Serving) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", http_server.port, timeout=PATIENCE)
    connection.connect()
    assert connection.sock
    connection.sock.sendall(b"\x16\x03\x01\x00\xff nonsense\r\n\r\n")
    assert b"400" in connection.sock.recv(1000)
    connection.close()
    assert modern(http_server.port).call("get_echo", {"text": "alive"}).envelope["data"] == "alive"


def test_requests_are_logged_in_a_line_each(http_server: Serving) -> None:
    modern(http_server.port).call("get_echo", {"text": "seen"})
    modern(http_server.port).call("get_ech\x1b[31mo\n", {})
    http_server.logged("get_echo                      ok  ")
    http_server.logged("get_ech[31mo                  NOT_FOUND_OPERATION")


def test_the_banner_says_what_is_served_and_where(http_server: Serving) -> None:
    assert http_server.log.seen[:2] == [
        "headgate: 'workshop' with 10 operations behind mcp_aql_read, mcp_aql_execute",
        f"  {http_server.url}",
    ]
