"""Texts of any length are counted as if in one piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.server.counting import exact_counter, pieces

COUNTER = exact_counter()
WORDS = (
    "word",
    "Naïve",
    "don't",
    "DON'T",
    "日本語",
    "1234",
    " ",
    "  ",
    "\n",
    "\r\n ",
    ", ",
    '":"',
    "😀",
    "'s",
    "é",
    "_a",
    "\t",
    "/",
)
LONGEST = 60


@given(parts=st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map("".join), max_size=30))
def test_pieces_are_the_text_and_have_as_many_tokens(parts: list[str]) -> None:
    text = "ab,".join(parts)  # somewhere in each piece a word ends with a sign behind it
    cut = list(pieces(text, LONGEST))
    assert "".join(cut) == text
    assert all(len(piece) <= LONGEST for piece in cut)
    assert sum(map(COUNTER.of_text, cut)) == COUNTER.of_text(text)


@pytest.mark.parametrize("word", ['{"name":"get_book"},', "word, "], ids=["JSON", "words"])
def test_what_is_too_long_for_the_package_is_counted(word: str) -> None:
    some, more, many = (COUNTER.of_text(word * times) for times in (1000, 1001, 150_000))
    assert many == some + 149_000 * (more - some)


@pytest.mark.parametrize("text", ["x" * 1_200_000, "é" * 1_200_000, "😀" * 300_000, ""], ids=["x", "é", "😀", "none"])
def test_no_text_is_too_odd(text: str) -> None:
    assert (COUNTER.of_text(text) > 0) is bool(text)
