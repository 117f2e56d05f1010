"""Agents under supervision as a server leaves them in its store, for persons who look at them with commands."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from headgate import Caller, Session
from headgate.safety.grants import Grant
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges, show_code
from tests.cli.states import in_store
from tests.safety.guarding import Clock
from tests.safety.supervising import DEADLY, FREE, RISKY, Supervised

__all__ = ["at_work", "blocked", "code_for", "paused"]

T = TypeVar("T")


class _Now(Clock):
    """The time as it is, or was some seconds ago."""

    def __init__(self, ago: float = 0.0) -> None:
        super().__init__()
        self._ago = ago

    def __call__(self) -> float:
        return time.time() - self._ago


def at_work(url: str, work: Callable[[Supervised], Awaitable[T]], *, rules: str = FREE, ago: float = 0.0) -> T:
    """What becomes of some work of agents, who worked some seconds ago."""
    return in_store(url, lambda store: work(Supervised(store, rules, clock=_Now(ago))))


def blocked(url: str, name: str = "bot", hint: str = DEADLY, *, ago: float = 0.0, task: str = "tidy up") -> Challenge:
    """Have an agent held up by a challenge, whose host can be told from all others; the challenge."""

    async def work(world: Supervised) -> Challenge:
        who: dict[str, Any] = {"session": Session(), "caller": Caller(subject=f"host of {name}")}
        await world.start(name, task=task, **who)
        await world.step(name=name, **who)
        assert (await world.step(hint, name=name, **who))["continue"] is False
        return (await challenges(world.store, world.clock()))[-1]

    return at_work(url, work, ago=ago)


def paused(url: str, name: str = "bot", hint: str = RISKY, *, ago: float = 0.0) -> Grant:
    """Have an agent paused until somebody approves; what waits for that."""

    async def work(world: Supervised) -> Grant:
        who = {"session": Session(), "caller": Caller(subject=f"host of {name}")}
        await world.start(name, **who)
        assert (await world.step(hint, name=name, **who))["continue"] is False
        return await world.pending()

    return at_work(url, work, ago=ago)


def code_for(url: str, challenge: Challenge | str, channel: str = "console") -> str:
    """A code that a channel shows."""
    challenge_id = challenge if isinstance(challenge, str) else challenge.id
    code = in_store(url, lambda store: show_code(store, challenge_id, channel, "ana", time.time))
    assert code is not None
    return code
