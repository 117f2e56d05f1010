"""Operations of this server that belong to a supervised agent: held up with it, and never confirmed by it alone."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from headgate.adapter.context import Caller, Session
from headgate.adapter.operations import Operation
from headgate.protocol.errors import Denied
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.safety.asks import Ask, identity
from headgate.safety.autonomy.texts import folded
from headgate.safety.autonomy.verdicts import Way
from headgate.safety.loop.agents import EXECUTE_AGENT, MARK, RECORD_STEP, SESSION, Agent, Party, named
from headgate.safety.loop.service import SafetyLoop
from headgate.safety.loop.settings import Unreported

__all__ = ["Overseer", "party"]

_NOT_DONE: Final = re.compile(
    r"\b(?:how|what|why|about|which|whether|no|not|cannot|never|without|before|after|avoid|refrain|instead of"
    r"|rather than|docs? of|(?:can|don|won)'?t)\b[^,;.:]*"
)
"""What is only spoken of, or will not be done, up to the end of its clause."""


def party(caller: Caller, session: Session) -> Party:
    """Who calls, as far as it was proved."""
    known = identity(caller) if caller.authenticated else None
    return Party(known, session.id if session.lasting and not session.is_callers_own else None)


class Overseer:
    """Stands before the gate of one adapter and asks the loop."""

    def __init__(self, loop: SafetyLoop) -> None:
        self.loop = loop

    def may_concern(self, operation: Operation, caller: Caller, session: Session) -> bool:
        """Whether a call may belong to an agent; where nothing says so, nothing has to be asked."""
        if not self.loop.enforces:
            return False
        if not operation.category.read_only or caller.authenticated:
            return True
        return bool(session.agents) or not session.lasting

    async def agents_of(self, caller: Caller, session: Session) -> list[Agent]:
        """The agents that a caller speaks for."""
        keys: dict[str, None] = dict.fromkeys(session.agents)
        for mark in party(caller, session).marks:
            record = await self.loop.store.find(MARK, mark)
            keys |= dict.fromkeys(record.value["agents"] if record else ())  # type: ignore[call-overload]
        found = [await self.loop.agent(key) for key in keys]
        return [agent for agent in found if agent is not None]

    async def oversee(self, ask: Ask) -> Agent | None:
        """The agent that a call belongs to, or a refusal if it may not do this now."""
        if not self.may_concern(ask.operation, ask.caller, ask.session):
            return None
        agents = await self.agents_of(ask.caller, ask.session)
        for agent in agents:
            await self.loop.refuse_blocked(agent)
        executing = [agent for agent in agents if agent.execution is not None]
        if ask.operation.name == EXECUTE_AGENT and not ask.caller.authenticated:
            await self._refuse_like_blocked()
        if ask.operation.category.read_only or ask.operation.name in RESERVED_OPERATIONS:
            return executing[0] if executing else None
        for agent in executing:
            await self._refuse_paused(agent)
        if not executing and not ask.caller.authenticated:
            await self._refuse_like_blocked()
        self._refuse_unreported(ask.operation, executing)
        return executing[0] if executing else None

    async def _refuse_paused(self, agent: Agent) -> None:
        if agent.pause is not None and await self.loop.is_held(agent.pause):
            raise Denied(
                f"agent {named(agent.name)[1:-1]} is paused until a person has decided",
                agent=agent.name,
                waits_for=agent.pause.waits_for,
            )

    async def _refuse_like_blocked(self) -> None:
        """Refuse whoever cannot be told from an agent that is blocked: another session is no way around it."""
        blocked = await self.loop.blocked()
        if blocked:
            raise Denied(
                f"agent {named(blocked[0].name)[1:-1]} is blocked, and nothing proves that this is somebody else: "
                "a person must verify it first, or the caller must authenticate",
                agent=blocked[0].name,
            )

    def _refuse_unreported(self, operation: Operation, executing: list[Agent]) -> None:
        rule = self.loop.settings.unreported
        if rule is Unreported.ALLOW or any(_has_reported(agent, operation.name) for agent in executing):
            return
        if not executing and rule is Unreported.REFUSE:
            return
        first = RECORD_STEP if executing else "execute_agent"
        raise Denied(
            f"{operation.name} was not reported: call {first} first, and name it in next_action_hint",
            operation=operation.name,
        )

    async def put_before_a_person(self, agent: Agent, grant_id: str) -> None:
        """Note that an operation of an agent waits for a person, for its next directive."""
        while True:
            found = await self.loop.agent(agent.key)
            if found is None or grant_id in found.waiting:
                return
            noted = replace(found, waiting=(*found.waiting, grant_id))
            if await self.loop.store.replace(noted.record()):
                return

    async def session_ended(self, session_id: str) -> None:
        """End what was executed in a session that is over: nobody else could report for it, or abort it."""
        mark = f"{SESSION}{session_id}"
        record = await self.loop.store.find(MARK, mark)
        for key in record.value["agents"] if record else ():  # type: ignore[attr-defined]
            await self.loop.abandon(key, mark)
        await self.loop.store.remove(MARK, mark)


def _has_reported(agent: Agent, operation: str) -> bool:
    """Whether the last thing that an agent has reported, and may do, names an operation as what will be done."""
    step = agent.execution.last if agent.execution else None
    if step is None or step.way is not Way.CONTINUE:
        return False
    return _name(operation).search(_NOT_DONE.sub(" ", folded(step.hint))) is not None


@lru_cache(maxsize=1024)
def _name(operation: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(operation)}(?!\w)")
