"""What a plugin must be able to do (Plugin Interface Contracts). Plugins keep no state; connections do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from headgate.adapter.context import Context
from headgate.sources.files.headroom import Telling
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Auth, Entry, Target
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.credentials import Credential
from headgate.sources.http.messages import Answer
from headgate.sources.source import Source

__all__ = [
    "AuthPlugin",
    "Connection",
    "Opener",
    "Plan",
    "Plugin",
    "ProtocolPlugin",
    "Serialization",
    "Surroundings",
    "Transport",
    "Upstream",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A source that a file refers to instead of an API: by its words, or as the MCP server that it is."""

    kind: str
    source: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    folder: Path = Path()


Opener: TypeAlias = Callable[[Upstream], Source]
"""Opens what a file refers to. Without one, nothing of this machine is opened or started for a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a file is used: what a connection may need beside the file's own words."""

    name: str
    folder: Path = Path()
    bounds: Bounds = field(default_factory=Bounds)
    opener: Opener | None = None
    telling: tuple[Telling, ...] = ()
    """The headers in which the API tells how much it still allows."""


class Plugin(Protocol):
    """What every plugin has. ``keys`` are the fields of its block in the file that it reads."""

    @property
    def name(self) -> str:
        """What files call it."""
        ...

    @property
    def description(self) -> str:
        """What it does, in a line."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that it reads."""
        ...


class Serialization(Plugin, Protocol):
    """Data as bytes, and back."""

    @property
    def content_type(self) -> str:
        """What the bytes are declared as."""
        ...

    def serialize(self, data: object, target: Target) -> bytes:
        """The bytes of a body."""
        ...

    def deserialize(self, answer: Answer) -> object:
        """The data of an answer; SERIALIZATION_PARSE_ERROR if it has none."""
        ...


class AuthPlugin(Plugin, Protocol):
    """From the auth block of a file to what requests carry."""

    def credentials(self, auth: Auth, adapter: str) -> tuple[Credential, ...]:
        """The credentials; an AdapterError says what the block lacks."""
        ...


class Connection(Protocol):
    """A way to the target, shared by all operations of a file."""

    async def send(self, request: Any, context: Context | None) -> Any:
        """Send what the protocol has made, and give what comes back."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


class Transport(Plugin, Protocol):
    """A way to reach targets."""

    def check(self, fields: Mapping[str, Spot], block: Spot) -> None:
        """Note what is wrong with the target block as far as it is this plugin's."""
        ...

    def connect(self, target: Target, credentials: tuple[Credential, ...], here: Surroundings) -> Connection:
        """A connection. Nothing is sent before the first request."""
        ...


class Plan(Protocol):
    """How one operation becomes a request, and what comes back an answer."""

    async def call(self, values: Mapping[str, object], connection: Connection, context: Context | None) -> object:
        """The answer to a call with these values."""
        ...


class ProtocolPlugin(Plugin, Protocol):
    """From operations to requests."""

    @property
    def transports(self) -> tuple[str, ...]:
        """The transports that carry its requests."""
        ...

    def check(self, maps_to: Spot, entry: Entry) -> None:
        """Note what is wrong with an operation's mapping."""
        ...

    def plan(self, entry: Entry, target: Target, serialization: Serialization) -> Plan:
        """How an operation is called whose mapping is right."""
        ...
