"""The five stages, each a function of one situation (Spec 8.7.2)."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.autonomy import Risk, StepOutcome, Tier, Tolerance
from headgate.safety.autonomy.evaluation import (
    STAGES,
    Situation,
    evaluate,
    patterns,
    previous_outcome,
    risk_tolerance,
    safety_tier,
    step_limit,
)
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.verdicts import History, PastStep, Report, Verdict, Way
from tests.safety.autonomy.situations import BARE, of_risk, past, situation, unasked

Stage = Callable[[Situation], Verdict | None]


# Stage 1


@pytest.mark.parametrize(
    ("taken", "limit", "pauses"), [(0, 1, False), (1, 1, True), (2, 1, True), (24, 25, False), (25, 25, True)]
)
def test_as_many_steps_as_the_limit_allows_are_taken(taken: int, limit: int, pauses: bool) -> None:
    verdict = step_limit(situation(history=History(taken), rules=replace(BARE, max_autonomous_steps=limit)))
    assert (verdict is not None) is pauses
    if verdict:
        assert (verdict.way, verdict.reason) == (Way.PAUSE, "Step limit exceeded")
        assert verdict.factors == (f"{taken} steps were taken without a person; the limit is {limit}",)


# Stage 2


@pytest.mark.parametrize(("outcome", "pauses"), [(None, False), *((one, one == "failure") for one in StepOutcome)])
def test_only_a_failure_pauses(outcome: StepOutcome | None, pauses: bool) -> None:
    verdict = previous_outcome(situation(outcome=outcome))
    assert (verdict is not None and verdict.way is Way.PAUSE) is pauses


# Stage 3


@pytest.mark.parametrize(
    ("deny", "asks", "passes", "way"),
    [
        (True, True, True, Way.STOP),
        (True, True, False, Way.STOP),
        (True, False, True, Way.STOP),
        (True, False, False, Way.STOP),
        (False, True, True, Way.PAUSE),
        (False, True, False, Way.PAUSE),
        (False, False, True, Way.CONTINUE),
        (False, False, False, None),
    ],
)
def test_deny_comes_before_approval_and_approval_before_leave(
    deny: bool, asks: bool, passes: bool, way: Way | None
) -> None:
    rules = AgentRules(deny=("walk*",) * deny, requires_approval=("walk*",) * asks, auto_approve=("walk*",) * passes)
    verdict = patterns(situation(rules=rules))
    assert (verdict.way if verdict else None) == way
    assert verdict is None or any("walk*" in factor for factor in verdict.factors)


def test_the_first_pattern_that_fits_is_named() -> None:
    verdict = patterns(situation(rules=replace(BARE, deny=("run*", "w*k the*", "walk*"))))
    assert verdict is not None
    assert verdict.factors == ("The action matches the deny pattern 'w*k the*'",)


@pytest.mark.parametrize(
    "hint",
    [
        "walk the dog; sell the dog",
        "walk the dog and sell it",
        "walk the dog\nsell the dog",
        "walk the dog\u2028sell the dog",
        "sell the dog",
        "I walk the dog",
    ],
    ids=ascii,
)
def test_what_is_approved_beforehand_must_be_all_that_is_done(hint: str) -> None:
    assert patterns(situation(hint, rules=replace(BARE, auto_approve=("walk*",)))) is None


def test_what_is_approved_beforehand_is_not_scored() -> None:
    verdict = evaluate(situation(rules=replace(BARE, auto_approve=("walk*",)), scorer=unasked))
    assert (verdict.way, verdict.tier, verdict.score) == (Way.CONTINUE, None, None)


# Stage 4

SCORES = [(0, Tier.ADVISORY), (30, Tier.ADVISORY), (31, Tier.CONFIRM), (60, Tier.CONFIRM), (61, Tier.VERIFY)]
SCORES += [(85, Tier.VERIFY), (86, Tier.DANGER_ZONE), (100, Tier.DANGER_ZONE)]
WAYS = {Tier.ADVISORY: None, Tier.CONFIRM: Way.PAUSE, Tier.VERIFY: Way.VERIFY, Tier.DANGER_ZONE: Way.STOP}


@pytest.mark.parametrize(("score", "tier"), SCORES)
def test_the_tier_decides_what_it_takes(score: int, tier: Tier) -> None:
    verdict = safety_tier(situation(scorer=of_risk(score)))
    assert (verdict.way if verdict else None) == WAYS[tier]
    assert verdict is None or (verdict.tier, verdict.score) == (tier, score)


@given(st.integers(0, 100))
def test_every_score_has_one_tier_whose_bounds_hold_it(score: int) -> None:
    lowest, highest = Tier.of(score).scores
    assert lowest <= score <= highest
    assert sum(low <= score <= high for low, high in (tier.scores for tier in Tier)) == 1


@pytest.mark.parametrize("score", [-1, 101, 1000])
def test_there_is_no_risk_beyond_the_scale(score: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        Risk(score)


# Stage 5


@pytest.mark.parametrize(
    ("tolerance", "threshold"), [(Tolerance.CONSERVATIVE, 25), (Tolerance.MODERATE, 50), (Tolerance.AGGRESSIVE, 75)]
)
@pytest.mark.parametrize("above", [0, 1])
def test_more_risk_than_is_tolerated_pauses(tolerance: Tolerance, threshold: int, above: int) -> None:
    found = situation(scorer=of_risk(threshold + above), rules=replace(BARE, risk_tolerance=tolerance))
    verdict = risk_tolerance(found)
    assert (verdict is not None and verdict.way is Way.PAUSE) is bool(above)


def test_no_tolerance_lets_pass_what_a_tier_holds() -> None:
    for score in range(31, 76):
        found = situation(scorer=of_risk(score), rules=replace(BARE, risk_tolerance=Tolerance.AGGRESSIVE))
        assert evaluate(found).way is not Way.CONTINUE


# All together


def test_the_stages_are_five_and_in_the_order_of_the_specification() -> None:
    assert [*STAGES] == [step_limit, previous_outcome, patterns, safety_tier, risk_tolerance]


ALL_OBJECT = situation(
    outcome=StepOutcome.FAILURE,
    history=History(1),
    rules=AgentRules(max_autonomous_steps=1, risk_tolerance=Tolerance.CONSERVATIVE, deny=("walk*",)),
    scorer=of_risk(40),
)
SATISFIED: dict[Stage, Situation] = {}
"""What each stage no longer objects to."""
SATISFIED[step_limit] = replace(ALL_OBJECT, history=History())
SATISFIED[previous_outcome] = replace(SATISFIED[step_limit], report=Report("walk the dog"))
SATISFIED[patterns] = replace(SATISFIED[previous_outcome], rules=replace(ALL_OBJECT.rules, deny=()))
SATISFIED[safety_tier] = replace(SATISFIED[patterns], scorer=of_risk(28))


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (ALL_OBJECT, "Step limit exceeded"),
        (SATISFIED[step_limit], "Previous step failed"),
        (SATISFIED[previous_outcome], "Action denied by a pattern"),
        (SATISFIED[patterns], "A person must confirm this action"),
        (SATISFIED[safety_tier], "Risk above the tolerance"),
    ],
    ids=["limit", "outcome", "patterns", "tier", "tolerance"],
)
def test_the_first_stage_that_objects_ends_the_evaluation(found: Situation, reason: str) -> None:
    assert evaluate(found).reason == reason


def test_a_stage_that_ends_it_leaves_the_risk_untold() -> None:
    for found in (ALL_OBJECT, SATISFIED[step_limit], SATISFIED[previous_outcome]):
        verdict = evaluate(replace(found, scorer=unasked))
        assert (verdict.score, verdict.tier) == (None, None)


def test_what_no_stage_objects_to_goes_on_and_says_why() -> None:
    verdict = evaluate(situation(scorer=of_risk(12)))
    assert verdict == Verdict(Way.CONTINUE, ("as the test says", "Risk 12 of 100: advisory"), "", 12, Tier.ADVISORY)


HISTORIES = st.builds(
    History, st.integers(0, 40), st.lists(st.builds(PastStep, st.sampled_from("ab")), max_size=30).map(tuple)
)
SITUATIONS = st.builds(
    Situation,
    report=st.builds(
        Report, st.sampled_from(["walk the dog", "sing", "hum"]), st.none() | st.sampled_from(StepOutcome)
    ),
    digest=st.sampled_from("ab"),
    history=HISTORIES,
    rules=st.builds(
        AgentRules,
        max_autonomous_steps=st.integers(1, 30),
        risk_tolerance=st.sampled_from(Tolerance),
        deny=st.sampled_from([(), ("hum*",)]),
        requires_approval=st.sampled_from([(), ("sing*",)]),
        auto_approve=st.sampled_from([(), ("*",)]),
    ),
    scorer=st.integers(0, 100).map(of_risk),
    leave=st.sampled_from(Way),
)


@given(SITUATIONS)
def test_every_verdict_explains_itself(found: Situation) -> None:
    verdict = evaluate(found)
    assert verdict.factors
    assert all(factor.strip() for factor in verdict.factors)
    assert bool(verdict.reason) is (verdict.way is not Way.CONTINUE)


@given(SITUATIONS)
def test_the_same_situation_has_the_same_verdict(found: Situation) -> None:
    before = tuple(getattr(found, one.name) for one in fields(found))
    assert evaluate(found) == evaluate(replace(found))
    assert tuple(getattr(found, one.name) for one in fields(found)) == before


@given(SITUATIONS)
def test_leave_lifts_what_was_given_leave_for_and_nothing_graver(found: Situation) -> None:
    without = evaluate(replace(found, leave=Way.CONTINUE))
    verdict = evaluate(found)
    if without.way is Way.CONTINUE:
        assert verdict.way is Way.CONTINUE
    assert verdict.way is Way.CONTINUE or verdict.way.rank > found.leave.rank


def test_the_leave_that_was_given_is_among_the_reasons() -> None:
    verdict = evaluate(replace(ALL_OBJECT, rules=replace(ALL_OBJECT.rules, deny=()), leave=Way.PAUSE))
    assert verdict.way is Way.CONTINUE
    assert "A person has given leave: Step limit exceeded" in verdict.factors
    assert "A person has given leave: Previous step failed" in verdict.factors


# History


@pytest.mark.parametrize(
    ("times", "score", "expected"),
    [
        (0, 20, 20),
        (2, 20, 20),
        (3, 20, 30),
        (4, 20, 40),
        (9, 20, 90),
        (3, 95, 100),
        (19, 15, 15),
        (3, 16, 26),
        (0, 95, 95),
    ],
)
def test_repeating_what_is_not_harmless_makes_it_graver(times: int, score: int, expected: int) -> None:
    found = situation(history=past(*["walk the dog"] * times), scorer=of_risk(score))
    assert found.risk.score == expected
    assert any("Repeated" in factor for factor in found.risk.factors) is (expected != score)


def test_only_the_same_action_is_a_repetition_and_only_of_late() -> None:
    others = past(*["run"] * 30)
    assert situation(history=others, scorer=of_risk(20)).risk.score == 20
    old = past(*["walk the dog"] * 5, *["run"] * 20)
    assert situation(history=old, scorer=of_risk(20)).risk.score == 20


def test_a_loop_of_one_risky_step_ends_in_the_danger_zone() -> None:
    ways = [evaluate(situation(history=past(*["walk the dog"] * n), scorer=of_risk(30))).way for n in range(10)]
    assert ways[0] is Way.CONTINUE
    assert ways[-1] is Way.STOP
    assert [way.rank for way in ways] == sorted(way.rank for way in ways)


@pytest.mark.parametrize(
    ("value", "field"),
    [(History(), "taken"), (PastStep("a"), "digest"), (Report("a"), "hint"), (situation(), "rules"), (BARE, "deny")],
    ids=lambda value: type(value).__name__,
)
def test_nothing_that_is_evaluated_can_be_changed(value: object, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, None)
