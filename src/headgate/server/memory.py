"""How the C library keeps memory. Measured choices are in docs/scale.md."""

import ctypes
import sys
from typing import Final

__all__ = ["keep_together"]

_ARENA_MAX: Final = -8
"""The name of the setting in glibc, M_ARENA_MAX."""


def keep_together() -> bool:
    """Have all threads take memory from one place, and tell whether that could be said.

    Otherwise each thread of a pool has a place of its own, and what it frees there stays resident for it alone, so that
    a server grows for hours though nothing more is in use. To be called before there are threads.
    """
    choose = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return choose is not None and bool(choose(_ARENA_MAX, 1))
