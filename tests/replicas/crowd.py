"""Clients that call without a pause, and what each of them was answered, while servers come and go."""

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.replicas.fleet import Fleet
from tests.server.processes import until
from tests.server.requests import Caller

__all__ = ["CUT_OFF", "Crowd", "calling"]

CUT_OFF = "cut off amid it"
"""What came of a call whose server was killed between the head of its answer and the rest."""

_CALLERS = 8
_MILLISECONDS = 20


@dataclass
class Crowd:
    """What has come of the calls so far."""

    callers: list[Caller]
    is_over: threading.Event = field(default_factory=threading.Event)
    answers: Counter[str] = field(default_factory=Counter)
    """By the server that answered; what was no answer, by what it was."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, caller: Caller, name_of: Callable[..., str]) -> None:
        """Call until it is over."""
        while not self.is_over.is_set():
            try:
                answer = caller.call("get_late", {"milliseconds": _MILLISECONDS})
                found = name_of(answer) if answer.status == 200 else f"status {answer.status}"
            except http.client.IncompleteRead:
                found = CUT_OFF
            except (OSError, http.client.HTTPException) as error:
                found = repr(error)
            with self._lock:
                self.answers[found] += 1

    @property
    def served(self) -> int:
        """How many calls were answered."""
        return self.answers.total() - self.failed

    @property
    def failed(self) -> int:
        """How many were not."""
        return sum(number for name, number in self.answers.items() if " " in name or "(" in name)

    def served_more(self, number: int = 50) -> None:
        """Wait until so many more are answered."""
        wanted = self.served + number
        until(lambda: self.served >= wanted, f"{number} more answers")


@contextmanager
def calling(ships: Fleet) -> Iterator[Crowd]:
    """A crowd that calls as long as the block runs."""
    crowd = Crowd([ships.caller() for _ in range(_CALLERS)])
    calls: list[Future[None]] = [ships.pool.submit(crowd.call, caller, ships.name_of) for caller in crowd.callers]
    try:
        yield crowd
    finally:
        crowd.is_over.set()
        for call in calls:
            call.result()
