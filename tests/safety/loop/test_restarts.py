"""A server that ends after every single step: whatever was begun goes on with the next one, from the store alone."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate import Caller
from headgate.safety.approvals import approve, turn_down, waiting
from headgate.safety.loop.persons import challenges, end_execution, override, show_code, show_token
from headgate.store.opening import open_store
from tests.safety.guarding import Clock, code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, HARMLESS, RISKY, Supervised

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot")
BOT: dict[str, Any] = {"element_name": "bot"}
ORDER: dict[str, Any] = {"order_id": 1}


class Story:
    """What happens, each time on a server that has just started."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = Clock()
        self.kept: dict[str, str] = {}

    @asynccontextmanager
    async def server(self, rules: str = FREE) -> AsyncIterator[Supervised]:
        store = open_store(str(self.path))
        try:
            yield Supervised(store, rules, clock=self.clock)
        finally:
            await store.close()

    async def report(self, hint: str, **more: Any) -> Any:
        async with self.server() as found:
            return await found.report(hint, caller=ROBOT, **more)

    async def goes_on(self, hint: str) -> bool:
        envelope = await self.report(hint)
        return bool(envelope["success"] and envelope["data"]["directive"]["continue"])

    async def call(self, operation: str, params: Any, **more: Any) -> str:
        async with self.server() as found:
            return await found.code(operation, params, **{"caller": ROBOT, **more})

    async def start(self) -> str:
        return await self.call("execute_agent", BOT)

    async def shown(self) -> str:
        """A person is shown a code."""
        async with self.server() as found:
            [challenge] = await challenges(found.store, self.clock())
            self.kept["challenge"] = challenge.id
            code = await show_code(found.store, challenge.id, "console", "ana", self.clock)
            return str(code)

    async def verify(self, code: str) -> str:
        async with self.server() as found:
            return code_of(await found.verify(self.kept["challenge"], code))

    async def decide(self, how: Callable[..., Awaitable[object]]) -> None:
        async with self.server() as found:
            [grant] = await waiting(found.store, self.clock())
            assert await how(found.store, grant.approval_id, "ana", self.clock)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "state.db")


async def test_an_execution_with_its_steps_goes_on(story: Story) -> None:
    assert await story.start() == ""
    for number in range(3):
        assert await story.goes_on(f"read page {number}")
    async with story.server() as found:
        execution = (await found.agent()).execution
        assert execution
        assert (execution.steps, execution.taken) == (3, 3)
        assert [step.hint for step in execution.recent] == [f"read page {number}" for number in range(3)]
    assert await story.call("complete_execution", BOT) == ""
    assert code_of(await story.report(HARMLESS)) == "NOT_FOUND_RESOURCE"


async def test_a_limit_of_steps_is_reached_over_many_servers(story: Story) -> None:
    assert await story.start() == ""
    went_on = [await story.goes_on(f"read page {number}") for number in range(26)]
    assert went_on == [True] * 25 + [False]


async def test_a_pause_that_was_approved_is_over(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(RISKY)
    assert not await story.goes_on(HARMLESS), "it still waits"
    await story.decide(approve)
    assert await story.goes_on(RISKY)
    assert not await story.goes_on(RISKY), "once"


async def test_a_pause_that_was_refused_stays_refused(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(RISKY)
    await story.decide(turn_down)
    assert await story.goes_on(HARMLESS)
    for _ in range(2):
        assert not await story.goes_on(RISKY)


async def test_a_pause_that_is_confirmed_through_another_client_is_over(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(RISKY)
    async with story.server() as found:
        pending = await found.pending()
        token = await show_token(found.store, pending.approval_id, "ana", story.clock)
    async with story.server() as found:
        assert (await found.confirm(pending, str(token)))["success"]
    assert await story.goes_on(RISKY)


@pytest.mark.parametrize("hint", [GRAVE, DEADLY], ids=["paused", "blocked"])
async def test_a_code_that_was_shown_counts_once(story: Story, hint: str) -> None:
    await story.start()
    assert not await story.goes_on(hint)
    code = await story.shown()
    assert await story.verify(code) == ""
    assert await story.verify(code) == "TOKEN_INVALID"
    assert await story.goes_on(hint)
    assert not await story.goes_on(hint)


@pytest.mark.parametrize("hint", [GRAVE, DEADLY], ids=["paused", "blocked"])
async def test_a_wrong_try_makes_a_code_void(story: Story, hint: str) -> None:
    await story.start()
    assert not await story.goes_on(hint)
    code = await story.shown()
    assert await story.verify("WRONG") == "TOKEN_INVALID"
    assert await story.verify(code) == "TOKEN_INVALID"
    assert not await story.goes_on(hint)
    assert await story.verify(await story.shown()) == ""


async def test_a_block_holds_whatever_is_started_called_or_ended(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(DEADLY)
    assert code_of(await story.report(HARMLESS)) == "PERMISSION_DENIED"
    assert await story.start() == "PERMISSION_DENIED"
    assert await story.call("get_order", ORDER) == "PERMISSION_DENIED"
    assert await story.call("complete_execution", BOT) == "PERMISSION_DENIED"
    assert await story.call("execute_agent", {"element_name": "another"}) == "PERMISSION_DENIED"
    async with story.server() as found:
        assert await end_execution(found.store, "bot", "ana", "", story.clock)
    assert await story.start() == "PERMISSION_DENIED"
    story.clock.move(7 * 86400)
    async with story.server() as found:
        await found.gatekeeper.tidy()
    assert await story.start() == "PERMISSION_DENIED", "and time does not heal it"
    assert await story.verify(await story.shown()) == ""
    assert await story.start() == ""


async def test_an_override_counts(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(DEADLY)
    async with story.server() as found:
        assert await override(found.store, "bot", "ana", "a false alarm", story.clock)
    assert await story.goes_on(HARMLESS)
    assert not await story.goes_on(DEADLY)


async def test_a_challenge_expires_while_no_server_runs(story: Story) -> None:
    await story.start()
    assert not await story.goes_on(GRAVE)
    code = await story.shown()
    story.clock.move(300)
    assert await story.verify(code) == "TOKEN_INVALID"
    assert await story.goes_on(HARMLESS)
    assert not await story.goes_on(GRAVE)


async def test_an_operation_that_waits_is_told_and_runs_when_it_was_approved(story: Story) -> None:
    await story.start()
    async with story.server() as found:
        asked = await found.approval("delete_order", ORDER, caller=ROBOT, session=found.session)
        session = found.session
    envelope = await story.report(HARMLESS)
    assert [note["type"] for note in envelope["data"]["directive"]["notifications"]] == ["permission_pending"]
    await story.decide(approve)
    assert await story.call("delete_order", ORDER, token=asked, session=session) == ""
    envelope = await story.report(HARMLESS)
    assert "notifications" not in envelope["data"]["directive"]


async def test_notes_wait_for_the_next_report(story: Story) -> None:
    await story.start()
    await story.goes_on(GRAVE)
    await story.verify(await story.shown())
    envelope = await story.report(HARMLESS)
    [note] = envelope["data"]["directive"]["notifications"]
    assert (note["type"], note["message"]) == ("status", f"A person has verified: {GRAVE}")


async def test_the_rules_that_an_agent_gave_itself_stay(story: Story) -> None:
    params = {**BOT, "autonomy": {"max_autonomous_steps": 2, "deny": ["hum*"], "risk_tolerance": "conservative"}}
    assert await story.call("execute_agent", params) == ""
    assert [await story.goes_on(f"read page {number}") for number in range(3)] == [True, True, False]
    await story.decide(approve)
    await story.goes_on("hum a tune")
    async with story.server() as found:
        assert (await found.agent()).block is not None


@pytest.mark.parametrize("mode", ["monitoring", "logging", "disabled"])
async def test_a_block_is_still_there_after_a_time_in_which_nothing_was_enforced(story: Story, mode: str) -> None:
    await story.start()
    assert not await story.goes_on(DEADLY)
    async with story.server(FREE.replace("enforcing", mode)) as found:
        assert (await found.step(DEADLY, caller=ROBOT))["continue"] is True
    assert code_of(await story.report(HARMLESS)) == "PERMISSION_DENIED"


async def test_the_audit_is_one_chain_over_all_servers(story: Story) -> None:
    await story.start()
    for hint in (HARMLESS, GRAVE):
        await story.goes_on(hint)
    await story.verify(await story.shown())
    await story.goes_on(GRAVE)
    async with story.server() as found:
        events = [event for event in await found.events() if event != "proposed"]
    assert events == [
        "agent started",
        "agent step",
        "agent step",
        "agent paused",
        "code shown",
        "verified",
        "agent step",
    ]
