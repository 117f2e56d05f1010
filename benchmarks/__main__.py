"""``python -m benchmarks [--quick] [--json FILE]``: every table, and the aims beside what was measured."""

import argparse
import asyncio
import json
import os
import platform
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from benchmarks.dispatch import dispatch
from benchmarks.registry import BuildTimes, registry
from benchmarks.tables import Cell, Table
from benchmarks.timing import Timing
from benchmarks.tokens import TokenCosts, tokens
from benchmarks.transports import BARE, FASTMCP, HEADGATE, OWN_CLIENT, Measured, through_mcp


@dataclass(frozen=True, slots=True)
class Effort:
    """How often each thing is measured."""

    dispatch_rounds: int
    mcp_rounds: int
    builds: int


FULL: Final = Effort(dispatch_rounds=100, mcp_rounds=100, builds=5)
QUICK: Final = Effort(dispatch_rounds=20, mcp_rounds=10, builds=3)


async def main(effort: Effort) -> list[Table]:
    """Measure everything, and print each table as soon as it is there."""
    started = time.monotonic()
    print(f"{_versions()}; {_load()} before\n")
    engine_table, plain = await dispatch(effort.dispatch_rounds)
    print(engine_table.text())
    mcp_table, measured = await through_mcp(effort.mcp_rounds)
    print("\n" + mcp_table.text())
    registry_table, built = await registry(effort.builds)
    print("\n" + registry_table.text())
    token_table, costs = await tokens()
    print("\n" + token_table.text())
    aims = _aims(plain, measured, built, costs)
    print("\n" + aims.text())
    print(f"\n{time.monotonic() - started:.0f} s; {_load()} after")
    return [aims, engine_table, mcp_table, registry_table, token_table]


def _versions() -> str:
    packages = ", ".join(f"{name} {_version(name)}" for name in ("headgate", "mcp", "fastmcp"))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def _load() -> str:
    """How busy the machine is with this and everything else, over the last minute."""
    return f"load {os.getloadavg()[0]:.2f}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _aims(plain: Timing, measured: Measured, built: BuildTimes, costs: TokenCosts) -> Table:
    """Every aim with the worst figure that counts for it."""
    rows: list[tuple[Cell, ...]] = [
        _aim("dispatch alone, µs", plain.median, 20.0),
        *(_aim(f"{wire}: headgate / {BARE}", _ratio(measured, wire, BARE), 1.10) for wire in measured),
    ]
    for wire, timings in measured.items():
        rivals = [name for name in (FASTMCP, OWN_CLIENT) if name in timings and wire.startswith("in process")]
        rows += [_aim(f"{wire}: headgate / {name}", _ratio(measured, wire, name), 0.50) for name in rivals]
    few, many = [costs[f"{size} operations, semantic"] for size in ("100", "10,000")]
    return Table(
        "Aims",
        ("", "measured", "aim", ""),
        (
            *rows,
            _aim("build 10,000 operations from functions, ms", max(built.plain, built.dataclasses), 1000.0),
            _aim("tools/list of 10,000 operations against 100, tokens more", many - few, 0),
            _aim("tools/list of 89 operations, semantic, tokens", costs["89 operations, semantic"], 900),
            _aim("tools/list of 89 operations, single, tokens", costs["89 operations, single"], 300),
        ),
    )


def _aim(name: str, value: float, most: float) -> tuple[Cell, ...]:
    return name, value, most, "reached" if value <= most else "missed"


def _ratio(measured: Measured, wire: str, name: str) -> float:
    return measured[wire][HEADGATE].median / measured[wire][name].median


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under 40 s instead of under 3 minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there too")
    given = parser.parse_args()
    tables = asyncio.run(main(QUICK if given.quick else FULL))
    if given.json:
        saved = {"machine": _versions(), "load": _load(), "tables": [table.wire() for table in tables]}
        given.json.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
