"""The table of hostile scenarios: ``python -m tests.hostile.table`` runs every one of them, and prints what held."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tests.hostile.attacks import ATTACKS, HELD

__all__ = ["header", "lines", "main"]

SCENARIOS = Path(__file__).with_name("test_hostile_agents.py")


def header() -> str:
    """The first line of the table: what an agent tries, and how it is held up meanwhile."""
    return f"| attack | {' | '.join(held.name for held in HELD)} |"


def lines(ended: Iterable[tuple[str, bool]]) -> list[str]:
    """The whole table, in the order in which attacks are written down, of scenarios by name and whether they held."""
    tried: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for name, has_held in ended:
        key = name.partition("[")[2].rpartition("-")[0]
        tried[key] += 1
        held[key] += has_held
    keys = [[f"{words}-{one.name}" for one in HELD] for words in ATTACKS]
    rows = [
        f"| {words} | {' | '.join(f'{held[key]} of {tried[key]}' for key in row)} |"
        for words, row in zip(ATTACKS, keys, strict=True)
    ]
    known = [key for row in keys for key in row]
    total = f"{sum(held[key] for key in known)} of {sum(tried[key] for key in known)} scenarios held"
    return [header(), "|---" * (len(HELD) + 1) + "|", *rows, "", total]


def main() -> int:
    """Run the scenarios, and print how many of each were tried and held."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(SCENARIOS)]
        ended = subprocess.run(words, stdout=sys.stderr, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))  # noqa: S314  (our own report)
    sys.stdout.write("\n".join(lines((case.get("name", ""), len(case) == 0) for case in cases)) + "\n")
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
