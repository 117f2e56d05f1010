"""What persons decide about agents through MCP: ``confirm_operation`` and ``verify_challenge``.

Both need what only a person's own channel shows, and neither is open to the agent that it is about.
"""

from dataclasses import dataclass, replace
from typing import Final

from headgate.adapter.context import Caller
from headgate.protocol.errors import AqlError, Denied
from headgate.safety.asks import identity
from headgate.safety.auditing import APPROVED
from headgate.safety.autonomy.verdicts import Way
from headgate.safety.clock import Clock, rounded_up
from headgate.safety.confirmations import KEPT_SECONDS, entry_of_grant
from headgate.safety.grants import APPROVAL, GRANT, Grant, Presented, Purpose
from headgate.safety.loop.agents import AGENT, Agent, Leave, Party, exactly
from headgate.safety.loop.auditing import SELF_APPROVAL, UNVERIFIED, VERIFIED
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.notifying import error, status
from headgate.safety.loop.settings import LoopSettings
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.records import Record
from headgate.store.windows import Charge

__all__ = ["Deciding", "released"]

LOCKOUT: Final = "lockout"
"""The kind of record that says until when nothing is verified for an agent."""

_WINDOW_SECONDS: Final = 60.0
_FORGOTTEN_SECONDS: Final = 86400.0
"""After this time without another lockout, the next one is as short as the first."""
_MOST_DOUBLINGS: Final = 10


def released(agent: Agent, challenge: Challenge, now: float) -> Agent | None:
    """The agent after a person has verified a challenge: free, and allowed once what it was held up for.

    None if it waits for something else by now.
    """
    if agent.block is not None and agent.block.challenge_id == challenge.id:
        free, way = replace(agent, block=None), Way.STOP
    elif agent.pause is not None and agent.pause.challenge_id == challenge.id:
        free, way = replace(agent, pause=None), Way.VERIFY
    else:
        return None
    execution = free.execution and replace(free.execution, taken=0)
    leave = Leave(exactly(challenge.hint), way) if execution else None
    said = status(f"A person has verified: {challenge.hint[:200]}", now)
    return replace(free, execution=execution, leave=leave).told(said)


@dataclass(frozen=True, slots=True)
class Deciding:
    """Decisions that arrive by MCP, of somebody who is not the agent."""

    adapter: str
    store: Store
    settings: LoopSettings
    clock: Clock

    # confirming

    async def confirm(self, party: Party, caller: Caller, approval_id: str, token: str) -> Grant:
        """Approve what waits for a person, with the token that a person's channel has shown."""
        presented = Presented.read(token, Purpose.CONFIRMATION)
        found = await self.store.find(GRANT, approval_id.removeprefix(APPROVAL))
        grant = Grant.read(found) if found else None
        agent = await self._agent(grant.agent) if grant and grant.agent else None
        subject = grant.agent if grant and grant.agent else _subject(party)
        await self._refuse_self(party, caller, agent, grant, subject)
        await self._refuse_locked(caller, subject, "confirm_operation")
        now = self.clock()
        if grant is None or presented.secret is None or grant.id != presented.id or not presented.opens(grant):
            raise await self._failed(caller, subject, "confirm_operation")
        if grant.revoked_at is not None or grant.expires_at <= now:
            raise await self._failed(caller, subject, "confirm_operation")
        if not grant.is_pending:
            return grant
        by = identity(caller)
        approved = replace(grant, approved_at=now, approved_by=by)
        if not await self.store.replace(approved.record(KEPT_SECONDS), [entry_of_grant(grant, APPROVED, now, by=by)]):
            return await self.confirm(party, caller, approval_id, token)
        return approved

    # verifying

    async def verify(self, party: Party, caller: Caller, challenge_id: str, code: str) -> Challenge:
        """Meet a challenge with the code that a person's channel has shown. A wrong code makes all of them void."""
        while True:
            found = await self.store.find(CHALLENGE, challenge_id)
            challenge = Challenge.read(found) if found else None
            agent = await self._agent(challenge.agent) if challenge else None
            subject = challenge.agent if challenge else _subject(party)
            await self._refuse_self(party, caller, agent, None, subject)
            await self._refuse_locked(caller, subject, "verify_challenge")
            now = self.clock()
            free = released(agent, challenge, now) if agent and challenge else None
            if challenge is None or free is None or not (challenge.is_open(now) and challenge.opens(code)):
                if challenge is not None and not await self._void(challenge, agent if free else None, now):
                    continue
                raise await self._failed(caller, subject, "verify_challenge")
            met = replace(challenge, verified_at=now, verified_by=identity(caller), codes=())
            entry = self._entry(VERIFIED, caller, "verify_challenge", agent=challenge.name, challenge=challenge.id)
            if await self.store.change([met.record(), free.record()], [entry]):
                return met

    async def _void(self, challenge: Challenge, agent: Agent | None, now: float) -> bool:
        """Make the codes of a challenge void, and tell the agent that waits for it; False if it has changed."""
        said = f"A verification of '{challenge.id}' has failed: no code that was shown counts any more"
        told = [agent.told(error(said, now, challenge.id)).record()] if agent else []
        return await self.store.change([challenge.failed().record(), *told])

    # what stands against it

    async def _refuse_self(
        self, party: Party, caller: Caller, agent: Agent | None, grant: Grant | None, subject: str
    ) -> None:
        """Nobody decides for itself, whatever it shows (Spec 8.7.3); nor does who may be the one that is held up."""
        is_agent = agent is not None and agent.is_party(party)
        is_asker = grant is not None and not grant.agent and grant.binding.is_of(party.identity, party.session)
        if party.identity is not None and not (is_agent or is_asker):
            return
        name = agent.name if agent else subject
        await self.store.append([self._entry(SELF_APPROVAL, caller, "", code="PERMISSION_DENIED", agent=name)])
        if is_agent or is_asker:
            raise Denied("who is held up cannot decide about it: a person must, in the console or with another client")
        raise Denied(
            "nothing proves that this is not who is held up: decide in the console, with headgate watch or verify, or "
            "through a client that authenticates"
        )

    async def _refuse_locked(self, caller: Caller, subject: str, operation: str) -> None:
        now = self.clock()
        record = await self.store.find(LOCKOUT, subject)
        until = float(str(record.value["until"])) if record else 0.0
        if now >= until:
            return
        await self.store.append([self._entry(UNVERIFIED, caller, operation, code="RATE_LIMIT_EXCEEDED", agent=subject)])
        raise AqlError(
            "RATE_LIMIT_EXCEEDED",
            f"Too many tries have failed: nothing is verified for this agent for {rounded_up(until - now):g} seconds",
            {
                "limit": self.settings.failures_per_minute,
                "remaining": 0,
                "window": "minute",
                "retry_after_seconds": rounded_up(until - now),
            },
        )

    async def _failed(self, caller: Caller, subject: str, operation: str) -> AqlError:
        """Count a try that failed; after too many nothing is verified for a while, each time twice as long."""
        now = self.clock()
        limit = self.settings.failures_per_minute
        charge = Charge(f"unverified:{subject}", _WINDOW_SECONDS, 1)
        [used] = await self.store.charge([charge], now)
        await self.store.append([self._entry(UNVERIFIED, caller, operation, code="TOKEN_INVALID", agent=subject)])
        if used.amount >= limit:
            await self._lock(subject, now)
        return AqlError(
            "TOKEN_INVALID",
            "The verification failed: what was given is wrong, used, or too late. Ask the operator for another",
            {"token": "", "operation": operation},
        )

    async def _lock(self, subject: str, now: float) -> None:
        while True:
            record = await self.store.find(LOCKOUT, subject)
            if record and float(str(record.value["until"])) > now:
                return
            times = int(str(record.value["times"])) if record and now < (record.expires_at or now) else 0
            seconds = _WINDOW_SECONDS * 2 ** min(times, _MOST_DOUBLINGS)
            value = {"until": now + seconds, "times": times + 1}
            expires = now + seconds + _FORGOTTEN_SECONDS
            locked = Record(LOCKOUT, subject, value, None, expires, record.version if record else 0)
            if await self.store.change([locked]):
                return

    def _entry(self, event: str, caller: Caller, operation: str, *, code: str = "", **details: object) -> Entry:
        return Entry(
            at=self.clock(),
            event=event,
            adapter=self.adapter,
            caller=identity(caller),
            operation=operation,
            code=code,
            details=details,
        )

    async def _agent(self, key: str) -> Agent | None:
        record = await self.store.find(AGENT, key)
        return Agent.read(record) if record else None


def _subject(party: Party) -> str:
    """Whose failures are counted where it is not known which agent is meant."""
    return f"by {' '.join(party.marks)}"
