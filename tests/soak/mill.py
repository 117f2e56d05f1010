"""What is served beside the bookshop: work that takes its time, and a look at the process that serves it.

``MILL_LEAK`` makes the server keep so many bytes of each echo, which is how it is shown that a leak is found.
"""

import asyncio
import ctypes
import gc
import os
import sys
import threading
from collections import Counter
from typing import Any

from headgate import Adapter, Background, Context

__all__ = ["LEAK", "MILL", "mill"]

MILL = "tests.soak.mill:mill"
LEAK = "MILL_LEAK"
_KEPT_SECONDS = 20
"""Executions are thrown away so soon after their end that a soak sees it."""

mill = Adapter("mill", "Work that takes its time")
_kept: list[bytes] = []


@mill.read
async def get_echo(text: str) -> str:
    """Give a text back."""
    if size := int(os.environ.get(LEAK, "0")):
        _kept.append(bytes(size))
    return text


@mill.read
async def get_late(milliseconds: int) -> int:
    """Answer late."""
    await asyncio.sleep(milliseconds / 1000)
    return milliseconds


@mill.execute(background=Background(keep=_KEPT_SECONDS))
async def execute_grind(milliseconds: int, ctx: Context) -> list[int]:
    """Work for so long, and tell how far it is."""
    steps = max(1, milliseconds // 10)
    for step in range(steps):
        await ctx.progress(step, steps, f"sack {step}")
        await asyncio.sleep(milliseconds / 1000 / steps)
    return list(range(steps))


@mill.execute(background=Background(keep=_KEPT_SECONDS))
def execute_grind_in_thread(milliseconds: int, ctx: Context) -> int:
    """The same in a thread."""
    for step in range(4):
        ctx.progress(step, 4)
        threading.Event().wait(milliseconds / 4000)
    return milliseconds


class _Mallinfo(ctypes.Structure):
    _fields_ = [(f"field_{place}", ctypes.c_size_t) for place in range(10)]


def _native() -> int:
    """The bytes that the C library has given away and not got back, whatever the system still counts as resident."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _Mallinfo
    found = ask()
    return int(found.field_7 + found.field_4)  # uordblks and hblkhd: in use, in arenas and beside them


@mill.read
async def get_census(kinds: bool = False) -> dict[str, Any]:
    """Count what lives in this process; with kinds, the objects of each type too, after a collection."""
    if kinds:
        for _ in range(3):
            gc.collect()
    census: dict[str, Any] = {"tasks": len(asyncio.all_tasks()), "threads": threading.active_count()}
    if kinds:
        census["native"] = _native()
        objects = Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
        census |= {"objects": objects.total(), "blocks": sys.getallocatedblocks(), "kinds": dict(objects)}
    return census
