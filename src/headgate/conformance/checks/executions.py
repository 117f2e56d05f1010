"""Executions: the lifecycle of long work. What starts it is only called with ``--allow execute``."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from headgate.conformance.agreeing import call_agreed
from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.requests import valid_params
from headgate.conformance.survey import SeenOperation
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_CORE: Final = frozenset({"pending", "running", "completed", "failed", "cancelled"})
_FINAL: Final = frozenset({"completed", "failed", "cancelled"})
_ID: Final = "execution_id"
_RESERVED: Final = frozenset({"execute_agent", "complete_execution", "abort_execution", "confirm_operation"})
_STARTS: Final = ("execute_", "start_", "run_")
_MOST: Final = 3
_POLLS: Final = 30
_PAUSE_SECONDS: Final = 0.05
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})")


@dataclass(frozen=True, slots=True)
class _Started:
    """An execution that a check has started, and every state of it that was seen."""

    operation: SeenOperation
    id: str
    seen: tuple[Exchange, ...]

    @property
    def states(self) -> list[Mapping[str, Any]]:
        return [exchange.data for exchange in self.seen if isinstance(exchange.data, Mapping)]

    @property
    def last(self) -> str:
        return str(self.states[-1].get("status", "")) if self.states else ""


def _starters(probe: Probe) -> list[SeenOperation]:
    """The operations that start long work, as they say themselves; else as their names say."""
    able = [
        one
        for one in probe.operations
        if one.category == "EXECUTE" and one.name not in _RESERVED and one.parameter(_ID) is None
    ]
    declared = [one for one in able if isinstance(one.details.get("lifecycle"), Mapping)]
    return spread(declared or [one for one in able if one.name.startswith(_STARTS)], _MOST)


def _about_one(probe: Probe, category: str, word: str) -> SeenOperation | None:
    """The operation of a category that takes an execution's id, with a word in its name if there are several."""
    found = [one for one in probe.operations if one.category == category and one.parameter(_ID) is not None]
    named = [one for one in found if word in one.name]
    plain = [one for one in named if [p.name for p in one.parameters if p.required] == [_ID]]
    return min(plain or named, key=lambda one: len(one.name), default=None)


def _status_operation(probe: Probe) -> SeenOperation | None:
    return _about_one(probe, "READ", "status") or _about_one(probe, "READ", "get_")


def _cancel_operation(probe: Probe) -> SeenOperation | None:
    return _about_one(probe, "EXECUTE", "cancel")


async def _start(probe: Probe, operation: SeenOperation) -> _Started | None:
    """Start it; None if no execution came of it, which is then not long work."""
    exchange = await call_agreed(probe, operation, await valid_params(probe, operation))
    data = exchange.data
    found = data.get(_ID) if exchange.succeeded and isinstance(data, Mapping) else None
    return _Started(operation, str(found), (exchange,)) if found else None


async def _finished(probe: Probe, started: _Started) -> _Started:
    """The same with all states up to its end, or as many as there is patience for."""
    status = _status_operation(probe)
    seen = list(started.seen)
    for turn in range(_POLLS if status is not None else 0):
        if _Started(started.operation, started.id, tuple(seen)).last in _FINAL:
            break
        if turn:
            await anyio.sleep(_PAUSE_SECONDS)
        assert status is not None  # noqa: S101  (or there would be no rounds)
        exchange = await probe.call(status, {_ID: started.id})
        if not exchange.succeeded:
            break
        seen.append(exchange)
    return _Started(started.operation, started.id, tuple(seen))


async def _ended(probe: Probe, run: _Started) -> _Started:
    """The same with an end, even if it takes longer than there is patience for: then it is cancelled."""
    cancel = _cancel_operation(probe)
    if run.last in _FINAL or cancel is None:
        return run
    await call_agreed(probe, cancel, {_ID: run.id})
    return await _finished(probe, run)


async def _runs(probe: Probe) -> list[_Started]:
    """One execution of each operation that starts some, watched to its end; kept for all checks."""
    key = "executions.runs"
    if key not in probe.memory:
        found: list[_Started] = []
        for operation in _starters(probe):
            started = await _start(probe, operation)
            if started is not None:
                found.append(await _ended(probe, await _finished(probe, started)))
        probe.memory[key] = found
    runs: list[_Started] = probe.memory[key]
    return runs


def _known(operation: SeenOperation) -> set[str]:
    lifecycle = operation.details.get("lifecycle")
    states = lifecycle.get("states") if isinstance(lifecycle, Mapping) else None
    return {*_CORE, *(str(state) for state in states)} if isinstance(states, list) else {*_CORE}


@check(
    "executions.lifecycle-shape",
    "An operation that starts long work tells its states in 'lifecycle'.",
    section="specification 8.4.5",
    demand=Demand.SHOULD,
    area=Area.EXECUTIONS,
    level=2,
    how="Looks at the details of operations that have a 'lifecycle': states as a list, with a final one among them.",
    proves=("spec-8.4.5-lifecycle-states-in-introspection",),
)
async def lifecycle_shape(probe: Probe) -> AsyncIterator[Finding]:
    """What is declared can be read."""
    for operation in probe.operations:
        lifecycle = operation.details.get("lifecycle")
        if lifecycle is None:
            continue
        states = lifecycle.get("states") if isinstance(lifecycle, Mapping) else None
        if isinstance(states, list) and _FINAL & {str(state) for state in states}:
            yield holds(operation.name)
        else:
            words = "'lifecycle' has no list 'states' of names, among them completed, failed or cancelled"
            yield broken(operation.name, words, probe.survey.details_answers[operation.name])


@check(
    "executions.state-shape",
    "An answer about long work has its id, its status, and times in ISO 8601.",
    section="specification 8.4.3",
    demand=Demand.SHOULD,
    area=Area.EXECUTIONS,
    level=2,
    how="Starts an execution and reads its states (--allow execute).",
    proves=(
        "spec-8.4-long-work-follows-lifecycle",
        "spec-8.4.3-execution-answers-id-and-status",
        "spec-8.4.3-state-has-times-progress-and-error",
    ),
)
async def state_shape(probe: Probe) -> AsyncIterator[Finding]:
    """Whoever watches knows what of, and how it stands."""
    for run in await _runs(probe):
        wrong = [(words, exchange) for exchange in run.seen if (words := _misshapen(exchange.data))]
        yield broken(run.operation.name, *wrong[0]) if wrong else holds(run.operation.name)


def _misshapen(state: object) -> str:
    if not isinstance(state, Mapping):
        return "the state of an execution is no object"
    for name in (_ID, "status"):
        if not isinstance(state.get(name), str):
            return f"the state of an execution has no '{name}'"
    for name in ("started_at", "finished_at"):
        told = state.get(name)
        if told is not None and not (isinstance(told, str) and _TIME.fullmatch(told)):
            return f"'{name}' is '{told}'; a time in ISO 8601 is expected"
    if state["status"] == "failed" and "error" in state and not isinstance(state["error"], Mapping):
        return "'error' of a failed execution is no object"
    return ""


@check(
    "executions.states-documented",
    "Every status is one of the five core states, or is documented.",
    section="specification 8.4.4",
    demand=Demand.MUST,
    area=Area.EXECUTIONS,
    level=2,
    how="Starts an execution and compares each status with 'lifecycle.states' and the core states (--allow execute).",
    proves=("spec-8.4.4-custom-states-documented",),
)
async def states_documented(probe: Probe) -> AsyncIterator[Finding]:
    """No status is a surprise."""
    for run in await _runs(probe):
        known = _known(run.operation)
        strange = [one for one in run.seen if isinstance(one.data, Mapping) and _status(one) not in {*known, ""}]
        if strange:
            words = f"'{_status(strange[0])}' is neither a core state nor among the states that introspection tells"
            yield broken(run.operation.name, words, strange[0])
        else:
            yield holds(run.operation.name)


def _status(exchange: Exchange) -> str:
    status = exchange.data.get("status") if isinstance(exchange.data, Mapping) else None
    return status if isinstance(status, str) else ""


@check(
    "executions.progress-shape",
    "Progress says something: a percentage, current and total, or a message.",
    section="specification 8.4.3",
    demand=Demand.SHOULD,
    area=Area.EXECUTIONS,
    level=2,
    how="Starts an execution and looks at its progress (--allow execute).",
    proves=("spec-8.4.3-progress-says-something",),
)
async def progress_shape(probe: Probe) -> AsyncIterator[Finding]:
    """An empty progress helps nobody."""
    for run in await _runs(probe):
        for exchange in run.seen:
            progress = exchange.data.get("progress") if isinstance(exchange.data, Mapping) else None
            if progress is None:
                continue
            if not isinstance(progress, Mapping) or not {"percentage", "current", "message"} & {*progress}:
                yield broken(run.operation.name, "'progress' has no percentage, current or message", exchange)
                break
        else:
            yield holds(run.operation.name)


@check(
    "executions.terminal-final",
    "What has ended stays as it is.",
    section="specification 8.4.2",
    demand=Demand.MUST,
    area=Area.EXECUTIONS,
    level=2,
    how="Reads an execution again after its end, and after an attempt to cancel it (--allow execute).",
    proves=("spec-8.4.2-terminal-states-are-final", "spec-8.4.2-only-listed-transitions-happen"),
)
async def terminal_final(probe: Probe) -> AsyncIterator[Finding]:
    """A final state is final."""
    for run in await _runs(probe):
        status, cancel = _status_operation(probe), _cancel_operation(probe)
        if run.last not in _FINAL or status is None:
            yield unseen(run.operation.name, "it did not end while it was watched")
            continue
        before = run.seen[-1]
        if cancel is not None and probe.may_call(cancel):
            await call_agreed(probe, cancel, {_ID: run.id})
        after = await probe.call(status, {_ID: run.id})
        if after.succeeded and _status(after) and _status(after) != run.last:
            yield broken(run.operation.name, f"it was {run.last}, and is {_status(after)} now", before, after)
        elif after.succeeded:
            yield holds(run.operation.name, after)


@check(
    "executions.cancel",
    "What has not ended can be cancelled.",
    section="specification 8.4.4",
    demand=Demand.MUST,
    area=Area.EXECUTIONS,
    level=2,
    how="Starts an execution, cancels it, and reads it until it has ended (--allow execute).",
    proves=("spec-8.4.4-cancel-from-unfinished-states",),
)
async def cancelled(probe: Probe) -> AsyncIterator[Finding]:
    """There is a way out."""
    cancel = _cancel_operation(probe)
    for operation in _starters(probe):
        lifecycle = operation.details.get("lifecycle")
        if not isinstance(lifecycle, Mapping) or lifecycle.get("supports_cancel") is False:
            continue
        if cancel is None:
            yield unseen(operation.name, "no operation to cancel an execution was found")
            continue
        started = await _start(probe, operation)
        if started is None:
            continue
        asked = await call_agreed(probe, cancel, {_ID: started.id})
        run = await _finished(probe, started)
        yield _cancelled(run, asked)


def _cancelled(run: _Started, asked: Exchange) -> Finding:
    if run.last == "cancelled":
        return holds(run.operation.name, run.seen[-1])
    if run.last in _FINAL and asked.failed:
        return unseen(run.operation.name, "it ended before it could be cancelled")
    if asked.succeeded and run.last == "completed" and _status(asked) == "completed":
        return unseen(run.operation.name, "it ended before it could be cancelled")
    words = f"it was cancelled and is '{run.last or 'unknown'}'; cancelled is expected"
    return broken(run.operation.name, words, asked, run.seen[-1])
