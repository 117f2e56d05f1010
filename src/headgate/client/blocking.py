"""The client without async: for scripts, notebooks and everything else that waits."""

import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio.from_thread

from headgate.client.answers import Caution, Oddity
from headgate.client.aql import Aql
from headgate.client.batches import Batch, Wanted
from headgate.client.connections import Target, connect
from headgate.client.descriptions import OperationInfo, ProtocolInfo, TypeInfo
from headgate.client.directives import Directive
from headgate.client.errors import ConnectionLost
from headgate.client.line import Result
from headgate.client.runs import OnProgress, Run
from headgate.client.supervision import OnPause, Supervised

__all__ = ["BlockingAql", "BlockingRun", "BlockingSupervised", "connect_sync"]

T = TypeVar("T")
Params = Mapping[str, Any]


@contextmanager
def connect_sync(target: Target, **options: Any) -> Iterator["BlockingAql"]:
    """A client of a server whose methods wait, for as long as the block lasts; options as for ``connect``.

    The work is done in a thread of its own, so it can be used where an event loop runs already, as in a notebook.
    """
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connect(target, **options)) as aql,
    ):
        waiting = _Waiting(portal)
        try:
            yield BlockingAql(aql, waiting)
        finally:
            waiting.ended.set()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Has the other thread do something, and waits for it."""

    portal: anyio.from_thread.BlockingPortal
    ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self.ended.is_set():
            raise ConnectionLost("The connection was closed: its block is over.")
        done: T = self.portal.call(work)
        return done


@dataclass(frozen=True, slots=True)
class BlockingRun:
    """Long work; as ``Run``, waiting."""

    run: Run
    _wait: _Waiting = field(repr=False)

    @property
    def id(self) -> str:
        """Its ``execution_id``."""
        return self.run.id

    @property
    def status(self) -> str:
        """The core state that it was in when it was last asked for."""
        return self.run.status

    @property
    def state(self) -> Params:
        """Its state as it was last told."""
        return self.run.state

    def refresh(self) -> Params:
        """Its state now."""
        return self._wait(self.run.refresh)

    def wait(self, progress: OnProgress | None = None) -> Any:
        """Its result, once there is one."""
        return self._wait(lambda: self.run.wait(progress))

    def cancel(self) -> Params:
        """Ask it to stop."""
        return self._wait(self.run.cancel)


@dataclass(frozen=True, slots=True)
class BlockingSupervised:
    """A supervised run; as ``Supervised``, waiting."""

    run: Supervised
    _wait: _Waiting = field(repr=False)

    def step(self, hint: str, **told: str | None) -> Directive:
        """Report what comes next, and how the step before ended."""
        return self._wait(lambda: self.run.step(hint, **told))

    def resume(self) -> Directive:
        """Report the step again that was held up."""
        return self._wait(self.run.resume)

    def call(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Report a call of this server and make it."""
        return self._wait(lambda: self.run.call(operation, params, **named))

    def act(self, hint: str, action: Callable[..., Any], *values: Any) -> Any:
        """Report something that is done elsewhere, and do it, in the other thread."""
        return self._wait(lambda: self.run.act(hint, action, *values))


class BlockingAql:
    """A server of MCP-AQL; as ``Aql``, waiting."""

    def __init__(self, aql: Aql, wait: _Waiting) -> None:
        self._aql = aql
        self._wait = wait

    def call(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through its own endpoint; its data."""
        return self._wait(lambda: self._aql.call(operation, params, **named))

    def create(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that creates; its data."""
        return self._wait(lambda: self._aql.create(operation, params, **named))

    def read(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that only reads; its data."""
        return self._wait(lambda: self._aql.read(operation, params, **named))

    def update(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that changes; its data."""
        return self._wait(lambda: self._aql.update(operation, params, **named))

    def delete(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that removes; its data."""
        return self._wait(lambda: self._aql.delete(operation, params, **named))

    def execute(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that carries out; its data."""
        return self._wait(lambda: self._aql.execute(operation, params, **named))

    def result(self, operation: str, params: Params | None = None, /, **options: Any) -> Result:
        """Call an operation; the whole result."""
        return self._wait(lambda: self._aql.result(operation, params, **options))

    def pages(self, operation: str, params: Params | None = None, /, **named: Any) -> Iterator[Any]:
        """Every item of a collection, page by page."""
        items = self._aql.pages(operation, params, **named)
        try:
            while (item := self._wait(lambda: _next(items))) is not _END:
                yield item
        finally:
            self._wait(lambda: _close(items))

    def batch(self, requests: Iterable[Wanted], *, transaction: bool = False) -> Batch:
        """Send several requests as one."""
        return self._wait(lambda: self._aql.batch(requests, transaction=transaction))

    def continue_with(self, halted: Batch, token: str) -> Batch:
        """Go on with a batch that has halted."""
        return self._wait(lambda: self._aql.continue_with(halted, token))

    def start(self, operation: str, params: Params | None = None, /, **named: Any) -> BlockingRun:
        """Start long work, and do not wait for it."""
        return BlockingRun(self._wait(lambda: self._aql.start(operation, params, **named)), self._wait)

    def run(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation and wait for its result, also if it is long work."""
        return self._wait(lambda: self._aql.run(operation, params, **named))

    def execution(self, execution_id: str) -> BlockingRun:
        """Long work that was started before."""
        return BlockingRun(self._aql.execution(execution_id), self._wait)

    @contextmanager
    def supervised(self, agent: str, *, on_pause: OnPause | None = None, **more: Any) -> Iterator[BlockingSupervised]:
        """A run inside the server's safety loop."""
        run = self._aql.supervised(agent, on_pause=on_pause, **more)
        with self._wait.portal.wrap_async_context_manager(run) as entered:
            yield BlockingSupervised(entered, self._wait)

    def operations(self) -> tuple[OperationInfo, ...]:
        """All operations, in short."""
        return self._wait(self._aql.operations)

    def operation(self, name: str) -> OperationInfo | None:
        """An operation in full."""
        return self._wait(lambda: self._aql.operation(name))

    def types(self) -> tuple[TypeInfo, ...]:
        """All types, in short."""
        return self._wait(self._aql.types)

    def type(self, name: str) -> TypeInfo | None:
        """A type in full."""
        return self._wait(lambda: self._aql.type(name))

    def protocol(self) -> ProtocolInfo:
        """What the server says of the protocol that it speaks."""
        return self._wait(self._aql.protocol)

    def search(self, words: str, first: int = 10) -> tuple[OperationInfo, ...]:
        """Operations that fit some words."""
        return self._wait(lambda: self._aql.search(words, first))

    def refresh(self) -> None:
        """Forget what introspection said."""
        self._wait(self._aql.refresh)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What the server has warned of so far."""
        return self._aql.warnings

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What the server did otherwise than the texts want."""
        return self._aql.oddities


_END: Any = object()


async def _next(items: AsyncIterator[Any]) -> Any:
    return await anext(items, _END)


async def _close(items: AsyncIterator[Any]) -> None:
    close = getattr(items, "aclose", None)
    if close is not None:
        await close()
