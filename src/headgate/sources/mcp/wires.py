"""The SDK's own connection, made to give results as they came, and to tell when it is over."""

import asyncio
import contextvars
import importlib.util
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

import anyio
import anyio.abc
import anyio.lowlevel
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher, _Pending
from mcp.shared.message import ClientMessageMetadata
from mcp.shared.transport_context import TransportContext

__all__ = ["Closed", "Wire", "raw_result"]

_WANTS_RAW: Final[ContextVar[asyncio.Task[Any] | None]] = ContextVar("headgate_raw_result", default=None)
"""The task whose request it is: a server in the same process handles it with a copy of these variables."""

_MOST_AT_ONCE: Final = 1000
"""How many questions and news of a server may wait to be dealt with. Further news are missed; further questions are no
server's that means well."""
_PLAIN: Final = frozenset({"headers", "on_progress", "cancel_on_abandon"})
"""What may be said of a request for which the SDK's longer way is not needed."""
_FAREWELL_SECONDS: Final = 5.0
"""As long as the SDK tries. A large message may be on its way before."""


class _Answer:
    """Where the SDK puts the answer to a request, as into a stream."""

    def __init__(self) -> None:
        self.outcome: asyncio.Future[dict[str, Any] | types.ErrorData] = asyncio.get_running_loop().create_future()

    def send_nowait(self, outcome: dict[str, Any] | types.ErrorData) -> None:
        """Take the answer; only the first one counts."""
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class Closed(MCPError):
    """No answer can come any more. A server that refuses may use the same number and the same words."""

    def __init__(self) -> None:
        super().__init__(types.CONNECTION_CLOSED, "Connection closed")


class _Came(Exception):
    """A result, on its way past the SDK's checks: for a single odd tool they refuse the whole list of them."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result


class Wire(JSONRPCDispatcher[TransportContext]):
    """Requests and answers over a pair of streams; ``ended`` is told when nothing can come any more."""

    def __init__(self, read: Any, write: Any, ended: Callable[..., None]) -> None:
        super().__init__(read, write)
        self._ended = ended
        self._at_once = 0
        self._traces = importlib.util.find_spec("opentelemetry.sdk") is not None

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
        result = await self._answered(method, params, opts or {}, **related)
        if _WANTS_RAW.get() is asyncio.current_task():
            raise _Came(result)
        return result

    async def called(self, params: dict[str, Any], progress: ProgressFnT, version: str) -> dict[str, Any]:
        """The result of a tool call in the older protocol, exactly as it came, neither checked nor completed."""
        headers = {MCP_PROTOCOL_VERSION_HEADER: version}
        return await self._answered("tools/call", params, {"headers": headers, "on_progress": progress})

    async def _answered(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions, **related: Any
    ) -> dict[str, Any]:
        """The answer to a request, by the shorter way if that is enough."""
        try:
            if self._traces or related or not _PLAIN.issuperset(opts):
                return await super().send_raw_request(method, params, opts, **related)
            return await self._exchanged(method, dict(params or {}), opts)
        except MCPError:
            if self._closed:
                self._ended()  # before anybody sends the next request into the void
                raise Closed from None
            raise

    async def _exchanged(self, method: str, params: dict[str, Any], opts: CallOptions) -> dict[str, Any]:
        """As the SDK does it, but for a span that nobody reads, a clock that never runs, and a stream for one item."""
        if self._closed:
            raise Closed
        await anyio.lowlevel.checkpoint_if_cancelled()  # from here on the server may know of it
        number = self._allocate_id()
        if "on_progress" in opts:
            params["_meta"] = {**params.get("_meta", {}), "progressToken": number}
        request = types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method)
        if params:  # else they must not even be null
            request.params = params
        answer = _Answer()
        self._pending[number] = _Pending(answer, answer, opts.get("on_progress"))  # type: ignore[arg-type]
        headers = opts.get("headers")
        try:
            await self._write(request, ClientMessageMetadata(headers=headers) if headers else None)
            outcome = await answer.outcome
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise Closed from None
        except anyio.get_cancelled_exc_class():
            if opts.get("cancel_on_abandon", True):
                await self._called_off(number)
            raise
        finally:
            self._pending.pop(number, None)
        if isinstance(outcome, types.ErrorData):
            raise MCPError(outcome.code, outcome.message, outcome.data)
        return outcome

    async def _called_off(self, number: types.RequestId) -> None:
        """Tell the server that nobody waits for an answer any more."""
        with anyio.move_on_after(_FAREWELL_SECONDS, shield=True):
            await self.notify("notifications/cancelled", {"requestId": number, "reason": "nobody waits any more"})

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
    before = _WANTS_RAW.set(asyncio.current_task())
    try:
        await session.send_request(request, types.EmptyResult, progress_callback=progress)
    except _Came as came:
        return came.result
    finally:
        _WANTS_RAW.reset(before)
    raise RuntimeError("this session is not over a Wire")
