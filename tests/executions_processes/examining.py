"""What a run leaves behind: the executions, every state that each was in, and the traces that the work itself wrote."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import psycopg

from headgate.protocol.lifecycle import LIVE, State, is_legal
from tests.executions_processes.programs import Life
from tests.executions_processes.workshop import (
    AT_ONCE_NARROW,
    AT_ONCE_ORDERED,
    DECLARED_RETRIES,
    ONLY_ONCE,
    Trace,
    traces_in,
)

__all__ = ["Examined", "Found", "Step", "examine", "keep_history", "left_over", "running_of"]

_HISTORY = """
CREATE TABLE public.history (
    number bigserial PRIMARY KEY, id text NOT NULL, source text, target text NOT NULL, attempt bigint NOT NULL,
    worker text, interrupts boolean NOT NULL, at double precision NOT NULL
        DEFAULT extract(epoch FROM clock_timestamp()));
CREATE FUNCTION public.note_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO public.history (id, target, attempt, interrupts)
        VALUES (NEW.id, NEW.state, NEW.attempt, false);
    ELSIF OLD.state <> NEW.state OR OLD.attempt <> NEW.attempt THEN
        INSERT INTO public.history (id, source, target, attempt, worker, interrupts)
        VALUES (NEW.id, OLD.state, NEW.state, NEW.attempt, COALESCE(OLD.worker, NEW.worker),
            NEW.interruptions > OLD.interruptions);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER note_step AFTER INSERT OR UPDATE ON headgate.executions
    FOR EACH ROW EXECUTE FUNCTION public.note_step();
CREATE TABLE public.processes (id text PRIMARY KEY, pid bigint NOT NULL);
CREATE FUNCTION public.note_process() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.processes (id, pid) VALUES (NEW.id, NEW.pid) ON CONFLICT DO NOTHING;
    RETURN NEW;
END $$;
CREATE TRIGGER note_process AFTER INSERT ON headgate.workers FOR EACH ROW EXECUTE FUNCTION public.note_process();
"""
_LEFT_OVER = """SELECT
    (SELECT count(*) FROM headgate.executions WHERE state = ANY(%s)) + (SELECT count(*) FROM procrastinate_jobs)"""


_STEPS = "SELECT id, source, target, attempt, worker, interrupts, at FROM public.history ORDER BY number"


class Found(NamedTuple):
    """An execution as it is in the store at the end."""

    id: str
    operation: str
    state: State
    params: Mapping[str, Any]
    attempt: int
    code: str
    """The code of its error; nothing if it has none."""


class Step(NamedTuple):
    """A change of an execution's state, as the database itself has noted it."""

    source: State | None
    target: State
    attempt: int
    worker: str | None
    """Who was at it, or takes it."""
    interrupts: bool
    """Whether it is told that the worker could not go on."""
    at: float


def keep_history(url: str) -> None:
    """From now on have the database note every change of a state, in the very transaction that makes it."""
    with psycopg.connect(url) as connection:
        connection.execute(_HISTORY)


def left_over(url: str) -> int:
    """How many executions have not ended, and how many jobs are still in the queue."""
    return _counted(url, _LEFT_OVER, [state.value for state in LIVE])


def running_of(url: str, ids: Sequence[str]) -> int:
    """How many of some executions run, as far as the store knows."""
    return _counted(url, "SELECT count(*) FROM headgate.executions WHERE state = 'running' AND id = ANY(%s)", list(ids))


def _counted(url: str, sql: LiteralString, values: list[str]) -> int:
    with psycopg.connect(url, options="-c search_path=headgate,public") as connection:
        row = connection.execute(sql, [values]).fetchone()
        assert row
        return int(row[0])


@dataclass(frozen=True)
class Examined:
    """What was left behind; it was checked when it was read."""

    executions: Sequence[Found]
    history: Mapping[str, Sequence[Step]]
    traces: Sequence[Trace]
    lives: Mapping[str, Life]
    """The life of a program that each worker of the store was in, by the worker's id."""

    def ended(self, state: State) -> Sequence[Found]:
        """The executions that have ended in a way."""
        return [one for one in self.executions if one.state is state]

    @property
    def begun_anew(self) -> Counter[str]:
        """How often each execution left its failure, to be tried again."""
        return Counter(
            {
                execution_id: sum(step.source is State.FAILED for step in steps)
                for execution_id, steps in self.history.items()
            }
        )

    @property
    def resumed(self) -> tuple[int, int]:
        """How often an attempt was interrupted and another followed: since it was killed, or had never begun."""
        interrupted = [step for _, step in self._steps if step.interrupts]
        killed = sum(map(self._was_killed, interrupted))
        return killed, len(interrupted) - killed

    @property
    def repeated(self) -> int:
        """How often an attempt has failed and another followed by itself."""
        return sum(
            step.source is State.RUNNING and step.target is State.RETRYING and not step.interrupts
            for _, step in self._steps
        )

    @property
    def _steps(self) -> Iterable[tuple[str, Step]]:
        return ((execution_id, step) for execution_id, steps in self.history.items() for step in steps)

    def _was_killed(self, step: Step) -> bool:
        """Whether a step came after the end of who was at it."""
        life = self.lives[step.worker] if step.worker else None
        return life is not None and life.killed_on is not None and life.killed_on < step.at

    # what must be true of it

    def check(self) -> None:
        """An AssertionError where something is not as it must be."""
        self._check_states()
        self._check_attempts()
        self._check_interruptions()
        self._check_room()

    def _check_states(self) -> None:
        """Each has ended, once, by steps that may follow each other; only a failure was left again."""
        for one in self.executions:
            steps = self.history[one.id]
            assert one.state.is_terminal, one
            assert steps[-1].target is one.state, one
            assert steps[0].source is None, one
            assert steps[0].target is State.PENDING, one
            for before, after in pairwise(steps):
                assert after.source is before.target, (one, steps)
                assert is_legal(before.target, after.target), (one, steps)
                assert not before.target.is_terminal or before.target is State.FAILED, (one, steps)

    def _check_attempts(self) -> None:
        """No attempt has run twice, and no work that is to be done once was begun twice without a caller's wish."""
        began = [trace for trace in self.traces if trace.word == "began"]
        runs = Counter((trace.execution_id, trace.attempt) for trace in began)
        assert all(times == 1 for times in runs.values()), "an attempt has run twice"
        begun = Counter(trace.execution_id for trace in began if trace.operation in ONLY_ONCE)
        twice = {one: times for one, times in begun.items() if times > 1 + self.begun_anew[one]}
        assert not twice, f"work that is to be done once was begun more often: {twice}"
        for one in self.ended(State.COMPLETED):
            done = [trace for trace in self.traces if trace.execution_id == one.id and trace.word == "done"]
            assert one.attempt in {trace.attempt for trace in done}, (one, done)

    def _check_interruptions(self) -> None:
        """Only a kill interrupts work: whatever else happens, an attempt that has begun comes to its own end."""
        began = {(trace.execution_id, trace.attempt) for trace in self.traces if trace.word == "began"}
        for execution_id, step in self._steps:
            if step.interrupts:
                assert self._was_killed(step) or (execution_id, step.attempt) not in began, (execution_id, step)
        for one in self.ended(State.FAILED):
            if one.code == "INTERNAL_INTERRUPTED":
                assert self._was_killed(self.history[one.id][-1]), one
            else:
                assert one.params.get("fails") or one.params["failures"] > DECLARED_RETRIES, one

    def _check_room(self) -> None:
        """No more ran at once than was declared."""
        spans = self._spans()
        assert _most_at_once(spans["execute_ordered"], lambda span: "") <= AT_ONCE_ORDERED
        assert _most_at_once(spans["execute_ordered"], lambda span: span.key) <= 1
        assert _most_at_once(spans["execute_narrow"], lambda span: "") <= AT_ONCE_NARROW

    def _spans(self) -> Mapping[str, Sequence["_Span"]]:
        """From when to when each attempt has run; one without an end has ended with its process."""
        killed = {life.name: life.killed_at for life in self.lives.values()}
        ends = {(one.execution_id, one.attempt): one.at for one in self.traces if one.word != "began"}
        spans = defaultdict(list)
        for one in self.traces:
            if one.word == "began":
                end = ends.get((one.execution_id, one.attempt)) or killed[one.life]
                assert end is not None, f"{one} has no end"
                spans[one.operation].append(_Span(one.key, one.at, end))
        return spans

    @property
    def most_at_once(self) -> Mapping[str, int]:
        """How many ran at once of the operations that say how many may."""
        spans = self._spans()
        return {name: _most_at_once(spans[name], lambda span: "") for name in ("execute_ordered", "execute_narrow")}


class _Span(NamedTuple):
    key: str
    begin: float
    end: float


def _most_at_once(spans: Iterable[_Span], key: Callable[[_Span], str]) -> int:
    """How many of the same key ran at once, at the most."""
    changes = [(at, change, key(span)) for span in spans for at, change in ((span.begin, 1), (span.end, -1))]
    running: Counter[str] = Counter()
    most = 0
    for _, change, name in sorted(changes):
        running[name] += change
        most = max(most, running[name])
    return most


def examine(url: str, traces: Path, lives: Iterable[Life]) -> Examined:
    """Read everything."""
    of_pid = {life.pid: life for life in lives}
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id, operation, state, params, attempt, error FROM headgate.executions")
        executions = [_found(*row) for row in rows]
        history = defaultdict(list)
        rows = connection.execute(_STEPS)
        for execution_id, source, target, *rest in rows:
            history[execution_id].append(Step(State(source) if source else None, State(target), *rest))
        rows = connection.execute("SELECT id, pid FROM public.processes")
        known = {worker: of_pid[pid] for worker, pid in rows}
    return Examined(executions, history, traces_in(traces), known)


def _found(execution_id: str, operation: str, state: str, params: str, attempt: int, error: str | None) -> Found:
    code = json.loads(error)["code"] if error else ""
    return Found(execution_id, operation, State(state), json.loads(params), attempt, code)
