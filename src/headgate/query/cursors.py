"""Cursors: where a page ends, in the values of its last item. Opaque, self-contained, and signed.

A cursor holds the values that the order is made of, so it stays right whatever is inserted or deleted around it. They
are the values as they are stored, to the last digit: what is shown may be rounded, and would lead elsewhere.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, Final
from uuid import UUID

import orjson

from headgate.protocol.errors import Invalid
from headgate.query.backends import Row
from headgate.query.caches import keep
from headgate.query.collections import Collection
from headgate.query.shapes import Listing, SortKey

__all__ = ["Cursors"]

_TAG: Final = 16
_LONGEST: Final = 16_384
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")


class Cursors:
    """Writes and reads the cursors of one key. Who does not have the key cannot make or change one."""

    def __init__(self, key: bytes) -> None:
        self._key = key[:64]
        self._purposes: dict[tuple[Collection, tuple[SortKey, ...]], bytes] = {}
        self._seals: dict[bytes, hashlib.blake2b] = {}

    def writer(self, listing: Listing) -> Callable[[Row], str]:
        """What writes the cursors of a listing's rows: of each the values of the order's fields."""
        purpose = self._purpose(listing)
        places = [listing.columns.index(key.path) for key in listing.order]

        def write(row: Row) -> str:
            values = [row[place] for place in places]
            body = orjson.dumps([value if type(value) is str else _tagged(value) for value in values])
            return _text(self._tag(body, purpose) + body)

        return write

    def read(self, cursor: str, listing: Listing, where: str) -> tuple[Any, ...]:
        """The values of the order's fields that a cursor holds. An error if it was not made for this order."""
        body = self._checked(cursor, self._purpose(listing), where)
        return tuple(_untagged(value) for value in orjson.loads(body))

    def place_purpose(self, listing: Listing) -> str:
        """What the cursors of a listing without a key are for."""
        return self._purpose(listing).decode()

    def write_place(self, purpose: str, place: int) -> str:
        """The cursor of a place in a list whose items have no key to go on from."""
        body = str(place).encode()
        return _text(self._tag(body, _place_purpose(purpose)) + body)

    def read_place(self, cursor: str, purpose: str, where: str) -> int:
        """The place that such a cursor holds."""
        return int(self._checked(cursor, _place_purpose(purpose), where))

    def _purpose(self, listing: Listing) -> bytes:
        key = (listing.collection, listing.order)
        return self._purposes.get(key) or keep(self._purposes, key, _purpose(listing))

    def _checked(self, cursor: str, purpose: bytes, where: str) -> bytes:
        """What a cursor holds, if it is whole and was made for this purpose."""
        try:
            raw = binascii.a2b_base64(cursor.encode().translate(_FROM_URL) + b"=" * (-len(cursor) % 4))
        except (binascii.Error, UnicodeEncodeError):
            raw = b""
        tag, body = raw[:_TAG], raw[_TAG:]
        is_whole = len(cursor) <= _LONGEST and _text(raw) == cursor  # the same bytes can be written in several ways
        if not is_whole or not hmac.compare_digest(tag, self._tag(body, purpose)):
            raise _stranger(where)
        return body

    def _tag(self, body: bytes, purpose: bytes) -> bytes:
        """The seal of a purpose is begun once, and ended for each body that follows it."""
        begun = self._seals.get(purpose)
        if begun is None:
            begun = keep(self._seals, purpose, hashlib.blake2b(purpose, key=self._key, digest_size=_TAG))
        seal = begun.copy()
        seal.update(body)
        return seal.digest()


def _text(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).translate(_URL_SAFE, b"=").decode()


def _stranger(where: str) -> Invalid:
    return Invalid(where, "it is no cursor of this list and order: give one from a page of the same 'sort', unchanged")


def _place_purpose(name: str) -> bytes:
    return f"{name}\x00\x00".encode()


def _purpose(listing: Listing) -> bytes:
    """What a cursor is for. One made for another collection or order, or for fields of other kinds, does not fit."""
    order = ",".join(
        f"{'-' if key.descending else ''}{key.path.text}:{key.path.field.kind.word}" for key in listing.order
    )
    return f"{listing.collection.name}\x00{order}\x00".encode()


def _tagged(value: Any) -> object:
    """A value as JSON, with the name of its type where JSON has none that keeps all of it."""
    kind = type(value)
    if value is None or kind is str or kind is bool or (kind is int and abs(value) < _LARGE):
        return value
    if kind is float and isfinite(value):
        return value
    name, write, _ = _KINDS[kind]
    return [name, write(value)]


def _untagged(value: Any) -> Any:
    return _READERS[value[0]](value[1]) if isinstance(value, list) else value


_LARGE: Final = 2**63
_KINDS: Final[Mapping[type, tuple[str, Callable[[Any], object], Callable[[Any], Any]]]] = {
    int: ("int", str, int),
    float: ("float", str, float),
    Decimal: ("decimal", str, Decimal),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("span", timedelta.total_seconds, lambda seconds: timedelta(seconds=seconds)),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode(), base64.b64decode),
    UUID: ("uuid", str, UUID),
}
_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {name: read for name, _, read in _KINDS.values()}
