"""What is wrong with a query, in a caller's words: where, what was meant perhaps, and what is allowed."""

from collections.abc import Iterable, Sequence

from headgate.protocol.errors import AqlError, Invalid, quoted
from headgate.protocol.requests import json_type
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.query.kinds import Kind

__all__ = ["contradiction", "not_allowed", "unknown_name", "wrong_type", "wrong_value"]

_MOST_SHOWN = 20


def unknown_name(where: str, what: str, name: str, known: Sequence[str]) -> AqlError:
    """A field, operator, preset or function that does not exist here."""
    near = nearest(name, known)
    listed = ", ".join(known[:_MOST_SHOWN]) + (
        f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    )
    hint = did_you_mean(near)
    shown = quoted(name, "(an odd name)") if name else "''"
    valid = f" Valid: {listed}" if known else ""
    return AqlError(
        "VALIDATION_UNKNOWN_FIELD",
        f"Unknown {what} {shown} in '{where}'{hint or '.'}{valid}",
        {"param_name": where, "unknown_fields": [name[:200]], "suggestions": near, "valid_fields": list(known)},
    )


def not_allowed(where: str, name: str, rule: str, allowed: Iterable[str] = ()) -> AqlError:
    """Something that exists but cannot be used in this place."""
    choices = list(allowed)
    instead = f" Use one of: {', '.join(choices)}" if choices else ""
    return Invalid(where, f"{quoted(name, 'it')} {rule}.{instead}", **({"allowed": choices} if choices else {}))


def wrong_type(where: str, expected: str, value: object) -> AqlError:
    """A value of the wrong JSON type."""
    actual = json_type(value)
    return AqlError(
        "VALIDATION_INVALID_TYPE",
        f"Parameter '{where}' expected '{expected}', got '{actual}'",
        {"param_name": where, "expected_type": expected, "actual_type": actual},
    )


def wrong_value(where: str, kind: Kind, value: object) -> AqlError:
    """A value that cannot be compared with a field of this kind."""
    if isinstance(value, str) and kind is not Kind.TEXT:
        return Invalid(where, f"{quoted(value, 'the text')} is no {kind.word}", expected_type=kind.word)
    if kind is Kind.INTEGER and isinstance(value, int) and not isinstance(value, bool):
        return Invalid(where, "the number needs more than 64 bits", expected_type=kind.word)
    return wrong_type(where, kind.word, value)


def contradiction(names: Sequence[str], rule: str) -> AqlError:
    """Parameters that cannot stand together."""
    return AqlError(
        "VALIDATION_INVALID_VALUE",
        f"Parameters {' and '.join(repr(name) for name in names)} cannot stand together: {rule}",
        {"param_name": names[0], "conflicting_params": list(names)},
    )
