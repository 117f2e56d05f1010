"""What a server says of itself, asked once and kept for the session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.client.answers import Odd
from headgate.client.descriptions import OperationInfo, ProtocolInfo, TypeInfo, objects, odd_operation
from headgate.client.endpoints import Endpoints
from headgate.client.errors import AqlFailure, NotAql, RequestRefused
from headgate.client.line import Line
from headgate.client.requests import Request

__all__ = ["INTROSPECT", "Catalogue"]

INTROSPECT: Final = "introspect"
_MOST_PAGES: Final = 1000


@dataclass
class Catalogue:
    """The operations and types of a server, as they become known."""

    line: Line
    endpoints: Endpoints
    _tool: str | None = None
    _problem: str = ""
    _listed: tuple[OperationInfo, ...] | None = None
    _protocol: ProtocolInfo = field(default_factory=lambda: ProtocolInfo.of(None))
    _detailed: dict[str, OperationInfo | None] = field(default_factory=dict)
    _types: dict[str | None, Any] = field(default_factory=dict)

    async def operations(self) -> tuple[OperationInfo, ...]:
        """All operations."""
        if self._listed is None:
            self._listed = await self._all()
        return self._listed

    async def protocol(self) -> ProtocolInfo:
        """What the server says of the protocol."""
        await self.operations()
        return self._protocol

    async def operation(self, name: str) -> OperationInfo | None:
        """An operation in full; None if there is none of that name."""
        if name not in self._detailed:
            self._detailed[name] = await self._details(name)
        return self._detailed[name]

    async def types(self) -> tuple[TypeInfo, ...]:
        """All types."""
        if None not in self._types:
            data = await self.ask("types")
            listed = data.get("types") if isinstance(data, Mapping) else None
            self._types[None] = tuple(map(TypeInfo.of, objects(listed)))
        found: tuple[TypeInfo, ...] = self._types[None]
        return found

    async def type(self, name: str) -> TypeInfo | None:
        """A type in full; None if there is none of that name."""
        if name not in self._types:
            data = await self.ask("types", name)
            told = data.get("type") if isinstance(data, Mapping) else None
            self._types[name] = TypeInfo.of(told) if isinstance(told, Mapping) else None
        found: TypeInfo | None = self._types[name]
        return found

    async def ask(self, query: str, name: str | None = None, **more: object) -> Any:
        """The data of one introspection."""
        request = _introspection(query, name, **more)
        return (await self.line.result(await self._introspection_tool(), request)).data

    def forget(self) -> None:
        """Ask for everything anew from now on."""
        self._tool, self._problem, self._listed = None, "", None
        self._detailed.clear()
        self._types.clear()

    async def _introspection_tool(self) -> str:
        """The tool that answers ``introspect``; the likely ones are tried first."""
        if self._tool is None and not self._problem:
            self._tool = await self._found_tool()
            self._problem = "" if self._tool else "None of the server's tools answers 'introspect'."
        if self._tool is None:
            raise NotAql(self._problem)
        return self._tool

    async def _found_tool(self) -> str | None:
        request = _introspection("operations", INTROSPECT)
        for tool in self.endpoints.likely:
            try:
                reading = await self.line.ask(tool, request.wire, request)
            except (NotAql, RequestRefused):
                continue
            if reading.succeeded:
                return tool
        return None

    async def _all(self) -> tuple[OperationInfo, ...]:
        found: dict[str, OperationInfo] = {}
        after: str | None = None
        for _ in range(_MOST_PAGES):
            data = await self.ask("operations", **({} if after is None else {"after": after}))
            before = len(found)
            found |= {one.name: one for one in self._page(data)}
            after = self._next(len(found))
            if after is None or len(found) == before:
                break
        return tuple(found.values())

    def _page(self, data: object) -> list[OperationInfo]:
        """The operations in one answer, which may be a bare list."""
        told: Mapping[str, Any] = data if isinstance(data, Mapping) else {"operations": data}
        self._protocol = ProtocolInfo.of(told.get("_protocol"))
        entries = [one for one in objects(told.get("operations")) if isinstance(one.get("name"), str)]
        request = _introspection("operations")
        if not self._protocol.raw:
            self.line.note(request, Odd("introspection 4.1.1", "the list of operations has no '_protocol'"))
        self.line.note(request, *(odd for entry in entries for odd in odd_operation(entry)))
        return [self._info(entry) for entry in entries]

    def _next(self, so_far: int) -> str | None:
        """The name after which a long list goes on; None if it is all there."""
        page = self._protocol.raw.get("page")
        if not isinstance(page, Mapping) or page.get("total") == so_far:
            return None
        after = page.get("after")
        return after if isinstance(after, str) else None

    async def _details(self, name: str) -> OperationInfo | None:
        """An operation in full, or from the list where a server does not tell more."""
        try:
            data = await self.ask("operations", name)
        except AqlFailure:
            data = None
        told = data.get("operation", data) if isinstance(data, Mapping) else None
        if isinstance(told, Mapping) and told.get("name") == name:
            self.line.note(_introspection("operations", name), *odd_operation(told))
            return self._info(told)
        if isinstance(data, Mapping) and "operation" in data:
            return None
        return next((one for one in await self.operations() if one.name == name), None)

    def _info(self, raw: Mapping[str, Any]) -> OperationInfo:
        return OperationInfo.of(raw, self.endpoints.tool_of(raw))


def _introspection(query: str, name: str | None = None, **more: object) -> Request:
    params = {"query": query, **({} if name is None else {"name": name}), **more}
    return Request(INTROSPECT, params, frozenset())
