"""What a person is shown, whatever the channel: all that is needed to decide, and nothing that an agent has made up."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.channels.notices import CODE, HOSTILE, SPELT, notice


def test_a_person_learns_who_wants_what_why_it_is_held_up_and_how_to_verify() -> None:
    shown = notice(options="--state '/srv/my state.db'")
    assert shown.subject == "headgate: agent 'bot' is blocked"
    assert shown.text == (
        "Agent 'bot' is blocked. It is about to:\n\n"
        "  rm -rf /srv/data\n\n"
        "Action denied by a pattern, because:\n"
        "  The action matches the deny pattern 'rm -rf*'\n\n"
        "If you want this, and only then, verify it until 2026-07-01 12:05:00 UTC with the code\n\n"
        f"  {CODE}\n\n"
        "in the console, or with\n\n"
        f"  headgate verify {shown.challenge.id} --state '/srv/my state.db'\n\n"
        "Never give the code to the agent. It counts once; a wrong try makes it void.\n"
    )


def test_one_that_is_only_paused_is_not_called_blocked() -> None:
    shown = notice(blocks=False)
    assert shown.subject == "headgate: agent 'bot' is paused"
    assert shown.text.startswith("Agent 'bot' is paused.")


@pytest.mark.parametrize("field", ["name", "hint", "reason"])
def test_what_an_agent_says_stays_on_its_line(field: str) -> None:
    about: dict[str, Any] = {field: HOSTILE}
    plain, hostile = notice(), notice(**about)
    assert hostile.text.count("\n") == plain.text.count("\n")
    assert SPELT in hostile.text
    assert hostile.text.count(CODE) == 1


@given(
    name=st.text(max_size=200),
    hint=st.text(max_size=3000),
    factors=st.lists(st.text(max_size=500), min_size=1, max_size=20),
)
def test_nothing_that_is_shown_can_steer_hide_or_be_endless(name: str, hint: str, factors: list[str]) -> None:
    shown = notice(name=name, hint=hint, factors=tuple(factors))
    assert shown.subject.isprintable()
    lines = shown.text.split("\n")
    assert all(line.isprintable() for line in lines)
    of_factors = len(factors) if len(factors) <= 10 else 11
    assert len(lines) == len(notice().text.split("\n")) - 1 + of_factors
    assert len(shown.text) < 20_000


def test_of_what_is_long_its_length_is_told() -> None:
    shown = notice(hint="x" * 5000, factors=("y" * 400, *map(str, range(20))))
    assert f"  {'x' * 1000}… (5000 characters)\n" in shown.text
    assert f"  {'y' * 300}… (400 characters)\n" in shown.text
    assert "  8\n  and 11 more\n" in shown.text


def test_a_code_is_not_in_what_is_printed_for_developers() -> None:
    assert CODE not in repr(notice())
