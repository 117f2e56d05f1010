"""What is known of a source before it is opened: what it is, what it may do, and how it is guarded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from headgate.protocol.danger import Trust
from headgate.safety.policy.rules import Policy
from headgate.sources.curation import Curation
from headgate.sources.mcp.configuration import McpSpec

__all__ = ["DatabaseSpec", "GatePlan", "SourceKind", "SourceSpec"]


class SourceKind(StrEnum):
    """What a source is."""

    ADAPTER_FILE = "adapter_file"
    DATABASE = "database"
    DEMO = "demo"
    MCP = "mcp"
    MODULE = "module"
    OPENAPI = "openapi"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSpec:
    """How a source that is a database is used."""

    read_only: bool = False
    tables: Path | None = None
    statement_timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """One source. Two that are equal are opened alike, so that a change of another leaves it running."""

    name: str
    kind: SourceKind
    where: str = field(default="", repr=False)
    """The file, the URL or the module; a URL may hold a password."""
    mcp: McpSpec | None = None
    database: DatabaseSpec = field(default_factory=DatabaseSpec)
    base_url: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values for the variables in the URLs of a document's servers."""
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By security scheme, the variables of the environment that hold its parts."""
    prefix: str | None = None
    trust: Trust | None = None
    policy: Policy | None = None
    curation: Curation | None = None
    """What its operator picks, renames, describes and hides."""
    allow: tuple[str, ...] = ()
    timeout: float | None = None
    """Seconds that a call may take."""
    start_timeout: float | None = None
    """Seconds that it may take to open."""
    reload: bool = False
    vouched: bool = False
    """Whether its operator vouches for it beyond naming it."""
    disabled: bool = False
    problem: str = ""
    """Why it cannot be opened as it is written; the others can."""

    @property
    def is_vouched_for(self) -> bool:
        """Whether it may start programs and open files on this machine that only it names."""
        return self.vouched or (self.trust is not None and self.trust.rank >= Trust.VALIDATED.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePlan:
    """All that is served together, and the files that say so."""

    name: str
    sources: tuple[SourceSpec, ...]
    files: tuple[Path, ...] = ()
    """A change in one of them may change the plan."""
