"""``headgate audit``: what happened, whether it was tampered with, and where old rows go."""

import re
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from headgate.cli.audit_filters import Filters
from headgate.cli.audit_reading import Reading
from headgate.cli.audit_rows import Format, writer
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import WHOLE, AsJson
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.progress import progress
from headgate.cli.state import State, login_name, open_state
from headgate.protocol.visible import json_line
from headgate.server.settings import SettingError, audit_key
from headgate.store.audit import Break, Head, Row
from headgate.store.exports import ExportError, verify_files
from headgate.store.interface import Tampered
from headgate.store.rotating import IsOld, Rotated, rotate
from headgate.store.verifying import Notice, Verification, verify

__all__ = ["audit"]

_LAST: Final = 50
_DAY: Final = 86400.0
_HEAD: Final = re.compile(r"0:|([1-9][0-9]{0,17}):([0-9a-fA-F]{64})")

audit = App(name="audit", help_format="plaintext")


def _flag(help_text: str, **more: Any) -> Parameter:
    return Parameter(help=help_text, negative=(), show_default=False, **more)


@audit.default
def show(
    *,
    state: State = None,
    filters: Filters = Filters(),  # noqa: B008  (frozen)
    last: Annotated[int | None, _flag(f"How many rows, the latest last; {_LAST} unless said."), WHOLE] = None,
    all_rows: Annotated[bool, _flag("All rows.", name="--all")] = False,
    follow: Annotated[bool, _flag("Go on as rows appear, until Ctrl-C.", name=["--follow", "-f"])] = False,
    form: Annotated[
        Format | None, _flag("text, jsonl (one row a line, which verify takes) or csv.", name="--format")
    ] = None,
    json: Annotated[bool, _flag("The same as --format jsonl.")] = False,
) -> int:
    """Show the latest rows of the audit: what was asked, decided, approved and done."""

    async def work() -> int:
        if last is not None and all_rows:
            raise SettingError("--last and --all exclude each other")
        if last is not None and last < 0:
            raise SettingError(f"--last must be 0 or more, not {last}")
        if json and form not in (None, "jsonl"):
            raise SettingError(f"--json and --format {form} exclude each other")
        matches = filters.matches(time.time())
        async with open_state(state) as store:
            reading = Reading(store, matches, writer("jsonl" if json else form or "text", follows=follow))
            await (reading.show_all() if all_rows else reading.show_last(_LAST if last is None else last))
            if follow:
                await reading.follow()
        return OK

    return _interruptible(work, OK if follow else FAILED)


@audit.command(name="verify")
def verify_rows(
    *files: Annotated[Path, Parameter(help="JSON lines that audit wrote; several in order must continue each other.")],
    state: State = None,
    head: Annotated[
        str | None,
        Parameter(
            help="A head that verify printed earlier, N:DIGEST; its row must still be there.", show_default=False
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Verify that no row of the audit was changed, removed, added or reordered.

    Without files it looks at the store. HEADGATE_AUDIT_KEY must be the key that rows were written with.

    Keep the head that it prints elsewhere: only with it one can tell that the last rows were cut off.

    Exit code 0: the rows are as they were written; 1: they are not; 2: wrong usage, or a file of other things.
    """

    async def work() -> int:
        noted = _head(head)
        with progress("verifying") as bar:
            result = await _verification(files, state, noted, bar)
        return _tell(result, as_json=json)

    return _interruptible(work, FAILED)


@audit.command(name="rotate")
def rotate_rows(
    *,
    to: Annotated[Path, Parameter(help="A new file for the old rows; nothing is written over.")],
    keep_days: Annotated[
        float | None, Parameter(help="Rows that are older than so many days move.", show_default=False)
    ] = None,
    through: Annotated[int | None, Parameter(help="Rows up to this number move.", show_default=False), WHOLE] = None,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Move old rows to a file, and tell of it in the audit. Both the file and the rest still verify."""

    async def work() -> int:
        is_old = _is_old(keep_days, through)
        async with open_state(state) as store:
            with progress("moving rows") as bar:
                try:
                    rotated = await rotate(
                        store, to, is_old, key=audit_key(), by=login_name(), now=time.time(), notice=bar
                    )
                except ExportError as error:
                    raise SettingError(str(error)) from None
        return _tell_rotated(rotated, to, as_json=json)

    return _interruptible(work, FAILED)


def _interruptible(work: Callable[[], Coroutine[Any, Any, int]], code: int) -> int:
    """Run the work; who interrupts it knows why."""
    try:
        return guarded(work)
    except KeyboardInterrupt:
        if code != OK:
            complain("interrupted")
        return code


def _head(text: str | None) -> Head | None:
    if text is None:
        return None
    found = _HEAD.fullmatch(text.strip())
    if found is None:
        raise SettingError(f"--head: '{text}' is no head; it is what 'headgate audit verify' prints last: N:DIGEST")
    return Head(int(found[1] or 0), (found[2] or "").lower())


async def _verification(files: Sequence[Path], state: str | None, noted: Head | None, notice: Notice) -> Verification:
    if files:
        try:
            return verify_files(files, audit_key(), noted, notice)
        except ExportError as error:
            raise SettingError(str(error)) from None
    async with open_state(state) as store:
        try:
            return await verify(store, audit_key(), noted, notice)
        except Tampered as error:
            nowhere = Head(0, "")
            return Verification(nowhere, nowhere, Break(0, str(error)))


def _tell(result: Verification, *, as_json: bool) -> int:
    broken = result.broken
    if as_json:
        print_line(json_line(_wire(result)))
        return OK if broken is None else FAILED
    if broken is not None:
        complain(_words(result, broken))
        return FAILED
    print_line(_whole(result))
    print_line(str(result.head))
    return OK


def _whole(result: Verification) -> str:
    first, last = result.start.number + 1, result.head.number
    if first > last:
        return "there are no rows yet"
    return f"rows {first} to {last} are as they were written" if first < last else f"row {last} is as it was written"


def _words(result: Verification, broken: Break) -> str:
    place = f"row {broken.number}: " if broken.number else ""
    return f"{place}{broken.reason}{_key_hint() if result.may_be_key else ''}"


def _key_hint() -> str:
    if audit_key():
        return ", or it was written with another key than HEADGATE_AUDIT_KEY is now, or with none"
    return ", or it was written with a key: then set HEADGATE_AUDIT_KEY to it"


def _wire(result: Verification) -> dict[str, object]:
    broken = result.broken
    found = {"row": broken.number, "reason": _words(result, broken)} if broken else None
    return {
        "valid": broken is None,
        "first": result.start.number + 1,
        "last": result.head.number,
        "head": str(result.head),
        "broken": found,
    }


def _is_old(keep_days: float | None, through: int | None) -> IsOld:
    if (keep_days is None) == (through is None):
        raise SettingError("Say which rows move: either --keep-days N or --through N")
    if through is not None:
        if through < 1:
            raise SettingError(f"--through must be the number of a row, not {through}")
        last = through
        return lambda row: row.number <= last
    days = keep_days or 0.0
    if not 0 <= days < float("inf"):
        raise SettingError(f"--keep-days must be 0 or more, not {days:g}")
    before = time.time() - days * _DAY

    def is_old(row: Row) -> bool:
        at: object = row.entry.at
        return isinstance(at, int | float) and at < before

    return is_old


def _tell_rotated(rotated: Rotated, to: Path, *, as_json: bool) -> int:
    moved = rotated.moved
    if moved.broken is not None:
        complain(f"nothing was moved: {_words(moved, moved.broken)}; see 'headgate audit verify'")
        return FAILED
    first, last = moved.start.number + 1, moved.head.number
    count = last - first + 1
    if as_json:
        file = str(to) if count else None
        print_line(json_line({"moved": count, "taken_out": rotated.taken, "file": file, "head": str(moved.head)}))
    elif count == 0:
        complain("no row is that old: nothing was moved")
    else:
        others = count - rotated.taken
        now = (
            f"{others} of them were taken out by somebody else meanwhile"
            if others
            else f"row {last + 1} is the first now"
        )
        print_line(f"rows {first} to {last} are in '{to}'; {now}")
        print_line(str(moved.head))
    return OK
