"""The bookshop's long work: a stocktaking, which takes its time so that there is something to watch."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import anyio.to_thread

from headgate.adapter.adapter import Adapter
from headgate.adapter.background import Background
from headgate.adapter.context import Context
from headgate.adapter.operations import Example
from headgate.adapter.parameters import Param

__all__ = ["Shelf", "add_stocktaking"]

_HOW: Final = Background(concurrency=2, interrupted="resume")
_SECONDS: Final = 10.0
_COUNT: Final = """SELECT coalesce(publishers.name, 'without a publisher'), count(*), sum(stock), sum(stock = 0),
    sum(stock * CAST(round(price * 100) AS INTEGER)) FROM books LEFT JOIN publishers ON publishers.id = publisher_id
    GROUP BY publisher_id ORDER BY 1"""


@dataclass(frozen=True, slots=True)
class Shelf:
    """What was counted of one publisher."""

    publisher: str
    titles: int
    copies: int
    sold_out: int
    worth: Decimal


def add_stocktaking(adapter: Adapter, path: Path) -> None:
    """Have the adapter of a bookshop take stock. It only reads, whatever else may be done with the file."""

    @adapter.execute(
        background=_HOW,
        danger="safe",
        rationale="it does a piece of work of its own, and only reads for it",
        examples=[Example({"seconds": 30}, "Half a minute, to watch it, or to cancel it")],
    )
    async def execute_stocktaking(
        ctx: Context, seconds: Annotated[float, Param(minimum=0, maximum=3600)] = _SECONDS
    ) -> list[Shelf]:
        """Count all books, publisher by publisher, and tell what they are worth. Nothing is changed.

        Args:
            seconds: How long it takes: counting is quick, so it pauses, to be watched.

        Returns:
            What was counted of each publisher
        """
        shelves = await anyio.to_thread.run_sync(partial(_counted, path))
        for number, shelf in enumerate(shelves):
            await ctx.progress(number, len(shelves), shelf.publisher)
            await asyncio.sleep(seconds / len(shelves))
        await ctx.progress(len(shelves), len(shelves))
        return shelves


def _counted(path: Path) -> list[Shelf]:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        return [
            Shelf(publisher, titles, copies, sold_out, Decimal(cents).scaleb(-2))
            for publisher, titles, copies, sold_out, cents in database.execute(_COUNT)
        ]
