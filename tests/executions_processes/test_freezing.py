"""A worker that is silent for too long is taken for gone; what it says when it comes back changes nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases import Server
from tests.executions_processes.callers import eventually
from tests.executions_processes.hurried import HURRIED, call, ended, hurried, reached, started, working
from tests.executions_processes.workshop import LIFE, TRACES, traces_in
from tests.server.processes import PATIENCE, environment

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("freezing")]

FROZEN, OTHER = "frozen", "other"


@dataclass(frozen=True)
class Place:
    """Where a worker works that is frozen from time to time."""

    state: str
    folder: Path
    worker: subprocess.Popen[bytes]

    def freeze(self) -> None:
        """Halt it in the middle of whatever it does."""
        os.kill(self.worker.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on, as if no time had passed."""
        os.kill(self.worker.pid, signal.SIGCONT)

    def open(self, gate: str) -> None:
        """Let the work come to its end."""
        (self.folder / gate).touch()

    async def traced(self, execution_id: str, attempt: int, *words: str, life: str = FROZEN) -> str:
        """Wait for a trace of an attempt, and tell which of the words it is."""

        def found() -> list[str]:
            return [
                trace.word
                for trace in traces_in(self.folder / "traces")
                if (trace.execution_id, trace.attempt, trace.life) == (execution_id, attempt, life)
                and trace.word in words
            ]

        return (await eventually(found))[0]


@pytest.fixture(scope="module")
def place(postgresql: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("freezing")
    (folder / "traces").mkdir()
    with pytest.MonkeyPatch.context() as patch, postgresql.fresh() as made:
        patch.setenv(TRACES, str(folder / "traces"))
        patch.setenv(LIFE, OTHER)
        env = environment({TRACES: str(folder / "traces"), LIFE: FROZEN})
        with subprocess.Popen([sys.executable, "-m", HURRIED, made.url], env=env) as worker:
            try:
                yield Place(made.url, folder, worker)
                worker.terminate()
                assert worker.wait(PATIENCE) == 0
            finally:
                worker.kill()


async def test_what_a_silent_worker_was_at_fails_or_is_taken_over_and_its_late_results_change_nothing(
    place: Place,
) -> None:
    async with hurried(place.state, takes_jobs=True) as engine:
        once = await started(engine, "execute_until", "gate")
        again = await started(engine, "execute_until_again", "gate")
        for execution_id in (once, again):
            await place.traced(execution_id, 1, "began")
        place.freeze()
        async with working(place.state, engine):
            failed = await ended(engine, once)
            assert failed["error"]["code"] == "INTERNAL_INTERRUPTED"
            await place.traced(again, 2, "began", life=OTHER)
            for gate in ("gate", "gate 1"):
                place.open(gate)
            place.thaw()
            for execution_id in (once, again):
                await place.traced(execution_id, 1, "done", "cancelled")
            place.open("gate 2")
            taken_over = await ended(engine, again)
            assert taken_over["status"] == "completed"
            assert (await call(engine, "get_execution_result", execution_id=again))["result"] == 2

    async with hurried(place.state, takes_jobs=False) as engine:
        later = await started(engine, "execute_until", "gate")
        assert (await ended(engine, later))["status"] == "completed"
        await place.traced(later, 1, "done")  # so it works as before, and has said what it had to say of the past
        assert await ended(engine, once) == failed
        assert await ended(engine, again) == taken_over


async def test_a_worker_that_takes_up_anew_what_was_taken_from_it_is_at_the_new_attempt_alone(place: Place) -> None:
    async with hurried(place.state, takes_jobs=False) as engine:
        execution_id = await started(engine, "execute_stubbornly_at_first", "later gate")
        await place.traced(execution_id, 1, "began")
        place.freeze()
        await reached(engine, execution_id, "retrying")
        place.thaw()
        await place.traced(execution_id, 2, "began")
        place.open("later gate")
        await place.traced(execution_id, 1, "cancelled")

        await call(engine, "cancel_execution", execution_id=execution_id)
        assert (await ended(engine, execution_id))["status"] == "cancelled"
        assert await place.traced(execution_id, 2, "cancelled", "done") == "cancelled"
