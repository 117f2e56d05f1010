"""How memory is kept: a choice that is made where the C library knows it, and nowhere else."""

import platform
import subprocess
import sys

import anyio
import pytest

from headgate.server import housekeeping
from headgate.server.memory import give_back, keep_together

IS_GLIBC = platform.libc_ver()[0] == "glibc"
SCATTERED = """
from pathlib import Path
from headgate.server.memory import give_back, keep_together

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

keep_together()
pieces = [bytes(4000) for _ in range(20_000)]
kept = pieces[::100]
full = resident()
del pieces
freed = resident()
told = give_back()
print(told, freed / full, resident() / full)
"""


def test_glibc_is_told_to_keep_memory_together() -> None:
    assert keep_together() is IS_GLIBC


def test_elsewhere_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_together()
    assert not give_back()


def test_a_c_library_that_does_not_know_it_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    assert not keep_together()
    assert not give_back()


@pytest.mark.skipif(not IS_GLIBC, reason="it is glibc that keeps it")
def test_what_was_freed_between_what_is_used_is_returned() -> None:
    ran = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True)
    told, freed, returned = ran.stdout.split()
    assert told == "True"
    assert float(freed) > 0.9
    assert float(returned) < 0.5


@pytest.mark.anyio
async def test_a_server_returns_memory_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_BREATHER_SECONDS", 0.0)
    returned = anyio.Event(), anyio.Event()

    def give() -> bool:
        next(event for event in returned if not event.is_set()).set()
        return True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(housekeeping.keep_small, give)
        with anyio.fail_after(5):
            await returned[1].wait()
        tasks.cancel_scope.cancel()
