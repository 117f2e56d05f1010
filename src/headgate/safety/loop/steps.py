"""One step of an agent: what it is told, what becomes of it, and what is kept with it. Pure."""

from dataclasses import dataclass, replace
from functools import cached_property

from headgate.protocol.autonomy import Directive, LoopMode, Notification, Scorer, StepOutcome, Tier
from headgate.protocol.visible import visible
from headgate.safety.autonomy.evaluation import Situation, evaluate
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.verdicts import Report, Verdict, Way
from headgate.safety.grants import Grant
from headgate.safety.loop.agents import SHOWN, Agent, Block, Execution, Leave, Pause, Step, brief, exactly, hint_digest
from headgate.safety.loop.auditing import BLOCKED_AGENT, PAUSED, STEP, entry_of_agent
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.holding import challenge_of, grant_of, refused
from headgate.safety.loop.notifying import of_block, of_grant, of_pause, status
from headgate.safety.loop.settings import LoopSettings
from headgate.store.audit import Entry

__all__ = ["Moved", "Reported", "Seen", "Stepping", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What an agent reports: what it is about to do, and what it has done."""

    hint: str
    description: str = ""
    outcome: StepOutcome | None = None
    findings: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known beside the agent's own record as it reports."""

    grant: Grant | None = None
    """What a person was asked as the agent was paused."""
    challenge: Challenge | None = None
    """What a person must verify before the agent may go on."""
    waiting: tuple[Grant, ...] = ()
    """The operations of the agent that the gatekeeper has put before a person."""
    blocked: tuple[Agent, ...] = ()
    """All other agents that are blocked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An agent after a step, what it is told, and what is kept with it."""

    agent: Agent
    directive: Directive
    entries: tuple[Entry, ...]
    grant: Grant | None = None
    challenge: Challenge | None = None


@dataclass(frozen=True)
class Stepping:
    """One report of an executing agent under the rules that it is under."""

    agent: Agent
    execution: Execution
    report: Reported
    seen: Seen
    settings: LoopSettings
    rules: AgentRules
    scorer: Scorer
    now: float

    @cached_property
    def digest(self) -> str:
        """What the hint has in common with others that read the same."""
        return hint_digest(self.report.hint)

    def moved(self) -> Moved:
        """What becomes of the step, by how far the loop goes."""
        match self.settings.mode:
            case LoopMode.ENFORCING:
                return self._enforced()
            case LoopMode.MONITORING:
                return self._told(self.agent, self._verdict(self.agent, self.execution))
            case _:
                return self._told(self.agent, Verdict(Way.CONTINUE, ("Logged only: nothing was evaluated",)))

    def _enforced(self) -> Moved:
        agent, execution = self._resolved()
        if agent.pause is not None:
            waits = agent.pause.waits_for
            reason = f"{agent.pause.reason}: '{waits}' still waits for a person"
            return self._told(agent, Verdict(Way.PAUSE, agent.pause.factors, reason), execution)
        if self.digest in agent.refused:
            said = "A person has refused this action"
            return self._told(agent, Verdict(Way.PAUSE, (said,), said), execution)
        verdict = self._verdict(agent, execution)
        match verdict.way:
            case Way.CONTINUE:
                left = replace(agent, leave=None) if self._leave(agent) is not Way.CONTINUE else agent
                return self._told(left, verdict, execution)
            case Way.PAUSE:
                grant = grant_of(agent, execution, verdict, self.report.hint, self.now, self.settings.approval_seconds)
                paused = replace(agent, leave=None, pause=self._pause(verdict, grant_id=grant.id))
                moved = self._told(paused, verdict, execution, PAUSED, approval=grant.approval_id)
                return replace(moved, grant=grant)
            case _:
                return self._challenged(agent, execution, verdict)

    def _resolved(self) -> tuple[Agent, Execution]:
        """The agent after what persons have decided of its pause, or after nobody did in time."""
        agent, execution, pause, grant = self.agent, self.execution, self.agent.pause, self.seen.grant
        if pause is None:
            return agent, execution
        free = replace(agent, pause=None)
        if pause.challenge_id:  # as it is verified, the pause is lifted
            challenge = self.seen.challenge
            return (agent if challenge and challenge.is_open(self.now) else free), execution
        if grant is not None and grant.is_pending and grant.expires_at > self.now:
            return agent, execution
        if grant is not None and grant.is_approved:
            allowed = exactly(str(grant.params["next_action_hint"]))
            return replace(free, leave=Leave(allowed, Way.PAUSE)), replace(execution, taken=0)
        if grant is not None and grant.turned_down_by is not None:
            return refused(agent, pause, self.now, grant.turned_down_because), execution
        return free.told(status(f"Nobody approved in time: {pause.hint}", self.now)), execution

    def _verdict(self, agent: Agent, execution: Execution) -> Verdict:
        report, leave = Report(self.report.hint, self.report.outcome), self._leave(agent)
        return evaluate(Situation(report, brief(self.digest), execution.history, self.rules, self.scorer, leave))

    def _leave(self, agent: Agent) -> Way:
        """How far a person has allowed this very action, to the letter."""
        is_for_this = agent.leave is not None and agent.leave.digest == exactly(self.report.hint)
        return agent.leave.way if agent.leave and is_for_this else Way.CONTINUE

    def _pause(self, verdict: Verdict, **waits_for: str) -> Pause:
        return Pause(
            at=self.now,
            hint=_short(self.report.hint),
            digest=self.digest,
            reason=verdict.reason,
            factors=verdict.factors,
            **waits_for,
        )

    def _challenged(self, agent: Agent, execution: Execution, verdict: Verdict) -> Moved:
        """A pause or a block that ends when a person has verified."""
        blocks = verdict.way is Way.STOP
        tier, seconds = verdict.tier or Tier.DANGER_ZONE, self.settings.challenge_seconds
        challenge = challenge_of(
            agent, execution, self.report.hint, tier, verdict, self.now, seconds, digest=self.digest, blocks=blocks
        )
        if blocks:
            held = replace(agent, leave=None, block=Block.of(challenge, self.now))
        else:
            held = replace(agent, leave=None, pause=self._pause(verdict, challenge_id=challenge.id))
        event = BLOCKED_AGENT if blocks else PAUSED
        moved = self._told(held, verdict, execution, event, challenge=challenge.id)
        return replace(moved, challenge=challenge)

    def _told(
        self, agent: Agent, verdict: Verdict, execution: Execution | None = None, event: str = "", **details: object
    ) -> Moved:
        """The agent with the step behind it, and its directive; what is told once is forgotten with it."""
        enforced = self.settings.mode is LoopMode.ENFORCING
        step = self._step(verdict, enforced=enforced)
        after = (execution or self.execution).with_step(step)
        waiting = tuple(one.id for one in self.seen.waiting if one.is_pending and one.expires_at > self.now)
        told = replace(agent, execution=after, notes=(), waiting=waiting, seen_at=self.now)
        evaluated = self.settings.mode is not LoopMode.LOGGING
        directive = Directive(
            goes_on=verdict.way is Way.CONTINUE,
            stopped=verdict.way is Way.STOP,
            factors=verdict.factors,
            reason=verdict.reason,
            steps_remaining=max(0, self.rules.max_autonomous_steps - after.taken) if evaluated else None,
            tier=verdict.tier,
            notifications=self._notifications(agent, told),
        )
        entries = [self._entry(told, step, verdict)]
        if event:
            entries.append(entry_of_agent(told, event, self.now, reason=verdict.reason, **details))
        return Moved(agent=told, directive=directive if enforced else directive.advisory(), entries=tuple(entries))

    def _notifications(self, before: Agent, after: Agent) -> tuple[Notification, ...]:
        waiting = (of_grant(grant, self.now) for grant in self.seen.waiting if grant.consumed_at is None)
        pauses = [of_pause(after.pause)] if after.pause else []
        blocks = [of_block(one.name, one.block) for one in (*self.seen.blocked, after) if one.block]
        return (*before.notes, *waiting, *pauses, *blocks)

    def _step(self, verdict: Verdict, *, enforced: bool) -> Step:
        return Step(
            number=self.execution.steps + 1,
            at=self.now,
            hint=_short(self.report.hint),
            digest=brief(self.digest),
            way=verdict.way if enforced else Way.CONTINUE,
            factors=verdict.factors,
            score=verdict.score,
            tier=verdict.tier or "",
            description=_short(self.report.description),
            outcome=self.report.outcome or "",
        )

    def _entry(self, agent: Agent, step: Step, verdict: Verdict) -> Entry:
        return entry_of_agent(
            agent,
            STEP,
            self.now,
            number=step.number,
            hint=step.hint,
            way=verdict.way.value,
            tier=step.tier,
            score="" if step.score is None else step.score,
            factors=list(step.factors),
            outcome=step.outcome,
            description=step.description,
            findings=_short(self.report.findings),
        )


def stopped(block: Block, notifications: tuple[Notification, ...]) -> Directive:
    """What an agent that is blocked is told, whatever it asks."""
    return Directive(
        goes_on=False,
        stopped=True,
        factors=block.factors,
        reason=f"{block.reason}: '{block.challenge_id}' waits to be verified",
        notifications=notifications,
    )


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}… ({len(text)} characters)"
