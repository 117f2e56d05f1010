"""Ways to a server that is checked, in the mode that a check wants."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Final

from headgate.adapter.adapter import Adapter
from headgate.client.wires import Command, Era, InProcess, Place, Url, Wire, open_wire
from headgate.conformance.probe import Opener, Unswitchable
from headgate.server.binding import mcp_server

__all__ = ["opener_of", "opener_of_adapter"]

_MODE: Final = "MCP_AQL_ENDPOINT_MODE"


def opener_of(place: Place, *, other: Place | None = None, seconds: float = 30.0) -> Opener:
    """A server that runs or is started. ``other`` is the same in another mode.

    A command is started once more with the mode in its environment, as the specification's companion describes it.
    """
    return _Opener(place, other, seconds)


@dataclass(frozen=True, slots=True)
class _Opener:
    place: Place
    other: Place | None
    seconds: float

    def __call__(self, *, mode: str | None = None, era: Era = "auto") -> AbstractAsyncContextManager[Wire]:
        return open_wire(self._place(mode), era=era, seconds=self.seconds)

    def _place(self, mode: str | None) -> Place:
        if mode is None:
            return self.place
        if self.other is not None:
            return self.other
        if isinstance(self.place, Command):
            return replace(self.place, env={**self.place.env, _MODE: mode})
        where = "URL" if isinstance(self.place, Url) else "process"
        raise Unswitchable(f"it runs in one mode; --other-mode names the {where} of the same server in another")


def opener_of_adapter(adapter: Adapter, **settings: object) -> Opener:
    """headgate's own server of an adapter, in this process."""

    def open_it(*, mode: str | None = None, era: Era = "auto") -> AbstractAsyncContextManager[Wire]:
        chosen = settings | ({"mode": mode} if mode else {})
        return open_wire(InProcess(mcp_server(adapter, **chosen)), era=era)

    return open_it
