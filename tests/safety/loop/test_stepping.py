"""One step as a pure function: from an agent, its report and what persons have decided, to what it is told."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from headgate.protocol.autonomy import LoopMode, Risk, StepOutcome, Tier
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.verdicts import Verdict, Way
from headgate.safety.decisions import Who
from headgate.safety.grants import Grant
from headgate.safety.loop.agents import Agent, Block, Execution, Leave, Pause, hint_digest
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.holding import challenge_of, grant_of
from headgate.safety.loop.notifying import status
from headgate.safety.loop.settings import LoopSettings
from headgate.safety.loop.steps import Moved, Reported, Seen, Stepping, stopped

NOW = 1000.0
HINT = "polish the brass"
OTHER = "sweep the floor"
RULES = AgentRules(max_autonomous_steps=10, deny=(), requires_approval=(), auto_approve=())
RUNNING = Execution(id="exec_1", task="t", adapter="house", started_at=900.0, caller="ann", marks=("caller:ann",))
AGENT = Agent(key="bot", name="Bot", execution=RUNNING, marks=("caller:ann",))
VERDICT = Verdict(Way.PAUSE, ("f",), "r")
NOTHING = Seen()


@dataclass(frozen=True)
class Case:
    """What is known as an agent reports."""

    agent: Agent = AGENT
    score: int = 0
    seen: Seen = NOTHING
    mode: LoopMode = LoopMode.ENFORCING
    hint: str = HINT
    outcome: StepOutcome | None = None
    rules: AgentRules = RULES

    def moved(self) -> Moved:
        assert self.agent.execution
        settings = LoopSettings(mode=self.mode, rules=self.rules, challenge_seconds=300, approval_seconds=900)
        report = Reported(hint=self.hint, outcome=self.outcome, description="before", findings="dust")
        scorer = lambda _hint: Risk(self.score, ("as told",))  # noqa: E731
        stepping = Stepping(self.agent, self.agent.execution, report, self.seen, settings, self.rules, scorer, NOW)
        return stepping.moved()


def pause(hint: str = HINT, **waits_for: str) -> Pause:
    return Pause(at=950.0, digest=hint_digest(hint), reason="why", factors=("because",), hint=hint, **waits_for)


def grant(hint: str = HINT, **more: Any) -> Grant:
    return replace(grant_of(AGENT, RUNNING, VERDICT, hint, 950.0, 900), id="g", **more)


def challenge(hint: str = HINT, **more: Any) -> Challenge:
    made = challenge_of(AGENT, RUNNING, hint, Tier.VERIFY, VERDICT, 950.0, 300, digest=hint_digest(hint), blocks=False)
    return replace(made, id="c", **more)


# What a risk leads to


@pytest.mark.parametrize(
    ("score", "way", "held"),
    [
        (0, Way.CONTINUE, ""),
        (30, Way.CONTINUE, ""),
        (31, Way.PAUSE, "grant"),
        (60, Way.PAUSE, "grant"),
        (61, Way.VERIFY, "challenge"),
        (85, Way.VERIFY, "challenge"),
        (86, Way.STOP, "block"),
        (100, Way.STOP, "block"),
    ],
)
def test_an_agent_goes_on_or_is_held_up_by_what_a_person_can_decide(score: int, way: Way, held: str) -> None:
    moved = Case(score=score).moved()
    agent, directive = moved.agent, moved.directive
    assert (directive.goes_on, directive.stopped) == (way is Way.CONTINUE, way is Way.STOP)
    assert agent.execution
    assert agent.execution.last
    assert (agent.execution.last.way, agent.execution.last.score, agent.execution.last.hint) == (way, score, HINT)
    assert (moved.grant is not None) is (held == "grant")
    assert (moved.challenge is not None) is (held in ("challenge", "block"))
    assert (agent.pause is not None) is (held in ("grant", "challenge"))
    assert (agent.block is not None) is (held == "block")


def test_the_question_for_a_person_is_bound_to_the_agent_its_execution_and_what_it_said() -> None:
    moved = Case(score=50).moved()
    asked = moved.grant
    assert asked
    assert moved.agent.pause
    assert moved.agent.pause.grant_id == asked.id
    assert (asked.who, asked.agent, asked.is_pending, asked.secret_hash) == (Who.PERSON, "bot", True, None)
    assert (asked.issued_at, asked.expires_at) == (NOW, NOW + 900)
    assert (asked.binding.operation, asked.binding.adapter, asked.binding.caller) == (
        "record_execution_step",
        "house",
        "ann",
    )
    assert (asked.binding.policy, asked.binding.params_digest) == ("exec_1", hint_digest(HINT))
    assert asked.params == {"element_name": "Bot", "next_action_hint": HINT}
    assert asked.danger == "confirm"
    assert HINT in asked.message


@pytest.mark.parametrize(("score", "blocks", "tier"), [(70, False, "verify"), (90, True, "danger_zone")])
def test_the_challenge_is_for_this_agent_and_this_action(score: int, blocks: bool, tier: str) -> None:
    made = Case(score=score).moved().challenge
    assert made
    assert (made.agent, made.name, made.execution, made.hint, made.digest) == (
        "bot",
        "Bot",
        "exec_1",
        HINT,
        hint_digest(HINT),
    )
    assert (made.blocks, made.tier, made.made_at, made.expires_at) == (blocks, tier, NOW, NOW + 300)
    assert (made.codes, made.failures) == ((), 0), "there is no code before somebody asks to see one"


def test_a_pattern_that_denies_blocks_without_any_score() -> None:
    moved = Case(rules=replace(RULES, deny=("polish*",))).moved()
    assert moved.agent.block
    assert moved.challenge
    assert (moved.challenge.tier, moved.challenge.blocks) == ("danger_zone", True)
    assert moved.directive.tier is None
    assert moved.agent.block == Block.of(moved.challenge, NOW)


# What persons have decided of a pause

FREED = replace(AGENT, pause=None)
WAITING = replace(AGENT, pause=pause(grant_id="g"))
CHALLENGED = replace(AGENT, pause=pause(challenge_id="c"))

DECIDED: dict[str, tuple[Case, bool, str]] = {
    "it still waits": (Case(WAITING, 40, Seen(grant=grant())), False, "why: 'appr_g' still waits for a person"),
    "it still waits, for something harmless": (
        Case(WAITING, 0, Seen(grant=grant()), hint=OTHER),
        False,
        "why: 'appr_g' still waits for a person",
    ),
    "it was approved": (Case(WAITING, 40, Seen(grant=grant(approved_at=960.0))), True, ""),
    "another was approved": (
        Case(WAITING, 40, Seen(grant=grant(approved_at=960.0)), hint=OTHER),
        False,
        "A person must confirm this action",
    ),
    "it was approved, but is graver by now": (
        Case(WAITING, 70, Seen(grant=grant(approved_at=960.0))),
        False,
        "A person must verify this action out of band",
    ),
    "it was refused": (
        Case(WAITING, 0, Seen(grant=grant(revoked_at=960.0, turned_down_by="ana"))),
        False,
        "A person has refused this action",
    ),
    "another was refused": (
        Case(WAITING, 0, Seen(grant=grant(revoked_at=960.0, turned_down_by="ana")), hint=OTHER),
        True,
        "",
    ),
    "nobody decided in time": (
        Case(WAITING, 40, Seen(grant=grant(expires_at=NOW))),
        False,
        "A person must confirm this action",
    ),
    "nobody decided in time, and it is harmless by now": (
        Case(WAITING, 0, Seen(grant=grant(expires_at=NOW))),
        True,
        "",
    ),
    "it was withdrawn": (Case(WAITING, 0, Seen(grant=grant(revoked_at=960.0))), True, ""),
    "it is known no more": (Case(WAITING, 0, Seen()), True, ""),
    "a challenge is open": (
        Case(CHALLENGED, 0, Seen(challenge=challenge())),
        False,
        "why: 'c' still waits for a person",
    ),
    "a challenge has lapsed": (
        Case(CHALLENGED, 70, Seen(challenge=challenge(expires_at=NOW))),
        False,
        "A person must verify this action out of band",
    ),
    "a challenge has lapsed, and something harmless comes": (
        Case(CHALLENGED, 0, Seen(challenge=challenge(expires_at=NOW)), hint=OTHER),
        True,
        "",
    ),
    "a challenge was given up": (Case(CHALLENGED, 0, Seen(challenge=challenge(closed_at=960.0))), True, ""),
    "a challenge is known no more": (Case(CHALLENGED, 0, Seen()), True, ""),
    "it was verified before it paused again": (
        Case(replace(AGENT, leave=Leave(hint_digest(HINT), Way.VERIFY)), 70),
        True,
        "",
    ),
    "what was verified is no leave for a stop": (
        Case(replace(AGENT, leave=Leave(hint_digest(HINT), Way.VERIFY)), 90),
        False,
        "This action is in the danger zone",
    ),
    "a block that was verified": (Case(replace(AGENT, leave=Leave(hint_digest(HINT), Way.STOP)), 90), True, ""),
    "leave for something else": (
        Case(replace(AGENT, leave=Leave(hint_digest(OTHER), Way.STOP)), 90),
        False,
        "This action is in the danger zone",
    ),
}


@pytest.mark.parametrize(("case", "goes_on", "reason"), DECIDED.values(), ids=DECIDED)
def test_what_a_person_decided_counts_for_what_was_asked(case: Case, goes_on: bool, reason: str) -> None:
    directive = case.moved().directive
    assert (directive.goes_on, directive.reason) == (goes_on, reason)


def test_leave_is_used_up_by_what_it_was_for_and_by_nothing_else() -> None:
    leave = Leave(hint_digest(HINT), Way.PAUSE)
    assert Case(replace(AGENT, leave=leave), 40).moved().agent.leave is None
    assert Case(replace(AGENT, leave=leave), 0, hint=OTHER).moved().agent.leave == leave
    assert Case(replace(AGENT, leave=leave), 40, hint=OTHER).moved().agent.leave is None, "a new pause takes it away"


def test_an_approval_begins_the_count_of_steps_anew() -> None:
    worked = replace(RUNNING, steps=25, taken=10)
    seen = Seen(grant=grant(approved_at=960.0))
    moved = Case(replace(WAITING, execution=worked), 0, seen).moved()
    assert moved.directive.goes_on
    assert moved.agent.execution
    assert (moved.agent.execution.steps, moved.agent.execution.taken) == (26, 1)
    assert moved.directive.steps_remaining == 9


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(StepOutcome.FAILURE, "Previous step failed"), (StepOutcome.SUCCESS, ""), (StepOutcome.SKIPPED, ""), (None, "")],
)
def test_a_failure_pauses(outcome: StepOutcome | None, reason: str) -> None:
    moved = Case(outcome=outcome).moved()
    assert moved.directive.reason == reason
    assert (moved.grant is not None) is bool(reason)


def test_what_was_refused_is_remembered_for_this_execution() -> None:
    seen = Seen(grant=grant(revoked_at=960.0, turned_down_by="ana", turned_down_because="too loud"))
    moved = Case(WAITING, 0, seen, hint=OTHER).moved()
    assert moved.agent.refused == (hint_digest(HINT),)
    [note] = moved.directive.notifications
    assert (note.type, note.message, note.reason) == ("status", f"A person refused: {HINT}", "too loud")
    again = Case(moved.agent, 0).moved()
    assert again.directive.goes_on is False
    assert again.grant is None, "nobody is asked the same again"


# How far the loop goes


@pytest.mark.parametrize("mode", [LoopMode.MONITORING, LoopMode.LOGGING])
@pytest.mark.parametrize("score", [0, 40, 70, 100])
@pytest.mark.parametrize("agent", [AGENT, WAITING, CHALLENGED], ids=["free", "paused", "challenged"])
def test_what_is_not_enforced_changes_nothing_and_is_recorded(mode: LoopMode, score: int, agent: Agent) -> None:
    case = Case(agent, score, mode=mode, outcome=StepOutcome.FAILURE)
    moved = case.moved()
    assert (moved.directive.goes_on, moved.directive.stopped, moved.directive.reason) == (True, False, "")
    assert (moved.grant, moved.challenge) == (None, None)
    after = moved.agent
    assert (after.pause, after.block, after.leave, after.refused) == (agent.pause, None, None, ())
    assert after.execution
    assert after.execution.last
    assert (after.execution.steps, after.execution.taken, after.execution.last.way) == (1, 1, Way.CONTINUE)
    [entry] = moved.entries
    assert (entry.event, entry.details["hint"], entry.details["outcome"]) == ("agent step", HINT, "failure")


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (0, None),
        (40, "Not enforced: it would have been paused (A person must confirm this action)"),
        (70, "Not enforced: it would have been paused (A person must verify this action out of band)"),
        (90, "Not enforced: it would have been stopped (This action is in the danger zone)"),
    ],
)
def test_monitoring_evaluates_and_says_what_would_have_been(score: int, said: str | None) -> None:
    moved = Case(score=score, mode=LoopMode.MONITORING).moved()
    assert [one for one in moved.directive.factors if one.startswith("Not enforced")] == ([said] if said else [])
    assert moved.directive.tier is Tier.of(score)
    [entry] = moved.entries
    assert entry.details["score"] == score, "the audit tells what it was found to be"


def test_logging_evaluates_nothing() -> None:
    moved = Case(score=90, mode=LoopMode.LOGGING).moved()
    assert moved.directive.factors == ("Logged only: nothing was evaluated",)
    assert (moved.directive.tier, moved.directive.steps_remaining) == (None, None)
    assert "score" not in moved.entries[0].details


# What the audit tells


@pytest.mark.parametrize(
    ("score", "events", "named"),
    [
        (0, ["agent step"], ""),
        (40, ["agent step", "agent paused"], "approval"),
        (70, ["agent step", "agent paused"], "challenge"),
        (90, ["agent step", "agent blocked"], "challenge"),
    ],
)
def test_the_audit_tells_of_the_step_and_of_what_holds_it_up(score: int, events: list[str], named: str) -> None:
    moved = Case(score=score).moved()
    assert [entry.event for entry in moved.entries] == events
    step = moved.entries[0]
    assert (step.at, step.adapter, step.caller) == (NOW, "house", "ann")
    assert (
        step.details.items()
        >= {
            "agent": "Bot",
            "execution": "exec_1",
            "number": 1,
            "hint": HINT,
            "score": score,
            "tier": Tier.of(score).value,
            "description": "before",
            "findings": "dust",
        }.items()
    )
    assert "outcome" not in step.details, "what was not said is not told"
    if named:
        waits = moved.grant.approval_id if moved.grant else moved.challenge.id if moved.challenge else ""
        assert moved.entries[1].details[named] == waits


def test_what_is_very_long_is_cut_and_says_so_and_nothing_in_it_can_steer_a_terminal() -> None:
    moved = Case(hint=f"read \u001b[2J{'x' * 9000}").moved()
    hint = str(moved.entries[0].details["hint"])
    assert hint.startswith("read \\u001b[2Jxxx")
    assert hint.endswith("… (9009 characters)")
    assert len(hint) < 600


# Blocks of others, and one's own


def blocked(name: str) -> Agent:
    block = Block(at=10.0, hint="h", digest="d", reason="r", factors=("f",), challenge_id=f"c-{name}")
    return Agent(key=name, name=name, block=block)


def test_all_blocks_are_told_with_each_step_for_as_long_as_they_are() -> None:
    seen = Seen(blocked=(blocked("ann"), blocked("bea")))
    told = Case(seen=seen).moved().directive.notifications
    assert [(note.type, note.verification_id) for note in told] == [("danger_zone", "c-ann"), ("danger_zone", "c-bea")]
    moved = Case(score=90, seen=seen).moved()
    assert moved.challenge
    assert [note.verification_id for note in moved.directive.notifications] == ["c-ann", "c-bea", moved.challenge.id]


def test_an_agent_that_is_blocked_is_told_to_stop_whatever_it_asks() -> None:
    block = blocked("bot").block
    assert block
    directive = stopped(block, (status("s", 1.0),))
    assert (directive.goes_on, directive.stopped, directive.factors) == (False, True, ("f",))
    assert directive.reason == "r: 'c-bot' waits to be verified"
    assert len(directive.notifications) == 1
