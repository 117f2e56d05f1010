"""Other values than those that are there: unique ones for what is made, changed ones, absent identifiers."""

import re
import uuid
from collections.abc import Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Any, Final

__all__ = ["absent", "another", "fresh", "misfit", "number_from", "unlike"]

_MOST_DIGITS: Final = 6
_KEPT_FORMATS: Final = ("date", "date-time", "time", "duration")
_DAYS: Final = {"date": ("2001-02-03", "2004-05-06"), "date-time": ("2001-02-03T04:05:06Z", "2004-05-06T07:08:09Z")}

_ENDS: Final = frozenset(
    {
        *("deleted", "removed", "archived", "hidden", "locked", "readonly", "protected", "frozen", "expired"),
        *("closed", "private", "disabled", "immutable", "cancelled", "canceled", "only"),
    }
)
"""Words of states in which a thing may no longer be seen or changed."""


def number_from(salt: str, raw: Mapping[str, Any] | None = None) -> int:
    """A whole number that hardly anybody uses, within the bounds of a declaration."""
    low = int(_bound(raw or {}, "minimum", 1))
    high = int(_bound(raw or {}, "maximum", low + 899_999_999))
    return low + int.from_bytes(sha256(salt.encode()).digest()[:4]) % (high - low + 1) if high >= low else low


def fresh(value: Any, raw: Mapping[str, Any], salt: str) -> Any:
    """A text like the given one that nobody else has; what cannot be changed without breaking its rules is kept."""
    if not isinstance(value, str) or raw.get("enum") or raw.get("const") is not None:
        return value
    known = {
        "email": f"probe-{salt}@example.org",
        "uri": f"https://example.org/{salt}",
        "url": f"https://example.org/{salt}",
        "uuid": str(uuid.UUID(bytes=sha256(salt.encode()).digest()[:16], version=4)),
    }
    form = raw.get("format")
    if form in known:
        return known[form]
    if raw.get("pattern"):
        return _reshaped(value, str(raw["pattern"]), salt)
    return value if form else f"{salt}-{value}"[: int(_bound(raw, "maxLength", 200))]


def another(value: Any, raw: Mapping[str, Any], salt: str) -> Any:
    """A value of the same kind that differs from the given one, or None where none is sure to be allowed."""
    allowed = raw.get("enum")
    if isinstance(allowed, list):
        return next((one for one in allowed if one is not None and one != value), None)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return _next_number(value, raw)
    if isinstance(value, str):
        return _another_text(value, raw, salt)
    return None


def unlike(name: str, value: Any, taken: Sequence[Any], raw: Mapping[str, Any]) -> Any:
    """A value other than those that are taken, the first of which matters most, where a declaration leaves a choice.

    Texts that may be anything, and states in which a thing is out of reach, are left alone.
    """
    choices = [one for one in (value, *_choices(name, value, raw)) if one is not None]
    for avoided in (taken, taken[:1]):
        found = next((one for one in choices if one not in avoided), None)
        if found is not None:
            return found
    return value


def _choices(name: str, value: Any, raw: Mapping[str, Any]) -> list[Any]:
    allowed = raw.get("enum")
    if raw.get("const") is not None or _is_end(name):
        return []
    if isinstance(allowed, list):
        return [one for one in allowed if not _is_end(str(one))]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        near = _next_number(value, raw)
        further = _next_number(near, raw) if near is not None else None
        return [near, further, _next_number(value, {**raw, "maximum": value})]
    return []


def _is_end(words: str) -> bool:
    return not _ENDS.isdisjoint(re.split(r"[^a-z]+", words.lower()))


def _another_text(value: str, raw: Mapping[str, Any], salt: str) -> str | None:
    form = raw.get("format")
    if form in _DAYS:
        return next(day for day in _DAYS[form] if day[:10] != value[:10])
    if form in _KEPT_FORMATS or form == "decimal":
        return None
    made = fresh("changed" if form is None and not raw.get("pattern") else value, raw, f"{salt}c")
    long_enough = str(made).ljust(int(_bound(raw, "minLength", 0)), "x")
    return long_enough if long_enough != value else None


def _next_number(value: float, raw: Mapping[str, Any]) -> float | None:
    step = raw.get("multipleOf")
    step = step if isinstance(step, int | float) and step > 0 else 1
    for candidate in (value + step, value - step):
        within = _bound(raw, "minimum", candidate) <= candidate <= _bound(raw, "maximum", candidate)
        if within and _bound(raw, "exclusiveMinimum", candidate - 1) < candidate < _bound(
            raw, "exclusiveMaximum", candidate + 1
        ):
            return candidate
    return None


def absent(value: Any, raw: Mapping[str, Any], salt: str) -> Any:
    """An identifier of the same form as an existing one that surely does not exist, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return number_from(salt, {"minimum": 1_000_000, **raw})
    if not isinstance(value, str):
        return None
    if raw.get("format") or raw.get("pattern"):
        made = fresh(value, raw, salt)
    elif re.search(r"\d", value):
        made = re.sub(r"\d+", lambda found: _digits(len(found[0]), salt), value)
    else:
        made = fresh(value, raw, salt)
    return made if made != value else None


def misfit(types: tuple[str, ...]) -> Any:
    """A value that no declaration of only plain types allows; None if the declaration allows more."""
    plain = {"string", "integer", "number", "boolean", "null"}
    return {"probe": ["no", "plain", "value"]} if types and plain.issuperset(types) else None


def _digits(length: int, salt: str) -> str:
    """So many digits, but at least six: small numbers are taken."""
    return str(number_from(salt, {"minimum": 10 ** (max(length, _MOST_DIGITS) - 1)}))[: max(length, _MOST_DIGITS)]


def _reshaped(value: str, pattern: str, salt: str) -> str:
    """The same kinds of characters in the same places, if the pattern allows that."""
    pick = Random(salt)  # noqa: S311  (nothing secret)
    for _ in range(20):
        made = "".join(_like(character, pick) for character in value)
        try:
            if re.search(pattern, made) and made != value:
                return made
        except re.error:
            break
    return value


def _like(character: str, pick: Random) -> str:
    for kind in ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
        if character in kind:
            return pick.choice(kind)
    return character


def _bound(raw: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = raw.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
