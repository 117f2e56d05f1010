"""The tables of wrapped servers: ``python -m tests.upstreams.table`` prints them, with ``--write`` into the pages."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio

from tests.support import ROOT
from tests.upstreams.figures import all_rows, cost_of, cost_table, precision_table, task_table, tool_table
from tests.upstreams.installing import install, missing_program
from tests.upstreams.listings import tools_of
from tests.upstreams.servers import SERVERS

__all__ = ["PAGES", "main", "tables", "with_tables"]

PAGES = (
    ROOT / "docs" / "wrapped-servers.md",
    ROOT / "docs" / "classified-tools.md",
    ROOT / "docs" / "tokens.md",
)
"""Where the tables stand, each between two marks with its name."""


async def tables() -> dict[str, list[str]]:
    """Every table by its name."""
    listed = {name: await tools_of(server) for name, server in SERVERS.items()}
    costs = {name: await cost_of(name, tools) for name, tools in listed.items()}
    rows = all_rows(listed)
    found = {"costs": cost_table(costs), "tasks": task_table(costs), "precision": precision_table(rows)}
    for name in SERVERS:
        found[f"tools-{name}"] = tool_table([row for row in rows if row.server == name])
    return found


def with_tables(page: str, found: Mapping[str, list[str]]) -> str:
    """A page with its tables as they are now."""

    def place(mark: re.Match[str]) -> str:
        return f"<!-- {mark[1]} -->\n" + "\n".join(found[mark[1]]) + "\n<!-- end -->" if mark[1] in found else mark[0]

    return re.sub(r"<!-- ([\w-]+) -->\n.*?<!-- end -->", place, page, flags=re.DOTALL)


def _write(page: Path, found: Mapping[str, list[str]]) -> None:
    page.write_text(with_tables(page.read_text(), found))


def main(words: list[str]) -> int:
    """Print the tables, or write them into the pages."""
    if missing := missing_program():
        sys.stderr.write(f"{missing}\n")
        return 1
    install()
    found = anyio.run(tables)
    if "--write" in words:
        for page in PAGES:
            _write(page, found)
    else:
        sys.stdout.write("\n\n".join("\n".join(table) for table in found.values()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
