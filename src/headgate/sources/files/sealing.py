"""Texts that callers carry back to us unread: opaque, self-contained, and refused if a sign of them was changed."""

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Any, Final

import orjson

__all__ = ["Seal"]

_TAG: Final = 16
_LONGEST: Final = 16_384


class Seal:
    """Closes and opens texts with one key. Without a key of its own it has one that lives as long as the process."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def close(self, value: object, purpose: str) -> str:
        """A text that stands for a value, for one purpose."""
        body = orjson.dumps(value)
        return base64.urlsafe_b64encode(self._tag(body, purpose) + body).rstrip(b"=").decode()

    def open(self, text: str, purpose: str) -> Any:
        """The value of a text; a ValueError if it was not closed here, for this purpose, or was changed."""
        if len(text) > _LONGEST:
            raise ValueError
        try:
            raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        except (binascii.Error, UnicodeEncodeError):
            raise ValueError from None
        tag, body = raw[:_TAG], raw[_TAG:]
        if not hmac.compare_digest(tag, self._tag(body, purpose)):
            raise ValueError
        return orjson.loads(body)

    def _tag(self, body: bytes, purpose: str) -> bytes:
        return hashlib.blake2b(purpose.encode() + b"\x00" + body, key=self._key, digest_size=_TAG).digest()
