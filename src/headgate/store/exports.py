"""Rows of the audit in files: one JSON object a line, from which they can be read and verified again."""

import errno
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from headgate.protocol.canonical import canonical
from headgate.protocol.visible import json_line
from headgate.store.audit import GENESIS, Break, Head, Row
from headgate.store.verifying import Notice, Verification, Verifier

__all__ = ["ExportError", "NewExport", "line_of", "read_rows", "verify_files"]

_OFTEN: Final = 500


class ExportError(Exception):
    """A file cannot be read or written, or holds something else than rows; the words are for an operator."""


def line_of(row: Row) -> str:
    """The row as one line, without its end."""
    return json_line(row.wire())


def read_rows(path: Path) -> Iterator[tuple[Row, int]]:
    """The rows of a file, each with the number of bytes that end with it."""
    done = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                done += len(line)
                yield _row(line, path, number), done
    except OSError as error:
        raise ExportError(f"'{path}' cannot be read: {error.strerror or error}") from None


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        wire = json.loads(line.rstrip(), object_pairs_hook=_unlike, parse_constant=_no_number)
        canonical(wire)  # what has no spelling has no digest either
        row = Row.read(wire)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise ExportError(f"'{path}' line {number} is no row of an audit: {_reason(error)}") from None
    places: tuple[object, object, object] = (row.number, row.previous, row.digest)
    if type(places[0]) is not int or row.number < 1 or not all(_is_digest(text) for text in places[1:]):
        raise ExportError(f"'{path}' line {number} is no row of an audit: its number or a digest is none")
    return row


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, KeyError):
        return f"it has no field {error}"
    if isinstance(error, _Twice):
        return str(error)
    return "it has other fields than a row, or values that JSON cannot hold"


class _Twice(ValueError):
    """A field that a program could read in two ways."""


def _unlike(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys all differ: of two equal ones, some programs would take the first and others the last."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice("it has the same field twice")
    return found


def _no_number(text: str) -> None:
    raise ValueError(text)


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and text.isascii()


def verify_files(
    paths: Sequence[Path], key: bytes = b"", noted: Head | None = None, notice: Notice | None = None
) -> Verification:
    """Look at every row of files that continue each other. They may begin with any row, not only with the first."""
    verifier: Verifier | None = None
    total, before = sum(map(_size, paths)), 0
    for path in paths:
        done = 0
        for number, (row, done) in enumerate(read_rows(path), 1):
            verifier = verifier or Verifier(_start_before(row), key, noted)
            if not verifier.takes(row):
                return _named(verifier.result(), path)
            if notice is not None and number % _OFTEN == 0:
                notice(before + done, total)
        if done == 0:
            place = verifier.place if verifier else GENESIS
            return Verification(place, place, Break(place.number + 1, f"'{path}' holds no rows"))
        before += done
    return (verifier or Verifier()).result()


def _size(path: Path) -> int:
    with suppress(OSError):  # whoever reads it tells why
        return path.stat().st_size
    return 0


def _start_before(row: Row) -> Head:
    return GENESIS if row.number == 1 else Head(row.number - 1, row.previous)


def _named(result: Verification, path: Path) -> Verification:
    if result.broken is None:
        return result
    return replace(result, broken=replace(result.broken, reason=f"{result.broken.reason} (in '{path}')"))


class NewExport:
    """A file that appears under its name once all of it is on the disk, and never replaces another.

    ``with NewExport(path) as export`` writes beside it; without ``publish`` nothing is left.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._refuse_if_there()
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        except OSError as error:
            raise _unwritable(path, error) from None
        self.part = Path(name)
        self._file = os.fdopen(handle, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._file.close()
        self.part.unlink(missing_ok=True)

    def write(self, row: Row) -> None:
        """Add a row."""
        try:
            self._file.write(f"{line_of(row)}\n".encode())
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def finish(self) -> None:
        """Bring what was written to the disk; ``part`` is where it can be read again."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def publish(self) -> None:
        """Give the file its name, unless somebody has taken it meanwhile."""
        try:
            os.link(self.part, self.path)  # which never replaces a file, as renaming would
        except FileExistsError:
            raise _taken(self.path) from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise _unwritable(self.path, error) from None
            self._rename()
        _sync_folder(self.path.parent)

    def _rename(self) -> None:
        """The way for disks that cannot give a file two names."""
        self._refuse_if_there()
        try:
            self.part.rename(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def _refuse_if_there(self) -> None:
        if os.path.lexists(self.path):
            raise _taken(self.path)


def _taken(path: Path) -> ExportError:
    return ExportError(f"'{path}' is there already, and nothing is written over it; name a new file")


def _unwritable(path: Path, error: OSError) -> ExportError:
    return ExportError(f"'{path}' cannot be written: {error.strerror or error}")


def _sync_folder(folder: Path) -> None:
    """Have the disk know the new name too, where systems let a folder be synchronised."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
