"""Foreign names as headgate's own: snake_case, unique, and the same each time (Spec 4.3, 8.5.2)."""

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from typing import Final

from headgate.executions.operations import CANCEL, GET, LIST, RESULT, RETRY
from headgate.protocol.names import REQUEST_FIELDS, RESERVED_OPERATIONS, camel_to_snake, is_snake_case

__all__ = ["HELD_OPERATIONS", "HELD_PARAMETERS", "operation_names", "parameter_names", "snake"]

_LONGEST: Final = 64
_NOT_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_MARK: Final = 6
"""How many characters tell apart what would else have one name."""

HELD_OPERATIONS: Final = RESERVED_OPERATIONS | {LIST, GET, RESULT, CANCEL, RETRY}
"""Names that a server adds by itself, so that no foreign operation may have them."""

HELD_PARAMETERS: Final = REQUEST_FIELDS | {"confirmation_token", "dry_run"}
"""Names that mean something to headgate in every request."""


def snake(name: str) -> str:
    """Any name as snake_case: ``getHTTPUser-v2`` is ``get_http_user_v2``. What has no letter becomes ``x``."""
    if is_snake_case(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    parts = (camel_to_snake(part) for part in _NOT_WORD.split(plain) if part)
    joined = "_".join(parts)
    return joined if joined[:1].isalpha() else f"x_{joined}" if joined else "x"


def operation_names(own: Sequence[str], *, taken: Container[str] = ()) -> dict[str, str]:
    """For each name its operation's name: unique, 64 characters at most, and independent of the order.

    Where several would have one name, the one that is spelt so already has it, else the first in the alphabet; the
    others get a mark that follows from their own spelling.
    """
    names: dict[str, str] = {}
    used: set[str] = set()
    for name in sorted(set(own), key=lambda one: (not is_snake_case(one), one)):
        wanted = snake(name)
        is_free = len(wanted) <= _LONGEST and wanted not in HELD_OPERATIONS and wanted not in taken
        chosen = wanted if is_free and wanted not in used else _marked(wanted, name)
        while chosen in used or chosen in taken:
            chosen = _marked(wanted, f"{name}\0{chosen}")
        used.add(chosen)
        names[name] = chosen
    return {name: names[name] for name in own}


def _marked(wanted: str, own: str) -> str:
    mark = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{wanted[: _LONGEST - _MARK - 1].rstrip('_')}_{mark}"


def parameter_names(
    own: Iterable[str], *, taken: Container[str] = (), held: Container[str] = HELD_PARAMETERS
) -> dict[str, str]:
    """For each name its parameter's name: unique; those that can stay do, others are numbered in their order.

    One that is held, because it means something else in a request, becomes ``operation_value``.
    """
    names: dict[str, str] = {}
    used: set[str] = set()
    numbers: dict[str, int] = {}
    given = list(dict.fromkeys(own))
    for name in sorted(given, key=lambda one: not is_snake_case(one) or one in held or one in taken):
        wanted = snake(name)
        if wanted in held or wanted in taken:
            wanted = f"{wanted}_value"
        chosen = wanted
        while chosen in used or chosen in taken or chosen in held:
            numbers[wanted] = numbers.get(wanted, 1) + 1
            chosen = f"{wanted}_{numbers[wanted]}"
        used.add(chosen)
        names[name] = chosen
    return {name: names[name] for name in given}
