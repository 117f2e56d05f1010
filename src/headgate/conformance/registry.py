"""The checks, as data: each is one row with the function that looks."""

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final, Literal

from headgate.conformance.values import Area, Check, Demand, Exchange, Finding, Outcome

if TYPE_CHECKING:
    from headgate.conformance.probe import Probe

__all__ = ["broken", "check", "holds", "registered", "unseen"]

_CHECKS: Final[dict[str, Check]] = {}

Run = Callable[["Probe"], AsyncIterator[Finding]]


def check(
    id: str,  # noqa: A002  (a row's own word)
    title: str,
    *,
    section: str,
    demand: Demand,
    area: Area,
    level: Literal[1, 2],
    how: str,
    proves: tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Enter a function as a check. It yields what it finds; nothing at all means that it does not apply."""

    def enter(run: Run) -> Run:
        if id in _CHECKS:
            raise ValueError(f"there are two checks '{id}'")
        _CHECKS[id] = Check(
            id=id, title=title, section=section, demand=demand, area=area, level=level, how=how, proves=proves, run=run
        )
        return run

    return enter


def registered() -> tuple[Check, ...]:
    """All checks that were entered, in the order in which they were."""
    return tuple(_CHECKS.values())


def holds(subject: str, *exchanges: Exchange) -> Finding:
    """It is as it should be."""
    return Finding(Outcome.HOLDS, subject, "", exchanges)


def broken(subject: str, words: str, *exchanges: Exchange) -> Finding:
    """It is not, and this is what is wrong; the decisive exchange stands last."""
    return Finding(Outcome.BROKEN, subject, words, exchanges)


def unseen(subject: str, why: str, *exchanges: Exchange) -> Finding:
    """It could not be seen, and this is why."""
    return Finding(Outcome.UNSEEN, subject, why, exchanges)
