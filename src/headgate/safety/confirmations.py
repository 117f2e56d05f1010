"""Confirmations: asked for, given, used once, revoked; each step in the audit (Confirmation Tokens)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, cast

from headgate.adapter.masking import masked
from headgate.adapter.operations import Operation
from headgate.protocol.canonical import canonical, digest
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.errors import AqlError, ConfirmationRequired
from headgate.protocol.times import timestamp
from headgate.protocol.visible import visible
from headgate.safety.asks import Ask, identity
from headgate.safety.auditing import ISSUED, REFUSED, REVOKED, entry_of
from headgate.safety.clock import Clock, rounded_up
from headgate.safety.decisions import Decision, Who
from headgate.safety.grants import (
    GRANT,
    Binding,
    Grant,
    Presented,
    Purpose,
    Refusal,
    changed,
    new_grant,
    refusal_of,
    turned_down,
)
from headgate.safety.policy.rules import Confirmation
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.windows import Charge

__all__ = ["KEPT_SECONDS", "Confirmations", "about_grant", "entry_of_grant", "grants_of", "message_of", "question_of"]

Entries: TypeAlias = Callable[[Grant], Sequence[Entry]]
"""What the audit is to tell of a grant that is used."""

KEPT_SECONDS: Final = 1800.0
"""How long a grant is known beyond its end, so that a late use is told so; then it is thrown away."""

_LONGEST_SHOWN: Final = 200
_LONGEST_QUESTION: Final = 10_000
_MOST_WAITING: Final = 50
_PAUSE: Final = "RATE_LIMIT_QUOTA_PAUSE"
_ALONE: Final = "send it by itself, so the user can be asked"


@dataclass(frozen=True, slots=True)
class Confirmations:
    """The grants of one adapter under one policy."""

    store: Store
    settings: Confirmation
    adapter: str
    policy: str
    clock: Clock
    policies: Mapping[str, str] = field(default_factory=dict)
    """What stands for the policy where a source is trusted in its own way."""

    def policy_of(self, operation: Operation) -> str:
        """The policy and the trust that an operation is judged by: what was confirmed under others does not count."""
        return self.policies.get(operation.source, self.policy)

    def binding(self, ask: Ask) -> Binding:
        """The one call that a confirmation of this ask is for."""
        return Binding(
            adapter=self.adapter,
            operation=ask.operation.name,
            params_digest=digest(ask.params),
            caller=identity(ask.caller),
            policy=self.policy_of(ask.operation),
            session=None if self.settings.outlive_session else ask.session_id,
        )

    async def request(
        self, ask: Ask, danger: Danger, decision: Decision, entries: Sequence[Entry], agent: str = ""
    ) -> AqlError:
        """Ask for a confirmation; the error that tells the caller how to get it. ``agent`` is the one it is for."""
        level, reasons, message = danger.level, _reasons(danger, decision), message_of(danger, ask)
        details: dict[str, object] = {
            "operation": ask.operation.name,
            "danger_level": level.value,
            "reasons": list(reasons),
            "confirmation_message": message,
            "rule": decision.rule,
        }
        if danger.cooldown_seconds:
            details["cooldown_seconds"] = danger.cooldown_seconds
        if ask.withholds_tokens and decision.who is Who.CLIENT:
            await self.store.append(entries)
            return ConfirmationRequired(f"This operation requires confirmation: {_ALONE}", details)
        seconds = self.settings.life(level, decision.who) + danger.cooldown_seconds
        grant, token = await self._issue(
            ask,
            Purpose.CONFIRMATION,
            decision.who,
            level,
            message,
            reasons,
            seconds,
            danger.cooldown_seconds,
            entries,
            agent=agent,
        )
        expires_at = timestamp(grant.expires_at)
        if token is None:
            details |= {"approval_id": grant.approval_id, "expires_at": expires_at}
            said = f"once '{grant.approval_id}' is approved, call again with it as confirmation_token"
            return ConfirmationRequired(f"This operation requires confirmation by a person: {said}", details)
        details |= {"confirmation_token": token, "expires_at": expires_at}
        confirmation = {"token": token, "expires_at": expires_at, "message": message, "reasons": list(reasons)}
        question = question_of(ask, message, reasons)
        return ConfirmationRequired("This operation requires confirmation", details, confirmation, question=question)

    async def pause(
        self, ask: Ask, who: Who, message: str, lifts: tuple[str, ...], details: Mapping[str, object]
    ) -> AqlError:
        """Ask for leave to go on beyond some quotas; the error that tells the caller how to get it."""
        if ask.withholds_tokens and who is Who.CLIENT:
            return ConfirmationRequired(f"{message}. {_ALONE.capitalize()}", details, code=_PAUSE)
        seconds = self.settings.quota_seconds
        grant, token = await self._issue(
            ask, Purpose.QUOTA, who, DangerLevel.SAFE, message, (message,), seconds, 0.0, (), lifts
        )
        expires_at = timestamp(grant.expires_at)
        said = f"{message}. Once the user agrees, call again with _quota_continue"
        if token is None:
            about = {**details, "approval_id": grant.approval_id, "expires_at": expires_at}
            return ConfirmationRequired(said, about, code=_PAUSE)
        about = {**details, "confirmation_token": token, "expires_at": expires_at}
        confirmation = {"token": token, "expires_at": expires_at, "message": message, "reasons": []}
        question = question_of(ask, f"{message}. Go on?", ())
        return ConfirmationRequired(said, about, confirmation, question=question, code=_PAUSE)

    async def _issue(
        self,
        ask: Ask,
        purpose: Purpose,
        who: Who,
        level: DangerLevel,
        message: str,
        reasons: tuple[str, ...],
        seconds: float,
        cooldown: float,
        entries: Sequence[Entry],
        lifts: tuple[str, ...] = (),
        agent: str = "",
    ) -> tuple[Grant, str | None]:
        now = self.clock()
        binding = self.binding(ask)
        if who is Who.PERSON:
            grants = await grants_of(self.store, self.adapter)
            waiting = _waiting(grants, binding, purpose, lifts, now)
            if waiting is not None:
                await self.store.append(entries)
                return waiting, None
            _spare_persons(grants, binding.caller, now)
        await self._have_room(now)
        grant, token = new_grant(
            purpose=purpose,
            binding=binding,
            who=who,
            danger=level.value,
            message=message,
            reasons=reasons,
            params=masked(ask.operation, ask.params),
            issued_at=now,
            expires_at=now + seconds,
            cooldown_seconds=cooldown,
            lifts=lifts,
            agent=agent,
        )
        issued = self._entry(ask, ISSUED, grant)
        await self.store.insert(grant.record(KEPT_SECONDS), (*entries, issued))
        return grant, token

    async def _have_room(self, now: float) -> None:
        live = await self.store.count(GRANT, owner=self.adapter, now=now + KEPT_SECONDS)
        if live >= self.settings.max_live:
            raise AqlError(
                "RATE_LIMIT_EXCEEDED",
                f"Too many confirmations wait already ({live}): use them, or let them expire",
                {"limit": self.settings.max_live, "remaining": 0, "retry_after_seconds": self.settings.quota_seconds},
            )

    async def redeem(self, ask: Ask, text: str, purpose: Purpose, entries: Entries, who: Who = Who.CLIENT) -> Grant:
        """Use a token for a call, or raise why it does not count. Of many at once, one succeeds.

        What ``entries`` makes of the grant enters the audit in the same step that uses the token up. ``who`` is who
        must have confirmed.
        """
        now = self.clock()
        presented = Presented.read(text, purpose)
        await self._refuse_floods(ask, presented, now)
        while True:
            grant = await self._found(ask, presented, who, now)
            spent = replace(grant, consumed_at=now)
            if await self.store.replace(spent.record(KEPT_SECONDS), entries(spent)):
                return spent

    async def check(self, ask: Ask, text: str, purpose: Purpose, who: Who = Who.CLIENT) -> None:
        """Raise why a token does not count, as its use would, but do not use it."""
        now = self.clock()
        presented = Presented.read(text, purpose)
        await self._refuse_floods(ask, presented, now)
        await self._found(ask, presented, who, now)

    async def _found(self, ask: Ask, presented: Presented, who: Who, now: float) -> Grant:
        """The grant that gives the right to a call; a refusal is written down, counted and raised."""
        record = await self.store.find(GRANT, presented.id)
        grant = Grant.read(record) if record else None
        skew = self.settings.clock_skew_seconds
        refusal = refusal_of(grant, presented, self.binding(ask), now, skew, who)
        if refusal is not None:
            await self._refused(ask, refusal, presented, grant, now)
            raise refusal.error
        return cast("Grant", grant)  # what is unknown was refused

    def _refusals(self, ask: Ask, presented: Presented) -> Charge:
        """Refusals are counted by who tries; of those whom nothing tells apart, by what they try.

        So none of them can keep the others from confirming, and none can try one token for long.
        """
        is_known = ask.caller.authenticated or ask.session_id
        who = f"{identity(ask.caller)}:{ask.session_id or ''}" if is_known else f"anonymous:{presented.id}"
        return Charge(f"{self.adapter}:refused tokens:{who}", 60.0, 1, self.settings.refusals_per_minute)

    async def _refuse_floods(self, ask: Ask, presented: Presented, now: float) -> None:
        [refusals] = await self.store.used([self._refusals(ask, presented)], now)
        if refusals.retry_after is not None:
            await self.store.append([self._entry(ask, REFUSED, None, code="RATE_LIMIT_EXCEEDED")])
            raise AqlError(
                "RATE_LIMIT_EXCEEDED",
                "Too many tokens were refused: wait before the next try",
                {
                    "limit": self.settings.refusals_per_minute,
                    "remaining": 0,
                    "window": "minute",
                    "retry_after_seconds": rounded_up(refusals.retry_after),
                },
            )

    async def _refused(self, ask: Ask, refusal: Refusal, presented: Presented, grant: Grant | None, now: float) -> None:
        if refusal.code.startswith("TOKEN_"):  # else it is right, and only too early
            await self.store.charge([replace(self._refusals(ask, presented), limit=None)], now)
        known = grant if refusal.code != "TOKEN_INVALID" else None
        await self.store.append([self._entry(ask, REFUSED, known, code=refusal.code)])

    async def revoke_sessions(self, session_ids: Collection[str]) -> int:
        """Revoke what sessions have left unused, now that they are over (Spec 2.3.3); how many."""
        open_ones = [
            grant
            for grant in await grants_of(self.store, self.adapter)
            if grant.binding.session in session_ids and grant.consumed_at is None and grant.revoked_at is None
        ]
        done = [await self._revoke(grant, "the session is over") for grant in open_ones]
        return sum(done)

    async def withdraw(self, text: str, reason: str) -> bool:
        """Revoke the grant that a token is for; whether there was one to revoke."""
        purpose = Purpose.QUOTA if text.startswith(Purpose.QUOTA) else Purpose.CONFIRMATION
        presented = Presented.read(text, purpose)
        record = await self.store.find(GRANT, presented.id)
        grant = Grant.read(record) if record else None
        is_token = presented.opens(grant) and presented.secret is not None  # an approval is a person's to turn down
        if grant is None or not is_token or grant.consumed_at is not None or grant.revoked_at is not None:
            return False
        return await self._revoke(grant, reason)

    async def _revoke(self, grant: Grant, reason: str) -> bool:
        now = self.clock()
        revoked = replace(grant, revoked_at=now)
        entry = entry_of_grant(grant, REVOKED, now, reason=reason)
        return await self.store.replace(revoked.record(KEPT_SECONDS), [entry])

    def _entry(self, ask: Ask, event: str, grant: Grant | None, code: str = "") -> Entry:
        details = about_grant(grant) if grant else {}
        return entry_of(ask, event, self.clock(), self.adapter, code=code, details=details)


def _waiting(
    grants: Sequence[Grant], binding: Binding, purpose: Purpose, lifts: tuple[str, ...], now: float
) -> Grant | None:
    """The same call that waits for a person already: asking again must not fill their list, nor wear them down."""
    wanted = (binding, purpose, lifts)
    same = [one for one in grants if (one.binding, one.purpose, one.lifts) == wanted and one.expires_at > now]
    refused = next((grant for grant in same if grant.turned_down_by is not None), None)
    if refused is not None:
        raise turned_down(refused)
    replaced = next((grant for grant in same if grant.replaced_by), None)
    if replaced is not None:
        raise changed(replaced)
    return next((grant for grant in same if grant.is_pending), None)


def _spare_persons(grants: Sequence[Grant], caller: str, now: float) -> None:
    """Refuse to put more and more before a person: one caller alone could bury what others ask."""
    waiting = sum(one.is_pending and one.expires_at > now and one.binding.caller == caller for one in grants)
    if waiting >= _MOST_WAITING:
        raise AqlError(
            "RATE_LIMIT_EXCEEDED",
            f"{waiting} of this caller's calls wait for a person already: wait for some of them",
            {"limit": _MOST_WAITING, "remaining": 0, "retry_after_seconds": 60},
        )


async def grants_of(store: Store, adapter: str | None = None) -> list[Grant]:
    """All grants that are known, of one adapter or of every."""
    grants: list[Grant] = []
    after = ""
    while records := await store.list(GRANT, owner=adapter, after=after):
        grants += (Grant.read(record) for record in records)
        after = records[-1].key
    return grants


def entry_of_grant(grant: Grant, event: str, at: float, **more: object) -> Entry:
    """What happened to a grant outside of any call."""
    return Entry(
        at=at,
        event=event,
        adapter=grant.binding.adapter,
        caller=grant.binding.caller,
        session=grant.binding.session or "",
        operation=grant.binding.operation,
        danger=grant.danger,
        params=grant.params,
        details={**about_grant(grant), **more},
    )


def about_grant(grant: Grant) -> dict[str, object]:
    """What the audit tells of a grant; its secret is not even known here."""
    return {"grant": grant.id, "who": grant.who.value, "purpose": grant.purpose.name.lower()}


def _reasons(danger: Danger, decision: Decision) -> tuple[str, ...]:
    """Why it is asked: the rule's own reason first, then what is dangerous about the operation."""
    said = () if decision.reason in ("", "; ".join(danger.reasons)) else (decision.reason,)
    return (*said, *danger.reasons) or (f"The operation is {danger.level}",)


def message_of(danger: Danger, ask: Ask) -> str:
    """What a person is asked: the author's words with the parameters filled in, or the call as it stands."""
    shown = {name: _said(value) for name, value in masked(ask.operation, ask.params).items()}
    if danger.confirmation_message:
        return danger.message(shown)
    given = ", ".join(f"{name}={value}" for name, value in shown.items())
    return f"Run {ask.operation.name}({given})?"


def question_of(ask: Ask, message: str, reasons: Sequence[str]) -> str:
    """All that a user should see before they agree: nothing that will be done may hide behind an ellipsis."""
    why = "".join(f"\n- {reason}" for reason in reasons)
    whole = visible(canonical(masked(ask.operation, ask.params)).decode())
    given = whole[:_LONGEST_QUESTION]
    rest = f"\nNOT ALL IS SHOWN: these are {len(given)} of {len(whole)} characters." if given != whole else ""
    return f"{message}{why}\n{ask.operation.name} {given}{rest}"


def _said(value: object) -> str:
    """A value as a person should see it: quoted, so that no text can pretend to be part of the question."""
    text = visible(canonical(value).decode())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
