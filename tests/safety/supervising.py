"""Agents under the safety loop, and the persons who decide about them: each with a session of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from headgate import Adapter, Caller, Engine, Session
from headgate.executions.operations import execution_operations
from headgate.executions.service import Executions
from headgate.protocol.autonomy import LoopMode, Scorer
from headgate.safety.approvals import approve, turn_down, waiting
from headgate.safety.autonomy.scoring import score
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.grants import Grant
from headgate.safety.loop.agents import Agent
from headgate.safety.loop.challenges import Announce, Challenge, nobody
from headgate.safety.loop.operations import startable
from headgate.safety.loop.overseeing import Overseer
from headgate.safety.loop.persons import challenges, find_agent, show_code, show_token
from headgate.safety.loop.service import SafetyLoop
from headgate.store.interface import Store
from headgate.store.opening import open_store
from tests.safety.guarding import Clock, Guarded, code_of, policy

__all__ = ["Supervised", "shop", "supervised"]

FREE = '[autonomy]\nmode = "enforcing"\nstart = "free"\n'
"""Agents are supervised, and may start without anybody's leave."""

PERSON = Caller(subject="ana", client_id="desk")
"""Somebody who has proved who they are, which is what decides about agents through MCP."""

HARMLESS = "read project/config.json"
RISKY = "send the quarterly report to the press"
GRAVE = "delete the production database"
DEADLY = "rm -rf /srv/data"


def shop(done: list[str] | None = None) -> Adapter:
    """An adapter with something to read, to change and to delete; what was done is written down."""
    made = [] if done is None else done
    adapter = Adapter("shop")

    @adapter.read
    def get_order(order_id: int) -> str:
        """Read an order."""
        made.append(f"get {order_id}")
        return "an order"

    @adapter.create
    def create_note(text: str) -> str:
        """Write a note."""
        made.append(f"note {text}")
        return "a note"

    @adapter.delete
    def delete_order(order_id: int) -> str:
        """Delete an order."""
        made.append(f"delete {order_id}")
        return "gone"

    return adapter


class Supervised(Guarded):
    """One adapter whose agents are supervised. ``session`` is an agent's, ``desk`` that of a person's own client."""

    def __init__(
        self,
        store: Store,
        rules: str = FREE,
        *,
        adapter: Adapter | None = None,
        clock: Clock | None = None,
        scorer: Scorer = score,
        announce: Announce = nobody,
        executions: Executions | None = None,
    ) -> None:
        self.store = store
        self.clock = clock or Clock()
        self.done: list[str] = []
        self.adapter = adapter or shop(self.done)
        read = policy(rules)
        self.loop = SafetyLoop(
            self.adapter.name, store, read.autonomy, clock=self.clock, scorer=scorer, announce=announce
        )
        followed = execution_operations(executions) if executions else {}
        operations = {**self.adapter.operations, **followed, **startable(self.loop)}
        overseer = Overseer(self.loop)
        self.gatekeeper = Gatekeeper(
            self.adapter.name, operations, store, policy=read, clock=self.clock, overseer=overseer
        )
        self.engine = Engine(self.adapter, gatekeeper=self.gatekeeper, loop=self.loop, executions=executions)
        self.session = Session()
        self.desk = Session()

    @property
    def mode(self) -> LoopMode:
        """How far the loop goes."""
        return self.loop.mode

    # what an agent does

    async def start(self, name: str = "bot", **more: Any) -> Any:
        """Start an agent; a person approves if one must."""
        who = {key: more.pop(key) for key in ("caller", "session") if key in more}
        params = {"element_name": name, **more}
        envelope = await self.call("execute_agent", params, **who)
        if code_of(envelope) == "CONFIRMATION_REQUIRED":
            approval = envelope["error"]["details"]["approval_id"]
            assert await approve(self.store, approval, "ana", self.clock)
            envelope = await self.call("execute_agent", params, token=approval, **who)
        assert envelope["success"], envelope
        return envelope["data"]

    async def report(self, hint: str = HARMLESS, *, name: str = "bot", **more: Any) -> Any:
        """The envelope of one report."""
        who = {key: more.pop(key) for key in ("caller", "session") if key in more}
        params = {"element_name": name, "next_action_hint": hint, **more}
        return await self.call("record_execution_step", params, **who)

    async def step(self, hint: str = HARMLESS, **more: Any) -> Any:
        """The directive that a report is answered with."""
        envelope = await self.report(hint, **more)
        assert envelope["success"], envelope
        return envelope["data"]["directive"]

    async def blocked(self, hint: str = DEADLY, **more: Any) -> Challenge:
        """Have the agent blocked; the challenge that would release it."""
        directive = await self.step(hint, **more)
        assert directive["stopped"] is True, directive
        return await self.challenge()

    # what a person does

    async def agent(self, name: str = "bot") -> Agent:
        """The agent as it is kept."""
        found = await find_agent(self.store, name)
        assert found is not None
        return found

    async def challenge(self) -> Challenge:
        """The one challenge that waits."""
        [found] = await challenges(self.store, self.clock())
        return found

    async def code_for(self, challenge: Challenge) -> str:
        """A code that a person's channel shows."""
        code = await show_code(self.store, challenge.id, "console", "ana", self.clock)
        assert code is not None
        return code

    async def verify(self, challenge_id: str, code: str, **more: Any) -> Any:
        """The envelope of a verification, by a person's own client unless said otherwise."""
        params = {"challenge_id": challenge_id, "code": code}
        return await self.call("verify_challenge", params, **{"session": self.desk, "caller": PERSON, **more})

    async def release(self, challenge: Challenge | None = None) -> None:
        """A person verifies, as it should be done."""
        asked = challenge or await self.challenge()
        envelope = await self.verify(asked.id, await self.code_for(asked))
        assert envelope["success"], envelope

    async def pending(self) -> Grant:
        """The one thing that waits for a person's approval."""
        [grant] = await waiting(self.store, self.clock())
        return grant

    async def allow(self) -> None:
        """A person approves what waits."""
        assert await approve(self.store, (await self.pending()).approval_id, "ana", self.clock)

    async def refuse(self, reason: str = "") -> None:
        """A person turns down what waits."""
        assert await turn_down(self.store, (await self.pending()).approval_id, "ana", self.clock, reason)

    async def token_for(self, grant: Grant) -> str:
        """The token that a person's channel shows for what waits."""
        token = await show_token(self.store, grant.approval_id, "ana", self.clock)
        assert token is not None
        return token

    async def confirm(self, grant: Grant, token: str, *, caller: Caller = PERSON, **more: Any) -> Any:
        """The envelope of a confirmation, by a person's own client unless said otherwise."""
        params = {"approval_id": grant.approval_id, "token": token}
        return await self.call("confirm_operation", params, caller=caller, **{"session": self.desk, **more})


@asynccontextmanager
async def supervised(rules: str = FREE, **more: Any) -> AsyncIterator[Supervised]:
    """Supervised agents on a store that ends with the test."""
    store = open_store("memory:")
    try:
        yield Supervised(store, rules, **more)
    finally:
        await store.close()
