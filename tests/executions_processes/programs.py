"""Programs that are kept running: whenever one ends, however it does, it is started again after a moment."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from tests.executions_processes.workshop import LIFE, TRACES, WORKSHOP
from tests.server.processes import HEADGATE, PATIENCE, environment

__all__ = ["Kind", "Life", "Program", "server", "worker"]

Kind = Literal["server", "worker"]

_READY = {
    "server": re.compile(rb"^  (http://127\.0\.0\.1:\d+/mcp)$"),
    "worker": re.compile(rb" at once$"),
}
_KEPT_LINES = 200


@dataclass
class Life:
    """One process of a program, from its start to its end."""

    name: str
    pid: int
    began_at: float = field(default_factory=time.monotonic)
    ended_at: float | None = None
    code: int | None = None
    """With which it has ended."""
    killed_at: float | None = None
    """When it was killed, by the clock of the traces."""
    killed_on: float | None = None
    """The same by the clock of the database."""


@dataclass
class Program:
    """A server or a worker, in one life after the other."""

    kind: Kind
    words: tuple[str, ...]
    name: str
    env: Mapping[str, str]
    pause: Callable[[], float]
    """How long it stays away before it is started again."""
    lives: list[Life] = field(default_factory=list)
    url: str = ""
    """Where a server listens; nothing while it does not."""
    said: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    """What it has written to its log."""
    vain: list[Life] = field(default_factory=list)
    """Lives that have ended without a kill, and without being asked to."""

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self.is_up = asyncio.Event()

    def begin(self) -> None:
        """Start it, and keep it running."""
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while not self._is_stopping:
            await self._live()
            if not self._is_stopping:
                await asyncio.sleep(self.pause())

    async def _live(self) -> None:
        name = f"{self.name}.{next(self._numbers)}"
        process = await asyncio.create_subprocess_exec(
            *(HEADGATE, *self.words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=_unmeasured(environment({**self.env, LIFE: name})),
        )
        self._process = process
        life = Life(name, process.pid)
        self.lives.append(life)
        assert process.stderr
        async for line in process.stderr:
            self.said.append(line.decode(errors="replace").rstrip())
            if ready := _READY[self.kind].search(line.rstrip()):
                self.url = ready.group(1).decode() if self.kind == "server" else ""
                self.is_up.set()
        self.is_up.clear()
        self.url = ""
        life.code = await process.wait()
        life.ended_at = time.monotonic()
        if life.killed_at is None and not self._is_stopping:
            self.vain.append(life)

    @property
    def log(self) -> str:
        """The end of what it has written to its log."""
        return "\n".join(self.said)

    def kill(self) -> bool:
        """End it wherever it is; whether there was anything to end."""
        process = self._process
        if process is None or process.returncode is not None or self.lives[-1].killed_at is not None:
            return False
        self.lives[-1].killed_at, self.lives[-1].killed_on = time.monotonic(), time.time()
        self.url = ""
        with suppress(ProcessLookupError):
            process.kill()
        return True

    async def stop(self) -> int | None:
        """Ask it to end for good, in an orderly way; its exit code."""
        self._is_stopping = True
        assert self._process
        assert self._task
        if self._process.returncode is None:
            self._process.terminate()
        async with asyncio.timeout(PATIENCE):
            await self._task
        return self.lives[-1].code

    async def abandon(self) -> None:
        """End it at once and for good, whatever state it is in."""
        self._is_stopping = True
        self.kill()
        if self._task is not None:
            await self._task


def _unmeasured(env: Mapping[str, str]) -> Mapping[str, str]:
    """An environment in which no lines are counted: who is killed could not tell of them, and all would be slower."""
    return {name: value for name, value in env.items() if not name.startswith("COVERAGE_")}


def server(name: str, state: str, traces: Path, pause: Callable[[], float]) -> Program:
    """A server on a free port of loopback."""
    words = ("serve", WORKSHOP, "--http", "127.0.0.1:0", "--state", state)
    return Program("server", words, name, {TRACES: str(traces)}, pause)


def worker(name: str, state: str, traces: Path, pause: Callable[[], float], *, concurrency: int = 6) -> Program:
    """A worker of the shared queue."""
    words = ("worker", WORKSHOP, "--state", state, "--concurrency", str(concurrency))
    return Program("worker", words, name, {TRACES: str(traces)}, pause)
