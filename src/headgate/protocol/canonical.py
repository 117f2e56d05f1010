"""One spelling for equal JSON values, and no two for different ones: what digests are made of."""

import hashlib
import json
from typing import Final

__all__ = ["canonical", "digest"]

_ENCODE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""Made once: to make it takes as long as to use it."""


def canonical(value: object) -> bytes:
    """The value as JSON in which only the order of keys is settled.

    ``1``, ``1.0`` and ``true`` stay apart, and so do the Unicode forms of a text: what a person has confirmed is what
    was shown, not something that some program takes for the same.
    """
    return _ENCODE(value).encode()


def digest(value: object) -> str:
    """The SHA-256 of the value's canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()
