"""What a store asks of a database, whichever it is: work that is done as one transaction, or not at all."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import anyio

from headgate.store.interface import StoreError

__all__ = ["PATIENCE_SECONDS", "Driver", "Row", "Transaction", "Unkeepable", "Words", "in_thread", "one_line"]

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

    async def run(self, work: Callable[[Transaction], T], *, writes: bool = True) -> T:
        """What the work gives: kept if it returns, undone if it raises. What only reads may be run twice."""
        ...

    async def close(self) -> None:
        """Wait for what is running, and let go of files and connections."""
        ...


async def in_thread(executor: Executor, function: Callable[[], T]) -> T:
    """What the function gives, from another thread; a task that is cancelled meanwhile waits for its end."""
    future = asyncio.get_running_loop().run_in_executor(executor, function)
    with anyio.CancelScope(shield=True):
        await _until_done(future)
    return future.result()


async def _until_done(future: asyncio.Future[Any]) -> None:
    cancelled = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        future.exception()  # seen: nobody is left to hear of it
        raise cancelled


def one_line(error: BaseException) -> str:
    """What a driver says, in one line."""
    return " ".join(str(error).split())[:_LONGEST_REASON].rstrip(".")
