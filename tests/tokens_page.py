"""What docs/tokens.md shows: ``python -m tests.tokens_page --write`` runs its commands and writes the page anew."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support import ROOT

__all__ = ["CHARTS", "PAGE", "made_anew", "main"]

PAGE = ROOT / "docs" / "tokens.md"
CHARTS = "docs/charts"
_HEADGATE = (sys.executable, "-c", "from headgate.cli import main; main()")
_SHOWN = re.compile(r"^```\n> headgate (tokens .*|tokens)\n(?:.*\n)*?```$", re.MULTILINE)
_WIDEST = 120


def made_anew(page: str, folder: Path) -> str:
    """The page with what its commands print now; their charts go to a folder."""
    return _SHOWN.sub(lambda found: f"```\n> headgate {found[1]}\n{_printed(found[1], folder)}```", page)


def _printed(words: str, folder: Path) -> str:
    called = shlex.split(words.replace(CHARTS, str(folder)))
    run = subprocess.run([*_HEADGATE, *called], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    lines = run.stdout.splitlines()
    table = [line.split("\t") for line in lines if "\t" in line]
    return "".join(f"{line}\n" for line in [*_aligned(table), "", *_told(lines)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _told(lines: Sequence[str]) -> list[str]:
    """The sentences, broken where they are wider than a page."""
    return [
        piece.strip() for line in lines if "\t" not in line for piece in re.findall(rf".{{1,{_WIDEST}}}(?:\s|$)", line)
    ]


def main(words: Sequence[str]) -> int:
    """Print the page, or write it and its charts."""
    page = made_anew(PAGE.read_text(), ROOT / CHARTS)
    if "--write" in words:
        PAGE.write_text(page)
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
