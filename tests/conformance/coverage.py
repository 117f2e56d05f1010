"""What the checks cover of the texts: ``python -m tests.conformance.coverage --write`` writes the page of it anew."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.requirements import Requirement, requirements
from headgate.conformance.values import Check

__all__ = ["PAGE", "covering", "page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "conformance-coverage.md"
_TEXTS: Final = {
    "specification": "The specification",
    "operations": "Operations",
    "introspection": "Introspection",
    "collection-querying": "Collection querying",
}

_HEAD: Final = """# What `headgate check` covers

Every MUST and SHOULD of the texts of MCP-AQL is a row of `src/headgate/conformance/requirements.toml`. A row is covered
by one check or several, or it cannot be seen from outside, and the reason is given. This page is made from the data of
the checks (`python -m tests.conformance.coverage --write`), and a test fails when it is out of date.
"""


def covering() -> dict[str, list[Check]]:
    """The checks that cover each row, by its id."""
    found: dict[str, list[Check]] = {row.id: [] for row in requirements()}
    for check in ALL_CHECKS:
        for row in check.proves:
            found.setdefault(row, []).append(check)
    return found


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_counts(), "", *_sections(), "", *_unseen(), "", *_checks(), ""])


def _counts() -> Iterator[str]:
    by_row = covering()
    yield "| Text | MUST | SHOULD | covered | cannot be seen |"
    yield "|---|---|---|---|---|"
    for text, title in _TEXTS.items():
        yield _count(title, [row for row in requirements() if row.document == text], by_row)
    yield _count("All", requirements(), by_row)
    yield ""
    yield "The text of errors has no MUST and no SHOULD: its codes are those of operations 8, and are covered there."


def _count(title: str, rows: Iterable[Requirement], by_row: dict[str, list[Check]]) -> str:
    rows = list(rows)
    musts = sum(row.level == "MUST" for row in rows)
    covered = sum(bool(by_row[row.id]) for row in rows)
    unseen = sum(row.unseen is not None for row in rows)
    return f"| {title} | {musts} | {len(rows) - musts} | {covered} | {unseen} |"


def _sections() -> Iterator[str]:
    by_row = covering()
    yield "## Section by section"
    for text, title in _TEXTS.items():
        yield f"\n### {title}\n"
        yield "| Section | Demands | Covered by | Cannot be seen |"
        yield "|---|---|---|---|"
        for section, rows in _by_section(text).items():
            checks = sorted({f"`{check.id}`" for row in rows for check in by_row[row.id]})
            unseen = sum(row.unseen is not None for row in rows)
            yield f"| {section} | {len(rows)} | {', '.join(checks) or '-'} | {unseen or '-'} |"


def _by_section(text: str) -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for row in requirements():
        if row.document == text:
            found.setdefault(row.section.rpartition(" ")[2], []).append(row)
    return found


def _unseen() -> Iterator[str]:
    yield "## What cannot be seen from outside\n"
    by_reason: dict[str, list[Requirement]] = {}
    for row in requirements():
        if row.unseen is not None:
            by_reason.setdefault(row.unseen, []).append(row)
    for reason, rows in by_reason.items():
        yield f"**{reason}**\n"
        yield from (f"- {row.section} ({row.level}): {row.text}" for row in rows)
        yield ""


def _checks() -> Iterator[str]:
    yield "## All checks\n"
    yield "| Check | Demand | Level | Section | What it proves |"
    yield "|---|---|---|---|---|"
    for check in ALL_CHECKS:
        yield f"| `{check.id}` | {check.demand} | {check.level} | {check.section} | {check.title.replace('|', '/')} |"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
