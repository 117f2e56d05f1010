"""Ways to a server: a URL, a command, or something in this process."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcp.server import Server

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Progress, Session
from headgate.client.aql import Aql
from headgate.client.errors import Unreachable
from headgate.client.line import Asked, Line, OnWarning
from headgate.client.questions import Confirm, Patience, answering
from headgate.client.wires import Answer, Command, Era, InProcess, Place, Tool, Url, WireError, open_wire
from headgate.engine.pipeline import Engine
from headgate.server.binding import mcp_server

__all__ = ["Target", "connect", "place_of"]

Target: TypeAlias = str | Sequence[str] | Adapter | Engine | Server[Any] | Place
"""A URL, the words of a command, or an adapter, engine or server in this process."""

_SINGLE: Final = "mcp_aql"


@asynccontextmanager
async def connect(
    target: Target,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    era: Era = "auto",
    seconds: float = 60.0,
    confirm: Confirm | None = None,
    on_warning: OnWarning | None = None,
) -> AsyncIterator[Aql]:
    """A client of a server, for as long as the block lasts. The tools of MCP-AQL are found, whatever they are called.

    ``token`` and ``headers`` are for a URL, ``env`` and ``cwd`` for a command. ``confirm`` is asked where something
    must be confirmed, and says whether it may be done; without it, ConfirmationRequired is raised.
    """
    patience = Patience(seconds)
    if isinstance(target, Engine):
        yield Aql(Line(_InEngine(target), patience, confirm, on_warning))
        return
    place = place_of(target, token=token, headers=headers, env=env, cwd=cwd)
    on_question = answering(confirm, patience) if confirm else None
    try:
        async with open_wire(place, era=era, on_question=on_question) as wire:
            yield Aql(Line(wire, patience, confirm, on_warning))
    except WireError as error:
        raise Unreachable(f"Cannot talk to {_shown(place)}: {error}.") from None


def place_of(
    target: str | Sequence[str] | Adapter | Server[Any] | Place,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Place:
    """Where a target is; ValueError for what is none."""
    if isinstance(target, Url | Command | InProcess):
        return target
    if isinstance(target, Adapter):
        return InProcess(mcp_server(target))
    if isinstance(target, Server):
        return InProcess(target)
    if isinstance(target, str):
        return _url(target, token, headers or {})
    if not target:
        raise ValueError("The command of a server has no words.")
    return Command(tuple(map(str, target)), env or {}, cwd)


def _url(target: str, token: str | None, headers: Mapping[str, str]) -> Url:
    if not target.startswith(("http://", "https://")):
        raise ValueError(f"'{target}' is no http(s) URL; a command is a list of words, such as ['headgate', 'serve'].")
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return Url(target, {**bearer, **headers})


def _shown(place: Place) -> str:
    match place:
        case Url(url):
            return url
        case Command(words):
            return f"'{words[0]}'"
        case InProcess(server):
            return f"'{server.name}'"


@dataclass(frozen=True, slots=True)
class _InEngine(Asked):
    """An engine without any MCP: one tool that takes everything."""

    engine: Engine
    session: Session = field(default_factory=Session)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The one tool."""
        return (Tool({"name": _SINGLE}),)

    async def call(
        self, tool: str, arguments: object, *, seconds: float = 60.0, progress: Progress | None = None
    ) -> Answer:
        """Have the engine answer."""
        reply = await self.engine.call(arguments, session=self.session, progress=progress)
        return Answer({"content": [{"type": "text", "text": reply.text}], "isError": reply.is_error})
