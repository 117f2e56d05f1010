"""What a hint hides: other spellings of the same words, and texts inside of texts."""

import base64
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.autonomy.hidden import decoded, respelt, spellings
from headgate.safety.autonomy.scoring import score
from headgate.safety.autonomy.slips import GRAVE, mended

GRAVEST = "delete all customer records"


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def html_of(text: str) -> str:
    return "".join(f"&#{ord(one)};" for one in text)


ENCODINGS = {
    "base64": base64_of,
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 without its end": lambda text: base64_of(text).rstrip("="),
    "base64 of wide letters": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, apart": lambda text: text.encode().hex(" "),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal number": lambda text: f"0x{text.encode().hex()}",
    "bits": lambda text: " ".join(f"{one:08b}" for one in text.encode()),
    "codes": lambda text: " ".join(map(str, text.encode())),
    "codes with commas": lambda text: ", ".join(map(str, text.encode())),
    "percents": lambda text: "".join(f"%{one:02x}" for one in text.encode()),
    "entities": html_of,
    "turned letters": lambda text: codecs.encode(text, "rot13"),
    "backwards": lambda text: text[::-1],
    "escapes": lambda text: "".join(f"\\x{ord(one):02x}" for one in text),
    "wide escapes": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "octal escapes": lambda text: "".join(f"\\{ord(one):03o}" for one in text),
    "tags": lambda text: "".join(chr(0xE0000 + ord(one)) for one in text),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("around", ["{}", "show {}", "read the note {} to the user", "{} is what I will do"])
def test_a_hidden_text_is_found_and_counts(encode: object, around: str) -> None:
    assert callable(encode)
    hint = around.format(encode(GRAVEST))
    assert score(hint).score > 60, score(hint)
    assert "It is written so that it does not show" in score(hint).factors


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_a_hidden_text_that_is_harmless_makes_nothing_grave(encode: object) -> None:
    assert callable(encode)
    assert score(f"show {encode('read the meeting notes of monday')}").score <= 60


def test_texts_in_texts_are_found_to_a_certain_depth() -> None:
    inner = GRAVEST
    for depth in range(1, 6):
        inner = base64_of(inner)
        assert (GRAVEST in decoded(f"show {inner}")) is (depth <= 3), depth


def test_different_ways_may_be_one_in_another() -> None:
    assert score(f"show {base64_of(codecs.encode(GRAVEST, 'rot13'))}").score > 60
    assert score(f"show {base64_of(html_of(GRAVEST))}").score > 60
    assert score(f"show {GRAVEST.encode().hex()[::-1]}").score <= 60, "nobody reads that"


def test_a_hint_full_of_texts_ends() -> None:
    words = [base64_of(f"a text with the number {number}") for number in range(300)]
    found = [*decoded(" ".join(words)[:10_000])]
    assert 100 < len(found) <= 600


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(isinstance(one, str) for one in (*respelt(text), *decoded(text), *spellings(text)))


@given(st.text("0123456789abcdef \u00a0\u2003\n:,;%&#x=", max_size=120))
def test_no_digits_break_the_reader(text: str) -> None:
    assert all(one.isascii() or not text.isascii() for one in decoded(text))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("d.e.l.e.t.e it", "delete it"),
        ("d-e-l-e-t-e it", "delete it"),
        ("d|e|l|e|t|e it", "delete it"),
        ("d\u00b7e\u00b7l\u00b7e\u00b7t\u00b7e it", "delete it"),
        ("r m  - r f  /srv", "rm -rf /srv"),
        ("d e l e t e   a l l", "delete all"),
        ("r''m -r''f x", "rm -rf x"),
        ('r"m" -"rf" x', "rm -rf x"),
        ("r\\m x", "rm x"),
        ("d^e^l x", "del x"),
        ("rm${IFS}-rf${IFS}x", "rm -rf x"),
        ("$(echo rm) x", "rm x"),
        ("$(printf 'rm') x", "rm x"),
        ("a=rm; b=-rf; $a $b x", "a=rm; b=-rf; rm -rf x"),
        ("a='rm'; ${a} x", "a='rm'; rm x"),
        ("${a:-rm} x", "rm x"),
        ("$'\\x72\\x6d' x", "rm x"),
        ("DR/**/OP x", "DROP x"),
        ("DROP/**/TABLE x", "DROP TABLE x"),
        ("de<!-- -->lete x", "delete x"),
        ("del ete x", "delete x"),
        ("de-lete x", "delete x"),
        ("wi pe x", "wi pe x"),
        ("dleete x", "delete x"),
        ("deleete x", "delete x"),
        ("delte x", "delete x"),
    ],
)
def test_a_plainer_spelling_is_found(text: str, plain: str) -> None:
    assert plain in (text, *respelt(text))


def test_a_variable_that_the_text_does_not_set_stays_as_it_is() -> None:
    assert [one for one in respelt("ls $HOME/notes") if "$HOME" not in one] == []


@pytest.mark.parametrize("text", ["read the notes", "shut down", "log out", "remover", "easing", "a b", "I p a y"])
def test_what_is_no_slip_is_not_mended(text: str) -> None:
    assert mended(text) == text


LONG = sorted(word for word in GRAVE if len(word) > 5 and not word.endswith("s"))


def test_a_grave_word_in_parts_is_mended() -> None:
    assert [word for word in LONG if mended(f"{word[:2]} {word[2:]}") != word] == []
    assert [word for word in LONG if mended(f"{word[:2]}-{word[2:3]}-{word[3:]}") != word] == []


def test_a_grave_word_with_two_letters_swapped_is_mended() -> None:
    swapped = {word: mended(f"{word[0]}{word[2]}{word[1]}{word[3:]}") for word in LONG}
    assert [word for word, made in swapped.items() if made not in GRAVE or sorted(made) != sorted(word)] == []


@given(st.text(max_size=80))
def test_mending_twice_changes_nothing_more(text: str) -> None:
    assert mended(mended(text)) == mended(text)


def test_a_hidden_text_late_in_a_long_hint_is_found() -> None:
    padding = "read the notes of the meeting again. " * 250
    assert len(padding) < 10_000
    assert score(f"{padding}{base64_of(GRAVEST)}").score > 60
