"""How an engine does the work of an execution: the handler called with what it was started with, its answer cut."""

import asyncio
import logging
import os
import threading
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread

from headgate.adapter.context import Context, Session
from headgate.adapter.masking import scrubbed, secrets_of
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.engine.encoding import encode, standing_alone
from headgate.engine.failures import without_secrets
from headgate.engine.processes import ChildFailed, ChildGone, in_process
from headgate.engine.refusals import internal_error, unknown_operation
from headgate.engine.validation import validate
from headgate.executions.desks import Desk
from headgate.executions.host import Failed
from headgate.executions.ledger import INTERRUPTED
from headgate.executions.results import Cut, cut
from headgate.protocol.error_codes import is_callers_to_repair
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.protocol.limits import Limits
from headgate.store.executions import Execution

__all__ = ["Performer"]

_LOG: Final = logging.getLogger("headgate")
_THREADS: Final = 100
"""How many plain functions run at once, beside those that callers wait for."""
_FEW_PROCESSES: Final = 4
_FEW_ITEMS: Final = 20
_FEW_LETTERS: Final = 1000
_BITS: Final = 64


class _Attempt:
    """An attempt as its handler sees it."""

    def __init__(self, desk: Desk) -> None:
        self.id = desk.execution.id
        self.number = desk.execution.attempt
        self.report = desk.report
        self.stopped = threading.Event()

    @property
    def is_to_stop(self) -> bool:
        return self.stopped.is_set()


class Performer:
    """Does the work of executions with an engine's operations."""

    def __init__(
        self,
        operations: Mapping[str, Operation],
        limits: Limits,
        params_of: Callable[[Execution], Mapping[str, object]],
    ) -> None:
        self._operations = operations
        self._limits = limits
        self._params_of = params_of
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._processes = anyio.CapacityLimiter(max(_FEW_PROCESSES, 2 * (os.cpu_count() or 1)))

    async def __call__(self, desk: Desk) -> Cut:
        """The result of an attempt, or Failed with words that are safe."""
        execution = desk.execution
        operation = self._operations.get(execution.operation)
        if operation is None:
            error = unknown_operation(execution.operation, list(self._operations)).error
            raise Failed(error, may_pass=False)
        params, request_id = self._params_of(execution), desk.about.request_id
        try:
            values = validate(operation, params, self._limits, strict=False).values
            if operation.tries_nothing:
                del values[DRY_RUN]
            return await self._made(operation, values, desk)
        except AqlError as raised:
            error = without_secrets(raised.error, secrets_of(operation, params))
            raise Failed(error, may_pass=_may_pass(error), retry_after=_patience(error)) from None
        except asyncio.CancelledError:
            raise
        except ChildGone as gone:
            _LOG.error("%s (%s) failed in operation '%s': %s", execution.id, request_id, operation.name, gone)
            raise Failed(INTERRUPTED, is_interruption=True) from None
        except BaseException as broken:  # noqa: BLE001  # whatever a handler raises, the error is safe
            words = broken.trace if isinstance(broken, ChildFailed) else "".join(traceback.format_exception(broken))
            trace = scrubbed(words, secrets_of(operation, params))
            _LOG.error("%s (%s) failed in operation '%s'\n%s", execution.id, request_id, operation.name, trace)
            raise Failed(internal_error({"request_id": request_id})) from None

    async def _made(self, operation: Operation, values: dict[str, Any], desk: Desk) -> Cut:
        if operation.bind is not None:
            values = dict(operation.bind(values))
        if operation.background is not None and operation.background.process:
            async with self._processes:
                return await in_process(operation, values, desk)
        attempt = _Attempt(desk)
        session = Session(desk.about.session_id, lasting=False)
        context = Context(
            operation.name,
            desk.about.request_id,
            desk.about.caller,
            session,
            attempt=attempt,
            is_async=operation.is_async,
        )
        if operation.context_parameter is not None:
            values = {**values, operation.context_parameter: context}
        if operation.is_async:
            data = await operation.function(**values)
        else:
            async with self._threads:
                desk.stops_by(attempt.stopped.set)
                data = await _in_thread(partial(operation.function, **values))
        cutting = partial(cut, standing_alone(data), encode, tuple(context.warnings))
        return cutting() if _is_small(data) else await anyio.to_thread.run_sync(cutting)


def _is_small(data: object) -> bool:
    """Whether a result is cut sooner than a thread could be asked to do it."""
    items: Collection[object] = (data,)
    if isinstance(data, dict | list | tuple):
        items = data.values() if isinstance(data, dict) else data
    return len(items) <= _FEW_ITEMS and all(_is_tiny(item) for item in items)


def _is_tiny(item: object) -> bool:
    match item:
        case None | bool() | float():
            return True
        case int():
            return item.bit_length() <= _BITS
        case str():
            return len(item) <= _FEW_LETTERS
    return False


async def _in_thread(function: Callable[[], Any]) -> Any:
    """What the function gives. One that never ends does not keep its process from ending, as those of a pool would."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((result, error))  # not every exception can be that of a future

    def work() -> None:
        result, error = None, None
        try:
            result = function()
        except BaseException as raised:  # noqa: BLE001  (raised by whoever awaits it)
            error = raised
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(tell, result, error)

    threading.Thread(target=work, name="headgate-execution", daemon=True).start()
    result, error = await future
    if error is not None:
        raise error
    return result


def _may_pass(error: ErrorDetail) -> bool:
    return error.code == "RATE_LIMIT_EXCEEDED" or not is_callers_to_repair(error.code)


def _patience(error: ErrorDetail) -> float:
    wait = (error.details or {}).get("retry_after_seconds")
    return float(wait) if isinstance(wait, int | float) and wait > 0 else 0.0
