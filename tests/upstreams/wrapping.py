"""A server of others behind headgate, as a client of MCP uses it: by names and parameters that introspection shows."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.server.processes import HEADGATE, environment
from tests.upstreams.servers import Place, Server
from tests.upstreams.sessions import Answer, Session, connected

__all__ = ["Wrapped", "snake", "wrapped"]

_RESERVED = {"operation", "params", "operations", "confirmation_token", "dry_run"}
"""Names of headgate's own; a parameter of such a name is called ``…_value``."""

Details = Mapping[str, Any]
Schema = Mapping[str, Any]


def snake(name: str) -> str:
    """A name in snake_case."""
    parted = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3_\2\4", name)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


@dataclass(slots=True)
class Wrapped:
    """A connection to headgate before a server."""

    session: Session
    schemas: Mapping[str, Schema]
    """What the server itself says of its tools' arguments."""
    _details: dict[str, Details] = field(default_factory=dict)

    async def ask(self, **params: object) -> Any:
        """What introspection answers."""
        answer = await self.session.call("mcp_aql_read", {"operation": "introspect", "params": params})
        assert answer.result is not None, answer.error
        envelope = json.loads(answer.result["content"][0]["text"])
        assert envelope["success"], envelope
        return envelope["data"]

    async def details(self, tool: str) -> Details:
        """What introspection tells of the operation that a tool became."""
        if tool not in self._details:
            found = (await self.ask(query="operations", name=snake(tool)))["operation"]
            assert found is not None, f"there is no operation for {tool}"
            self._details[tool] = found
        return self._details[tool]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Make the call of a tool, with its own arguments, as a client of headgate makes it."""
        details = await self.details(tool)
        params = _params(arguments, self.schemas[tool], details)
        return await self.session.call(details["mcpTool"], {"operation": details["name"], "params": params})


def _params(arguments: Mapping[str, Any], schema: Schema, details: Details) -> dict[str, Any]:
    """The arguments under the names of the parameters; those of an update that have no place beside ``input`` in it."""
    shown = {parameter["name"] for parameter in details["parameters"]}
    named: dict[str, Any] = {}
    for name, value in _renamed(dict(arguments), schema, schema).items():
        named[f"{name}_value" if name in _RESERVED else name] = value
    if details["semantic_category"] != "UPDATE" or "input" not in shown:
        return named
    beside = {name: value for name, value in named.items() if name in shown}
    return {**beside, "input": {name: value for name, value in named.items() if name not in shown}}


def _renamed(value: Any, schema: Schema, root: Schema) -> Any:
    """The value with every name in snake_case that the schema declares."""
    if isinstance(value, list):
        items = [part["items"] for part in _parts(schema, root) if isinstance(part.get("items"), dict)]
        return [_renamed(child, {"anyOf": items}, root) for child in value]
    if not isinstance(value, dict):
        return value
    known: dict[str, Schema] = {}
    for part in _parts(schema, root):
        known |= {name: child for name, child in part.get("properties", {}).items() if isinstance(child, dict)}
    return {
        snake(name) if name in known else name: _renamed(child, known.get(name, {}), root)
        for name, child in value.items()
    }


def _parts(schema: Schema, root: Schema) -> list[Schema]:
    """The schema and all that it is made of."""
    found: list[Schema] = [schema]
    reference = schema.get("$ref", "")
    if reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target[step]
        found += _parts(target, root)
    for word in ("anyOf", "oneOf", "allOf"):
        for child in schema.get(word, ()):
            found += _parts(child, root)
    return found


@asynccontextmanager
async def wrapped(server: Server, place: Place, schemas: Mapping[str, Schema], side: Path) -> AsyncIterator[Wrapped]:
    """Headgate before the server, over stdio; what it keeps for itself lies aside."""
    own = environment({"XDG_CACHE_HOME": str(side), "XDG_STATE_HOME": str(side)})
    words = [HEADGATE, "serve", "--trust", "certified", "--", *server.command(place)]
    async with connected(words, place.home, side, environment=own, legacy=False) as session:
        yield Wrapped(session, schemas)
