"""Long work, the session that started it, and the process that does it: what ends with what."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Adapter, Background, Session
from headgate.adapter.background import SessionEnd
from headgate.adapter.context import ANONYMOUS
from headgate.executions import service
from headgate.executions.ledger import Ledger
from headgate.executions.service import Executions, Start
from headgate.protocol.errors import AqlError
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from tests.engine.working import LONG, Works, works

pytestmark = pytest.mark.anyio


class Visits:
    """Visits that last until they are told to end."""

    def __init__(self) -> None:
        self.adapter = Adapter("visits")
        self.begun = asyncio.Event()
        for name, end in (("bound", "cancel"), ("strict", "fail"), ("free", "detached")):
            self._add(name, end)  # type: ignore[arg-type]

    def _add(self, name: str, end: SessionEnd) -> None:
        async def visit() -> None:
            """Visit."""
            self.begun.set()
            await asyncio.Event().wait()

        self.adapter.execute(background=Background(session=end), name=f"execute_{name}")(visit)


@pytest.fixture
async def visits() -> Visits:
    return Visits()


@pytest.fixture
async def made(visits: Visits) -> AsyncIterator[Works]:
    async with works(visits.adapter) as found:
        yield found


async def start(made: Works, operation: str, session: Session) -> tuple[str, list[str]]:
    """The id of an execution that a session has started, and the warnings that came with it."""
    envelope = await made.ask({"operation": operation}, session=session)
    return envelope["data"]["execution_id"], [one["code"] for one in envelope.get("warnings", [])]


@pytest.mark.parametrize(
    ("operation", "status", "code"),
    [("execute_bound", "cancelled", None), ("execute_strict", "failed", "INTERNAL_SESSION_ENDED")],
)
async def test_what_is_bound_to_a_session_ends_with_it(
    visits: Visits, made: Works, operation: str, status: str, code: str | None
) -> None:
    session = Session()
    execution_id, warnings = await start(made, operation, session)
    await visits.begun.wait()
    assert warnings == []
    session.end()
    made.executions.session_ended(session)
    state = await made.ended(execution_id)
    assert (state["status"], state.get("error", {}).get("code")) == (status, code)


async def test_what_is_free_outlives_every_session(visits: Visits, made: Works) -> None:
    session = Session()
    execution_id, _ = await start(made, "execute_free", session)
    await visits.begun.wait()
    session.end()
    made.executions.session_ended(session)
    assert (await made.state(execution_id))["status"] == "running"


async def test_what_a_session_starts_as_it_ends_ends_too(visits: Visits, made: Works) -> None:
    session = Session()
    session.end()
    execution_id, _ = await start(made, "execute_bound", session)
    assert (await made.ended(execution_id))["status"] == "cancelled"


@pytest.mark.parametrize("session", [Session(lasting=False), Session(is_callers_own=True)], ids=["single", "own"])
async def test_where_no_session_ends_a_caller_is_warned(visits: Visits, made: Works, session: Session) -> None:
    execution_id, warnings = await start(made, "execute_bound", session)
    assert warnings == ["EXECUTION_UNBOUND_WARNING"]
    assert await start(made, "execute_free", session) != (execution_id, warnings)
    await visits.begun.wait()
    made.executions.session_ended(session)
    assert (await made.state(execution_id))["status"] == "running"


async def test_a_store_that_is_away_as_a_session_ends_is_told_later(
    visits: Visits, made: Works, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, tries = Ledger.end_session, iter([True, False])

    async def away(ledger: Ledger, session: str) -> Any:
        if next(tries):
            raise StoreError("the disk is full")
        return await real(ledger, session)

    monkeypatch.setattr(service, "_SECONDS_UNTIL_ANOTHER_TRY", 0.001)
    monkeypatch.setattr(Ledger, "end_session", away)
    session = Session()
    execution_id, _ = await start(made, "execute_bound", session)
    await visits.begun.wait()
    made.executions.session_ended(session)
    assert (await made.ended(execution_id))["status"] == "cancelled"
    assert "the disk is full" in caplog.text


async def test_a_server_that_stops_does_not_wait_long_for_a_store_that_is_away(
    visits: Visits, made: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_ledger: Ledger, _session: str) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(service, "_SECONDS_FOR_SESSIONS", 0.001)
    monkeypatch.setattr(Ledger, "end_session", away)
    session = Session()
    execution_id, _ = await start(made, "execute_bound", session)
    await visits.begun.wait()
    made.executions.session_ended(session)
    await made.executions.close()
    assert (await made.state(execution_id))["status"] == "failed", "it was interrupted"


async def test_a_session_that_ends_when_nothing_runs_any_more_is_noticed_by_the_next_process(
    visits: Visits, made: Works
) -> None:
    session = Session()
    execution_id, _ = await start(made, "execute_bound", session)
    await visits.begun.wait()
    await asyncio.to_thread(made.executions.session_ended, session)  # where there is no loop
    assert (await made.state(execution_id))["status"] == "running"
    made.executions.session_ended(session)
    assert (await made.ended(execution_id))["status"] == "cancelled"


# the process that does it


async def test_a_server_that_stops_interrupts_its_work_and_waits_for_no_thread() -> None:
    adapter = Adapter("deaf")
    begun, go, over = threading.Event(), threading.Event(), threading.Event()

    @adapter.execute(background=Background(cleanup=0.01))
    def execute_listening_to_nobody() -> None:
        """Listen to nobody."""
        begun.set()
        assert go.wait(LONG)
        over.set()

    async with works(adapter) as made:
        execution_id = await made.start("execute_listening_to_nobody")
        await asyncio.to_thread(begun.wait, LONG)
        await made.executions.close()
        state = await made.state(execution_id)
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_INTERRUPTED")
        go.set()
        assert await asyncio.to_thread(over.wait, LONG)
        assert await made.state(execution_id) == state, "what comes of it now does not count"


async def test_work_that_nobody_can_do_is_interrupted(visits: Visits) -> None:
    store = open_store("memory:")
    executions = Executions("visits", store)  # no engine has said how
    operation = visits.adapter.operations["execute_free"]
    asked = Start(operation=operation, params={}, caller=ANONYMOUS, session=Session(), request_id="req_1")
    execution, _ = await executions.start(asked)
    ended = await executions.wait(execution, LONG)
    assert ended.state.value == "failed"
    assert "INTERNAL_INTERRUPTED" in (ended.error or "")
    await executions.close()
    await store.close()


async def test_only_what_runs_in_the_background_can_be_started() -> None:
    adapter = Adapter("plain")

    @adapter.execute
    async def execute_now() -> None:
        """Run now."""

    store = open_store("memory:")
    executions = Executions("plain", store)
    operation = adapter.operations["execute_now"]
    asked = Start(operation=operation, params={}, caller=ANONYMOUS, session=Session(), request_id="req_1")
    with pytest.raises(ValueError, match="'execute_now' does not run in the background"):
        await executions.start(asked)
    await executions.close()
    await store.close()


async def test_of_two_retries_at_the_same_moment_the_later_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = Adapter("failing")

    @adapter.execute(background=True)
    async def execute_failing() -> None:
        """Fail."""
        raise LookupError

    async with works(adapter) as made:
        execution_id = await made.start("execute_failing")
        await made.ended(execution_id)
        real, both = Ledger.retry, asyncio.Barrier(2)

        async def together(ledger: Ledger, *args: Any) -> Any:
            await both.wait()
            return await real(ledger, *args)

        monkeypatch.setattr(Ledger, "retry", together)
        retrying = (made.executions.retry(execution_id, ANONYMOUS) for _ in range(2))
        answers = await asyncio.gather(*retrying, return_exceptions=True)
        refused = [one for one in answers if isinstance(one, AqlError)]
        assert [one.error.code for one in refused] == ["CONFLICT_EXECUTION_STATE"]
