"""Text from elsewhere as it may be shown: nothing in it can steer a terminal, hide itself or begin a new line."""

import json
from functools import lru_cache
from typing import Final

__all__ = ["json_line", "visible"]

_DELETE: Final = "\x7f"


def visible(text: str) -> str:
    """The text with whatever has no sign of its own spelt as in JSON, such as ``\\u001b``."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else _spelt(sign) for sign in text)


def json_line(value: object) -> str:
    """A value as JSON on one line, from which exactly that value can be read again."""
    # Outside of its texts this JSON is plain ASCII, so that only signs in texts are spelt out.
    return visible(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


@lru_cache(maxsize=4096)
def _spelt(sign: str) -> str:
    return "\\u007f" if sign == _DELETE else json.dumps(sign)[1:-1]
