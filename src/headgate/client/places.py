"""What goes over a wire to a server, and where wires lead.

Whatever goes wrong below MCP-AQL is one of five errors:

    WireError
    ├── NotOpened        no connection could be made, or it is not MCP that is spoken there
    │   └── Unreachable  there is no server at all, or no way in
    ├── Refused          the server answered with an error of JSON-RPC
    ├── Silent           no answer came in time
    └── Lost             the connection is over
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp.server import Server

__all__ = [
    "Answer",
    "Command",
    "InProcess",
    "Lost",
    "NotOpened",
    "Place",
    "Refused",
    "Silent",
    "Tool",
    "Unreachable",
    "Url",
    "WireError",
]


@dataclass(frozen=True, slots=True)
class Url:
    """A server that listens, over streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is started, and spoken to over its standard input and output."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class InProcess:
    """A server of the SDK, in this process."""

    server: Server[Any]


Place: TypeAlias = Url | Command | InProcess


class WireError(Exception):
    """What went wrong below MCP-AQL, in words that can be shown."""


class NotOpened(WireError):
    """There is no connection."""


class Unreachable(NotOpened):
    """Nobody is there: no such program, host, port or page, or none that lets us in."""


class Refused(WireError):
    """An error of JSON-RPC in place of an answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Silent(WireError):
    """No answer in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} seconds")
        self.seconds = seconds


class Lost(WireError):
    """The connection is over, or an HTTP status came in place of an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called by."""
        return str(self.raw.get("name", ""))

    @property
    def description(self) -> str:
        """What it says of itself."""
        return str(self.raw.get("description") or "")

    def hint(self, name: str) -> bool | None:
        """One of its annotations, such as ``readOnlyHint``, where it has it."""
        annotations = self.raw.get("annotations")
        value = annotations.get(name) if isinstance(annotations, Mapping) else None
        return value if isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one tool call."""

    raw: Mapping[str, Any]

    @property
    def blocks(self) -> list[Mapping[str, Any]]:
        """What it consists of."""
        content = self.raw.get("content")
        return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []

    @property
    def text(self) -> str | None:
        """Its first text."""
        texts = (block.get("text") for block in self.blocks if block.get("type") == "text")
        return next((text for text in texts if isinstance(text, str)), None)

    @property
    def structured(self) -> object:
        """Its structured content, if there is any."""
        return self.raw.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether MCP is told that it failed."""
        return self.raw.get("isError") is True
