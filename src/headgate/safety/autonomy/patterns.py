"""Patterns over what an agent is about to do: ``*`` and ``?`` as in file names (Spec 8.7.2, Stage 3)."""

import re
from collections.abc import Iterable
from functools import lru_cache

from headgate.safety.autonomy.actions import split
from headgate.safety.autonomy.hidden import respelt
from headgate.safety.autonomy.texts import folded, readings

__all__ = ["found_in", "is_all"]


def found_in(hint: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that fits something in a hint, in any of its readings.

    It may begin and end with any word of the hint: "calling drop_table" is no way around ``drop_*``.
    """
    texts = _texts(hint)
    return next((one for one in patterns if any(_anywhere(one).search(text) for text in texts)), None)


def is_all(hint: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that fits all of a hint if every action in it, in each of its readings, fits some pattern."""
    known = tuple(patterns)
    actions = [action for text in _texts(hint) for action in split(text)]
    fitting = [next((one for one in known if _whole(one).fullmatch(action)), None) for action in actions]
    return fitting[0] if fitting and all(fitting) else None


def _texts(hint: str) -> tuple[str, ...]:
    """A hint in every spelling, each folded."""
    return tuple(dict.fromkeys(text for one in (hint, *respelt(hint)) for text in readings(one)))


@lru_cache(maxsize=4096)
def _anywhere(pattern: str) -> re.Pattern[str]:
    body = folded(pattern)
    starts = "" if body[:1] in ("*", "?") else r"(?<!\w)"
    ends = "" if body[-1:] in ("*", "?") else r"(?!\w)"
    return re.compile(f"{starts}{_expression(body.strip('*'))}{ends}", re.DOTALL)


@lru_cache(maxsize=4096)
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(_expression(folded(pattern)), re.DOTALL)


def _expression(glob: str) -> str:
    """A glob whose stars take as little as they can, one after the other, so that no text makes it slow."""
    pieces = [_literal(piece) for piece in glob.split("*")]
    first, *rest = pieces
    if not rest:
        return first
    *middle, last = rest
    lazily = "".join(f"(?>.*?{piece})" for piece in middle)
    return f"{first}{lazily}.*{last}"


def _literal(piece: str) -> str:
    return "".join("." if one == "?" else re.escape(one) for one in piece)
