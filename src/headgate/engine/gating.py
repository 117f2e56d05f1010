"""How the pipeline asks the gatekeeper: what it takes out of a request for it, and what it tells afterwards."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import anyio
import orjson

from headgate.adapter.introspection import CONFIRMATION_TOKEN
from headgate.adapter.masking import masked
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.engine.encoding import encode_if_possible
from headgate.engine.interruptions import is_interruption
from headgate.engine.stages import NO_CONTROLS, Call, Controls, Encoded, Scope
from headgate.engine.telling import ms_since
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.protocol.requests import Request, json_type
from headgate.safety.asks import Ask
from headgate.safety.gatekeeper import Admission, Gatekeeper
from headgate.safety.grants import Purpose

__all__ = [
    "CONFIRMATION",
    "QUOTA",
    "ROLLED_BACK",
    "ask_of",
    "converted",
    "place_of",
    "respect",
    "settled",
    "take_controls",
    "what_would_happen",
]

_LOG: Final = logging.getLogger("headgate")
_CAMEL: Final = "confirmationToken"
CONFIRMATION: Final = "_confirmation"
"""Where a token may stand beside the parameters, so that it can never be taken for one of them."""
QUOTA: Final = "_quota_continue"
"""Where a token to go on beyond a quota stands."""

_INTERRUPTED: Final = "INTERRUPTED"
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
    if token is None and QUOTA not in metadata:
        return params, NO_CONTROLS
    return params, Controls(_text(CONFIRMATION_TOKEN, token), _text(QUOTA, metadata.get(QUOTA)))


def place_of(token: str) -> str:
    """Where a token belongs in a request, by what it is for."""
    return QUOTA if token.startswith(Purpose.QUOTA) else CONFIRMATION


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    actual = json_type(value)
    raise AqlError(
        "VALIDATION_INVALID_TYPE",
        f"Parameter '{name}' expected 'string', got '{actual}'",
        {"param_name": name, "expected_type": "string", "actual_type": actual},
    )


def ask_of(call: Call, scope: Scope, repeated_by: Operation | None = None) -> Ask:
    """What the gatekeeper is asked for a call, or for one that another operation runs again."""
    return Ask(
        operation=call.operation,
        params=call.given,
        caller=scope.caller,
        session=scope.session,
        request_id=scope.request_id,
        token=call.controls.token,
        quota_token=call.controls.quota_token,
        dry_run=call.dry_run,
        values=converted(call.operation, call.given, call.values),
        repeated_by=repeated_by,
        withholds_tokens=scope.asks_user and scope.batched,
    )


def converted(operation: Operation, given: Mapping[str, object], values: Mapping[str, object]) -> Mapping[str, object]:
    """The parameters that the handler gets in another spelling than they were sent in, as JSON of the same type."""
    changed = {name: values[name] for name, _ in operation.converters if name in given}
    raw = encode_if_possible(changed) if changed else None
    read = orjson.loads(raw) if raw else {}
    return {name: value for name, value in read.items() if type(value) is type(given[name]) and value != given[name]}


async def settled(
    gatekeeper: Gatekeeper, admission: Admission, scope: Scope, answering: Callable[[], Awaitable[Encoded]]
) -> Encoded:
    """The answer to a call that is guarded: whatever comes of it, the gatekeeper learns.

    Within a transaction it learns once it is known whether all of it is kept.
    """
    started = time.perf_counter()
    error: ErrorDetail | None = ErrorDetail(_INTERRUPTED, "")
    answer = b""
    try:
        encoded = await answering()
    except AqlError as raised:
        error = raised.error
        raise
    except BaseException as broken:
        if not is_interruption(broken):
            error = ErrorDetail("INTERNAL_ERROR", "")
        raise
    else:
        error, answer = None, encoded.raw
        return encoded
    finally:
        duration = ms_since(started)

        async def settle(kept: bool) -> None:
            ended = error if kept or error is not None else ErrorDetail(ROLLED_BACK, "")
            await _settle(gatekeeper, admission, ended, duration, answer)

        if scope.unsettled is None:
            await settle(True)
        else:
            scope.unsettled.append(settle)


async def _settle(
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
