"""What an execution leaves behind as it ends: nobody shall be asked any more about a step that will not be taken."""

from dataclasses import replace

from headgate.safety.auditing import REVOKED
from headgate.safety.confirmations import KEPT_SECONDS, entry_of_grant
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.agents import Agent
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.records import Record

__all__ = ["given_up"]


async def given_up(store: Store, agent: Agent, now: float) -> tuple[list[Record], list[Entry]]:
    """What a pause had put before a person, withdrawn; it is to be kept together with the end of the execution."""
    pause = agent.pause
    if pause is None:
        return [], []
    if pause.challenge_id:
        record = await store.find(CHALLENGE, pause.challenge_id)
        challenge = Challenge.read(record) if record else None
        is_open = challenge is not None and challenge.is_open(now)
        return ([replace(challenge, closed_at=now, codes=()).record()] if challenge and is_open else []), []
    record = await store.find(GRANT, pause.grant_id)
    grant = Grant.read(record) if record else None
    if grant is None or not grant.is_pending:
        return [], []
    entry = entry_of_grant(grant, REVOKED, now, reason="the execution is over")
    return [replace(grant, revoked_at=now).record(KEPT_SECONDS)], [entry]
