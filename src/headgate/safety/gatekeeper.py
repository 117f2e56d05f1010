"""The gatekeeper: may this call run, now, for this caller? It asks the store, decides, and writes the audit.

A call that was routed and validated passes danger and trust, the policy's rules, what limits and quotas leave, and
confirmation, in this order. One that nothing concerns passes at once, without waiting for anything.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from headgate.adapter.context import ANONYMOUS, Caller, Session
from headgate.adapter.operations import Operation
from headgate.protocol.danger import DangerLevel, Trust
from headgate.protocol.errors import AqlError, retry_in
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.protocol.results import Notice
from headgate.safety.asks import Ask, identity
from headgate.safety.auditing import APPROVED, EXECUTED, PROPOSED, REFUSED, RETURNED, entry_of
from headgate.safety.clock import Clock, rounded_up
from headgate.safety.confirmations import Confirmations, about_grant
from headgate.safety.decisions import Effect, Who
from headgate.safety.denials import denial
from headgate.safety.grants import APPROVAL, Grant, Purpose
from headgate.safety.judging import Judgement, Standing, is_denied_anyway, judge
from headgate.safety.metering import Meter
from headgate.safety.policy.rules import Facts, Policy
from headgate.safety.trust import DEFAULT_TRUST, decide_by_trust
from headgate.store.audit import PRUNED, Entry, Row
from headgate.store.interface import Store
from headgate.store.windows import Charge

if TYPE_CHECKING:
    from headgate.safety.loop.agents import Agent
    from headgate.safety.loop.overseeing import Overseer

__all__ = ["Admission", "DryRun", "Gatekeeper"]

DryRun: TypeAlias = Callable[[], Awaitable[int | None]]
"""Tells how many rows a call would affect, by trying it without effect; None if it does not say."""

_ONCE_SECONDS: Final = 600.0
_SOON_SECONDS: Final = 10.0
"""How often sessions that are over are cleared up after: all grants are looked through for that."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A call that may run, and what must be done when it has."""

    ask: Ask
    judgement: Judgement
    audited: bool
    warnings: tuple[Notice, ...] = ()


@dataclass(slots=True)
class _Housekeeping:
    """What a gatekeeper has yet to tidy up."""

    ended_sessions: list[str] = field(default_factory=list)
    last: float = float("-inf")


class Gatekeeper:
    """Guards the operations of one adapter under one policy."""

    def __init__(
        self,
        adapter: str,
        operations: Mapping[str, Operation],
        store: Store,
        *,
        policy: Policy | None = None,
        trust: Trust = DEFAULT_TRUST,
        trusts: Mapping[str, Trust] | None = None,
        clock: Clock = time.time,
        overseer: "Overseer | None" = None,
    ) -> None:
        self.adapter = adapter
        self.overseer = overseer
        self.operations = operations
        self.store = store
        self.policy = policy or Policy()
        self.trust = trust
        self.trusts = trusts or {}
        self.clock = clock
        version = self.policy.version
        versions = {source: f"{version}.{level}" for source, level in self.trusts.items()}
        self.confirmations = Confirmations(
            store, self.policy.confirmation, adapter, f"{version}.{trust}", clock, versions
        )
        self.meter = Meter(self.policy, adapter, store, self.confirmations, clock)
        self.standings = {name: self._standing(operation) for name, operation in operations.items()}
        self._open = frozenset(name for name, operation in operations.items() if self._is_always_open(operation))
        self._asking = frozenset(name for name, operation in operations.items() if self._may_ask(operation))
        self._held: dict[str, float] = {}
        self._housekeeping = _Housekeeping()

    # what is known before any call

    def trust_of(self, operation: Operation) -> Trust:
        """How far the source of an operation is trusted."""
        return self.trusts.get(operation.source, self.trust)

    def source_of(self, operation: Operation) -> str:
        """The name that rules know the source of an operation by."""
        return operation.source or self.adapter

    def _facts(self, operation: Operation, ask: Ask | None = None) -> Facts:
        params = {} if ask is None else {**_shown_defaults(operation), **ask.params}
        read = ask.values if ask else {}
        return Facts(operation, self.source_of(operation), ask.caller if ask else ANONYMOUS, params, read=read)

    def _standing(self, operation: Operation) -> Standing:
        """How an operation stands; those of the protocol are headgate's own, and need nobody's trust."""
        is_own = operation.name in RESERVED_OPERATIONS
        trust = Trust.CERTIFIED if is_own else self.trust_of(operation)
        standing = Standing.of(self.policy, self._facts(operation), trust)
        return replace(standing, default=Effect.ALLOW) if is_own else standing

    def _is_always_open(self, operation: Operation) -> bool:
        standing = self.standings[operation.name]
        if standing.depends_on_the_call or standing.classified.level.is_grave or self.policy.audit.all_operations:
            return False
        if self._escalates(standing.classified.level) or self.meter.concerns(operation):
            return False
        return judge(standing, self._facts(operation)).decision.effect is Effect.ALLOW

    def _escalates(self, level: DangerLevel) -> bool:
        return self.policy.escalation is not None and level in self.policy.escalation.levels

    def is_open(self, operation: str) -> bool:
        """Whether every call of an operation may run, with nothing to count or to write down."""
        return operation in self._open and operation not in self._held

    def oversees(self, operation: Operation, caller: Caller, session: Session) -> bool:
        """Whether calls of somebody may belong to a supervised agent."""
        return self.overseer is not None and self.overseer.may_concern(operation, caller, session)

    def may_ask(self, operation: str) -> bool:
        """Whether a call of an operation may have to be confirmed."""
        return operation in self._asking

    def _may_ask(self, operation: Operation) -> bool:
        if operation.repeats and any(self._may_ask(one) for one in self.operations.values() if one.background):
            return True
        standing = self.standings[operation.name]
        by_trust = decide_by_trust(standing.classified, standing.trust).effect
        if by_trust is Effect.DENY:
            return False
        if standing.always_anew:
            return True
        effects = {by_trust, standing.default, standing.own_default, *(rule.effect for rule in standing.rules)}
        return Effect.CONFIRM in effects or self._escalates(standing.classified.level)

    # one call

    async def admit(self, ask: Ask, dry_run: DryRun | None = None) -> Admission:
        """Let a call pass, or raise why not. What it raises says what to do."""
        self._respect_upstream(ask.operation.name)
        agent = await self._oversee(ask)
        judgement = await self._judge(ask, dry_run)
        if agent is not None:
            judgement = judgement.by_a_person()
        decision = judgement.decision
        audited = judgement.level.is_grave or self.policy.audit.all_operations
        if decision.effect is Effect.DENY:
            error = denial(ask.operation.name, judgement, self.trust_of(ask.operation))
            await self.store.append([self._proposed(ask, judgement, error.error.code)])
            raise error
        if self._must_be_confirmed(ask, judgement) and ask.token is None:
            await self._refuse_what_is_used_up(ask, judgement)
            raise await self._request(ask, judgement, agent)
        warnings = await self._count(ask, judgement)
        admission = Admission(ask, judgement, audited, warnings)
        if ask.token is not None:
            return await self._redeem(admission, ask.token)
        if audited:
            await self.store.append([self._proposed(ask, judgement), self._executed(admission)])
        return admission

    async def _judge(self, ask: Ask, dry_run: DryRun | None, *, ahead: bool = False) -> Judgement:
        """What is decided of a call; ``ahead`` of time, it does not count as a repetition."""
        standing = self.standings[ask.operation.name]
        if self._escalates(standing.classified.level) and await self._is_repeated(ask, ahead=ahead):
            standing = standing.escalated()
        facts = self._facts(ask.operation, ask)
        if standing.needs_a_dry_run and dry_run is not None:
            without_rows = judge(standing, facts).decision
            if without_rows.effect is not Effect.ALLOW and not is_denied_anyway(standing, facts):
                facts = replace(facts, affected_rows=await dry_run())
        judgement = judge(standing, facts)
        by = ask.repeated_by
        if by is None or by.name not in self.standings:
            return judgement
        return judgement.beside(judge(self.standings[by.name], replace(facts, operation=by)))

    async def _is_repeated(self, ask: Ask, *, ahead: bool = False) -> bool:
        """Whether an operation is called too often. Its dry runs do not count, nor does a confirmed call twice."""
        escalation = self.policy.escalation
        if escalation is None:
            return False
        whose = f"{identity(ask.caller)}:{ask.session_id or ''}"
        charge = Charge(f"{self.adapter}:repeated:{ask.operation.name}:{whose}", escalation.seconds, 1)
        is_new = ask.token is None and not ask.dry_run
        if is_new and not ahead:
            [used] = await self.store.charge([charge], self.clock())
            return used.amount > escalation.after
        [used] = await self.store.used([charge], self.clock())
        return used.amount + is_new > escalation.after

    async def _oversee(self, ask: Ask) -> "Agent | None":
        """The supervised agent that a call belongs to; what it may not do now is refused, and that is written down."""
        if self.overseer is None:
            return None
        try:
            return await self.overseer.oversee(ask)
        except AqlError as error:
            await self.store.append([entry_of(ask, REFUSED, self.clock(), self.adapter, code=error.error.code)])
            raise

    async def _request(self, ask: Ask, judgement: Judgement, agent: "Agent | None" = None) -> AqlError:
        entries = [self._proposed(ask, judgement, "CONFIRMATION_REQUIRED")]
        await self._tidy()
        whose = agent.key if agent else ""
        try:
            asked = await self.confirmations.request(ask, judgement.danger, judgement.decision, entries, whose)
        except AqlError as error:  # nobody will be asked
            await self.store.append([self._proposed(ask, judgement, error.error.code)])
            raise
        if agent is not None and self.overseer is not None:
            approval = str((asked.error.details or {}).get("approval_id", ""))
            await self.overseer.put_before_a_person(agent, approval.removeprefix(APPROVAL))
        return asked

    async def _refuse_what_is_used_up(self, ask: Ask, judgement: Judgement) -> None:
        """Nobody is asked about a call that could not run."""
        if self.meter.concerns(ask.operation):
            error = await self.meter.refusal_ahead(ask)
            if error is not None:
                await self.store.append([self._entry(ask, REFUSED, judgement, code=error.error.code)])
                raise error

    async def _count(self, ask: Ask, judgement: Judgement) -> tuple[Notice, ...]:
        if not self.meter.concerns(ask.operation):
            return ()
        if ask.token is not None:  # a call that is refused for its token is not counted
            await self.confirmations.check(ask, ask.token, Purpose.CONFIRMATION, _confirmer(judgement))
        try:
            return await self.meter.admit(ask)
        except AqlError as error:
            await self.store.append([self._entry(ask, REFUSED, judgement, code=error.error.code)])
            raise

    async def _redeem(self, admission: Admission, token: str) -> Admission:
        """Use the token up; the audit tells of the approval and of the run in the very same step."""
        ask, judgement = admission.ask, admission.judgement

        def entries(grant: Grant) -> list[Entry]:
            approved = self._entry(ask, APPROVED, judgement)
            told = replace(approved, details={**approved.details, **about_grant(grant)})
            return [told, self._executed(admission)]

        await self.confirmations.redeem(ask, token, Purpose.CONFIRMATION, entries, _confirmer(judgement))
        if judgement.decision.remember and ask.session.lasting:
            ask.session.confirmed.add(self._memory(ask, judgement))
        return replace(admission, audited=True)

    def _must_be_confirmed(self, ask: Ask, judgement: Judgement) -> bool:
        decision = judgement.decision
        if decision.effect is not Effect.CONFIRM or ask.dry_run:
            return False
        return not (decision.remember and self._memory(ask, judgement) in ask.session.confirmed)

    def _memory(self, ask: Ask, judgement: Judgement) -> str:
        """What is confirmed for a session: an operation as it was judged, under the rule that asked."""
        judged = f"{judgement.level}:{judgement.decision.who}:{judgement.decision.rule}"
        return f"{self.confirmations.policy_of(ask.operation)}:{ask.operation.name}:{judged}:{identity(ask.caller)}"

    async def settle(self, admission: Admission, *, code: str, duration_ms: float, answer: bytes = b"") -> None:
        """Write down how a call ended, and count what it used."""
        ask = admission.ask
        if admission.audited:
            entry = self._entry(ask, RETURNED, admission.judgement, code=code, duration_ms=round(duration_ms, 3))
            await self.store.append([entry])
        await self.meter.settle(ask, answer)

    def cooldown(self, operation: str) -> float:
        """How many seconds must pass between an operation's confirmation and its run."""
        standing = self.standings.get(operation)
        return standing.classified.danger.cooldown_seconds if standing else 0.0

    async def withdraw(self, token: str, reason: str) -> None:
        """Take back a token that its user does not want."""
        await self.confirmations.withdraw(token, reason)

    # batches that are kept together

    async def demand(self, ask: Ask, dry_run: DryRun | None = None) -> AqlError | None:
        """Ask for the confirmation that a call needs and does not bring, or say why the one that it brings is none.

        Nothing runs, and no token is used up; None if no confirmation stands in the way.
        """

        async def rows() -> int | None:
            try:
                return None if dry_run is None else await dry_run()
            except AqlError:
                return None  # what it would find may have to be made first, by an operation before it

        try:
            agent = await self._oversee(ask)
            judgement = await self._judge(ask, rows, ahead=True)
            if agent is not None:
                judgement = judgement.by_a_person()
            if not self._must_be_confirmed(ask, judgement):
                return None
            if ask.token is None:
                await self._is_repeated(ask)
                return await self._request(ask, judgement, agent)
            await self.confirmations.check(ask, ask.token, Purpose.CONFIRMATION, _confirmer(judgement))
        except AqlError as error:
            return error
        return None

    # an upstream that asks for patience

    def hold(self, operation: str, seconds: float) -> None:
        """Let an operation rest, because what is behind it asked for that (``Retry-After``)."""
        self._held[operation] = self.clock() + seconds

    def _respect_upstream(self, operation: str) -> None:
        until = self._held.get(operation)
        if until is None:
            return
        wait = until - self.clock()
        if wait <= 0:
            del self._held[operation]
            return
        seconds = rounded_up(wait)
        raise AqlError(
            "RATE_LIMIT_EXCEEDED",
            f"API rate limit exceeded: the service behind '{operation}' asked to wait; {retry_in(seconds)}",
            {"operation": operation, "retry_after_seconds": seconds},
        )

    # keeping house

    def session_ended(self, session_id: str) -> None:
        """Note that a session is over: its tokens count no more, and are marked as revoked when there is time."""
        if self.overseer is not None or not self.policy.confirmation.outlive_session:
            self._housekeeping.ended_sessions.append(session_id)

    async def tidy(self) -> None:
        """Revoke and end what belonged to sessions that are over, and throw away what has expired."""
        ended, self._housekeeping.ended_sessions = self._housekeeping.ended_sessions, []
        if ended and not self.policy.confirmation.outlive_session:
            await self.confirmations.revoke_sessions(set(ended))
        if self.overseer is not None:
            for session_id in ended:
                await self.overseer.session_ended(session_id)
        now = self.clock()
        self._housekeeping.last = now
        await self.store.purge(now)
        if self.policy.audit.keep_days is not None:
            await self._forget_old(now - self.policy.audit.keep_days * 86400)

    async def _tidy(self) -> None:
        every = _SOON_SECONDS if self._housekeeping.ended_sessions else _ONCE_SECONDS
        if self.clock() - self._housekeeping.last > every:
            await self.tidy()

    async def _forget_old(self, before: float) -> None:
        last: Row | None = None
        async for row in self.store.rows():
            if row.entry.at >= before:
                break
            last = row
        if last is not None:
            details = {"through": last.number, "digest": last.digest}
            entry = Entry(at=self.clock(), event=PRUNED, adapter=self.adapter, details=details)
            await self.store.prune(last.number, entry)

    # the audit

    def _proposed(self, ask: Ask, judgement: Judgement, code: str = "") -> Entry:
        return self._entry(ask, PROPOSED, judgement, code=code)

    def _executed(self, admission: Admission) -> Entry:
        return self._entry(admission.ask, EXECUTED, admission.judgement)

    def _entry(self, ask: Ask, event: str, judgement: Judgement, **more: Any) -> Entry:
        decision = judgement.decision
        told = {"decision": decision.effect.value, "rule": decision.rule, "danger": judgement.level.value}
        details = {"trust": self.trust_of(ask.operation).value, **({"dry_run": True} if ask.dry_run else {})}
        return entry_of(ask, event, self.clock(), self.adapter, **told, details=details, **more)


def _shown_defaults(operation: Operation) -> Mapping[str, object]:
    """What stands in for parameters that are not given, as rules can compare it."""
    return {
        parameter.name: parameter.schema["default"]
        for parameter in operation.parameters
        if "default" in parameter.schema
    }


def _confirmer(judgement: Judgement) -> Who:
    """Who must have confirmed a call."""
    return judgement.decision.who if judgement.decision.effect is Effect.CONFIRM else Who.CLIENT
