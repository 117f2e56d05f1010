"""How the pipeline begins long work, and what it asks the gate where such work is begun anew (Spec 8.4)."""

import time
from collections.abc import Mapping

from headgate.adapter.background import EXECUTION_ID
from headgate.adapter.operations import Operation
from headgate.engine import refusals
from headgate.engine.stages import Call, Outcome, Permitted, Scope
from headgate.engine.telling import ms_since
from headgate.engine.validation import validate
from headgate.executions.service import Executions, Start
from headgate.executions.values import state_object
from headgate.protocol.limits import Limits

__all__ = ["begun", "repeated"]


async def begun(permitted: Permitted, executions: Executions, scope: Scope) -> Outcome:
    """The state of work that has been started: its handler runs when its turn comes, and nobody waits for it here."""
    call, admission = permitted
    _refuse_in_transaction(call, scope)
    started = time.perf_counter()
    asked = Start(
        operation=call.operation,
        params=call.given,
        caller=scope.caller,
        session=scope.session,
        request_id=scope.request_id,
        audited=admission is not None and admission.audited,
    )
    execution, notices = await executions.start(asked)
    return Outcome(call, state_object(execution), notices, ms_since(started), execution.id)


async def repeated(
    call: Call, executions: Executions, operations: Mapping[str, Operation], limits: Limits, scope: Scope
) -> Call:
    """What the gate judges where a call runs again what another one has started: that call, as it was."""
    _refuse_in_transaction(call, scope)
    execution = await executions.visible(str(call.values[EXECUTION_ID]), scope.caller)
    executions.check_retry(execution)
    operation = operations.get(execution.operation)
    if operation is None:
        raise refusals.unknown_operation(execution.operation, list(operations))
    values, given, _ = validate(operation, executions.params_of(execution), limits, strict=False)
    return call._replace(operation=operation, values=values, given=given)


def _refuse_in_transaction(call: Call, scope: Scope) -> None:
    if scope.unsettled is not None:
        raise refusals.no_execution_in_transaction(call.operation.name)
