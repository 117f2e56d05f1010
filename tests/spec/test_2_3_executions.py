"""Specification 2.3.3 and 2.3.4: what becomes of long work when its session ends."""

import asyncio

import pytest

from headgate import Adapter, Background, Context, mcp_server
from tests.spec.conftest import Connect, ConnectTo
from tests.spec.test_8_4_lifecycle import WAIT, arrivals, completed, state_of
from tests.spec.wires import Aql, Wire, data_of

pytestmark = pytest.mark.anyio

ENDINGS = [
    pytest.param(wire, ending, id=f"{wire.name}-{ending}", marks=pytest.mark.xdist_group(wire.name))
    for wire, ending in [
        (Wire("memory", "modern"), "orderly"),
        (Wire("memory", "modern"), "dropped"),
        (Wire("memory", "legacy"), "orderly"),
        (Wire("memory", "legacy"), "dropped"),
        (Wire("stdio", "modern"), "dropped"),
        (Wire("stdio", "legacy"), "orderly"),
        (Wire("http", "legacy"), "orderly"),
    ]
]
"""Where a session has an end that a server can see."""


class Bound:
    """Work of each kind that ends with its session, in one."""

    def __init__(self, aql: Aql, key: str) -> None:
        self._aql = aql
        self._key = key
        self.ids: dict[str, str] = {}

    async def start(self) -> None:
        """Have one that runs, one that waits for it, one that waits for its next attempt, and one that is to fail."""
        await self._start("running", "execute_tour", lane=f"{self._key}-a")
        assert await arrivals(self._aql, f"{self._key}-a", 1) == ["attempt 1"]
        await self._start("pending", "execute_tour", lane=f"{self._key}-a")
        data_of(await self._aql.execute("execute_opening", lane=f"{self._key}-b"))
        await self._start("retrying", "execute_tour", lane=f"{self._key}-b", failures=1)
        await self._start("failing", "execute_patrol", lane=f"{self._key}-c")
        assert await arrivals(self._aql, f"{self._key}-c", 1) == ["attempt 1"]
        while (await state_of(self._aql, self.ids["retrying"], 0.05)).get("state") != "retrying":
            pass

    async def _start(self, name: str, operation: str, **params: object) -> None:
        self.ids[name] = data_of(await self._aql.execute(operation, **params))["execution_id"]


@pytest.mark.parametrize(("wire", "ending"), ENDINGS, indirect=["wire"])
@pytest.mark.proves(
    "spec-2.3.3-execute-context-ends-with-session",
    "spec-2.3.3-unfinished-executions-fail-or-cancel",
    "spec-2.3.3-state-invalidated-on-any-end",
    "spec-8.4.2-terminal-states-are-final",
)
async def test_what_is_bound_to_a_session_ends_with_it_and_what_has_ended_before_stays_as_it_was(
    connect: Connect, wire: Wire, key: str, ending: str
) -> None:
    async with connect() as before:
        bound = Bound(before, key)
        await bound.start()
        done = await completed(before, f"{key}-d")
        known = await state_of(before, done)
        if ending == "dropped":
            before.drop()
    async with connect() as after:
        found = {name: (await state_of(after, one, WAIT))["status"] for name, one in bound.ids.items()}
        if wire.transport != "stdio":
            assert found == {
                "running": "cancelled",
                "pending": "cancelled",
                "retrying": "cancelled",
                "failing": "failed",
            }
            assert await arrivals(after, f"{key}-a", 0) == ["attempt 1", "cleaned up"]
            assert await arrivals(after, f"{key}-b", 0) == ["attempt 1"]
            error = (await state_of(after, bound.ids["failing"]))["error"]
            assert error["code"] == "INTERNAL_SESSION_ENDED"
        else:  # where the server may be gone before it has told how its work ended
            assert set(found.values()) <= {"failed", "cancelled"}
        assert await state_of(after, done) == known
        result = data_of(await after.read("get_execution_result", execution_id=done))
        assert result["result"] == ["home", "news", "help", "about"]


@pytest.mark.parametrize("ending", ["orderly", "dropped"])
@pytest.mark.proves("spec-2.3.3-execute-context-ends-with-session")
async def test_what_is_detached_belongs_to_no_session_and_goes_on(connect_to: ConnectTo, key: str, ending: str) -> None:
    adapter = Adapter("detached")
    seen: list[str] = []

    @adapter.execute(background=Background(session="detached"))
    async def execute_walk(ctx: Context) -> str:
        """Walk on."""
        ctx.session.state["seen"] = "kept"
        seen.append(ctx.session.id)
        begun.set()
        await go.wait()
        return "there"

    begun, go = asyncio.Event(), asyncio.Event()
    server = mcp_server(adapter)
    async with connect_to(server) as before:
        execution_id = data_of(await before.execute("execute_walk"))["execution_id"]
        await begun.wait()
        if ending == "dropped":
            before.drop()
    async with connect_to(server) as after:
        assert (await state_of(after, execution_id))["status"] == "running"
        go.set()
        result = data_of(await after.read("get_execution_result", execution_id=execution_id, wait_seconds=WAIT))
        assert result["result"] == "there"
        own = (await after.introspect("operations"))["_protocol"]["session_id"]
        assert seen != [own]


@pytest.mark.parametrize(
    "wire",
    [pytest.param(Wire("http", "modern"), id="http-modern", marks=pytest.mark.xdist_group("http-modern"))],
    indirect=True,
)
@pytest.mark.proves("spec-2.3.3-unfinished-executions-fail-or-cancel")
async def test_where_there_is_no_session_a_caller_learns_that_the_work_goes_on(aql: Aql, key: str) -> None:
    answer = await aql.execute("execute_tour", lane=key)
    execution_id = data_of(answer)["execution_id"]
    assert [warning["code"] for warning in answer["warnings"]] == ["EXECUTION_UNBOUND_WARNING"]
    assert await arrivals(aql, key, 1) == ["attempt 1"]
    data_of(await aql.execute("cancel_execution", execution_id=execution_id))
    assert (await state_of(aql, execution_id, WAIT))["status"] == "cancelled"
    unbound = await aql.execute("execute_crawl", lane=f"{key}-b", dry_run=True)
    assert "warnings" not in unbound


@pytest.mark.proves("spec-2.3.3-unfinished-executions-fail-or-cancel")
async def test_one_session_does_not_end_the_work_of_another(connect_to: ConnectTo, key: str) -> None:
    adapter = Adapter("sessions")

    @adapter.execute(background=Background(session="cancel"))
    async def execute_stay() -> None:
        """Stay."""
        begun.release()
        await asyncio.Event().wait()

    begun = asyncio.Semaphore(0)
    server = mcp_server(adapter)
    async with connect_to(server) as staying:
        kept = data_of(await staying.execute("execute_stay"))["execution_id"]
        async with connect_to(server) as leaving:
            left = data_of(await leaving.execute("execute_stay"))["execution_id"]
            await begun.acquire()
            await begun.acquire()
        assert (await state_of(staying, left, WAIT))["status"] == "cancelled"
        assert (await state_of(staying, kept))["status"] == "running"
    async with connect_to(server) as after:
        assert (await state_of(after, kept, WAIT))["status"] == "cancelled"
