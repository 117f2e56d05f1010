"""Regular expressions that an attacker's text cannot keep busy.

What a caller sends is matched by an engine without backtracking: its time grows with the length of the text and no
faster, whatever the expression. It knows neither look-around nor back-references, and the size of an expression is
limited. It reads them as JSON Schema does (ECMA 262): ``$`` is the very end, ``\\d`` and ``\\w`` are ASCII.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import jsonschema_rs

__all__ = ["found_in", "why_not"]

_OPTIONS: Final = jsonschema_rs.RegexOptions(size_limit=2**20, dfa_size_limit=2**22)


@lru_cache(maxsize=10_000)
def _searcher(expression: str) -> Callable[[str], bool]:
    return jsonschema_rs.Draft202012Validator({"pattern": expression}, pattern_options=_OPTIONS).is_valid


def found_in(expression: str, text: str) -> bool:
    """Whether an expression matches somewhere in a text. A text that is no Unicode raises a ValueError."""
    return _searcher(expression)(text)


def why_not(expression: str) -> str:
    """Why an expression cannot be used, or nothing if it can."""
    try:
        _searcher(expression)
    except ValueError:
        return _reason(expression)
    return ""


def _reason(expression: str) -> str:
    """The usual engine explains itself better; what only it takes is what ours refuses on purpose."""
    try:
        re.compile(expression)
    except re.error as error:
        return f"it is not a regular expression ({error.msg}, position {error.pos})"
    except (RecursionError, OverflowError):
        pass
    return "it cannot be used: leave out look-around, back-references, \\A, \\Z and large counts"
