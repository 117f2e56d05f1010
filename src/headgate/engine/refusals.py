"""The errors that the pipeline itself gives, in a user's words."""

from collections.abc import Mapping, Sequence
from typing import Final

from headgate.adapter.collections.registry import Collections
from headgate.adapter.exposure import Exposure
from headgate.adapter.operations import Operation
from headgate.protocol.errors import AqlError, ErrorDetail, quoted
from headgate.protocol.inspection import too_large
from headgate.protocol.limits import Limits
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = [
    "internal_error",
    "no_execution_in_transaction",
    "no_transactions",
    "oversized_answer",
    "unknown_operation",
    "wrong_endpoint",
]

_SHOWN: Final = 20
_LONGEST_NAME: Final = 100
_NARROWING: Final = ("first", "last", "limit", "page_size", "fields", "filter", "query")


def unknown_operation(name: str, known: Sequence[str], missing: Sequence[str] = ()) -> AqlError:
    """There is no such operation; the nearest names, or all if they are few, help to find the right one.

    It may be one of a source that is ``missing`` just now.
    """
    near = nearest(name, known)
    details: dict[str, object] = {"operation": name[:_LONGEST_NAME]}
    if near or len(known) <= _SHOWN:
        details["available"] = near or list(known)
    shown = quoted(name, "(not a name)")
    hint = did_you_mean(near) or ". Use introspect with query 'search' to find one"
    if missing:
        details["sources_not_ready"] = list(missing)
        hint = f"{hint.rstrip('.')}. Not ready now: {', '.join(missing)}; introspect with query 'adapter_info' says why"
    return AqlError("NOT_FOUND_OPERATION", f"Unknown operation: {shown}{hint}", details)


def wrong_endpoint(operation: Operation, expected: str, actual: str, exposure: Exposure) -> AqlError:
    """The operation belongs to another endpoint (Spec 6.2; Operations 6.3)."""
    return AqlError(
        "VALIDATION_ENDPOINT_MISMATCH",
        f"Operation '{operation.name}' must be called via {exposure.tool(expected)}, not {exposure.tool(actual)}",
        {"operation": operation.name, "expected_endpoint": expected, "actual_endpoint": actual},
    )


def oversized_answer(operation: Operation, size: int, limits: Limits) -> AqlError:
    """The answer is too large to give; how the request can ask for less."""
    narrowing = [name for name in _NARROWING if operation.parameter(name)]
    ran = "" if operation.category.read_only else ": the operation ran, only its answer is withheld"
    ways = f"; narrow the request with {', '.join(narrowing)}" if narrowing else "; ask for less in one request"
    return too_large("max_response_size", limits.max_response_size, size, ran + ways)


def no_transactions(collections: Collections, sources: Sequence[str]) -> AqlError:
    """What a batch does cannot be undone: there is no database behind it, or more than one."""
    why = "nothing here can be undone; leave it out"
    if collections.transactions and len(sources) > 1:
        named = ", ".join(f"'{source}'" for source in sources)
        why = (
            f"the operations are of several sources, {named}, and a transaction stays inside one; send a batch to each"
        )
    elif collections.transactions and sources:
        why = f"'{sources[0]}' cannot undo its work; leave it out"
    return AqlError("VALIDATION_INVALID_VALUE", f"Parameter 'transaction' is not valid: {why}")


def no_execution_in_transaction(operation: str) -> AqlError:
    """What runs on by itself cannot be undone together with others."""
    return AqlError(
        "VALIDATION_INVALID_VALUE",
        f"Operation '{operation}' runs in the background, so it cannot be part of a transaction: call it by itself",
        {"operation": operation},
    )


def internal_error(trail: Mapping[str, object]) -> ErrorDetail:
    """The handler broke; all that is said is how to find out why."""
    words = "the operation failed unexpectedly; the server log has the reason under this request id"
    return ErrorDetail("INTERNAL_ERROR", f"Internal error: '{words}'", trail)
