"""Whoever finds that something has changed meanwhile looks again, and does it once, or finds that it is done."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from headgate import Caller
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.persons import end_execution, override, show_code, show_token
from headgate.store.audit import Entry
from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, HARMLESS, RISKY, Supervised

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot")
BOT: dict[str, Any] = {"element_name": "bot"}
KINDS = ("agent", "agent mark", "grant", "challenge", "lockout")


class Rival(SqlStore):
    """A store in which somebody else is always a little quicker, as often as is said."""

    def __init__(self, store: SqlStore) -> None:
        vars(self).update(vars(store))
        self.meanwhile: list[Callable[[], Awaitable[object]]] = []

    async def replace(self, record: Record, entries: Sequence[Entry] = ()) -> bool:
        await self._be_late()
        return await super().replace(record, entries)

    async def change(self, records: Sequence[Record], entries: Sequence[Entry] = ()) -> bool:
        await self._be_late()
        return await super().change(records, entries)

    async def _be_late(self) -> None:
        if self.meanwhile:
            await self.meanwhile.pop(0)()

    async def touch(self) -> None:
        """Write everything as it is, so that whoever has read it is too late."""
        for kind in KINDS:
            for record in await self.list(kind):
                assert await super().replace(record)


@pytest.fixture
async def found() -> AsyncIterator[Supervised]:
    store = Rival(open_store("memory:"))
    supervised = Supervised(store, FREE)
    await supervised.start(caller=ROBOT)
    yield supervised
    await store.close()


def rival(found: Supervised) -> Rival:
    assert isinstance(found.store, Rival)
    return found.store


def late(found: Supervised, times: int = 3) -> None:
    rival(found).meanwhile = [rival(found).touch] * times


async def test_a_step_is_recorded_once(found: Supervised) -> None:
    late(found)
    assert (await found.step(caller=ROBOT))["continue"] is True
    kept = await found.agent()
    assert kept.execution
    assert kept.execution.steps == 1
    assert (await found.events()).count("agent step") == 1


@pytest.mark.parametrize("hint", [RISKY, GRAVE, DEADLY])
async def test_what_holds_an_agent_up_is_made_once(found: Supervised, hint: str) -> None:
    late(found)
    assert (await found.step(hint, caller=ROBOT))["continue"] is False
    held = [*await found.store.list("grant"), *await found.store.list("challenge")]
    assert len(held) == 1


@pytest.mark.parametrize("operation", ["complete_execution", "abort_execution"])
async def test_an_execution_is_ended_once(found: Supervised, operation: str) -> None:
    await found.step(RISKY, caller=ROBOT)
    late(found)
    assert await found.code(operation, BOT, caller=ROBOT) == ""
    assert (await found.agent()).execution is None


async def test_an_agent_is_started_once(found: Supervised) -> None:
    assert await found.code("complete_execution", BOT, caller=ROBOT) == ""
    late(found)
    await found.start(caller=ROBOT)
    assert (await found.events()).count("agent started") == 2


async def test_a_person_ends_an_execution_once(found: Supervised) -> None:
    late(found)
    assert await end_execution(found.store, "bot", "ana", "enough", found.clock)
    assert (await found.events()).count("agent aborted") == 1


async def test_a_person_who_is_too_late_to_end_an_execution_is_told(found: Supervised) -> None:
    async def end() -> None:
        assert await end_execution(found.store, "bot", "bo", "first", found.clock)

    rival(found).meanwhile = [end]
    assert not await end_execution(found.store, "bot", "ana", "second", found.clock)


async def test_a_block_is_lifted_once(found: Supervised) -> None:
    await found.blocked(caller=ROBOT)
    late(found)
    assert await override(found.store, "bot", "ana", "a false alarm", found.clock)
    assert (await found.events()).count("block overridden") == 1


async def test_a_code_is_shown_once(found: Supervised) -> None:
    challenge = await found.blocked(caller=ROBOT)
    late(found)
    code = await show_code(found.store, challenge.id, "console", "ana", found.clock)
    assert len((await found.challenge()).codes) == 1
    assert (await found.verify(challenge.id, str(code)))["success"]


async def test_a_token_is_shown_once(found: Supervised) -> None:
    await found.step(RISKY, caller=ROBOT)
    pending = await found.pending()
    late(found)
    token = await show_token(found.store, pending.approval_id, "ana", found.clock)
    assert (await found.confirm(pending, str(token)))["success"]


async def test_a_confirmation_is_given_once(found: Supervised) -> None:
    await found.step(RISKY, caller=ROBOT)
    pending = await found.pending()
    token = await found.token_for(pending)
    late(found)
    assert (await found.confirm(pending, token))["success"]
    assert (await found.events()).count("approved") == 1


@pytest.mark.parametrize("hint", [GRAVE, DEADLY])
async def test_a_verification_that_is_right_is_right_whatever_happens_meanwhile(found: Supervised, hint: str) -> None:
    await found.step(hint, caller=ROBOT)
    challenge = await found.challenge()
    code = await found.code_for(challenge)
    late(found)
    assert (await found.verify(challenge.id, code))["success"]
    assert (await found.events()).count("verified") == 1


async def test_a_verification_that_fails_is_counted_once(found: Supervised) -> None:
    challenge = await found.blocked(caller=ROBOT)
    late(found)
    assert code_of(await found.verify(challenge.id, "WRONG")) == "TOKEN_INVALID"
    assert (await found.challenge()).failures == 1
    assert (await found.events()).count("verification failed") == 1


async def test_a_code_for_a_block_that_is_lifted_meanwhile_has_failed(found: Supervised) -> None:
    challenge = await found.blocked(caller=ROBOT)
    code = await found.code_for(challenge)

    async def lift() -> None:
        assert await override(found.store, "bot", "ana", "a false alarm", found.clock)

    rival(found).meanwhile = [lift]
    assert code_of(await found.verify(challenge.id, code)) == "TOKEN_INVALID"
    assert (await found.agent()).leave is None


async def test_a_lockout_is_made_once_and_by_whoever_comes_first(found: Supervised) -> None:
    challenge = await found.blocked(caller=ROBOT)
    for _ in range(9):
        await found.verify(challenge.id, "WRONG")

    async def lock() -> None:
        rival(found).meanwhile = []
        assert code_of(await found.verify(challenge.id, "WRONG")) == "TOKEN_INVALID"

    async def nothing() -> None:
        """The first write makes the codes void, the second is the lockout."""

    rival(found).meanwhile = [nothing, lock]
    assert code_of(await found.verify(challenge.id, "WRONG")) == "TOKEN_INVALID"
    kept = await found.store.find("lockout", "bot")
    assert kept
    assert kept.value["times"] == 1, "two that lock at once do not make it longer"


async def test_an_operation_that_waits_is_noted_whatever_is_written_meanwhile(found: Supervised) -> None:
    late(found, 2)
    asked = await found.approval("delete_order", {"order_id": 1}, caller=ROBOT)
    assert (await found.agent()).waiting == (asked.removeprefix("appr_"),)


async def test_an_operation_that_waits_for_an_agent_that_is_forgotten_meanwhile_still_waits(found: Supervised) -> None:
    async def forget() -> None:
        assert await found.store.remove("agent", "bot")

    rival(found).meanwhile = [forget]
    assert await found.approval("delete_order", {"order_id": 1}, caller=ROBOT)
    assert (await found.pending()).agent == "bot"


async def test_a_challenge_that_lapsed_is_renewed_once(found: Supervised) -> None:
    await found.blocked(caller=ROBOT)
    found.clock.move(301)
    late(found)
    assert code_of(await found.report(caller=ROBOT)) == "PERMISSION_DENIED"
    assert len(await found.store.list("challenge")) == 2


async def test_an_agent_whose_block_is_lifted_as_its_challenge_is_renewed_goes_on(found: Supervised) -> None:
    await found.blocked(caller=ROBOT)
    found.clock.move(301)

    async def lift() -> None:
        assert await override(found.store, "bot", "ana", "a false alarm", found.clock)

    rival(found).meanwhile = [lift]
    envelope = await found.report(caller=ROBOT)
    assert envelope["success"] or code_of(envelope) == "PERMISSION_DENIED"
    assert (await found.step(HARMLESS, caller=ROBOT))["continue"] is True
    assert len(await found.store.list("challenge")) == 1


async def test_an_agent_that_is_forgotten_as_its_challenge_is_renewed_is_unknown(found: Supervised) -> None:
    await found.blocked(caller=ROBOT)
    found.clock.move(301)

    async def forget() -> None:
        assert await found.store.remove("agent", "bot")

    rival(found).meanwhile = [forget]
    assert not (await found.report(caller=ROBOT))["success"]
    assert code_of(await found.report(caller=ROBOT)) == "NOT_FOUND_RESOURCE"


async def test_a_session_that_ends_ends_its_execution_whatever_is_written_meanwhile(found: Supervised) -> None:
    await found.start("other")
    found.gatekeeper.session_ended(found.session.id)
    late(found)
    await found.gatekeeper.tidy()
    assert (await found.agent("other")).execution is None


async def test_an_execution_that_ends_as_its_session_does_is_ended_once(found: Supervised) -> None:
    await found.start("other")

    async def end() -> None:
        assert await end_execution(found.store, "other", "ana", "", found.clock)

    found.gatekeeper.session_ended(found.session.id)
    rival(found).meanwhile = [end]
    await found.gatekeeper.tidy()
    assert (await found.events()).count("agent aborted") == 1


async def test_an_agent_is_told_of_a_failure_whatever_is_written_meanwhile(found: Supervised) -> None:
    async def broken(_challenge: Challenge) -> None:
        late(found)
        raise ConnectionError

    found.loop.announce = broken
    await found.step(GRAVE, caller=ROBOT)
    assert [note.type for note in (await found.agent()).notes] == ["error"]


async def test_nobody_is_told_of_a_failure_who_is_forgotten_meanwhile(found: Supervised) -> None:
    async def broken(_challenge: Challenge) -> None:
        assert await found.store.remove("agent", "bot")
        raise ConnectionError

    found.loop.announce = broken
    assert (await found.step(GRAVE, caller=ROBOT))["continue"] is False
    [record] = await found.store.list(CHALLENGE)
    assert Challenge.read(record).agent == "bot"
