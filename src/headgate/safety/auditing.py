"""What enters the audit: entries made from calls, with every sensitive value masked."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.masking import masked
from headgate.protocol.canonical import canonical, digest
from headgate.safety.asks import Ask, identity
from headgate.store.audit import Entry

__all__ = [
    "APPROVED",
    "CANCELLED",
    "ENDED",
    "EXECUTED",
    "ISSUED",
    "PROPOSED",
    "REFUSED",
    "RETRIED",
    "RETURNED",
    "REVOKED",
    "SIGNED_IN",
    "SIGNED_OUT",
    "TRUST",
    "entry_of",
    "shortened",
    "shown",
]

PROPOSED: Final = "proposed"
ISSUED: Final = "issued"
REFUSED: Final = "refused"
APPROVED: Final = "approved"
EXECUTED: Final = "executed"
RETURNED: Final = "returned"
ENDED: Final = "ended"
"""How an execution has ended whose start was written down."""
CANCELLED: Final = "cancelled"
"""A person wanted an execution to end."""
RETRIED: Final = "retried"
"""A person had an execution begin anew."""
REVOKED: Final = "revoked"
TRUST: Final = "trust"
SIGNED_IN: Final = "signed in"
SIGNED_OUT: Final = "signed out"

_LONGEST_VALUE: Final = 1000
_LARGEST_VALUE: Final = 20_000


def shown(ask: Ask) -> Mapping[str, object]:
    """A call's parameters as they may be kept: sensitive values masked; of what is very large, only how large it is."""
    return {name: shortened(value) for name, value in masked(ask.operation, ask.params).items()}


def shortened(value: Any) -> Any:
    """A value as it may be kept to be shown: of what is very large, only how large it is."""
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{value[:_LONGEST_VALUE]}… ({len(value)} characters)"
    if isinstance(value, Mapping | list) and (size := len(canonical(value))) > _LARGEST_VALUE:
        return f"({len(value)} {'fields' if isinstance(value, Mapping) else 'items'}, {size} bytes)"
    if isinstance(value, Mapping):
        return {key: shortened(child) for key, child in value.items()}
    return [shortened(child) for child in value] if isinstance(value, list) else value


def entry_of(ask: Ask, event: str, at: float, adapter: str, **more: Any) -> Entry:
    """What happened to a call. The digest is of the masked parameters: one of a short secret could be guessed back."""
    return Entry(
        at=at,
        event=event,
        adapter=adapter,
        caller=identity(ask.caller),
        session=ask.session.id,
        request_id=ask.request_id,
        operation=ask.operation.name,
        params=shown(ask),
        params_digest=digest(masked(ask.operation, ask.params)),
        **more,
    )
