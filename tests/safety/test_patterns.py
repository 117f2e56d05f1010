"""Patterns over names and callers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.context import ANONYMOUS, Caller
from headgate.safety.policy.patterns import ANYTHING, Patterns, matches_caller


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        pytest.param((), "delete_book", True, id="none means all"),
        pytest.param(("delete_book",), "delete_book", True, id="the name itself"),
        pytest.param(("delete_book",), "delete_books", False, id="no more than the name"),
        pytest.param(("delete_*",), "delete_book", True, id="a star"),
        pytest.param(("delete_*",), "undelete_book", False, id="a star only where it stands"),
        pytest.param(("delete_book?",), "delete_books", True, id="a question mark is one character"),
        pytest.param(("delete_book?",), "delete_book", False, id="and not none"),
        pytest.param(("delete_*", "!delete_draft"), "delete_draft", False, id="taken out"),
        pytest.param(("!delete_draft", "delete_*"), "delete_draft", False, id="taken out wherever it stands"),
        pytest.param(("!delete_*",), "get_book", True, id="all but"),
        pytest.param(("!delete_*",), "delete_book", False, id="all but this"),
        pytest.param(("a*b*c",), "aXbYc", True, id="several stars"),
        pytest.param(("[ab]",), "a", False, id="brackets are no choice"),
        pytest.param(("[ab]",), "[ab]", True, id="brackets are themselves"),
        pytest.param(("DELETE_*",), "delete_book", False, id="case counts"),
    ],
)
def test_names(patterns: tuple[str, ...], name: str, expected: bool) -> None:
    assert Patterns(patterns).match(name) is expected


ALICE = Caller("alice", "web-1", frozenset({"admin", "books:write"}))
SCRIPT = Caller(None, "script")
LOUD = Caller(label="alice")


@pytest.mark.parametrize(
    ("patterns", "caller", "expected"),
    [
        pytest.param((), ANONYMOUS, True, id="none means all"),
        pytest.param(("alice",), ALICE, True, id="by name"),
        pytest.param(("alice",), LOUD, False, id="never by what a client calls itself"),
        pytest.param(("web-1",), ALICE, True, id="by client, as if it were a name"),
        pytest.param(("client:web-*",), ALICE, True, id="by client"),
        pytest.param(("client:alice",), ALICE, False, id="a name is no client"),
        pytest.param(("client:*",), ANONYMOUS, False, id="nobody has no client"),
        pytest.param(("scope:admin",), ALICE, True, id="by scope"),
        pytest.param(("scope:books:*",), ALICE, True, id="by scope with a colon"),
        pytest.param(("scope:admin",), SCRIPT, False, id="without the scope"),
        pytest.param(("scope:*",), SCRIPT, False, id="without any scope"),
        pytest.param(("anonymous",), ANONYMOUS, True, id="without a name"),
        pytest.param(("anonymous",), SCRIPT, False, id="a client is a name"),
        pytest.param(("anonymous",), Caller("anonymous"), False, id="somebody called so"),
        pytest.param(("*",), ANONYMOUS, False, id="a star is somebody"),
        pytest.param(("!alice",), ALICE, False, id="all but her"),
        pytest.param(("!alice",), ANONYMOUS, True, id="all but her, nobody included"),
        pytest.param(("scope:admin", "!alice"), ALICE, False, id="taken out of a scope"),
        pytest.param(("team[1]",), Caller("team[1]"), True, id="a name with brackets"),
        pytest.param(("team[1]",), Caller("team1"), False, id="and not what brackets would mean"),
    ],
)
def test_callers(patterns: tuple[str, ...], caller: Caller, expected: bool) -> None:
    assert matches_caller(Patterns(patterns), caller) is expected


NAMES = st.text("abc_*?[]", min_size=1, max_size=8)


@given(patterns=st.lists(NAMES, max_size=4), out=NAMES, name=NAMES)
def test_taking_out_never_adds(patterns: list[str], out: str, name: str) -> None:
    assert Patterns((*patterns, f"!{out}")).match(name) <= Patterns(tuple(patterns)).match(name)


@given(patterns=st.lists(NAMES, max_size=4), name=NAMES)
def test_what_is_taken_out_by_its_name_is_out(patterns: list[str], name: str) -> None:
    assert not Patterns((*patterns, f"!{name}")).match(name)


@given(name=st.text(min_size=1, max_size=30).filter(lambda name: not name.startswith("!")))
def test_a_name_fits_itself(name: str) -> None:
    assert Patterns((name,)).match(name)


def test_none_matches_anything() -> None:
    assert ANYTHING.match("get_book")
    assert (Patterns(("a", "!b")).wanted, Patterns(("a", "!b")).unwanted) == (("a",), ("b",))
