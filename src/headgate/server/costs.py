"""What tools cost a model before any work begins, in tokens: as they are served, and one for each operation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.adapter.operations import Operation
from headgate.protocol.tokens import estimate
from headgate.server.binding import McpServer

__all__ = ["Saving", "saving_of"]


@dataclass(frozen=True, slots=True)
class Saving:
    """Tokens of all tools: with one tool for each operation, and as they are served."""

    discrete: int
    served: int

    @property
    def tokens(self) -> int:
        """What each session that lists the tools is spared; less than nothing where there are few operations."""
        return self.discrete - self.served


def saving_of(server: McpServer) -> Saving:
    """The saving of a server, by the same estimate for both."""
    operations = server.engine.introspector.operations.values()
    discrete = sum(
        _cost(_tool(operation)) for operation in operations if operation.name in server.engine.adapter.operations
    )
    return Saving(discrete, sum(_cost(tool) for tool in server.listed_tools))


def _cost(tool: Mapping[str, Any]) -> int:
    return estimate(orjson.dumps(tool, default=str).decode())


def _tool(operation: Operation) -> dict[str, Any]:
    """An operation as a tool of its own."""
    return {
        "name": operation.name,
        "description": operation.description or operation.summary,
        "inputSchema": {
            "type": "object",
            "properties": {one.name: one.schema for one in operation.parameters},
            "required": [one.name for one in operation.parameters if one.required],
        },
    }
