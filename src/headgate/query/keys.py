"""The key that cursors are signed with: the same for all processes of a user, so that a cursor outlives its server."""

import os
import secrets
import sys
from functools import cache
from pathlib import Path
from typing import Final

from headgate.protocol.adapter_errors import AdapterError

__all__ = ["cursor_key"]

_VARIABLE: Final = "HEADGATE_CURSOR_KEY"
_SHORTEST: Final = 16


@cache
def cursor_key() -> bytes:
    """The key of HEADGATE_CURSOR_KEY, or one that is made once and kept in the user's own state directory."""
    given = os.environ.get(_VARIABLE, "")
    if given:
        if len(given) < _SHORTEST:
            raise AdapterError(f"{_VARIABLE} must have {_SHORTEST} characters or more, or it could be guessed.")
        return given.encode()
    return _kept(_directory() / "cursor.key")


def _directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "headgate"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "headgate"


def _kept(file: Path) -> bytes:
    """The key in a file that only its owner can read; where there can be none, one for this process alone."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(file)
        key = file.read_bytes()
    except OSError:
        key = b""
    return key if len(key) >= _SHORTEST else secrets.token_bytes(32)


def _make(file: Path) -> None:
    """Write a new key as a whole, unless another process has: the first one stays."""
    if file.exists():
        return
    draft = file.with_name(f".{secrets.token_hex(8)}")
    draft.touch(mode=0o600)
    try:
        draft.write_bytes(secrets.token_bytes(32))
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
