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
from tests.sources.sql.agreement import Findings, blame, compare
from tests.sources.sql.serving import loaded, memory_of, served_from
from tests.sources.sql.worlds import build

QUERIES = 40
"""How many each world is asked."""

WORLDS = 50
CHUNK = 10
CASES = int(os.environ.get("HEADGATE_SQL_CASES", "0"))
SEED = os.environ.get("HEADGATE_SQL_SEED")


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


@pytest.mark.parametrize("chunk", range(WORLDS // CHUNK))
def test_a_database_answers_any_query_as_memory_does(server: Server, chunk: int) -> None:
    seeds = [int(SEED)] if SEED else list(range(chunk * CHUNK, (chunk + 1) * CHUNK))
    with server.fresh() as database:
        findings = run(seeds, database.url, server.name)
    blame(findings.complaints)
    assert findings.cases == QUERIES * len(seeds)


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
