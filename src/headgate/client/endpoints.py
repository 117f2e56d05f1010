"""Which tools of a server speak MCP-AQL, found from their names and forms: any prefix, any profile, any mode."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.client.wires import Tool

__all__ = ["Endpoints"]

_NAME: Final = re.compile(r"(?P<prefix>.*?)mcp_aql(?:_(?P<family>\w+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The tools of MCP-AQL: each family's, and the one that takes everything."""

    prefix: str
    families: Mapping[str, str]
    """The tool of each family, by its name in small letters."""
    single: str | None
    """The tool that takes operations of all families."""
    likely: tuple[str, ...]
    """All of them; where introspection is likely answered stands first."""

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Endpoints":
        """What the names of tools say; failing that, a tool that takes an operation and its parameters."""
        named = [(tool, found) for tool in tools if (found := _NAME.fullmatch(tool.name))]
        if not named:
            unnamed = [tool.name for tool in tools if _takes_operations(tool)]
            return cls("", {}, unnamed[0] if len(unnamed) == 1 else None, tuple(unnamed))
        return cls(
            prefix=named[0][1]["prefix"],
            families={found["family"].lower(): tool.name for tool, found in named if found["family"]},
            single=next((tool.name for tool, found in named if not found["family"]), None),
            likely=tuple(tool.name for tool, _ in sorted(named, key=lambda one: _unlikely(one[0]))),
        )

    @property
    def mode(self) -> str:
        """``semantic``, ``single`` or ``all``; nothing where there is no tool of MCP-AQL."""
        if self.single is None:
            return "semantic" if self.likely else ""
        return "all" if self.families else "single"

    def tool_of(self, operation: Mapping[str, Any]) -> str | None:
        """The tool of an operation by what introspection says of it, in whatever letters."""
        said = operation.get("mcpTool")
        if said in self.likely:
            return str(said)
        endpoint = str(operation.get("endpoint") or operation.get("semantic_category") or "").lower()
        found = _NAME.fullmatch(endpoint)
        family = (found["family"] or "") if found else endpoint
        return self.families.get(family) or self.single


def _takes_operations(tool: Tool) -> bool:
    schema = tool.raw.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return isinstance(properties, Mapping) and "operation" in properties


def _unlikely(tool: Tool) -> bool:
    """Whether a tool is not where introspection is first looked for: the single one, or one that only reads."""
    return not (tool.name.endswith("mcp_aql") or tool.hint("readOnlyHint") or tool.name.endswith("_read"))
