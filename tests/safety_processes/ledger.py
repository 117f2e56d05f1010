"""An adapter whose deletions leave a trace on the disk: what was run can be compared with what the audit says of it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headgate import Adapter, Context

__all__ = ["LEDGER", "TRACES", "Trace", "ledger", "traces_in"]

LEDGER = "tests.safety_processes.ledger:ledger"
TRACES = "LEDGER_TRACES"
"""The variable that names the file of traces."""

ledger = Adapter("ledger", "Entries that can be deleted")


class Trace(NamedTuple):
    """One deletion that was run."""

    request_id: str
    key: str


def traces_in(path: Path) -> Sequence[Trace]:
    """All that was run so far; a line that was cut off is an error."""
    if not path.exists():
        return []
    text = path.read_text()
    assert not text or text.endswith("\n")
    return [Trace(*line.split("\t")) for line in text.splitlines()]


@ledger.delete
def delete_entry(key: str, ctx: Context) -> str:
    """Delete an entry; when this returns, the disk has a line of it."""
    file = os.open(os.environ[TRACES], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{ctx.request_id}\t{key}\n".encode())
        os.fsync(file)
    finally:
        os.close(file)
    return key


@ledger.read
async def get_limited(key: str) -> str:
    """Get an entry; a policy may limit how often."""
    return key


@ledger.read
async def get_metered(key: str) -> str:
    """Get an entry; a policy may have a quota of it."""
    return key
