"""Old rows of the audit move from the store to a file, and the chain goes on in both."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from headgate.store.audit import PRUNED, Entry, Row
from headgate.store.exports import ExportError, NewExport, verify_files
from headgate.store.interface import Store
from headgate.store.verifying import Notice, Verification, Verifier

__all__ = ["IsOld", "Rotated", "rotate"]

IsOld: TypeAlias = Callable[[Row], bool]
"""Which rows move; the first that does not is where the moving ends."""

_OFTEN: Final = 500


@dataclass(frozen=True, slots=True)
class Rotated:
    """The rows that are in the file, and how many of them left the store."""

    moved: Verification
    taken: int


async def rotate(
    store: Store, path: Path, is_old: IsOld, *, key: bytes, by: str, now: float, notice: Notice | None = None
) -> Rotated:
    """Move the oldest rows to a new file. Unless every one of them verifies, there and back, nothing changes."""
    while True:
        moved = await _moved(store, path, is_old, key, notice)
        if moved.broken is None or await store.start() == moved.start:
            break
        # Somebody else has taken out old rows meanwhile, which looked like a gap.
    if moved.broken is not None or moved.head == moved.start:
        return Rotated(moved, 0)
    last = moved.head
    name = os.fsencode(path.name).decode(errors="replace")  # a name may be no text at all, and the audit holds text
    details = {"through": last.number, "digest": last.digest, "file": name}
    entry = Entry(at=now, event=PRUNED, adapter="", caller=by, details=details)
    return Rotated(moved, await store.prune(last.number, entry))


async def _moved(store: Store, path: Path, is_old: IsOld, key: bytes, notice: Notice | None) -> Verification:
    """Bring rows to a file, which appears only if all is well with them."""
    with NewExport(path) as export:
        moved = await _written(store, export, is_old, key, notice)
        if moved.broken is None and moved.head != moved.start:
            export.finish()
            again = verify_files([export.part], key)
            if (again.start, again.head, again.broken) != (moved.start, moved.head, None):
                raise ExportError(f"'{path}' does not read back as it was written; nothing was taken out of the store")
            export.publish()
    return moved


async def _written(store: Store, export: NewExport, is_old: IsOld, key: bytes, notice: Notice | None) -> Verification:
    start, end = await store.start(), await store.head()
    verifier = Verifier(start, key)
    async for row in store.rows(after=start.number):
        if not is_old(row) or not verifier.takes(row):
            break
        export.write(row)
        if notice is not None and row.number % _OFTEN == 0:
            notice(row.number - start.number, end.number - start.number)
    return verifier.result()
