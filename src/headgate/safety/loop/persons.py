"""What a person does through a channel of their own: see agents, show a code, lift a block, end an execution."""

from dataclasses import replace

from headgate.safety.clock import Clock
from headgate.safety.confirmations import KEPT_SECONDS, entry_of_grant
from headgate.safety.grants import APPROVAL, GRANT, Grant
from headgate.safety.loop.agents import AGENT, Agent, agent_key
from headgate.safety.loop.auditing import ABORTED, OVERRIDDEN, SHOWN, TURNED_DOWN, entry_of_agent
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.endings import given_up
from headgate.safety.loop.holding import refused
from headgate.safety.loop.notifying import status
from headgate.store.audit import Entry
from headgate.store.interface import Store

__all__ = [
    "agents",
    "challenges",
    "end_execution",
    "find_agent",
    "override",
    "refuse_challenge",
    "show_code",
    "show_token",
    "still_blocks",
]


async def agents(store: Store) -> list[Agent]:
    """All agents that are known, in the order of their names."""
    found: list[Agent] = []
    after = ""
    while records := await store.list(AGENT, after=after):
        found += (Agent.read(record) for record in records)
        after = records[-1].key
    return found


async def find_agent(store: Store, name: str) -> Agent | None:
    """The agent of a name, as it calls itself or as it is shown."""
    record = await store.find(AGENT, agent_key(name))
    if record:
        return Agent.read(record)
    return next((agent for agent in await agents(store) if agent.name == name), None)


async def challenges(store: Store, now: float) -> list[Challenge]:
    """The challenges that wait for a person, the oldest first; those of blocks for as long as the agent is blocked."""
    found: list[Challenge] = []
    after = ""
    while records := await store.list(CHALLENGE, after=after):
        found += (Challenge.read(record) for record in records)
        after = records[-1].key
    waiting = [one for one in found if one.is_open(now) or await still_blocks(store, one)]
    return sorted(waiting, key=lambda one: one.made_at)


async def still_blocks(store: Store, challenge: Challenge) -> bool:
    """Whether an agent is blocked until somebody meets this challenge, although its time is over."""
    if not challenge.blocks or challenge.verified_at is not None or challenge.closed_at is not None:
        return False
    record = await store.find(AGENT, challenge.agent)
    agent = Agent.read(record) if record else None
    return agent is not None and agent.block is not None and agent.block.challenge_id == challenge.id


async def show_code(store: Store, challenge_id: str, channel: str, by: str, clock: Clock) -> str | None:
    """A code that meets a challenge, to be shown to a person and to nobody else; None if there is nothing to meet.

    It is made here and now: before somebody asks to see it there is none, and afterwards only a hash of it is left.
    A block waits longer than its challenge: who asks for a code then gives the challenge its time again.
    """
    while True:
        record = await store.find(CHALLENGE, challenge_id)
        challenge = Challenge.read(record) if record else None
        now = clock()
        if challenge is not None and not challenge.is_open(now) and await still_blocks(store, challenge):
            challenge = challenge.renewed(now)
        if challenge is None or not challenge.is_open(now):
            return None
        shown, code = challenge.with_code(channel, now)
        details = {"agent": challenge.name, "challenge": challenge.id, "channel": channel, "by": by}
        entry = Entry(at=now, event=SHOWN, adapter="", details=details)
        if await store.replace(shown.record(), [entry]):
            return code


async def refuse_challenge(store: Store, challenge_id: str, by: str, reason: str, clock: Clock) -> bool:
    """Refuse what an agent is paused for: it may go on, but not with that. False if nothing of that id waits.

    A block cannot be refused: as long as nobody lifts it, the agent does nothing in any case.
    """
    while True:
        record = await store.find(CHALLENGE, challenge_id)
        challenge = Challenge.read(record) if record else None
        now = clock()
        if challenge is None or challenge.blocks or not challenge.is_open(now):
            return False
        kept = await store.find(AGENT, challenge.agent)
        agent = Agent.read(kept) if kept else None
        if agent is None or agent.pause is None or agent.pause.challenge_id != challenge.id:
            return False
        closed = replace(challenge, closed_at=now, refused_by=by, refused_because=reason, codes=())
        free = refused(agent, agent.pause, now, reason)
        entry = entry_of_agent(agent, TURNED_DOWN, now, by=by, challenge=challenge.id, reason=reason)
        if await store.change([free.record(), closed.record()], [entry]):
            return True


async def show_token(store: Store, approval_id: str, by: str, clock: Clock) -> str | None:
    """A token with which another client may confirm what waits; None if nothing of that id waits."""
    while True:
        record = await store.find(GRANT, approval_id.removeprefix(APPROVAL))
        grant = Grant.read(record) if record else None
        now = clock()
        if grant is None or not grant.is_pending or grant.expires_at <= now:
            return None
        shown, token = grant.with_secret()
        if await store.replace(shown.record(KEPT_SECONDS), [entry_of_grant(grant, SHOWN, now, by=by)]):
            return token


async def override(store: Store, name: str, by: str, reason: str, clock: Clock) -> bool:
    """Lift a block without any code, which is the administrator's own decision; False if the agent is not blocked."""
    while True:
        agent = await find_agent(store, name)
        if agent is None or agent.block is None:
            return False
        now = clock()
        free = replace(agent, block=None).told(status("An administrator has lifted the block", now, reason))
        entry = entry_of_agent(agent, OVERRIDDEN, now, by=by, reason=reason, challenge=agent.block.challenge_id)
        record = await store.find(CHALLENGE, agent.block.challenge_id)
        closed = [replace(Challenge.read(record), closed_at=now).record()] if record else []
        if await store.change([free.record(), *closed], [entry]):
            return True


async def end_execution(store: Store, name: str, by: str, reason: str, clock: Clock) -> bool:
    """End what an agent is executing; a block stays. False if it executes nothing."""
    while True:
        agent = await find_agent(store, name)
        if agent is None or agent.execution is None:
            return False
        now = clock()
        entry = entry_of_agent(agent, ABORTED, now, by=by, reason=reason)
        withdrawn, entries = await given_up(store, agent, now)
        ended = replace(agent.freed(), execution=None, seen_at=now)
        if await store.change([ended.record(), *withdrawn], [*entries, entry]):
            return True
