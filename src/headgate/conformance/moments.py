"""Dates and times in answers: what is named like one, what looks like one, and what is one (specification 4.7.2)."""

import re
from datetime import datetime
from typing import Final

__all__ = ["is_date_time", "is_iso", "is_named_like_one", "looks_like_one"]

_NAME: Final = re.compile(r"_(at|on)$|(^|_)(date|time_?stamp|date_?time)$|[a-z](At|On|Date|Timestamp|DateTime)$")
_ISO: Final = re.compile(
    r"\d{4}(-?\d{2}-?\d{2}|-?W\d{2}(-?\d)?|-?\d{3})(T\d{2}(:?\d{2}(:?\d{2}([.,]\d+)?)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)
_PART: Final = re.compile(r"\d{4}(-\d{2})?")
"""A year or a month alone."""
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_OTHER_FORMS: Final = re.compile(
    r"^\d{1,4}[/.]\d{1,2}[/.]\d{2,4}\b|^\d{4}-\d{1,2}-\d{1,2}|^\d{1,2}-\d{1,2}-\d{4}\b|^\d{9,13}$"
    rf"|\b\d{{1,2}}\.? ({_MONTHS})[a-z]*\b|\b({_MONTHS})[a-z]*\.? \d{{1,2}}\b",
    re.IGNORECASE,
)
_LONGEST: Final = 60
_SECONDS: Final = range(10**9, 10**10)
_MILLISECONDS: Final = range(10**12, 10**13)


def is_named_like_one(name: str) -> bool:
    """Whether a member is named as dates and times are, such as ``created_at`` or ``due_date``."""
    return _NAME.search(name) is not None


def looks_like_one(value: object) -> bool:
    """Whether a value under such a name is meant as a date or a time, in whatever form."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value in _SECONDS or value in _MILLISECONDS
    return isinstance(value, str) and len(value) <= _LONGEST and (is_iso(value) or bool(_OTHER_FORMS.search(value)))


def is_iso(value: object) -> bool:
    """Whether a value is a date or a time of ISO 8601 that exists."""
    if not isinstance(value, str):
        return False
    if _PART.fullmatch(value):
        return True
    if not _ISO.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return bool(re.fullmatch(r"\d{4}-?\d{3}(T.*)?", value))  # the day of a year, which is not read here
    return True


def is_date_time(value: object) -> bool:
    """Whether a value is a moment, and not only a day."""
    return isinstance(value, str) and "T" in value and is_iso(value)
