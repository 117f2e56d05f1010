"""The five operations with which a caller follows long work (Spec 8.4)."""

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NoReturn

import anyio.to_thread
import orjson

from headgate.adapter.background import EXECUTION_ID, STATE_OBJECT, Background
from headgate.adapter.collections.operations import CollectionOperations
from headgate.adapter.collections.registry import Collections
from headgate.adapter.context import Context
from headgate.adapter.functions import TRYING
from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import Parameter
from headgate.executions.results import Page, read_page
from headgate.executions.service import Executions
from headgate.executions.values import Outcome, percentage, read_error, state_object, unfit
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.errors import Invalid
from headgate.protocol.lifecycle import CORE, State
from headgate.query.backends import Fetched, Groups
from headgate.query.collections import MINIMAL, STANDARD, Access, Collection, Field
from headgate.query.kinds import Kind
from headgate.query.memory import list_items, summarize_items
from headgate.query.shapes import AggregateShape, Listing
from headgate.safety.asks import identity
from headgate.store.executions import Execution, Progress

__all__ = [
    "CANCEL",
    "GET",
    "LIST",
    "RESULT",
    "RETRY",
    "execution_operations",
]

GET: Final = "get_execution"
LIST: Final = "list_executions"
RESULT: Final = "get_execution_result"
CANCEL: Final = "cancel_execution"
RETRY: Final = "retry_execution"

LONGEST_WAIT: Final = 60
_MOST_ITEMS: Final = 1000
_USUAL_ITEMS: Final = 100

_EXAMPLE_ID: Final = "exec_019a5f3c7b20a1b2c3d4e5f60718293a4b5c"

_ID: Final = Parameter(
    EXECUTION_ID,
    {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "description": "The execution_id that the start of the work answered with.",
        "examples": [_EXAMPLE_ID],
    },
)
_WAIT: Final = Parameter(
    "wait_seconds",
    {
        "type": "number",
        "minimum": 0,
        "maximum": LONGEST_WAIT,
        "default": 0,
        "description": "Wait for its end, so long at the most; meanwhile MCP progress is sent, if it was asked for.",
    },
    required=False,
    default=0,
)
_FIRST: Final = Parameter(
    "first",
    {
        "type": "integer",
        "minimum": 1,
        "maximum": _MOST_ITEMS,
        "default": _USUAL_ITEMS,
        "description": "How many items of a result that is a list, at most.",
    },
    required=False,
    default=_USUAL_ITEMS,
    convert=int,
)
_AFTER: Final = Parameter(
    "after",
    {
        "type": ["string", "null"],
        "pattern": "^[0-9]{1,15}$",
        "description": "Go on after page.after of the page before.",
    },
    required=False,
)

_SAFE: Final = Danger(DangerLevel.SAFE)


def execution_operations(executions: Executions, taken: Container[str] = ()) -> Mapping[str, Operation]:
    """The operations by name; an AdapterError if one of the adapter's own has such a name."""
    made = (
        _get(executions),
        _list(executions),
        _result(executions),
        _cancel(executions),
        _retry(executions),
    )
    for operation in made:
        if operation.name in taken:
            raise AdapterError(
                f"There is an operation '{operation.name}' already: an adapter with operations that run in the "
                "background needs this name for its executions. Rename yours."
            )
    return {operation.name: operation for operation in made}


def _get(executions: Executions) -> Operation:
    async def get_execution(ctx: Context, execution_id: str, wait_seconds: float) -> object:
        execution = await _awaited(executions, ctx, execution_id, wait_seconds)
        return state_object(execution, executions.progress_of(execution))

    return _operation(
        GET,
        Category.READ,
        get_execution,
        (_ID, _WAIT),
        "Get the state of an execution: how far long work is.",
        returns=STATE_OBJECT,
        returned="The state of the execution",
        examples=(Example({EXECUTION_ID: _EXAMPLE_ID, "wait_seconds": 20}, "Wait a little for its end"),),
    )


def _result(executions: Executions) -> Operation:
    async def get_execution_result(
        ctx: Context, execution_id: str, wait_seconds: float, first: int, after: str | None
    ) -> object:
        execution = await _awaited(executions, ctx, execution_id, wait_seconds)
        if execution.state is not State.COMPLETED:
            _has_no_result(execution)
        outcome = Outcome.read(execution.outcome or "")
        start = int(after or 0)
        if start and start >= (outcome.items if outcome.items is not None else outcome.size):
            raise Invalid("after", "it is beyond the end of the result")
        page = await read_page(executions.ledger.store, execution, start, first)
        ctx.warnings.extend(outcome.warnings)
        return {**state_object(execution, Progress()), **_shown(page)}

    return _operation(
        RESULT,
        Category.READ,
        get_execution_result,
        (_ID, _WAIT, _FIRST, _AFTER),
        "Get the result of an execution that has completed.",
        "A list comes in pages: 'page' then tells the total and where to go on. What is no list and too large for one "
        "answer comes as parts of a JSON text, to be joined.",
        returned="The state of the execution, and 'result'",
        examples=(Example({EXECUTION_ID: _EXAMPLE_ID}, "The result, or its first page"),),
    )


def _shown(page: Page) -> dict[str, object]:
    result: object = page.content if page.is_text else orjson.loads(page.content)
    if page.is_all and not page.is_text:
        return {"result": result}
    end = page.start + page.returned
    told: dict[str, object] = {
        "of": "text" if page.is_text else "items",
        "returned": page.returned,
        "total": page.total,
        "has_next": end < page.total,
    }
    if end < page.total:
        told["after"] = str(end)
    return {"result": result, "page": told}


def _has_no_result(execution: Execution) -> NoReturn:
    if not execution.state.is_terminal:
        raise unfit(execution, f": there is no result yet. Ask again, or wait with '{_WAIT.name}'")
    error = read_error(execution.error) if execution.error else None
    if error is None:
        raise unfit(execution, ": there is no result")
    raise unfit(execution, f": there is no result. {error['code']}: {error['message']}", error=error)


def _cancel(executions: Executions) -> Operation:
    async def cancel_execution(ctx: Context, execution_id: str) -> object:
        execution = await executions.cancel(execution_id, ctx.caller)
        return state_object(execution, executions.progress_of(execution))

    return _operation(
        CANCEL,
        Category.EXECUTE,
        cancel_execution,
        (_ID,),
        "Cancel an execution.",
        "What waits ends at once; what runs is told to stop, and has time to clean up: its state is then 'cancelling', "
        "and 'stuck' if it does not stop.",
        returns=STATE_OBJECT,
        returned="The state of the execution",
        danger=Danger(DangerLevel.REVERSIBLE),
    )


def _retry(executions: Executions) -> Operation:
    async def retry_execution(ctx: Context, execution_id: str) -> object:
        return state_object(await executions.retry(execution_id, ctx.caller))

    return _operation(
        RETRY,
        Category.EXECUTE,
        retry_execution,
        (_ID,),
        "Run an execution again that has failed, with the same parameters.",
        "It must be allowed, and confirmed where that is demanded, like the operation that started the work.",
        returns=STATE_OBJECT,
        returned="The state of the execution",
        danger=Danger(DangerLevel.REVERSIBLE),
        rationale="it takes up again what was executed before",
        repeats=True,
    )


def _operation(
    name: str,
    category: Category,
    function: Callable[..., Any],
    parameters: tuple[Parameter, ...],
    summary: str,
    description: str = "",
    *,
    returns: Mapping[str, Any] | None = None,
    returned: str = "",
    examples: tuple[Example, ...] = (),
    danger: Danger = _SAFE,
    rationale: str = "",
    repeats: bool = False,
) -> Operation:
    return Operation(
        name=name,
        category=category,
        function=function,
        parameters=parameters if category.read_only else (*parameters, TRYING),
        summary=summary,
        description=f"{summary} {description}".rstrip(),
        returns=dict(returns or {"type": "object"}),
        returns_description=returned,
        examples=examples or (Example({EXECUTION_ID: _EXAMPLE_ID}),),
        danger=danger,
        rationale=rationale,
        context_parameter="ctx",
        features={} if category.read_only else {"lifecycle": Background().lifecycle(reports=True, hides=False)},
        tries_nothing=not category.read_only,
        repeats=repeats,
    )


async def _awaited(executions: Executions, ctx: Context, execution_id: str, seconds: float) -> Execution:
    execution = await executions.visible(execution_id, ctx.caller)
    if seconds <= 0 or execution.state.is_terminal:
        return execution
    told: list[Progress] = []

    async def watch(_execution: Execution, progress: Progress) -> None:
        """MCP wants each step to be larger than the one before."""
        current = progress.current
        if current is not None and (not told or current > (told[-1].current or 0)):
            told.append(progress)
            await ctx.progress(current, progress.total, progress.message)

    await executions.open()
    return await executions.wait(execution, seconds, watch)


# the collection of a caller's executions


def _field(name: str, kind: Kind, description: str, **more: Any) -> Field:
    return Field(name=name, kind=kind, description=description, access=Access.NEVER, nullable=True, **more)


_FIELDS: Final = (
    _field(EXECUTION_ID, Kind.TEXT, "Its id; in the order of ids, executions are in the order of their start"),
    _field("operation", Kind.TEXT, "The operation that started it"),
    _field("status", Kind.TEXT, "The core state", choices=tuple(state.value for state in CORE)),
    _field("state", Kind.TEXT, "The exact state", choices=tuple(state.value for state in State)),
    _field("created_at", Kind.DATETIME, "When it was asked for"),
    _field("started_at", Kind.DATETIME, "When it began"),
    _field("finished_at", Kind.DATETIME, "When it ended"),
    _field("percentage", Kind.NUMBER, "How much is done, where that is known"),
    _field("message", Kind.TEXT, "What it is at"),
    _field("attempt", Kind.INTEGER, "Which attempt it is at"),
    _field("error_code", Kind.TEXT, "The code of its error"),
    _field("error", Kind.JSON, "Why it failed"),
)

COLLECTION: Final = Collection(
    "executions",
    "execution",
    {field.name: field for field in _FIELDS},
    key=(EXECUTION_ID,),
    presets={
        MINIMAL: (EXECUTION_ID, "operation", "status"),
        STANDARD: tuple(field.name for field in _FIELDS if field.name != "error"),
    },
    description="The caller's executions, the newest first unless sort says otherwise.",
)


def _item(execution: Execution, progress: Progress) -> dict[str, Any]:
    error = read_error(execution.error) if execution.error else None
    return {
        EXECUTION_ID: execution.id,
        "operation": execution.operation,
        "status": execution.state.core.value,
        "state": execution.state.value,
        "created_at": _moment(execution.created_at),
        "started_at": _moment(execution.started_at),
        "finished_at": _moment(execution.finished_at),
        "percentage": percentage(progress),
        "message": progress.message,
        "attempt": execution.attempt,
        "error_code": error["code"] if error else None,
        "error": error,
    }


def _moment(at: float | None) -> datetime | None:
    """A time as states tell it, to the millisecond, so that the two can be compared."""
    if at is None:
        return None
    moment = datetime.fromtimestamp(at, UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


class _Mine:
    """The executions of one caller, as what holds the items of a collection."""

    def __init__(self, executions: Executions, owner: str) -> None:
        self._executions = executions
        self._owner = owner

    async def _evaluated(self, work: Callable[..., Any], *args: Any) -> Any:
        """Many items take their time: in a thread, others are answered meanwhile."""
        executions = self._executions
        found = await executions.ledger.all(executions.adapter, self._owner)
        items = [_item(one, executions.progress_of(one)) for one in found]
        return await anyio.to_thread.run_sync(partial(work, *args[:2], lambda _name: items, *args[2:]))

    async def fetch(self, listing: Listing, values: Sequence[Any], limit: int, offset: int = 0) -> Fetched:
        rows, total = await self._evaluated(list_items, listing, values, limit, offset)
        return Fetched(rows, total=total)

    async def summarize(self, shape: AggregateShape, values: Sequence[Any], most: int) -> list[Groups]:
        summaries: list[Groups] = await self._evaluated(summarize_items, shape, values, most)
        return summaries


def _list(executions: Executions) -> Operation:
    collections = Collections()
    nobodys: Any = _Mine(executions, "")  # only read, and so no whole backend
    collections.add(COLLECTION, nobodys)

    async def list_executions(ctx: Context, **params: Any) -> object:
        mine: Any = _Mine(executions, identity(ctx.caller))
        newest_first = {"field": EXECUTION_ID, "order": "desc"}
        asked = {**params, "sort": params.get("sort") or newest_first}
        made = CollectionOperations(COLLECTION, mine, collections.reader, collections.shaper, writable=False)
        return await made.page(ctx, asked, STANDARD)

    [usual] = collections.operations(
        COLLECTION, ("get", "search", "count", "create", "update", "delete"), writable=False
    )
    return Operation(
        name=usual.name,
        category=usual.category,
        function=list_executions,
        parameters=usual.parameters,
        summary="List your executions, with filters, sorting, pages and summaries.",
        description=usual.description,
        returns=usual.returns,
        returns_description=usual.returns_description,
        examples=(Example({"filter": {"status": "running"}, "fields": "minimal", "first": 10}, "What runs now"),),
        context_parameter="ctx",
        features=usual.features,
        danger=_SAFE,
        checked=True,
    )
