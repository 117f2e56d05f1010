"""The bookshop's stocktaking: long work for whoever tries the demo, which counts rightly and changes nothing."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest

from headgate import Engine
from headgate.cli.targets import DatabaseChoices, load
from headgate.server.settings import Settings
from headgate.sources.bookshop import bookshop_file

pytestmark = pytest.mark.anyio


class Demo:
    """The demo as it is called."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def __call__(self, operation: str, **params: object) -> Any:
        envelope = json.loads((await self._engine.call({"operation": operation, "params": params})).text)
        assert envelope["success"], envelope
        return envelope["data"]


@pytest.fixture(params=[False, True], ids=["writable", "read-only"])
async def demo(request: pytest.FixtureRequest) -> AsyncIterator[Demo]:
    settings = Settings.of()
    adapter, store = load(None, DatabaseChoices(read_only=request.param)), settings.store()
    engine = settings.engine(adapter, store)
    yield Demo(engine)
    assert engine.executions is not None
    await engine.executions.close()
    await store.close()
    await adapter.close()


def counted(query: str) -> Any:
    with closing(sqlite3.connect(bookshop_file())) as database:
        return database.execute(query).fetchone()[0]


def written_at() -> int:
    return bookshop_file().stat().st_mtime_ns


async def test_it_counts_every_book_once(demo: Demo) -> None:
    started = await demo("execute_stocktaking", seconds=0)
    ended = await demo("get_execution_result", execution_id=started["execution_id"], wait_seconds=20)
    shelves = ended["result"]
    assert len(shelves) == counted("SELECT count(DISTINCT coalesce(publisher_id, 0)) FROM books")
    assert sum(shelf["titles"] for shelf in shelves) == counted("SELECT count(*) FROM books")
    assert sum(shelf["copies"] for shelf in shelves) == counted("SELECT sum(stock) FROM books")
    assert sum(shelf["sold_out"] for shelf in shelves) == counted("SELECT count(*) FROM books WHERE stock = 0")
    worth = sum(Decimal(shelf["worth"]) for shelf in shelves)
    assert worth == Decimal(counted("SELECT sum(stock * round(price * 100)) FROM books")) / 100


async def test_it_can_be_watched_and_cancelled(demo: Demo) -> None:
    started = await demo("execute_stocktaking", seconds=3600)
    about = {"execution_id": started["execution_id"]}
    while "progress" not in (state := await demo("get_execution", **about, wait_seconds=0.01)):
        pass
    assert state["progress"]["current"] == 0
    assert state["progress"]["total"] > 30
    await demo("cancel_execution", **about)
    assert (await demo("get_execution", **about, wait_seconds=20))["status"] == "cancelled"


async def test_it_says_that_it_changes_nothing(demo: Demo) -> None:
    """And so it is there for those too who may only read."""
    before = written_at()
    told = (await demo("introspect", query="operations", name="execute_stocktaking"))["operation"]
    assert told["semantic_category"] == "EXECUTE"
    assert told["lifecycle"]["progress_reporting"] is True
    assert "Nothing is changed." in told["description"]
    started = await demo("execute_stocktaking", seconds=0)
    await demo("get_execution_result", execution_id=started["execution_id"], wait_seconds=20)
    assert written_at() == before
