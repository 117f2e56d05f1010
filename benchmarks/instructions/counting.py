"""Having the hot path counted: the program in valgrind, and what it wrote down."""

import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from benchmarks.instructions.comparing import REFERENCE, Count
from benchmarks.instructions.valgrind import MACHINES
from benchmarks.processes import ROOT

__all__ = ["count", "hindrance"]

_PACKAGES: Final = (
    *("anyio", "h11", "httptools", "jsonschema-rs", "mcp", "opentelemetry-sdk", "orjson", "pydantic-core"),
    *("sse-starlette", "starlette", "uvicorn"),
)
_WIDE: Final = ("avx2", "bmi2", "fma")
"""What a processor may have that changes which code libraries choose."""
_PATIENCE_SECONDS: Final = 900.0
_NAMED: Final = re.compile(r"^desc: Trigger: Client Request: (.+):(\d+)$", re.MULTILINE)
_TOTAL: Final = re.compile(r"^totals: (\d+)$", re.MULTILINE)


def hindrance() -> str | None:
    """Why nothing can be counted here; None if it can."""
    if platform.machine() not in MACHINES or sys.platform != "linux":
        return f"instructions are counted on Linux and {', '.join(MACHINES)} only"
    return None if shutil.which("valgrind") else "valgrind is not installed (apt install valgrind)"


def count(folder: Path) -> Count:
    """Run the program and read what it counted. What valgrind writes stays in the folder, a file for each path."""
    command = [
        *("valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/callgrind.out"),
        *(sys.executable, "-m", "benchmarks.instructions.program"),
    ]
    done = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(f"the program that is counted fails:\n{done.stdout}\n{done.stderr}")
    counts = dict(_counts(folder))
    return Count(builds=_builds(), reference=counts.pop(REFERENCE), paths=counts)


def _environment(home: Path) -> dict[str, str]:
    """Nothing of what the program is started from: no tracing of coverage, no settings, no other order of sets."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(home),
    }


def _counts(folder: Path) -> Iterator[tuple[str, int]]:
    """The instructions of one call of each path."""
    for file in sorted(folder.glob("callgrind.out*"), key=lambda one: one.stat().st_mtime_ns):
        text = file.read_text()
        named, total = _NAMED.search(text), _TOTAL.search(text)
        if named and total:
            yield named[1], round(int(total[1]) / int(named[2]))
            file.rename(folder / f"{re.sub('[^a-z0-9]+', '-', named[1].lower())}.callgrind")


def _builds() -> dict[str, str]:
    """Whose instructions are counted beside headgate's own."""
    cpu = Path("/proc/cpuinfo").read_text().split()
    return {
        "python": f"{platform.python_version()}, {platform.python_compiler()}",
        "libc": " ".join(platform.libc_ver()),
        "sqlite": sqlite3.sqlite_version,
        "processor": " ".join([platform.machine(), *(flag for flag in _WIDE if flag in cpu)]),
        **{name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
