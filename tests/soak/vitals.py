"""How a process is: what the system and the process itself say of it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.soak.trends import Allowed
from tests.soak.wires import Client

__all__ = ["Census", "Vitals", "census_of", "vitals_of"]

_SESSION = "mcp.server.streamable_http.StreamableHTTPServerTransport"


@dataclass(frozen=True, kw_only=True)
class Vitals:
    """One look at a process."""

    at: float
    requests: int
    """How many were sent to it so far."""
    kilobytes: int
    """Resident."""
    handles: int
    threads: int


def vitals_of(pid: int, requests: int, began: float) -> Vitals:
    """What the system says."""
    process = Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Vitals(
        at=time.monotonic() - began,
        requests=requests,
        kilobytes=int(status["VmRSS"].split()[0]),
        handles=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
    )


@dataclass(frozen=True, kw_only=True)
class Census:
    """What lives in a process while nobody asks it for anything."""

    vitals: Vitals
    tasks: int
    objects: int
    blocks: int
    """Small pieces of memory that Python has in use: exact, where the resident size is coarse."""
    native: int
    """Bytes that the C library has given away: what is not so small, and what is not Python's."""
    kinds: Mapping[str, int]

    @property
    def sessions(self) -> int:
        """Open sessions of the older era."""
        return self.kinds.get(_SESSION, 0)

    def more_than(self, before: "Census", allowed: Allowed) -> Mapping[str, int]:
        """The types of which there are more than before, by more than is allowed."""
        thousands = (self.vitals.requests - before.vitals.requests) / 1000
        more = {name: number - before.kinds.get(name, 0) for name, number in self.kinds.items()}
        most = max(allowed.each_thousand * thousands, allowed.in_all)
        return dict(sorted(((name, number) for name, number in more.items() if number > most), key=lambda one: -one[1]))


async def census_of(client: Client, vitals: Vitals) -> Census:
    """What the process says; its own answer is made twice, so that the first has left nothing behind."""
    for _ in range(2):
        found = (await client.call("read", "get_census", kinds=True))["data"]
    counted = {name: found[name] for name in ("tasks", "objects", "blocks", "native", "kinds")}
    return Census(vitals=vitals, **counted)
