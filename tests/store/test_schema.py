"""The way from one version of the tables to the next."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from headgate.store import schema
from headgate.store.drivers.base import Words
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from headgate.store.windows import Charge, Used
from tests.store.entries import broken, entry, rows

pytestmark = pytest.mark.anyio

VERSION = "SELECT value FROM headgate.meta WHERE name = 'schema_version'"
NOW = 1_000_000.0
KNOWN = len(schema.MIGRATIONS)
NEXT = KNOWN + 1


def second(words: Words) -> Iterable[str]:
    yield f"ALTER TABLE headgate.records ADD COLUMN note {words.text}"
    yield "UPDATE headgate.records SET note = 'migrated'"


def wrong(words: Words) -> Iterable[str]:
    yield f"ALTER TABLE headgate.records ADD COLUMN note {words.text}"
    yield "UPDATE headgate.nothing SET note = 1"


async def filled(url: str) -> None:
    """A store of the present version with something of everything in it."""
    store = open_store(url)
    await store.insert(Record("token", "k", {"a": 1}, "ann", 5.0), [entry("kept")])
    await store.charge([Charge("k", 60, 2)], NOW)
    await store.close()


def with_next(monkeypatch: pytest.MonkeyPatch, *more: Callable[[Words], Iterable[str]]) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, *more))


async def holds_everything(store: SqlStore) -> bool:
    return (
        await store.find("token", "k") == Record("token", "k", {"a": 1}, "ann", 5.0, 1)
        and await store.used([Charge("k", 60, 0)], NOW) == [Used("k", 2)]
        and [row.entry.event for row in await rows(store)] == ["kept"]
        and await broken(store) is None
    )


async def test_an_older_store_is_brought_up_to_date(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(shared_url)
    with_next(monkeypatch, second)
    for _ in range(2):
        store = open_store(shared_url)
        assert await holds_everything(store)
        assert await store._read("SELECT note FROM headgate.records") == [("migrated",)]
        assert await store._read(VERSION) == [(str(NEXT),)]
        await store.close()


@pytest.mark.parametrize("version", range(1, KNOWN))
async def test_a_store_of_each_earlier_version_is_brought_up_to_date(
    shared_url: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        await filled(shared_url)
    store = open_store(shared_url)
    assert await holds_everything(store)
    assert await store._read(VERSION) == [(str(KNOWN),)]
    assert await store._read("SELECT id FROM headgate.executions") == []
    await store.close()


async def test_a_new_store_takes_every_step(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_next(monkeypatch, second)
    store = open_store(url)
    assert await store._read("SELECT note FROM headgate.records") == []
    assert await store._read(VERSION) == [(str(NEXT),)]
    await store.close()


async def test_a_newer_store_is_refused(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        with_next(newer, second)
        await filled(shared_url)
    store = open_store(shared_url)
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            await store.open()
        assert str(caught.value).startswith("The store '")
        versions = f"its schema is of version {NEXT}, and this headgate knows version {KNOWN}"
        assert f"was written by a newer headgate: {versions}" in str(caught.value)
    await store.close()


async def test_a_step_that_fails_leaves_the_store_as_it_was(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(shared_url)
    with monkeypatch.context() as newer:
        with_next(newer, second, wrong)
        store = open_store(shared_url)
        with pytest.raises(StoreError, match=r"The store '.*' (fails|has lost its tables)"):
            await store.open()
        await store.close()
    store = open_store(shared_url)
    assert await holds_everything(store)
    assert await store._read(VERSION) == [(str(KNOWN),)]
    await store.close()


async def test_an_empty_file_is_a_store_of_version_0(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    await filled(f"{tmp_path}/a.db")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM headgate.meta",
        "UPDATE headgate.meta SET value = 'one'",
        "UPDATE headgate.meta SET value = '-1'",
        "UPDATE headgate.meta SET value = '²'",
    ],
)
async def test_a_store_that_does_not_tell_its_version_is_refused(shared_url: str, change: str) -> None:
    await filled(shared_url)
    store = open_store(shared_url)
    await store._run(lambda transaction: transaction.change(change))
    await store.close()
    store = open_store(shared_url)
    with pytest.raises(StoreError, match="does not say of which version its schema is; restore it from a backup"):
        await store.open()
    await store.close()
