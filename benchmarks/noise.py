"""Whether the machine was quiet enough to believe what was measured on it."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import psutil  # type: ignore[import-untyped]

__all__ = ["Noise", "TooNoisyError", "Watch", "calm"]

_MOST_BUSY: Final = 0.15
_MOST_STOLEN: Final = 0.02
_MOST_JITTER: Final = 0.25
_MOST_SLOWER: Final = 1.5
_LOOK_SECONDS: Final = 1.0
_PIECES: Final = 300
_PIECE: Final = 20_000


class TooNoisyError(Exception):
    """The machine is busy with something else."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbed a suite."""

    busy: float
    """How many cores others kept busy while nothing was measured, before and after."""
    stolen: float
    """The share of the time that the machine's host gave to other machines while the suite ran."""
    jitter: float
    """How much longer than usual a fixed piece of work takes one time in ten."""
    pace: float
    """The microseconds that it usually takes."""

    def is_slow_beside(self, other: "Noise") -> bool:
        """Whether the machine had become so slow that figures of both do not belong on one page."""
        return self.pace > other.pace * _MOST_SLOWER

    @property
    def complaint(self) -> str | None:
        """What was too much, or None."""
        found = [
            f"others kept {self.busy:.2f} cores busy (at most {_MOST_BUSY:g})" * (self.busy > _MOST_BUSY),
            f"the host took {self.stolen:.1%} of the time (at most {_MOST_STOLEN:.0%})" * (self.stolen > _MOST_STOLEN),
            f"a fixed piece of work varied by {self.jitter:.0%} (at most {_MOST_JITTER:.0%})"
            * (self.jitter > _MOST_JITTER),
        ]
        return ", ".join(filter(None, found)) or None


class Watch:
    """Looks at the machine before, during and after a suite."""

    def __init__(self, busy: float = 0.0) -> None:
        self._busy = busy
        self._before = psutil.cpu_times()

    async def noise(self) -> Noise:
        """What there was since the watch began, looked at while nothing of ours runs."""
        stolen = _stolen(self._before, psutil.cpu_times())
        return Noise(max(self._busy, await _busy()), stolen, *_jitter_and_pace())


async def calm(patience: float) -> Watch:
    """A watch over the machine, as soon as it is quiet; whoever waits longer than that hears who is busy."""
    until, has_told = time.monotonic() + patience, False
    while (busy := await _busy()) > _MOST_BUSY:
        if not has_told:
            print(
                f"Others keep {busy:.2f} cores busy: waiting for up to {patience:.0f} s until they do not.", flush=True
            )
            has_told = True
        if time.monotonic() > until:
            raise TooNoisyError(f"Others keep {busy:.2f} cores busy, and have done so for {patience:.0f} s.")
    return Watch(busy)


async def _busy() -> float:
    """How many cores work while we do nothing."""
    before, started = psutil.cpu_times(), time.monotonic()
    await asyncio.sleep(_LOOK_SECONDS)
    return _worked(before, psutil.cpu_times()) / (time.monotonic() - started)


def _worked(before: object, after: object) -> float:
    names = ("user", "system", "nice", "irq", "softirq", "steal")
    return sum(getattr(after, name, 0.0) - getattr(before, name, 0.0) for name in names)


def _stolen(before: object, after: object) -> float:
    total = _worked(before, after)
    return (getattr(after, "steal", 0.0) - getattr(before, "steal", 0.0)) / total if total else 0.0


def _jitter_and_pace() -> tuple[float, float]:
    taken = sorted(_pieces())
    usual = statistics.median(taken)
    return taken[len(taken) * 9 // 10] / usual - 1, usual * 1e6


def _pieces() -> Iterator[float]:
    for _ in range(_PIECES):
        started = time.perf_counter()
        sum(range(_PIECE))
        yield time.perf_counter() - started
