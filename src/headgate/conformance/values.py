"""What a check of conformance is, what it finds, and what comes of it."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import orjson

from headgate.client.wires import Answer

if TYPE_CHECKING:
    from headgate.conformance.probe import Probe

__all__ = ["Area", "Check", "CheckResult", "Demand", "Exchange", "Finding", "Outcome", "Verdict"]


class Demand(StrEnum):
    """How strongly the specification wants something."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Verdict(StrEnum):
    """What became of a check."""

    PASS = "PASS"  # noqa: S105  (no password)
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"


class Area(StrEnum):
    """What a check is about; the first seven are the categories of the specification's own runner."""

    INTROSPECTION = "Introspection Fidelity"
    PARAMETERS = "Parameter Handling"
    ERRORS = "Error Quality"
    ROUND_TRIPS = "Round-Trip Integrity"
    LEVEL_2 = "Level 2 Features"
    CONSTRAINTS = "Constraint Documentation"
    SEMANTIC = "Semantic Evaluation"
    FORMAT = "Transport and Format"
    ROUTING = "Endpoint Routing"
    DATA = "Data and Limits"
    BATCHES = "Batches"
    COLLECTIONS = "Collections"
    CONFIRMATION = "Confirmation"
    EXECUTIONS = "Executions"
    SAFETY_LOOP = "Safety Loop"
    SESSIONS = "Sessions and Concurrency"


class Outcome(StrEnum):
    """What was seen of one thing that a check looks at."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNSEEN = "unseen"
    """It could not be seen, and why is said: nothing is held against the server."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it. Answers of any form are read: what is wrong with one, its own check judges."""

    tool: str
    arguments: object
    answer: Answer | None
    """The result of the tool call, as it came."""
    kind: Literal["answered", "refused", "silent", "lost"] = "answered"
    """``refused``: an error of JSON-RPC; ``silent``: nothing in time; ``lost``: the connection broke."""
    problem: str = ""
    """What went wrong where there is no answer."""
    envelope: Mapping[str, Any] | None = None
    """The JSON object in the answer."""

    @classmethod
    def of(cls, tool: str, arguments: object, answer: Answer) -> "Exchange":
        """An exchange with an answer."""
        return cls(tool, arguments, answer, envelope=_envelope(answer))

    @property
    def operation(self) -> str:
        """The operation that was asked for."""
        name = self.arguments.get("operation") if isinstance(self.arguments, Mapping) else None
        return name if isinstance(name, str) else ""

    @property
    def succeeded(self) -> bool:
        """Whether the server says that it worked."""
        return self.envelope is not None and self.envelope.get("success") is True

    @property
    def failed(self) -> bool:
        """Whether the server says in an envelope, of whatever form, that it did not work."""
        if self.envelope is None or self.succeeded:
            return False
        return self.envelope.get("success") is False or bool(self.envelope.get("error"))

    @property
    def data(self) -> Any:
        """What was answered."""
        return self.envelope.get("data") if self.envelope is not None else None

    @property
    def error(self) -> Mapping[str, Any]:
        """The error, or nothing; an error that is a bare text is its message."""
        error = self.envelope.get("error") if self.envelope is not None else None
        if isinstance(error, str):
            return {"message": error}
        return error if isinstance(error, Mapping) else {}

    @property
    def code(self) -> str:
        """The code of the error, or nothing."""
        code = self.error.get("code")
        return code if isinstance(code, str) else ""

    @property
    def message(self) -> str:
        """The message of the error, or nothing."""
        message = self.error.get("message")
        return message if isinstance(message, str) else ""

    @property
    def details(self) -> Mapping[str, Any]:
        """The details of the error, or nothing."""
        details = self.error.get("details")
        return details if isinstance(details, Mapping) else {}


def _envelope(answer: Answer) -> Mapping[str, Any] | None:
    if answer.text is not None:
        try:
            value = orjson.loads(answer.text)
        except orjson.JSONDecodeError:
            value = None
        if isinstance(value, Mapping):
            return value
    return answer.structured if isinstance(answer.structured, Mapping) else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check saw of one thing."""

    outcome: Outcome
    subject: str
    """What it is about: an operation, ``operation.parameter``, a tool, or ``server``."""
    words: str
    """What is wrong and what is expected; or why it could not be seen; nothing needs to be said of what holds."""
    exchanges: tuple[Exchange, ...] = ()
    """The requests that show it, the decisive one last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a server is asked to show."""

    id: str
    title: str
    """What it proves, as a sentence about the server."""
    section: str
    """Where the texts say so, such as ``specification 4.6``."""
    demand: Demand
    area: Area
    level: Literal[1, 2]
    """The level of conformance that it belongs to."""
    how: str
    """How it is seen."""
    proves: tuple[str, ...]
    """The requirements that it covers."""
    run: Callable[["Probe"], AsyncIterator[Finding]]


Findings: TypeAlias = AsyncIterator[Finding]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check and what became of it."""

    check: Check
    verdict: Verdict
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def broken(self) -> tuple[Finding, ...]:
        """What is wrong."""
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.BROKEN)

    @property
    def reason(self) -> str:
        """Why it was skipped, in one line."""
        unseen = [finding.words for finding in self.findings if finding.outcome is Outcome.UNSEEN]
        return unseen[0] if unseen else "does not apply to this server"
