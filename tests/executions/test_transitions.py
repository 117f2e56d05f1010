"""Every pair of states, on every store: what section 8.4.2 allows can be done, and nothing else can.

The tables here are written from the specification; that the code has the same ones is what is tested.
"""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from itertools import product
from typing import NamedTuple

import pytest

from headgate.adapter.background import Background
from headgate.executions.ledger import SESSION_ENDED, Ledger
from headgate.executions.values import state_object
from headgate.protocol.lifecycle import State, is_legal
from headgate.store.executions import Execution
from headgate.store.sql import SqlStore
from tests.executions.books import BROKEN, NOW, WORKER, brought, found, ledger_of, made, result

pytestmark = pytest.mark.anyio

# Section 8.4.2, and 8.4.4 for the states that headgate adds: each stands for a core state.
CORE_STEPS = {
    ("pending", "running"),
    ("pending", "cancelled"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("failed", "running"),
}
STANDS_FOR = {
    "pending": "pending",
    "running": "running",
    "retrying": "running",
    "cancelling": "running",
    "stuck": "running",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}
STEPS = {
    "pending": {"running", "cancelled"},
    "running": {"completed", "failed", "cancelled", "retrying", "cancelling", "stuck"},
    "retrying": {"running", "failed", "cancelled"},
    "cancelling": {"completed", "failed", "cancelled", "stuck"},
    "stuck": {"completed", "failed", "cancelled"},
    "completed": set[str](),
    "failed": {"retrying"},
    "cancelled": set[str](),
}
PAIRS = list(product(STEPS, STEPS))


class Door(NamedTuple):
    """A function of the ledger that moves executions, and the states that it may bring one into."""

    name: str
    leads_to: tuple[str, ...]
    knock: Callable[[Ledger, Execution], Awaitable[object]]
    background: Background = Background()


RESUMED = Background(interrupted="resume")
DOORS = (
    Door("add", ("pending",), lambda ledger, one: ledger.add(made(id=one.id))),
    Door("begin", ("running",), lambda ledger, one: ledger.begin(one.id, WORKER)),
    Door("complete", ("completed",), lambda ledger, one: ledger.complete(one, result([3]))),
    Door("fail", ("failed",), lambda ledger, one: ledger.fail(one, BROKEN)),
    Door("cancel", ("cancelled",), lambda ledger, one: ledger.cancel(one)),
    Door("stopped", ("cancelled",), lambda ledger, one: ledger.stopped(one)),
    Door("again", ("retrying",), lambda ledger, one: ledger.again(one, BROKEN, NOW)),
    Door("retry", ("retrying",), lambda ledger, one: ledger.retry(one.id, WORKER)),
    Door("stuck", ("stuck",), lambda ledger, one: ledger.stuck(one.run)),
    Door("ask_to_stop", ("cancelling", "cancelled"), lambda ledger, one: ledger.ask_to_stop(one.id, "ann")),
    Door(
        "session",
        ("cancelling", "cancelled", "failed"),
        lambda ledger, one: ledger.ask_to_stop(one.id, SESSION_ENDED),
        Background(session="fail"),
    ),
    Door("give_back", ("retrying", "failed", "cancelled"), lambda ledger, one: ledger.give_back(one.id, WORKER)),
    Door("hand_over", ("failed", "cancelled"), lambda ledger, one: ledger.hand_over(one)),
    Door("resume", ("retrying", "failed", "cancelled"), lambda ledger, one: ledger.hand_over(one), RESUMED),
)


class Tried(NamedTuple):
    """What became of an execution when somebody tried a door."""

    door: Door
    before: Execution
    after: Execution

    @property
    def source(self) -> str:
        return self.before.state.value

    @property
    def target(self) -> str:
        return self.after.state.value

    @property
    def traces(self) -> str:
        """What has changed that is no part of the door's own business."""
        names = {field.name for field in fields(Execution)} - self.business
        return ", ".join(sorted(name for name in names if getattr(self.after, name) != getattr(self.before, name)))

    @property
    def business(self) -> set[str]:
        """What waits for a worker that hands it over waits for any then; a wish to stop what is stuck is noted."""
        if self.door.name in ("hand_over", "resume") and self.source in ("pending", "retrying"):
            return {"worker"}
        asks = self.door.name in ("ask_to_stop", "session")
        return {"asked_at", "asked_by"} if asks and self.source == "stuck" else set()


_known: dict[str, list[Tried]] = {}


async def all_tried(store: SqlStore) -> list[Tried]:
    """Every door, from every state: once for each kind of store."""
    kind = store.url.partition(":")[0]
    if kind not in _known:
        ledger = ledger_of(store)
        _known[kind] = [await tried(ledger, State(state), door) for state in STEPS for door in DOORS]
    return _known[kind]


async def tried(ledger: Ledger, state: State, door: Door) -> Tried:
    before = await brought(ledger, state, door.background)
    await door.knock(ledger, before)
    return Tried(door, before, await found(ledger, before))


def wrong_about(source: str, target: str, attempts: list[Tried]) -> list[str]:
    """What is not as the table says when an execution is to go from one state to another, by every door there is."""
    here = [one for one in attempts if one.source == source and target in one.door.leads_to]
    if target in STEPS[source]:
        arrived = any(one.target == target for one in here)
        return [] if arrived else [f"{source} → {target}: no function of the ledger leads there"]
    strayed = [one for one in here if one.target == target != source]
    changed = [one for one in here if one.target == source and one.traces]
    return [f"{source} → {target}: '{one.door.name}' does what the table has not" for one in strayed] + [
        f"{source} → {target}: '{one.door.name}' is refused, and yet changes {one.traces}" for one in changed
    ]


@pytest.mark.proves("spec-8.4.2-only-listed-transitions-happen")
async def test_every_pair_of_states_is_a_step_or_is_refused_and_leaves_no_trace(store: SqlStore) -> None:
    attempts = await all_tried(store)
    assert {one.source for one in attempts} == set(STEPS)
    wrong = [line for source, target in PAIRS for line in wrong_about(source, target, attempts)]
    assert not wrong, "\n".join(wrong)


async def test_no_function_leads_anywhere_that_it_does_not_say(store: SqlStore) -> None:
    moved = [one for one in await all_tried(store) if one.source != one.target]
    wrong = [
        f"{one.source} → {one.target} by '{one.door.name}'" for one in moved if one.target not in one.door.leads_to
    ]
    assert not wrong, "\n".join(wrong)
    assert {(one.source, one.target) for one in moved} == {(source, one) for source in STEPS for one in STEPS[source]}


@pytest.mark.proves("spec-8.4.2-only-listed-transitions-happen", "spec-8.4.4-custom-states-map-to-core")
async def test_a_client_that_knows_the_core_states_sees_the_six_transitions_and_no_other(store: SqlStore) -> None:
    attempts = await all_tried(store)
    seen = {(state_object(one.before)["status"], state_object(one.after)["status"]) for one in attempts}
    core = sorted(set(STANDS_FOR.values()))
    wrong = [
        f"{source} → {target}"
        for source, target in product(core, core)
        if source != target and ((source, target) in seen) != ((source, target) in CORE_STEPS)
    ]
    assert not wrong, "\n".join(wrong)
    assert seen <= set(product(core, core))


@pytest.mark.proves("spec-8.4.2-terminal-states-are-final")
async def test_what_has_ended_stays_as_it_is_save_the_retry_of_what_failed(store: SqlStore) -> None:
    ended = [one for one in await all_tried(store) if one.source in ("completed", "failed", "cancelled")]
    assert len(ended) == 3 * len(DOORS)
    changed = {(one.source, one.door.name, one.target) for one in ended if one.after != one.before}
    assert changed == {("failed", "retry", "retrying")}


async def test_what_has_ended_is_not_ended_again_by_its_session_or_by_the_loss_of_its_worker(store: SqlStore) -> None:
    ledger = ledger_of(store)
    ended = [
        await brought(ledger, state, session="sess_1", origin=WORKER)
        for state in (State.COMPLETED, State.FAILED, State.CANCELLED)
    ]
    assert await ledger.end_session("sess_1") == []
    assert await ledger.recover() == 0
    assert [await found(ledger, one) for one in ended] == ended


@pytest.mark.proves("spec-8.4.4-cancel-from-unfinished-states")
async def test_every_state_that_is_not_terminal_can_be_cancelled(store: SqlStore) -> None:
    ledger = ledger_of(store)
    for state in (State.PENDING, State.RUNNING, State.RETRYING, State.CANCELLING, State.STUCK):
        execution = await brought(ledger, state)
        await ledger.ask_to_stop(execution.id, "ann")
        await ledger.stopped(execution)
        assert (await found(ledger, execution)).state is State.CANCELLED, state


def test_the_table_of_the_code_has_the_steps_that_are_written_here() -> None:
    told = {(source, target) for source, target in PAIRS if is_legal(State(source), State(target))}
    assert told == {(source, target) for source, targets in STEPS.items() for target in targets}
    assert {state.value: state.core.value for state in State} == STANDS_FOR


def test_every_step_is_one_of_the_six_or_stays_within_a_core_state() -> None:
    for source, target in PAIRS:
        if target in STEPS[source] and STANDS_FOR[source] != STANDS_FOR[target]:
            assert (STANDS_FOR[source], STANDS_FOR[target]) in CORE_STEPS, f"{source} → {target}"
