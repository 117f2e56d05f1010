"""The client: everything that can be asked of a server of MCP-AQL, in its own words."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final

from headgate.adapter.context import Progress
from headgate.client.answers import Caution, Oddity
from headgate.client.batches import Batch, BatchItem, Wanted, asked, batch_of, leading
from headgate.client.catalogue import INTROSPECT, Catalogue
from headgate.client.descriptions import OperationInfo, ProtocolInfo, TypeInfo, objects
from headgate.client.endpoints import Endpoints
from headgate.client.errors import (
    AqlFailure,
    ConfirmationRequired,
    NotAql,
    NotFoundFailure,
    ValidationFailure,
    failure_of,
)
from headgate.client.line import Line, Result
from headgate.client.pages import walk
from headgate.client.questions import called
from headgate.client.requests import Request
from headgate.client.runs import ID, OnProgress, Run, is_execution
from headgate.client.supervision import OnPause, Supervised
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["Aql"]

_BATCH: Final = "batch"
_MOST_NAMED: Final = 10
Params = Mapping[str, Any]


class Aql:
    """A server of MCP-AQL, ready to be asked. Made by ``connect``.

    Parameters are given by name, or as an object where a name is no word of Python: ``call("op", {"from": 1})``.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.endpoints = Endpoints.of(line.wire.tools)
        """The tools of MCP-AQL that were found."""
        self._catalogue = Catalogue(line, self.endpoints)
        self.overseer: Callable[[str], None] | None = None
        """Refuses what a supervised agent has not reported."""
        if not self.endpoints.likely:
            names = ", ".join(f"'{tool.name}'" for tool in line.wire.tools[:_MOST_NAMED]) or "none"
            raise NotAql(f"The server has no tool of MCP-AQL, such as 'mcp_aql_read'; its tools: {names}.")

    # calls

    async def call(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through its own endpoint, which introspection tells; its data."""
        return (await self.result(operation, {**(params or {}), **named})).data

    async def create(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that creates; its data."""
        return (await self.result(operation, {**(params or {}), **named}, family="create")).data

    async def read(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that only reads; its data."""
        return (await self.result(operation, {**(params or {}), **named}, family="read")).data

    async def update(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that changes; its data."""
        return (await self.result(operation, {**(params or {}), **named}, family="update")).data

    async def delete(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that removes; its data."""
        return (await self.result(operation, {**(params or {}), **named}, family="delete")).data

    async def execute(self, operation: str, params: Params | None = None, /, **named: Any) -> Any:
        """Call an operation through the endpoint that carries out; its data."""
        return (await self.result(operation, {**(params or {}), **named}, family="execute")).data

    async def result(
        self,
        operation: str,
        params: Params | None = None,
        /,
        *,
        family: str | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Call an operation; the whole result: data, warnings, what was odd. Errors are raised by their code."""
        tool, request = await self.prepared(operation, params or {}, family)
        self._oversee(operation)
        return await self._line.result(tool, request, progress)

    async def prepared(self, operation: str, params: Params, family: str | None = None) -> tuple[str, Request]:
        """The tool and the request of a call; what introspection does not declare is refused before it is sent."""
        known = await self._known(operation)
        request = Request(operation, dict(params), known.sensitive if known else None)
        if known is not None:
            _refuse_undeclared(known, request)
        tool = self._tool(known, family)
        if tool is None:
            names = [one.name for one in await self.operations()]
            message = f"Unknown operation: '{operation}'{did_you_mean(nearest(operation, names))}"
            raise NotFoundFailure("NOT_FOUND_OPERATION", message, {"operation": operation}, request=request, sent=False)
        return tool, request

    def _tool(self, known: OperationInfo | None, family: str | None) -> str | None:
        if family is not None and (found := self.endpoints.families.get(family) or self.endpoints.single):
            return found
        return (known.tool or self.endpoints.likely[0]) if known else None

    async def _known(self, operation: str) -> OperationInfo | None:
        """What introspection says of an operation, if it says anything; one without any is talked to all the same."""
        try:
            return await self.operation(operation)
        except (NotAql, AqlFailure):
            return OperationInfo.of({"name": operation}, self.endpoints.single)

    def _oversee(self, operation: str) -> None:
        if self.overseer is not None and operation != INTROSPECT:
            self.overseer(operation)

    # collections

    async def pages(self, operation: str, params: Params | None = None, /, **named: Any) -> AsyncIterator[Any]:
        """Every item of a collection, page by page; only one page is held at a time."""
        known = await self.operation(operation)

        async def ask(given: Params) -> Any:
            return await self.call(operation, given)

        async for item in walk(ask, known, {**(params or {}), **named}):
            yield item

    # batches

    async def batch(self, requests: Iterable[Wanted], *, transaction: bool = False) -> Batch:
        """Send several requests as one; what became of each is told, and not raised.

        A batch goes to one tool. Where the requests belong to several, those in a row that belong together are a batch
        of their own, in their order. What must be confirmed is asked for if anybody can be asked; else it halts there.
        """
        prepared = [await self.prepared(*asked(wanted)) for wanted in requests]
        if self.endpoints.single is not None:
            prepared = [(self.endpoints.single, request) for _, request in prepared]
        if transaction and len({tool for tool, _ in prepared}) > 1:
            words = "A transaction goes to one tool, and these operations belong to several"
            raise ValidationFailure("VALIDATION_ENDPOINT_MISMATCH", words, sent=False)
        return await self._carried_out(prepared, (), {"transaction": True} if transaction else {})

    async def continue_with(self, halted: Batch, token: str) -> Batch:
        """Go on with a batch that has halted, with the token of what was confirmed; the whole batch."""
        if halted.halted_at is None:
            return halted
        confirmed = halted.halted_at.request.with_params(confirmation_token=token)
        todo = [(await self.prepared(one.operation, {}))[0] for one in (confirmed, *halted.pending)]
        return await self._carried_out(list(zip(todo, (confirmed, *halted.pending), strict=True)), halted.items, {})

    async def _carried_out(
        self, todo: list[tuple[str, Request]], done: tuple[BatchItem, ...], flags: Mapping[str, Any]
    ) -> Batch:
        envelope: Mapping[str, Any] = {}
        while todo:
            batch = await self._sent(todo[0][0], leading(todo), len(done), flags)
            envelope = batch.envelope
            done, todo = (*done, *batch.items), todo[len(batch.items) :]
            if batch.halted_at is None:
                continue
            item = await self._confirmed(todo[0][0], batch.halted_at)
            if not item.ok and isinstance(item.error, ConfirmationRequired):
                return Batch(done, item, tuple(request for _, request in todo[1:]), envelope)
            done, todo = (*done, item), todo[1:]
        return Batch(done, envelope=envelope)

    async def _sent(self, tool: str, requests: list[Request], offset: int, flags: Mapping[str, Any]) -> Batch:
        for request in requests:
            self._oversee(request.operation)
        arguments = {"operations": [request.wire for request in requests], **flags}
        about = Request(_BATCH, {"operations": [request.operation for request in requests]}, frozenset())
        reading = await self._line.ask(tool, arguments, about)
        if not reading.succeeded:
            raise failure_of(reading.error, about, reading.envelope)
        return batch_of(reading.envelope, requests, offset)

    async def _confirmed(self, tool: str, item: BatchItem) -> BatchItem:
        """What became of a request that halted its batch: sent by itself, where there is somebody to confirm it."""
        if self._line.confirm is None:
            return item
        try:
            return BatchItem(item.index, item.request, await self._line.result(tool, item.request))
        except AqlFailure as failure:
            return BatchItem(item.index, item.request, error=failure)

    # long work

    async def start(self, operation: str, params: Params | None = None, /, **named: Any) -> Run:
        """Start long work, and do not wait for it."""
        data = await self.call(operation, params, **named)
        if not is_execution(data):
            raise NotAql(f"'{operation}' does not answer with an execution: it is no long work, or has ended already.")
        return Run(self, data)

    async def run(
        self, operation: str, params: Params | None = None, /, *, progress: OnProgress | None = None, **named: Any
    ) -> Any:
        """Call an operation and wait for its result, also if it is long work; ``progress`` hears how far it is."""
        given = {**(params or {}), **named}
        data = (await self.result(operation, given, progress=_async(progress))).data
        return await Run(self, data).wait(progress) if is_execution(data) else data

    def execution(self, execution_id: str) -> Run:
        """Long work that was started before, to be followed again."""
        return Run(self, {ID: execution_id, "status": "pending"})

    # supervision

    def supervised(
        self,
        agent: str,
        *,
        task: str = "",
        autonomy: Params | None = None,
        confirmation_token: str | None = None,
        on_pause: OnPause | None = None,
    ) -> Supervised:
        """A run inside the server's safety loop, for ``async with``: everything is reported before it is done."""
        return Supervised(self, agent, task, autonomy, confirmation_token, on_pause)

    # what there is

    async def operations(self) -> tuple[OperationInfo, ...]:
        """All operations, in short."""
        return await self._catalogue.operations()

    async def operation(self, name: str) -> OperationInfo | None:
        """An operation in full; None if there is none of that name."""
        return await self._catalogue.operation(name)

    async def types(self) -> tuple[TypeInfo, ...]:
        """All types, in short."""
        return await self._catalogue.types()

    async def type(self, name: str) -> TypeInfo | None:
        """A type in full; None if there is none of that name."""
        return await self._catalogue.type(name)

    async def protocol(self) -> ProtocolInfo:
        """What the server says of the protocol that it speaks."""
        return await self._catalogue.protocol()

    async def search(self, words: str, first: int = 10) -> tuple[OperationInfo, ...]:
        """Operations that fit some words, the best first; a server without a search is searched here."""
        try:
            data = await self._catalogue.ask("search", words, first=first)
        except AqlFailure:
            return _found_here(words, await self.operations())[:first]
        found = objects(data.get("operations") if isinstance(data, Mapping) else data)
        return tuple(OperationInfo.of(one, self.endpoints.tool_of(one)) for one in found)

    async def refresh(self) -> None:
        """Forget what introspection said, and ask anew when it is needed."""
        self._catalogue.forget()

    @property
    def seconds(self) -> float:
        """How long an answer may take."""
        return self._line.patience.seconds

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What the server has warned of so far."""
        return tuple(self._line.warnings)

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What the server did otherwise than the texts want, as far as it was seen."""
        return tuple(self._line.oddities)


def _refuse_undeclared(known: OperationInfo, request: Request) -> None:
    """Refuse parameters that are not declared, as a strict server would (specification 4.6.2)."""
    if known.parameters is None:
        return
    names = [one.name for one in known.parameters]
    unknown = [name for name in request.params if name not in names and not name.startswith("_")]
    if unknown:
        quoted = ", ".join(f"'{name}'" for name in unknown)
        raise ValidationFailure(
            "VALIDATION_UNKNOWN_PARAM",
            f"Unknown parameter(s) for operation '{known.name}': {quoted}{did_you_mean(nearest(unknown[0], names))}",
            {"operation": known.name, "unknown_params": unknown, "valid_params": names},
            request=request,
            sent=False,
        )


def _found_here(words: str, operations: tuple[OperationInfo, ...]) -> tuple[OperationInfo, ...]:
    wanted = words.lower().split()

    def hits(one: OperationInfo) -> int:
        text = f"{one.name} {one.description}".lower()
        return sum(word in text for word in wanted)

    return tuple(sorted((one for one in operations if hits(one)), key=lambda one: -hits(one)))


def _async(progress: OnProgress | None) -> Progress | None:
    if progress is None:
        return None

    async def tell(current: float, total: float | None, message: str | None) -> None:
        await called(progress, current, total, message)

    return tell
