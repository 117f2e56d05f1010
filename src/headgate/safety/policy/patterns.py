"""Patterns over names and callers: ``*`` and ``?`` as in file names, ``!`` before one takes it out again."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from headgate.adapter.context import Caller

__all__ = ["ANYTHING", "NOT", "Patterns", "fits", "matches_caller"]

NOT: Final = "!"
_SCOPE: Final = "scope:"
_CLIENT: Final = "client:"
_ANONYMOUS: Final = "anonymous"


def fits(name: str, pattern: str) -> bool:
    """Whether a name fits one pattern. Brackets are themselves, for names of callers may have them."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


@dataclass(frozen=True, slots=True)
class Patterns:
    """Matches what one of its patterns matches, or anything if it has none, but nothing that a ``!`` takes out."""

    given: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        """The patterns without a ``!``."""
        return tuple(one for one in self.given if not one.startswith(NOT))

    @property
    def unwanted(self) -> tuple[str, ...]:
        """What stands behind a ``!``."""
        return tuple(one.removeprefix(NOT) for one in self.given if one.startswith(NOT))

    def match(self, *names: str) -> bool:
        """Whether something is meant that has a name, or several."""
        if any(fits(name, pattern) for pattern in self.unwanted for name in names):
            return False
        return not self.wanted or any(fits(name, pattern) for pattern in self.wanted for name in names)


ANYTHING: Final = Patterns()


def matches_caller(patterns: Patterns, caller: Caller) -> bool:
    """Whether a caller is meant: by name, ``client:ID``, ``scope:NAME`` or ``anonymous``.

    Only what the transport has proved counts; a client's own name for itself does not.
    """
    if any(_is_meant(pattern, caller) for pattern in patterns.unwanted):
        return False
    return not patterns.wanted or any(_is_meant(pattern, caller) for pattern in patterns.wanted)


def _is_meant(pattern: str, caller: Caller) -> bool:
    if pattern == _ANONYMOUS:
        return not caller.authenticated
    if pattern.startswith(_SCOPE):
        return _any(caller.scopes, pattern.removeprefix(_SCOPE))
    if pattern.startswith(_CLIENT):
        return _any(filter(None, [caller.client_id]), pattern.removeprefix(_CLIENT))
    return _any(filter(None, [caller.subject, caller.client_id]), pattern)


def _any(names: Iterable[str], pattern: str) -> bool:
    return any(fits(name, pattern) for name in names)
