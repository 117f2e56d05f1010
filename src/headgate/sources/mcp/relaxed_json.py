"""JSON as editors write it: with comments, and commas after the last item."""

import json
import re
from typing import Final

__all__ = ["relaxed_json"]

_PIECES: Final = re.compile(
    r"""
      "(?:[^"\\]|\\.)*"?       # a text, which may look like anything
    | //[^\r\n]*               # a comment to the end of its line
    | /\*(?:[^*]|\*(?!/))*\*/  # a comment with an end
    | ,(?=(?:\s|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)*[\]}])  # a comma that nothing follows
    """,
    re.VERBOSE | re.DOTALL,
)


def relaxed_json(text: str) -> object:
    """What a text holds, or a ValueError with the line and the column from which on it is no JSON."""
    try:
        return json.loads(_PIECES.sub(_kept, text.removeprefix("\ufeff")))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: it is no JSON from here on") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _kept(piece: re.Match[str]) -> str:
    """A text as it is, and blanks for the rest, so that lines and columns stay where they are."""
    found = piece.group()
    return found if found.startswith('"') else re.sub(r"[^\r\n]", " ", found)
