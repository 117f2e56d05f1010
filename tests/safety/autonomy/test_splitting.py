"""Several actions in one hint: they are told apart, and the worst counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.autonomy.actions import split
from headgate.safety.autonomy.scoring import score
from headgate.safety.autonomy.texts import folded


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("read a", ("read a",)),
        ("read a; write b", ("read a", "write b")),
        ("read a && write b || sing", ("read a", "write b", "sing")),
        ("ls | wc", ("ls", "wc")),
        ("read a and write b", ("read a", "write b")),
        ("read a, then write b", ("read a", "write b")),
        ("read a and then write b", ("read a", "write b")),
        ("read a. write b! sing", ("read a", "write b", "sing")),
        ("read a before b", ("read a", "b")),
        ("lies a und dann schreib b", ("lies a", "schreib b")),
        ("lire a et puis supprimer b", ("lire a", "supprimer b")),
        ("leer a y luego borrar b", ("leer a", "borrar b")),
        ("прочитать a и затем удалить b", ("прочитать a", "удалить b")),
        ("读取a，然后删除b", ("读取a，", "删除b")),  # noqa: RUF001
        ("読んで、消す", ("読んで", "消す")),
        ("read a, delete b", ("read a", "delete b")),
        ("read a (delete b)", ("read a", "delete b)")),
        ("read a: delete b", ("read a", "delete b")),
        ("read a -> delete b", ("read a", "delete b")),
        ("read a - delete b", ("read a", "delete b")),
        ("read a 2) delete b", ("read a", "delete b")),
        ("read a, drop it", ("read a", "drop it")),
        ("read a, drop rates", ("read a, drop rates",)),
        ("read a, scuttle it", ("read a", "scuttle it")),
        ("read a, frobnicate all", ("read a", "frobnicate all")),
        ("read a, b and c", ("read a, b", "c")),
        ("read a, in the folder", ("read a, in the folder",)),
        ("read delete.txt, deleted b", ("read delete.txt, deleted b",)),
        ("read a; read a", ("read a",)),
        (";;", (";;",)),
        ("", ("",)),
    ],
)
def test_a_hint_falls_into_its_actions(text: str, parts: tuple[str, ...]) -> None:
    assert split(text) == parts


@given(st.text(max_size=80))
def test_there_is_always_an_action_and_none_is_empty_or_comes_twice(text: str) -> None:
    parts = split(folded(text))
    assert len(parts) == len({*parts})
    assert len(parts) >= 1
    assert all(parts) or parts == ("",)


ACTIONS = ["read the notes", "list the files", "send the report to the press", "delete the production database"]
SIGNS = ["; ", " && ", " | ", " and ", ", then ", ". ", "\n", "\r\n", "\u2028", " and then ", " || ", ";"]


@pytest.mark.parametrize("sign", SIGNS, ids=ascii)
@pytest.mark.parametrize("actions", [ACTIONS, ACTIONS[::-1], ACTIONS[2:] + ACTIONS[:2]], ids=["last", "first", "amid"])
def test_the_worst_of_several_actions_counts(actions: list[str], sign: str) -> None:
    assert score(sign.join(actions)).score >= max(score(action).score for action in actions)


@given(st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=6), st.sampled_from(SIGNS))
def test_no_company_makes_an_action_better(actions: list[str], sign: str) -> None:
    assert score(sign.join(actions)).score >= max(score(action).score for action in actions)
