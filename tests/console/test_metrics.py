"""What the server has done lately: counted by the minute, forgotten after an hour, and never more than so much."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Caller, Session
from headgate.adapter.context import ANONYMOUS
from headgate.console import metrics as module
from headgate.console.metrics import CONSOLE_CLIENT, Metrics, Minute, percentile
from headgate.engine import events
from headgate.protocol.categories import Category
from headgate.protocol.errors import ErrorDetail
from headgate.server.costs import Saving
from headgate.store.interface import Store
from tests.console.desks import Desk
from tests.safety.guarding import Clock

ERROR = ErrorDetail("NOT_FOUND_RESOURCE", "It is not there")
OPERATOR = Caller(subject="console:ana", client_id=CONSOLE_CLIENT)


class Told:
    """Metrics that are told of requests."""

    def __init__(self, saving: Saving | None = None) -> None:
        self.clock = Clock(60 * 1000.0)
        self.metrics = Metrics(saving, self.clock)
        self._count = 0

    def request(
        self,
        took: float = 1.0,
        *,
        session: str = "s",
        caller: Caller = ANONYMOUS,
        decision: str = "allow",
        failures: int = 0,
        operation: str = "get_order",
        size: int = 100,
        answered: bool = True,
        minutes_later: float = 0,
    ) -> None:
        self._count += 1
        about = (f"req_{self._count}", session, caller)
        self.metrics(events.Received(*about, None, 1, {}))
        self.metrics(events.Validated(*about, operation, Category.READ, {}))
        self.metrics(events.Decided(*about, operation, decision))
        for _ in range(failures):
            self.metrics(events.Refused(*about, operation, ERROR))
        if not failures:
            self.metrics(events.Executed(*about, operation, took))
        self.clock.move(60 * minutes_later)
        if answered:
            self.metrics(events.Answered(*about, size, took))

    @property
    def totals(self) -> tuple[int, int, dict[str, int]]:
        minutes = self.metrics.minutes()
        decided = {name: sum(one.decisions[name] for one in minutes) for name in ("allow", "confirm", "deny")}
        return sum(one.requests for one in minutes), sum(one.errors for one in minutes), decided


def test_requests_errors_and_decisions_are_counted() -> None:
    told = Told()
    told.request()
    told.request(failures=1, decision="deny")
    told.request(failures=1, decision="confirm")
    assert told.totals == (3, 2, {"allow": 1, "confirm": 1, "deny": 1})


def test_a_request_with_several_errors_is_one_with_an_error() -> None:
    """A batch has one for each of its operations: otherwise more requests would fail than there are."""
    told = Told()
    told.request(failures=20)
    assert told.totals[:2] == (1, 1)
    told.metrics(events.Failed("req_x", "s", ANONYMOUS, "get_order", ERROR))
    told.metrics(events.Answered("req_x", "s", ANONYMOUS, 1, 1.0))
    assert told.totals[:2] == (2, 2)


def test_what_is_answered_in_the_next_minute_fails_in_that_minute_too() -> None:
    told = Told()
    told.request(failures=1, minutes_later=1)
    assert [(one.requests, one.errors) for one in told.metrics.minutes()[-2:]] == [(0, 0), (1, 1)]


def test_the_last_hour_is_kept_and_nothing_else() -> None:
    told = Told()
    told.request()
    told.clock.move(59 * 60)
    told.request()
    assert told.totals[0] == 2
    told.clock.move(60)
    assert told.totals[0] == 1
    for _ in range(500):
        told.clock.move(60)
        told.request()
    assert told.totals[0] == 60
    assert len(told.metrics.minutes()) == len(told.metrics._minutes) == 60
    told.clock.move(86400)
    assert told.totals == (0, 0, {"allow": 0, "confirm": 0, "deny": 0})


def test_minutes_come_in_their_order_with_those_in_which_nothing_was() -> None:
    told = Told()
    for _ in range(3):
        told.request()
        told.clock.move(120)
    assert [one.requests for one in told.metrics.minutes()[-7:]] == [1, 0, 1, 0, 1, 0, 0]
    assert [one.at for one in told.metrics.minutes()] == list(range(947, 1007))


def test_requests_that_are_never_answered_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_OPEN", 10)
    told = Told(Saving(10, 0))
    for _ in range(1000):
        told.request(operation="introspect", failures=1, answered=False)
    assert len(told.metrics._discovering) == 10
    assert len(told.metrics._failing) == 10
    told.request(operation="introspect", failures=1, size=4)
    assert told.totals[:2] == (1, 1), "those that are, are still known"
    assert told.metrics.tokens_saved == 9
    assert len(told.metrics._failing) == len(told.metrics._discovering) <= 10


def test_sessions_are_counted_once_each_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SESSIONS", 5)
    told = Told()
    for number in range(20):
        told.request(session=f"s{number % 3}")
    assert told.metrics.sessions == 3
    for number in range(20):
        told.request(session=f"t{number}")
    assert told.metrics.sessions == 5


def test_what_operators_call_is_not_counted() -> None:
    told = Told(Saving(10, 0))
    told.request(caller=OPERATOR, session="console", failures=1, operation="introspect")
    assert told.totals == (0, 0, {"allow": 0, "confirm": 0, "deny": 0})
    assert told.metrics.sessions == 0
    assert told.metrics.tokens_saved == 0


def test_what_was_saved_is_what_sessions_did_not_read_less_what_they_asked_to_discover() -> None:
    assert Told().metrics.tokens_saved is None, "nobody knows what the tools would cost"
    told = Told(Saving(discrete=1000, served=300))
    assert told.metrics.tokens_saved == 0
    told.request(session="a", operation="introspect", size=400)
    told.request(session="a", size=10_000)
    told.request(session="b", size=10_000)
    assert told.metrics.tokens_saved == 2 * 700 - 100
    told.request(session="b", operation="introspect", size=40_000)
    assert told.metrics.tokens_saved == 2 * 700 - 100 - 10_000, "and it may be less than nothing"


# times

BOUNDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]


def bound_of(milliseconds: float) -> float:
    """The figure of 1, 2 or 5 that a time is not above."""
    return next(bound for bound in BOUNDS if milliseconds <= bound)


@given(
    times=st.lists(st.floats(0.01, 50_000), min_size=1, max_size=50),
    share=st.sampled_from([0.01, 0.25, 0.5, 0.9, 0.95, 1.0]),
)
def test_a_percentile_is_the_bound_within_which_so_many_were_answered(times: list[float], share: float) -> None:
    told = Told()
    for took in times:
        told.request(took)
    bounds = sorted(bound_of(took) for took in times)
    counted = list(accumulate(1 for _ in bounds))
    expected = next(bound for bound, count in zip(bounds, counted, strict=True) if count >= len(bounds) * share)
    assert percentile(told.metrics.minutes(), share) == pytest.approx(expected)


def test_without_requests_there_is_no_percentile() -> None:
    assert percentile([], 0.5) is None
    assert percentile([Minute(1), Minute(2)], 0.5) is None


@pytest.mark.parametrize(("took", "expected"), [(0.0, 0.1), (5_000_000.0, 5_000_000), (1e12, 5_000_000)])
def test_the_shortest_and_the_longest_have_a_bound_too(took: float, expected: float) -> None:
    told = Told()
    told.request(took)
    assert percentile(told.metrics.minutes(), 0.5) == expected


@pytest.mark.anyio
async def test_a_batch_of_failures_is_told_by_an_engine_as_one_request(store: Store) -> None:
    at = Desk(store)
    await at.ask({"operations": [{"operation": f"no_such_thing_{number}"} for number in range(5)]}, session=Session())
    [minute] = [one for one in at.metrics.minutes() if one.requests]
    assert (minute.requests, minute.errors) == (1, 1)


def test_who_has_no_session_is_counted_once_by_the_name_of_its_client() -> None:
    told = Metrics(Saving(1000, 100))
    for number in range(5):
        client = Caller(label="one" if number % 2 else "two")
        told(events.Received(f"req_{number}", f"sess_{number}", client, None, 1, {}, in_session=False))
    assert told.sessions == 2
