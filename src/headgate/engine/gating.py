"""How the pipeline asks the gatekeeper: what it takes out of a request for it, and what it tells afterwards."""

import logging
from collections.abc import Mapping
from typing import Final

import anyio

from headgate.adapter.introspection import CONFIRMATION_TOKEN
from headgate.adapter.masking import masked
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.engine.stages import NO_CONTROLS, Call, Controls, Scope
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.protocol.requests import Request, json_type
from headgate.safety.asks import Ask
from headgate.safety.gatekeeper import Admission, Gatekeeper

__all__ = [
    "CONFIRMATION",
    "INTERRUPTED",
    "ROLLED_BACK",
    "ask_of",
    "respect",
    "settle",
    "take_controls",
    "what_would_happen",
]

_LOG: Final = logging.getLogger("headgate")
_CAMEL: Final = "confirmationToken"
CONFIRMATION: Final = "_confirmation"
"""Where a token may stand beside the parameters, so that it can never be taken for one of them."""
_QUOTA: Final = "_quota_continue"

INTERRUPTED: Final = "INTERRUPTED"
"""How the audit tells of a call that was cancelled before it was done."""

ROLLED_BACK: Final = "CONFLICT_ROLLED_BACK"


def take_controls(
    request: Request, operation: Operation, gatekeeper: Gatekeeper
) -> tuple[Mapping[str, object], Controls]:
    """The parameters that are the operation's, and the tokens that came with them.

    An operation that never has to be confirmed has no parameter for a token, and one of its own is left to it.
    """
    params, metadata = request.params, request.metadata
    if not metadata and CONFIRMATION_TOKEN not in params and _CAMEL not in params:
        return params, NO_CONTROLS
    token = metadata.get(CONFIRMATION)
    if gatekeeper.may_ask(operation.name) and operation.parameter(CONFIRMATION_TOKEN) is None:
        for name in (CONFIRMATION_TOKEN, _CAMEL):
            if name in params:
                token = params[name] if token is None else token
                params = {key: value for key, value in params.items() if key != name}
    if token is None and _QUOTA not in metadata:
        return params, NO_CONTROLS
    return params, Controls(_text(CONFIRMATION_TOKEN, token), _text(_QUOTA, metadata.get(_QUOTA)))


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    actual = json_type(value)
    raise AqlError(
        "VALIDATION_INVALID_TYPE",
        f"Parameter '{name}' expected 'string', got '{actual}'",
        {"param_name": name, "expected_type": "string", "actual_type": actual},
    )


def ask_of(call: Call, scope: Scope) -> Ask:
    """What the gatekeeper is asked for a call."""
    return Ask(
        operation=call.operation,
        params=call.given,
        caller=scope.caller,
        session=scope.session,
        request_id=scope.request_id,
        token=call.controls.token,
        quota_token=call.controls.quota_token,
        dry_run=call.dry_run,
    )


async def settle(
    gatekeeper: Gatekeeper, admission: Admission, error: ErrorDetail | None, duration_ms: float, answer: bytes
) -> None:
    """Tell the gatekeeper how a call ended, even if the caller is gone by now."""
    code = error.code if error else ""
    with anyio.CancelScope(shield=True):
        try:
            await gatekeeper.settle(admission, code=code, duration_ms=duration_ms, answer=answer)
        except Exception:  # noqa: BLE001  # the work is done: the caller must have its answer, and the operator must know
            _LOG.exception("the end of %s could not be written down", admission.ask.request_id)


def respect(gatekeeper: Gatekeeper, operation: Operation, error: ErrorDetail) -> None:
    """Leave an operation alone for as long as the service behind it asks for."""
    wait = (error.details or {}).get("retry_after_seconds") if error.code == "RATE_LIMIT_EXCEEDED" else None
    if isinstance(wait, int | float) and wait > 0:
        gatekeeper.hold(operation.name, wait)


def what_would_happen(call: Call) -> dict[str, object]:
    """The answer of a dry run where the function itself cannot try: what would be called, and that it may be."""
    shown = masked(call.operation, call.given)
    given = {name: value for name, value in shown.items() if name != DRY_RUN}
    return {"dry_run": True, "affected": None, "would_run": {"operation": call.operation.name, "params": given}}
