"""What a store asks of a database, whichever it is: work that is done as one transaction, or not at all."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import anyio

from headgate.store.interface import StoreError

__all__ = [
    "PATIENCE_SECONDS",
    "Driver",
    "OneThread",
    "Row",
    "Threads",
    "Transaction",
    "Unkeepable",
    "Words",
    "in_thread",
    "one_line",
]

T = TypeVar("T")

Row: TypeAlias = tuple[Any, ...]

PATIENCE_SECONDS: Final = 30
"""How long a transaction waits for another one, perhaps in another process."""

_LONGEST_REASON: Final = 300


class Unkeepable(StoreError):
    """A value that no store can hold; what is said of it is true of every database."""


@dataclass(frozen=True, slots=True)
class Words:
    """What databases spell differently when tables are made."""

    text: str
    """The type of a text that is compared and sorted by its code points."""
    integer: str
    """The type of an integer of 64 bits."""
    by_key: str
    """What follows a table whose rows are small and always read by their key."""
    field: str
    """How to read a field of the JSON in the column ``entry``, with ``{}`` for its name."""


class Transaction(Protocol):
    """Statements with parameters such as ``:name``, on tables that are named as in ``headgate.records``."""

    words: Words

    def change(self, sql: str, **values: object) -> int:
        """Run a statement; how many rows it has changed."""
        ...

    def change_each(self, sql: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run one statement with each of several sets of parameters."""
        ...

    def rows(self, sql: str, **values: object) -> list[Row]:
        """The rows that a statement gives."""
        ...

    def lock(self, name: str) -> None:
        """Wait until no other transaction has locked the same name, and hold it until the end of this one."""
        ...

    def has_table(self, name: str) -> bool:
        """Whether one of headgate's tables is there."""
        ...

    def prepare_for_tables(self) -> None:
        """Make the place for tables; a StoreError if it is somebody else's."""
        ...


class Driver(Protocol):
    """One database. ``where`` is what messages call it."""

    where: str
    is_shared: bool
    """Whether processes on any machine may use it at once."""

    async def run(self, work: Callable[[Transaction], T], *, writes: bool = True) -> T:
        """What the work gives: kept if it returns, undone if it raises. What only reads may be run twice."""
        ...

    async def glance(self, work: Callable[[Transaction], T]) -> T:
        """What the work gives that reads a few rows by an index, and nothing else."""
        ...

    async def close(self) -> None:
        """Wait for what is running, and let go of files and connections."""
        ...


class Threads(Protocol):
    """What does something in another thread, such as an executor."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> object:
        """Have something done as soon as there is time."""
        ...


class OneThread:
    """A thread that does one thing after the other. It takes less to ask it than a pool of one."""

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._start = Lock()

    def submit(self, function: Callable[..., Any], /, *args: Any) -> None:
        """Have something done after all that came before it."""
        self._queue.put((function, args))
        if self._thread.ident is None:
            with self._start:
                if self._thread.ident is None:
                    self._thread.start()

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            work[0](*work[1])
            del work  # or it would be kept until the next one comes

    def shutdown(self) -> None:
        """Wait for all that was to be done, and end."""
        self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join()


async def in_thread(threads: Threads, function: Callable[[], T]) -> T:
    """What the function gives, from another thread; a task that is cancelled meanwhile waits for its end."""
    answer: _Answer[T] = _Answer(asyncio.get_running_loop())
    threads.submit(answer.find, function)
    with anyio.CancelScope(shield=True):
        await answer.there()
    return answer.result()


class _Answer(Generic[T]):
    """What another thread will have found. It costs half of what the futures of executors do."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiter = loop.create_future()
        self._is_there = False
        self._found: list[T] = []
        self._error: BaseException | None = None

    def find(self, function: Callable[[], T]) -> None:
        """In the other thread: find it, and tell whoever waits."""
        try:
            self._found = [function()]
        except BaseException as error:  # noqa: BLE001  # raised by whoever asks for the result
            self._error = error
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._is_there = True
        if not self._waiter.done():
            self._waiter.set_result(None)

    async def there(self) -> None:
        """Wait for it, however often the task is cancelled; then it is."""
        cancelled = None
        while not self._is_there:
            try:
                await self._waiter
            except asyncio.CancelledError as error:
                cancelled, self._waiter = error, self._loop.create_future()
        if cancelled is not None:
            raise cancelled

    def result(self) -> T:
        """What was found or raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]


def one_line(error: BaseException) -> str:
    """What a driver says, in one line."""
    return " ".join(str(error).split())[:_LONGEST_REASON].rstrip(".")
