"""An engine whose operations run in the background, asked as a caller would ask it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from headgate import Adapter, Caller, Engine, Session
from headgate.adapter.context import ANONYMOUS
from headgate.executions.host import Pace
from headgate.executions.service import Executions
from headgate.server.settings import Settings
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.opening import open_store
from tests.engine.asking import answer
from tests.safety.guarding import code_of

__all__ = ["Works", "works"]

QUICK = Pace(busy=0.02, idle=0.05, beat=0.5)
LONG = 30
"""Seconds for which what must come is awaited."""


class Works:
    """One adapter whose long work runs in this process."""

    def __init__(self, adapter: Adapter, store: Store, **settings: Any) -> None:
        self.store = store
        self.executions = Executions(adapter.name, store, pace=QUICK)
        self.engine: Engine = Settings.of(**settings).engine(adapter, store, self.executions)

    async def ask(self, arguments: object, *, caller: Caller = ANONYMOUS, session: Session | None = None) -> Any:
        """The envelope of raw arguments."""
        return await answer(self.engine, arguments, caller=caller, session=session)

    async def call(self, operation: str, *, caller: Caller = ANONYMOUS, **params: Any) -> Any:
        """The data of a call that succeeds."""
        envelope = await self.ask({"operation": operation, "params": params}, caller=caller)
        assert envelope["success"], envelope
        return envelope["data"]

    async def error(self, operation: str, *, caller: Caller = ANONYMOUS, **params: Any) -> dict[str, Any]:
        """The error of a call that fails."""
        envelope = await self.ask({"operation": operation, "params": params}, caller=caller)
        assert not envelope["success"], envelope
        found: dict[str, Any] = envelope["error"]
        return found

    async def code(self, operation: str, *, caller: Caller = ANONYMOUS, **params: Any) -> str:
        """The code of a call that fails, or nothing."""
        return code_of(await self.ask({"operation": operation, "params": params}, caller=caller))

    async def start(self, operation: str, *, caller: Caller = ANONYMOUS, **params: Any) -> str:
        """The id of work that was started just now."""
        return str((await self.call(operation, caller=caller, **params))["execution_id"])

    async def state(self, execution_id: str, *, caller: Caller = ANONYMOUS, **more: Any) -> dict[str, Any]:
        """Its state object."""
        found: dict[str, Any] = await self.call("get_execution", caller=caller, execution_id=execution_id, **more)
        return found

    async def ended(self, execution_id: str, *, caller: Caller = ANONYMOUS) -> dict[str, Any]:
        """Its state object once it has ended."""
        state = await self.state(execution_id, caller=caller, wait_seconds=LONG)
        assert state["status"] in ("completed", "failed", "cancelled"), state
        return state

    async def reaches(self, execution_id: str, name: str) -> dict[str, Any]:
        """Its state object once it is in a state."""
        async with asyncio.timeout(LONG):
            state = await self.state(execution_id)
            while state.get("state", state["status"]) != name:
                state = await self.state(execution_id, wait_seconds=0.01)
        return state

    async def result(self, execution_id: str, *, caller: Caller = ANONYMOUS, **more: Any) -> dict[str, Any]:
        """Its result, in the state object."""
        params = {"execution_id": execution_id, "wait_seconds": LONG, **more}
        found: dict[str, Any] = await self.call("get_execution_result", caller=caller, **params)
        return found

    async def cancel(self, execution_id: str, *, caller: Caller = ANONYMOUS) -> dict[str, Any]:
        """Its state object as it is asked to stop."""
        found: dict[str, Any] = await self.call("cancel_execution", caller=caller, execution_id=execution_id)
        return found

    async def audit(self) -> list[Entry]:
        """What the audit tells."""
        return [row.entry async for row in self.store.rows()]


@asynccontextmanager
async def works(adapter: Adapter, policy: Mapping[str, Any] | None = None, **settings: Any) -> AsyncIterator[Works]:
    """An adapter whose work ends with the test."""
    store = open_store("memory:")
    made = Works(adapter, store, **({"policy": policy} if policy else {}), **settings)
    try:
        yield made
    finally:
        await made.executions.close()
        await store.close()
