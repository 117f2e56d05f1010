"""Section 8.7: the five stages, what agents are told, and who may decide."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.adapter.context import ANONYMOUS
from headgate.protocol.autonomy import Risk, worst_of
from headgate.safety.loop.persons import show_code
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio


def rules(*lines: str) -> str:
    return "\n".join(["[autonomy]", 'mode = "enforcing"', 'start = "free"', *lines, ""])


def risk(score: int) -> dict[str, Any]:
    return {"scorer": lambda _hint: Risk(score, ("as the test says",))}


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    async with supervised() as found:
        await found.start()
        yield found


# Stage 1


@pytest.mark.proves(
    "spec-8.7.2-step-limit-pauses", "spec-8.7.2-step-limit-configurable", "spec-8.7.5-step-limit-stage-exists"
)
@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_no_agent_goes_on_for_ever_by_itself(limit: int) -> None:
    async with supervised(rules(f"max_autonomous_steps = {limit}", 'auto_approve = ["*"]', "deny = []")) as found:
        await found.start()
        for number in range(limit):
            directive = await found.step(f"read file {number}")
            assert (directive["continue"], directive["stepsRemaining"]) == (True, limit - number - 1)
        directive = await found.step("read one more file")
        assert (directive["continue"], directive["reason"]) == (False, "Step limit exceeded")
        await found.allow()
        assert (await found.step("read one more file"))["continue"] is True


@pytest.mark.proves("spec-8.7.2-default-step-limit-documented", "spec-8.7.4-evaluation-configuration-documented")
async def test_introspection_shows_the_options_and_their_defaults() -> None:
    async with supervised(rules("max_autonomous_steps = 7")) as found:
        told = (await found.call("introspect", {"query": "safety_loop"}))["data"]
        assert told["defaults"]["maxAutonomousSteps"] == 25
        assert told["defaults"]["riskTolerance"] == "moderate"
        assert set(told["defaults"]) == {
            "maxAutonomousSteps",
            "riskTolerance",
            "deny",
            "requiresApproval",
            "autoApprove",
        }
        assert told["configuration"]["maxAutonomousSteps"] == 7
        assert told["tiers"] == {"advisory": [0, 30], "confirm": [31, 60], "verify": [61, 85], "danger_zone": [86, 100]}


# Stage 2


@pytest.mark.proves("spec-8.7.2-failed-outcome-pauses", "spec-8.7.5-previous-outcome-stage-exists")
async def test_after_a_failure_somebody_should_look(agent: Supervised) -> None:
    assert (await agent.step())["continue"] is True
    directive = await agent.step(outcome="failure")
    assert (directive["continue"], directive["reason"]) == (False, "Previous step failed")
    await agent.allow()
    assert (await agent.step(outcome="failure"))["continue"] is True


# Stage 3


@pytest.mark.proves("spec-8.7.2-deny-patterns-stop", "spec-8.7.5-pattern-matching-stage-exists")
@pytest.mark.parametrize(
    "hint",
    [
        "open the red door",
        "OPEN THE RED DOOR",
        "open  the\tred\u00a0door",
        "o\u200bpen the red d\u00adoor",
        "οpen the rеd dооr",
        "ｏｐｅｎ ｔｈｅ ｒｅｄ ｄｏｏｒ",
        "0p3n the r3d d00r",
        "o.p.e.n the r.e.d d.o.o.r",
        "I will open the red door now",
        "read the list and open the red door",
        "read the list; open the red door; read on",
    ],
    ids=ascii,
)
async def test_what_a_deny_pattern_fits_stops_the_agent_however_it_is_written(hint: str) -> None:
    async with supervised(rules('deny = ["open the red door*"]')) as found:
        await found.start()
        directive = await found.step(hint)
        assert (directive["continue"], directive.get("stopped")) == (False, True)
        assert any("open the red door*" in factor for factor in directive["factors"])


@pytest.mark.proves("spec-8.7.2-approval-patterns-pause")
async def test_what_requires_approval_pauses() -> None:
    async with supervised(rules('requires_approval = ["paint*"]')) as found:
        await found.start()
        directive = await found.step("paint the wall")
        assert directive["continue"] is False
        assert "stopped" not in directive


@pytest.mark.proves("spec-8.7.2-auto-approve-patterns-continue")
async def test_what_is_approved_beforehand_passes_the_later_stages() -> None:
    async with supervised(rules('auto_approve = ["send the quarterly report*"]')) as found:
        await found.start()
        assert (await found.step(RISKY))["continue"] is True
        assert (await found.step(f"{RISKY} and publish the customer list"))["continue"] is False


@pytest.mark.proves("spec-8.7.2-pattern-precedence-kept")
@pytest.mark.parametrize(
    ("lines", "stopped", "goes_on"),
    [
        (('deny = ["walk*"]', 'requires_approval = ["walk*"]', 'auto_approve = ["walk*"]'), True, False),
        (("deny = []", 'requires_approval = ["walk*"]', 'auto_approve = ["walk*"]'), False, False),
        (("deny = []", "requires_approval = []", 'auto_approve = ["walk*"]'), False, True),
    ],
    ids=["deny", "approval", "auto"],
)
async def test_of_several_patterns_the_strictest_wins(lines: tuple[str, ...], stopped: bool, goes_on: bool) -> None:
    async with supervised(rules(*lines)) as found:
        await found.start()
        directive = await found.step("walk the dog")
        assert (directive["continue"], directive.get("stopped", False)) == (goes_on, stopped)


# Stages 4 and 5


@pytest.mark.proves("spec-8.7.2-risk-score-maps-to-tier", "spec-8.8-high-tiers-need-verification")
@pytest.mark.parametrize(
    ("score", "tier", "waits"),
    [
        (0, "advisory", ""),
        (30, "advisory", ""),
        (31, "confirm", "approval"),
        (60, "confirm", "approval"),
        (61, "verify", "challenge"),
        (85, "verify", "challenge"),
        (86, "danger_zone", "block"),
        (100, "danger_zone", "block"),
    ],
)
async def test_the_risk_decides_what_it_takes_to_go_on(score: int, tier: str, waits: str) -> None:
    async with supervised(**risk(score)) as found:
        await found.start()
        directive = await found.step()
        assert directive["nextStepRisk"] == tier
        assert directive["continue"] is (waits == "")
        kept = await found.agent()
        assert (kept.block is not None) is (waits == "block")
        if waits == "approval":
            await found.allow()
        elif waits:
            await found.release()
        assert (await found.step())["continue"] is True


@pytest.mark.proves("spec-8.7.2-risk-tolerance-thresholds-applied")
@pytest.mark.parametrize(
    ("tolerance", "score", "goes_on"),
    [
        ("conservative", 25, True),
        ("conservative", 26, False),
        ("moderate", 30, True),
        ("aggressive", 30, True),
        (None, 30, True),
    ],
)
async def test_a_careful_agent_pauses_earlier(tolerance: str | None, score: int, goes_on: bool) -> None:
    lines = (f'risk_tolerance = "{tolerance}"',) if tolerance else ()
    async with supervised(rules(*lines), **risk(score)) as found:
        await found.start()
        assert (await found.step())["continue"] is goes_on


@pytest.mark.proves("spec-8.7.2-stages-evaluated-in-order")
@pytest.mark.parametrize(
    ("lines", "outcome", "hint", "reason"),
    [
        (("max_autonomous_steps = 1",), "failure", DEADLY, "Step limit exceeded"),
        ((), "failure", DEADLY, "Previous step failed"),
        (('deny = ["rm*"]',), None, DEADLY, "Action denied by a pattern"),
        (("deny = []", "requires_approval = []"), None, DEADLY, "This action is in the danger zone"),
    ],
    ids=["limit", "outcome", "pattern", "tier"],
)
async def test_the_first_stage_that_objects_decides(
    lines: tuple[str, ...], outcome: str | None, hint: str, reason: str
) -> None:
    async with supervised(rules(*lines)) as found:
        await found.start()
        await found.step()
        directive = await found.step(hint, **({"outcome": outcome} if outcome else {}))
        assert directive["reason"] == reason


async def test_repeating_what_is_not_harmless_makes_it_graver() -> None:
    async with supervised(rules("max_autonomous_steps = 100"), **risk(25)) as found:
        await found.start()
        tiers = [(await found.step())["nextStepRisk"] for _ in range(4)]
        assert tiers == ["advisory", "advisory", "advisory", "confirm"]


async def test_a_scorer_that_breaks_lets_nothing_pass() -> None:
    def broken(_hint: str) -> Risk:
        raise RuntimeError("no")

    assert worst_of([lambda _hint: Risk(0), broken], HARMLESS).score > 60


# Configuration


@pytest.mark.proves("spec-8.7.4-evaluation-elements-configurable")
async def test_each_element_can_be_set_for_all_agents_or_for_one() -> None:
    text = rules(
        "max_autonomous_steps = 9",
        "[autonomy.agents.night-bot]",
        "max_autonomous_steps = 2",
        'risk_tolerance = "conservative"',
        'deny = ["hum*"]',
        'requires_approval = ["sing*"]',
        'auto_approve = ["whistle*"]',
    )
    async with supervised(text) as found:
        night = (await found.start("Night-Bot"))["configuration"]
        assert night == {
            "maxAutonomousSteps": 2,
            "riskTolerance": "conservative",
            "deny": ["hum*"],
            "requiresApproval": ["sing*"],
            "autoApprove": ["whistle*"],
        }
        day = (await found.start("day-bot"))["configuration"]
        assert (day["maxAutonomousSteps"], day["riskTolerance"]) == (9, "moderate")
        assert (await found.step("hum a tune", name="night-bot")).get("stopped") is True


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"max_autonomous_steps": 3}, {"maxAutonomousSteps": 3}),
        ({"max_autonomous_steps": 300}, {"maxAutonomousSteps": 10}),
        ({"riskTolerance": "conservative"}, {"riskTolerance": "conservative"}),
        ({"risk_tolerance": "aggressive"}, {"riskTolerance": "moderate"}),
        ({"deny": ["x*"]}, {"deny": ["a*", "x*"]}),
        ({"deny": []}, {"deny": ["a*"]}),
        ({"requires_approval": ["y*"]}, {"requiresApproval": ["b*", "y*"]}),
        ({"auto_approve": ["*"]}, {"autoApprove": []}),
        ({"autoApprove": ["c*"]}, {"autoApprove": ["c*"]}),
    ],
    ids=str,
)
async def test_an_agent_may_tighten_its_own_rules_and_never_loosen_them(
    own: dict[str, object], expected: dict[str, object]
) -> None:
    text = rules("max_autonomous_steps = 10", 'deny = ["a*"]', 'requires_approval = ["b*"]', 'auto_approve = ["c*"]')
    async with supervised(text) as found:
        configuration = (await found.start(autonomy=own))["configuration"]
        assert configuration.items() >= expected.items()


# Notifications


@pytest.mark.proves("spec-8.7.3-verify-pause-has-verification-id", "spec-8.8.2-directive-carries-challenge-id")
async def test_a_pause_to_be_verified_names_its_challenge(agent: Supervised) -> None:
    directive = await agent.step(GRAVE)
    challenge = await agent.challenge()
    [note] = directive["notifications"]
    assert note["type"] == "autonomy_pause"
    assert note["metadata"]["verificationId"] == challenge.id


@pytest.mark.proves(
    "spec-8.7.3-danger-zone-has-verification-id",
    "spec-8.8.1-hard-block-broadcast-to-all",
    "spec-8.8.1-hard-block-sets-stopped",
)
@pytest.mark.parametrize("text", [rules(), rules("deny = []", "requires_approval = []")], ids=["deny", "danger zone"])
async def test_a_block_is_told_to_every_agent_that_executes(text: str) -> None:
    async with supervised(text) as found:
        others = {name: Session() for name in ("ann", "bea")}
        for name, session in others.items():
            await found.start(name, session=session)
        await found.start()
        directive = await found.step(DEADLY)
        challenge = await found.challenge()
        assert directive["stopped"] is True
        own = [one for one in directive["notifications"] if one["type"] == "danger_zone"]
        assert [one["metadata"]["verificationId"] for one in own] == [challenge.id]
        for name, session in others.items():
            [note] = (await found.step(name=name, session=session))["notifications"]
            assert (note["type"], note["metadata"]["verificationId"]) == ("danger_zone", challenge.id)
        await found.release(challenge)
        for name, session in others.items():
            assert "notifications" not in await found.step(name=name, session=session)


async def test_an_operation_that_waits_for_a_person_is_told_until_it_is_decided() -> None:
    text = rules() + '[[rule]]\nname = "r"\noperations = ["delete_order"]\ndecision = "confirm"\nconfirm = "person"\n'
    async with supervised(text) as found:
        await found.start()
        approval = await found.approval("delete_order", {"order_id": 1})
        for _ in range(2):
            [note] = (await found.step())["notifications"]
            assert (note["type"], note["metadata"]["operation"]) == ("permission_pending", "delete_order")
            assert approval in note["message"]
        await found.allow()
        [note] = (await found.step())["notifications"]
        assert note["type"] == "status"
        assert "approved" in note["message"]
        assert await found.code("delete_order", {"order_id": 1}, token=approval) == ""
        assert "notifications" not in await found.step()
        assert found.done == ["delete 1"]


async def test_what_is_told_once_is_not_told_again(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.refuse()
    assert "notifications" in await agent.step()
    assert "notifications" not in await agent.step()


# Nobody decides for itself


@pytest.mark.proves("spec-8.7.3-self-approval-prevented")
@pytest.mark.parametrize("how", ["the same session", "the same identity", "another session of the same identity"])
async def test_an_agent_cannot_confirm_its_own_pause_even_with_the_right_token(how: str) -> None:
    caller = Caller(subject="robot", client_id="host")
    known: dict[str, Any] = {"caller": caller} if "identity" in how else {}
    async with supervised() as found:
        await found.start(**known)
        await found.step(RISKY, **known)
        grant = await found.pending()
        token = await found.token_for(grant)
        session = Session() if "another" in how else found.session
        envelope = await found.confirm(grant, token, session=session, **known)
        assert code_of(envelope) == "PERMISSION_DENIED"
        assert "self-approval refused" in await found.events()
        assert (await found.step(RISKY, **known))["continue"] is False
        assert (await found.confirm(grant, token))["success"], "a person may"
        assert (await found.step(RISKY, **known))["continue"] is True


async def test_a_caller_cannot_approve_its_own_operation_either() -> None:
    text = rules() + '[[rule]]\nname = "r"\noperations = ["delete_order"]\ndecision = "confirm"\nconfirm = "person"\n'
    async with supervised(text) as found:
        await found.approval("delete_order", {"order_id": 1})
        grant = await found.pending()
        token = await found.token_for(grant)
        assert code_of(await found.confirm(grant, token, session=found.session)) == "PERMISSION_DENIED"
        assert (await found.confirm(grant, token))["success"]
        assert await found.code("delete_order", {"order_id": 1}, token=grant.approval_id) == ""


async def test_an_agent_cannot_verify_its_own_block_even_with_the_right_code(agent: Supervised) -> None:
    challenge = await agent.blocked()
    code = await agent.code_for(challenge)
    envelope = await agent.verify(challenge.id, code, session=agent.session)
    assert code_of(envelope) == "PERMISSION_DENIED"
    assert (await agent.agent()).block is not None
    assert "self-approval refused" in await agent.events()
    assert (await agent.verify(challenge.id, code))["success"], "that try has not made the code void"


async def test_whoever_cannot_be_told_apart_from_the_agent_is_refused() -> None:
    single = Session(lasting=False)
    async with supervised() as found:
        await found.start(session=single)
        await found.step(DEADLY, session=Session(lasting=False))
        challenge = await found.challenge()
        code = await show_code(found.store, challenge.id, "console", "ana", found.clock)
        for session in (Session(lasting=False), Session()):
            envelope = await found.verify(challenge.id, str(code), session=session, caller=ANONYMOUS)
            assert code_of(envelope) == "PERMISSION_DENIED"
            assert (await found.audit())[-1].event == "self-approval refused"
        assert (await found.verify(challenge.id, str(code)))["success"], "those tries have not made the code void"


async def test_nobody_without_a_name_confirms_what_an_agent_waits_for(agent: Supervised) -> None:
    await agent.step(RISKY)
    grant = await agent.pending()
    token = await agent.token_for(grant)
    refused = await agent.confirm(grant, token, caller=ANONYMOUS, session=Session())
    assert code_of(refused) == "PERMISSION_DENIED"
    assert "authenticates" in refused["error"]["message"]
    assert (await agent.confirm(grant, token))["success"]


@pytest.mark.parametrize(
    "other",
    [
        RISKY.upper(),
        RISKY.replace("report", "r\u00e9port"),
        RISKY.replace(" ", "  ", 1),
        RISKY.replace("o", "\u043e", 1),
    ],
)
async def test_a_persons_leave_is_for_these_words_alone(agent: Supervised, other: str) -> None:
    await agent.step(RISKY)
    await agent.allow()
    assert (await agent.step(other))["continue"] is False, "it only reads the same"
    await agent.allow()
    assert (await agent.step(other))["continue"] is True


@pytest.mark.parametrize("other", [RISKY.upper(), RISKY.replace(" ", "  ", 1)])
async def test_a_persons_refusal_is_for_all_that_reads_the_same(agent: Supervised, other: str) -> None:
    await agent.step(RISKY)
    await agent.refuse("no")
    assert (await agent.step(other))["reason"] == "A person has refused this action"
