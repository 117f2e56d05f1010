"""The sample databases are the ones that are expected, and can be read."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from headgate.engine.pipeline import Engine
from headgate.sources.sql.source import sql_adapter
from tests.samples import SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_the_expected_version(name: str) -> None:
    assert sample(name).stat().st_size > 0


def test_northwind_has_spaces_in_names_composite_keys_and_views() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(sample("northwind").read_text(encoding="utf-8"))
        assert connection.execute('SELECT count(*) FROM "Order Details"').fetchone() == (2155,)
        keys = [row[1] for row in connection.execute('PRAGMA table_info("Order Details")') if row[5]]
        assert keys == ["OrderID", "ProductID"]
        assert connection.execute('SELECT count(*) FROM "Order Subtotals"').fetchone() == (830,)


def northwind(folder: Path) -> Path:
    path = folder / "northwind.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sample("northwind").read_text(encoding="utf-8"))
    return path


def chinook(folder: Path) -> Path:
    return Path(shutil.copy(sample("chinook"), folder))


@pytest.mark.anyio
@pytest.mark.parametrize("build", [northwind, chinook])
async def test_every_list_of_a_sample_is_served_and_every_item_of_it_is_found(
    tmp_path: Path, build: Callable[[Path], Path]
) -> None:
    adapter = sql_adapter(build(tmp_path))
    engine = Engine(adapter)
    for collection in adapter.collections.catalog:
        page = await answer(engine, f"list_{collection.name}", {"first": 3, "fields": "full"})
        assert page["items"] or (await answer(engine, f"count_{collection.name}", {}))["count"] == 0
        for item in page["items"] if collection.key else ():
            key = {name: item[name] for name in collection.key}
            found = await answer(engine, f"get_{collection.singular}", key)
            assert {name: found[name] for name in item} == item
    await adapter.close()


async def answer(engine: Engine, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    envelope = orjson.loads((await engine.call({"operation": operation, "params": params})).text)
    assert envelope["success"], envelope
    data: dict[str, Any] = envelope["data"]
    return data
