"""What a text only speaks of: whoever looks something up names dangerous things without doing them."""

import re
from typing import Final

__all__ = ["without_mentions"]

_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)|`[^`]*`")
_SPOKEN_OF: Final = re.compile(
    r"\b(?:how|what|why|whether|about|titled|entitled|named|which|where|when|sobre|como|uber|wie|warum|comment|pourquoi)\b"
    r".*?(?=\bby\b|$)|(?:关于|について|에 대한).*",
    re.DOTALL,
)
_NOTHING_CHANGED: Final = re.compile(
    r"\bwithout (?:changing|modifying|touching|deleting|altering|removing) (?:anything|any \w+|it|them)\b|\bread.only\b"
)


def without_mentions(action: str) -> str:
    """An action that only looks at something, without what it only speaks of: quotations, and what is explained."""
    plain = _QUOTED.sub(" … ", _NOTHING_CHANGED.sub(" ", action))
    return _SPOKEN_OF.sub(" … ", plain)
