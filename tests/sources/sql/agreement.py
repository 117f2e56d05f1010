"""Asks a database and the in-memory evaluator the same, and complains where they do not agree."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from tests.sources.sql.comparing import difference, smallest, without_cursors
from tests.sources.sql.facts import untrue
from tests.sources.sql.random_queries import Case, cases
from tests.sources.sql.serving import Answer, Meanwhile, Served, pages

__all__ = ["Findings", "blame", "compare", "complaint"]


@dataclass
class Findings:
    """How many cases were compared, and where answers differed."""

    cases: int = 0
    requests: int = 0
    complaints: list[str] = field(default_factory=list)


async def compare(
    seed: int, count: int, database: Served, memory: Served, findings: Findings, *, steady: bool = False
) -> None:
    """Ask both so many queries; of steady rows none comes or goes."""
    chance = Random(seed)  # noqa: S311  # the same queries for the same seed
    for case in cases(chance, memory.catalog, memory.held.items, count):
        if steady and case.way == "changing":
            case = replace(case, way="forwards")  # noqa: PLW2901
        found, requests = await complaint(case, database, memory)
        findings.cases += 1
        findings.requests += requests
        if found is not None:
            findings.complaints.append(await _told(seed, case, found, database, memory))


async def complaint(case: Case, database: Served, memory: Served) -> tuple[str | None, int]:
    """What is wrong with the answers to a case, and how many there were."""
    expected, found = await _transcript(case, memory, memory), await _transcript(case, database, memory)
    return difference(expected, found) or await untrue(case, found, memory, _meanwhile(case, memory)), len(found)


async def _transcript(case: Case, served: Served, memory: Served) -> list[Answer]:
    meanwhile = _meanwhile(case, memory)
    if meanwhile is None:
        return [without_cursors(page) for page in await pages(served, case)]
    meanwhile.start(served)
    try:
        return [without_cursors(page) for page in await pages(served, case, meanwhile)]
    finally:
        meanwhile.end(served)


def _meanwhile(case: Case, memory: Served) -> Meanwhile | None:
    if case.way != "changing":
        return None
    return Meanwhile.of(memory.held, case.operation.removeprefix("list_"), case.changes)


async def _told(seed: int, case: Case, first: str, database: Served, memory: Served) -> str:
    """A complaint with the smallest request that shows it; the first one, if it does not come again."""

    async def is_wrong(candidate: Case) -> bool:
        return (await complaint(candidate, database, memory))[0] is not None

    case = await smallest(case, is_wrong)
    database.statements.clear()
    what, _ = await complaint(case, database, memory)
    return "\n".join(
        [
            f"HEADGATE_SQL_SEED={seed}: {database.name}, {case}",
            f"  {what or first}",
            f"  in memory: {str(await _transcript(case, memory, memory))[:1500]}",
            f"  {database.name}: {str(await _transcript(case, database, memory))[:1500]}",
            *(f"  {' '.join(sql.split())}" for sql in database.statements[:3]),
        ]
    )


def blame(complaints: Sequence[str]) -> None:
    """Fail with what was found."""
    if complaints:
        pytest.fail("\n\n".join((*complaints[:20], f"{len(complaints)} differences")), pytrace=False)
