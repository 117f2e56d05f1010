"""How well tools are told apart that nobody had in mind: ``python -m tests.upstreams.unseen`` measures it."""

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from tests.upstreams.classified import Row, rows_of
from tests.upstreams.figures import PRECISION_HEAD, score_line, tool_table
from tests.upstreams.labels import Label
from tests.upstreams.listings import Tools
from tests.upstreams.servers import FOLDER, Server, server_of
from tests.upstreams.sessions import connected
from tests.upstreams.trials import trial

__all__ = ["main"]

_SDK = ("mcp<2", "fastmcp<4")
Listed = Mapping[str, Any]


def _install(rows: Listed, folder: Path) -> None:
    """Install the servers of the list, as they were when they were labelled."""
    js = [f"{row['package']}@{row['version']}" for row in rows.values() if row["from"] == "js"]
    python = [f"{row['package']}=={row['version']}" for row in rows.values() if row["from"] == "sdk1"]
    for name in ("js", "sdk1"):
        (folder / name).mkdir()
    _run(folder / "js", "npm", "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund", *js)
    _run(folder / "sdk1", sys.executable, "-m", "venv", "--without-pip", ".venv")
    _run(folder / "sdk1", sys.executable, "-m", "pip", "--python", ".venv/bin/python", "install", "-q", *_SDK, *python)


def _run(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, stdout=sys.stderr)


async def _tools(server: Server, labels: Mapping[str, str]) -> Tools:
    with TemporaryDirectory(prefix="hg-", ignore_cleanup_errors=True) as folder:
        side = Path(folder)
        with trial(server, side / "home", "http://127.0.0.1:9") as place:
            async with connected(server.command(place), place.home, side) as session:
                return {name: tool for name, tool in session.tools.items() if name in labels}


async def _measured(rows: Listed, folder: Path) -> list[Row]:
    found: list[Row] = []
    for name, row in rows.items():
        labels = {tool: Label.read(text) for tool, text in row["labels"].items()}
        tools = await _tools(server_of(name, row, folder), row["labels"])
        found += rows_of(name, tools, labels)
    return found


def main() -> int:
    """Install, list, classify, and print how often that is right, and where it is not."""
    rows: Listed = tomllib.loads((FOLDER / "unseen.toml").read_text())
    with TemporaryDirectory(prefix="hg-unseen-") as folder:
        _install(rows, Path(folder))
        found = anyio.run(_measured, rows, Path(folder))
    lines = [score_line(row["package"], [one for one in found if one.server == name]) for name, row in rows.items()]
    wrong = [row for row in found if not (row.category_is_right and row.danger_is_right)]
    sys.stdout.write("\n".join([*PRECISION_HEAD, *lines, score_line("**all**", found), "", *tool_table(wrong)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
