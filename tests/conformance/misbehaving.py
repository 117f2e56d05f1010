"""Servers that break below the protocol: processes by the word they are started with, and listeners on a port."""

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["LISTENERS", "PROCESSES", "listening", "refuses_what_is_large", "started"]

HUGE = 60_000_000


def started(word: str) -> list[str]:
    """The words of a command that starts such a server; it imports nothing of ours."""
    return [sys.executable, "-S", str(Path(__file__)), word]


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _asked() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            yield message


def _greeting(message: dict[str, Any]) -> dict[str, Any] | None:
    """What a good server answers to the first two requests."""
    if message["method"] == "initialize":
        info = {"name": "misbehaving", "version": "1"}
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": [{"name": "mcp_aql_read", "inputSchema": {"type": "object"}}]}
    return None


def _answer(message: dict[str, Any], result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _served(then: Callable[[dict[str, Any], int], None]) -> None:
    """Greet as one should, and do something else with everything after that."""
    for number, message in enumerate(_asked(), 1):
        greeting = _greeting(message)
        if greeting is not None:
            _say(_answer(message, greeting))
        else:
            then(message, number)


def _never() -> None:
    for _ in sys.stdin:
        pass


def _die() -> None:
    sys.stderr.write("cannot open the configuration of the shop\n")
    raise SystemExit(3)


def _die_with_a_trace() -> None:
    places = "".join(f"    at step{number} (shop.js:{number}:1)\n" for number in range(20))
    sys.stderr.write(f"shop.js:1\nError: Cannot find module 'till'\n{places}}}\n\nShop.js v20.1.0\n")
    raise SystemExit(1)


def _die_with_wishes() -> None:
    sys.stderr.write("usage: shop [options]\n  --till NAME\n  --port NUMBER\n\nGood bye\n")
    raise SystemExit(2)


def _die_on_the_fifth(message: dict[str, Any], number: int) -> None:
    if number >= 5:
        os._exit(1)
    _say(_answer(message, {"content": [{"type": "text", "text": '{"success": true, "data": {"operations": []}}'}]}))


def _flood() -> None:
    with suppress(BrokenPipeError):
        while True:
            sys.stdout.write("listening on port 3000\n" * 1000)


def _flood_without_end_of_line() -> None:
    with suppress(BrokenPipeError):
        while True:
            sys.stdout.write("a" * 100_000)


def _garbage() -> None:
    for _ in sys.stdin:
        sys.stdout.buffer.write(os.urandom(200) + b"\n")
        sys.stdout.buffer.flush()


def _talk() -> None:
    sys.stdout.write("\x1b[32mHello from the shop\x1b[0m\nlistening\n")
    sys.stdout.flush()
    _never()


def _log_and_serve(message: dict[str, Any], number: int) -> None:
    sys.stdout.write(f"request number {number}\n")
    _say(_answer(message, {"content": [{"type": "text", "text": '{"success": true, "data": {"operations": []}}'}]}))


def _tools_without_end() -> None:
    for message in _asked():
        result = _greeting(message) or {}
        _say(_answer(message, result | ({"nextCursor": "on"} if message["method"] == "tools/list" else {})))


def _silence(_message: dict[str, Any], _number: int) -> None:
    pass


def _invalid(message: dict[str, Any], _number: int) -> None:
    _say({"jsonrpc": "2.0", "id": message["id"]})


def _no_result(message: dict[str, Any], _number: int) -> None:
    _say(_answer(message, 5))


def _huge(message: dict[str, Any], _number: int) -> None:
    _say(_answer(message, {"content": [{"type": "text", "text": "a" * HUGE}]}))


def _chatter(message: dict[str, Any], _number: int) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "still working"}}
    with suppress(BrokenPipeError):
        while True:
            _say(note)


def _taken(told: int) -> dict[str, Any]:
    """An answer to whatever is asked, which tells a limit of texts."""
    data = {"operations": [], "types": [], "_protocol": {"limits": {"max_string_length": told}}}
    return {"content": [{"type": "text", "text": json.dumps({"success": True, "data": data})}]}


def _die_of_size(most: int, told: int) -> Callable[[dict[str, Any], int], None]:
    """Take everything, and end on a text that is longer than some, though another limit is told."""
    taken = _taken(told)

    def then(message: dict[str, Any], _number: int) -> None:
        if len(json.dumps(message)) > most:
            os._exit(1)
        _say(_answer(message, taken))

    return then


PROCESSES: dict[str, Callable[[], None]] = {
    "never answers": _never,
    "dies at once": _die,
    "dies with a trace": _die_with_a_trace,
    "dies with wishes": _die_with_wishes,
    "floods its output": _flood,
    "never ends a line": _flood_without_end_of_line,
    "writes garbage": _garbage,
    "talks": _talk,
    "logs among its answers": lambda: _served(_log_and_serve),
    "lists tools without end": _tools_without_end,
    "greets and falls silent": lambda: _served(_silence),
    "dies on the fifth request": lambda: _served(_die_on_the_fifth),
    "dies of a large request": lambda: _served(_die_of_size(10_000, 20_000)),
    "dies of a huge request": lambda: _served(_die_of_size(2_500_000, 3_000_000)),
    "answers what is no JSON-RPC": lambda: _served(_invalid),
    "answers with a number": lambda: _served(_no_result),
    "answers with 60 MB": lambda: _served(_huge),
    "chatters instead of answering": lambda: _served(_chatter),
}

# over HTTP


def _read_request(connection: socket.socket) -> tuple[str, dict[str, Any]]:
    """The method of a request, and the message in it."""
    stream = connection.makefile("rb")
    method = stream.readline().split(b" ")[0].decode()
    length = 0
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    body = stream.read(length)
    return method, json.loads(body) if body else {}


def _head(kind: str, more: str = "", status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}\r\n".encode()


def _send_json(connection: socket.socket, value: object) -> None:
    connection.sendall(_head("application/json") + json.dumps(value).encode())


def _polite(connection: socket.socket) -> dict[str, Any] | None:
    """Greet as one should; the message that is something else, if it is."""
    method, message = _read_request(connection)
    if method != "POST":
        connection.sendall(_head("text/plain", status="405 Method Not Allowed"))
        return None
    if "id" not in message:
        connection.sendall(_head("text/plain", status="202 Accepted"))
        return None
    greeting = _greeting(message)
    if greeting is None:
        return message
    _send_json(connection, _answer(message, greeting))
    return None


def _wait(connection: socket.socket, over: threading.Event) -> None:
    _read_request(connection)
    over.wait()


def _status(status: str) -> Callable[[socket.socket, threading.Event], None]:
    def refuse(connection: socket.socket, _over: threading.Event) -> None:
        _read_request(connection)
        connection.sendall(_head("text/plain", "Content-Length: 0\r\n", status))

    return refuse


def _page(connection: socket.socket, _over: threading.Event) -> None:
    _read_request(connection)
    connection.sendall(_head("text/html") + b"<!doctype html><title>Welcome</title>")


def _no_http(connection: socket.socket, _over: threading.Event) -> None:
    _read_request(connection)
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def _hang_up(connection: socket.socket, _over: threading.Event) -> None:
    _read_request(connection)


def _endless_stream(connection: socket.socket, over: threading.Event) -> None:
    if _polite(connection) is None:
        return
    connection.sendall(_head("text/event-stream"))
    while not over.wait(0.02):
        connection.sendall(b": still there\n\n")


def _drip(connection: socket.socket, over: threading.Event) -> None:
    message = _polite(connection)
    if message is None:
        return
    connection.sendall(_head("application/json"))
    for byte in json.dumps(_answer(message, {"content": []})).encode():
        if over.wait(0.1):
            return
        connection.sendall(bytes([byte]))


def _huge_page(connection: socket.socket, _over: threading.Event) -> None:
    message = _polite(connection)
    if message is not None:
        _send_json(connection, _answer(message, {"content": [{"type": "text", "text": "a" * HUGE}]}))


def _broken_json(connection: socket.socket, _over: threading.Event) -> None:
    if _polite(connection) is not None:
        connection.sendall(_head("application/json") + b'{"jsonrpc": "2.0", "id":')


def _cut_short(connection: socket.socket, _over: threading.Event) -> None:
    if _polite(connection) is not None:
        connection.sendall(_head("application/json", "Content-Length: 500\r\n") + b'{"jsonrpc": "2.0", "id":')


def _no_more_than(most: int, refusal: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Take everything, but send something else, or nothing, in place of an answer to what is large."""

    def answer(connection: socket.socket, _over: threading.Event) -> None:
        message = _polite(connection)
        if message is not None and len(json.dumps(message)) > most:
            connection.sendall(refusal)
        elif message is not None:
            _send_json(connection, _answer(message, _taken(2 * most)))

    return answer


refuses_what_is_large = _no_more_than(10_000, _head("text/plain", "Content-Length: 0\r\n", "413 Content Too Large"))

LISTENERS: dict[str, Callable[[socket.socket, threading.Event], None]] = {
    "never answers": _wait,
    "fails": _status("500 Internal Server Error"),
    "is a web page": _page,
    "speaks no HTTP": _no_http,
    "hangs up": _hang_up,
    "never ends a stream": _endless_stream,
    "drips": _drip,
    "answers with 60 MB": _huge_page,
    "answers with half of JSON": _broken_json,
    "breaks off an answer": _cut_short,
    "hangs up on a large request": _no_more_than(10_000, b""),
}


@contextmanager
def listening(behaviour: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A server on a port of this machine that behaves so; its URL."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError, ValueError):
                behaviour(connection, over)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    PROCESSES[sys.argv[1]]()
