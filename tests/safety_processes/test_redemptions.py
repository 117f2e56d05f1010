"""A confirmation counts once, however many use it at the same moment, in however many processes.

The normal suite does a few rounds. ``make redemptions`` does 1,000 rounds of 200 attempts on each database and prints
what was answered; ``HEADGATE_REDEMPTIONS`` says how many rounds.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.safety_processes.racing import POLICY, SUCCESS, Racers, Report
from tests.safety_processes.reading import AuditRead

PROCESSES = 4
TASKS = 50
ROUNDS = int(os.environ.get("HEADGATE_REDEMPTIONS", "10"))


def test_of_200_uses_of_one_token_at_once_exactly_one_succeeds(state: str, tmp_path: Path) -> None:
    policy, traces = tmp_path / "policy.toml", tmp_path / "traces"
    policy.write_text(POLICY)
    report = Report()
    started = time.perf_counter()
    with Racers.started(PROCESSES, state, policy, traces) as racers:
        for turn in range(ROUNDS):
            key = f"entry {turn}"
            answers = racers.race(key, racers.ask(key), TASKS)
            assert sum(one[SUCCESS] for one in answers) == 1
            report.add(answers)
    seconds = time.perf_counter() - started
    refused = PROCESSES * TASKS * ROUNDS - ROUNDS
    assert report.answers == {SUCCESS: ROUNDS, "TOKEN_ALREADY_USED": refused}
    audit = AuditRead(state)
    asyncio.run(audit.read_on())
    assert {one.key for one in audit.agrees_with(traces)} == {f"entry {turn}" for turn in range(ROUNDS)}
    assert len(audit.executed) == len(audit.returned) == ROUNDS
    assert audit.refused == {"TOKEN_ALREADY_USED": refused}
    sys.stdout.write(f"\n{state.partition(':')[0]}: {report}; {audit.rows:,} rows of audit; {seconds:.0f} s\n")
