"""Pages and summaries of a large table: through the engine, and by hand with the bare driver on the same database."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import orjson

from benchmarks.aims import Aim, worst
from benchmarks.peers import Peers, Statement, postgresql_peers, sqlite_peers
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, race
from headgate import Engine, Session
from headgate.sources.sql.database import Database
from headgate.sources.sql.source import sql_adapter

__all__ = ["in_postgresql", "in_sqlite"]

_HEADGATE: Final = "headgate"
_SAME: Final = "same statement"
_HAND: Final = "by hand"
_COLUMNS: Final = "id, customer_id, status, amount, placed_at, title, country, quantity, note"
_PAGE: Final = 25

_FIRST, _DEEP = "first page", "page past 90 %"
_FIRST_SORTED, _DEEP_SORTED = "first page by placed_at", "page past 90 % by placed_at"
_FILTERED: Final = "filter and sort"
_ALL_GROUPED: Final = "group all by status"
_GROUPED: Final = "filter and group by country"
_TOGETHER: Final = "filter, sort, page and group"
_PAGES: Final = (_FIRST, _DEEP, _FIRST_SORTED, _DEEP_SORTED, _FILTERED)
_SUMMARIES: Final = (_ALL_GROUPED, _GROUPED, _TOGETHER)


@dataclass(frozen=True, slots=True)
class _Case:
    """What is asked of headgate, and the statements that a person would write for it."""

    params: Mapping[str, object]
    by_hand: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _Measured:
    headgate: Timing
    same: Timing
    hand: Timing


@dataclass(frozen=True, slots=True)
class _Place:
    """Some event in the order of placed_at: its key, and its moment for the driver and for a caller."""

    key: int
    moment: Any

    @property
    def said(self) -> str:
        text = self.moment if isinstance(self.moment, str) else self.moment.isoformat(" ")
        return f"{text[:10]}T{text[11:]}Z"


async def in_sqlite(file: Path, rows: int, seconds: float) -> tuple[Table, list[Aim]]:
    """The table of SQLite, each row of it measured for so many seconds."""
    return await _suite("SQLite", file, sqlite_peers(file), rows, seconds)


async def in_postgresql(url: str, rows: int, seconds: float) -> tuple[Table, list[Aim]]:
    """The same of PostgreSQL."""
    return await _suite("PostgreSQL", url, postgresql_peers(url), rows, seconds)


async def _suite(
    name: str, source: str | Path, opening: AbstractAsyncContextManager[Peers], rows: int, seconds: float
) -> tuple[Table, list[Aim]]:
    mark = "?" if name == "SQLite" else "%s"
    measured: dict[str, _Measured] = {}
    async with opening as peers, _asking(source) as asking:
        cases = await _cases(asking, peers, rows, mark)
        for case in cases:
            measured[case] = await _measure(asking, peers, cases[case], seconds)
        deep = await asking.race([cases[_FIRST], cases[_DEEP]], seconds)
        deep_sorted = await asking.race([cases[_FIRST_SORTED], cases[_DEEP_SORTED]], seconds)
    title = f"{name}, {rows:,} rows"
    return _table(title, measured), _aims(title, measured, [deep, deep_sorted])


class _Asking:
    """Calls of ``list_events`` through one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session = Session()

    def call(self, params: Mapping[str, object]) -> AsyncCall:
        """A request, ready to be made."""
        request = {"operation": "list_events", "params": params}
        return lambda: self._engine.call(request, endpoint="read", session=self._session)

    async def answer(self, params: Mapping[str, object]) -> Any:
        """What a request gives."""
        reply: Any = await self.call(params)()
        if reply.is_error:
            raise RuntimeError(f"the engine answers {reply.text}")
        return orjson.loads(reply.text)["data"]

    async def cursor(self, key: int, **order: object) -> str:
        """The cursor of an event in an order: it does not depend on the filter that found it."""
        found = await self.answer({"filter": {"id": key}, "first": 1, **order})
        cursor: str = found["pageInfo"]["endCursor"]
        return cursor

    async def statements(self, params: Mapping[str, object]) -> list[Statement]:
        """The statements that headgate sends for a request, as the driver gets them."""
        with _overheard() as heard:
            await self.answer(params)
        return heard

    async def race(self, cases: Sequence[_Case], seconds: float) -> Ratio:
        """The second case against the first, both through the engine."""
        first, second = (self.call(case.params) for case in cases)
        timings = await race({"first": first, "second": second}, seconds)
        return timings["second"].against(timings["first"])


@asynccontextmanager
async def _asking(source: str | Path) -> AsyncIterator[_Asking]:
    adapter = sql_adapter(source)
    try:
        yield _Asking(Engine(adapter))
    finally:
        await adapter.close()


@contextmanager
def _overheard() -> Iterator[list[Statement]]:
    heard: list[Statement] = []
    fetch = Database.fetch

    async def listening(database: Database, sql: str, parameters: Any = (), **options: Any) -> Any:
        heard.append(Statement(sql, parameters))
        return await fetch(database, sql, parameters, **options)

    with patch.object(Database, "fetch", listening):
        yield heard


async def _cases(asking: _Asking, peers: Peers, rows: int, mark: str) -> dict[str, _Case]:
    """What is measured. Every page has 25 rows."""
    deep = await _place(peers, rows * 9 // 10, mark)
    sort, newest_first = {"field": "placed_at"}, {"field": "placed_at", "order": "desc"}
    pending = {"status": "pending", "placed_at": {"gte": deep.said}}
    recent = {"placed_at": {"gte": deep.said}}
    by_country = {"by_country": {"group_by": "country", "count": True, "sum": "amount", "avg": "amount"}}
    by_status = {"by_status": {"group_by": "status", "count": True, "sum": "amount"}}

    def page(rest: str, *parameters: object) -> Statement:
        return Statement(
            f"SELECT {_COLUMNS} FROM events {rest} LIMIT {mark}".replace("$", mark),  # noqa: S608  (of this module)
            [*parameters, _PAGE],
        )

    def grouped(columns: str, field: str, condition: str = "", *parameters: object) -> Statement:
        sql = f"SELECT {field}, {columns} FROM events {condition} GROUP BY {field} ORDER BY count(*) DESC LIMIT 100"  # noqa: S608
        return Statement(sql.replace("$", mark), parameters)

    return {
        _FIRST: _Case({"first": _PAGE}, (page("ORDER BY id"),)),
        _DEEP: _Case(
            {"first": _PAGE, "after": await asking.cursor(deep.key)},
            (page("WHERE id > $ ORDER BY id", deep.key),),
        ),
        _FIRST_SORTED: _Case({"first": _PAGE, "sort": sort}, (page("ORDER BY placed_at, id"),)),
        _DEEP_SORTED: _Case(
            {"first": _PAGE, "sort": sort, "after": await asking.cursor(deep.key, sort=sort)},
            (page("WHERE (placed_at, id) > ($, $) ORDER BY placed_at, id", deep.moment, deep.key),),
        ),
        _FILTERED: _Case(
            {"first": _PAGE, "filter": pending, "sort": newest_first},
            (page("WHERE status = $ AND placed_at >= $ ORDER BY placed_at DESC, id DESC", "pending", deep.moment),),
        ),
        _ALL_GROUPED: _Case({"aggregate": by_status}, (grouped("count(*), sum(amount)", "status"),)),
        _GROUPED: _Case(
            {"filter": recent, "aggregate": by_country},
            (grouped("count(*), sum(amount), avg(amount)", "country", "WHERE placed_at >= $", deep.moment),),
        ),
        _TOGETHER: _Case(
            {"first": _PAGE, "filter": pending, "sort": newest_first, "aggregate": by_country, "include_items": True},
            (
                grouped(
                    "count(*), sum(amount), avg(amount)",
                    "country",
                    "WHERE status = $ AND placed_at >= $",
                    "pending",
                    deep.moment,
                ),
                page("WHERE status = $ AND placed_at >= $ ORDER BY placed_at DESC, id DESC", "pending", deep.moment),
            ),
        ),
    }


async def _place(peers: Peers, offset: int, mark: str) -> _Place:
    sql = f"SELECT id, placed_at FROM events ORDER BY placed_at, id LIMIT 1 OFFSET {mark}"  # noqa: S608
    found: Any = await next(iter(peers([Statement(sql, [offset])]).values()))()
    row = orjson.loads(found[0])[0]
    return _Place(row["id"], row["placed_at"].replace("T", " ").removesuffix("Z"))


async def _measure(asking: _Asking, peers: Peers, case: _Case, seconds: float) -> _Measured:
    """One case. Of the ways to use a driver, the fastest counts."""
    same, hand = peers(await asking.statements(case.params)), peers(case.by_hand)
    contenders = {
        _HEADGATE: asking.call(case.params),
        **{f"{_SAME}: {name}": call for name, call in same.items()},
        **{f"{_HAND}: {name}": call for name, call in hand.items()},
    }
    timings = await race(contenders, seconds)

    def fastest(kind: str) -> Timing:
        return min((one for name, one in timings.items() if name.startswith(kind)), key=lambda one: one.median)

    return _Measured(timings[_HEADGATE], fastest(_SAME), fastest(_HAND))


def _table(title: str, measured: Mapping[str, _Measured]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, one in measured.items():
        same, hand = one.headgate.against(one.same), one.headgate.against(one.hand)
        medians = (one.headgate.median, one.same.median, one.hand.median)
        rows.append((name, *medians, same, hand))
    columns = ("", _HEADGATE, _SAME, _HAND, "/ same statement", "/ SQL by hand")
    return Table(f"{title} (µs)", columns, tuple(rows))


def _aims(title: str, measured: Mapping[str, _Measured], deep: Sequence[Ratio]) -> list[Aim]:
    same = (measured[name].headgate.against(measured[name].same) for name in _PAGES)
    hand = (measured[name].headgate.against(measured[name].hand) for name in _SUMMARIES)
    most = 2.0 if title.startswith("SQLite") else 1.3
    return [
        worst(f"{title}: a page through the engine / the same statement", same, most),
        worst(f"{title}: a page past 90 % / the first", deep, 1.2),
        worst(f"{title}: filter, sort and group / by hand", hand, 1.2),
    ]
