"""Whether a value may pass: sizes, depth, characters and numbers (Spec 4.7).

One C-speed serialization settles nearly every request: its bytes bound the length of each string, the number of
elements and the depth. Only a value that those bounds do not clear is walked, to name what is wrong and where.
"""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import orjson

from headgate.protocol.errors import AqlError, quoted
from headgate.protocol.limits import LIMIT_ROWS, Limits

__all__ = [
    "MAX_SAFE_INTEGER",
    "bad_encoding",
    "beyond_safe_range",
    "check_payload",
    "not_json",
    "too_large",
]

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (Spec 4.7.3)."""

_ONLY_JSON: Final = orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_DEEPEST_COUNTED: Final = 1_000_000
"""Where counting levels ends: a value that contains itself has no depth."""
_LONGEST_PLACE: Final = 200


class _Place(NamedTuple):
    value: Any
    path: str
    depth: int


def check_payload(value: object, limits: Limits) -> None:
    """Raise the AqlError of the first limit or encoding rule that a request breaks."""
    try:
        raw = orjson.dumps(value, option=_ONLY_JSON)
    except TypeError:  # not UTF-8, an unsafe integer, too deep, or not JSON: the walk says which
        _walk(value, limits)
        raise not_json("") from None
    if len(raw) > limits.max_request_size:
        raise too_large("max_request_size", limits.max_request_size, len(raw))
    if (
        len(raw) > limits.max_string_length
        or raw.count(b"{") + raw.count(b"[") > limits.max_nesting_depth
        or raw.count(b",") >= limits.max_array_elements
        or b"null" in raw  # perhaps a NaN, which is written like this
        or b"\\u0000" in raw
    ):
        _walk(value, limits)


def too_large(limit: str, allowed: int, actual: int, hint: str = "") -> AqlError:
    """The error of an exceeded limit."""
    row = LIMIT_ROWS[limit]
    return AqlError(
        "VALIDATION_PAYLOAD_TOO_LARGE",
        f"Payload exceeds {row.limit_type} limit of {allowed} {row.unit}{hint}",
        {"limit_type": row.limit_type, "limit_value": allowed, "actual_value": actual, "unit": row.unit},
    )


def _walk(root: object, limits: Limits) -> None:
    """Look at every value, breadth first and without recursion, so that no depth can hurt."""
    places = [_Place(root, "", 1)]
    for place in places:
        if len(places) > limits.max_request_size:  # each value takes a byte or more
            raise too_large("max_request_size", limits.max_request_size, len(places))
        value = place.value
        if isinstance(value, str):
            _check_text(value, place.path, limits)
        elif isinstance(value, int):
            _check_integer(value, place.path)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise not_json(place.path)
        elif isinstance(value, list | tuple | dict):
            if place.depth > limits.max_nesting_depth:
                raise too_large("max_nesting_depth", limits.max_nesting_depth, _depth(root))
            places.extend(_children(place, limits))
        elif value is not None:
            raise not_json(place.path)


def _children(place: _Place, limits: Limits) -> Iterator[_Place]:
    if not isinstance(place.value, dict):
        if len(place.value) > limits.max_array_elements:
            raise too_large("max_array_elements", limits.max_array_elements, len(place.value))
        for index, child in enumerate(place.value):
            yield _Place(child, f"{place.path}[{index}]", place.depth + 1)
        return
    for key, child in place.value.items():
        if not isinstance(key, str):
            raise not_json(place.path)
        _check_text(key, place.path, limits)
        yield _Place(child, f"{place.path}.{key}" if place.path else key, place.depth + 1)


def _check_text(text: str, path: str, limits: Limits) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise bad_encoding(path, len(text[: error.start].encode())) from None
    if size > limits.max_string_length:
        raise too_large("max_string_length", limits.max_string_length, size)
    if "\0" in text:
        raise bad_encoding(path, len(text[: text.index("\0")].encode()), "a null character (U+0000) is not allowed")


def _check_integer(value: int, path: str) -> None:
    if abs(value) > MAX_SAFE_INTEGER:
        raise beyond_safe_range(path)


def beyond_safe_range(path: str) -> AqlError:
    """The error of an integer that not every JSON reader keeps exactly (Spec 4.7.3)."""
    name = quoted(path.rpartition(".")[2], "with an odd name")
    return AqlError(
        "VALIDATION_OUT_OF_RANGE",
        f"Parameter {name} is beyond the safe range of JSON integers (2^53 - 1): send it as a string of digits",
        {"param_name": _shown(path), "minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER},
    )


def not_json(path: str) -> AqlError:
    """The error of a value that JSON cannot carry."""
    return AqlError(
        "VALIDATION_INVALID_VALUE",
        "The request holds something JSON has no word for, such as NaN or Infinity",
        {"param_name": _shown(path)},
    )


def bad_encoding(location: str, offset: int, why: str = "the text must be UTF-8 with no lone surrogates") -> AqlError:
    """The error of a text with something in it that may not be there (Spec 4.7.1)."""
    return AqlError(
        "VALIDATION_INVALID_ENCODING",
        f"Invalid character encoding in request: {why}",
        {"location": _shown(location), "byte_offset": offset},
    )


def _shown(path: str) -> str:
    """A path for the details of an error, in characters that can be sent and not longer than helps."""
    return path[:_LONGEST_PLACE].encode(errors="replace").decode()


def _depth(root: Any) -> int:
    depth, level = 0, [root]
    while level and depth < _DEEPEST_COUNTED:
        depth += 1
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, list | tuple | dict)
        ]
    return depth
