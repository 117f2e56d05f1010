"""``headgate worker``: runs what servers have put into a shared queue, and ends in an orderly way, or at once."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution
from tests.cli.commands import Shell
from tests.cli.longwork import ERRANDS, execution_in
from tests.cli.starting import started
from tests.databases import Server
from tests.executions.books import code_of
from tests.server.processes import PATIENCE, Serving, until

UNSHARED = (
    "A worker needs a database that servers share: --state postgresql://…. With a file or memory, the server itself "
    "runs what it starts\n"
)


@pytest.fixture(scope="module")
def errands(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A source with long work."""
    path = tmp_path_factory.mktemp("errands") / "errands.py"
    path.write_text(ERRANDS)
    return f"{path}:errands"


@pytest.fixture
def shared(postgresql: Server) -> Iterator[str]:
    """An empty store that processes on any machine share."""
    with postgresql.fresh() as made:
        yield made.url


class Enqueued:
    """Has executions put into the queue, as a server does that runs nothing itself."""

    def __init__(self, shell: Shell, errands: str, state: str) -> None:
        self._shell = shell
        self._about = ("-s", errands, "--state", state)
        self._state = state

    def __call__(self, operation: str, *words: str) -> str:
        done = self._shell("call", operation, *words, *self._about)
        assert done.code == 0, done.err
        return str(json.loads(done.out)["execution_id"])

    def ended(self, execution_id: str) -> Execution:
        """An execution, once it has ended."""
        until(lambda: execution_in(self._state, execution_id).state.is_terminal, f"the end of {execution_id}")
        return execution_in(self._state, execution_id)


@pytest.fixture
def enqueued(shell: Shell, errands: str, shared: str) -> Enqueued:
    return Enqueued(shell, errands, shared)


@contextmanager
def working(source: str, state: str, *words: str) -> Iterator[Serving]:
    with started("worker", source, "--state", state, *words) as worker:
        worker.logged(" works on 'errands' from ")
        yield worker


# what cannot work


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--concurrency", "0"), "--concurrency must be 1 or more, not 0"),
        (("--grace", "-1"), "--grace must be a number of seconds, 0 or more, not -1"),
        (("--grace", "nan"), "--grace must be a number of seconds, 0 or more, not nan"),
        (("--grace", "inf"), "--grace must be a number of seconds, 0 or more, not inf"),
        (("--state", "state.db"), UNSHARED),
        ((), UNSHARED),
        (("--state", "postgres:x"), "The URL of the store cannot be read; write it as 'postgresql://"),
    ],
    ids=["concurrency", "grace", "no number", "no end", "file", "default", "no address"],
)
def test_wrong_settings_are_told_before_anything_is_opened(
    shell: Shell, errands: str, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = shell("worker", errands, *words, cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"headgate: {said}")
    assert list(tmp_path.iterdir()) == []


def test_an_adapter_without_long_work_needs_no_worker(shell: Shell, shelf: Path, shared: str) -> None:
    done = shell("worker", "shelf.py:shelf", "--state", shared, cwd=shelf)
    assert (done.code, done.err) == (
        2,
        "headgate: 'shelf' has no operation that runs in the background, so there is nothing for a worker to do\n",
    )


def test_a_database_that_is_not_there_is_told_in_one_line(shell: Shell, errands: str, tmp_path: Path) -> None:
    done = shell("worker", errands, "--state", f"postgresql://nobody@/none?host={tmp_path}")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be reached" in done.err


# what works


def test_it_runs_what_servers_have_started_and_tells_each_begin_and_end(
    shell: Shell, enqueued: Enqueued, errands: str, shared: str
) -> None:
    waited = enqueued("execute_count", "numbers=5")
    with working(errands, shared, "--concurrency", "3") as worker:
        assert enqueued.ended(waited).state is State.COMPLETED
        failing, late = enqueued("execute_fail"), enqueued("execute_dawdle")
        patrolling = enqueued("execute_patrol")
        worker.logged(f"{patrolling} execute_patrol begun")
        assert shell("executions", "cancel", patrolling, "--state", shared).code == 0
        ended = {one: enqueued.ended(one) for one in (failing, late, patrolling)}
        [process] = json.loads(shell("executions", "workers", "--state", shared, "--json").out)["workers"]
        assert worker.stop() == 0
    assert json.loads(shell("executions", "result", waited, "--state", shared).out) == [0, 1, 2, 3, 4]
    assert [(one.state, code_of(one)) for one in ended.values()] == [
        (State.FAILED, "INTERNAL_ERROR"),
        (State.FAILED, "INTERNAL_TIMEOUT"),
        (State.CANCELLED, None),
    ]
    assert (process["adapter"], process["process"], process["takes_jobs"], process["sign"]) == (
        "errands",
        worker.process.pid,
        True,
        "alive",
    )
    log = [
        re.sub(r"\d+\.\d s", "… s", line) for line in worker.log.text.splitlines() if "exec" in line or "work_" in line
    ]
    assert log[0] == f"headgate: {process['worker']} works on 'errands' from {shared}, 3 at once"
    assert [line for line in log if waited in line] == [
        f"headgate: {waited} execute_count begun",
        f"headgate: {waited} execute_count completed after … s",
    ]
    assert [line for line in log if failing in line and "failed in" not in line] == [
        f"headgate: {failing} execute_fail begun",
        f"headgate: {failing} execute_fail failed with INTERNAL_ERROR after … s",
        f"headgate: {failing} execute_fail begun, attempt 2",
        f"headgate: {failing} execute_fail failed with INTERNAL_ERROR after … s",
    ]
    assert f"headgate: {late} execute_dawdle stopped, since its time was over, after … s" in log
    assert f"headgate: {patrolling} execute_patrol cancelled after … s" in log


def test_asked_to_stop_it_finishes_what_is_under_way_and_takes_nothing_new(
    enqueued: Enqueued, errands: str, shared: str, tmp_path: Path
) -> None:
    short = enqueued("execute_wait", f"until={tmp_path / 'done'}")
    with working(errands, shared, "--grace", "600") as worker:
        worker.logged(f"{short} execute_wait begun")
        worker.process.send_signal(signal.SIGTERM)
        worker.logged("stopping: what is under way has 600 s to finish, and a second signal ends it at once")
        late = enqueued("execute_count")
        (tmp_path / "done").touch()
        assert worker.process.wait(PATIENCE) == 0
    assert worker.log.text.splitlines()[-1] == "headgate: stopped"
    assert [execution_in(shared, one).state for one in (short, late)] == [State.COMPLETED, State.PENDING]


def test_what_is_not_finished_in_time_fails_or_is_given_back(enqueued: Enqueued, errands: str, shared: str) -> None:
    lost, resuming = enqueued("execute_wait"), enqueued("execute_patrol")
    with working(errands, shared, "--grace", "0") as worker:
        for one in (lost, resuming):
            worker.logged(f"{one} ")
        assert worker.stop() == 0
    assert f"{resuming} execute_patrol interrupted after " in worker.log.text
    failed, given_back = execution_in(shared, lost), execution_in(shared, resuming)
    assert (failed.state, code_of(failed)) == (State.FAILED, "INTERNAL_INTERRUPTED")
    assert (given_back.state, given_back.worker) == (State.RETRYING, None)


def test_a_second_signal_of_either_kind_ends_it_at_once(
    shell: Shell, enqueued: Enqueued, errands: str, shared: str
) -> None:
    one = enqueued("execute_wait")
    with working(errands, shared, "--grace", "600") as worker:
        worker.logged(f"{one} execute_wait begun")
        worker.process.send_signal(signal.SIGTERM)
        worker.logged("stopping: ")
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(PATIENCE) == 130
    assert worker.log.text.splitlines()[-1] == (
        "headgate: ended at once; what was under way fails or is run again, as soon as another process notices"
    )
    shown = shell("executions", one, "--state", shared).out  # which is such a process
    assert shown.startswith(f"{one}  failed\n")
    assert "INTERNAL_INTERRUPTED" in shown


def test_it_explains_itself(shell: Shell) -> None:
    done = shell("worker", "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: headgate worker")
    for variable in ("HEADGATE_STATE", "HEADGATE_WORKER_CONCURRENCY", "HEADGATE_WORKER_GRACE", "HEADGATE_LOG_LEVEL"):
        assert variable in done.out
