"""Section 8.8: codes that only a person sees, and blocks that nothing else lifts."""

import math
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from headgate import Caller, Session
from headgate.safety.approvals import waiting
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges, end_execution, override, show_code
from headgate.store.opening import open_store
from tests.safety.guarding import Clock, code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, HARMLESS, Supervised, supervised

pytestmark = pytest.mark.anyio

_CODE = re.compile(r"[2-9A-HJKMNP-TV-Z]{4}(-[2-9A-HJKMNP-TV-Z]{4}){6}\Z")


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    async with supervised() as found:
        await found.start()
        yield found


# Codes


@pytest.mark.proves("spec-8.8.2-verification-code-unpredictable", "spec-8.8.4-code-not-derivable")
async def test_codes_have_128_bits_and_nothing_in_common(agent: Supervised) -> None:
    challenge = await agent.blocked()
    codes = [await agent.code_for(challenge) for _ in range(300)]
    assert len(set(codes)) == 300
    assert all(_CODE.match(code) for code in codes)
    letters = Counter("".join(codes).replace("-", ""))
    length = len(codes[0].replace("-", ""))
    assert length * math.log2(len(letters)) >= 128
    expected = 300 * length / len(letters)
    assert max(letters.values()) < 1.5 * expected
    assert min(letters.values()) > 0.6 * expected


async def test_a_code_may_be_typed_in_any_case_and_spacing(agent: Supervised) -> None:
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    assert (await agent.verify(challenge.id, f"  {code.lower().replace('-', ' ')} "))["success"]


@pytest.mark.proves(
    "spec-8.8.2-code-shown-out-of-band",
    "spec-8.8.2-code-absent-from-agent-channels",
    "spec-8.8.4-code-not-in-tool-results",
    "spec-8.8.4-code-not-in-errors",
)
async def test_nothing_that_an_agent_is_answered_holds_a_code(agent: Supervised) -> None:
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    plain = code.replace("-", "")
    answers = [
        await agent.report(HARMLESS),
        await agent.verify(challenge.id, code, session=agent.session),
        await agent.call("introspect", {"query": "safety_loop"}, session=agent.desk),
        await agent.call("introspect", {"query": "operations", "name": "verify_challenge"}, session=agent.desk),
        await agent.verify("no-such-challenge", code),
        await agent.verify(challenge.id, code),
        await agent.verify(challenge.id, code),
    ]
    for text in (str(answers), await agent.told()):
        assert code not in text
        assert plain not in text
    stored = [record async for record in _records(agent)]
    assert not any(plain in text or code in text for text in stored)


async def _records(agent: Supervised) -> AsyncIterator[str]:
    for kind in ("agent", "agent mark", "challenge", "grant", "lockout"):
        for record in await agent.store.list(kind):
            yield str(record)


# Verification


@pytest.mark.proves("spec-8.8-high-tiers-need-verification")
@pytest.mark.parametrize("hint", [GRAVE, DEADLY])
async def test_a_person_releases_an_agent_for_what_it_was_held_up_for(agent: Supervised, hint: str) -> None:
    await agent.step(hint)
    await agent.release()
    assert (await agent.step(hint))["continue"] is True
    assert (await agent.step(hint))["continue"] is False, "it was verified once"


async def test_a_code_counts_once(agent: Supervised) -> None:
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    assert (await agent.verify(challenge.id, code))["success"]
    assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID"


async def test_a_wrong_try_makes_every_code_void_and_a_new_one_counts(agent: Supervised) -> None:
    challenge = await agent.blocked()
    first, second = await agent.code_for(challenge), await agent.code_for(challenge)
    assert code_of(await agent.verify(challenge.id, "WRONG")) == "TOKEN_INVALID"
    for code in (first, second):
        assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID"
    assert (await agent.agent()).block is not None
    assert (await agent.verify(challenge.id, await agent.code_for(challenge)))["success"]


async def test_before_somebody_has_asked_to_see_a_code_none_counts(agent: Supervised) -> None:
    challenge = await agent.blocked()
    for given in ("", "-", " ", challenge.id):
        assert not (await agent.verify(challenge.id, given))["success"]
    assert (await agent.agent()).block is not None


async def test_a_code_of_one_challenge_is_none_of_another(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    first = await agent.blocked()
    await agent.step(DEADLY, name="other", session=other)
    [second] = [one for one in await challenges(agent.store, agent.clock()) if one.id != first.id]
    code = await agent.code_for(first)
    assert code_of(await agent.verify(second.id, code)) == "TOKEN_INVALID"
    assert (await agent.verify(first.id, code))["success"]


async def test_of_two_verifications_at_once_one_counts(agent: Supervised) -> None:
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    answers: list[str] = []

    async def one() -> None:
        answers.append(code_of(await agent.verify(challenge.id, code, session=Session())))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(one)
    assert sorted(answers) == ["", *["TOKEN_INVALID"] * 4]


# Times


@pytest.mark.proves("spec-8.8.2-challenges-expire-by-default", "spec-8.8.2-expired-challenges-count-as-failed")
@pytest.mark.parametrize(("text", "seconds"), [(FREE, 300), (f"{FREE}challenge_seconds = 40\n", 40)])
async def test_a_challenge_expires(text: str, seconds: int) -> None:
    async with supervised(text) as found:
        await found.start()
        challenge = await found.blocked()
        code = await found.code_for(challenge)
        found.clock.move(seconds - 1)
        early = await found.code_for(challenge)
        found.clock.move(1)
        for given in (code, early):
            assert code_of(await found.verify(challenge.id, given)) == "TOKEN_INVALID"
        assert (await found.agent()).block is not None
        fresh = await found.code_for(challenge)
        assert (await found.verify(challenge.id, fresh))["success"], "a block waits longer than its challenge"


async def test_a_pause_whose_challenge_has_lapsed_shows_no_more_codes(agent: Supervised) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    agent.clock.move(300)
    assert await show_code(agent.store, challenge.id, "console", "ana", agent.clock) is None
    assert await challenges(agent.store, agent.clock()) == []


async def test_what_blocks_waits_for_a_person_however_long_it_takes(agent: Supervised) -> None:
    challenge = await agent.blocked()
    late = await agent.code_for(challenge)
    agent.clock.move(86400)
    assert [one.id for one in await challenges(agent.store, agent.clock())] == [challenge.id]
    code = await agent.code_for(challenge)
    assert code != late
    agent.clock.move(301)
    assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID", "a code counts for five minutes"
    await agent.release(challenge)
    assert await challenges(agent.store, agent.clock()) == []


async def test_a_block_whose_challenge_has_lapsed_gets_a_new_one(agent: Supervised) -> None:
    first = await agent.blocked()
    agent.clock.move(301)
    envelope = await agent.report()
    second = await agent.challenge()
    assert second.id != first.id
    assert envelope["error"]["details"]["verification_id"] == second.id
    await agent.release(second)
    assert (await agent.step(DEADLY))["continue"] is True


@pytest.mark.proves("spec-8.8.3-pending-verify-keeps-pausing", "spec-8.8.3-expired-verify-is-reevaluated")
async def test_while_a_challenge_is_open_every_step_waits_and_after_it_all_is_evaluated_afresh(
    agent: Supervised,
) -> None:
    await agent.step(GRAVE)
    first = await agent.challenge()
    for hint in (HARMLESS, GRAVE):
        directive = await agent.step(hint)
        assert directive["continue"] is False
        assert first.id in directive["reason"]
    agent.clock.move(301)
    assert (await agent.step(HARMLESS))["continue"] is True
    assert (await agent.step(GRAVE))["continue"] is False
    assert (await agent.challenge()).id != first.id


# Blocks


@pytest.mark.proves("spec-8.8.3-blocked-agent-operations-rejected", "spec-8.8.3-new-execution-keeps-block")
@pytest.mark.parametrize("name", ["bot", "BOT", "b\u200bot", "ｂｏｔ", "bоt"], ids=ascii)
async def test_a_blocked_agent_does_not_get_free_by_a_new_execution(agent: Supervised, name: str) -> None:
    await agent.blocked()
    assert await end_execution(agent.store, "bot", "ana", "start anew", agent.clock)
    for session in (agent.session, Session()):
        envelope = await agent.call("execute_agent", {"element_name": name}, session=session)
        assert code_of(envelope) == "PERMISSION_DENIED"
    assert (await agent.agent()).block is not None


async def test_another_name_in_the_same_session_does_not_help(agent: Supervised) -> None:
    await agent.blocked()
    assert await agent.code("execute_agent", {"element_name": "another"}) == "PERMISSION_DENIED"


async def test_other_agents_go_on(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    await agent.blocked()
    assert (await agent.step(name="other", session=other))["continue"] is True


@pytest.mark.parametrize(
    ("operation", "who", "is_let"),
    [
        pytest.param("create_note", {}, False, id="another session changes something"),
        pytest.param("get_order", {}, True, id="another session looks"),
        pytest.param("create_note", {"caller": Caller(subject="clerk", client_id="desk")}, True, id="a proven caller"),
    ],
)
async def test_who_cannot_be_told_from_a_blocked_agent_changes_nothing(
    agent: Supervised, operation: str, who: dict[str, Any], is_let: bool
) -> None:
    challenge = await agent.blocked()
    params: dict[str, Any] = {"order_id": 1} if operation == "get_order" else {"text": "hello"}
    envelope = await agent.call(operation, params, session=Session(), **who)
    assert envelope["success"] is is_let, envelope
    assert bool(agent.done) is is_let
    if not is_let:
        assert envelope["error"]["details"]["agent"] == "bot"
        assert "authenticate" in envelope["error"]["message"]
    await agent.release(challenge)
    assert (await agent.call(operation, params, session=Session(), **who))["success"]


async def test_who_works_under_the_loop_is_not_taken_for_another_agent_that_is_blocked(agent: Supervised) -> None:
    session = Session()
    await agent.start("clerk", session=session)
    await agent.blocked()
    assert (await agent.call("create_note", {"text": "hello"}, session=session))["success"]


@pytest.mark.parametrize("start", ["free", "person"])
async def test_nobody_without_a_name_begins_anew_while_an_agent_is_blocked(start: str) -> None:
    async with supervised(f'[autonomy]\nmode = "enforcing"\nstart = "{start}"\n') as found:
        await found.start()
        await found.blocked()
        for name in ("bot", "another"):
            envelope = await found.call("execute_agent", {"element_name": name}, session=Session())
            assert code_of(envelope) == "PERMISSION_DENIED"
            assert "is blocked" in envelope["error"]["message"]
        assert await waiting(found.store, found.clock()) == [], "nobody was asked"
        named = Caller(subject="other", client_id="host")
        await found.start("another", caller=named, session=Session())


async def test_an_administrator_lifts_a_block_with_a_reason_that_is_audited(agent: Supervised) -> None:
    challenge = await agent.blocked()
    assert await override(agent.store, "BOT", "ana", "a false alarm", agent.clock)
    entry = next(entry for entry in await agent.audit() if entry.event == "block overridden")
    assert (entry.details["by"], entry.details["reason"]) == ("ana", "a false alarm")
    directive = await agent.step()
    assert directive["continue"] is True
    assert any("lifted" in note["message"] for note in directive["notifications"])
    assert (await agent.step(DEADLY))["continue"] is False, "what it was stopped for is not approved"
    assert not await override(agent.store, "nobody", "ana", "x", agent.clock)
    assert challenge.id not in [one.id for one in await challenges(agent.store, agent.clock())]


# Restarts


@pytest.mark.proves("spec-8.8.3-hard-block-survives-restart", "spec-8.8.5-rate-limit-survives-restart")
async def test_blocks_codes_and_lockouts_are_still_there_after_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    code, challenge = await _blocked_on(tmp_path / "state.db", clock)
    store = open_store(str(tmp_path / "state.db"))
    try:
        found = Supervised(store, clock=clock)
        assert code_of(await found.report(session=Session())) == "PERMISSION_DENIED"
        assert await found.code("execute_agent", {"element_name": "bot"}) == "PERMISSION_DENIED"
        assert (await found.verify(challenge.id, code))["success"], "a code that was shown before still counts"
        await found.start("other")
        second = await found.blocked(name="other")
        for _ in range(9):
            await found.verify(second.id, "WRONG")
    finally:
        await store.close()
    again = open_store(str(tmp_path / "state.db"))
    try:
        found = Supervised(again, clock=clock)
        assert code_of(await found.verify(second.id, "WRONG")) == "TOKEN_INVALID"
        code = await found.code_for(second)
        assert code_of(await found.verify(second.id, code)) == "RATE_LIMIT_EXCEEDED"
    finally:
        await again.close()


async def _blocked_on(path: Path, clock: Clock) -> tuple[str, Challenge]:
    store = open_store(str(path))
    try:
        found = Supervised(store, clock=clock)
        await found.start()
        challenge = await found.blocked()
        return await found.code_for(challenge), challenge
    finally:
        await store.close()


# Guessing


@pytest.mark.proves(
    "spec-8.8.5-failed-verifications-rate-limited",
    "spec-8.8.5-over-limit-verification-refused",
    "spec-8.8.5-failed-verification-is-audited",
)
async def test_after_ten_failures_nothing_is_verified_for_a_while_that_doubles(agent: Supervised) -> None:
    challenge = await agent.blocked()
    for round_, seconds in enumerate((60, 120, 240)):
        for _ in range(10):
            assert code_of(await agent.verify(challenge.id, "WRONG", session=Session())) == "TOKEN_INVALID"
        code = await agent.code_for(challenge)
        envelope = await agent.verify(challenge.id, code)
        assert code_of(envelope) == "RATE_LIMIT_EXCEEDED"
        assert envelope["error"]["details"]["retry_after_seconds"] == seconds
        agent.clock.move(seconds)
        failures = [entry for entry in await agent.audit() if entry.event == "verification failed"]
        assert len([entry for entry in failures if entry.code == "TOKEN_INVALID"]) == 10 * (round_ + 1)
        assert all(entry.details["agent"] == "bot" for entry in failures)
        if agent.clock() >= challenge.expires_at:
            await agent.report()
            challenge = await agent.challenge()
    await agent.release(challenge)


async def test_failures_for_one_agent_are_none_of_anothers(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    first = await agent.blocked()
    await agent.step(DEADLY, name="other", session=other)
    [second] = [one for one in await challenges(agent.store, agent.clock()) if one.id != first.id]
    for _ in range(10):
        await agent.verify(first.id, "WRONG")
    assert (await agent.verify(second.id, await agent.code_for(second)))["success"]


async def test_guesses_at_challenges_that_do_not_exist_are_counted_too(agent: Supervised) -> None:
    for number in range(10):
        assert code_of(await agent.verify(f"none-{number}", "WRONG")) == "TOKEN_INVALID"
    assert code_of(await agent.verify("none", "WRONG")) == "RATE_LIMIT_EXCEEDED"


@pytest.mark.proves("spec-8.8.4-code-not-in-meta", "spec-8.8.4-code-not-in-readable-logs")
async def test_no_log_line_holds_a_code(agent: Supervised, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    await agent.verify(challenge.id, "WRONG")
    second = await agent.code_for(challenge)
    await agent.verify(challenge.id, second)
    for shown in (code, second):
        assert shown not in caplog.text
        assert shown.replace("-", "") not in caplog.text
