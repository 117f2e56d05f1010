"""How the C library keeps memory. Measured choices are in docs/scale.md."""

import ctypes
import sys
from collections.abc import Callable
from typing import Any, Final

__all__ = ["give_back", "keep_together"]

_ARENA_MAX: Final = -8
"""The name of the setting in glibc, M_ARENA_MAX."""


def keep_together() -> bool:
    """Have all threads take memory from one place, and tell whether that could be said.

    Otherwise each thread of a pool has a place of its own, and what it frees there stays resident for it alone, so that
    a server grows for hours though nothing more is in use. To be called before there are threads.
    """
    choose = _of_glibc("mallopt")
    return choose is not None and bool(choose(_ARENA_MAX, 1))


def give_back() -> bool:
    """Return to the system what was freed, and tell whether there was any of it.

    The C library returns only what lies at the end of that place. The rest would stay resident: pieces between others
    that are still used, and ever more of them.
    """
    trim = _of_glibc("malloc_trim")
    return trim is not None and bool(trim(0))


def _of_glibc(name: str) -> Callable[..., Any] | None:
    """A function of the C library, where it is there."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
