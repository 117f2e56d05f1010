"""What the console shows and decides about: one state, and the engine beside it if it runs in a server."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from headgate.adapter.context import Caller
from headgate.console.doors import Visit
from headgate.console.metrics import Metrics
from headgate.console.words import ago, caller_shown, json_shown, span, stamp
from headgate.engine.pipeline import Engine
from headgate.protocol.visible import visible
from headgate.safety.approvals import waiting
from headgate.safety.clock import Clock
from headgate.safety.loop.agents import AGENT, BLOCKED
from headgate.safety.loop.persons import challenges
from headgate.store.interface import Store

__all__ = ["Console"]

_PAGES: Final = Environment(
    loader=PackageLoader("headgate.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.filters.update(ago=ago, caller=caller_shown, json=json_shown, span=span, stamp=stamp, visible=visible)


@dataclass(frozen=True)
class Console:
    """The state that an operator looks at, and the engine whose operations can be tried, if there is one."""

    store: Store
    engine_of: Callable[[], Engine | None] = lambda: None
    """The engine may be another one each time, since a server can take a new version of what it serves."""
    metrics: Metrics | None = None
    clock: Clock = field(default=time.time)
    audit_key: bytes = field(default=b"", repr=False)

    @property
    def engine(self) -> Engine | None:
        """The engine beside the console, if it runs in a server."""
        return self.engine_of()

    async def page(self, visit: Visit, template: str, *, status: int = 200, **values: object) -> Response:
        """A whole page, as somebody who has signed in sees it."""
        now = self.clock()
        counts = {
            "approvals": len(await waiting(self.store, now)),
            "codes": len(await challenges(self.store, now)),
            "blocked": len(await self.store.list(AGENT, owner=BLOCKED)),
        }
        shown = _PAGES.get_template(template).render(
            operator=visit.operator.name,
            csrf=visit.operator.csrf,
            here=visit.request.url.path,
            has_engine=self.engine is not None,
            counts=counts,
            now=now,
            **values,
        )
        return HTMLResponse(shown, status)

    def bare(self, template: str, *, status: int = 200, **values: object) -> Response:
        """A page for somebody who has not signed in."""
        return HTMLResponse(_PAGES.get_template(template).render(**values), status)

    def caller(self, visit: Visit) -> Caller:
        """An operator, as the caller of an operation: nobody who calls through MCP can have such a name."""
        return Caller(subject=f"console:{visit.operator.name}", client_id="headgate console")
