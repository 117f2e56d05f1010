"""``python -m benchmarks [SUITE...]``: measure, print every table, and write the page of all suites."""

import argparse
import asyncio
import errno
import os
import platform
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.aims import aims_table
from benchmarks.chapters import Chapter, Run, UnreadableRunError, read_run, write_run
from benchmarks.noise import TooNoisyError, Watch, calm
from benchmarks.page import write_page
from benchmarks.processes import ROOT
from benchmarks.suites import FULL, QUICK, SUITES, Effort
from benchmarks.timing import stop_if_asked
from benchmarks.tokens import PACKAGE, can_count

_PACKAGES: Final = ("headgate", "mcp", "fastmcp", "strawberry-graphql", "datasette", "psycopg", "procrastinate")
_PATIENCE_SECONDS: Final = 180.0
_TRIES: Final = 2
_FEWEST_ROWS: Final = 1000
_CURSOR_KEY: Final = "HEADGATE_CURSOR_KEY"
_PAGE: Final = ROOT / "docs" / "benchmarks.md"
_KEPT: Final = _PAGE.with_suffix(".json")
_INTERRUPTED: Final = 130
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Keep: TypeAlias = Callable[[Sequence[Chapter]], None]
"""What is done with the suites that are measured by now."""


async def measure(names: Sequence[str], effort: Effort, keep: Keep, *, anyway: bool) -> list[Chapter]:
    """Every suite, printed and kept as soon as it is there: what comes later may fail, and take long."""
    chapters: list[Chapter] = []
    for name in names:
        measured = _as_it_is(name, effort) if anyway else _undisturbed(name, effort, chapters)
        chapters.append(await _unless_stopped(measured))
        keep(chapters)
    return chapters


async def _unless_stopped(measured: Coroutine[Any, Any, Chapter]) -> Chapter:
    """A suite. What fails once Ctrl-C was pressed fails because of that, and is not told."""
    try:
        return await measured
    except (Exception, BaseExceptionGroup):
        stop_if_asked()
        raise


async def _undisturbed(name: str, effort: Effort, before: Sequence[Chapter]) -> Chapter:
    """A suite on a quiet machine: waited for, and once more where something came between."""
    for tries_left in reversed(range(_TRIES)):
        chapter = await _measured(name, effort, await calm(_PATIENCE_SECONDS))
        is_slow = any(chapter.noise.is_slow_beside(one.noise) for one in before)
        complaint = chapter.noise.complaint or ("the machine had become slower" if is_slow else None)
        if not complaint or not tries_left:
            break
        print(f"This was disturbed: {complaint}. Once more.\n", flush=True)
    return chapter


async def _as_it_is(name: str, effort: Effort) -> Chapter:
    return await _measured(name, effort, Watch())


async def _measured(name: str, effort: Effort, watch: Watch) -> Chapter:
    suite = SUITES[name]
    started = time.monotonic()
    tables, aims = await suite.run(effort)
    seconds = time.monotonic() - started
    print(f"## {suite.title} ({seconds:.0f} s)\n", flush=True)
    for table in tables:
        print(table.text() + "\n", flush=True)
    return Chapter(name, suite.title, tuple(tables), tuple(aims), await watch.noise(), seconds)


def _versions() -> str:
    packages = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _run(names: Sequence[str], effort: Effort, file: Path | None, *, anyway: bool) -> Run:
    machine, date = _versions(), datetime.now(UTC).date().isoformat()

    def run_of(chapters: Sequence[Chapter]) -> Run:
        return Run(machine, date, tuple(chapters))

    keep = partial(_keep, run_of, file)
    run = run_of(asyncio.run(measure(names, effort, keep, anyway=anyway)))
    if run.aims:
        print(aims_table(run.aims).text() + "\n")
    print("\n".join(_verdict(run)))
    return run


def _verdict(run: Run) -> list[str]:
    if run.complaint is None:
        return ["The machine was quiet."]
    return [f"The machine was too noisy: {run.complaint}.", "Do not keep these figures, nor what they say of the aims."]


def _again(names: Sequence[str], effort: Effort, file: Path | None) -> Run:
    """The kept run with some of its suites measured anew."""
    kept = read_run(_KEPT)
    keep = partial(_keep, kept.with_anew, file)
    run = kept.with_anew(asyncio.run(measure(names, effort, keep, anyway=False)))
    print("\n".join(_verdict(run)))
    return run


def _keep(run_of: Callable[[Sequence[Chapter]], Run], file: Path | None, chapters: Sequence[Chapter]) -> None:
    if file:
        write_run(run_of(chapters), file)


def _count(text: str) -> int:
    """A number of rows."""
    if not text.isdecimal() or int(text) < _FEWEST_ROWS:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from {_FEWEST_ROWS:,} on; suites stand before --rows")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, in less than half the time")
    parser.add_argument(
        "--rows", type=_count, nargs="+", help="how large the databases' tables are; 1,000,000 by default"
    )
    parser.add_argument("--anyway", action="store_true", help="measure on a busy machine too; nothing is written")
    parser.add_argument("--again", action="store_true", help=f"measure some suites of {_KEPT.name} anew, and its page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was measured there, as soon as it is")
    parser.add_argument("--page", action="store_true", help=f"measure nothing: make the page anew of {_KEPT.name}")
    return parser


def _asked() -> argparse.Namespace:
    """What was asked for, if it can be done."""
    parser = _parser()
    given = parser.parse_args()
    if unknown := set(given.suites) - set(SUITES):
        parser.error(f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    if given.again and not given.suites:
        parser.error("--again needs the names of suites")
    if given.again and (given.anyway or given.quick or given.rows):
        parser.error("--again measures as the whole run does: leave --anyway, --quick and --rows out")
    if given.page and (given.suites or given.again or given.anyway or given.quick or given.rows or given.json):
        parser.error("--page measures nothing, and goes with nothing else")
    if (given.page or given.again) and (problem := _why_not_read(_KEPT)):
        parser.error(problem)
    if given.json and (problem := _why_not_written(given.json)):
        parser.error(f"--json '{given.json}' {problem}")
    left_out = _left_out(given)
    if left_out and (given.again or left_out == _meant(given)):
        parser.error(_uncounted(left_out))
    return given


def _meant(given: argparse.Namespace) -> list[str]:
    """The suites that were named, or all."""
    return given.suites or list(SUITES)


def _left_out(given: argparse.Namespace) -> list[str]:
    """Those of them that count tokens, where nothing is installed that does."""
    return [] if given.page or can_count() else [name for name in _meant(given) if SUITES[name].counts_tokens]


def _uncounted(names: Sequence[str]) -> str:
    """Why some suites cannot be measured here."""
    return f"{', '.join(names)}: {PACKAGE}, which counts tokens, is not installed here; 'make bench' installs it"


def _tell_left_out(names: Sequence[str]) -> None:
    if names:
        print(f"Not measured: {_uncounted(names)}.\n", flush=True)


def _why_not_read(kept: Path) -> str | None:
    """Why there is no run that could be made a page of."""
    if not kept.exists():
        return f"{kept.relative_to(ROOT)} is not there: run without SUITE and options first"
    try:
        read_run(kept)
    except UnreadableRunError as error:
        return str(error)
    return None


def _why_not_written(file: Path) -> str | None:
    """Why nothing can be kept in a file, told before it takes an hour to make what shall be."""
    try:
        if file.is_dir():
            return "is a folder: name a file in it"
        folder = file.absolute().parent
        is_writable = folder.is_dir() and os.access(file if file.exists() else folder, os.W_OK)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return None if is_writable else "cannot be written"


def main() -> int:
    """Do what was asked for. Ctrl-C ends it quietly, and so does a device that is full, in one line."""
    try:
        try:
            return _done(_asked())
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries once more at its end
        print(f"python -m benchmarks: what was to be written does not fit: {error.strerror}", file=sys.stderr)
        return 1


def _done(given: argparse.Namespace) -> int:
    """Measure what was asked for. The page is written when that was everything, on a quiet machine."""
    os.environ.setdefault(_CURSOR_KEY, "one for all machines, since not all cost the same")
    if given.page:
        write_page(read_run(_KEPT), _PAGE)
        return 0
    effort = QUICK if given.quick else FULL
    left_out = _left_out(given)
    is_part = (given.suites and not given.again) or given.quick or given.anyway or given.rows or left_out
    _tell_left_out(left_out)
    if given.rows:
        effort = replace(effort, rows=tuple(given.rows))
    try:
        if given.again:
            run = _again(given.suites, effort, given.json)
        else:
            names = [name for name in _meant(given) if name not in left_out]
            run = _run(names, effort, given.json, anyway=given.anyway)
    except TooNoisyError as error:
        print(f"{error} Try again when the machine is quiet, or see the tables with --anyway.")
        return 1
    _tell_left_out(left_out)
    if left_out or (run.complaint and not given.anyway):
        return 1
    if not is_part:
        write_run(run, _KEPT)
        write_page(run, _PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
