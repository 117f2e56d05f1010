"""``python -m benchmarks.instructions [--record]``: the hot path counted, beside what was recorded."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.instructions import RECORDED
from benchmarks.instructions.comparing import Count, changes, complaints, other_builds, read_count, write_count
from benchmarks.instructions.counting import count, hindrance
from benchmarks.tables import Table


def main(*, record: bool) -> int:
    """Print the table; 1 if a path has grown by more than may be, or nothing can be counted."""
    why_not = hindrance()
    if why_not:
        print(why_not, file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="headgate-instructions-"))
    counted = count(folder)
    recorded = read_count(RECORDED.read_bytes()) if RECORDED.exists() else counted
    print(f"{_table(recorded, counted).text()}\n\nProfiles: callgrind_annotate {folder}/*.callgrind")
    if record:
        RECORDED.write_bytes(write_count(counted))
        return 0
    said = [*(f"Other builds, so more is let pass: {one}" for one in other_builds(recorded, counted))]
    complained = complaints(recorded, counted)
    print("\n".join([*said, *complained]), file=sys.stderr)
    return 1 if complained else 0


def _table(recorded: Count, counted: Count) -> Table:
    rows = tuple(
        (change.path, change.recorded, change.counted, f"{change.growth:+.1%}") for change in changes(recorded, counted)
    )
    return Table("Instructions of one call", ("", "recorded, as counted here", "counted", "growth"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep what is counted now")
    sys.exit(main(record=parser.parse_args().record))
