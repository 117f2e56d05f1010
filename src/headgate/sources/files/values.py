"""What an adapter file says, as values: nothing here knows YAML, and nothing is open yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from headgate.adapter.background import Background
from headgate.adapter.operations import Example
from headgate.adapter.parameters import Deprecated, Parameter, Schema
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, Trust
from headgate.safety.policy.rules import Policy
from headgate.sources.files.headroom import Telling

__all__ = [
    "CONTEXT",
    "PLACES",
    "STYLES",
    "AdapterFile",
    "Auth",
    "Entry",
    "Fields",
    "Paging",
    "Place",
    "Sent",
    "Style",
    "Target",
]

CONTEXT: Final = "·context"
"""Where a handler finds the context of its call: no parameter can have this name."""

Place: TypeAlias = Literal["path", "query", "header", "body"]
PLACES: Final[tuple[Place, ...]] = ("path", "query", "header", "body")

Style: TypeAlias = Literal["link", "cursor", "page", "offset"]
STYLES: Final[tuple[Style, ...]] = ("link", "cursor", "page", "offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the operations speak to, and through which plugins. ``options`` are the further keys that these know."""

    transport: str
    protocol: str
    serialization: str
    base_url: str = ""
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How requests prove who sends them: names of environment variables, never what is in them."""

    type: str = "none"
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a parameter is called in the request, and where it stands there. Without a place the method tells."""

    name: str
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """How an API hands out its lists, so that ``first`` and ``after`` can be made of it."""

    style: Style
    param_name: str
    per_page_param: str
    default_limit: int = 25
    max_limit: int = 100
    items_field: str = ""
    cursor_field: str = ""
    total_field: str = ""
    start: int = 1


@dataclass(frozen=True, slots=True)
class Fields:
    """That the fields of an answer may be chosen, and which are shown if nobody chooses; all if none are named."""

    default: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One operation as the file has it."""

    name: str
    category: Category
    maps_to: str
    summary: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    sent: Mapping[str, Sent] = field(default_factory=dict)
    """For each parameter, or field of an ``input`` that was made here, what it is in the request."""
    folded: bool = False
    """Whether ``input`` was made of the file's parameters, and so is no parameter of the file itself."""
    definitions: Mapping[str, Schema] = field(default_factory=dict)
    rules: Schema = field(default_factory=dict)
    returns: Schema = field(default_factory=dict)
    returns_description: str = ""
    examples: tuple[Example, ...] = ()
    deprecated: Deprecated | None = None
    danger: Danger | None = None
    requires_confirmation: bool = False
    endpoint: str | None = None
    locks: tuple[str, ...] | None = None
    rationale: str = ""
    group: str = ""
    background: Background | None = None
    paging: Paging | None = None
    fields: Fields | None = None


@dataclass(frozen=True, kw_only=True)
class AdapterFile:
    """A file without mistakes."""

    name: str
    version: str
    description: str
    target: Target
    auth: Auth = field(default_factory=Auth)
    trust: Trust = Trust.UNTESTED
    entries: tuple[Entry, ...] = ()
    policy: Policy = field(default_factory=Policy)
    """The limits, quotas, prices and confirmations that the file demands of whoever serves it."""
    limits: Mapping[str, object] = field(default_factory=dict)
    """The limits as they stand in the file."""
    telling: tuple[Telling, ...] = ()
    """The headers in which the API tells how much it still allows."""
    profile: str = "crude"
    documentation: str = ""
    folder: Path = Path()
    metadata: Mapping[str, object] = field(default_factory=dict)
    """What the file says of itself beside that, such as its author."""
