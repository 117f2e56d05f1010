"""The SDK's own connection, made to give results as they came, and to tell when it is over."""

import contextvars
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

import anyio
import anyio.abc
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

__all__ = ["Wire", "raw_result"]

_IS_RAW: Final[ContextVar[bool]] = ContextVar("headgate_raw_result", default=False)


class _Came(Exception):
    """A result, on its way past the SDK's checks: for a single odd tool they refuse the whole list of them."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result


_MOST_AT_ONCE: Final = 1000
"""How many questions and news of a server may wait to be dealt with. Further news are missed; further questions are no
server's that means well."""


class Wire(JSONRPCDispatcher[TransportContext]):
    """Requests and answers over a pair of streams; ``ended`` is told when nothing can come any more."""

    def __init__(self, read: Any, write: Any, ended: Callable[..., None]) -> None:
        super().__init__(read, write)
        self._ended = ended
        self._at_once = 0

    def _spawn(self, fn: Callable[..., Awaitable[Any]], *args: object, sender_ctx: contextvars.Context | None) -> None:
        """Deal with something that the server asks or tells, if it does not do so too often."""
        if self._at_once >= _MOST_AT_ONCE:
            if fn == self._handle_request:
                self._ended(f"it asks more than {_MOST_AT_ONCE} questions in one go")
            return

        async def counted(*given: object) -> None:
            self._at_once += 1
            try:
                await fn(*given)
            finally:
                self._at_once -= 1

        super()._spawn(counted, *args, sender_ctx=sender_ctx)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **related: Any
    ) -> dict[str, Any]:
        """The answer to a request; for who asked for it as it came, beside the checks."""
        try:
            result = await super().send_raw_request(method, params, opts, **related)
        except MCPError:
            if self._closed:
                self._ended()  # before anybody sends the next request into the void
            raise
        if _IS_RAW.get():
            raise _Came(result)
        return result

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Pass messages on until the connection is over."""
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self._ended()


async def raw_result(
    session: ClientSession, request: types.Request[Any, Any], progress: ProgressFnT | None = None
) -> dict[str, Any]:
    """The result of a request over a Wire, exactly as it came."""
    before = _IS_RAW.set(True)
    try:
        await session.send_request(request, types.EmptyResult, progress_callback=progress)
    except _Came as came:
        return came.result
    finally:
        _IS_RAW.reset(before)
    raise RuntimeError("this session is not over a Wire")
