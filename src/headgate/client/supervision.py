"""A supervised agent on this side of the wire (specification 8.6): it reports before it acts, and heeds the answer.

While a run is open, the client itself calls nothing but introspection and the loop's own operations: whatever else is
to be called goes through the run, which reports it first. Once the loop has said no, the run does nothing more until
``resume`` gets another answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self

import anyio
import orjson

from headgate.client.descriptions import OperationInfo, ProtocolInfo
from headgate.client.directives import Directive
from headgate.client.errors import AqlFailure, ClientError, Held, Paused, Stopped, Unreported
from headgate.client.line import Result
from headgate.client.questions import called
from headgate.client.requests import Request

__all__ = ["OnPause", "Supervised"]

_START: Final = "execute_agent"
_REPORT: Final = "record_execution_step"
_COMPLETE: Final = "complete_execution"
_ABORT: Final = "abort_execution"
_LOOP: Final = frozenset({_START, _REPORT, _COMPLETE, _ABORT})
_ENFORCING: Final = "enforcing"
_LONGEST_HINT: Final = 2000
_ABORT_SECONDS: Final = 10.0

OnPause = Callable[[Held], Any]
"""Is told that the agent is held up, before that is raised; a plain or an async function."""


class Leads(Protocol):
    """What a run needs of its client."""

    overseer: Callable[[str], None] | None

    async def operation(self, name: str) -> OperationInfo | None:
        """One operation in full."""
        ...

    async def protocol(self) -> ProtocolInfo:
        """What the server says of the protocol."""
        ...

    async def prepared(self, operation: str, params: Mapping[str, Any]) -> tuple[str, Request]:
        """The tool and the request of a call."""
        ...

    def result(self, operation: str, params: Mapping[str, Any] | None = None, /) -> Awaitable[Result]:
        """Call one."""
        ...


@dataclass
class _Permit:
    """That something was reported and may be done; it is over with it."""

    run: "Supervised"
    valid: bool = True


_PERMIT: ContextVar[_Permit | None] = ContextVar("headgate_reported", default=None)


@dataclass
class Supervised:
    """An agent's run inside the safety loop, for as long as the block lasts."""

    client: Leads = field(repr=False)
    agent: str
    task: str = ""
    autonomy: Mapping[str, Any] | None = None
    confirmation_token: str | None = field(default=None, repr=False)
    on_pause: OnPause | None = field(default=None, repr=False)
    summary: str = ""
    """What was reached, told as the run completes."""
    held: Held | None = None
    """Why nothing goes on, if so."""
    mode: str = _ENFORCING
    steps: int = 0
    """How many steps the loop has let pass."""
    execution: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the server answered as the run began."""
    _spelling: Callable[[str], str] = field(default=str, repr=False)
    _hint: str = field(default="", repr=False)
    _outcome: str | None = field(default=None, repr=False)
    _is_open: bool = field(default=False, repr=False)

    async def __aenter__(self) -> Self:
        if self.client.overseer is not None:
            raise Unreported("This connection supervises an agent already: leave its run first, or connect once more.")
        params = {"element_name": self.agent, "task": self.task, "autonomy": self.autonomy}
        params["confirmation_token"] = self.confirmation_token
        given = {name: value for name, value in params.items() if value}
        self.execution = _object((await self.client.result(_START, given)).data)
        self.mode = await self._mode()
        self._spelling = _spelling(await self.client.operation(_REPORT))
        self.client.overseer, self._is_open = self._oversee, True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self.held is None:
                done = {"summary": self.summary} if self.summary else {}
                await self.client.result(_COMPLETE, {"element_name": self.agent, **done})
            else:
                await self._abort(str(self.held or error or ""))
        finally:
            self.client.overseer, self._is_open = None, False

    async def step(
        self, hint: str, *, outcome: str | None = None, description: str | None = None, findings: str | None = None
    ) -> Directive:
        """Report what comes next, and how the step before ended. Raises Paused or Stopped if it may not be done.

        ``hint`` is for a person to judge by: the tool, what it is called on, and what for.
        """
        self._refuse()
        told = {"step_description": description, "outcome": outcome or self._outcome, "findings": findings}
        return await self._report(hint, told)

    async def resume(self) -> Directive:
        """Report the step again that was held up, once a person has decided; raises again if they have not."""
        before = self.held
        try:
            directive = await self._report(self._hint, {})
        except AqlFailure as failure:
            if before is None:
                raise
            raise type(before)(f"Agent '{self.agent}' is held up: {failure.message}", before.directive) from failure
        self.held = None
        return directive

    async def call(self, operation: str, params: Mapping[str, Any] | None = None, /, **named: Any) -> Any:
        """Report a call of this server and make it, if it may be made; its data."""
        self._refuse()
        given = {**(params or {}), **named}
        _, request = await self.client.prepared(operation, given)

        async def act() -> Any:
            return (await self.client.result(operation, given)).data

        return await self.act(_words(request), act)

    async def act(self, hint: str, action: Callable[..., Any], *values: Any) -> Any:
        """Report something that is done elsewhere (another server, a file, the shell), and do it, if it may be done.

        Whether it worked is told with the next report.
        """
        await self.step(hint)
        permit = _Permit(self)
        before = _PERMIT.set(permit)
        self._outcome = "failure"
        try:
            done = await called(action, *values)
        finally:
            permit.valid = False
            _PERMIT.reset(before)
        self._outcome = "success"
        return done

    def _oversee(self, operation: str) -> None:
        """Let pass what was reported, and what the loop itself needs."""
        permit = _PERMIT.get()
        reported = permit is not None and permit.valid and permit.run is self
        if operation not in _LOOP and not reported:
            raise Unreported(f"'{operation}' was not reported: call it through the run of '{self.agent}'.")

    def _refuse(self) -> None:
        """Raise if nothing may be done: the run is not open, or it is held up."""
        if not self._is_open:
            raise Unreported(f"The run of '{self.agent}' is not open: nothing is done outside of it.")
        if self.held is not None:
            raise type(self.held)(str(self.held), self.held.directive)

    async def _report(self, hint: str, told: Mapping[str, str | None]) -> Directive:
        self._hint = hint
        params = {"element_name": self.agent, "next_action_hint": hint, **told}
        given = {self._spelling(name): value for name, value in params.items() if value is not None}
        answer = await self.client.result(_REPORT, given)
        directive = Directive.of(answer.data, binding=self.mode == _ENFORCING)
        self._outcome = None
        if not directive.goes_on:
            raise await self._hold(directive)
        self.steps += 1
        return directive

    async def _hold(self, directive: Directive) -> Held:
        """Do nothing more from now on, and have it told."""
        kind, word = (Stopped, "stopped") if directive.stopped else (Paused, "paused")
        self.held = kind(f"Agent '{self.agent}' is {word}: {directive.words}", directive)
        if self.on_pause is not None:
            await called(self.on_pause, self.held)
        return self.held

    async def _abort(self, reason: str) -> None:
        """Tell the server that it ends; a blocked agent may not even do that, and nobody waits long for it."""
        with anyio.move_on_after(_ABORT_SECONDS, shield=True):
            with suppress(ClientError):
                await self.client.result(_ABORT, {"element_name": self.agent, "reason": reason[:_LONGEST_HINT]})

    async def _mode(self) -> str:
        said = self.execution.get("execution_safety_loop")
        if not isinstance(said, str):
            said = (await self.client.protocol()).capabilities.get("execution_safety_loop")
        return said if said in ("monitoring", "logging", "disabled") else _ENFORCING


def _object(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _words(request: Request) -> str:
    """A call as a person judges it."""
    shown = orjson.dumps(request.shown, default=str).decode()
    return f"calling {request.operation} with {shown}"[:_LONGEST_HINT]


def _spelling(info: OperationInfo | None) -> Callable[[str], str]:
    """How the parameters of a report are written: as they are declared, else as the specification writes them."""
    if info is not None and info.declares("next_action_hint"):
        return str
    return lambda name: name if name == "element_name" else _camel(name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
