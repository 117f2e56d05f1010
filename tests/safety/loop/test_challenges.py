"""Challenges as values: when they are open, which codes meet them, and what is kept of a code."""

import json
import re
import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.loop.challenges import Challenge, new_challenge
from headgate.store.records import Record

ABOUT: dict[str, Any] = {
    "agent": "bot",
    "name": "Bot",
    "execution": "e",
    "hint": "sell the house",
    "digest": "d",
    "tier": "verify",
    "reason": "r",
    "factors": ("f",),
    "blocks": False,
    "made_at": 100.0,
    "expires_at": 400.0,
}


def challenge(**more: Any) -> Challenge:
    return new_challenge(**{**ABOUT, **more})


@pytest.mark.parametrize(
    ("more", "now", "expected"),
    [
        ({}, 100.0, True),
        ({}, 399.999, True),
        ({}, 400.0, False),
        ({}, 1e9, False),
        ({"verified_at": 200.0}, 250.0, False),
        ({"closed_at": 200.0}, 250.0, False),
        ({"verified_at": 0.0}, 250.0, False),
        ({"failures": 50}, 250.0, True),
    ],
    ids=["at once", "just in time", "just late", "late", "verified", "closed", "verified long ago", "often failed"],
)
def test_a_challenge_is_open_until_it_is_met_given_up_or_late(more: dict[str, Any], now: float, expected: bool) -> None:
    assert challenge(**more).is_open(now) is expected


def test_each_has_an_id_that_nobody_can_guess() -> None:
    ids = {challenge().id for _ in range(200)}
    assert len(ids) == 200
    assert {uuid.UUID(one).version for one in ids} == {4}


def test_a_code_opens_the_challenge_that_it_was_shown_for() -> None:
    first, code = challenge().with_code("console", 110.0)
    other, _ = challenge().with_code("console", 110.0)
    assert first.opens(code)
    assert not other.opens(code)
    assert not challenge().opens(code)


def test_what_is_kept_of_a_code_is_a_hash_under_a_salt_of_its_own() -> None:
    shown = challenge()
    codes = []
    for _ in range(5):
        shown, code = shown.with_code("console", 110.0)
        codes.append(code)
    kept = json.dumps(shown.record().value)
    for code in codes:
        for form in (code, code.replace("-", ""), code.lower(), *code.split("-")):
            assert form not in kept
    assert len({one.salt for one in shown.codes}) == 5
    assert all(
        re.fullmatch(r"[0-9a-f]{64}", one.hash) and re.fullmatch(r"[0-9a-f]{32}", one.salt) for one in shown.codes
    )
    assert {(one.channel, one.at) for one in shown.codes} == {("console", 110.0)}


TYPED = {
    "as shown": lambda code: code,
    "small letters": str.lower,
    "no signs between": lambda code: code.replace("-", ""),
    "spaces between": lambda code: code.replace("-", " "),
    "spaces around": lambda code: f" \t{code}\n",
    "in two lines": lambda code: code[:14] + "\n" + code[14:],
}
MISTYPED = {
    "nothing": lambda _code: "",
    "one letter less": lambda code: code[:-1],
    "one letter more": lambda code: code + "2",
    "the wrong way round": lambda code: code[::-1],
    "one letter changed": lambda code: ("2" if code[0] != "2" else "3") + code[1:],
    "one group alone": lambda code: code[:4],
    "twice": lambda code: code + code,
    "an underscore": lambda code: code.replace("-", "_"),
    "half of a character": lambda code: code + "\udc80",
    "wide letters": lambda code: code.translate({one: one + 0xFEE0 for one in range(0x30, 0x5B)}),
}


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
def test_a_code_counts_in_every_form_that_a_person_types(typed: Any) -> None:
    shown, code = challenge().with_code("console", 110.0)
    assert shown.opens(typed(code))


@pytest.mark.parametrize("typed", MISTYPED.values(), ids=MISTYPED)
def test_what_is_not_the_code_does_not_count(typed: Any) -> None:
    shown, code = challenge().with_code("console", 110.0)
    assert not shown.opens(typed(code))


@given(st.text(max_size=40))
def test_no_text_opens_a_challenge_that_has_shown_no_code_or_another(text: str) -> None:
    assert not challenge().opens(text)
    assert not challenge().with_code("console", 110.0)[0].opens(text)


def test_a_failure_makes_all_codes_void_and_is_counted() -> None:
    shown, first = challenge().with_code("console", 110.0)
    shown, second = shown.with_code("mail", 111.0)
    assert shown.opens(first)
    assert shown.opens(second)
    failed = shown.failed()
    assert (failed.codes, failed.failures, failed.is_open(120.0)) == ((), 1, True)
    assert not failed.opens(first)
    assert not failed.opens(second)
    again, third = failed.with_code("console", 130.0)
    assert again.opens(third)


def test_of_very_many_codes_the_last_twenty_count() -> None:
    shown, codes = challenge(), []
    for _ in range(25):
        shown, code = shown.with_code("console", 110.0)
        codes.append(code)
    assert [shown.opens(code) for code in codes] == [False] * 5 + [True] * 20


def test_a_challenge_is_read_as_it_was_kept_and_kept_for_a_day_beyond_its_end() -> None:
    shown, _ = challenge(failures=2, verified_by="ana", verified_at=3.5).with_code("console", 110.0)
    record = replace(shown, version=7).record()
    assert (record.kind, record.key, record.owner, record.expires_at, record.version) == (
        "challenge",
        shown.id,
        "bot",
        400.0 + 86400,
        7,
    )
    stored = Record(record.kind, record.key, json.loads(json.dumps(record.value)), version=7)
    assert Challenge.read(stored) == replace(shown, version=7)
