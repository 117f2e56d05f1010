"""Use in a database: slices of time, each with what was used in it and when it was used last."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, ulp
from typing import Final

from headgate.store.drivers.base import Transaction
from headgate.store.windows import Charge, Used

__all__ = ["PURGED_AT_ONCE", "charge", "keys_to_purge", "purge", "used"]

PURGED_AT_ONCE: Final = 500
"""For how many keys use is thrown away in one transaction."""

_HELD: Final = "FROM headgate.uses WHERE key = :key AND slice >= :oldest AND slice <= :newest AND latest > :since"
_SUM: Final = f"SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) {_HELD}"
_EACH: Final = f"SELECT amount, latest {_HELD} ORDER BY slice"
_ADD: Final = """INSERT INTO headgate.uses (key, slice, amount, latest, seconds)
    VALUES (:key, :slice, :amount, :latest, :seconds)
    ON CONFLICT (key, slice) DO UPDATE SET amount = uses.amount + excluded.amount, seconds = excluded.seconds,
    latest = CASE WHEN excluded.latest > uses.latest THEN excluded.latest ELSE uses.latest END"""
_FORGET: Final = "DELETE FROM headgate.uses WHERE key = :key AND slice < :oldest"

# Kept for one window longer than it counts, for a clock that steps back.
_PAST: Final = "latest <= :before - 2 * seconds"
_PAST_KEYS: Final = f"SELECT DISTINCT key FROM headgate.uses WHERE {_PAST} ORDER BY key LIMIT {PURGED_AT_ONCE}"  # noqa: S608
_FORGET_PAST: Final = f"DELETE FROM headgate.uses WHERE key = :key AND {_PAST}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Window:
    """One window at one time. Use that lies ahead by a whole window is not of it: a clock was wrong then."""

    charge: Charge
    now: float

    def slice(self, time: float) -> int:
        return floor(time / self.charge.slice_seconds)

    @property
    def place(self) -> dict[str, object]:
        since = self.now - self.charge.seconds
        newest = self.slice(self.now + self.charge.seconds)
        return {"key": self.charge.key, "oldest": self.slice(since), "newest": newest, "since": since}

    def seconds_until_left(self, latest: float) -> float:
        """In how many seconds a use will no longer count, to the last digit of the clock."""
        seconds = self.charge.seconds
        after = latest + seconds - self.now
        while latest > self.now + after - seconds:
            after += ulp(self.now + after)
        return after


def charge(transaction: Transaction, charges: Sequence[Charge], now: float) -> list[Used]:
    """Count all of the charges, or none if there is no room for one."""
    for key in sorted({one.key for one in charges}):  # in one order, so that no two wait for each other
        transaction.lock(f"use {key}")
    found = used(transaction, charges, now)
    if any(one.retry_after is not None for one in found):
        return found
    for one in charges:
        _add(transaction, _Window(one, now))
    asked = _asked(charges)
    return [Used(one.key, one.amount + asked[one.key]) for one in found]


def _add(transaction: Transaction, window: _Window) -> None:
    one, now = window.charge, window.now
    place = window.slice(now)
    transaction.change(_ADD, key=one.key, slice=place, amount=one.amount, latest=now, seconds=one.seconds)
    transaction.change(_FORGET, key=one.key, oldest=window.slice(now - 2 * one.seconds))


def used(transaction: Transaction, charges: Sequence[Charge], now: float) -> list[Used]:
    """What the windows hold without the charges, and when there will be room for them."""
    asked = _asked(charges)
    return [_used(transaction, _Window(one, now), asked[one.key]) for one in charges]


def _asked(charges: Sequence[Charge]) -> Counter[str]:
    asked: Counter[str] = Counter()
    for one in charges:
        asked[one.key] += one.amount
    return asked


def _used(transaction: Transaction, window: _Window, asked: int) -> Used:
    key, limit = window.charge.key, window.charge.limit
    held: int = transaction.rows(_SUM, **window.place)[0][0]
    if limit is None or held + asked <= limit:
        return Used(key, held)
    if asked > limit:
        return Used(key, held, inf)
    rows = transaction.rows(_EACH, **window.place)
    held = sum(amount for amount, _ in rows)
    return Used(key, held, _seconds_until_room(window, rows, held + asked - limit))


def _seconds_until_room(window: _Window, rows: Sequence[tuple[int, float]], excess: int) -> float | None:
    """When so much will have left; None if so much has left while we were looking."""
    after = None
    for amount, latest in rows:
        if excess <= 0:
            break
        excess -= amount
        after = window.seconds_until_left(latest)
    return after


def keys_to_purge(transaction: Transaction, before: float) -> list[str]:
    """Some of the keys that have use which no window holds any more."""
    return [key for (key,) in transaction.rows(_PAST_KEYS, before=before)]


def purge(transaction: Transaction, keys: Sequence[str], before: float) -> None:
    """Throw away what no window of these keys holds any more."""
    for key in sorted(keys):
        transaction.lock(f"use {key}")
        transaction.change(_FORGET_PAST, key=key, before=before)
