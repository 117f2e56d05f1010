"""The matrix of faults and checks: ``python -m tests.conformance.matrix`` prints it, ``… ID`` one row in full.

Each row is one run of every check against the museum with one fault: the check meant for it, whether it was found, and
what else complained.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import anyio

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.probe import Options
from headgate.conformance.report import Report
from headgate.conformance.running import Finished, examine
from headgate.conformance.values import Demand, Verdict
from tests.conformance.faulty.defects import DEFECTS, Defect
from tests.conformance.faulty.server import museum_opener
from tests.conformance.faulty.world import Museum

__all__ = ["Row", "looked_at", "row_of"]

_ALLOWED: Final = frozenset({"CREATE", "UPDATE", "DELETE", "EXECUTE"})
_DEMANDS: Final = {check.id: check.demand for check in ALL_CHECKS}


@dataclass(frozen=True, slots=True)
class Row:
    """What a run against one fault showed."""

    defect: Defect
    found: bool
    """Whether the check meant for it failed, or warned if it only warns."""
    failed: tuple[str, ...]
    """The other checks that failed: none should."""
    warned: tuple[str, ...]
    """The other checks that warned."""
    seconds: float

    def __str__(self) -> str:
        """The row as a line."""
        demand = _DEMANDS.get(self.defect.check, "none")
        others = [f"FAIL {name}" for name in self.failed] + [f"warn {name}" for name in self.warned]
        mark = "found" if self.found else "MISSED"
        return f"{self.defect.id:32} {mark:7} {demand:7} {self.defect.check:38} {', '.join(others)}".rstrip()


async def looked_at(*defects: str, direct: bool = False) -> Report:
    """The report of every check of level 2, with everything allowed, on the museum with these faults."""
    report: Report | None = None
    opener = museum_opener(Museum(frozenset(defects)), direct=direct)
    async for event in examine(opener, Options(allowed=_ALLOWED), target="museum", level=2):
        if isinstance(event, Finished):
            report = event.report
    assert report is not None
    return report


async def row_of(defect: Defect, *, direct: bool = False) -> Row:
    """The row of one fault."""
    report = await looked_at(defect.id, direct=direct)
    verdicts = {result.check.id: result.verdict for result in report.results}
    expected = Verdict.FAIL if _DEMANDS.get(defect.check) is Demand.MUST else Verdict.WARN
    return Row(
        defect,
        verdicts.get(defect.check) is expected,
        tuple(_with(verdicts.items(), Verdict.FAIL, defect)),
        tuple(_with(verdicts.items(), Verdict.WARN, defect)),
        report.seconds,
    )


def _with(verdicts: Iterable[tuple[str, Verdict]], wanted: Verdict, defect: Defect) -> Iterator[str]:
    return (name for name, verdict in verdicts if verdict is wanted and name != defect.check)


def _shown(report: Report) -> Iterator[str]:
    """What a report holds against a server, in full."""
    for result in report.results:
        if result.verdict in (Verdict.FAIL, Verdict.WARN):
            yield f"{result.verdict} {result.check.id}"
            for finding in result.broken:
                yield f"     {finding.subject}: {finding.words}"
                yield from (f"         {one.arguments} → {one.envelope}" for one in finding.exchanges[-1:])


async def _main(wanted: list[str]) -> None:
    if wanted:
        _say(*_shown(await looked_at(*wanted)))
        return
    rows: list[Row] = []
    for defect in DEFECTS:
        rows.append(await row_of(defect))
        _say(str(rows[-1]))
    musts = sum(_DEMANDS.get(row.defect.check) is Demand.MUST for row in rows)
    found, alone = sum(row.found for row in rows), sum(not row.failed for row in rows)
    _say(
        f"\n{len(rows)} faults, {musts} of them against a MUST. {found} were found by the check meant for them;",
        f"with {alone} no other check of MUST level failed. {sum(row.seconds for row in rows):.0f} seconds.",
    )


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1:])
