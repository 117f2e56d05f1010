"""Long work that a client has started: followed, waited for, cancelled, by whatever operations the server declares."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
import orjson

from headgate.adapter.context import Progress
from headgate.client.descriptions import OperationInfo
from headgate.client.errors import CannotFollow, ExecutionCancelled, ExecutionFailed, RateLimitFailure, failure_of
from headgate.client.line import Result
from headgate.client.questions import called

__all__ = ["OnProgress", "Run", "Speaks", "is_execution"]

ID: Final = "execution_id"
_TERMINAL: Final = ("completed", "failed", "cancelled")
_WAIT_SECONDS: Final = 20
_SHORTEST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_LONGEST_LIMIT: Final = 60.0
_PAGE: Final = 1000
_READERS: Final = ("get_execution", "get_execution_status", "get_execution_state", "get_status")
_RESULTS: Final = ("get_execution_result", "get_result")
_CANCELLERS: Final = ("cancel_execution", "stop_execution")

OnProgress = Callable[[float, float | None, str | None], Any]
"""Hears how far the work is: current, total, message; a plain or an async function."""


class Speaks(Protocol):
    """What a run needs of its client."""

    @property
    def seconds(self) -> float:
        """How long an answer may take."""
        ...

    async def operations(self) -> tuple[OperationInfo, ...]:
        """All operations."""
        ...

    async def operation(self, name: str) -> OperationInfo | None:
        """One in full."""
        ...

    def result(
        self, operation: str, params: Mapping[str, Any] | None = None, /, *, progress: Progress | None = None
    ) -> Awaitable[Result]:
        """Call one."""
        ...


def is_execution(data: object) -> bool:
    """Whether an answer is the state of long work."""
    return isinstance(data, Mapping) and isinstance(data.get(ID), str) and isinstance(data.get("status"), str)


@dataclass
class Run:
    """One execution."""

    client: Speaks = field(repr=False)
    state: Mapping[str, Any]
    """Its state as it was last told."""
    _found: dict[str, str] = field(default_factory=dict, repr=False)
    _heard: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """Its ``execution_id``."""
        return str(self.state.get(ID, ""))

    @property
    def status(self) -> str:
        """The core state that it was in when it was last asked for."""
        return str(self.state.get("status", ""))

    @property
    def ended(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.status in _TERMINAL

    async def refresh(self) -> Mapping[str, Any]:
        """Its state now."""
        return await self._look(None, 0)

    async def wait(self, progress: OnProgress | None = None) -> Any:
        """Its result, once there is one; ExecutionFailed or ExecutionCancelled if there will be none.

        It goes on by itself if nobody waits any longer.
        """
        pause = _SHORTEST_PAUSE
        waits = 0 if self.ended else await self._wait_seconds()
        while not self.ended:
            await self._look(progress, waits)
            if not waits and self.status not in _TERMINAL:
                await anyio.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
        return await self._outcome()

    async def cancel(self) -> Mapping[str, Any]:
        """Ask it to stop; the state that comes of it."""
        operation = await self._operation("cancel", _CANCELLERS, ("EXECUTE", "DELETE", "UPDATE"), ("cancel_", "stop_"))
        data = (await self.client.result(operation, {ID: self.id})).data
        if is_execution(data):
            self.state = data
        return self.state

    async def _look(self, progress: OnProgress | None, seconds: int) -> Mapping[str, Any]:
        operation = await self._reader()
        params = {ID: self.id, **({"wait_seconds": seconds} if seconds else {})}
        data = await self._asked(operation, params, _relay(progress, self))
        if not is_execution(data):
            raise CannotFollow(f"'{operation}' does not tell the state of '{self.id}'.")
        self.state = data
        await self._tell(progress)
        return self.state

    async def _asked(self, operation: str, params: Mapping[str, Any], progress: Progress | None = None) -> Any:
        """The data of a call; where calls are limited, it is made again when there is room."""
        while True:
            try:
                return (await self.client.result(operation, params, progress=progress)).data
            except RateLimitFailure as failure:
                if failure.retry_after is None:
                    raise
                await anyio.sleep(min(failure.retry_after, _LONGEST_LIMIT))

    async def _tell(self, progress: OnProgress | None) -> None:
        far = self.state.get("progress")
        if progress is None or not isinstance(far, Mapping):
            return
        total = far.get("total", 100 if "percentage" in far else None)
        await self.hear(progress, far.get("current", far.get("percentage", 0)), total, far.get("message"))

    async def hear(self, progress: OnProgress, current: float, total: float | None, message: str | None) -> None:
        """Pass on how far it is, unless it was just said."""
        if self._heard != (current, total, message):
            self._heard = (current, total, message)
            await called(progress, current, total, message)

    async def _wait_seconds(self) -> int:
        """How long one request may wait for the end; 0 where the server cannot wait, or nobody here so long."""
        info = await self.client.operation(await self._reader())
        parameter = info.parameter("wait_seconds") if info else None
        if parameter is None:
            return 0
        most = _WAIT_SECONDS if parameter.maximum is None else parameter.maximum
        return int(min(_WAIT_SECONDS, most, self.client.seconds / 2))

    async def _reader(self) -> str:
        return await self._operation("follow", _READERS, ("READ",), ("get_", "check_", "read_"))

    async def _operation(
        self, purpose: str, names: Sequence[str], categories: Iterable[str], verbs: tuple[str, ...]
    ) -> str:
        """The operation for a purpose: one of the usual names, or one that wants an execution's id and no more."""
        if purpose not in self._found:
            listed = [one for one in await self.client.operations() if one.category in {*categories, ""}]
            usual = [name for name in names if any(one.name == name for one in listed)]
            likely = [one.name for one in listed if one.name.startswith(verbs) and _sounds_right(one.name)]
            for name in (*usual, *likely):
                if await self._wants_id(name):
                    self._found[purpose] = name
                    break
            else:
                raise CannotFollow(f"The server declares no operation to {purpose} the execution '{self.id}' with.")
        return self._found[purpose]

    async def _wants_id(self, name: str) -> bool:
        info = await self.client.operation(name)
        if info is None or info.parameters is None:
            return False
        return info.declares(ID) and all(one.name == ID for one in info.parameters if one.required)

    async def _outcome(self) -> Any:
        if self.status == "cancelled":
            raise ExecutionCancelled(f"The execution '{self.id}' was cancelled.", self.id, self.state)
        if self.status == "failed":
            error = self.state.get("error")
            failure = failure_of(error) if isinstance(error, Mapping) else None
            words = f": {failure}" if failure else ""
            raise ExecutionFailed(f"The execution '{self.id}' has failed{words}", self.id, self.state, failure)
        return await self._result()

    async def _result(self) -> Any:
        """The result: from an operation of its own where there is one, else what the state has of it."""
        names = {one.name for one in await self.client.operations()}
        operation = next((name for name in _RESULTS if name in names), None)
        if operation is None or not await self._wants_id(operation):
            return self.state.get("result", self.state)
        info = await self.client.operation(operation)
        paged = info is not None and info.declares("first", "after")
        return await self._joined(operation) if paged else _result_in(await self._asked(operation, {ID: self.id}))

    async def _joined(self, operation: str) -> Any:
        """A result that comes in pages, of a list or of a JSON text."""
        parts: list[Any] = []
        params: dict[str, Any] = {ID: self.id, "first": _PAGE}
        while True:
            data = await self._asked(operation, params)
            page = data.get("page") if isinstance(data, Mapping) else None
            if not isinstance(page, Mapping):
                return _result_in(data)
            parts.append(_result_in(data))
            if not page.get("has_next"):
                return _join(parts, is_text=page.get("of") == "text")
            params["after"] = page.get("after")


def _sounds_right(name: str) -> bool:
    return any(word in name for word in ("execution", "status", "state", "job", "task", "run"))


def _result_in(data: Any) -> Any:
    return data.get("result", data) if isinstance(data, Mapping) else data


def _join(parts: list[Any], *, is_text: bool) -> Any:
    return orjson.loads("".join(parts)) if is_text else [item for part in parts for item in part]


def _relay(progress: OnProgress | None, run: Run) -> Progress | None:
    """MCP's own progress, passed on."""
    if progress is None:
        return None

    async def tell(current: float, total: float | None, message: str | None) -> None:
        await run.hear(progress, current, total, message)

    return tell
