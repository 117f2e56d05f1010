"""Rows of the audit that somebody wants to see: each filter, times as people write them, and the last rows that fit."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety import auditing, searching
from headgate.safety.loop import auditing as of_agents
from headgate.safety.searching import EVENTS, Search, SearchError, caller_parts, last_rows, moment, whole
from headgate.store.audit import PRUNED, Entry, Row
from headgate.store.sql import SqlStore

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC).timestamp()
ALICE = '["alice","claude"]'


def entry(**more: Any) -> Entry:
    return Entry(**{"at": NOW, "event": "executed", "adapter": "shop", **more})


ROWS = {
    "deleted": entry(
        operation="delete_order", code="", caller=ALICE, session="s1", request_id="r1", decision="confirm"
    ),
    "denied": entry(
        event="proposed", operation="create_order", code="PERMISSION_DENIED", caller="bob", decision="deny"
    ),
    "late": entry(event="refused", operation="delete_user", code="TOKEN_EXPIRED", adapter="bank", at=NOW - 3600),
    "step": entry(event="agent step", details={"agent": "Night Bot", "number": 1}, at=NOW - 60),
    "guess": entry(event="verification failed", code="TOKEN_INVALID", details={"agent": "night bot"}, session="s2"),
    "blocked": entry(event="agent blocked", details={"agent": "other"}, caller='["alice"]', at=NOW + 60),
}


def found(**wanted: str) -> set[str]:
    matches = Search(**wanted).matches(NOW)
    return {name for name, one in ROWS.items() if matches(one)}


FILTERS: list[tuple[dict[str, str], set[str]]] = [
    ({}, set(ROWS)),
    ({"operation": "delete_order"}, {"deleted"}),
    ({"operation": "delete_*"}, {"deleted", "late"}),
    ({"operation": "*_order"}, {"deleted", "denied"}),
    ({"operation": "delete_?rder"}, {"deleted"}),
    ({"operation": "DELETE_*"}, set()),
    ({"operation": ""}, {"step", "guess", "blocked"}),
    ({"code": "TOKEN_*"}, {"late", "guess"}),
    ({"code": "PERMISSION_DENIED"}, {"denied"}),
    ({"code": ""}, {"deleted", "step", "blocked"}),
    ({"adapter": "bank"}, {"late"}),
    ({"adapter": "ban*"}, set()),
    ({"session": "s1"}, {"deleted"}),
    ({"request": "r1"}, {"deleted"}),
    ({"request": "r"}, set()),
    ({"caller": "alice"}, {"deleted", "blocked"}),
    ({"caller": ALICE}, {"deleted"}),
    ({"caller": "claude"}, set()),
    ({"caller": "bob"}, {"denied"}),
    ({"agent": "Night Bot"}, {"step", "guess"}),
    ({"agent": "NIGHT  b\u043et"}, {"step", "guess"}),
    ({"agent": "bot"}, set()),
    ({"event": "executed"}, {"deleted"}),
    ({"event": "agent step, agent blocked"}, {"step", "blocked"}),
    ({"event": "refused,proposed"}, {"denied", "late"}),
    ({"decision": "deny"}, {"denied"}),
    ({"decision": "deny,confirm"}, {"deleted", "denied"}),
    ({"decision": "allow"}, set()),
    ({"since": "30m"}, set(ROWS) - {"late"}),
    ({"since": "0s"}, set(ROWS) - {"late", "step"}),
    ({"until": "0s"}, {"late", "step"}),
    ({"until": "30m"}, {"late"}),
    ({"since": "2h", "until": "1h"}, set()),
    ({"since": "2h", "until": "59m"}, {"late"}),
    ({"since": "2026-07-01T12:00:30Z"}, {"blocked"}),
    ({"since": "2026-07-01"}, set(ROWS)),
    ({"until": "2026-07-01"}, set()),
    ({"operation": "delete_*", "adapter": "shop", "caller": "alice"}, {"deleted"}),
    ({"operation": "delete_*", "adapter": "shop", "caller": "bob"}, set()),
]


@pytest.mark.parametrize(
    ("wanted", "expected"), FILTERS, ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value)
)
def test_rows_that_fit_all_that_is_said_are_found(wanted: dict[str, str], expected: set[str]) -> None:
    assert found(**wanted) == expected


MISTAKES: list[tuple[dict[str, str], str, str]] = [
    ({"event": "executd"}, "event", "there is no event 'executd'; known are "),
    ({"event": "executed,"}, "event", "there is no event ''; known are "),
    ({"event": ""}, "event", "there is no event ''"),
    ({"decision": "block"}, "decision", "there is no decision 'block'; known are "),
    ({"since": "yesterday"}, "since", "'yesterday' is no time; write how long ago, such as 30m, 2h or 7d, or 2026-"),
    ({"since": ""}, "since", "'' is no time"),
    ({"until": "5x"}, "until", "'5x' is no time"),
    ({"until": "-5m"}, "until", "'-5m' is no time"),
    ({"until": "2026-13-01"}, "until", "'2026-13-01' is no time"),
]


@pytest.mark.parametrize(("wanted", "about", "words"), MISTAKES, ids=str)
def test_what_means_nothing_is_named(wanted: dict[str, str], about: str, words: str) -> None:
    with pytest.raises(SearchError) as refused:
        Search(**wanted).matches(NOW)
    assert refused.value.about == about
    assert str(refused.value).startswith(words)


def test_a_misspelt_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(SearchError, match="Did you mean 'agent step'"):
        Search(event="agent steps").matches(NOW)


def test_every_event_that_a_row_may_have_can_be_searched_for() -> None:
    named = {getattr(module, name) for module in (auditing, of_agents) for name in module.__all__ if name.isupper()}
    assert named <= set(EVENTS)
    assert {PRUNED, "unreadable", "agent blocked", "self-approval refused", "block overridden"} <= set(EVENTS)
    assert len(set(EVENTS)) == len(EVENTS)
    for event in EVENTS:
        assert Search(event=event).matches(NOW)(entry(event=event))


# Rows that somebody has tampered with

STRANGE: dict[str, dict[str, Any]] = {
    "a number for a time": {"at": "noon"},
    "no details": {"details": None},
    "a list of details": {"details": ["agent"]},
    "a number for a name": {"details": {"agent": 5}},
    "a list for a caller": {"caller": ["alice"]},
    "a table for an event": {"event": {"x": 1}},
    "a number for a code": {"code": 7},
    "nothing for an operation": {"operation": None},
    "half of a list": {"caller": '["alice"'},
    "a list of numbers": {"caller": "[1,2]"},
    "an empty list": {"caller": "[]"},
}
SEARCHES = [
    Search(operation="delete_*"),
    Search(code="TOKEN_*"),
    Search(caller="alice"),
    Search(agent="bot"),
    Search(event="executed"),
    Search(since="1h", until="0s"),
]


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_a_row_with_anything_in_it_breaks_no_search(strange: dict[str, Any]) -> None:
    row = entry(**{"event": "proposed", "at": NOW + 1, **strange})
    assert [search.matches(NOW)(row) for search in SEARCHES] == [False] * len(SEARCHES)
    assert Search().matches(NOW)(row)


# Times


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("2h", 7200),
        ("1.5h", 5400),
        ("7d", 604_800),
        ("1w", 604_800),
        (" 2h ", 7200),
        ("0s", 0),
    ],
)
def test_how_long_ago_is_counted_from_now(text: str, seconds: float) -> None:
    assert moment("since", text, NOW) == NOW - seconds


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-07-01", datetime(2026, 7, 1, tzinfo=UTC)),
        ("2026-07-01T12:00:00", datetime(2026, 7, 1, 12, tzinfo=UTC)),
        ("2026-07-01T12:00:00Z", datetime(2026, 7, 1, 12, tzinfo=UTC)),
        ("2026-07-01T12:00:00+02:00", datetime(2026, 7, 1, 10, tzinfo=UTC)),
        ("2026-07-01 12:00", datetime(2026, 7, 1, 12, tzinfo=UTC)),
    ],
)
def test_a_time_without_a_zone_is_the_worlds(text: str, time: datetime) -> None:
    assert moment("since", text, NOW) == time.timestamp()


@given(st.text(max_size=20))
def test_any_text_is_a_time_or_a_mistake(text: str) -> None:
    with suppress(SearchError):
        assert isinstance(moment("since", text, NOW), float)


# Callers


@pytest.mark.parametrize(
    ("caller", "parts"),
    [
        ("bob", ["bob"]),
        (ALICE, ["alice", "claude"]),
        ('["alice"]', ["alice"]),
        ("[1]", ["[1]"]),
        ("[not json", ["[not json"]),
        ("", [""]),
        (5, ["5"]),
        (None, ["None"]),
    ],
    ids=str,
)
def test_a_caller_is_taken_apart_where_that_is_possible(caller: object, parts: list[str]) -> None:
    assert caller_parts(caller) == parts


@pytest.mark.parametrize(("number", "expected"), [(5, 5), (0, 0), ("5", 0), (None, 0), (2.5, 0)], ids=str)
def test_a_number_of_a_row_that_is_none_counts_as_the_first(number: object, expected: int) -> None:
    assert whole(number) == expected


# The last rows


async def filled(store: SqlStore, count: int) -> None:
    """Rows whose every tenth is a deletion."""
    entries = [entry(operation="delete_order" if number % 10 == 0 else "get_order") for number in range(1, count + 1)]
    for start in range(0, count, 500):
        await store.append(entries[start : start + 500])


def numbers(rows: list[Row]) -> list[int]:
    return [row.number for row in rows]


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 20 rows and then twice as many, so that few rows cross several."""
    monkeypatch.setattr(searching, "_WINDOW", 20)
    monkeypatch.setattr(searching, "_OFTEN", 10)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 15, 16])
async def test_the_last_rows_are_found_from_the_end_on(store: SqlStore, count: int) -> None:
    await filled(store, 155)
    deletions = [number for number in range(1, 156) if number % 10 == 0]
    result = await last_rows(store, Search(operation="delete_*").matches(NOW), count)
    assert numbers(result.rows) == (deletions[-count:] if count else [])
    assert result.seen == 155


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("size", [0, 1, 19, 20, 21, 60, 61, 140, 141])
async def test_all_rows_are_found_whatever_the_windows(store: SqlStore, size: int) -> None:
    await filled(store, size)
    result = await last_rows(store, Search().matches(NOW), 1000)
    assert numbers(result.rows) == list(range(1, size + 1))
    assert result.seen == size


@pytest.mark.usefixtures("small_windows")
async def test_rows_that_were_taken_out_are_not_looked_for(store: SqlStore) -> None:
    await filled(store, 100)
    await store.prune(90, entry(event=PRUNED))
    result = await last_rows(store, Search().matches(NOW), 1000)
    assert numbers(result.rows) == list(range(91, 102))
    assert result.seen == 101


@pytest.mark.usefixtures("small_windows")
async def test_no_more_is_read_than_it_takes(store: SqlStore) -> None:
    await filled(store, 200)
    looked: list[int] = []

    def all_of(row: Entry) -> bool:
        looked.append(1)
        return True

    await last_rows(store, all_of, 5)
    assert len(looked) == 20


@pytest.mark.usefixtures("small_windows")
async def test_rows_that_come_meanwhile_are_found_too(store: SqlStore) -> None:
    await filled(store, 50)
    head = store.head

    async def slow() -> Any:
        found = await head()
        await store.append([entry(operation="delete_order", code="NEW")])
        return found

    store.head = slow  # type: ignore[method-assign]
    result = await last_rows(store, Search(code="NEW").matches(NOW), 3)
    assert numbers(result.rows) == [51]
    assert result.seen == 51


@pytest.mark.usefixtures("small_windows")
async def test_whoever_waits_hears_how_far_it_is(store: SqlStore) -> None:
    await filled(store, 150)
    heard: list[tuple[int, int]] = []
    await last_rows(store, Search(code="NONE").matches(NOW), 1, lambda done, total: heard.append((done, total)))
    assert {total for _, total in heard} == {150}
    assert all(0 <= done <= 150 for done, _ in heard)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard), "it never goes back"
    assert heard[-1][0] == 150


async def test_windows_are_large_enough_for_a_page(store: SqlStore) -> None:
    await filled(store, 1100)
    result = await last_rows(store, Search(operation="delete_*").matches(NOW), 105)
    assert numbers(result.rows) == list(range(60, 1101, 10))
