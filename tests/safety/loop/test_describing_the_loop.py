"""What introspection says of the loop, in every mode and where there is none; and what each mode leaves alone."""

from typing import Any

import pytest

from headgate import Adapter, Session
from headgate.protocol.autonomy import LoopMode, Risk
from headgate.server.settings import Settings
from headgate.store.sql import SqlStore
from tests.engine.asking import answer
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY, Supervised

pytestmark = pytest.mark.anyio

SIX = {
    "execute_agent",
    "record_execution_step",
    "complete_execution",
    "abort_execution",
    "confirm_operation",
    "verify_challenge",
}


def rules(mode: str) -> str:
    return f'[autonomy]\nmode = "{mode}"\nstart = "free"\n'


def adapter() -> Adapter:
    made = Adapter("plain")

    @made.read
    async def get_page(number: int) -> int:
        """Read a page."""
        return number

    return made


async def introspect(engine: Any, **params: Any) -> Any:
    return await answer(engine, {"operation": "introspect", "params": params}, session=Session())


async def test_a_server_without_a_loop_says_that_it_is_disabled_and_has_none_of_its_operations(
    store: SqlStore,
) -> None:
    engine = Settings.of().engine(adapter(), store)
    data = (await introspect(engine, query="operations"))["data"]
    assert data["_protocol"]["capabilities"]["execution_safety_loop"] == "disabled"
    assert not SIX & {one["name"] for one in data["operations"]}
    assert code_of(await introspect(engine, query="safety_loop")).startswith("VALIDATION_")
    envelope = await answer(engine, {"operation": "record_execution_step", "params": {}}, session=Session())
    assert code_of(envelope) == "NOT_FOUND_OPERATION"


@pytest.mark.parametrize("mode", ["enforcing", "monitoring", "logging", "disabled"])
async def test_a_loop_by_a_setting_says_how_far_it_goes(store: SqlStore, mode: str) -> None:
    engine = Settings.of(safety_loop=mode).engine(adapter(), store)
    data = (await introspect(engine, query="operations"))["data"]
    assert data["_protocol"]["capabilities"]["execution_safety_loop"] == mode
    assert {one["name"] for one in data["operations"]} >= SIX
    assert (await introspect(engine, query="safety_loop"))["data"]["execution_safety_loop"] == mode


async def test_a_setting_goes_before_the_policy(store: SqlStore) -> None:
    settings = Settings.of(safety_loop="logging", policy={"autonomy": {"mode": "enforcing", "start": "free"}})
    assert settings.loop_mode == "logging"
    assert not settings.supervises
    loop = settings.loop(adapter(), store)
    assert loop
    assert (loop.mode, loop.settings.starts_freely) == ("logging", True)
    assert Settings.of().loop(adapter(), store) is None
    assert settings.supervising(LoopMode.ENFORCING).supervises


async def test_a_server_asks_the_adapters_own_function_for_the_risk(store: SqlStore) -> None:
    """It is plugged in with a decorator, and can only make an action graver."""
    made = adapter()

    @made.risk
    def by_house(hint: str) -> Risk:
        return Risk(90, ("the house is not for sale",)) if "house" in hint else Risk(0)

    settings = Settings.of(policy={"autonomy": {"start": "free"}})
    loop = settings.loop(made, store)
    assert loop
    assert by_house("the house").score == 90, "the function stays what it was"
    assert loop.scorer("read about the house").score == 90
    assert loop.scorer("rm -rf /").score > 85, "and what is dangerous anyway stays so"
    engine = settings.engine(made, store)
    session = Session()
    await answer(engine, {"operation": "execute_agent", "params": {"element_name": "bot"}}, session=session)
    step = {"element_name": "bot", "next_action_hint": "read about the house"}
    envelope = await answer(engine, {"operation": "record_execution_step", "params": step}, session=session)
    directive = envelope["data"]["directive"]
    assert directive["stopped"] is True
    assert "the house is not for sale" in directive["factors"]


async def test_introspection_tells_the_rules_of_one_agent(store: SqlStore) -> None:
    text = f"{rules('enforcing')}failures_per_minute = 4\n[autonomy.agents.clerk]\nmax_autonomous_steps = 3\n"
    found = Supervised(store, text)
    general = (await introspect(found.engine, query="safety_loop"))["data"]
    clerk = (await introspect(found.engine, query="safety_loop", name="CLERK"))["data"]
    assert general["configuration"]["maxAutonomousSteps"] == 25
    assert clerk["configuration"]["maxAutonomousSteps"] == 3
    assert clerk["defaults"] == general["defaults"]
    assert general["tolerances"] == {"conservative": 25, "moderate": 50, "aggressive": 75}
    assert (general["challenge_seconds"], general["approval_seconds"], general["failures_per_minute"]) == (300, 900, 4)
    assert general["unreported_operations"] == "allow"
    assert code_of(await introspect(found.engine, query="safety_loop", name="\u200b")) == "VALIDATION_INVALID_VALUE"


# What is not enforced changes nothing but the record


@pytest.mark.parametrize("mode", ["monitoring", "logging"])
async def test_what_is_not_enforced_is_recorded_and_nothing_else(store: SqlStore, mode: str) -> None:
    found = Supervised(store, rules(mode))
    await found.start()
    for hint in (HARMLESS, RISKY, GRAVE, DEADLY):
        assert (await found.step(hint))["continue"] is True
    kept = await found.agent()
    assert (kept.pause, kept.block, kept.waiting) == (None, None, ())
    assert kept.execution
    assert [step.hint for step in kept.execution.recent] == [HARMLESS, RISKY, GRAVE, DEADLY]
    for kind in ("challenge", "grant", "lockout"):
        assert await store.list(kind) == []
    assert await found.events() == ["agent started", *["agent step"] * 4]
    assert await found.code("complete_execution", {"element_name": "bot"}) == ""


async def test_where_it_is_disabled_a_step_is_answered_and_not_even_recorded(store: SqlStore) -> None:
    found = Supervised(store, rules("disabled"))
    directive = await found.step(DEADLY)
    assert directive["continue"] is True
    assert "nothing was evaluated" in directive["factors"][0]
    assert await found.events() == []


@pytest.mark.parametrize("mode", ["monitoring", "logging", "disabled"])
async def test_where_nothing_is_enforced_an_agent_starts_without_a_person(store: SqlStore, mode: str) -> None:
    found = Supervised(store, f'[autonomy]\nmode = "{mode}"\n')
    started = (await found.call("execute_agent", {"element_name": "bot"}))["data"]
    assert started["execution_safety_loop"] == mode
