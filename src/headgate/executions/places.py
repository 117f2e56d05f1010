"""Where processes are: of those on this very machine it can be told at once whether they live."""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

from headgate.store.workers import Worker

__all__ = ["is_dead", "is_here", "place_here"]


def place_here() -> str:
    """This machine, and the space that its process numbers count in: containers have their own."""
    space = ""
    with suppress(OSError):
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname()} {space}".rstrip()


def is_here(worker: Worker) -> bool:
    """Whether a process is one of this very machine, whose number tells whether it lives."""
    return sys.platform != "win32" and worker.place == place_here()


def is_dead(worker: Worker) -> bool:
    """Whether a process of this very machine is surely gone; of others nobody knows."""
    if not is_here(worker):
        return False
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _is_zombie(worker.pid)


def _is_zombie(pid: int) -> bool:
    """Whether a process is dead and nobody has asked how it ended, as in containers without a proper first process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1] == ["Z"]
    return False
