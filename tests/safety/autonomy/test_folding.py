"""Texts as a person reads them: no letter form, space or invisible sign makes another text."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.safety.autonomy.patterns import found_in
from headgate.safety.autonomy.texts import folded, lined, readings, skeleton
from tests.safety.autonomy.disguises import DISGUISES

TEXTS = st.text(max_size=60)
HINTS = st.lists(
    st.sampled_from(["open", "the", "red", "door", "cat", "purge", "queue", "vip", "x", "axe", "sip"]),
    min_size=1,
    max_size=5,
).map(" ".join)


@given(TEXTS)
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert skeleton(skeleton(text)) == skeleton(text)


@given(TEXTS)
def test_nothing_that_is_folded_hides_or_shouts(text: str) -> None:
    plain = folded(text)
    assert plain == plain.strip()
    assert "  " not in plain
    assert all(unicodedata.category(one) not in ("Cc", "Cf", "Mn", "Me", "Zl", "Zp", "Cs", "Co", "Cn") for one in plain)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=40))
def test_capitals_make_no_difference(text: str) -> None:
    assert skeleton(text.upper()) == skeleton(text)
    assert skeleton(text.swapcase()) == skeleton(text)


@given(TEXTS)
def test_the_plainest_reading_comes_first_and_none_twice(text: str) -> None:
    found = readings(text)
    assert found[0] == folded(text)
    assert len({*found}) == len(found)
    assert skeleton(text) in found


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_a_disguise_makes_no_other_text(disguise: object) -> None:
    assert callable(disguise)
    assert skeleton(disguise("open the red door")) == "open the red door"


@pytest.mark.parametrize("name", DISGUISES)
@settings(max_examples=25)
@given(hint=HINTS)
def test_what_is_denied_stays_denied_in_any_disguise(name: str, hint: str) -> None:
    assert found_in(DISGUISES[name](hint), [hint]) == hint
    assert found_in(DISGUISES[name](f"please {hint} now"), [f"{hint}*"]) == f"{hint}*"


@pytest.mark.parametrize("name", DISGUISES)
def test_a_pattern_may_wear_a_disguise_as_well(name: str) -> None:
    pattern = DISGUISES[name]("open the red door")
    assert found_in("open the red door", [pattern]) == pattern


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("d3l3t3 4ll", "delete all"),
        ("de1ete", "delete"),
        ("w1pe", "wipe"),
        ("er@5e", "erase"),
        ("de!ete", "delete"),
        ("d€l€te", "delete"),
        ("8ackup5", "backups"),
    ],
)
def test_digits_and_signs_are_read_as_the_letters_that_they_look_like(text: str, reading: str) -> None:
    assert reading in readings(text)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("a\u03f2\u03f2ount", "account"),
        ("A\u03f9\u03f9OUNT", "account"),
        ("dr\u03c3p", "drop"),
        ("\u051buit", "quit"),
        ("\u0192lush", "flush"),
        ("\u0433m", "rm"),
    ],
)
def test_letters_of_other_scripts_are_read_as_the_latin_ones_that_they_look_like(text: str, reading: str) -> None:
    assert reading in readings(text)


@pytest.mark.parametrize("text", ["12345", "2024-05-01", "203.0.113.7", "!!!", "$ 5"])
def test_numbers_are_no_words(text: str) -> None:
    assert readings(text) == (text,)


@pytest.mark.parametrize("sign", ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029", "\n\n\n"], ids=ascii)
def test_a_line_ends_an_action(sign: str) -> None:
    assert folded(lined(f"read{sign}write")) == "read ; write"


@given(st.text(st.characters(blacklist_categories=("Cc", "Zl", "Zp"))))
def test_a_text_of_one_line_stays_as_it_is(text: str) -> None:
    assert lined(text) == text
