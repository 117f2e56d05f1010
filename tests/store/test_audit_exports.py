"""The audit is verified and moved while others write to it; and texts in exports show what they hold."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from headgate.protocol.visible import json_line, visible
from headgate.store.audit import Head, Row
from headgate.store.opening import open_store
from headgate.store.rotating import rotate
from headgate.store.sql import SqlStore
from headgate.store.verifying import verify
from tests.store.entries import entry, rows

pytestmark = pytest.mark.anyio


class Busy(SqlStore):
    """A store in which others do something once some rows have been read, or before rows are taken out."""

    after_rows = 2

    def __init__(self, url: str, others: Callable[[SqlStore], Awaitable[object]]) -> None:
        self._ours = open_store(url)
        self._others = others
        self._done = False
        super().__init__(self._ours._driver, url)

    async def _disturb(self) -> None:
        if not self._done:
            self._done = True
            await self._others(self._ours)

    async def rows(self, *, after: int = 0) -> AsyncIterator[Row]:
        # As small as batches can be, so that whatever others do lies between two of them.
        while True:
            row = await anext(super().rows(after=after), None)
            if row is None:
                return
            yield row
            after = row.number
            if after >= self.after_rows:
                await self._disturb()

    async def prune(self, through: int, entry_: object) -> int:
        await self._disturb()
        return await super().prune(through, entry_)  # type: ignore[arg-type]


async def filled(url: str, count: int) -> None:
    store = open_store(url)
    await store.append([entry(f"event {number}") for number in range(1, count + 1)])
    await store.close()


async def test_rows_that_are_added_meanwhile_are_verified_too(shared_url: str) -> None:
    await filled(shared_url, 4)
    store = Busy(shared_url, lambda other: other.append([entry("late")] * 3))
    result = await verify(store)
    assert (result.broken, result.start.number, result.head.number) == (None, 0, 7)
    await store.close()


async def test_rows_that_are_added_after_the_last_was_read_are_no_break(shared_url: str) -> None:
    await filled(shared_url, 4)

    class Late(Busy):
        after_rows = 4

        async def head(self) -> Head:
            if not self._done and (await super().head()).number == 4 and self.seen:
                await self._disturb()
            return await super().head()

        seen = False

        async def rows(self, *, after: int = 0) -> AsyncIterator[Row]:
            async for row in SqlStore.rows(self, after=after):
                yield row
            self.seen = True

    store = Late(shared_url, lambda other: other.append([entry("late")] * 2))
    result = await verify(store)
    assert (result.broken, result.head.number) == (None, 6)
    await store.close()


@pytest.mark.parametrize("through", [1, 3])
async def test_rows_that_are_taken_out_meanwhile_are_no_gap(shared_url: str, through: int) -> None:
    await filled(shared_url, 5)
    store = Busy(shared_url, lambda other: other.prune(through, entry("pruned", through=through)))
    result = await verify(store)
    assert result.broken is None
    assert (result.start.number, result.head.number) == ((0, 6) if through == 1 else (3, 6))
    await store.close()


async def test_how_far_it_is_can_be_told(shared_url: str) -> None:
    await filled(shared_url, 1200)
    store = open_store(shared_url)
    told: list[tuple[int, int]] = []
    assert (await verify(store, notice=lambda *far: told.append(far))).broken is None
    assert told == [(500, 1200), (1000, 1200)]
    await store.close()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


class BusyAtTheEnd(Busy):
    """One in which others come when all rows have been read."""

    after_rows = 99


@pytest.mark.parametrize("kind", [Busy, BusyAtTheEnd])
async def test_a_rotation_that_comes_second_takes_nothing_out_twice(
    shared_url: str, tmp_path: Path, kind: type[Busy]
) -> None:
    await filled(shared_url, 5)
    store = kind(shared_url, lambda other: other.prune(4, entry("pruned", through=4)))
    rotated = await rotate(store, tmp_path / "old.jsonl", lambda row: row.number <= 3, key=b"", by="ann", now=0.0)
    seen = 2 if kind is Busy else 3
    assert (rotated.moved.head.number, rotated.taken) == (seen, 0)
    assert len((tmp_path / "old.jsonl").read_text().splitlines()) == seen
    assert [row.number for row in await rows(store)] == [5, 6]
    assert (await verify(store)).broken is None
    await store.close()


async def test_a_rotation_that_meets_another_begins_again(shared_url: str, tmp_path: Path) -> None:
    await filled(shared_url, 5)
    store = Busy(shared_url, lambda other: other.prune(4, entry("pruned", through=4)))
    rotated = await rotate(store, tmp_path / "old.jsonl", lambda row: True, key=b"", by="ann", now=0.0)
    assert (rotated.moved.broken, rotated.moved.start.number, rotated.moved.head.number) == (None, 4, 6)
    assert [row.number for row in await rows(store)] == [7]
    assert (await verify(store)).broken is None
    assert names_in(tmp_path) == ["old.jsonl"]
    await store.close()


async def test_a_file_name_that_is_no_text_can_be_told_of(shared_url: str, tmp_path: Path) -> None:
    await filled(shared_url, 2)
    store = open_store(shared_url)
    odd = tmp_path / b"old\xff.jsonl".decode(errors="surrogateescape")
    assert (await rotate(store, odd, lambda row: True, key=b"", by="ann", now=0.0)).taken == 2
    [told] = await rows(store)
    assert told.entry.details["file"] == "old\N{REPLACEMENT CHARACTER}.jsonl"
    await store.close()


TEXTS = {
    "plain": ("Übung 日本", "Übung 日本"),
    "escape": ("\x1b[31m", r"\u001b[31m"),
    "lines": ("a\nb\r\tc", r"a\nb\r\tc"),
    "delete": ("\x7f", r"\u007f"),
    "control": ("\x9b\x85", r"\u009b\u0085"),
    "direction": ("\u202eabc", r"\u202eabc"),
    "separators": ("\u2028\u00a0", r"\u2028\u00a0"),
    "beyond": ("\U000e0001", r"\udb40\udc01"),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_a_text_shows_what_it_holds(text: str, expected: str) -> None:
    assert visible(text) == expected
    line = json_line({text: [text, 10**40, 1.0, None]})
    assert line.isprintable()
    assert json.loads(line) == {text: [text, 10**40, 1.0, None]}
