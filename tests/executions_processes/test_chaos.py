"""Whatever is killed, long work on PostgreSQL ends in one way, is never done twice unseen, and loses no result.

The normal suite kills a few programs. ``make chaos`` runs 2,000 executions on 4 servers and 4 workers, and prints what
came of them; ``HEADGATE_CHAOS`` says how many executions, and ``HEADGATE_CHAOS_SEED`` makes the kills other ones.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.executions_processes.chaos import Chaos, Size
from tests.executions_processes.durable import Durable, durable_postgresql

WANTED = int(os.environ.get("HEADGATE_CHAOS", "0"))
SEED = int(os.environ.get("HEADGATE_CHAOS_SEED", "6"))
SMALL = Size(servers=2, workers=2, executions=120, agents=20, kills=5, restarts=("immediate",))
LARGE = Size(executions=WANTED, kills=max(6, WANTED // 25))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Durable]:
    with durable_postgresql(tmp_path) as made:
        yield made


def test_every_execution_ends_once_whatever_is_killed(database: Durable, tmp_path: Path) -> None:
    size = LARGE if WANTED else SMALL
    chaos = Chaos(database, tmp_path, size, SEED)
    asyncio.run(chaos.run())
    assert chaos.kills.total() == size.kills
    assert len(chaos.confirmed) == size.executions
    sys.stdout.write(f"\n{chaos}\n")
