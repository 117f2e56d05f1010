"""The five stages of an evaluation, in order; the first that pauses or stops an agent decides (Spec 8.7.2)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

from headgate.protocol.autonomy import Risk, Scorer, StepOutcome, Tier
from headgate.safety.autonomy.patterns import found_in, is_all
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.verdicts import History, Report, Verdict, Way

__all__ = ["Situation", "evaluate"]

_REPEATED: Final = 3
_ESCALATION: Final = 10
_HARMLESS: Final = 15


@dataclass(frozen=True)
class Situation:
    """All that the stages look at."""

    report: Report
    digest: str
    history: History
    rules: AgentRules
    scorer: Scorer = field(repr=False)
    leave: Way = Way.CONTINUE
    """What a person has already given leave for: a pause that was confirmed, or a stop that was verified."""

    @cached_property
    def risk(self) -> Risk:
        """The risk of the action; repeating what is not harmless makes it graver."""
        risk = self.scorer(self.report.hint)
        beyond = self.history.repetitions(self.digest) + 1 - _REPEATED
        if beyond <= 0 or risk.score <= _HARMLESS:
            return risk
        more = min(100, risk.score + _ESCALATION * beyond)
        return Risk(
            more, (*risk.factors, f"Repeated {beyond + _REPEATED} times lately: risk {risk.score} becomes {more}")
        )


Stage: TypeAlias = Callable[[Situation], Verdict | None]


def step_limit(situation: Situation) -> Verdict | None:
    """Stage 1: no agent goes on for ever by itself."""
    limit = situation.rules.max_autonomous_steps
    taken = situation.history.taken
    if taken < limit:
        return None
    return Verdict(
        Way.PAUSE, (f"{taken} steps were taken without a person; the limit is {limit}",), "Step limit exceeded"
    )


def previous_outcome(situation: Situation) -> Verdict | None:
    """Stage 2: after a failure somebody should look before the agent tries to mend it."""
    if situation.report.outcome is not StepOutcome.FAILURE:
        return None
    return Verdict(Way.PAUSE, ("The previous step was reported as a failure",), "Previous step failed")


def patterns(situation: Situation) -> Verdict | None:
    """Stage 3: what the operator has ruled; deny before approval before what needs none."""
    hint, rules = situation.report.hint, situation.rules
    denied = found_in(hint, rules.deny)
    if denied:
        return Verdict(Way.STOP, (f"The action matches the deny pattern '{denied}'",), "Action denied by a pattern")
    asking = found_in(hint, rules.requires_approval)
    if asking:
        factor = f"The action matches the pattern '{asking}', which requires approval"
        return Verdict(Way.PAUSE, (factor,), "Action requires approval")
    passing = is_all(hint, rules.auto_approve)
    return Verdict(Way.CONTINUE, (f"The action matches the autoApprove pattern '{passing}'",)) if passing else None


def safety_tier(situation: Situation) -> Verdict | None:
    """Stage 4: the risk of the action decides what it takes to go on."""
    risk = situation.risk
    tier = Tier.of(risk.score)
    if tier is Tier.ADVISORY:
        return None
    way, reason = _BY_TIER[tier]
    return Verdict(way, _told(risk, tier), reason, risk.score, tier)


_BY_TIER: Final = {
    Tier.CONFIRM: (Way.PAUSE, "A person must confirm this action"),
    Tier.VERIFY: (Way.VERIFY, "A person must verify this action out of band"),
    Tier.DANGER_ZONE: (Way.STOP, "This action is in the danger zone"),
}


def risk_tolerance(situation: Situation) -> Verdict | None:
    """Stage 5: less risk than the tiers allow, if the agent is to be that careful."""
    risk, tolerance = situation.risk, situation.rules.risk_tolerance
    if risk.score <= tolerance.threshold:
        return None
    tier = Tier.of(risk.score)
    factor = f"Risk {risk.score} is above {tolerance.threshold}, which is as much as '{tolerance}' tolerates"
    return Verdict(Way.PAUSE, (*_told(risk, tier), factor), "Risk above the tolerance", risk.score, tier)


STAGES: Final[tuple[Stage, ...]] = (step_limit, previous_outcome, patterns, safety_tier, risk_tolerance)


def evaluate(situation: Situation) -> Verdict:
    """What becomes of a step."""
    passed: list[str] = []
    for stage in STAGES:
        verdict = stage(situation)
        if verdict is None:
            continue
        if verdict.way is Way.CONTINUE or verdict.way.rank > situation.leave.rank:
            return replace(verdict, factors=(*passed, *verdict.factors))
        passed.append(f"A person has given leave: {verdict.reason}")
    risk = situation.risk
    tier = Tier.of(risk.score)
    return Verdict(Way.CONTINUE, (*passed, *_told(risk, tier)), "", risk.score, tier)


def _told(risk: Risk, tier: Tier) -> tuple[str, ...]:
    return (*risk.factors, f"Risk {risk.score} of 100: {tier}")
