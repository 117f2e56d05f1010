"""The threads in which statements wait for their database."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, Protocol, TypeVar

import anyio

__all__ = ["Stoppable", "Threads"]

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS_BETWEEN_STOPS: Final = 0.2


class Stoppable(Protocol):
    """What a thread uses and another one can stop."""

    interrupted: bool
    """Set before it is stopped, so that nothing more is begun."""

    def interrupt(self) -> None:
        """Stop what is running, if anything is. Never raises."""


class Threads:
    """Where statements wait for their database.

    Not anyio's: there a cancelled task either waits until its thread is done or leaves it alone. Here it stops the
    statement first and then waits, so that a connection is never given back while a thread still uses it.
    """

    def __init__(self, size: int) -> None:
        # Two more than connections, so that a statement can be stopped while every connection is at work.
        self._executor = ThreadPoolExecutor(size + 2, "headgate-sql")

    async def run(
        self, stoppable: Stoppable | None, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function gives, from another thread. If the task is cancelled, that is stopped first."""
        call = contextvars.copy_context().run
        future = asyncio.get_running_loop().run_in_executor(self._executor, lambda: call(function, *args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await self._end(future, stoppable)
            raise

    async def _end(self, future: asyncio.Future[Any], stoppable: Stoppable | None) -> None:
        """Stopping is repeated: a thread that was just before its statement has not heard the first time."""
        if stoppable is not None:
            stoppable.interrupted = True
        while not future.done():
            if stoppable is not None:
                await _settled(asyncio.get_running_loop().run_in_executor(self._executor, stoppable.interrupt))
            await _settled(future, _SECONDS_BETWEEN_STOPS)
        future.exception()  # seen: nobody is left to hear of it

    def close(self) -> None:
        """Take no more work."""
        self._executor.shutdown(wait=False)


async def _settled(future: asyncio.Future[Any], seconds: float | None = None) -> None:
    """Wait for a future's end, for so long, even if the task is cancelled once more."""
    try:
        await asyncio.wait({future}, timeout=seconds)
    except asyncio.CancelledError:
        if seconds is None:
            await _settled(future)
