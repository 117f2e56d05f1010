"""Sessions that say which of several servers has them: what a proxy before all of them needs to find the way back.

A session of the legacy era lives in one process. Its id is made by the SDK; outside it is ``NAME.id``, and inside,
where it is looked up, only what comes after the name. A session of another server is none here, which is what its
client must hear to begin a new one.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["NamedSessions"]

_HEADER: Final = "mcp-session-id"
_NOBODY: Final = "of-another-server"
"""In place of an id that was not given out here."""


class NamedSessions:
    """Puts the name of this server before the ids of its sessions, and takes it away again."""

    def __init__(self, app: ASGIApp, name: str) -> None:
        self._app = app
        self._prefix = f"{name}."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. An id without this name is that of another server, or of none."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if given := headers.get(_HEADER):
                    headers[_HEADER] = self._prefix + given
            await send(message)

        await self._app(self._without_name(scope), receive, named)

    def _without_name(self, scope: Scope) -> Scope:
        given = Headers(scope=scope).get(_HEADER, "")
        if not given:
            return scope
        within = {**scope, "headers": list(scope["headers"])}
        is_ours = given.startswith(self._prefix)
        MutableHeaders(scope=within)[_HEADER] = given.removeprefix(self._prefix) if is_ours else _NOBODY
        return within
