"""What an expression needs to find anything: it never hides a place that the expression itself would find."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.autonomy.lexicon import ANY, RULES
from headgate.safety.autonomy.needs import Index, needs_of
from headgate.safety.autonomy.texts import folded
from tests.support import ROOT

EXPRESSIONS = [
    ("abc", {"abc"}),
    (r"\babc\b", {"abc"}),
    ("ab|cde", {"ab", "cde"}),
    ("ab|c*", set()),
    ("ab|", set()),
    ("a(?:bcd|efg)h", {"bcd", "efg"}),
    ("abcde(?:f|g)", {"abcde"}),
    ("(?:ab)?cd", {"cd"}),
    ("(?:ab)*cd", {"cd"}),
    ("(?:abc)+d", {"abc"}),
    ("(?:abc){0,3}d", {"d"}),
    ("(?:abc){2}d", {"abc"}),
    ("(?:abc){,3}d", {"d"}),
    ("abcx?", {"abc"}),
    ("ax*bc", {"bc"}),
    ("ax+bcd", {"bcd"}),
    ("abx+", {"abx"}),
    ("ab.cde", {"cde"}),
    ("^abc$", {"abc"}),
    (r"a\.b\/c", {"a.b/c"}),
    (r"\d+\w*\s", set()),
    ("[abc]d", {"d"}),
    ("[]a]bc", {"bc"}),
    ("[^]a]bc", {"bc"}),
    (r"[\]a]bc", {"bc"}),
    ("(?!abc)d", {"d"}),
    ("(?<!abc)d", {"d"}),
    ("(?=abc)", set()),
    ("(?<=abc)de", {"de"}),
    ("(?>abc|de)", {"abc", "de"}),
    ("(abc)", {"abc"}),
    (r"(ab)\1", {"ab"}),
    ("a(?:b(?:c|d)|efgh)", {"a"}),
    ("ab??c", {"a"}),
    ("a{2,}?bcd", {"bcd"}),
    ("", set()),
]


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS)
def test_one_of_these_must_be_there(expression: str, expected: set[str]) -> None:
    assert set(needs_of(expression)) == expected


@pytest.mark.parametrize(
    "expression", [r"a\nbc", r"rm\t-rf", r"\x41bcd", "(?P<x>abc)d", "(?i:abc)", "(?i)abc", "(?#abc)d", "(?P=x)"]
)
def test_what_it_cannot_read_is_refused_and_not_guessed(expression: str) -> None:
    with pytest.raises(ValueError, match="cannot be read here"):
        needs_of(expression)


PIECES = st.recursive(
    st.sampled_from(["a", "b", "ab", "c", r"\b", r"\w", ".", "[ab]", "[^a]", r"\.", "(?!a)", "(?<!b)", "(?=c)"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: f"(?:{'|'.join(some)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{0,2}", "{1,2}", "{2}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@given(PIECES, st.text("abc. ", max_size=12))
def test_where_an_expression_fits_what_it_needs_is_there(expression: str, text: str) -> None:
    needed = needs_of(expression)
    if re.search(expression, text):
        assert not needed or any(one in text for one in needed)


def known_texts() -> list[str]:
    files = (ROOT / "tests/safety/autonomy/attacks.tsv", ROOT / "tests/safety/labelled_actions.tsv")
    return [
        folded(cell) for file in files for line in file.read_text("utf-8").splitlines() for cell in line.split("\t")
    ]


def test_no_rule_misses_anything_by_what_it_needs() -> None:
    texts = known_texts()
    assert len(texts) > 2000
    for text in texts:
        fitting = ANY.fitting(text)
        missed = [rule.why for rule in RULES if rule.pattern.search(text) and rule not in fitting]
        assert missed == [], text


def test_every_rule_needs_something() -> None:
    """Else each text is searched for it, and a step takes longer."""
    assert [rule.why for rule in RULES if not rule.needs] == []


OTHERS = [[f"{number:03d}"] for number in range(40)]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=5), max_size=3), max_size=6), st.text("abcd", max_size=10))
def test_what_may_fit_a_text_is_found_in_its_order(needs: list[list[str]], text: str) -> None:
    expected = [place for place, some in enumerate(needs) if not some or any(one in text for one in some)]
    assert Index(enumerate(needs)).fitting(text) == expected
    assert Index(enumerate([*needs, *OTHERS])).fitting(text) == expected, "among so many that letters are looked up"
