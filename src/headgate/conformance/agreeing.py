"""Calls that must be agreed to first: the checker agrees, where the server leaves that to its client."""

from collections.abc import Mapping
from typing import Final

from headgate.conformance.probe import Probe
from headgate.conformance.survey import SeenOperation
from headgate.conformance.values import Exchange

__all__ = ["TOKEN", "WANTED", "call_agreed", "token_in"]

TOKEN: Final = "confirmation_token"  # noqa: S105  (a parameter's name)
WANTED: Final = "CONFIRMATION_REQUIRED"


def token_in(exchange: Exchange) -> str:
    """The token with which a call may be confirmed; nothing where there is none, or a person has to agree elsewhere."""
    envelope = exchange.envelope or {}
    beside = envelope.get("confirmation")
    told = exchange.details.get(TOKEN) or (beside.get("token") if isinstance(beside, Mapping) else None)
    return told if exchange.code == WANTED and isinstance(told, str) else ""


async def call_agreed(probe: Probe, operation: SeenOperation, params: Mapping[str, object]) -> Exchange:
    """Call an operation, and once more with the token if it must be confirmed."""
    exchange = await probe.call(operation, params)
    token = token_in(exchange)
    return await probe.call(operation, {**params, TOKEN: token}) if token else exchange
