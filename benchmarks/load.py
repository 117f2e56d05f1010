"""A call over HTTP by 1, 16 and 256 clients at once: requests per second, and how long the slowest wait.

Every client sends its next request as soon as it has the answer to the last, and asks for a number of its own, so that
an answer which belongs to another one is noticed. The contenders take turns with the same number of clients.
"""

import asyncio
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, TypeAlias

import orjson

from benchmarks.aims import Aim
from benchmarks.books import ARGUMENTS, REQUEST, answer
from benchmarks.processes import free_port, headgate, processor_seconds, running, wait_for
from benchmarks.servers import command
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio
from benchmarks.wires import LEGACY, Wire, legacy_call, modern_call, session_of

__all__ = ["load"]

Findings: TypeAlias = tuple[list[Table], list[Aim]]

_HEADGATE, _BARE, _FASTMCP = "headgate", "bare SDK", "FastMCP"
_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_ERAS: Final = ("modern", "legacy")
_CLIENTS: Final = (1, 16, 256)
_ROUNDS: Final = 7
_LEAST_SECONDS: Final = 0.4
_AIM: Final = 1.4
_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_COLUMNS: Final = ("", *_SHARES, "longest", "processor", "clients busy")


@dataclass(frozen=True, slots=True)
class _Contender:
    """A server that runs, and how its tool is called."""

    name: str
    port: int
    process: int

    @property
    def is_headgate(self) -> bool:
        """Whether it is ours."""
        return self.name == _HEADGATE

    def request(self, number: int, session: str | None) -> bytes:
        """The request of one client."""
        own = {**ARGUMENTS, "copies": number}
        tool, arguments = ("mcp_aql_read", {**REQUEST, "params": own}) if self.is_headgate else ("get_book", own)
        return modern_call(tool, arguments) if session is None else legacy_call(tool, arguments, session)


@dataclass(frozen=True, slots=True)
class _Client:
    """What one client sends, and what must be in the answer."""

    request: bytes
    expected: bytes


@dataclass(slots=True)
class _Score:
    """What a contender has done in its turns."""

    per_second: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """How long each request took."""
    processor: list[float] = field(default_factory=list)
    """How long the server's processor took for each request, turn by turn; empty where the system does not tell."""
    busy: list[float] = field(default_factory=list)
    """The share of each turn for which the clients themselves were at work."""

    def row(self) -> tuple[Cell, ...]:
        """How long its clients waited and how long its processor took, in milliseconds, and how busy they were."""
        shares = [self.wait(share) for share in _SHARES.values()]
        cost = statistics.median(self.processor) * 1000 if self.processor else None
        return *shares, self.wait(1.0), cost, statistics.median(self.busy)

    def wait(self, share: float) -> float:
        """What this share of the requests waited at most, in milliseconds."""
        waits = sorted(self.seconds)
        return waits[min(int(len(waits) * share), len(waits) - 1)] * 1000

    def rate_to(self, other: "_Score") -> Ratio:
        """How many times as many requests it answers in a second, round by round."""
        return _ratio(self.per_second, other.per_second)

    def time_to(self, other: "_Score") -> Ratio:
        """How many times as long it takes for a request."""
        return _ratio(other.per_second, self.per_second)

    def processor_to(self, other: "_Score") -> Ratio | None:
        """How many times as much of its processor each request takes, round by round."""
        return _ratio(self.processor, other.processor) if self.processor and other.processor else None


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    return Ratio.of(one / other for one, other in zip(ours, theirs, strict=True))


async def load(seconds: float) -> Findings:
    """The table of requests per second, and of waits; each contender is measured for so many seconds and more."""
    races: dict[tuple[str, int], Mapping[str, _Score]] = {}
    turn = max(seconds / 4, _LEAST_SECONDS)
    with _listening() as contenders:
        for era in _ERAS:
            for many in _CLIENTS:
                races[era, many] = await _race(contenders, era, many, turn)
    aims = [
        Aim(f"HTTP load, {era}, clients: {many}, requests per second: headgate / {_FASTMCP}", ratio, least=_AIM)
        for (era, many), scores in races.items()
        if _FASTMCP in scores
        for ratio in [scores[_HEADGATE].rate_to(scores[_FASTMCP])]
    ]
    waits = tuple(
        (f"{era}, {many}: {name}", *score.row())
        for (era, many), scores in races.items()
        for name, score in scores.items()
    )
    tails = [_tails(era, races) for era in _ERAS]
    return [_rates(races), *tails, Table("HTTP load: how long clients wait (ms)", _COLUMNS, waits)], aims


def _tails(era: str, races: Mapping[tuple[str, int], Mapping[str, _Score]]) -> Table:
    """How long the slowest hundredth of the clients waits at least, over how many there are."""
    names = list(races[era, _CLIENTS[0]])
    rows = tuple((many, *(races[era, many][name].wait(0.99) for name in names)) for many in _CLIENTS)
    return Table(f"HTTP load: the slowest of a hundred waits, {era} era (ms)", ("clients", *names), rows, "clients")


def _rates(races: Mapping[tuple[str, int], Mapping[str, _Score]]) -> Table:
    names = (_HEADGATE, _BARE, _FASTMCP)
    rows: list[tuple[Cell, ...]] = []
    for (era, many), scores in races.items():
        ours = scores[_HEADGATE]
        rates = [statistics.median(scores[name].per_second) if name in scores else None for name in names]
        times = [ours.time_to(scores[name]) if name in scores else None for name in names[1:]]
        costs = [ours.processor_to(scores[name]) if name in scores else None for name in names[1:]]
        rows.append((f"{era}, {many} client{'s' * (many > 1)}", *rates, *times, *costs))
    ratios = [f"{what} / {name}" for what in ("time", "processor") for name in names[1:]]
    return Table("HTTP load: requests per second, and the time for each", ("", *names, *ratios), tuple(rows))


@contextmanager
def _listening() -> Iterator[list[_Contender]]:
    """All of them, each in a process of its own."""
    ours, bare, theirs = free_port(), free_port(), free_port()
    commands = {
        (_HEADGATE, ours): headgate("serve", "benchmarks.books:library", "--http", f"127.0.0.1:{ours}"),
        (_BARE, bare): command("bare", bare),
    }
    if _HAS_FASTMCP:
        commands[_FASTMCP, theirs] = command("fastmcp", theirs)
    with ExitStack() as stack:
        contenders = [
            _Contender(name, port, stack.enter_context(running(started))) for (name, port), started in commands.items()
        ]
        for each in contenders:
            wait_for(each.port)
        yield contenders


async def _race(contenders: Sequence[_Contender], era: str, many: int, turn: float) -> Mapping[str, _Score]:
    """So many clients for each contender in turn; every round begins with another one, and the first does not count."""
    clients = {each.name: await _clients(each, era, many) for each in contenders}
    for each in contenders:
        await _turn(each, clients[each.name], turn, _Score())
    scores = {each.name: _Score() for each in contenders}
    for number in range(_ROUNDS):
        first = number % len(contenders)
        for each in [*contenders[first:], *contenders[:first]]:
            await _turn(each, clients[each.name], turn, scores[each.name])
    return scores


async def _clients(contender: _Contender, era: str, many: int) -> list[_Client]:
    """Clients with numbers of their own; in the older era each has a session too."""
    made = []
    for number in range(1, many + 1):
        session = await _session(contender.port) if era == LEGACY else None
        text = await answer(**{**ARGUMENTS, "copies": number})  # type: ignore[arg-type]
        made.append(_Client(contender.request(number, session), orjson.dumps(text)))
    return made


async def _session(port: int) -> str:
    wire = Wire(port)
    try:
        return await session_of(wire)
    finally:
        wire.close()


async def _turn(contender: _Contender, clients: Sequence[_Client], seconds: float, score: _Score) -> None:
    """All clients, for so long, over connections that are made before."""
    wires = [Wire(contender.port) for _ in clients]
    try:
        await asyncio.gather(*(_ask(contender, wire, one) for wire, one in zip(wires, clients, strict=True)))
        started, busy, spent = time.perf_counter(), time.process_time(), processor_seconds(contender.process)
        until = started + seconds
        done = await asyncio.gather(
            *(_repeat(contender, wire, one, until) for wire, one in zip(wires, clients, strict=True))
        )
        taken = time.perf_counter() - started
        score.busy.append((time.process_time() - busy) / taken)
        spent_after = processor_seconds(contender.process)
    finally:
        for wire in wires:
            wire.close()
    samples = [sample for some in done for sample in some]
    score.per_second.append(len(samples) / taken)
    score.seconds += samples
    if spent is not None and spent_after is not None:
        score.processor.append((spent_after - spent) / len(samples))


async def _repeat(contender: _Contender, wire: Wire, client: _Client, until: float) -> list[float]:
    """One request after the other, at least one of them; how long each took."""
    samples = []
    before = time.perf_counter()
    while True:
        await _ask(contender, wire, client)
        now = time.perf_counter()
        samples.append(now - before)
        if now >= until:
            return samples
        before = now


async def _ask(contender: _Contender, wire: Wire, client: _Client) -> None:
    body = await wire.ask(client.request)
    if client.expected not in body:
        raise RuntimeError(f"{contender.name} answers {body!r} where {client.expected!r} is meant")
