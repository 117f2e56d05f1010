"""Whatever a handler raises, the caller gets an envelope; a request that is really cancelled ends."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import orjson
import pytest

from headgate import Adapter, Engine
from headgate.engine.interruptions import is_interruption


class Odd(BaseException):
    """What no handler should raise, and some library does."""


async def cancels_its_own_task() -> None:
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    await task


def raising(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def handler() -> None:
        raise error

    return handler


ODD: dict[str, Callable[[], Awaitable[None]]] = {
    "a task of its own, cancelled": cancels_its_own_task,
    "CancelledError": raising(asyncio.CancelledError()),
    "GeneratorExit": raising(GeneratorExit()),
    "SystemExit": raising(SystemExit(3)),
    "an exception of its own": raising(Odd("secret")),
    "a group": raising(BaseExceptionGroup("secret", [Odd("secret")])),
}


def engine_of(handler: Callable[[], Awaitable[None]]) -> Engine:
    adapter = Adapter("odd")

    @adapter.execute
    async def execute_odd() -> None:
        """Raise something."""
        await handler()

    @adapter.read
    async def get_one() -> int:
        """Get one."""
        return 1

    return Engine(adapter)


@pytest.mark.anyio
@pytest.mark.parametrize("handler", ODD.values(), ids=ODD)
async def test_what_a_handler_raises_is_an_internal_error(handler: Callable[[], Awaitable[None]]) -> None:
    engine = engine_of(handler)
    reply = await engine.call({"operation": "execute_odd"})
    error = orjson.loads(reply.text)["error"]
    assert (error["code"], reply.is_error) == ("INTERNAL_ERROR", True)
    assert "secret" not in reply.text
    assert error["details"]["request_id"] == reply.request_id


@pytest.mark.anyio
@pytest.mark.parametrize("handler", ODD.values(), ids=ODD)
async def test_what_a_handler_raises_stops_no_other_operation_of_a_batch(
    handler: Callable[[], Awaitable[None]],
) -> None:
    batch = {"operations": [{"operation": "execute_odd"}, {"operation": "get_one"}]}
    answer = orjson.loads((await engine_of(handler).call(batch)).text)
    assert answer["summary"] == {"total": 2, "succeeded": 1, "failed": 1}


@pytest.mark.anyio
async def test_a_request_that_is_cancelled_ends_without_an_answer() -> None:
    started = anyio.Event()
    answered = False

    async def waits() -> None:
        started.set()
        await anyio.sleep_forever()

    engine = engine_of(waits)

    async def ask() -> None:
        nonlocal answered
        await engine.call({"operation": "execute_odd"})
        answered = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert not answered


@pytest.mark.anyio
async def test_a_request_to_stop_the_program_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        await engine_of(raising(KeyboardInterrupt())).call({"operation": "execute_odd"})
    with pytest.raises(BaseExceptionGroup):
        await engine_of(raising(BaseExceptionGroup("", [KeyboardInterrupt()]))).call({"operation": "execute_odd"})


def test_a_coroutine_that_is_torn_down_outside_any_task_is_let_go() -> None:
    assert is_interruption(GeneratorExit())
