"""What an MCP server offers, exactly as it said it, and where that is remembered from one start to the next."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp.configuration import McpSpec

__all__ = ["Capture", "Captures", "captures_folder", "json_of"]

_VERSION: Final = 1
_LARGEST: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Capture:
    """The tools of a server, and what it said of itself. Nothing was called to learn it."""

    tools: tuple[Mapping[str, Any], ...]
    server: Mapping[str, Any] = field(default_factory=dict)
    """The name and version that the server gives itself."""
    instructions: str = ""
    protocol_version: str = ""

    def wire(self) -> dict[str, object]:
        """As it is kept in a file."""
        return {
            "version": _VERSION,
            "server": dict(self.server),
            "instructions": self.instructions,
            "protocol_version": self.protocol_version,
            "tools": list(self.tools),
        }

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Capture":
        """What was kept."""
        if kept.get("version") != _VERSION or not isinstance(kept.get("tools"), list):
            raise AdapterError("This is no capture of an MCP server's tools.")
        tools = tuple(tool for tool in kept["tools"] if isinstance(tool, Mapping))
        server = kept.get("server")
        named = server if isinstance(server, Mapping) else {}
        return cls(tools, named, str(kept.get("instructions", "")), str(kept.get("protocol_version", "")))


def json_of(value: object) -> bytes:
    """What a server sent, as JSON; numbers of any length too."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()


def captures_folder() -> Path:
    """Where captures are kept for this user."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "headgate" / "captures"


@dataclass(frozen=True, slots=True)
class Captures:
    """A folder of captures, one for each way to start or reach a server. What cannot be read is as if not there."""

    folder: Path

    def find(self, spec: McpSpec) -> Capture | None:
        """What the server offered when it was last seen."""
        try:
            path = self._path(spec)
            if path.stat().st_size > _LARGEST:
                return None
            return Capture.of(json.loads(path.read_bytes()))
        except (OSError, ValueError, RecursionError, AttributeError, AdapterError):
            return None

    def keep(self, spec: McpSpec, capture: Capture) -> None:
        """Remember what a server offers; where nothing can be written, the next start only takes longer."""
        path = self._path(spec)
        partial = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial.write_bytes(json_of(capture.wire()))
            partial.replace(path)

    def _path(self, spec: McpSpec) -> Path:
        """By a digest: what starts a server may hold secrets."""
        said = [spec.command, list(spec.args), dict(spec.env), spec.cwd, spec.url, dict(spec.headers)]
        digest = hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()
        return self.folder / f"{digest[:32]}.json"
