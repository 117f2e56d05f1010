"""From a result to JSON: one form for each kind of value (Spec 4.7)."""

import json
import math
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from headgate import Binary
from headgate.engine.encoding import Unencodable, encode, encode_if_possible


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 2


class Kind(Enum):
    PAIR = ("a", 1)


class Metres(float):
    """A number of its own kind, as numerical libraries have them."""


class Name(str):
    __slots__ = ()


class Author(BaseModel):
    name: str = Field(alias="fullName")
    born: date | None = None


class Pair(NamedTuple):
    one: int
    two: str


@dataclass
class Book:
    title: str
    _etag: str
    author: Author | None = None
    data: bytes | None = None


DAY = date(2026, 2, 4)
AUTHOR = Author(fullName="Ada", born=DAY)
EAST = timezone(timedelta(hours=5, minutes=30))

FORMS = [
    pytest.param(None, None, id="null"),
    pytest.param(True, True, id="boolean"),
    pytest.param(2**53 - 1, 2**53 - 1, id="a safe integer"),
    pytest.param(2**53, "9007199254740992", id="an unsafe integer is a text"),
    pytest.param(-(2**53), "-9007199254740992", id="a negative one too"),
    pytest.param(10**30, "1" + "0" * 30, id="a huge one too"),
    pytest.param([1, {"a": 2**60}], [1, {"a": str(2**60)}], id="an unsafe integer inside"),
    pytest.param(1.5, 1.5, id="number"),
    pytest.param(Metres(1.5), 1.5, id="a number of its own kind"),
    pytest.param(Name("x"), "x", id="a text of its own kind"),
    pytest.param(math.inf, None, id="infinity has no form"),
    pytest.param("é😀", "é😀", id="text"),
    pytest.param("a\ud800b", "a?b", id="a lone surrogate"),
    pytest.param({"k\udfff": 1}, {"k?": 1}, id="a lone surrogate in a key"),
    pytest.param(Decimal("12.50"), "12.50", id="an exact decimal is a text"),
    pytest.param(datetime(2026, 2, 4, 10, 30, tzinfo=UTC), "2026-02-04T10:30:00Z", id="a moment in UTC"),
    pytest.param(datetime(2026, 2, 4, 16, tzinfo=EAST), "2026-02-04T10:30:00Z", id="a moment elsewhere"),
    pytest.param(datetime(2026, 2, 4, 10, 30), "2026-02-04T10:30:00Z", id="a moment without zone"),
    pytest.param(DAY, "2026-02-04", id="date"),
    pytest.param(time(10, 30), "10:30:00", id="time"),
    pytest.param(timedelta(minutes=30), "PT30M", id="duration"),
    pytest.param(UUID(int=1), "00000000-0000-0000-0000-000000000001", id="UUID"),
    pytest.param([UUID(int=1), 2**60], ["00000000-0000-0000-0000-000000000001", str(2**60)], id="UUID, the long way"),
    pytest.param(Colour.RED, "red", id="StrEnum"),
    pytest.param([Level.HIGH, 2**60], [2, str(2**60)], id="IntEnum, the long way"),
    pytest.param(Kind.PAIR, ["a", 1], id="Enum"),
    pytest.param((1, 2), [1, 2], id="tuple"),
    pytest.param({1}, [1], id="set"),
    pytest.param(frozenset({1}), [1], id="frozenset"),
    pytest.param(Pair(1, "b"), [1, "b"], id="named tuple"),
    pytest.param(deque([1, 2]), [1, 2], id="deque"),
    pytest.param(OrderedDict(a=1), {"a": 1}, id="OrderedDict"),
    pytest.param(MappingProxyType({"a": 1}), {"a": 1}, id="read-only mapping"),
    pytest.param(
        {True: "b", 1.5: "c", None: "d", 2: "e"},
        {"true": "b", "1.5": "c", "null": "d", "2": "e"},
        id="keys of other types",
    ),
    pytest.param({False: 1, (1, "a"): 2}, {"false": 1, '[1,"a"]': 2}, id="odder keys"),
    pytest.param({Colour.RED: 1, Level.HIGH: 2, DAY: 3}, {"red": 1, "2": 2, "2026-02-04": 3}, id="enums as keys"),
    pytest.param(AUTHOR, {"fullName": "Ada", "born": "2026-02-04"}, id="model by its aliases"),
    pytest.param(Book("T", "e"), {"title": "T", "_etag": "e", "author": None, "data": None}, id="dataclass"),
    pytest.param(
        [Book("T", "e", AUTHOR)],
        [{"title": "T", "_etag": "e", "author": {"fullName": "Ada", "born": "2026-02-04"}, "data": None}],
        id="model in a dataclass",
    ),
    pytest.param(
        Book("T", "e", AUTHOR, b"x"),
        {
            "title": "T",
            "_etag": "e",
            "author": {"fullName": "Ada", "born": "2026-02-04"},
            "data": "eA==",
            "data_encoding": "base64",
            "data_mime_type": "application/octet-stream",
        },
        id="bytes in a dataclass",
    ),
    pytest.param(b"x", {"content": "eA==", "encoding": "base64", "mime_type": "application/octet-stream"}, id="bytes"),
    pytest.param(
        bytearray(b"x"),
        {"content": "eA==", "encoding": "base64", "mime_type": "application/octet-stream"},
        id="bytearray",
    ),
    pytest.param(
        memoryview(b"x"),
        {"content": "eA==", "encoding": "base64", "mime_type": "application/octet-stream"},
        id="memoryview",
    ),
    pytest.param(
        Binary(b"x", "image/png"), {"content": "eA==", "encoding": "base64", "mime_type": "image/png"}, id="Binary"
    ),
    pytest.param(
        {"file_content": Binary(b"x", "image/png")},
        {"file_content": "eA==", "file_encoding": "base64", "file_mime_type": "image/png"},
        id="Binary in an object",
    ),
    pytest.param(
        {"file": b"x", "file_mime_type": "text/plain"},
        {"file": "eA==", "file_encoding": "base64", "file_mime_type": "text/plain"},
        id="metadata that the answer gives itself",
    ),
    pytest.param(Path("/a/b"), "/a/b", id="path"),
    pytest.param((number for number in (1, 2)), [1, 2], id="generator"),
]


@pytest.mark.parametrize(("value", "form"), FORMS)
def test_a_value_has_one_form_in_json(value: object, form: object) -> None:
    assert json.loads(encode(value)) == form


def nested(depth: int) -> list[Any]:
    value: list[Any] = [2**60]
    for _ in range(depth):
        value = [value]
    return value


RING: list[Any] = []
RING.append(RING)


@pytest.mark.parametrize(
    "value",
    [object(), RING, nested(300), [lambda: 1], {"a": type}],
    ids=["object", "ring", "deep", "function", "class"],
)
def test_a_value_without_a_form_is_told_apart(value: object) -> None:
    with pytest.raises(Unencodable):
        encode(value)
    assert encode_if_possible(value) is None


def test_what_is_deep_but_not_too_deep_is_written() -> None:
    assert json.loads(encode(nested(150))) == json.loads(json.dumps(nested(150)).replace(str(2**60), f'"{2**60}"'))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_json_is_written_as_it_is(value: object) -> None:
    assert orjson.loads(encode(value)) == value


@given(JSON)
def test_the_long_way_writes_the_same_as_the_short_one(value: object) -> None:
    short, long = orjson.loads(encode([value])), orjson.loads(encode([value, {1: 0}]))
    assert long[0] == short[0]
