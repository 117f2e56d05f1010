"""Where a list goes on: opaque to callers, signed, and good only for the same operation with the same parameters."""

import binascii
import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

from headgate.protocol.errors import Invalid

__all__ = ["Position", "PositionCursors"]

_TAG: Final = 16
_LONGEST: Final = 16_384


@dataclass(frozen=True, slots=True)
class Position:
    """A place in an upstream's list: what the query of its page says, and how many of its items were given already."""

    query: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    """Whether that is all of the query, as a link of the upstream has it."""
    size: int | None = None
    skip: int = 0


@dataclass(frozen=True, slots=True)
class PositionCursors:
    """Writes and reads the cursors of one operation. Who does not have the key cannot make or change one."""

    key: bytes
    purpose: str

    def write(self, position: Position, about: str) -> str:
        """The cursor of a position; ``about`` stands for the parameters that the list was asked for with."""
        body = json.dumps(
            [position.query, position.whole, position.size, position.skip], separators=(",", ":")
        ).encode()
        return urlsafe_b64encode(self._tag(body, about) + body).rstrip(b"=").decode()

    def read(self, cursor: str, about: str) -> Position:
        """The position of a cursor that was made for the same list."""
        try:
            raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except (binascii.Error, ValueError):
            raw = b""
        tag, body = raw[:_TAG], raw[_TAG:]
        if len(cursor) > _LONGEST or not hmac.compare_digest(tag, self._tag(body, about)):
            raise Invalid(
                "after", "it is no cursor of this list: give the 'endCursor' of a page with the same other parameters"
            )
        query, whole, size, skip = json.loads(body)
        return Position(tuple((name, value) for name, value in query), whole, size, skip)

    def _tag(self, body: bytes, about: str) -> bytes:
        told = f"{self.purpose}\x00{about}\x00".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told + body, key=self.key[:64], digest_size=_TAG).digest()
