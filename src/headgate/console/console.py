"""What the console shows and decides about: one state, and the engine beside it if it runs in a server."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import orjson
from starlette.responses import Response

from headgate.adapter.context import Caller, Session
from headgate.console.doors import Visit
from headgate.console.metrics import CONSOLE_CLIENT, Metrics
from headgate.console.rendering import rendered
from headgate.engine.pipeline import Engine
from headgate.executions.persons import unfinished
from headgate.safety.approvals import waiting
from headgate.safety.clock import Clock
from headgate.safety.loop.agents import AGENT, BLOCKED
from headgate.safety.loop.persons import challenges
from headgate.store.interface import Store

__all__ = ["Console"]


@dataclass(frozen=True)
class Console:
    """The state that an operator looks at, and the engine whose operations can be tried, if there is one."""

    store: Store
    engine_of: Callable[[], Engine | None] = lambda: None
    """The engine may be another one each time, since a server can take a new version of what it serves."""
    metrics: Metrics | None = None
    clock: Clock = field(default=time.time)
    audit_key: bytes = field(default=b"", repr=False)
    closing: anyio.Event = field(default_factory=anyio.Event)
    """Set when nobody is answered any more, so that what is still told to open pages ends."""

    @property
    def engine(self) -> Engine | None:
        """The engine beside the console, if it runs in a server."""
        return self.engine_of()

    async def page(self, visit: Visit, template: str, *, status: int = 200, **values: object) -> Response:
        """A whole page, as somebody who has signed in sees it."""
        now = self.clock()
        counts: dict[str, object] = {
            "approvals": len(await waiting(self.store, now)),
            "codes": len(await challenges(self.store, now)),
            "blocked": len(await self.store.list(AGENT, owner=BLOCKED)),
            "executions": await unfinished(self.store),
        }
        return rendered(
            template,
            status=status,
            operator=visit.operator.name,
            csrf=visit.operator.csrf,
            here=str(visit.request.scope["path"]),
            has_engine=self.engine is not None,
            counts=counts,
            now=now,
            **values,
        )

    async def call(self, visit: Visit, request: Mapping[str, object]) -> Any:
        """The envelope that answers an operator's own call; None where there is no engine.

        Their sign-in is their session, so that what they are asked to confirm is confirmed by themselves alone.
        """
        engine = self.engine
        if engine is None:
            return None
        session = Session(f"console_{visit.operator.session}")
        return orjson.loads((await engine.call(request, caller=self.caller(visit), session=session)).text)

    def caller(self, visit: Visit) -> Caller:
        """An operator, as the caller of an operation: nobody who calls through MCP can have such a name."""
        return Caller(subject=f"console:{visit.operator.name}", client_id=CONSOLE_CLIENT)
