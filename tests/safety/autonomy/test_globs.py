"""Patterns over hints: ``*`` and ``?`` as in file names, and no text or pattern that makes them slow."""

import re
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.autonomy.patterns import found_in, is_all
from headgate.safety.autonomy.rules import AgentRules

LONG = 10_000


@pytest.mark.parametrize(
    ("pattern", "hint", "fits"),
    [
        ("rm -rf*", "rm -rf /", True),
        ("rm -rf*", "sudo rm -rf /", True),
        ("rm -rf*", "please rm -rf the folder", True),
        ("rm -rf*", "farm -rf", False),
        ("rm -rf*", "rm -r", False),
        ("drop_*", "drop_table users", True),
        ("drop_*", "calling drop_table", True),
        ("drop_*", "backdrop_image", False),
        ("drop_*", "drop table", False),
        ("delete", "delete it", True),
        ("delete", "delete_it", False),
        ("delete", "undelete it", False),
        ("delete", "to delete", True),
        ("*force*", "reinforce it", True),
        ("*force", "reinforce it", True),
        ("*force", "reinforced", False),
        ("force*", "reinforced", False),
        ("*--force*", "push --force now", True),
        ("git push*", "git  push", True),
        ("git push*", "GIT PUSH origin", True),
        ("git push*", "git pull", False),
        ("git*main", "git push origin main", True),
        ("git*main", "git push origin mainline", False),
        ("git*main", "legit main", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?c", "abbc", False),
        ("?at", "a cat", True),
        ("c?t*d?g", "the cat and the dog", True),
        ("c?t*d?g", "the dog and the cat", False),
        ("*", "anything", True),
        ("**", "anything", True),
        ("a**b", "a to b", True),
        ("a.c", "abc", False),
        ("[abc]", "a", False),
        ("[abc]", "x [abc] y", True),
        ("(a|b)", "a", False),
        ("a\\b", "a\\b", True),
        (
            "\u0443\u0434\u0430\u043b\u0438\u0442\u044c*",
            "\u0423\u0434\u0430\u043b\u0438\u0442\u044c \u0432\u0441\u0451",
            True,
        ),
    ],
)
def test_a_pattern_is_found_where_words_begin_and_end(pattern: str, hint: str, fits: bool) -> None:
    assert found_in(hint, [pattern]) == (pattern if fits else None)


@pytest.mark.parametrize(
    ("pattern", "hint", "fits"),
    [
        ("read_*", "read_file notes.txt", True),
        ("read_*", "READ_FILE notes.txt", True),
        ("read_*", "to read_file", False),
        ("read_*", "read", False),
        ("read", "read", True),
        ("read", "read it", False),
        ("*", "anything at all", True),
        ("r*d", "read", True),
        ("r*d", "reads", False),
        ("r*a*d", "read", True),
        ("re*ad*d", "read", False),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("r??d", "read", True),
        ("r??d", "red", False),
        ("read*file*", "read the file", True),
        ("read*file*", "read the folder", False),
    ],
)
def test_what_is_approved_beforehand_is_fitted_as_a_whole(pattern: str, hint: str, fits: bool) -> None:
    assert is_all(hint, [pattern]) == (pattern if fits else None)


def test_each_action_may_be_approved_by_another_pattern() -> None:
    assert is_all("read_a; list_b", ["list_*", "read_*"]) == "read_*"
    assert is_all("read_a; list_b; get_c", ["list_*", "read_*"]) is None
    assert is_all("read_a", []) is None


@pytest.mark.parametrize(
    "hint",
    ["read_a && drop it", "read_a | sh", "read_a\ndrop it", "read_a, drop it", "read_a. Drop it", "read_a (drop it)"],
)
def test_nothing_comes_along_with_what_is_approved(hint: str) -> None:
    assert is_all(hint, ["read_*"]) is None


def test_the_patterns_of_the_specification_are_all_patterns() -> None:
    deny = ("drop_*", "delete_all*", "rm -rf*")
    asks = ("delete_*", "*force*", "deploy_*", "git push*")
    passes = ("read_*", "list_*", "get_*", "search_*")
    assert found_in("drop_users", deny) == "drop_*"
    assert found_in("delete_all_users", deny) == "delete_all*"
    assert found_in("delete_user 4", asks) == "delete_*"
    assert found_in("deploy_app", asks) == "deploy_*"
    assert is_all("search_orders {'q': 1}", passes) == "search_*"
    assert {*AgentRules().deny} >= {*deny}


PATTERNS = st.text("ab *?", max_size=8).map(lambda text: " ".join(text.split()))
HINTS = st.lists(st.sampled_from(["ab", "ba", "abb", "aab", "bab"]), min_size=1, max_size=4).map(" ".join)


@given(PATTERNS, HINTS)
def test_a_whole_text_is_fitted_as_the_shell_does_it(pattern: str, hint: str) -> None:
    assert (is_all(hint, [pattern]) is not None) is (re.fullmatch(translate(pattern), hint) is not None)


@given(PATTERNS, HINTS)
def test_a_pattern_is_found_if_any_stretch_between_words_fits(pattern: str, hint: str) -> None:
    inner = re.compile(translate(pattern))
    starts = [at for at in range(len(hint) + 1) if pattern[:1] in ("*", "?") or not hint[at - 1 : at].isalnum()]
    ends = [at for at in range(len(hint) + 1) if pattern[-1:] in ("*", "?") or not hint[at : at + 1].isalnum()]
    expected = any(inner.fullmatch(hint[start:end]) for start in starts for end in ends if start <= end)
    assert (found_in(hint, [pattern]) is not None) is expected


@pytest.mark.parametrize("pattern", ["", " ", "\u200b", "\u00ad\u2060"], ids=ascii)
def test_a_pattern_that_shows_nothing_fits_nothing(pattern: str) -> None:
    assert found_in("anything at all.", [pattern]) is None
    assert is_all("anything at all.", [pattern]) is None


HOSTILE = {
    "stars": "*a" * 99 + "*",
    "stars that fail at the end": "a*" * 99 + "b",
    "any letters": "?" * 200,
    "any letters that fail at the end": "a?" * 99 + "b",
    "one long word": "a" * 199 + "b",
    "words": "a " * 99 + "b",
    "stars and any letters": "*a?" * 66 + "b",
}
TEXTS = {
    "one letter": "a" * LONG,
    "words of one letter": "a " * (LONG // 2),
    "letters that change": "ab" * (LONG // 2),
    "spaces": "a" + " " * (LONG - 2) + "a",
    "lines": "a\n" * (LONG // 2),
    "stars": "*" * LONG,
    "zero-width": "a\u200b" * (LONG // 2),
    "digits": "a1" * (LONG // 2),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_patterns_and_hints_end(text: str) -> None:
    patterns = [f"{pattern}z{number}" for pattern in HOSTILE.values() for number in range(8)]
    assert len(patterns) > 50
    assert found_in(text, patterns) is None
    assert is_all(text, patterns) is None
