"""Which checks are run, and what they may call, out of what somebody asks for."""

from collections.abc import Iterable
from typing import Final

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.evidence.transcripts import TRANSCRIPT
from headgate.conformance.values import Area, Check
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["area_of", "check_of", "chosen_checks", "out_of", "rights_of"]

_RIGHTS: Final = ("create", "update", "delete", "execute")
_LEVELS: Final = (1, 2)


def rights_of(given: str | Iterable[str]) -> frozenset[str]:
    """The categories that may be called beside READ, out of words with commas between them."""
    texts = [given] if isinstance(given, str) else given
    words = [word.strip().lower() for text in texts for word in text.split(",") if word.strip()]
    for word in words:
        if word not in (*_RIGHTS, "read"):
            question = did_you_mean(nearest(word, _RIGHTS))
            raise AdapterError(f"'{word}' cannot be allowed: it must be one of {', '.join(_RIGHTS)}{question}")
    return frozenset(word.upper() for word in words if word != "read")


def area_of(name: str) -> Area:
    """An area by its name, or by one word of it such as ``parameters``."""
    known = {_plain(spelling): area for area in Area for spelling in (area.value, area.name)}
    found = known.get(_plain(name))
    if found is None:
        meant = [known[one].value for one in nearest(_plain(name), list(known))]
        areas = ", ".join(area.value for area in Area)
        question = did_you_mean(dict.fromkeys(meant)) or f"; there are {areas}"
        raise AdapterError(f"there is no category '{name}'{question}")
    return found


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def check_of(id: str) -> Check:  # noqa: A002  (a row's own word)
    """A check by its id."""
    known = {check.id: check for check in (*ALL_CHECKS, TRANSCRIPT)}
    if id not in known:
        raise AdapterError(f"there is no check '{id}'{did_you_mean(nearest(id, list(known)))}; --list shows all")
    return known[id]


def chosen_checks(
    *, level: int = 1, only: Iterable[str] = (), category: str | None = None, semantic: bool = True
) -> tuple[Check, ...]:
    """The checks of a level, or those that are named, in the order of reports."""
    if level not in _LEVELS:
        raise AdapterError(f"there is no level {level}: it must be 1 or 2")
    named = {check_of(name).id for name in only}
    if TRANSCRIPT.id in named:
        raise AdapterError(f"'{TRANSCRIPT.id}' is judged from a transcript, which --transcript names")
    area = area_of(category) if category else None
    return tuple(
        check
        for check in ALL_CHECKS
        if (check.id in named if named else check.level <= level)
        and (area is None or check.area is area)
        and (semantic or check.area is not Area.SEMANTIC)
    )


def out_of(checks: Iterable[Check], level: int) -> int:
    """How many checks there are, if these are not all of a level; else 0."""
    chosen = {check.id for check in checks}
    return 0 if chosen == {check.id for check in ALL_CHECKS if check.level <= level} else len(ALL_CHECKS)
