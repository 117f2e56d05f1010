"""Servers with a console and other channels beside them, as real processes: over HTTP, on pipes, and on a terminal."""

import json
import os
import re
import shlex
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from headgate.console.signing_in import sign_in
from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.cli.starting import console_of, seen_in_console
from tests.cli.states import in_store, rows_of
from tests.safety.supervising import DEADLY
from tests.server.processes import (
    INITIALIZE,
    INITIALIZED,
    LIBRARY,
    Pipes,
    is_listening,
    serve_http,
    serve_pipes,
    tool_call,
    until,
)

ON = ("--console", "127.0.0.1:0")
FREE = '[autonomy]\nmode = "enforcing"\nstart = "free"\n'
CODE = re.compile(r"(?:[2-9A-HJKMNP-TV-Z]{4}-){6}[2-9A-HJKMNP-TV-Z]{4}")


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "state.db")


def link_by(shell: Shell, command: str) -> str:
    """The link that a command prints which the server has named."""
    words = shlex.split(command)
    assert words[0] == "headgate"
    done = shell(*words[1:])
    assert done.code == 0, done.err
    return done.out.strip()


# the console


def test_beside_http_there_is_a_console_with_the_operations_of_the_server(shell: Shell, state: str) -> None:
    with serve_http(LIBRARY, *ON, "--state", state) as serving:
        url, command = console_of(serving)
        where = url.removeprefix("http://")
        assert command == f"headgate console --link --listen {where} --state {state}"
        assert "list_members" in seen_in_console(link_by(shell, command), "/operations")
        assert serving.stop() == 0
    assert "/sign-in/" not in serving.log.text
    assert "Traceback" not in serving.log.text


def test_beside_pipes_the_console_is_there_and_only_messages_are_on_them(shell: Shell, state: str) -> None:
    hello = json.loads(json.dumps(INITIALIZE))
    hello["params"]["capabilities"] = {"elicitation": {"url": {}}}
    words = (*ON, "--safety-loop", "enforcing", "--state", state, "--log-level", "debug")
    with serve_pipes(*words, greet=False) as pipes:
        url, command = console_of(pipes.serving)
        pipes.send(hello, INITIALIZED)
        assert pipes.answer("hello")["result"]
        assert "get_echo" in seen_in_console(link_by(shell, command), "/operations")
        pipes.send(tool_call(1, "get_noise"), tool_call(2, "get_echo", {"text": "still here"}))
        assert pipes.envelope(2)["data"] == "still here"
        page = _page_opened(pipes)
        pipes.close()
        assert pipes.ended() == 0
    assert page.startswith(f"{url}/")  # at the port that was found, not at the 0 that was asked for
    assert not url.endswith(":0")
    for line in pipes.answers.seen:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert not is_listening(int(url.rpartition(":")[2]))
    assert "Traceback" not in pipes.serving.log.text


def _page_opened(pipes: Pipes) -> str:
    """The page that a host is asked to open when a person must approve, as its user cancels that."""
    pipes.send(tool_call(3, "execute_agent", {"element_name": "bot"}, tool="mcp_aql_execute"))
    while (asked := pipes.receive()).get("method") != "elicitation/create":
        pass
    pipes.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "cancel"}})
    assert pipes.envelope(3)["success"] is False
    return str(asked["params"]["url"])


def test_on_a_terminal_the_operator_gets_a_link(state: str) -> None:
    words = ("serve", LIBRARY, "--http", "127.0.0.1:0", *ON, "--state", state)
    with dialogue(*words, columns=200) as terminal:
        terminal.wait_for("/mcp")
        found = re.search(r"ten minutes:\n  (http://127\.0\.0\.1:\d+/sign-in/\S+)\n", terminal.text)
        assert found, terminal.text
        assert "list_members" in seen_in_console(found[1], "/operations")
        terminal.interrupt()
        assert terminal.ended() == 0
    secret = found[1].rpartition("/")[2]
    assert in_store(state, lambda store: sign_in(store, secret, time.time)) is None  # it counts once


# other channels


class _Hook(BaseHTTPRequestHandler):
    """Takes everything, and keeps it."""

    got: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.got.append({"authorization": self.headers["authorization"], **json.loads(body)})
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A receiver, and what it has got."""
    handler = type("Hook", (_Hook,), {"got": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook/s3cret", handler.got  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()


def _zenity(folder: Path) -> Mapping[str, str]:
    """A stand-in for zenity, since there is no display: it keeps what it reads, and stays open."""
    program = folder / "zenity"
    program.write_text('#!/bin/sh\ncd "$(dirname "$0")"\ncat > read\nmv read shown\nexec sleep 600\n')
    program.chmod(0o755)
    return {"DISPLAY": ":0", "PATH": f"{folder}:{os.environ['PATH']}"}


def _blocked(pipes: Pipes) -> str:
    """Have an agent blocked; the id of its challenge."""
    pipes.send(tool_call(1, "execute_agent", {"element_name": "bot"}, tool="mcp_aql_execute"))
    assert pipes.envelope(1)["success"]
    step = {"element_name": "bot", "next_action_hint": DEADLY}
    pipes.send(tool_call(2, "record_execution_step", step, tool="mcp_aql_create"))
    directive = pipes.envelope(2)["data"]["directive"]
    return str(directive["notifications"][-1]["metadata"]["verificationId"])


def test_every_channel_shows_a_code_and_one_that_hangs_hurts_nobody(shell: Shell, state: str, tmp_path: Path) -> None:
    """A webhook, a dialog that nobody closes, and a mail server that never answers, beside one server on pipes."""
    (tmp_path / "policy.toml").write_text(FREE)
    with webhook() as (url, got), _silent() as port:
        env = {
            **_zenity(tmp_path),
            "HEADGATE_NOTIFY": f"{url} desktop mailto:ana@example.org",
            "HEADGATE_WEBHOOK_TOKEN": "b3arer",
            "HEADGATE_SMTP": f"smtp://ana:p4ssword@127.0.0.1:{port}",
        }
        guards = ("--policy", str(tmp_path / "policy.toml"), "--state", state, "--log-level", "debug")
        with serve_pipes(*guards, env=env) as pipes:
            challenge_id = _blocked(pipes)
            until((tmp_path / "shown").exists, "the dialog")
            shown = (tmp_path / "shown").read_text()
            until(lambda: got, "the webhook")
            until(lambda: _channels(state) >= {"desktop", "mail", "webhook"}, "all channels")
            assert pipes.is_alive()
            [code] = CODE.findall(shown)
            assert f"headgate verify {challenge_id} --state {state}" in shown
            assert (got[0]["challenge_id"], got[0]["authorization"]) == (challenge_id, "Bearer b3arer")
            assert got[0]["code"] != code
            assert shell("verify", challenge_id, "--state", state, given=code).code == 0
            step = {"element_name": "bot", "next_action_hint": DEADLY}
            pipes.send(tool_call(3, "record_execution_step", step, tool="mcp_aql_create"))
            assert pipes.envelope(3)["data"]["directive"]["continue"] is True
            pipes.close()
            assert pipes.ended() == 0
    everything = "\n".join((pipes.serving.log.text, *pipes.answers.seen))
    assert CODE.findall(everything) == []
    for secret in (code, got[0]["code"], "s3cret", "b3arer", "p4ssword"):
        assert secret not in everything


def _channels(state: str) -> set[object]:
    shown = (row.entry.details for row in rows_of(state) if row.entry.event == "code shown")
    return {details["channel"] for details in shown}


@contextmanager
def _silent() -> Iterator[int]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
