"""What a client shows of a request never has a secret in it."""

import logging
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest

from headgate import AqlFailure, connect
from headgate.client.requests import Request
from tests.client.shops import shop

PIN = "hunter2-is-my-pin"


def test_sensitive_values_and_tokens_are_stars() -> None:
    request = Request("create_note", {"text": "hi", "pin": PIN, "confirmation_token": "conf_1"}, frozenset({"pin"}))
    assert repr(request) == "Request('create_note', {'text': 'hi', 'pin': '***', 'confirmation_token': '***'})"


def test_where_nothing_is_known_of_the_parameters_all_are_stars() -> None:
    assert Request("create_note", {"text": "hi"}).shown == {"text": "***"}


class Colour(Enum):
    RED = "red"


PLAIN = {
    "a date": (date(2026, 11, 18), "2026-11-18"),
    "a moment": (datetime(2026, 11, 18, 12, tzinfo=UTC), "2026-11-18T12:00:00+00:00"),
    "an exact number": (Decimal("1.10"), "1.10"),
    "an id": (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    "bytes": (b"hi", "aGk="),
    "a word of several": (Colour.RED, "red"),
    "a row": ((1, {2}), [1, [2]]),
    "an object": ({"when": date(2026, 1, 1), 1: None}, {"when": "2026-01-01", "1": None}),
    "a text": ("x", "x"),
    "nothing": (None, None),
}


@pytest.mark.parametrize(("value", "sent"), PLAIN.values(), ids=PLAIN)
def test_values_of_python_are_sent_as_the_conventions_want_them(value: object, sent: object) -> None:
    assert Request("get_x", {"value": value}).wire == {"operation": "get_x", "params": {"value": sent}}


@pytest.mark.anyio
@pytest.mark.proves("intro-3.4.1-clients-mask-sensitive-input")
async def test_a_secret_is_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    with caplog.at_level(logging.DEBUG, logger="headgate.client"):
        async with connect(shop(done)) as aql:
            result = await aql.result("create_note", {"text": "hi", "pin": PIN})
            with pytest.raises(AqlFailure) as failed:
                await aql.call("create_note", {"text": 7, "pin": PIN})
            info = await aql.operation("create_note")
    assert done == ["note hi"]
    assert info is not None
    assert info.sensitive == frozenset({"pin"})
    shown = (repr(result), repr(failed.value), repr(failed.value.request), str(failed.value), caplog.text)
    assert "create_note" in caplog.text
    assert [text for text in shown if PIN in text] == []
