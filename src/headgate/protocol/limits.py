"""Payload limits: their defaults, the ranges they may be set in, and the check of a request (Spec 4.7.5)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = ["LIMIT_ROWS", "LimitError", "LimitRow", "Limits"]

_KB: Final = 1024
_MB: Final = 1024 * _KB


class LimitError(ValueError):
    """A limit set outside the range that the specification allows."""


class LimitRow(NamedTuple):
    """One row of the table of limits."""

    limit_type: str
    unit: str
    default: int
    lowest: int
    highest: int


LIMIT_ROWS: Final[Mapping[str, LimitRow]] = MappingProxyType(
    {
        "max_request_size": LimitRow("request_size", "bytes", 1 * _MB, 64 * _KB, 10 * _MB),
        "max_response_size": LimitRow("response_size", "bytes", 10 * _MB, 1 * _MB, 100 * _MB),
        "max_string_length": LimitRow("string_length", "bytes", 1 * _MB, 64 * _KB, 10 * _MB),
        "max_array_elements": LimitRow("array_elements", "elements", 10_000, 100, 100_000),
        "max_nesting_depth": LimitRow("nesting_depth", "levels", 32, 8, 64),
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a request and an answer may be. A value out of its range cannot be built."""

    max_request_size: int = LIMIT_ROWS["max_request_size"].default
    max_response_size: int = LIMIT_ROWS["max_response_size"].default
    max_string_length: int = LIMIT_ROWS["max_string_length"].default
    max_array_elements: int = LIMIT_ROWS["max_array_elements"].default
    max_nesting_depth: int = LIMIT_ROWS["max_nesting_depth"].default

    def __post_init__(self) -> None:
        for name, row in LIMIT_ROWS.items():
            value = getattr(self, name)
            if not row.lowest <= value <= row.highest:
                raise LimitError(f"{name} is {value}; it must lie between {row.lowest} and {row.highest} {row.unit}.")

    def wire(self) -> dict[str, object]:
        """The limits as ``_protocol`` shows them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
