"""Exceptions that end a request from outside, told apart from those that a handler made itself."""

import asyncio

__all__ = ["is_interruption"]


def is_interruption(error: BaseException) -> bool:
    """Whether an exception must go on upwards: the request was cancelled, or the program is asked to stop.

    A handler that awaits a task it has cancelled raises the very same exception, but nobody cancelled the request.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(is_interruption(inner) for inner in error.exceptions)
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return _is_cancelled()
    return isinstance(error, KeyboardInterrupt)


def _is_cancelled() -> bool:
    """Whether the running task was asked to end; outside any task, something is being torn down."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    return task is None or task.cancelling() > 0
