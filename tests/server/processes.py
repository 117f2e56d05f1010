"""Programs as a user starts them: a server on a port or on pipes, and commands that end."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from tests.support import ROOT

T = TypeVar("T")

HEADGATE = str(Path(sys.executable).with_name("headgate"))
WORKSHOP = "tests.server.workshop:workshop"
LIBRARY = f"{ROOT / 'examples' / 'town_library.py'}:adapter"
"""Made anew each time it is loaded."""
PATIENCE = 60.0
"""Seconds after which whatever was waited for will not come."""

_OURS = ("HEADGATE_", "MCP_AQL_", "MCPAQL_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child: this one without settings of ours, and with the tests importable."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**plain, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), **(more or {})}


def until(condition: Callable[[], T], what: str = "it", seconds: float = PATIENCE) -> T:
    """What the condition gives once that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come about in {seconds} s"
        time.sleep(0.01)
    return found


def run(*words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [HEADGATE, *words],
        input="",
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


class Lines:
    """The lines of a stream, read as they come."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.seen: list[str] = []
        self._new: queue.Queue[bytes] = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.seen.append(line.decode(errors="replace").rstrip("\n"))
            self._new.put(line)
        self._new.put(b"")

    def next(self, seconds: float = PATIENCE) -> bytes:
        """The next line; nothing at the end."""
        return self._new.get(timeout=seconds)

    @property
    def text(self) -> str:
        """All that has come, once no more will come."""
        self._thread.join(PATIENCE)
        return "\n".join(self.seen)


@dataclass
class Serving:
    """A running ``headgate serve``."""

    process: subprocess.Popen[bytes]
    log: Lines
    url: str = ""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(PATIENCE)

    def logged(self, text: str) -> str:
        """Wait for a line of the log that holds a text."""
        return until(lambda: next((line for line in self.log.seen if text in line), ""), f"the line '{text}'")


@contextmanager
def _started(words: tuple[str, ...], env: Mapping[str, str] | None, cwd: Path | None) -> Iterator[Serving]:
    with subprocess.Popen(
        [HEADGATE, "serve", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
        cwd=cwd,
    ) as process:
        assert process.stderr
        try:
            yield Serving(process, Lines(process.stderr))
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


@contextmanager
def serve_http(
    *words: str, port: int = 0, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Serving]:
    """A server on loopback, ready to be called: on a free port that it tells, or on a given one."""
    with _started((*words, "--http", f"127.0.0.1:{port}"), env, cwd) as serving:

        def address() -> str:
            assert serving.process.poll() is None, serving.log.text
            if port:
                return f"http://127.0.0.1:{port}/mcp" if is_listening(port) else ""
            found = re.search(r"^  (http://127\.0\.0\.1:\d+/mcp)$", "\n".join(serving.log.seen), re.MULTILINE)
            return found.group(1) if found else ""

        serving.url = until(address, "the server")
        yield serving


def is_listening(port: int) -> bool:
    """Whether a connection to that port of loopback is taken."""
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
}
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
MODERN_META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tool_call(
    request_id: object, operation: str, params: Mapping[str, Any] | None = None, *, tool: str = "mcp_aql_read"
) -> dict[str, Any]:
    """A JSON-RPC request that calls an operation."""
    arguments: dict[str, Any] = {"operation": operation, "params": dict(params or {})}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def lines(*messages: bytes | Mapping[str, Any]) -> bytes:
    """Messages as lines: bytes as they are, others as JSON."""
    return b"".join(
        message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n" for message in messages
    )


@dataclass(frozen=True)
class Pipes:
    """A server on pipes, and the bytes that go through them."""

    serving: Serving
    answers: Lines

    @property
    def process(self) -> subprocess.Popen[bytes]:
        return self.serving.process

    def send(self, *messages: bytes | Mapping[str, Any]) -> None:
        """Write lines."""
        assert self.process.stdin
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message of the server."""
        line = self.answers.next()
        assert line, f"the server has ended: {self.serving.log.text}"
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def answer(self, request_id: object) -> dict[str, Any]:
        """The answer to a request, whatever comes before it."""
        while (message := self.receive()).get("id") != request_id or "method" in message:
            pass
        return message

    def envelope(self, request_id: object) -> dict[str, Any]:
        """The envelope in the answer to a tool call."""
        envelope = json.loads(self.answer(request_id)["result"]["content"][0]["text"])
        assert isinstance(envelope, dict)
        return envelope

    def is_alive(self) -> bool:
        """Whether the server still answers."""
        self.send({"jsonrpc": "2.0", "id": "alive?", "method": "ping"})
        return bool(self.answer("alive?")["result"] == {})

    def close(self) -> None:
        """End the input."""
        assert self.process.stdin
        self.process.stdin.close()

    def ended(self) -> int:
        """The exit code, once the server has ended by itself."""
        return self.process.wait(PATIENCE)


@contextmanager
def serve_pipes(
    *words: str, source: str = WORKSHOP, greet: bool = True, env: Mapping[str, str] | None = None
) -> Iterator[Pipes]:
    """A server on pipes; with the handshake of the legacy era, unless told otherwise."""
    with _started((source, *words), env, None) as serving:
        assert serving.process.stdout
        pipes = Pipes(serving, Lines(serving.process.stdout))
        if greet:
            pipes.send(INITIALIZE, INITIALIZED)
            assert pipes.answer("hello")["result"]["serverInfo"]
        yield pipes
