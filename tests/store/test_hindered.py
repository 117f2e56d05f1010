"""An audit that somebody keeps from being written: nothing is done that would not be on record."""

import sqlite3
from pathlib import Path

import pytest

from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record
from tests.databases import Server
from tests.store.entries import entry

pytestmark = pytest.mark.anyio

VANISHING = "CREATE TRIGGER t AFTER INSERT ON audit_rows BEGIN DELETE FROM audit_rows WHERE number = NEW.number; END"
GOING_BACK = """CREATE TRIGGER u AFTER UPDATE ON audit_ends BEGIN
    UPDATE audit_ends SET number = OLD.number, digest = OLD.digest WHERE name = OLD.name; END"""
HINDRANCES = {
    "rows that are ignored": "CREATE TRIGGER t BEFORE INSERT ON audit_rows BEGIN SELECT RAISE(IGNORE); END",
    "an end that stays": "CREATE TRIGGER t BEFORE UPDATE ON audit_ends BEGIN SELECT RAISE(IGNORE); END",
    "rows that vanish": VANISHING,
    "rows that vanish, and an end that goes back": f"{VANISHING}; {GOING_BACK}",
    "rows that are rewritten": (
        "CREATE TRIGGER t AFTER INSERT ON audit_rows BEGIN UPDATE audit_rows SET digest = 'x'; END"
    ),
}


@pytest.mark.parametrize("statements", HINDRANCES.values(), ids=HINDRANCES)
async def test_a_change_that_cannot_be_written_down_does_not_happen(tmp_path: Path, statements: str) -> None:
    file = tmp_path / "state.db"
    store = open_store(str(file))
    try:
        await store.append([entry()])
        other = sqlite3.connect(file)
        other.executescript(statements)
        other.close()
        with pytest.raises(StoreError, match="somebody has put something in its way"):
            await store.insert(Record("grant", "a", {}), [entry()])
        assert await store.find("grant", "a") is None
        with pytest.raises(StoreError, match="somebody has put something in its way"):
            await store.append([entry()])
        assert [row.number async for row in store.rows()] == [1]
    finally:
        await store.close()


async def test_a_rule_of_postgresql_hinders_as_little(postgresql: Server) -> None:
    with postgresql.fresh() as database:
        store = open_store(database.url)
        try:
            await store.append([entry()])
            with database.connected() as engine, engine.begin() as other:
                other.exec_driver_sql("CREATE RULE r AS ON INSERT TO headgate.audit_rows DO INSTEAD NOTHING")
                other.exec_driver_sql("CREATE RULE s AS ON UPDATE TO headgate.audit_ends DO INSTEAD NOTHING")
            with pytest.raises(StoreError, match="somebody has put something in its way"):
                await store.append([entry()])
        finally:
            await store.close()
