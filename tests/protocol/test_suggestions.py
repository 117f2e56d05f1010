"""The nearest known names to one that is not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.suggestions import did_you_mean, nearest

NAMES = ["get_book", "list_books", "create_book", "delete_book", "update_book", "get_author"]


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("get_bok", "get_book"),
        ("getbook", "get_book"),
        ("get_boko", "get_book"),
        ("GET_BOOK", "get_book"),
        ("list_book", "list_books"),
        ("lst_books", "list_books"),
        ("creat_book", "create_book"),
        ("get_autor", "get_author"),
    ],
)
def test_a_misspelt_name_finds_the_right_one_first(name: str, best: str) -> None:
    assert nearest(name, NAMES)[0] == best


@pytest.mark.parametrize(
    "name", ["", "zzz", "frobnicate", "x" * 81, "get_book" * 20], ids=lambda name: name[:12] or "''"
)
def test_a_name_that_is_like_nothing_finds_nothing(name: str) -> None:
    assert nearest(name, NAMES) == []


def test_no_more_are_given_than_wanted() -> None:
    assert len(nearest("get_book", NAMES, 1)) == 1
    assert len(nearest("delete_bookx", [f"delete_book{letter}" for letter in "abcdefgh"])) == 3


@given(st.text(max_size=100), st.lists(st.text(max_size=20), max_size=10))
def test_only_known_names_are_suggested(name: str, known: list[str]) -> None:
    assert set(nearest(name, known)) <= set(known)


@pytest.mark.parametrize(
    ("names", "question"),
    [([], ""), (["a"], ". Did you mean 'a'?"), (["a", "b"], ". Did you mean 'a' or 'b'?")],
    ids=["none", "one", "two"],
)
def test_the_question(names: list[str], question: str) -> None:
    assert did_you_mean(names) == question
