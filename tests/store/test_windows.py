"""Counted use: exact at the edge of a window, all of it or none, and never more than any window may hold."""

import asyncio
import itertools
from collections.abc import Sequence
from math import inf, nextafter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.store.interface import StoreError
from headgate.store.sql import SqlStore
from headgate.store.windows import SLICES, Charge, Used

pytestmark = pytest.mark.anyio

NOW = 1_700_000_000.0
_keys = (f"window {number}" for number in itertools.count())


async def one(store: SqlStore, now: float, amount: int = 1, limit: int | None = 3, seconds: float = 60) -> Used:
    (used,) = await store.charge([Charge("k", seconds, amount, limit)], now)
    return used


async def held(store: SqlStore, now: float, key: str = "k", seconds: float = 60) -> int:
    (used,) = await store.used([Charge(key, seconds, 0)], now)
    return used.amount


async def test_use_is_counted_up_to_the_limit(store: SqlStore) -> None:
    assert [await one(store, NOW + second) for second in (0, 1, 2)] == [Used("k", 1), Used("k", 2), Used("k", 3)]
    assert await one(store, NOW + 3) == Used("k", 3, 57.0)
    assert await held(store, NOW + 3) == 3


async def test_a_use_leaves_its_window_on_time(store: SqlStore) -> None:
    await one(store, NOW, 3)
    before = nextafter(NOW + 60, 0)
    assert await held(store, before) == 3
    assert (await one(store, before)).retry_after == NOW + 60 - before
    assert await held(store, NOW + 60) == 0
    assert await one(store, NOW + 60) == Used("k", 1)


async def test_without_a_limit_everything_fits(store: SqlStore) -> None:
    assert await one(store, NOW, 10**15, None) == Used("k", 10**15)
    assert await one(store, NOW, 10**15, None) == Used("k", 2 * 10**15)


@pytest.mark.parametrize("limit", [0, 2])
async def test_what_exceeds_the_limit_by_itself_never_fits(store: SqlStore, limit: int) -> None:
    assert await one(store, NOW, 3, limit) == Used("k", 0, inf)
    assert await held(store, NOW) == 0


async def test_a_charge_of_nothing_always_fits_within_the_limit(store: SqlStore) -> None:
    assert await one(store, NOW, 0, 0) == Used("k", 0)
    await one(store, NOW, 3)
    assert await one(store, NOW, 0, 3) == Used("k", 3)
    assert await one(store, NOW + 1, 0, 2) == Used("k", 3, 59.0)


async def test_all_charges_are_counted_or_none(store: SqlStore) -> None:
    small, large = Charge("small", 60, 1, 1), Charge("large", 3600, 5, 100)
    assert await store.charge([large, small], NOW) == [Used("large", 5), Used("small", 1)]
    assert await store.charge([large, small], NOW + 20) == [Used("large", 5), Used("small", 1, 40.0)]
    assert await held(store, NOW + 20, "large", 3600) == 5
    assert await store.charge([large], NOW + 20) == [Used("large", 10)]


async def test_two_charges_of_one_window_are_counted_together(store: SqlStore) -> None:
    charges = [Charge("k", 60, 2, 5), Charge("k", 60, 3, 5)]
    assert await store.used(charges, NOW) == [Used("k", 0), Used("k", 0)]
    assert await store.charge(charges, NOW) == [Used("k", 5), Used("k", 5)]
    assert await store.charge(charges, NOW + 10) == [Used("k", 5, 50.0), Used("k", 5, 50.0)]
    assert await store.charge([Charge("j", 60, 2, 4), Charge("j", 60, 3, 9)], NOW) == [Used("j", 0, inf), Used("j", 0)]


async def test_looking_counts_nothing(store: SqlStore) -> None:
    await one(store, NOW, 2)
    windows = [Charge("k", 60, 1, 3), Charge("k2", 60, 9, 3), Charge("k3", 60, 0)]
    expected = [Used("k", 2), Used("k2", 0, inf), Used("k3", 0)]
    assert [await store.used(windows, NOW), await store.used(windows, NOW)] == [expected, expected]


async def test_no_charge_at_all_is_fine(store: SqlStore) -> None:
    assert await store.charge([], NOW) == []
    assert await store.used([], NOW) == []


async def test_the_wait_is_for_as_much_as_is_needed(store: SqlStore) -> None:
    for second, amount in ((0, 1), (10, 4), (20, 2)):
        await one(store, NOW + second, amount, 7)
    waits = [(await store.used([Charge("k", 60, amount, 7)], NOW + 30))[0].retry_after for amount in range(8)]
    assert waits == [None, 30.0, 40.0, 40.0, 40.0, 40.0, 50.0, 50.0]


async def test_uses_within_one_slice_leave_with_the_latest(store: SqlStore) -> None:
    """So that no true window ever holds more than the limit."""
    start = NOW - NOW % 1
    await one(store, start, seconds=SLICES)
    await one(store, start + 0.5, seconds=SLICES)
    assert await held(store, start + SLICES, seconds=SLICES) == 2
    assert await held(store, start + 0.5 + SLICES, seconds=SLICES) == 0


async def test_a_clock_that_steps_back_loses_nothing(store: SqlStore) -> None:
    await one(store, NOW)
    await one(store, NOW - 5)
    assert await held(store, NOW - 10) == 2
    assert await one(store, NOW - 10, 2) == Used("k", 2, 65.0)
    assert await one(store, NOW + 70) == Used("k", 1)
    assert await held(store, NOW + 54) == 3


async def test_a_clock_that_was_years_ahead_locks_nobody_out(store: SqlStore) -> None:
    await one(store, NOW + 1e9, 3)
    assert await one(store, NOW) == Used("k", 1)


async def test_many_at_once_get_no_more_than_the_limit(store: SqlStore) -> None:
    done = await asyncio.gather(*(one(store, NOW + number / 100, 2, 11) for number in range(20)))
    assert sum(used.retry_after is None for used in done) == 5
    assert await held(store, NOW + 1) == 10


async def test_old_use_is_thrown_away(store: SqlStore) -> None:
    count = "SELECT count(*) FROM headgate.uses"
    for hour in range(10):
        await store.charge([Charge("k", 60, 1), Charge("gone", 60, 1)][: 2 if hour == 0 else 1], NOW + hour * 3600)
    assert await store._read(count) == [(2,)]
    await store.purge(NOW + 119)
    assert await store._read(count) == [(2,)]
    await store.purge(NOW + 120)
    assert await store._read(count) == [(1,)]
    assert await held(store, NOW + 9 * 3600) == 1


async def test_use_of_many_keys_is_thrown_away(store: SqlStore) -> None:
    await store.charge([Charge(f"k{number}", 1, 1) for number in range(1100)], NOW)
    await store.purge(NOW + 2)
    assert await store._read("SELECT count(*) FROM headgate.uses") == [(0,)]


@pytest.mark.parametrize("key", ["", "'", "%s :key", "\U0001f600", "k" * 2_000])
async def test_every_text_names_a_window(store: SqlStore, key: str) -> None:
    assert await store.charge([Charge(key, 60, 1, 1)], NOW) == [Used(key, 1)]
    assert await store.charge([Charge(key, 60, 1, 1)], NOW) == [Used(key, 1, 60.0)]


@pytest.mark.parametrize("key", ["\0", "\ud800"])
async def test_a_key_that_no_database_holds_is_refused(store: SqlStore, key: str) -> None:
    with pytest.raises(StoreError, match="NUL or a lone surrogate"):
        await store.charge([Charge(key, 60, 1)], NOW)


async def test_an_amount_that_no_database_holds_is_refused(store: SqlStore) -> None:
    with pytest.raises(StoreError, match="cannot be kept"):
        await one(store, NOW, 2**63, None)
    assert await held(store, NOW) == 0


Arrivals = list[tuple[float, int]]
SECONDS = 10.0
LIMIT = 5

# Most gaps are small against the window, and some are exactly of its length or of a slice's.
_gaps = st.one_of(
    st.floats(0, 3),
    st.floats(0, 0.01),
    st.sampled_from([0.0, SECONDS, SECONDS / SLICES, SECONDS / 2]),
    st.floats(0, 30),
)
_arrivals = st.lists(st.tuples(_gaps, st.integers(0, LIMIT + 1)), min_size=1, max_size=25)
_start = st.floats(0, 2e9)
_lenient = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


async def admitted(store: SqlStore, key: str, start: float, arrivals: Arrivals) -> Sequence[tuple[float, int, Used]]:
    """What came, and what was said to it."""
    said, now = [], start
    for gap, amount in arrivals:
        now += gap
        (used,) = await store.charge([Charge(key, SECONDS, amount, LIMIT)], now)
        said.append((now, amount, used))
    return said


def within(said: Sequence[tuple[float, int, Used]], since: float, until: float) -> int:
    """How much was admitted after one time up to another."""
    return sum(amount for time, amount, used in said if used.retry_after is None and since < time <= until)


@_lenient
@given(start=_start, arrivals=_arrivals)
async def test_no_window_ever_holds_more_than_the_limit(store: SqlStore, start: float, arrivals: Arrivals) -> None:
    said = await admitted(store, next(_keys), start, arrivals)
    for now, _, _ in said:
        assert within(said, now - SECONDS, now) <= LIMIT


@_lenient
@given(start=_start, arrivals=_arrivals)
async def test_every_refusal_is_justified(store: SqlStore, start: float, arrivals: Arrivals) -> None:
    """By what lies in the window, which may be longer by one slice."""
    said = await admitted(store, next(_keys), start, arrivals)
    slack = SECONDS / SLICES * 1.01
    for place, (now, amount, used) in enumerate(said):
        if used.retry_after is not None:
            assert within(said[:place], now - SECONDS - slack, now) + amount > LIMIT


@_lenient
@given(start=_start, arrivals=_arrivals, amount=st.integers(0, LIMIT + 1))
async def test_who_waits_as_told_is_admitted_and_not_before(
    store: SqlStore, start: float, arrivals: Arrivals, amount: int
) -> None:
    key = next(_keys)
    now = (await admitted(store, key, start, arrivals))[-1][0]
    charge = Charge(key, SECONDS, amount, LIMIT)
    (used,) = await store.used([charge], now)
    if used.retry_after is None or used.retry_after == inf:
        assert (used.retry_after == inf) == (amount > LIMIT)
        return
    then = now + used.retry_after
    assert (await store.charge([charge], nextafter(then, 0)))[0].retry_after is not None
    assert (await store.charge([charge], then))[0].retry_after is None


@_lenient
@given(start=st.floats(1e6, 2e9), times=st.lists(st.tuples(st.floats(-SECONDS / 2, SECONDS / 2), st.integers(0, 3))))
async def test_a_clock_that_steps_about_never_lets_more_in(store: SqlStore, start: float, times: Arrivals) -> None:
    key = next(_keys)
    said: list[tuple[float, int, Used]] = []
    for offset, amount in times:
        now = start + offset
        (used,) = await store.charge([Charge(key, SECONDS, amount, LIMIT)], now)
        if used.retry_after is None:
            assert within(said, now - SECONDS, inf) + amount <= LIMIT
        said.append((now, amount, used))
