"""What is sent and what comes back, as values."""

import re
from dataclasses import dataclass, field
from typing import Final

import httpx2

from headgate.protocol.errors import AqlError, quoted
from headgate.sources.http.origins import parsed

__all__ = ["SAFE_METHODS", "TOKEN", "Answer", "OutRequest", "is_field_value"]

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""What may be repeated: it changes nothing, however often it arrives."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_VALUE: Final = re.compile(r"(?![ \t])[^\x00-\x08\x0a-\x1f\x7f]*(?<![ \t])\Z")
_METHODS: Final = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
_OF_THE_CONNECTION: Final = frozenset(
    {
        *("accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that say how a message travels. Whoever could set them could smuggle a second request."""


@dataclass(frozen=True, slots=True)
class OutRequest:
    """What is to be sent, everything already encoded. One that could become two requests cannot be built."""

    method: str
    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    content: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            known = ", ".join(sorted(_METHODS))
            raise _wrong("method", f"The method {quoted(self.method, 'of the request')} is not one of {known}")
        parsed(self.url)
        for name, value in self.headers:
            _check_header(name, value)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream answered, whatever its status, and where it came from in the end."""

    status: int
    headers: httpx2.Headers = field(repr=False)
    content: bytes = field(repr=False)
    url: str = field(repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """What must not be shown of it, should the upstream repeat it: the credentials that it was asked with."""


def is_field_value(text: str) -> bool:
    """Whether a text can be the value of a header: one line, without spaces around it."""
    return _VALUE.match(text) is not None


def _check_header(name: str, value: str) -> None:
    shown = quoted(name, "of the request")
    if not TOKEN.match(name):
        raise _wrong("header", f"The name of the header {shown} is not valid")
    if name.lower() in _OF_THE_CONNECTION:
        raise _wrong(name, f"The header {shown} belongs to the connection and cannot be set")
    if not is_field_value(value):
        raise _wrong(name, f"The header {shown} must be one line without control characters or spaces around it")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(name, f"The header {shown} holds characters which no UTF-8 can carry") from None


def _wrong(name: str, message: str) -> AqlError:
    return AqlError("VALIDATION_INVALID_VALUE", message, {"param_name": name})
