"""Sources side by side: what one of them does, or fails to do, is nothing to the others."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from headgate.adapter.adapter import Adapter
from headgate.adapter.parts import PartState
from headgate.protocol.adapter_errors import AdapterError
from headgate.safety.policy.limits import ApiLimit
from headgate.safety.policy.rules import Policy
from headgate.sources.gate import keeping
from headgate.sources.gate.gate import Gate, opened_gate
from headgate.sources.gate.specs import GatePlan, SourceSpec
from headgate.sources.source import Source
from tests.sources.gate.pieces import Told, adapter, spec

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again without much waiting."""
    monkeypatch.setattr(keeping, "_FIRST_WAIT", 0.01)


def telling(*sources: Told) -> Callable[[SourceSpec], Source]:
    known: Mapping[str, Source] = {source.name: source for source in sources}
    return lambda one: known[one.name]


def plan(*specs: SourceSpec) -> GatePlan:
    return GatePlan(name="gate", sources=specs)


@asynccontextmanager
async def gate_of(*sources: Told, patience: float = 5.0, **more: Any) -> AsyncIterator[Gate]:
    specs = plan(*(spec(source.name, **more) for source in sources))
    async with opened_gate(specs, telling(*sources), patience=patience) as gate:
        yield gate


def failing(words: str) -> Callable[[], Adapter]:
    def fail() -> Adapter:
        raise AdapterError(words)

    return fail


def states(gate: Gate) -> dict[str, str]:
    return {part.name: part.state.value for part in gate.parts()}


async def test_all_that_opens_is_served_together_and_closed_in_the_end() -> None:
    sources = [Told(name, [lambda name=name: adapter(name, f"get_{name}")]) for name in ("a", "b")]  # type: ignore[misc]
    async with gate_of(*sources) as gate:
        await gate.settled()
        whole = gate.adapter()
        assert list(whole.operations) == ["get_a", "get_b"]
        assert [(part.name, part.operations) for part in whole.parts()] == [("a", 1), ("b", 1)]
        gate.refuse_if_nothing_opens()
    assert [source.closed for source in sources] == [True, True]


async def test_a_source_that_is_slow_does_not_hold_up_the_others() -> None:
    slow = Told("slow", [lambda: adapter("slow", "get_slow")], held=anyio.Event())
    quick = Told("quick", [lambda: adapter("quick", "get_quick")])
    async with gate_of(slow, quick) as gate:
        await gate.news()
        assert list(gate.adapter().operations) == ["get_quick"]
        assert states(gate) == {"slow": "starting", "quick": "ready"}
        assert gate.waited_for() == ["slow"]
        assert slow.held is not None
        slow.held.set()
        await gate.news()
        assert list(gate.adapter().operations) == ["get_slow", "get_quick"]
        assert gate.waited_for() == []


async def test_a_source_that_fails_says_why_and_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    broken = Told("broken", [failing("no such table"), failing("no such table"), lambda: adapter("x", "get_x")])
    well = Told("well", [lambda: adapter("well", "get_well")])
    async with gate_of(broken, well) as gate:
        async for whole in gate.versions():
            if "get_x" in whole.operations:
                break
        assert states(gate) == {"broken": "ready", "well": "ready"}
    assert broken.opened == 3
    told = [record.message for record in caplog.records]
    assert [one for one in told if "no such table" in one] == [
        "source 'broken' is not ready: no such table; it is tried again in 0.01 s"
    ]


@pytest.mark.parametrize(("goes_on", "again"), [(True, "; it is tried again in 60 s"), (False, ".")])
async def test_a_quiet_gate_tells_of_failures_once_it_is_to_speak(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, goes_on: bool, again: str
) -> None:
    monkeypatch.setattr(keeping, "_FIRST_WAIT", 60.0)
    sources = (Told("broken", [failing("Check the path.")]), Told("well", [lambda: adapter("well", "get_well")]))
    specs = plan(*(spec(source.name) for source in sources))
    async with opened_gate(specs, telling(*sources), patience=5, quiet=True) as gate:
        await gate.settled()
        assert not caplog.records
        gate.speak(goes_on=goes_on)
    assert [record.message for record in caplog.records] == [f"source 'broken' is not ready: Check the path{again}"]


async def test_a_source_that_never_answers_runs_into_its_own_limit() -> None:
    hanging = Told("hanging", [lambda: adapter("x")], held=anyio.Event())
    async with gate_of(hanging, patience=0.01) as gate:
        await gate.settled()
        [part] = gate.parts()
        assert (part.state, part.problem) == (PartState.FAILED, "it did not answer within 0.01 s")
        with pytest.raises(AdapterError, match="Source 'hanging': it did not answer"):
            gate.refuse_if_nothing_opens()


async def test_a_source_may_have_a_limit_of_its_own() -> None:
    hanging = Told("hanging", [lambda: adapter("x")], held=anyio.Event())
    async with gate_of(hanging, start_timeout=0.02) as gate:
        await gate.settled()
        assert "within 0.02 s" in gate.parts()[0].problem


async def test_what_nobody_foresaw_in_one_source_is_logged_and_nothing_to_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def burst() -> Adapter:
        raise ZeroDivisionError

    bad, good = Told("bad", [burst]), Told("good", [lambda: adapter("good", "get_good")])
    async with gate_of(bad, good) as gate:
        await gate.settled()
        assert list(gate.adapter().operations) == ["get_good"]
        assert gate.parts()[0].problem == "it failed unexpectedly; the log has the reason"
    assert any(record.exc_info for record in caplog.records)


async def test_if_nothing_opens_every_reason_is_told() -> None:
    async with gate_of(Told("a", [failing("no a")]), Told("b", [failing("no b")])) as gate:
        await gate.settled()
        with pytest.raises(AdapterError) as told:
            gate.refuse_if_nothing_opens()
    assert str(told.value) == "No source could be opened:\n  'a': no a\n  'b': no b"


async def test_a_disabled_source_is_shown_and_never_opened() -> None:
    off, on = Told("off", [lambda: adapter("off", "get_off")]), Told("on", [lambda: adapter("on", "get_on")])
    specs = plan(spec("off", disabled=True), spec("on"))
    async with opened_gate(specs, telling(off, on), patience=5) as gate:
        await gate.settled()
        assert list(gate.adapter().operations) == ["get_on"]
        assert states(gate) == {"off": "disabled", "on": "ready"}
    assert off.opened == 0
    async with opened_gate(plan(spec("off", disabled=True)), telling(off), patience=5) as gate:
        with pytest.raises(AdapterError, match="all of them are disabled"):
            gate.refuse_if_nothing_opens()


async def test_a_source_that_cannot_be_made_or_opened_as_written_is_not_tried_again() -> None:
    well = Told("well", [lambda: adapter("well", "get_well")])

    def make(one: SourceSpec) -> Source:
        if one.name == "odd" and not one.problem:
            raise AdapterError("'allow' holds '?'")
        return well if one.name == "well" else Told(one.name, [failing("never")])

    specs = plan(spec("odd"), spec("unset", problem="a variable is missing"), spec("well"))
    async with opened_gate(specs, make, patience=5) as gate:
        await gate.settled()
        assert [part.problem for part in gate.parts()] == ["'allow' holds '?'", "a variable is missing", ""]


async def test_a_change_of_one_source_makes_a_new_version_of_all() -> None:
    one = Told("a", [lambda: adapter("a", "get_a")])
    other = Told("b", [lambda: adapter("b", "get_b")])
    async with gate_of(one, other) as gate:
        await gate.settled()
        before = gate.adapter()
        one.tell(adapter("a", "get_a", "get_new"))
        await gate.news()
        after = gate.adapter()
        assert [*before.operations] == ["get_a", "get_b"]
        assert [*after.operations] == ["get_a", "get_new", "get_b"]
        assert other.opened == 1


async def test_a_source_that_breaks_later_keeps_what_it_serves_and_is_opened_anew() -> None:
    one = Told("a", [lambda: adapter("a", "get_a"), lambda: adapter("a", "get_a", "get_b")])
    async with gate_of(one) as gate:
        await gate.settled()
        assert [*gate.adapter().operations] == ["get_a"]
        one.tell(AdapterError("the connection is gone"))
        while "get_b" not in gate.adapter().operations:
            assert "get_a" in gate.adapter().operations
            await gate.news()
        assert states(gate) == {"a": "ready"}


async def test_a_source_whose_names_collide_is_left_out_until_they_do_not(caplog: pytest.LogCaptureFixture) -> None:
    one, two = Told("a", [lambda: adapter("a", "get_x")]), Told("b", [lambda: adapter("b", "get_x")])
    async with gate_of(one, two, prefix="") as gate:
        await gate.settled()
        assert [*gate.adapter().operations] == ["get_x"]
        assert states(gate) == {"a": "ready", "b": "failed"}
        assert "set another prefix for 'b'" in gate.parts()[1].problem
        gate.adapter()
        two.tell(adapter("b", "get_y"))
        await gate.news()
        assert [*gate.adapter().operations] == ["get_x", "get_y"]
        assert states(gate) == {"a": "ready", "b": "ready"}
    assert sum("is left out" in record.message for record in caplog.records) == 1


async def test_another_plan_keeps_what_is_the_same_and_closes_what_is_gone() -> None:
    kept, gone, new = (Told(name, [lambda name=name: adapter(name, f"get_{name}")]) for name in "abc")  # type: ignore[misc]
    make = telling(kept, gone, new)
    async with opened_gate(plan(spec("a"), spec("b")), make, patience=5) as gate:
        await gate.settled()
        gate.adapter()
        await gate.take(plan(spec("c"), spec("a")))
        assert gone.closed
        await gate.settled()
        assert [*gate.adapter().operations] == ["get_c", "get_a"]
        assert (kept.opened, kept.closed) == (1, False)


async def test_a_source_that_is_configured_anew_is_opened_anew() -> None:
    first, second = Told("a", [lambda: adapter("a", "get_x")]), Told("a", [lambda: adapter("a", "get_x")])
    made = iter([first, second])
    async with opened_gate(plan(spec("a")), lambda _: next(made), patience=5) as gate:
        await gate.settled()
        await gate.take(plan(spec("a", prefix="new")))
        await gate.settled()
        assert first.closed
        assert [*gate.adapter().operations] == ["new_get_x"]


async def test_what_a_source_demands_of_itself_is_ruled_beside_what_its_operator_says() -> None:
    class Demanding(Told):
        policy = Policy(api_limits=(ApiLimit(limit=1, window="second"),))

    own = Policy(api_limits=(ApiLimit(limit=9, window="day"),))
    sources = [
        Demanding("a", [lambda: adapter("a")]),
        Demanding("b", [lambda: adapter("b")]),
        Told("c", [lambda: adapter("c")]),
    ]
    specs = plan(spec("a", policy=own), spec("b"), spec("c"))
    async with opened_gate(specs, telling(*sources), patience=5) as gate:
        await gate.settled()
        found = {name: [limit.window for limit in policy.api_limits] for name, policy in gate.policies()}
    assert found == {"a": ["day", "second"], "b": ["second"]}


async def test_a_source_that_does_not_close_holds_up_nobody(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stubborn(Told):
        async def close(self) -> None:
            await anyio.sleep_forever()

    class Rude(Told):
        async def close(self) -> None:
            raise RuntimeError

    monkeypatch.setattr(keeping, "_CLOSING_SECONDS", 0.01)
    with caplog.at_level(logging.ERROR):
        async with gate_of(Stubborn("a", [lambda: adapter("a")]), Rude("b", [lambda: adapter("b")])) as gate:
            await gate.settled()
    assert any("'b' could not be closed" in record.message for record in caplog.records)


async def test_how_far_sources_are_is_known_one_by_one() -> None:
    first, second = (
        Told("a", [lambda: adapter("a")], held=anyio.Event()),
        Told("b", [lambda: adapter("b")], held=anyio.Event()),
    )
    async with gate_of(first, second) as gate:
        for source, left in ((first, ["b"]), (second, [])):
            assert source.held is not None
            source.held.set()
            await gate.next_settled()
            assert gate.waited_for() == left


async def test_a_spec_that_differs_in_anything_is_another() -> None:
    one = spec("a", where="x")
    assert one == spec("a", where="x")
    for change in ({"where": "y"}, {"prefix": "p"}, {"timeout": 5.0}, {"disabled": True}):
        assert one != replace(one, **change)
