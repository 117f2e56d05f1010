"""Long work in processes of its own: whatever happens to one, the server knows what came of it."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from headgate import Caller
from tests.engine.chores import PIN, chores
from tests.engine.working import LONG, Works, works
from tests.support import ROOT

pytestmark = pytest.mark.anyio

T = TypeVar("T")


@pytest.fixture
async def made() -> AsyncIterator[Works]:
    async with works(chores) as found:
        yield found


def awaited(found: Callable[[], T]) -> T:
    """What is found, as soon as there is something."""
    until = time.monotonic() + LONG
    while not (one := found()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return one


async def noted(path: Path) -> str:
    """What a process has written into a file, as soon as it has."""
    return await asyncio.to_thread(awaited, lambda: path.read_text() if path.exists() else "")


async def is_gone(pid: int) -> bool:
    """Whether a process has ended, as soon as it has."""
    return await asyncio.to_thread(awaited, lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_function_in_a_process_reports_warns_prints_and_gives_its_result(
    made: Works, capfd: pytest.CaptureFixture[str]
) -> None:
    ann = Caller("ann")
    execution_id = await made.start("execute_sum", numbers=[1, 2, 3], caller=ann)
    found = await made.result(execution_id, caller=ann)
    pid, *known = found["result"]
    assert known == ["ann", execution_id, 1, 6]
    assert pid != os.getpid()
    assert found["status"] == "completed"
    state = await made.state(execution_id, caller=ann)
    assert state["progress"] == {"percentage": 100, "current": 3, "total": 3, "message": "added 3"}
    arguments = {"operation": "get_execution_result", "params": {"execution_id": execution_id}}
    envelope = await made.ask(arguments, caller=ann)
    assert [one["code"] for one in envelope["warnings"]] == ["SUM_WARNING"]
    printed = capfd.readouterr()
    assert "what a function prints" not in printed.out
    assert "what a function prints" in printed.err
    assert "nor what it writes" in printed.err


async def test_a_result_larger_than_any_pipe_arrives_whole(made: Works) -> None:
    size = 3_000_000
    execution_id = await made.start("execute_flood", size=size)
    text, after = "", None
    while True:
        found = await made.result(execution_id, **({"after": after} if after else {}))
        text += found["result"]
        if not found["page"]["has_next"]:
            break
        after = found["page"]["after"]
    assert text == f'"{"x" * size}"'


async def test_an_error_of_the_author_crosses_over_and_is_final(made: Works) -> None:
    state = await made.ended(await made.start("execute_refusal", name="dishes"))
    assert state["error"]["code"] == "NOT_FOUND_RESOURCE"
    assert state["error"]["details"] == {"resource_type": "chore", "resource_id": "dishes"}
    assert "attempt" not in state


async def test_an_unexpected_error_is_told_in_the_log_without_secrets(
    made: Works, caplog: pytest.LogCaptureFixture
) -> None:
    state = await made.ended(await made.start("execute_break", pin=PIN))
    assert state["error"]["code"] == "INTERNAL_ERROR"
    [told] = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert "RuntimeError: the pin was" in told
    assert PIN not in told + str(state)


async def test_a_process_that_dies_has_failed_and_is_tried_again(made: Works, caplog: pytest.LogCaptureFixture) -> None:
    execution_id = await made.start("execute_death")
    assert (await made.result(execution_id))["result"] == 2
    [told] = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert told.startswith(f"{execution_id} (req_")
    assert told.endswith("failed in operation 'execute_death': its process ended by itself with code 7")


async def test_a_process_that_is_killed_was_interrupted_and_its_work_is_resumed_where_that_is_declared(
    made: Works,
) -> None:
    assert (await made.result(await made.start("execute_murder")))["result"] == 2
    state = await made.ended(await made.start("execute_suicide"))
    assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_INTERRUPTED")


async def test_a_function_that_leaves_its_process_has_failed(made: Works, caplog: pytest.LogCaptureFixture) -> None:
    state = await made.ended(await made.start("execute_exit"))
    assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_ERROR")
    assert "SystemExit: 9" in caplog.text


@pytest.mark.parametrize(("how", "status"), [("clean", "cancelled"), ("finish", "completed"), ("break", "cancelled")])
async def test_a_wish_to_stop_interrupts_a_process_wherever_it_is(
    made: Works, tmp_path: Path, how: str, status: str
) -> None:
    notes = tmp_path / "notes"
    execution_id = await made.start("execute_silence", notes=str(notes), how=how)
    pid = int(await noted(notes))
    assert (await made.cancel(execution_id))["state"] == "cancelling"
    assert (await made.ended(execution_id))["status"] == status
    assert await is_gone(pid)
    assert (notes.read_text() == "cleaned up") == (how == "clean")


async def test_a_process_that_does_not_stop_is_killed(made: Works, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    execution_id = await made.start("execute_deaf", notes=str(notes))
    pid = int(await noted(notes))
    await made.cancel(execution_id)
    assert (await made.ended(execution_id))["status"] == "cancelled"
    assert await is_gone(pid)


async def test_a_process_that_is_not_even_there_yet_is_cancelled(made: Works, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    execution_id = await made.start("execute_silence", notes=str(notes))
    await made.reaches(execution_id, "running")
    await made.cancel(execution_id)
    assert (await made.ended(execution_id))["status"] == "cancelled"


async def test_a_server_that_stops_takes_its_processes_with_it(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    async with works(chores) as made:
        execution_id = await made.start("execute_silence", notes=str(notes))
        pid = int(await noted(notes))
        await made.executions.close()
        assert await is_gone(pid)
        known = await made.executions.ledger.find(execution_id)
        assert known is not None
        assert known.state.value == "failed"
        assert "INTERNAL_INTERRUPTED" in (known.error or "")
    assert notes.read_text() == "cleaned up"


PARENT = """
import asyncio, sys
from tests.engine.chores import chores
from tests.engine.working import works

async def main():
    async with works(chores) as made:
        await made.start("execute_silence", notes=sys.argv[1])
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_process_ends_when_its_parent_vanishes(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, str(notes), env=environment)
    pid = int(await noted(notes))
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    assert await is_gone(pid)
    assert notes.read_text() == str(pid), "it could not even clean up"


def test_a_process_that_is_told_nothing_ends_without_a_word() -> None:
    words = [sys.executable, "-m", "headgate.engine.child"]
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")
