"""A server that is killed in the middle of its work leaves nothing undecided: what was run is in the audit, once.

The normal suite does a few kills. ``make killings`` does 50 on each database, each in the middle of 1,000 confirmed
operations, and prints what was found; ``HEADGATE_KILLINGS`` says how many kills, and ``HEADGATE_KILLINGS_SEED`` makes
them other ones.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.safety_processes.killing import Killings
from tests.safety_processes.racing import POLICY
from tests.server.processes import run

WANTED = int(os.environ.get("HEADGATE_KILLINGS", "0"))
KILLS = WANTED or 3
OPERATIONS = 1000 if WANTED else 60
SEED = int(os.environ.get("HEADGATE_KILLINGS_SEED", "4"))


def test_a_killed_server_spends_no_token_twice_and_leaves_nothing_out_of_the_audit(state: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    killings = Killings(state, policy, tmp_path / "traces", SEED)
    started = time.perf_counter()
    asyncio.run(killings.run(KILLS, OPERATIONS))
    assert killings.kills == KILLS
    verified = run("audit", "verify", "--state", state)
    assert verified.returncode == 0, verified.stderr
    seconds = time.perf_counter() - started
    sys.stdout.write(f"\n{state.partition(':')[0]}: {killings}; {seconds:.0f} s\n")
