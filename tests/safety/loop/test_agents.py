"""Agents as values: what they are known by, what a step makes of them, and that they are read as they were kept."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.autonomy import Notification, NotificationType, Tolerance
from headgate.safety.autonomy.rules import Tightening
from headgate.safety.autonomy.verdicts import PastStep, Way
from headgate.safety.loop.agents import (
    Agent,
    Block,
    Execution,
    Leave,
    Party,
    Pause,
    Step,
    agent_key,
    hint_digest,
    named,
)
from headgate.safety.loop.notifying import status
from headgate.store.records import Record

# Names

SAME = {
    "case": ("Release-Bot", "release-bot"),
    "spaces around": ("  bot ", "bot"),
    "spaces within": ("night \u00a0\t bot", "night bot"),
    "wide letters": ("\uff22\uff4f\uff54", "bot"),
    "letters of another script": ("b\u043et", "bot"),
    "letters of a third": ("b\u03bft", "bot"),
    "accents apart": ("caf\u0065\u0301", "caf\u00e9"),
    "an accent on a letter": ("b\u00f3t", "bot"),
    "nothing between": ("b\u200bo\u2060t", "bot"),
    "a hyphen that does not show": ("b\u00adot", "bot"),
    "right to left": ("\u202ebot\u202c", "bot"),
    "a sharp s": ("stra\u00dfe", "strasse"),
    "a ligature": ("of\ufb01ce", "office"),
}
OTHERS = {
    "another name": ("bot", "bots"),
    "a digit": ("bot1", "bot2"),
    "another sign": ("night-bot", "night_bot"),
    "two words": ("nightbot", "night bot"),
    "another script altogether": ("\u4ee3\u7406", "\u5c0f\u4e8c"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_names_that_read_the_same_are_one(one: str, other: str) -> None:
    assert agent_key(one) == agent_key(other)


@pytest.mark.parametrize(("one", "other"), OTHERS.values(), ids=OTHERS)
def test_names_that_read_differently_are_two(one: str, other: str) -> None:
    assert agent_key(one) != agent_key(other)


@given(st.text(max_size=30))
def test_a_key_is_its_own_key(name: str) -> None:
    assert agent_key(agent_key(name)) == agent_key(name)


@given(st.text(max_size=30), st.sampled_from(["\u200b", "\u00ad", "\u2060", "\ufeff"]), st.integers(0, 30))
def test_what_does_not_show_changes_no_key(name: str, nothing: str, place: int) -> None:
    assert agent_key(name[:place] + nothing + name[place:]) == agent_key(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("bot", "'bot'"), ("b\u001bot", "'b\\u001bot'"), ("b\u202eot", "'b\\u202eot'"), ("x" * 300, f"'{'x' * 200}'")],
    ids=["plain", "control", "right to left", "long"],
)
def test_a_name_in_a_sentence_can_do_no_harm(name: str, shown: str) -> None:
    assert named(name) == shown


def test_hints_that_read_the_same_have_one_digest() -> None:
    assert hint_digest("Read  the file") == hint_digest("read the f\u0456le")
    assert hint_digest("read the file") != hint_digest("read the files")


# Who speaks


@pytest.mark.parametrize(
    ("party", "marks"),
    [
        (Party("ann", "s1"), ("caller:ann", "session:s1")),
        (Party("ann", None), ("caller:ann",)),
        (Party(None, "s1"), ("session:s1",)),
        (Party(None, None), ("nobody",)),
    ],
    ids=["both", "caller", "session", "neither"],
)
def test_a_party_is_known_by_what_was_proved(party: Party, marks: tuple[str, ...]) -> None:
    assert party.marks == marks


PARTIES = [Party("ann", "s1"), Party("ann", "s2"), Party("bea", "s1"), Party("bea", "s3"), Party(None, None)]
IS_PARTY = {
    (0, 0): True,
    (0, 1): True,
    (0, 2): True,
    (0, 3): False,
    (0, 4): False,
    (4, 4): True,
    (4, 0): False,
}


@pytest.mark.parametrize(("pair", "expected"), IS_PARTY.items(), ids=str)
def test_a_request_is_an_agents_if_anything_in_it_is(pair: tuple[int, int], expected: bool) -> None:
    agent = Agent(key="bot", name="bot").marked(PARTIES[pair[0]])
    assert agent.is_party(PARTIES[pair[1]]) is expected


def test_an_agent_keeps_the_last_two_hundred_that_spoke_for_it_each_once() -> None:
    agent = Agent(key="bot", name="bot")
    for number in range(250):
        agent = agent.marked(Party(None, f"s{number}")).marked(Party(None, f"s{number}"))
    assert agent.marks == tuple(f"session:s{number}" for number in range(50, 250))
    assert agent.marked(Party(None, "s100")) is agent


# Steps


def step(number: int = 1, way: Way = Way.CONTINUE, score: int | None = 5, digest: str = "d") -> Step:
    return Step(number=number, at=1.0, hint="h", digest=digest, way=way, score=score)


def execution(**more: Any) -> Execution:
    about: dict[str, Any] = {"id": "e", "task": "", "adapter": "a", "started_at": 0.0, "caller": "c", "marks": ("m",)}
    return Execution(**{**about, **more})


def test_a_step_that_goes_on_counts_as_taken_and_every_step_counts() -> None:
    now = execution()
    for number, way in enumerate((Way.CONTINUE, Way.PAUSE, Way.CONTINUE, Way.VERIFY, Way.STOP), 1):
        now = now.with_step(step(number, way))
    assert (now.steps, now.taken) == (5, 2)
    assert [one.way for one in now.recent] == [Way.CONTINUE, Way.PAUSE, Way.CONTINUE, Way.VERIFY, Way.STOP]
    assert now.last == step(5, Way.STOP)
    assert execution().last is None


def test_the_last_twenty_steps_are_kept() -> None:
    now = execution()
    for number in range(1, 31):
        now = now.with_step(step(number))
    assert (now.steps, now.taken) == (30, 30)
    assert [one.number for one in now.recent] == list(range(11, 31))


def test_the_evaluation_looks_back_at_what_it_has_weighed() -> None:
    now = execution(taken=3)
    for score, digest in ((5, "a"), (None, "b"), (70, "a"), (None, "a")):
        now = now.with_step(step(1, Way.PAUSE, score, digest))
    assert now.history.taken == 3
    assert now.history.steps == (PastStep("a", 5), PastStep("a", 70))
    assert now.history.repetitions("a") == 2


# Owners, ends, notes

BLOCK = Block(at=1.0, hint="h", digest="d", reason="r", factors=("f",), challenge_id="c")


@pytest.mark.parametrize(
    ("agent", "owner", "expires"),
    [
        (Agent(key="k", name="n", seen_at=10.0), "idle", 10.0 + 30 * 86400),
        (Agent(key="k", name="n", execution=execution()), "executing", None),
        (Agent(key="k", name="n", block=BLOCK), "blocked", None),
        (Agent(key="k", name="n", block=BLOCK, execution=execution()), "blocked", None),
    ],
    ids=["idle", "executing", "blocked", "blocked as it executes"],
)
def test_an_agent_is_forgotten_only_if_it_does_nothing_and_is_not_held_up(
    agent: Agent, owner: str, expires: float | None
) -> None:
    record = agent.record()
    assert (record.kind, record.key, record.owner, record.expires_at) == ("agent", "k", owner, expires)


def test_an_agent_is_freed_of_what_belonged_to_an_execution_and_of_nothing_else() -> None:
    pause = Pause(at=1.0, digest="d", reason="r", factors=(), hint="h", grant_id="g")
    agent = Agent(
        key="k",
        name="n",
        execution=execution(),
        pause=pause,
        block=BLOCK,
        leave=Leave("d", Way.STOP),
        refused=("d",),
        waiting=("g",),
        notes=(status("x", 1.0),),
        marks=("m",),
        seen_at=5.0,
        version=3,
    )
    assert agent.freed() == Agent(
        key="k", name="n", execution=execution(), block=BLOCK, marks=("m",), seen_at=5.0, version=3
    )


def test_the_last_hundred_notes_are_kept() -> None:
    agent = Agent(key="k", name="n")
    for number in range(130):
        agent = agent.told(status(str(number), 1.0))
    assert [note.message for note in agent.notes] == [str(number) for number in range(30, 130)]


@pytest.mark.parametrize(("more", "waits"), [({"challenge_id": "c"}, "c"), ({"grant_id": "g"}, "appr_g")], ids=str)
def test_a_pause_waits_for_a_challenge_or_for_an_approval(more: dict[str, str], waits: str) -> None:
    assert Pause(at=1.0, digest="d", reason="r", factors=(), hint="h", **more).waits_for == waits


# What is kept is read again

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
TIMES = st.floats(0, 2e9, allow_nan=False)
SCORES = st.none() | st.integers(0, 100)
NOTES = st.builds(
    Notification, type=st.sampled_from(NotificationType), message=TEXTS, at=TIMES, operation=TEXTS, reason=TEXTS
)
STEPS = st.builds(Step, st.integers(1), TIMES, TEXTS, TEXTS, st.sampled_from(Way), LISTS, SCORES, TEXTS, TEXTS, TEXTS)
OWN = st.builds(
    Tightening,
    max_autonomous_steps=st.none() | st.integers(1),
    risk_tolerance=st.none() | st.sampled_from(Tolerance),
    deny=LISTS,
    requires_approval=LISTS,
    auto_approve=st.none() | LISTS,
)
EXECUTIONS = st.builds(
    Execution,
    id=TEXTS,
    task=TEXTS,
    adapter=TEXTS,
    started_at=TIMES,
    caller=TEXTS,
    marks=LISTS,
    own=OWN,
    steps=st.integers(0),
    taken=st.integers(0),
    log=st.lists(STEPS, max_size=3).map(tuple),
)
PAUSES = st.builds(
    Pause, at=TIMES, digest=TEXTS, reason=TEXTS, factors=LISTS, hint=TEXTS, grant_id=TEXTS, challenge_id=TEXTS
)
BLOCKS = st.builds(Block, at=TIMES, hint=TEXTS, digest=TEXTS, reason=TEXTS, factors=LISTS, challenge_id=TEXTS)
AGENTS = st.builds(
    Agent,
    key=TEXTS,
    name=TEXTS,
    execution=st.none() | EXECUTIONS,
    pause=st.none() | PAUSES,
    block=st.none() | BLOCKS,
    leave=st.none() | st.builds(Leave, TEXTS, st.sampled_from(Way)),
    refused=LISTS,
    waiting=LISTS,
    notes=st.lists(NOTES, max_size=3).map(tuple),
    marks=LISTS,
    seen_at=TIMES,
    version=st.integers(0, 2**60),
)


@given(AGENTS)
def test_an_agent_is_read_as_it_was_kept(agent: Agent) -> None:
    record = agent.record()
    stored = Record(record.kind, record.key, json.loads(json.dumps(record.value)), version=record.version)
    found = Agent.read(stored)
    assert (found.execution.recent if found.execution else ()) == (agent.execution.recent if agent.execution else ())
    assert _plain(found) == _plain(agent)


def _plain(agent: Agent) -> Agent:
    """An agent whose steps are steps, and not lists of their fields."""
    running = agent.execution
    return agent if running is None else replace(agent, execution=replace(running, log=running.recent))
