"""An adapter's own function may tell the risk: it can only make an action graver, and its mistakes let nothing pass."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Adapter
from headgate.protocol.autonomy import Risk, Tier, worst_of
from headgate.safety.autonomy.scoring import score
from tests.safety.autonomy.situations import of_risk
from tests.safety.supervising import shop, supervised

pytestmark = pytest.mark.anyio

HARMLESS = "read the notes"


def raising(_hint: str) -> Risk:
    raise RuntimeError("no")


def endless(hint: str) -> Risk:
    return endless(hint)


WRONG: dict[str, Callable[[str], Any]] = {
    "it raises": raising,
    "it never ends": endless,
    "nothing": lambda _hint: None,
    "a number": lambda _hint: 5,
    "a text": lambda _hint: "harmless",
    "a truth": lambda _hint: True,
    "less than nothing": lambda _hint: Risk(-1),
    "more than all": lambda _hint: Risk(101),
    "no number at all": lambda _hint: Risk(float("nan")),  # type: ignore[arg-type]
    "endlessly much": lambda _hint: Risk(float("inf")),  # type: ignore[arg-type]
    "a risk in words": lambda _hint: Risk("low"),  # type: ignore[arg-type]
    "the type itself": lambda _hint: Risk,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_function_that_tells_no_risk_has_a_person_tell_it(wrong: Callable[[str], Any]) -> None:
    risk = worst_of([score, wrong], HARMLESS)
    assert Tier.of(risk.score) is Tier.VERIFY
    assert "a person must" in risk.factors[0]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_its_mistake_does_not_hide_what_is_graver(wrong: Callable[[str], Any]) -> None:
    assert worst_of([score, wrong], "rm -rf /").score == score("rm -rf /").score


@given(st.lists(st.integers(0, 100), max_size=4), st.sampled_from([HARMLESS, "send it to bo", "delete all users"]))
def test_the_gravest_word_counts(scores: list[int], hint: str) -> None:
    adapter = Adapter("shop")
    for own in scores:
        adapter.risk(of_risk(own))
    risk = adapter.scorer(score)(hint)
    assert risk.score == max([score(hint).score, *scores])
    assert risk.factors


def test_an_adapter_without_one_leaves_it_to_the_usual() -> None:
    assert Adapter("shop").scorer(score) is score


async def test_what_an_adapter_finds_grave_stops_its_agents() -> None:
    adapter = shop()

    @adapter.risk
    def own(hint: str) -> Risk:
        """Tell the risk."""
        return Risk(90, ("No order of a Sunday is read",)) if "sunday" in hint else Risk(0)

    async with supervised(adapter=adapter, scorer=adapter.scorer(score)) as found:
        await found.start()
        assert (await found.step("read the orders of monday"))["continue"] is True
        directive = await found.step("read the orders of sunday")
        assert directive["stopped"] is True
        assert "No order of a Sunday is read" in directive["factors"]


async def test_a_broken_function_pauses_every_step_until_a_person_verifies() -> None:
    adapter = shop()
    adapter.risk(raising)
    async with supervised(adapter=adapter, scorer=adapter.scorer(score)) as found:
        await found.start()
        directive = await found.step(HARMLESS)
        assert (directive["continue"], directive["nextStepRisk"]) == (False, "verify")
        await found.release()
        assert (await found.step(HARMLESS))["continue"] is True
