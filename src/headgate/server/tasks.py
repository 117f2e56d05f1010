"""Long work as MCP knows it: the extension for tasks (SEP-2663), for clients of the modern era that declare it.

A task is an execution under another name. Whatever is asked of one goes through the engine, as the operation that it
stands for: so the gate, the audit and the limits are the same, and who may not see an execution sees no task.
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

import anyio
import mcp_types as types
import orjson
from mcp.server import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value

from headgate.adapter.background import EXECUTION_ID
from headgate.engine.stages import Reply
from headgate.executions.operations import CANCEL, GET, RESULT
from headgate.executions.service import Executions
from headgate.executions.values import About, percentage, read_error
from headgate.protocol.error_codes import is_callers_to_repair
from headgate.protocol.errors import AqlError
from headgate.protocol.lifecycle import STATES, State
from headgate.protocol.times import timestamp
from headgate.server.contexts import Context, caller_of, declares, is_legacy
from headgate.store.executions import Execution, Progress

__all__ = ["TASKS", "Tasks"]

TASKS: Final = "io.modelcontextprotocol/tasks"
"""The name of the extension."""

_POLL_MS: Final = 1000
_MOST_FOLLOWED: Final = 100
"""How many tasks one stream tells of."""

_TASK_IDS: Final = "taskIds"
_WORKING: Final = "working"
_STATUS: Final[Mapping[State, str]] = {
    State.PENDING: _WORKING,
    State.RUNNING: _WORKING,
    State.COMPLETED: "completed",
    State.FAILED: "completed",  # what failed is the work, and not MCP: its result tells of the error
    State.CANCELLED: "cancelled",
}
_ENDED_ALREADY: Final = "CONFLICT_EXECUTION_STATE"

Ask: TypeAlias = Callable[[Context, str, Mapping[str, object]], Awaitable[Reply]]
"""Calls an operation for the sender of a request."""


class TaskParams(types.RequestParams):
    """A request about one task."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers to what a task has asked for."""

    input_responses: dict[str, Any]


class TaskNotification(types.Notification[dict[str, Any], Literal["notifications/tasks"]]):
    """News of a task, whole as ``tasks/get`` would tell it."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Answers what clients ask about tasks."""

    executions: Callable[[], Executions | None]
    ask: Ask
    shown: Callable[[Context, Reply], dict[str, Any]]
    """A reply as the result of a tool call."""
    news: ListenHandler
    """What else a client may listen to."""

    def register(self, server: Server[Any]) -> None:
        """Have a server answer requests about tasks."""
        server.add_request_handler("tasks/get", TaskParams, self._get)
        server.add_request_handler("tasks/update", UpdateParams, self._update)
        server.add_request_handler("tasks/cancel", TaskParams, self._cancel)

    def created(self, ctx: Context, reply: Reply) -> dict[str, Any] | None:
        """The task that a call has started, for a client that knows what a task is; None for all others.

        There is no place for warnings in it but the message that a user or a model may see.
        """
        if not reply.execution or is_legacy(ctx) or not declares(ctx, TASKS):
            return None
        envelope = orjson.loads(reply.text)
        data, warnings = envelope["data"], envelope.get("warnings", ())
        words = [STATES[State(data["status"])].meaning, *(warning["message"] for warning in warnings)]
        at = data["created_at"]
        return {"resultType": "task", **_task(reply.execution, _WORKING, " ".join(words), at, at, None)}

    # requests

    async def _get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        executions = self._served(ctx, params)
        return await self._detailed(ctx, executions, await self._visible(ctx, executions, params.task_id))

    async def _update(self, ctx: Context, params: UpdateParams) -> dict[str, Any]:
        """No task asks for anything, and what nobody asked for is ignored."""
        await self._visible(ctx, self._served(ctx, params), params.task_id)
        return {}

    async def _cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        """A wish: one that comes too late is acknowledged all the same."""
        self._served(ctx, params)
        reply = await self.ask(ctx, CANCEL, {EXECUTION_ID: params.task_id})
        if reply.failed and _error_of(reply)["code"] != _ENDED_ALREADY:
            raise _refusal(reply)
        return {}

    def _served(self, ctx: Context, params: TaskParams) -> Executions:
        """The executions, if this client may ask for tasks at all and its request does not contradict itself."""
        executions = self.executions()
        if executions is None or is_legacy(ctx):
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
        _check_declared(ctx)
        name = ctx.request.headers.get(MCP_NAME_HEADER) if ctx.request is not None else None
        if name is not None and decode_header_value(name) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, "The mcp-name header does not match the request's 'taskId'")
        return executions

    async def _visible(self, ctx: Context, executions: Executions, task_id: str) -> Execution:
        """The execution behind a task, if its caller may look at it."""
        reply = await self.ask(ctx, GET, {EXECUTION_ID: task_id})
        if reply.failed:
            raise _refusal(reply)
        try:
            return await executions.visible(task_id, caller_of(ctx))
        except AqlError:  # thrown away this very moment
            raise _no_task() from None

    async def _detailed(self, ctx: Context, executions: Executions, execution: Execution) -> dict[str, Any]:
        """A task with what came of it: the result that the tool call would have had."""
        task = _task_of(execution, executions.progress_of(execution))
        if execution.state is State.COMPLETED:
            task["result"] = self.shown(ctx, await self.ask(ctx, RESULT, {EXECUTION_ID: execution.id}))
        elif execution.state is State.FAILED:
            task["result"] = self.shown(ctx, _failure(execution))
        return task

    # news

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of news; where some were asked for, also of tasks, each change and at last the result."""
        executions, asked = self.executions(), (params.notifications.model_extra or {}).get(_TASK_IDS)
        if executions is None or asked is None:
            return await self.news(ctx, params)
        _check_declared(ctx)
        if not isinstance(asked, list) or not all(isinstance(one, str) for one in asked):
            raise MCPError(types.INVALID_PARAMS, f"'{_TASK_IDS}' must be a list of task ids")
        wanted = list(dict.fromkeys(asked))[:_MOST_FOLLOWED]
        found = [one for task_id in wanted if (one := await self._seen(ctx, executions, task_id))]
        return await self._told(ctx, params, executions, found)

    async def _seen(self, ctx: Context, executions: Executions, task_id: str) -> Execution | None:
        try:
            return await self._visible(ctx, executions, task_id)
        except MCPError:
            return None  # it is not acknowledged, which says enough

    async def _told(
        self,
        ctx: Context,
        params: types.SubscriptionsListenRequestParams,
        executions: Executions,
        found: list[Execution],
    ) -> types.SubscriptionsListenResult:
        session = _Acknowledging(ctx.session, [execution.id for execution in found])
        refused: MCPError | None = None
        result = types.SubscriptionsListenResult()
        async with anyio.create_task_group() as followers:
            for execution in found:
                followers.start_soon(self._follow, ctx, session.begun, executions, execution)
            try:
                result = await self.news(replace(ctx, session=cast("ServerSession", session)), params)
            except MCPError as error:
                refused = error
            followers.cancel_scope.cancel()
        if refused is not None:
            raise refused
        return result

    async def _follow(self, ctx: Context, begun: anyio.Event, executions: Executions, execution: Execution) -> None:
        """Tell of every change of a task that somebody can see, to its end."""
        await begun.wait()
        told: list[tuple[State, Progress]] = []

        async def tell(seen: Execution, progress: Progress) -> None:
            if [(seen.state, progress)] != told:
                told[:] = [(seen.state, progress)]
                await _notify(ctx, await self._detailed(ctx, executions, seen))

        ended = await executions.wait(execution, math.inf, tell)
        await _notify(ctx, await self._detailed(ctx, executions, ended))


class _Acknowledging:
    """A session on which the acknowledgement of a stream also names the tasks that it will tell of."""

    def __init__(self, session: ServerSession, task_ids: list[str]) -> None:
        self.begun = anyio.Event()
        self._session = session
        self._task_ids = task_ids

    async def send_notification(
        self, notification: types.ServerNotification, related_request_id: types.RequestId | None = None
    ) -> None:
        """Send it; news of tasks follow only after the first one, which is the acknowledgement."""
        if isinstance(notification, types.SubscriptionsAcknowledgedNotification):
            honoured = notification.params.notifications.model_copy(update={_TASK_IDS: self._task_ids})
            params = notification.params.model_copy(update={"notifications": honoured})
            notification = notification.model_copy(update={"params": params})
        await self._session.send_notification(notification, related_request_id)
        self.begun.set()


async def _notify(ctx: Context, task: dict[str, Any]) -> None:
    params = {**task, "_meta": {SUBSCRIPTION_ID_META_KEY: ctx.request_id}}
    news = cast("types.ServerNotification", TaskNotification(params=params))
    await ctx.session.send_notification(news, ctx.request_id)


def _task(task_id: str, status: str, words: str, created: str, updated: str, kept_ms: int | None) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "statusMessage": words,
        "createdAt": created,
        "lastUpdatedAt": updated,
        "ttlMs": kept_ms,
        "pollIntervalMs": _POLL_MS,
    }


def _task_of(execution: Execution, progress: Progress) -> dict[str, Any]:
    """A task without what came of it. It is kept for as long as it is not over, and for a while after that."""
    moments = (execution.created_at, execution.started_at, execution.asked_at, execution.finished_at)
    expires = execution.expires_at
    return _task(
        execution.id,
        _STATUS[execution.state.core],
        _words(execution, progress),
        timestamp(execution.created_at),
        timestamp(max(moment for moment in moments if moment is not None)),
        None if expires is None else round((expires - execution.created_at) * 1000),
    )


def _words(execution: Execution, progress: Progress) -> str:
    """How far it is, or what its state means; of a failure, why."""
    if execution.state is State.FAILED and execution.error is not None:
        return str(read_error(execution.error)["message"])
    done = percentage(progress)
    said = [*([f"{done:g} %"] if done is not None else []), *([progress.message] if progress.message else [])]
    return ": ".join(said) if said and execution.state is State.RUNNING else STATES[execution.state].meaning


def _failure(execution: Execution) -> Reply:
    """The answer that tells why it failed, as its call would have got it."""
    error = read_error(execution.error or "")
    text = orjson.dumps({"success": False, "error": error}).decode()
    about = About.read(execution.about)
    is_error = not is_callers_to_repair(error["code"])
    return Reply(text, True, is_error, about.request_id, session_id=about.session_id)


def _check_declared(ctx: Context) -> None:
    if not declares(ctx, TASKS):
        needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"The client must declare '{TASKS}'", needed)


def _no_task() -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Task not found")


def _error_of(reply: Reply) -> dict[str, Any]:
    error: dict[str, Any] = orjson.loads(reply.text)["error"]
    return error


def _refusal(reply: Reply) -> MCPError:
    """A reply that tells of a failure, as MCP tells it where there is no tool to answer for."""
    error = _error_of(reply)
    if str(error["code"]).startswith(("NOT_FOUND_", "VALIDATION_")):
        return _no_task()
    code = types.INTERNAL_ERROR if reply.is_error else types.INVALID_REQUEST
    return MCPError(code, str(error["message"]), {"code": error["code"]})
