"""One connection of a client: requests go out, answers come back as results or as errors with a name."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio

from headgate.adapter.context import Progress
from headgate.client.answers import Caution, Odd, Oddity, Reading, Unreadable, read
from headgate.client.errors import (
    AqlFailure,
    ConnectionLost,
    NoAnswer,
    NotAql,
    RequestRefused,
    ServerError,
    failure_of,
)
from headgate.client.questions import ASKING_SECONDS, Confirm, Patience, called, question_of, token_of
from headgate.client.requests import Request
from headgate.client.wires import Answer, Refused, Silent, Tool, WireError

__all__ = ["Asked", "Line", "OnWarning", "Result"]

_LOG: Final = logging.getLogger("headgate.client")
_MOST_KEPT: Final = 1000
_MOST_QUESTIONS: Final = 3
"""A call may be asked about once for itself and once for a quota; more is a server that does not listen."""
_LONGEST_COOLDOWN: Final = 300.0

OnWarning = Callable[[Caution], Any]


class Asked(Protocol):
    """What a client speaks to: tools that can be called."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as they are listed."""
        ...

    async def call(
        self, tool: str, arguments: object, *, seconds: float = ..., progress: Progress | None = None
    ) -> Answer:
        """Call one of them."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """A success: its data, and what else the answer says."""

    data: Any
    warnings: tuple[Caution, ...]
    oddities: tuple[Odd, ...]
    """What was not as the texts want it."""
    request: Request
    envelope: Mapping[str, Any] = field(repr=False)

    @property
    def meta(self) -> Mapping[str, Any]:
        """What stands beside the data, under names with an underscore."""
        return {name: value for name, value in self.envelope.items() if name.startswith("_")}


@dataclass
class Line:
    """What a client knows of its connection."""

    wire: Asked
    patience: Patience = field(default_factory=lambda: Patience(60.0))
    confirm: Confirm | None = None
    on_warning: OnWarning | None = None
    warnings: list[Caution] = field(default_factory=list)
    """The warnings so far, the last thousand of them."""
    oddities: list[Oddity] = field(default_factory=list)
    """What the server did otherwise than the texts want, each kind once for an operation."""

    async def result(self, tool: str, request: Request, progress: Progress | None = None) -> Result:
        """Send a request; if it must be confirmed and the person agrees, once more."""
        for _ in range(_MOST_QUESTIONS):
            try:
                return await self._once(tool, request, progress)
            except AqlFailure as failure:
                token = await self.agreed(failure)
                if token is None:
                    raise
                request = request.with_params(**token)
        return await self._once(tool, request, progress)

    async def agreed(self, failure: AqlFailure) -> Mapping[str, str] | None:
        """The token to send again with, if a failure waits for somebody's word and they give it."""
        found = token_of(failure)
        if found is None or self.confirm is None or await called(self.confirm, question_of(failure)) is not True:
            return None
        await anyio.sleep(_cooldown(failure))
        return dict((found,))

    async def _once(self, tool: str, request: Request, progress: Progress | None) -> Result:
        reading = await self.ask(tool, request.wire, request, progress)
        if not reading.succeeded:
            raise failure_of(reading.error, request, reading.envelope)
        return Result(reading.data, reading.warnings, reading.oddities, request, reading.envelope)

    async def ask(
        self, tool: str, arguments: Mapping[str, Any], request: Request, progress: Progress | None = None
    ) -> Reading:
        """Call a tool, and read what comes. ``request`` is what it is about, to be shown."""
        _LOG.debug("%s: %r", tool, request)
        try:
            reading = read(await self._answer(tool, arguments, progress))
        except WireError as error:
            raise _named(error) from None
        except Unreadable as error:
            raise NotAql(f"The tool '{tool}' does not answer as MCP-AQL demands: {error}.") from None
        self.note(request, *reading.oddities)
        await self._warn(reading)
        return reading

    async def _answer(self, tool: str, arguments: Mapping[str, Any], progress: Progress | None) -> Answer:
        asking = ASKING_SECONDS if self.confirm is not None else 0.0
        with self.patience.waiting():
            return await self.wire.call(
                tool, dict(arguments), seconds=self.patience.seconds + asking, progress=progress
            )
        raise Silent(self.patience.seconds)

    def note(self, request: Request, *oddities: Odd) -> None:
        """Keep what was odd, unless it is known already."""
        if not oddities:
            return
        known = {(one.section, one.words, one.request.operation) for one in self.oddities}
        for odd in oddities:
            if (odd.section, odd.words, request.operation) not in known and len(self.oddities) < _MOST_KEPT:
                self.oddities.append(Oddity(odd.section, odd.words, request))

    async def _warn(self, reading: Reading) -> None:
        self.warnings += reading.warnings
        del self.warnings[:-_MOST_KEPT]
        if self.on_warning is not None:
            for caution in reading.warnings:
                await called(self.on_warning, caution)


def _cooldown(failure: AqlFailure) -> float:
    """How long a confirmed call must wait."""
    seconds = failure.details.get("cooldown_seconds")
    return min(float(seconds), _LONGEST_COOLDOWN) if isinstance(seconds, int | float) else 0.0


def _named(error: WireError) -> ServerError:
    match error:
        case Silent():
            return NoAnswer(f"The server gave {error}.")
        case Refused():
            return RequestRefused(f"The server refused the request: {error}")
    return ConnectionLost(f"The connection is over: {error}.")
