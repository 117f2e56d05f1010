"""The stage in which a call runs, and what becomes of the handler's answer."""

import time
from functools import partial

import anyio.to_thread
import orjson

from headgate.adapter.contents import Contents, Part
from headgate.adapter.context import Context
from headgate.adapter.deprecations import deprecation_notices
from headgate.adapter.introspection import INTROSPECT
from headgate.engine.encoding import encode, standing_alone
from headgate.engine.stages import Call, Outcome, Scope
from headgate.engine.telling import ms_since
from headgate.protocol.results import Success
from headgate.protocol.tables import FORMAT, TABLE, table_of

__all__ = ["detached", "execute", "shape"]


async def execute(call: Call, scope: Scope) -> Outcome:
    """Call the handler with its parameters, and with the context if it wants that."""
    operation, values = call.operation, call.values
    started = time.perf_counter()
    if operation.bind is not None:
        values = dict(operation.bind(values))
    context = None
    if operation.context_parameter is not None:
        context = Context(
            operation.name,
            scope.request_id,
            scope.caller,
            scope.session,
            scope.progress,
            is_async=operation.is_async,
            ask=scope.ask_user,
        )
        values = {**values, operation.context_parameter: context}
    if operation.is_async:
        data = await operation.function(**values)
    else:
        data = await anyio.to_thread.run_sync(partial(operation.function, **values))
    return Outcome(call, data, tuple(context.warnings) if context else (), ms_since(started))


def shape(outcome: Outcome, scope: Scope) -> Success:
    """The answer with its warnings. Introspection has no room for any."""
    call, data, added, *_ = outcome
    if call.operation.name == INTROSPECT:
        return Success(data)
    data = standing_alone(data)
    if call.operation.tabular and call.given.get(FORMAT) == TABLE:
        data = table_of(orjson.loads(encode(data)))
    warnings = call.warnings + added
    if call.operation.deprecated or call.operation.deprecated_parameters:
        warnings += tuple(deprecation_notices(call.operation, call.given, scope.session))
    return Success(data, warnings)


def detached(outcome: Outcome, scope: Scope) -> tuple[Outcome, tuple[Part, ...]]:
    """What a handler gave as data, and apart from it what is sent beside the answer, if that is possible."""
    if not isinstance(outcome.data, Contents):
        return outcome, ()
    if not scope.attaches:
        return outcome._replace(data=outcome.data.inline()), ()
    data, parts = outcome.data.attached()
    return outcome._replace(data=data), tuple(parts)
