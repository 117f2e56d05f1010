"""A worker that is to stop finishes what it can, and gives back the rest or lets it fail, as declared."""

import signal
from pathlib import Path

import pytest
from anyio import to_thread

from headgate.executions.host import Pace
from tests.databases import Server
from tests.executions_processes.hurried import call, ended, hurried, started, working
from tests.executions_processes.running import Place
from tests.executions_processes.workshop import LIFE, TRACES
from tests.server.processes import PATIENCE

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("freezing")]


async def test_a_worker_that_is_to_stop_finishes_what_is_short_and_interrupts_the_rest_as_declared(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRACES, str(tmp_path / "traces"))
    monkeypatch.setenv(LIFE, "after")
    with postgresql.fresh() as made:
        place = Place(made.url, tmp_path)
        async with hurried(place.state, takes_jobs=True, pace=Pace()) as engine:
            with place.worked("before", "--grace", "1") as worker:
                short = await started(engine, "execute_until", "soon")
                once = await started(engine, "execute_until", "late")
                again = await started(engine, "execute_until_again", "late")
                for execution_id in (short, once, again):
                    await to_thread.run_sync(place.trace, execution_id)
                worker.send_signal(signal.SIGTERM)
                place.open("soon")
                assert await to_thread.run_sync(worker.wait, PATIENCE) == 0
            place.open("late 2")
            async with working(place.state, engine):
                results = [
                    (await call(engine, "get_execution_result", execution_id=one, wait_seconds=60))["result"]
                    for one in (short, again)
                ]
            assert results == [1, 2]
            assert (await ended(engine, once))["error"]["code"] == "INTERNAL_INTERRUPTED"
        assert [place.attempts(one) for one in (short, once, again)] == [["before"], ["before"], ["before", "after"]]
