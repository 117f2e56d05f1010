"""The safety loop at work: executions start, steps are evaluated, and what persons decide takes effect.

Each change of an agent is kept together with what it brings about, a grant, a challenge, rows of the audit, or not at
all. Where two come at once, one is done after the other has been seen.
"""

import logging
import secrets
import time
from dataclasses import replace
from typing import Final

from headgate.adapter.context import Caller
from headgate.protocol.autonomy import Directive, LoopMode, Notification, Scorer, Tier, Tolerance
from headgate.protocol.errors import AqlError, Denied
from headgate.protocol.visible import visible
from headgate.safety.asks import identity
from headgate.safety.autonomy.rules import AgentRules, Tightening
from headgate.safety.autonomy.scoring import score
from headgate.safety.autonomy.verdicts import Verdict, Way
from headgate.safety.clock import Clock
from headgate.safety.confirmations import KEPT_SECONDS
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.agents import (
    AGENT,
    BLOCKED,
    IDLE,
    KEPT_AGENT_SECONDS,
    LONGEST_NAME,
    MARK,
    SESSION,
    SHOWN,
    Agent,
    Execution,
    Party,
    Pause,
    agent_key,
    named,
)
from headgate.safety.loop.auditing import ABORTED, CHALLENGED, COMPLETED, STARTED, entry_of_agent
from headgate.safety.loop.challenges import CHALLENGE, Announce, Challenge, nobody
from headgate.safety.loop.endings import given_up
from headgate.safety.loop.holding import challenge_of
from headgate.safety.loop.notifying import error, of_block
from headgate.safety.loop.settings import LoopSettings
from headgate.safety.loop.steps import Reported, Seen, Stepping, stopped
from headgate.store.interface import Store
from headgate.store.records import NEW, Record

__all__ = ["SafetyLoop"]

_LOG: Final = logging.getLogger("headgate")
_LEFT_SECONDS: Final = 3600.0
"""How long an execution in which nothing is reported keeps others from starting the same agent anew."""
_NOTHING_MORE: Final = Tightening()
_AT_ONCE: Final = 50
"""How many blocked agents are looked up at once: there are few, and each step asks for them."""


class SafetyLoop:
    """Watches the agents that work through one adapter. Agents of all adapters on one store know of each other."""

    def __init__(
        self,
        adapter: str,
        store: Store,
        settings: LoopSettings,
        *,
        clock: Clock = time.time,
        scorer: Scorer = score,
        announce: Announce = nobody,
    ) -> None:
        self.adapter = adapter
        self.store = store
        self.settings = settings
        self.clock = clock
        self.scorer = scorer
        self.announce = announce

    @property
    def mode(self) -> LoopMode:
        """How far it goes."""
        return self.settings.mode or LoopMode.DISABLED

    @property
    def enforces(self) -> bool:
        """Whether directives count."""
        return self.settings.mode is LoopMode.ENFORCING

    def rules_of(self, key: str, execution: Execution) -> AgentRules:
        """The rules that an agent is under, with what it asked for itself."""
        rules = self.settings.rules_of(key)
        return rules if execution.own == _NOTHING_MORE else rules.tightened(execution.own)

    def describe(self, name: str | None) -> dict[str, object]:
        """How agents are supervised, for introspection (Spec 8.7.4)."""
        settings = self.settings
        rules = settings.rules if name is None else settings.rules_of(_key(name))
        return {
            "execution_safety_loop": self.mode.value,
            "configuration": rules.wire(),
            "defaults": AgentRules().wire(),
            "tiers": {tier.value: list(tier.scores) for tier in Tier},
            "tolerances": {one.value: one.threshold for one in Tolerance},
            "unreported_operations": settings.unreported.value,
            "challenge_seconds": settings.challenge_seconds,
            "approval_seconds": settings.approval_seconds,
            "failures_per_minute": settings.failures_per_minute,
        }

    # agents

    async def find(self, name: str) -> Agent | None:
        """The agent of a name, if anything is known of it."""
        return await self.agent(_key(name))

    async def agent(self, key: str) -> Agent | None:
        """The agent of a key."""
        record = await self.store.find(AGENT, key)
        return Agent.read(record) if record else None

    async def is_held(self, pause: Pause) -> bool:
        """Whether an agent that was paused must still wait."""
        if pause.challenge_id:
            record = await self.store.find(CHALLENGE, pause.challenge_id)
            return record is not None and Challenge.read(record).is_open(self.clock())
        grant = await self._grant(pause.grant_id)
        return grant is None or not grant.is_approved

    async def _executing(self, party: Party, name: str) -> tuple[Agent, Execution]:
        """The agent whose execution a request is about, or why it cannot be about it."""
        agent = await self.find(name)
        if agent is not None:
            await self.refuse_blocked(agent)
        if agent is None or agent.execution is None:
            raise AqlError(
                "NOT_FOUND_RESOURCE",
                f"No execution of agent {named(name)} is running: start it with execute_agent",
                {"resource_type": "execution", "resource_id": visible(name)[:LONGEST_NAME]},
            )
        if not any(mark in agent.execution.marks for mark in party.marks):
            raise Denied(f"the execution of agent {named(agent.name)[1:-1]} belongs to another caller or session")
        return agent, agent.execution

    async def refuse_blocked(self, agent: Agent) -> None:
        """Refuse everything to an agent that is blocked; where its challenge has lapsed, there is a new one."""
        if not self.enforces or agent.block is None:
            return
        agent = await self._with_open_challenge(agent)
        if agent.block is None:
            return
        blocked = (*await self._blocked_beside(agent), agent)
        told = tuple(of_block(one.name, one.block) for one in blocked if one.block)
        waits = agent.block.challenge_id
        raise AqlError(
            "PERMISSION_DENIED",
            f"Permission denied: agent {named(agent.name)} is blocked until a person verifies '{waits}'",
            {
                "reason": agent.block.reason,
                "agent": agent.name,
                "stopped": True,
                "verification_id": waits,
                "directive": stopped(agent.block, told).wire(),
            },
        )

    async def _with_open_challenge(self, agent: Agent) -> Agent:
        """A blocked agent, with a challenge that a person can still meet."""
        while agent.block is not None:
            now, block = self.clock(), agent.block
            record = await self.store.find(CHALLENGE, block.challenge_id)
            if record is not None and Challenge.read(record).is_open(now):
                break
            challenge = challenge_of(
                agent,
                agent.execution,
                block.hint,
                Tier.DANGER_ZONE,
                Verdict(Way.STOP, block.factors, block.reason),
                now,
                self.settings.challenge_seconds,
                digest=block.digest,
                blocks=True,
            )
            renewed = replace(agent, block=replace(block, challenge_id=challenge.id))
            entry = entry_of_agent(agent, CHALLENGED, now, challenge=challenge.id)
            if await self.store.change([renewed.record(), challenge.record()], [entry]):
                await self._tell_persons(challenge)
                return renewed
            agent = await self.agent(agent.key) or replace(agent, block=None)
        return agent

    async def _tell_persons(self, challenge: Challenge) -> None:
        """Announce a challenge. It waits for a person even if none could be told; then the agent tells its user."""
        try:
            await self.announce(challenge)
        except Exception:  # noqa: BLE001  # what holds an agent up is kept by now, and it must learn of it
            _LOG.exception("nobody was told that '%s' waits to be verified", challenge.id)
            said = f"Nobody could be told: ask the operator to look for '{challenge.id}'"
            await self._note(challenge.agent, error(said, self.clock(), challenge.id))

    async def _note(self, key: str, note: Notification) -> None:
        """Have an agent told something with its next directive."""
        while (agent := await self.agent(key)) is not None:
            if await self.store.change([agent.told(note).record()]):
                return

    async def blocked(self) -> list[Agent]:
        """All agents that are blocked."""
        found: list[Agent] = []
        after = ""
        while records := await self.store.list(AGENT, owner=BLOCKED, after=after, first=_AT_ONCE):
            found += (Agent.read(record) for record in records)
            after = records[-1].key
        return found

    async def _blocked_beside(self, agent: Agent) -> tuple[Agent, ...]:
        return tuple(one for one in await self.blocked() if one.key != agent.key)

    # executions

    async def start(self, party: Party, caller: Caller, name: str, task: str, own: Tightening) -> Agent:
        """Let an agent begin, which a person has agreed to; one that is blocked cannot."""
        key = _key(name)
        while True:
            now = self.clock()
            agent = await self.agent(key) or Agent(key=key, name=visible(name.strip()))
            await self.refuse_blocked(agent)
            running = agent.execution
            if running is not None and not await self._is_left_behind(agent, running, party, now):
                raise AqlError(
                    "CONFLICT_ALREADY_EXISTS",
                    f"An execution of agent {named(agent.name)} is running already: complete or abort it first",
                    {"resource_type": "execution", "resource_id": running.id},
                )
            execution = Execution(
                id=f"exec_{secrets.token_hex(8)}",
                task=visible(task)[:SHOWN],
                adapter=self.adapter,
                started_at=now,
                caller=identity(caller),
                marks=party.marks,
                own=own,
            )
            begun = replace(agent.freed(), execution=execution, seen_at=now).marked(party)
            withdrawn, entries = await given_up(self.store, agent, now)
            if running is not None:
                entries.append(entry_of_agent(agent, ABORTED, now, steps=running.steps, words="It was left behind"))
            entries.append(entry_of_agent(begun, STARTED, now, task=execution.task))
            marks = [await self._with_mark(mark, key, now) for mark in party.marks]
            if await self.store.change([begun.record(), *withdrawn, *marks], entries):
                return begun

    async def _is_left_behind(self, agent: Agent, running: Execution, party: Party, now: float) -> bool:
        """Whether nobody will go on with an execution: a session that is over can neither report nor abort.

        Who might still be at work is not disturbed, unless a person has just let the agent begin. While a person is
        asked about its next step, it is not over: to begin anew is no way around the question.
        """
        if any(mark in running.marks for mark in party.marks) or await self._is_asked_about(agent.pause, now):
            return False
        return (self.enforces and not self.settings.starts_freely) or now - agent.seen_at > _LEFT_SECONDS

    async def _is_asked_about(self, pause: Pause | None, now: float) -> bool:
        if pause is None or pause.challenge_id:
            return pause is not None and await self.is_held(pause)
        grant = await self._grant(pause.grant_id)
        return grant is not None and grant.is_pending and grant.expires_at > now

    async def _with_mark(self, mark: str, key: str, now: float) -> Record:
        """The agents that a party speaks for, with one more. Those that neither work nor are held up are forgotten.

        It is written even if nothing changes: of two that start at once, none must forget the other.
        """
        record = await self.store.find(MARK, mark)
        known: list[str] = list(record.value["agents"]) if record else []  # type: ignore[call-overload]
        found = [await self.agent(one) for one in known if one != key]
        kept = [one.key for one in found if one is not None and one.owner != IDLE]
        expires = now + KEPT_AGENT_SECONDS if mark.startswith(SESSION) else None
        return Record(MARK, mark, {"agents": [*kept, key]}, None, expires, record.version if record else NEW)

    async def complete(self, party: Party, name: str, summary: str) -> Execution:
        """End an execution that has reached its goal."""
        return await self._end(party, name, COMPLETED, summary)

    async def abort(self, party: Party, name: str, reason: str) -> Execution:
        """End an execution that has not."""
        return await self._end(party, name, ABORTED, reason)

    async def abandon(self, key: str, mark: str) -> None:
        """End an execution that belongs to nobody else than to one party, which is gone."""
        while (agent := await self.agent(key)) is not None:
            execution = agent.execution
            if execution is None or execution.marks != (mark,):
                return
            if await self._ended(agent, execution, ABORTED, "Its session is over"):
                return

    async def _end(self, party: Party, name: str, event: str, words: str) -> Execution:
        while True:
            agent, execution = await self._executing(party, name)
            if await self._ended(agent, execution, event, words):
                return execution

    async def _ended(self, agent: Agent, execution: Execution, event: str, words: str) -> bool:
        now = self.clock()
        entry = entry_of_agent(agent, event, now, steps=execution.steps, words=visible(words)[:SHOWN])
        ended = replace(agent.freed(), execution=None, seen_at=now)
        withdrawn, entries = await given_up(self.store, agent, now)
        return await self.store.change([ended.record(), *withdrawn], [*entries, entry])

    # steps

    async def step(self, party: Party, name: str, report: Reported) -> Directive:
        """Evaluate what an agent is about to do."""
        if self.mode is LoopMode.DISABLED:
            return Directive(goes_on=True, factors=("The safety loop is disabled: nothing was evaluated",))
        while True:
            agent, execution = await self._executing(party, name)
            seen = await self._seen(agent)
            rules = self.rules_of(agent.key, execution)
            moved = Stepping(agent, execution, report, seen, self.settings, rules, self.scorer, self.clock()).moved()
            kept = [moved.agent.record()]
            if moved.grant is not None:
                kept.append(moved.grant.record(KEPT_SECONDS))
            if moved.challenge is not None:
                kept.append(moved.challenge.record())
            if await self.store.change(kept, moved.entries):
                if moved.challenge is not None:
                    await self._tell_persons(moved.challenge)
                return moved.directive

    async def _seen(self, agent: Agent) -> Seen:
        if not self.enforces:
            return Seen()
        pause = agent.pause
        grant = await self._grant(pause.grant_id) if pause and pause.grant_id else None
        challenge = await self.store.find(CHALLENGE, pause.challenge_id) if pause and pause.challenge_id else None
        waiting = [await self._grant(grant_id) for grant_id in agent.waiting]
        return Seen(
            grant=grant,
            challenge=Challenge.read(challenge) if challenge else None,
            waiting=tuple(one for one in waiting if one is not None),
            blocked=await self._blocked_beside(agent),
        )

    async def _grant(self, grant_id: str) -> Grant | None:
        record = await self.store.find(GRANT, grant_id)
        return Grant.read(record) if record else None


def _key(name: str) -> str:
    key = agent_key(name)
    if not key or len(name) > LONGEST_NAME:
        raise AqlError(
            "VALIDATION_INVALID_VALUE",
            f"Parameter 'element_name' must be a name of 1 to {LONGEST_NAME} characters, some of them visible",
            {"param_name": "element_name"},
        )
    return key
