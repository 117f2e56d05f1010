"""Every database gives the answer that the in-memory evaluator gives, to any query over any world.

The normal suite tries 2,000 queries on each database. ``HEADGATE_SQL_CASES=100000 pytest
tests/sources/sql/test_same_answers.py -k as_many -s`` tries as many as are wanted, in all processors.
``HEADGATE_SQL_SEED=17`` looks at one world alone.
"""

import asyncio
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack

import pytest
from sqlalchemy import create_engine

from tests.databases import Server
from tests.sources.sql.agreement import Findings, blame, compare, complaint
from tests.sources.sql.random_queries import Case
from tests.sources.sql.serving import loaded, memory_of, served_from
from tests.sources.sql.worlds import Column, Table, World, build

QUERIES = 40
"""How many each world is asked."""

WORLDS = 50
CHUNK = 10
CASES = int(os.environ.get("HEADGATE_SQL_CASES", "0"))
SEED = os.environ.get("HEADGATE_SQL_SEED")

# What the first chunk runs, the others run again: they are not measured, which would take twice as long as they do.
CHUNKS = [pytest.param(chunk, marks=[pytest.mark.no_cover] if chunk else []) for chunk in range(WORLDS // CHUNK)]


def run(seeds: Sequence[int], url: str, name: str) -> Findings:
    """The comparison in a process of its own, without the log of what is refused."""
    logging.disable(logging.CRITICAL)
    try:
        return asyncio.run(look(seeds, url, name))
    finally:
        logging.disable(logging.NOTSET)


async def look(seeds: Sequence[int], url: str, name: str) -> Findings:
    """Compare the answers of a database with those of the in-memory evaluator, world by world."""
    findings = Findings()
    engine = create_engine(url)
    try:
        for seed in seeds:
            world = build(seed)
            with loaded(world, engine):
                async with served_from(url, name, engine) as (database, schema):
                    await compare(seed, QUERIES, database, memory_of(schema, world), findings)
    finally:
        engine.dispose()
    return findings


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_database_answers_any_query_as_memory_does(server: Server, chunk: int) -> None:
    seeds = [int(SEED)] if SEED else list(range(chunk * CHUNK, (chunk + 1) * CHUNK))
    with server.fresh() as database:
        findings = run(seeds, database.url, server.name)
    blame(findings.complaints)
    assert findings.cases == QUERIES * len(seeds)


def crowded() -> World:
    """More rows than a page holds, in more groups than an answer shows."""
    columns = (Column("id", "integer"), Column("owner", "integer", nullable=True), Column("note", "text"))
    rows = tuple((number, None if number % 11 == 0 else number % 130, f"note {number % 140}") for number in range(600))
    return World(0, (Table("visit", columns, ("id",), (), (), rows),))


@pytest.mark.parametrize(
    "case",
    [
        Case("list_visits", {"aggregate": {"x": {"group_by": "owner", "count": True, "max": "note", "avg": "id"}}}),
        Case("list_visits", {"aggregate": {"x": {"group_by": "note", "sum": "owner"}}, "include_items": True}),
        Case("list_visits", {"first": 500}),
        Case("list_visits", {"first": 100, "sort": [{"field": "owner", "order": "desc"}]}, "forwards"),
        Case("list_visits", {"last": 100, "sort": [{"field": "owner"}, {"field": "note"}]}, "backwards"),
        Case("search_visits", {"query": "note 12", "limit": 100}, "offsets"),
        Case("search_visits", {"query": '"note 1" 3', "first": 90}, "forwards"),
    ],
    ids=["groups", "groups and items", "a page", "pages", "pages backwards", "words by offset", "words by rank"],
)
def test_more_than_an_answer_shows_is_left_out_alike(server: Server, case: Case) -> None:
    async def look() -> str | None:
        with server.fresh() as database, database.connected() as engine, loaded(crowded(), engine):
            async with served_from(database.url, server.name, engine) as (served, schema):
                return (await complaint(case, served, memory_of(schema, crowded())))[0]

    assert asyncio.run(look()) is None


@pytest.mark.skipif(not CASES, reason="HEADGATE_SQL_CASES says how many")
def test_as_many_queries_as_are_wanted_are_answered_alike(server: Server) -> None:
    """In as many processes as there are processors, each with a database of its own."""
    started = time.perf_counter()
    workers = os.cpu_count() or 1
    worlds = range(1000, 1000 + -(-CASES // QUERIES))
    with ExitStack() as stack, ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        urls = [stack.enter_context(server.fresh()).url for _ in range(workers)]
        found = list(pool.map(run, [worlds[place::workers] for place in range(workers)], urls, [server.name] * workers))
    complaints = [one for findings in found for one in findings.complaints]
    count, requests = sum(one.cases for one in found), sum(one.requests for one in found)
    seconds = time.perf_counter() - started
    sys.stdout.write(
        f"\n{server.name}: {count} queries in {requests} requests over {len(worlds)} worlds, "
        f"{len(complaints)} answered otherwise than in memory, {count / seconds:.0f} a second\n"
    )
    blame(complaints)
    assert count >= CASES
