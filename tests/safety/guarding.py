"""An engine behind a gatekeeper: its clock stands still until it is moved, and its store can be looked into."""

import json
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from headgate import Adapter, Caller, Engine, Session
from headgate.adapter.context import ANONYMOUS
from headgate.protocol.danger import Trust
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.reading import policy_from
from headgate.safety.policy.rules import Policy
from headgate.store.audit import Entry, first_break
from headgate.store.interface import Store
from headgate.store.opening import open_store
from tests.engine.asking import answer

__all__ = ["Clock", "Guarded", "code_of", "codes_of", "gatekeeper", "guarded", "policy"]

START = 1_770_200_000.0
"""The fourth of February 2026, which is as good as any other day."""


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


def policy(text: str) -> Policy:
    """The policy that a TOML text holds, or none if it is empty."""
    return policy_from(tomllib.loads(text), "policy.toml") if text.strip() else Policy()


def gatekeeper(
    adapter: Adapter,
    store: Store,
    rules: str | Policy = "",
    *,
    trust: Trust | str = Trust.VALIDATED,
    clock: Clock | None = None,
) -> Gatekeeper:
    """The gatekeeper of an adapter, under a policy that fits it."""
    read = policy(rules) if isinstance(rules, str) else rules
    check_policy(read, adapter.name, adapter.operations)
    given = Trust(trust)
    return Gatekeeper(adapter.name, adapter.operations, store, policy=read, trust=given, clock=clock or Clock())


class Guarded:
    """One adapter behind a gatekeeper."""

    def __init__(
        self,
        adapter: Adapter,
        store: Store,
        rules: str | Policy = "",
        *,
        trust: Trust | str = Trust.VALIDATED,
        clock: Clock | None = None,
        **more: Any,
    ) -> None:
        self.store = store
        self.clock = clock or Clock()
        self.gatekeeper = gatekeeper(adapter, store, rules, trust=trust, clock=self.clock)
        self.engine = Engine(adapter, gatekeeper=self.gatekeeper, **more)
        self.session = Session()

    async def ask(self, arguments: object, *, caller: Caller = ANONYMOUS, session: Session | None = None) -> Any:
        """The envelope of raw arguments, in the form that the specification demands."""
        return await answer(self.engine, arguments, caller=caller, session=session or self.session)

    async def call(
        self,
        operation: str,
        params: object = None,
        *,
        token: object = None,
        caller: Caller = ANONYMOUS,
        session: Session | None = None,
        **beside: object,
    ) -> Any:
        """The envelope of one call; a token goes beside its parameters."""
        arguments = {"operation": operation, "params": {} if params is None else params, **beside}
        if token is not None:
            arguments["_confirmation"] = token
        return await self.ask(arguments, caller=caller, session=session)

    async def code(self, operation: str, params: object = None, **more: Any) -> str:
        """The code of a call that fails, or nothing if it succeeds."""
        return code_of(await self.call(operation, params, **more))

    async def token(self, operation: str, params: object = None, **more: Any) -> str:
        """The token that a call is answered with."""
        envelope = await self.call(operation, params, **more)
        assert code_of(envelope) == "CONFIRMATION_REQUIRED", envelope
        token = envelope["error"]["details"]["confirmation_token"]
        assert isinstance(token, str)
        return token

    async def approval(self, operation: str, params: object = None, **more: Any) -> str:
        """The id of the approval that a call waits for."""
        envelope = await self.call(operation, params, **more)
        assert code_of(envelope) == "CONFIRMATION_REQUIRED", envelope
        approval = envelope["error"]["details"]["approval_id"]
        assert isinstance(approval, str)
        return approval

    async def audit(self) -> list[Entry]:
        """All that the audit holds, of which the chain must be whole."""
        rows = [row async for row in self.store.rows()]
        assert first_break(rows, await self.store.start(), await self.store.head()) is None
        return [row.entry for row in rows]

    async def events(self) -> list[str]:
        """What the audit tells, in one word each."""
        return [entry.event for entry in await self.audit()]

    async def told(self) -> str:
        """Everything in the audit as one text, to look for what must not be there."""
        return "\n".join([json.dumps(row.wire(), ensure_ascii=False) async for row in self.store.rows()])


def code_of(envelope: Any) -> str:
    """The code of a failure, or nothing."""
    return "" if envelope["success"] else str(envelope["error"]["code"])


def codes_of(envelope: Any) -> Sequence[str]:
    """The codes of a batch."""
    return [code_of(item["result"]) for item in envelope["results"]]


@asynccontextmanager
async def guarded(adapter: Adapter, rules: str | Policy = "", **more: Any) -> AsyncIterator[Guarded]:
    """An adapter behind a gatekeeper whose store ends with the test."""
    store = open_store("memory:")
    try:
        yield Guarded(adapter, store, rules, **more)
    finally:
        await store.close()
