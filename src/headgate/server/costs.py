"""What tools cost a model before any work begins, in tokens: as they are served, and one for each operation."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.adapter.operations import Operation
from headgate.adapter.schemas import REF
from headgate.protocol.tokens import estimate
from headgate.server.binding import McpServer
from headgate.server.counting import compact

__all__ = ["Saving", "discrete_tool", "saving_of"]


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
        _cost(discrete_tool(operation))
        for operation in operations
        if operation.name in server.engine.adapter.operations
    )
    return Saving(discrete, sum(_cost(tool) for tool in server.listed_tools))


def _cost(tool: Mapping[str, Any]) -> int:
    return estimate(compact(tool))


def discrete_tool(operation: Operation) -> dict[str, Any]:
    """An operation as a tool of its own: its name, its words and the schema of its parameters, and nothing more."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: one.schema for one in operation.parameters},
        "required": [one.name for one in operation.parameters if one.required],
    }
    if definitions := _needed(operation):
        schema["$defs"] = definitions
    return {
        "name": operation.name,
        "description": operation.description or operation.summary,
        "inputSchema": schema,
    }


def _needed(operation: Operation) -> dict[str, Any]:
    """The named schemas that the parameters refer to; those that only the answer needs are not sent with a tool."""
    needed: dict[str, Any] = {}
    names = [name for one in operation.parameters for name in _names_in(one.schema)]
    while names:
        name = names.pop()
        if name in operation.definitions and name not in needed:
            needed[name] = operation.definitions[name]
            names.extend(_names_in(needed[name]))
    return needed


def _names_in(schema: object) -> Iterator[str]:
    """The names of the schemas that a schema refers to, wherever in it."""
    if isinstance(schema, Mapping):
        name = schema.get("$ref")
        if isinstance(name, str):
            yield name.removeprefix(REF)
        inner: Iterable[object] = schema.values()
    else:
        inner = schema if isinstance(schema, list | tuple) else ()
    for one in inner:
        yield from _names_in(one)
