"""A real server under a mixed load for a long time, and what becomes of it."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from headgate.sources.bookshop import build_bookshop
from tests.cli.starting import free_port
from tests.server.processes import Serving, serve_http
from tests.soak.mill import LEAK, MILL
from tests.soak.trends import Allowed, Point, Trend, trend_of
from tests.soak.visits import Visitor, tokens_file
from tests.soak.vitals import Census, Vitals, census_of, vitals_of

__all__ = ["Length", "Soak", "soaked_server"]

_IDLE_SECONDS = 3
_SOURCES = f"""
name = "soak"
state = "state.db"
policy = "policy.toml"
[sources.shop]
source = "shop.db"
[sources.mill]
source = "{MILL}"
"""
_POLICY = "[confirmation]\nrefusals_per_minute = 1000000\n"

IN_USE = Allowed(each_thousand=100.0, in_all=8192.0)
"""Kilobytes that the C library has given away, from quiet to quiet: a leak of 100 bytes a request makes as much."""
RESIDENT = Allowed(each_thousand=100.0, in_all=24_576.0)
"""Kilobytes under load. They are coarse: of what was freed, much stays resident, in pieces."""
BLOCKS = Allowed(each_thousand=150.0, in_all=2000.0)
"""Between two moments of quiet; caches that are not full yet explain the second figure."""
KINDS = Allowed(each_thousand=20.0, in_all=500.0)
"""Objects of one type, for the same."""
BESIDE = 10
"""Tasks, threads and handles: what pools may have opened meanwhile."""


@dataclass(frozen=True)
class Length:
    """How long, how many, and how fast."""

    seconds: float
    visitors: int = 4
    thinking: float = 0.01
    """Seconds that a visitor waits after each visit."""
    quiets: int = 2
    """Moments in which everybody waits, and the server is counted: the first after an eighth of the time, or two."""

    @property
    def stretches(self) -> list[float]:
        """The seconds of load before each of these moments."""
        warming = self.seconds / 4 if self.quiets == 2 else self.seconds / 8
        rest = (self.seconds - warming) / (self.quiets - 1)
        return [warming, *[rest] * (self.quiets - 1)]


@contextmanager
def soaked_server(folder: Path, leak: int = 0) -> Iterator[Serving]:
    """The bookshop and the mill behind one gate, with tokens, a policy and a state in a file; it is not measured."""
    build_bookshop(folder / "shop.db")
    for name, text in {"soak.toml": _SOURCES, "policy.toml": _POLICY, "tokens.toml": tokens_file()}.items():
        (folder / name).write_text(text)
    words = (str(folder / "soak.toml"), "--tokens", str(folder / "tokens.toml"), "--session-idle", str(_IDLE_SECONDS))
    with patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
            del os.environ[name]
        env = {LEAK: str(leak)} if leak else {}
        serving = serve_http(*words, "--log-level", "warning", port=free_port(), env=env)
        with serving as running:
            yield running


@dataclass
class Soak:
    """What visitors do to a server, and what is seen of it."""

    serving: Serving
    length: Length
    visits: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    seen: list[Vitals] = field(default_factory=list)
    """Under load."""
    counted: list[Census] = field(default_factory=list)
    """In moments of quiet."""

    def __post_init__(self) -> None:
        names = ("alice", "bob")
        self._visitors = [Visitor(self.serving.port, names[place % 2], place) for place in range(self.length.visitors)]
        self._began = time.monotonic()

    @property
    def requests(self) -> int:
        """How many were sent."""
        return sum(visitor.sent for visitor in self._visitors)

    async def run(self) -> None:
        """All of it."""
        try:
            await self._ready()
            for number, seconds in enumerate(self.length.stretches):
                await self._loaded(seconds, is_seen=number > 0)
                await self._quiet()
        finally:
            for visitor in self._visitors:
                visitor.client.line.leave()
            await asyncio.sleep(0.1)  # connections are closed by the loop

    async def _ready(self) -> None:
        """Until both sources are served, by another process."""
        async with asyncio.timeout(60):
            while not (await self._visitors[0].client.call("read", "get_book", id=1))["success"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    async def _loaded(self, seconds: float, *, is_seen: bool) -> None:
        until = time.monotonic() + seconds
        sampling = asyncio.create_task(self._sample(seconds / 60)) if is_seen else None
        await asyncio.gather(*(self._visit(visitor, until) for visitor in self._visitors))
        if sampling:
            sampling.cancel()

    async def _visit(self, visitor: Visitor, until: float) -> None:
        while time.monotonic() < until:
            try:
                self.visits[await visitor.once()] += 1
            except AssertionError as error:
                self.errors.append(str(error)[:500])
                visitor.client.line.leave()
            await asyncio.sleep(self.length.thinking)

    async def _sample(self, every: float) -> None:
        while True:
            self.seen.append(self._vitals())
            await asyncio.sleep(every)

    def _vitals(self) -> Vitals:
        return vitals_of(self.serving.process.pid, self.requests, self._began)

    async def _quiet(self) -> None:
        """Count what lives, once the sessions that were left open have ended."""
        client = self._visitors[0].client
        async with asyncio.timeout(60):
            while (census := await census_of(client, self._vitals())).sessions:  # noqa: ASYNC110
                await asyncio.sleep(1)
        self.counted.append(census)

    # what came of it

    @property
    def resident(self) -> Trend:
        """How the resident size grows."""
        return trend_of([Point(one.requests, one.kilobytes) for one in self.seen])

    @property
    def in_use(self) -> Trend:
        """How what is in use grows, in kilobytes, from the first moment of quiet to the last."""
        return self._from_quiet_to_quiet(lambda census: census.native / 1024)

    @property
    def blocks(self) -> Trend:
        """The same for the number of small pieces of memory."""
        return self._from_quiet_to_quiet(lambda census: census.blocks)

    def _from_quiet_to_quiet(self, value: Callable[[Census], float]) -> Trend:
        first, last = self.counted[0], self.counted[-1]
        more = value(last) - value(first)
        return Trend(more / (last.vitals.requests - first.vitals.requests) * 1000, more)

    def findings(self) -> Sequence[str]:
        """Everything that is not as it should be."""
        first, last = self.counted[0], self.counted[-1]
        pairs = {
            "tasks": (first.tasks, last.tasks),
            "threads": (first.vitals.threads, last.vitals.threads),
            "handles": (first.vitals.handles, last.vitals.handles),
        }
        more = [f"{name}: {before}, then {after}" for name, (before, after) in pairs.items() if after > before + BESIDE]
        if self.resident.is_growth(RESIDENT):
            more.append(f"the resident size grows: {self.resident}")
        if self.in_use.is_growth(IN_USE):
            more.append(f"memory in use grows: {self.in_use}")
        if self.blocks.is_growth(BLOCKS):
            more.append(f"small blocks grow: {self.blocks}")
        kinds = [f"{name}: {number} more" for name, number in last.more_than(first, KINDS).items()]
        return [*self.errors, *more, *kinds]

    def __str__(self) -> str:
        visits = ", ".join(f"{number:,} {name}" for name, number in self.visits.most_common())
        step = max(1, len(self.seen) // 15)
        rows = [
            f"{one.at:7.0f} s {one.requests:9,} requests {one.kilobytes / 1024:7.1f} MB"
            f" {one.handles:4} handles {one.threads:3} threads"
            for one in [*self.seen[::step], self.seen[-1]]
        ]
        quiet = [
            f"{one.vitals.at:7.0f} s {one.vitals.requests:9,} requests: {one.objects:,} objects, {one.blocks:,} blocks,"
            f" {one.native / 2**20:.2f} MB native,"
            f" {one.tasks} tasks, {one.vitals.threads} threads, {one.vitals.handles} handles,"
            f" {one.vitals.kilobytes / 1024:.1f} MB"
            for one in self.counted
        ]
        return "\n".join(
            [
                f"{self.requests:,} requests in {self.seen[-1].at:.0f} s, {len(self.errors)} unexpected answers",
                f"visits: {visits}",
                f"resident: {_grown(self.resident)}",
                f"in use, from quiet to quiet: {_grown(self.in_use)}",
                f"small blocks, the same: {self.blocks.each_thousand:+.1f} for each thousand requests",
                "under load:",
                *rows,
                "in quiet:",
                *quiet,
            ]
        )


def _grown(trend: Trend) -> str:
    return f"{trend.each_thousand:+.1f} KB for each thousand requests, {trend.in_all / 1024:+.1f} MB in all"
