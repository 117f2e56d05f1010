"""Path parameters: percent-encoded so that none can leave its segment."""

import re
from typing import Final
from urllib.parse import quote

from headgate.protocol.errors import Invalid

__all__ = ["segment"]

_BETWEEN: Final = re.compile(r"[/\\]")


def segment(value: str, name: str = "path") -> str:
    """One segment of a path that means this value, and nothing else to any server on the way.

    Encoding cannot disarm dots: servers decode ``%2E%2E`` and then go up. So a value with '.' or '..' between slashes
    is refused, and an empty one, which would make another path; an Invalid names the parameter.
    """
    pieces = _BETWEEN.split(value)
    if not value:
        raise Invalid(name, "it stands in a path, so it must not be empty")
    if "." in pieces or ".." in pieces:
        raise Invalid(name, "it stands in a path, so it must not be or hold the segments '.' and '..'")
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise Invalid(name, "it holds characters which no UTF-8 can carry") from None
