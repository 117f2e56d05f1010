"""The outermost layer of the HTTP application: what the SDK's transport leaves to whoever runs it."""

from collections.abc import Callable
from typing import Final

import mcp_types as types
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.protocol.errors import AqlError
from headgate.protocol.inspection import check_payload
from headgate.protocol.limits import Limits
from headgate.server.jsonrpc import Refused, line_of, read_message, refused_call
from headgate.server.work import Work

__all__ = ["Edge"]

_OK: Final = 200
_FIRST_ERROR: Final = 400


class Edge:
    """Knows which answers have not left yet, ends what belongs to a session, and says clearly why a body is refused."""

    def __init__(self, app: ASGIApp, work: Work, end_session: Callable[[str], None]) -> None:
        self._app = app
        self._work = work
        self._end_session = end_session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. One that only waits for news, a GET, is nothing that has to be finished."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "POST":
            body = _Body(receive)
            with self._work:
                await _completed(self._app, scope, body.receive, _clear_refusals(scope, body, send))
        elif scope["method"] == "DELETE":
            await self._app(scope, receive, self._ending(scope, send))
        else:
            await _completed(self._app, scope, receive, send)

    def _ending(self, scope: Scope, send: Send) -> Send:
        """End the session that the transport has just ended at its client's wish."""
        session_id = Headers(scope=scope).get("mcp-session-id")

        async def observe(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _FIRST_ERROR and session_id:
                self._end_session(session_id)
            await send(message)

        return observe


class _Body:
    """What was read of a request's body."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._chunks: list[bytes] = []

    async def receive(self) -> Message:
        message = await self._receive()
        self._chunks.append(message.get("body", b""))
        return message

    def take(self) -> bytes:
        """All of it, to be kept no longer."""
        whole = b"".join(self._chunks)
        self._chunks.clear()
        return whole


def _clear_refusals(scope: Scope, body: _Body, send: Send) -> Send:
    """Where the SDK refuses a body that holds no message, say why in the words that stdio has for it."""
    replaced = False

    async def observe(message: Message) -> None:
        nonlocal replaced
        if message["type"] == "http.response.start":
            raw = body.take()
            if message["status"] == _FIRST_ERROR and (answer := _refusal(message, raw)):
                replaced = True
                status = _FIRST_ERROR if isinstance(answer, types.JSONRPCError) else _OK
                response = Response(line_of(answer), status, media_type="application/json")
                await response(scope, body.receive, send)
        if not replaced:
            await send(message)

    return observe


def _refusal(message: Message, raw: bytes) -> types.JSONRPCError | types.JSONRPCResponse | None:
    if not Headers(raw=message["headers"]).get("content-type", "").startswith("application/json"):
        return None
    try:
        request = read_message(raw, "body")
    except Refused as refused:
        return refused.answer
    if isinstance(request, types.JSONRPCRequest) and request.method == "tools/call" and rb"\ud" in raw.lower():
        return _surrogates(request)
    return None


def _surrogates(request: types.JSONRPCRequest) -> types.JSONRPCResponse | None:
    """A lone surrogate, written as an escape, stops the SDK's older era before the engine can name it."""
    try:
        check_payload((request.params or {}).get("arguments"), Limits())
    except AqlError as error:
        return refused_call(request, error) if error.error.code == "VALIDATION_INVALID_ENCODING" else None
    return None


async def _completed(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Close the answer if shutdown has cut its stream, so that the client sees an end and not a broken connection."""
    is_open = False

    async def observe(message: Message) -> None:
        nonlocal is_open
        is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
        await send(message)

    await app(scope, receive, observe)
    if is_open:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
