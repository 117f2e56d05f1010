"""``headgate serve``: options and environment variables reach the server."""

import json
import logging
import shlex
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from headgate import Adapter, mcp_server
from headgate.cli.running import _announce
from headgate.server.addresses import Address
from tests.cli.commands import Shell
from tests.server.processes import (
    HEADGATE,
    LIBRARY,
    PATIENCE,
    environment,
    serve_http,
    serve_pipes,
    tool_call,
    until,
)
from tests.server.requests import modern

VARIABLES: dict[str, tuple[dict[str, str], list[str]]] = {
    "single": ({"MCP_AQL_ENDPOINT_MODE": "single"}, ["mcp_aql"]),
    "prefix and profile": (
        {"MCP_AQL_TOOL_PREFIX": "ws_", "MCP_AQL_ENDPOINT_PROFILE": "discover"},
        ["ws_mcp_aql_discover", "ws_mcp_aql_query", "ws_mcp_aql_operate"],
    ),
    "empty means default": (
        {"MCP_AQL_ENDPOINT_MODE": "", "MCP_AQL_ENDPOINT_PROFILE": "", "MCP_AQL_TOOL_PREFIX": "", "HEADGATE_HTTP": ""},
        ["mcp_aql_read", "mcp_aql_execute"],
    ),
}


@pytest.mark.parametrize(("variables", "tools"), VARIABLES.values(), ids=VARIABLES)
def test_variables_of_the_environment_choose_the_tools(variables: dict[str, str], tools: list[str]) -> None:
    with serve_pipes(env=variables) as pipes:
        pipes.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert [tool["name"] for tool in pipes.answer(1)["result"]["tools"]] == tools


def test_the_command_line_wins_over_the_environment_and_every_option_arrives() -> None:
    options = (
        *("--mode", "all", "--max-request-size", "65536", "--max-response-size", "1048576"),
        *("--max-string-length", "65537", "--max-array-elements", "100", "--max-nesting-depth", "8"),
        *("--concurrency", "serialized", "--max-concurrent-requests", "3", "--index-tokens", "0"),
        *("--structured-content", "--dev"),
    )
    env = {"MCP_AQL_ENDPOINT_MODE": "single", "HEADGATE_MAX_NESTING_DEPTH": "9"}
    with serve_pipes(*options, env=env) as pipes:
        pipes.send(tool_call(1, "introspect", {"query": "operations"}), tool_call(2, "get_echo", {"text": "x", "y": 1}))
        pipes.send({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        answers = {message["id"]: message["result"] for message in (pipes.receive(), pipes.receive(), pipes.receive())}
    protocol = answers[1]["structuredContent"]["data"]["_protocol"]
    assert protocol["mode"] == "all"
    assert protocol["limits"] == {
        "max_request_size": 65536,
        "max_response_size": 1048576,
        "max_string_length": 65537,
        "max_array_elements": 100,
        "max_nesting_depth": 8,
    }
    assert (protocol["concurrency"], protocol["max_concurrent_requests"]) == ("serialized", 3)
    assert json.loads(answers[2]["content"][0]["text"])["warnings"][0]["code"]
    assert len(answers[3]["tools"]) == 3
    assert "Operations:" not in answers[3]["tools"][0]["description"]


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("MCP_AQL_ENDPOINT_MODE", "semantc", "Did you mean 'semantic'?"),
        ("MCP_AQL_ENDPOINT_PROFILE", "crdue", "Did you mean 'crude'?"),
        ("MCP_AQL_TOOL_PREFIX", "hub", "end with an underscore"),
        (
            "HEADGATE_MAX_NESTING_DEPTH",
            "deep",
            'HEADGATE_MAX_NESTING_DEPTH from env: unable to convert "deep" into a whole',
        ),
        ("HEADGATE_DEV", "perhaps", 'HEADGATE_DEV from env: unable to convert "perhaps" into true or false.'),
    ],
)
def test_a_wrong_variable_stops_the_start(shell: Shell, variable: str, value: str, message: str) -> None:
    done = shell("serve", env={variable: value})
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_the_demo_says_what_to_try_and_that_works(shell: Shell) -> None:
    with serve_http() as serving:
        serving.logged("try in another terminal:")
        until(lambda: len(serving.log.seen) >= 7, "four commands")
        commands = [shlex.split(line) for line in serving.log.seen[3:7]]
        assert [words[0] for words in commands] == [HEADGATE] * 4
        for words in commands:
            hurry = ("seconds=0",) if "execute_stocktaking" in words else ()
            done = shell(*words[1:], *hurry)
            assert (done.code, bool(done.out)) == (0, True)
        serving.logged("search_books                  ok  ")


def test_a_quiet_server_says_nothing_but_what_is_wrong() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with serve_http(LIBRARY, "--log-level", "error", port=port) as serving:
        assert modern(port).call("list_members").envelope["success"] is True
        assert serving.stop() == 0
    assert serving.log.text == ""


def announced(caplog: pytest.LogCaptureFixture, host: str, **more: bool) -> list[str]:
    caplog.set_level(logging.INFO, "headgate")
    _announce(mcp_server(Adapter("shelf")), Address(host, 80), **{"is_open": True, "is_demo": False, **more})
    return [record.getMessage() for record in caplog.records]


def test_a_server_that_all_may_call_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert announced(caplog, "192.0.2.7") == [
        "'shelf' with 1 operations behind mcp_aql_read\n  http://192.0.2.7:80/mcp",
        "anybody who can reach 192.0.2.7:80 may call: add --tokens or --oauth-issuer",
    ]


@pytest.mark.parametrize(("host", "is_open"), [("127.0.0.1", True), ("192.0.2.7", False)])
def test_one_that_is_guarded_or_on_this_machine_alone_does_not(
    caplog: pytest.LogCaptureFixture, host: str, is_open: bool
) -> None:
    assert len(announced(caplog, host, is_open=is_open)) == 1


def test_interrupting_a_command_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with subprocess.Popen(
        [HEADGATE, "call", "execute_nap", "-s", "slow.py"], stderr=subprocess.PIPE, env=environment(), cwd=tmp_path
    ) as process:
        until((tmp_path / "begun").exists, "the handler")
        process.send_signal(signal.SIGINT)
        assert process.stderr
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 130


SLOW = '''
from pathlib import Path
import anyio
from headgate import Adapter

slow = Adapter("slow")

@slow.execute
async def execute_nap() -> None:
    """Sleep."""
    Path("begun").touch()
    await anyio.sleep_forever()
'''
