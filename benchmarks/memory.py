"""What a process weighs while it pages a table from end to end, 100 rows at a time, in a process of its own.

``python -m benchmarks.memory SOURCE ROWS`` prints its samples as JSON.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import psutil  # type: ignore[import-untyped]

from benchmarks.aims import Aim
from benchmarks.processes import said_elsewhere
from benchmarks.tables import Cell, Table
from headgate import Engine, Session
from headgate.sources.sql.source import sql_adapter

__all__ = ["while_paging"]

_PAGE: Final = 100
_WARM: Final = 500
_MOST_GROWTH: Final = 2.0


async def while_paging(sources: Mapping[str, str | Path], rows: int) -> tuple[Table, list[Aim]]:
    """The table of megabytes, and that they do not grow."""
    table: list[tuple[Cell, ...]] = []
    aims = []
    for name, source in sources.items():
        samples = await _elsewhere(source, rows)
        growth = samples[-1] - samples[0]
        table.append((f"{name}, {rows:,} rows", *samples, growth))
        aims.append(Aim(f"{name}: growth while paging {rows:,} rows, MB", growth, _MOST_GROWTH))
    columns = ("", f"after {_WARM} pages", "in the middle", "at the end", "growth")
    return Table("Memory while paging through the engine, 100 rows a page (MB)", columns, tuple(table)), aims


async def _elsewhere(source: str | Path, rows: int) -> list[float]:
    samples: list[float] = await said_elsewhere("benchmarks.memory", str(source), str(rows))
    return samples


async def _page_through(source: str, rows: int) -> list[float]:
    """Megabytes after the first pages, in the middle and at the end."""
    adapter = sql_adapter(source if "://" in source else Path(source))
    engine, session = Engine(adapter), Session()
    samples: list[float] = []
    seen, after = 0, None
    marks = (_WARM * _PAGE, rows // 2, rows)
    while True:
        params = {"first": _PAGE} if after is None else {"first": _PAGE, "after": after}
        reply = await engine.call({"operation": "list_events", "params": params}, endpoint="read", session=session)
        page: dict[str, Any] = orjson.loads(reply.text)["data"]
        seen += len(page["items"])
        samples += [psutil.Process().memory_info().rss / 1e6] * marks.count(seen)
        if seen >= rows or not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    await adapter.close()
    return samples


if __name__ == "__main__":
    print(orjson.dumps(asyncio.run(_page_through(sys.argv[1], int(sys.argv[2])))).decode())
