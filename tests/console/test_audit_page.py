"""The audit in the console: its rows, a search among them, and whether the chain is whole, whatever was done to it."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from headgate import Caller
from headgate.store.drivers.base import Transaction
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.console.desks import Browser, Desk, desk, text_of

pytestmark = pytest.mark.anyio

ROW = re.compile(r"<tr>\s*<td[^>]*>(\d+)</td>")


async def rows(browser: Browser, **wanted: str) -> list[int]:
    """The numbers of the rows that a search shows."""
    page = await browser.get(str(httpx2.URL("/audit", params=wanted)))
    assert page.status_code == 200, text_of(page)
    return [int(number) for number in ROW.findall(page.text)]


async def busy(at: Desk) -> Browser:
    """A desk with an audit: rows 1 to 7."""
    browser = await at.operator()  # 1: signed in
    caller = Caller(subject="bo", client_id="assistant")
    approval = await at.asked("delete_label", {"number": 1}, caller=caller)  # 2: proposed
    at.clock.move(3600)
    await at.start("bot")  # 3: agent started
    await at.step("read the archive")  # 4: agent step
    await browser.post(f"/approvals/{approval}/approve")  # too late
    await at.asked("delete_old", {"before": "2020"})
    return browser


async def events(at: Desk) -> dict[int, str]:
    return {number: entry.event for number, entry in enumerate(await at.audit(), 1)}


async def test_the_latest_rows_come_first() -> None:
    async with desk() as at:
        browser = await busy(at)
        known = await events(at)
        assert await rows(browser) == sorted(known, reverse=True)
        assert (await at.store.head()).number == len(known)


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"event": "signed in"}, lambda one: one.event == "signed in"),
        ({"event": "signed in, agent step"}, lambda one: one.event in ("signed in", "agent step")),
        ({"operation": "delete_label"}, lambda one: one.operation == "delete_label"),
        ({"operation": "delete_*"}, lambda one: one.operation.startswith("delete_")),
        ({"caller": "bo"}, lambda one: "bo" in one.caller),
        ({"caller": "ana"}, lambda one: one.caller == "ana"),
        ({"agent": "bot"}, lambda one: one.details.get("agent") == "bot"),
        ({"decision": "confirm"}, lambda one: one.decision == "confirm"),
        ({"code": "CONFIRMATION_*"}, lambda one: one.code.startswith("CONFIRMATION_")),
        ({"since": "30m"}, lambda one: one.at >= 1_770_203_600 - 1800),
        ({"until": "30m"}, lambda one: one.at < 1_770_203_600 - 1800),
        ({"operation": "delete_*", "since": "30m"}, lambda one: one.operation == "delete_old"),
        ({"event": " signed in "}, lambda one: one.event == "signed in"),
        ({"operation": "nothing_like_it"}, lambda _one: False),
        ({"event": "", "operation": "", "since": ""}, lambda _one: True),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
async def test_each_filter_finds_what_it_says(wanted: dict[str, str], fits: Callable[[Any], bool]) -> None:
    async with desk() as at:
        browser = await busy(at)
        expected = [number for number, entry in enumerate(await at.audit(), 1) if fits(entry)]
        assert await rows(browser, **wanted) == expected[::-1]
        page = await browser.get(str(httpx2.URL("/audit", params=wanted)))
        for value in filter(None, map(str.strip, wanted.values())):
            assert f'value="{value}"' in page.text, "what was asked stays in the form"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"event": "sined in"}, "event: there is no event 'sined in'"),
        ({"event": "signed in,"}, "event: there is no event ''"),
        ({"decision": "maybe"}, "decision: there is no decision 'maybe'; known are allow, confirm, deny"),
        ({"since": "yesterday"}, "since: 'yesterday' is no time"),
        ({"until": "9999-99-99"}, "until: '9999-99-99' is no time"),
        ({"since": "0001-01-01T00:00:00+23:59"}, ""),
        ({"event": "<script>alert(1)</script>"}, "there is no event '<script>alert(1)</script>'"),
        ({"since": "\u202e7d"}, "is no time"),
    ],
    ids=str,
)
async def test_a_search_that_means_nothing_is_told_so_and_shows_what_there_is(
    wanted: dict[str, str], words: str
) -> None:
    async with desk() as at:
        browser = await busy(at)
        page = await browser.get(str(httpx2.URL("/audit", params=wanted)))
        assert page.status_code == (422 if words else 200)
        assert words in text_of(page)
        assert len(ROW.findall(page.text)) == (await at.store.head()).number
        assert "<script>alert" not in page.text


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("3", 3),
        ("0", 1),
        ("-1", 100),
        ("", 100),
        ("many", 100),
        ("1001", 1000),
        ("9" * 5000, 1000),
        ("٣", 3),
        ("²", 100),
    ],
)
async def test_so_many_rows_are_shown_as_were_asked_for_within_reason(asked: str, expected: int) -> None:
    async with desk() as at:
        browser = await busy(at)
        page = await browser.get(str(httpx2.URL("/audit", params={"rows": asked})))
        assert f'value="{expected}"' in page.text
        assert len(ROW.findall(page.text)) == min(expected, (await at.store.head()).number)


async def test_a_thousand_rows_at_most_are_shown() -> None:
    async with desk() as at:
        browser = await at.operator()
        [entry] = await at.audit()
        await at.store.append([entry] * 1100)
        assert len(await rows(browser, rows="5000")) == 1000


# the chain


async def chain_of(browser: Browser) -> str:
    page = await browser.post("/audit")
    assert page.status_code == 200
    found = re.search(r'role="alert">(.*?)</p>', page.text)
    assert found
    return httpx2.Response(200, text=found[1]).text


async def test_a_chain_that_is_whole_is_told_so() -> None:
    async with desk() as at:
        browser = await busy(at)
        number = (await at.store.head()).number
        assert await chain_of(browser) == f"The chain is whole, up to row {number}."
        assert (await at.store.head()).number == number, "looking is nothing to be written down"


async def test_the_key_of_the_audit_is_used() -> None:
    store = open_store("memory:", audit_key=b"a key of the operator's own")
    try:
        at = Desk(store)
        browser = await at.operator()
        assert "Row 1 is wrong" in await chain_of(browser)
        object.__setattr__(at.console, "audit_key", b"a key of the operator's own")
        assert await chain_of(browser) == "The chain is whole, up to row 1."
        assert "key of the" not in repr(at.console)
    finally:
        await store.close()


async def tamper(store: SqlStore, sql: str, **values: object) -> None:
    def change(transaction: Transaction) -> None:
        assert transaction.change(sql, **values) == 1

    await store._run(change)


ENTRY = "UPDATE headgate.audit_rows SET entry = :entry WHERE number = 1"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM headgate.audit_rows WHERE number = 2", "Row 2 is wrong"),
        ("UPDATE headgate.audit_rows SET digest = 'x' WHERE number = 1", "Row 1 is wrong"),
        ("UPDATE headgate.audit_rows SET previous = 'x' WHERE number = 2", "Row 2 is wrong"),
        ("UPDATE headgate.audit_ends SET number = 100 WHERE name = 'head'", "is wrong"),
        ("UPDATE headgate.audit_ends SET number = 'many' WHERE name = 'head'", "is wrong"),
        ("UPDATE headgate.audit_ends SET digest = x'00ff' WHERE name = 'head'", "is wrong"),
    ],
)
async def test_a_chain_that_was_tampered_with_is_told_and_every_page_still_shows(sql: str, words: str) -> None:
    async with desk() as at:
        browser = await busy(at)
        await tamper(at.store, sql)
        for path in ("/", "/audit"):
            assert (await browser.get(path)).status_code == 200
        assert words in await chain_of(browser)


async def test_without_its_end_the_audit_cannot_be_shown_and_the_operator_learns_why() -> None:
    async with desk() as at:
        browser = await busy(at)
        await tamper(at.store, "DELETE FROM headgate.audit_ends WHERE name = 'head'")
        for answer in (await browser.get("/audit"), await browser.post("/audit"), await browser.get("/")):
            assert answer.status_code == 503
            assert "somebody has tampered with the audit" in answer.text


def _odd(**changed: object) -> str:
    entry: dict[str, object] = {
        "adapter": "",
        "at": 0,
        "caller": "",
        "code": "",
        "danger": "",
        "decision": "",
        "details": {},
        "duration_ms": None,
        "event": "odd",
        "operation": "",
        "params": None,
        "params_digest": "",
        "request_id": "",
        "rule": "",
        "session": "",
    }
    return json.dumps({**entry, **changed}, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "{}",
        "[]",
        "<script>alert(1)</script>",
        _odd(at="yesterday"),
        _odd(at=10**400),
        _odd(at=-1e300),
        _odd(at=1e300),
        _odd(at=None),
        _odd(at=[]),
        _odd(event=7),
        _odd(event=None),
        _odd(event={"a": "<b>"}),
        _odd(operation=["x"]),
        _odd(operation=None),
        _odd(details=[]),
        _odd(details="text"),
        _odd(details=None),
        _odd(details={"agent": 7}),
        _odd(details={"agent": {"a": 1}}),
        _odd(params=7),
        _odd(caller=7),
        _odd(caller="[1,2]"),
        _odd(caller="[" * 1000),
        _odd(decision=[]),
        _odd(code={}),
        _odd(event="<script>alert(1)</script>", operation="\u202e\x00", caller="<img src=x>", code="</td>"),
    ],
    ids=lambda text: text[:60],
)
async def test_a_row_that_holds_anything_at_all_is_shown(entry: str) -> None:
    async with desk() as at:
        browser = await busy(at)
        await tamper(at.store, ENTRY, entry=entry)
        for path in ("/", "/audit", "/audit?event=signed+in&agent=bot&since=2h&operation=*&caller=bo&code=*"):
            page = await browser.get(path)
            assert page.status_code == 200, path
            assert "<script>alert" not in page.text
            assert "<img src=x" not in page.text
            assert "\u202e" not in page.text
        assert "Row 1 is wrong" in await chain_of(browser)
