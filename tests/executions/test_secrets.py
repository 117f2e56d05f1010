"""Secrets among the parameters: not kept where one process does all, and nowhere longer than the work goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import anyio.to_thread
import pytest

from headgate import Adapter, Background, Caller, Param, Session
from headgate.adapter.background import Interrupted
from headgate.adapter.operations import Operation
from headgate.executions.desks import Desk
from headgate.executions.host import Failed
from headgate.executions.ledger import Ledger
from headgate.executions.results import Cut
from headgate.executions.service import Executions, Start
from headgate.protocol.lifecycle import State
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import BROKEN, HASTY, NOW, begun, brought, found, ledger_of, reached, result, running

pytestmark = pytest.mark.anyio

SECRET = "correct-horse-battery"  # noqa: S105
ANN = Caller("ann")


def operation(background: Background | None = None) -> Operation:
    library = Adapter("library")

    @library.execute(background=background or True)
    async def execute_import(place: str, api_key: Annotated[str, Param(sensitive=True)]) -> str:
        """Import books.

        Args:
            place: Where they are.
            api_key: What opens the door there.
        """
        raise NotImplementedError

    return library.operations["execute_import"]


@asynccontextmanager
async def serving(store: SqlStore) -> AsyncIterator[Executions]:
    executions = Executions("library", store, pace=HASTY)
    try:
        yield executions
    finally:
        await executions.close()


async def started(executions: Executions, background: Background | None = None) -> Execution:
    params = {"place": "Rome", "api_key": SECRET}
    asked = Start(operation=operation(background), params=params, caller=ANN, session=Session(), request_id="req_1")
    execution, _ = await executions.start(asked)
    return execution


async def everything(store: SqlStore) -> str:
    """Every text that is kept of executions."""
    kept = await store.transact(_rows_of_all_tables)
    assert kept
    return repr(kept)


def _rows_of_all_tables(transaction: Transaction) -> list[object]:
    tables = ["executions", "execution_pieces", "workers", "audit_rows", "records", "meta"]
    return [row for table in tables for row in transaction.rows(f"SELECT * FROM headgate.{table}")]  # noqa: S608


class Work:
    """Work that notes what it was given, and ends as it is told."""

    def __init__(self, executions: Executions, end: State) -> None:
        self.executions = executions
        self.end = end
        self.given: list[object] = []
        executions.perform = self

    async def __call__(self, desk: Desk) -> Cut:
        self.given.append(self.executions.params_of(desk.execution)["api_key"])
        desk.report(1, 2, "at the door")
        if self.end is State.CANCELLED:
            await asyncio.sleep(60)
        if self.end is State.FAILED:
            raise Failed(BROKEN)
        return result("done")


ENDS = [State.COMPLETED, State.FAILED, State.CANCELLED]


@pytest.mark.parametrize("end", ENDS)
async def test_where_one_process_does_all_secrets_never_reach_the_disk(tmp_path: Path, end: State) -> None:
    store = open_store(str(tmp_path / "state.db"))
    try:
        async with serving(store) as executions:
            work = Work(executions, end)
            execution = await started(executions, Background(retries=1, backoff=0.001))
            if end is State.CANCELLED:
                await reached(executions.ledger, execution, State.RUNNING)
                await executions.cancel(execution.id, ANN)
            await reached(executions.ledger, execution, end)
            assert work.given == [SECRET] * (2 if end is State.FAILED else 1)
            assert "Rome" in await everything(store), "what is no secret may be seen"
            written = await anyio.to_thread.run_sync(lambda: b"".join(one.read_bytes() for one in tmp_path.iterdir()))
            assert execution.id.encode() in written
            assert SECRET.encode() not in written
            end_of = executions.host.end_of(execution.id)
            if end_of is not None:
                await end_of.wait()
            assert dict(executions.params_of(execution)) == {}, "nor does the process keep them"
    finally:
        await store.close()


@pytest.mark.parametrize("interrupted", ["fail", "resume"])
async def test_secrets_are_kept_only_where_another_process_may_need_them(
    store: SqlStore, interrupted: Interrupted
) -> None:
    async with serving(store) as executions:
        Work(executions, State.CANCELLED)
        execution = await started(executions, Background(interrupted=interrupted))
        is_kept = store.is_shared or interrupted == "resume"
        assert (SECRET in await everything(store)) is is_kept
        assert executions.params_of(await found(executions.ledger, execution))["api_key"] == SECRET


Ending = Callable[[Ledger, Execution], Awaitable[object]]
ENDINGS: dict[str, Ending] = {
    "completed": lambda ledger, one: ledger.complete(one, result(1)),
    "failed": lambda ledger, one: ledger.fail(one, BROKEN),
    "cancelled": lambda ledger, one: ledger.cancel(one),
    "handed over": lambda ledger, one: ledger.hand_over(one),
    "left behind": lambda ledger, _: ledger.recover(),
}


async def test_whatever_the_end_is_secrets_go_with_it(store: SqlStore) -> None:
    ledger = ledger_of(store)
    params = json.dumps({"api_key": SECRET})
    for name, end in ENDINGS.items():
        execution = await running(ledger, hides=True, params=params)
        assert SECRET in await everything(store)
        await end(ledger, execution)
        assert (await found(ledger, execution)).params == "{}", name
    for state in (State.PENDING, State.RETRYING):
        waiting = await brought(ledger, State.PENDING, hides=True, params=params)
        if state is State.RETRYING:
            await ledger.again(await begun(ledger, waiting), BROKEN, NOW)
        assert SECRET in await everything(store), "the next attempt needs them"
        await ledger.ask_to_stop(waiting.id, "ann")
        assert (await found(ledger, waiting)).params == "{}", state
    assert SECRET not in await everything(store)


async def test_parameters_without_secrets_stay_for_a_retry(store: SqlStore) -> None:
    ledger = ledger_of(store)
    failed = await brought(ledger, State.FAILED, params='{"place": "Rome"}')
    assert failed.params == '{"place": "Rome"}'
    again = await ledger.retry(failed.id, None)
    assert again is not None
    assert again.params == failed.params
