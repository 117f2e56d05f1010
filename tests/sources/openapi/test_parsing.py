"""JSON and YAML as plain values, and texts that would be more than they seem."""

import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.openapi import yaml_values
from headgate.sources.openapi.parsing import parsed


def refusal(text: str) -> str:
    with pytest.raises(AdapterError) as caught:
        parsed(text, "shop.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", {"a": "no"}),
        ("a: 2026-02-04", {"a": "2026-02-04"}),
        ("a: 12:30:00", {"a": "12:30:00"}),
        ("a: 1.10", {"a": 1.1}),
        ("a: '1.10'", {"a": "1.10"}),
        ("a: !!str 12", {"a": "12"}),
        ("a: [1, -2, 0o17, 0x1F, 1e3, .5]", {"a": [1, -2, 15, 31, 1000.0, 0.5]}),
        ("a: [~, null, true, False]", {"a": [None, None, True, False]}),
        ("a:", {"a": None}),
        ("200: x\non: y\ntrue: z", {"200": "x", "on": "y", "true": "z"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  b: 3", {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}),
        ("a: &x {b: 1}\nd:\n  <<: [*x, {b: 2, c: 3}]", {"a": {"b": 1}, "d": {"b": 1, "c": 3}}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: !!python/object/apply:os.system [x]", {"a": ["x"]}),
        ("{a: 1}", {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ("", None),
        ("--- 5", 5),
    ],
)
def test_a_text_means_what_it_means_in_json(text: str, value: object) -> None:
    assert parsed(text, "shop.yaml") == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3", "has the key 'a' twice: remove one (line 3)"),
        ('{"a": 1, "a": 2}', "has the key 'a' twice in one object"),
        ('{"a": {"b": 1,}}', "is not valid JSON: line 1, column 15"),
        ('{"a": NaN}', "'NaN' is no number"),
        ("a: [1", "is not valid YAML: line"),
        ("a: \x00", "has characters that YAML does not allow"),
        ("a: *nothing", "has an alias to nothing (line 1)"),
        ("? [a]\n: 1", "has a key that is no text (line 1)"),
        ("a: &x [*x]", "has an alias to what contains it: write it with '$ref' instead (line 1)"),
        ("a: 1\n---\nb: 2", "has more than one document: leave one (line 2)"),
        ("a:\n  <<: 5", "merges with '<<' what is no mapping (line 2)"),
        ("[" * 100_000, "is nested too deeply"),
        ("a: " + "{b: " * 100_000, "is nested too deeply"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(300)), "is nested too deeply"),
        ('{"a":' * 300 + "1" + "}" * 300, "is nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "is nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, words: str) -> None:
    assert words in refusal(text)


def test_an_odd_key_is_not_repeated_in_a_message() -> None:
    assert "twice" in refusal('{"\\u001b[31m": 1, "\\u001b[31m": 2}')
    assert "\x1b" not in refusal('{"\\u001b[31m": 1, "\\u001b[31m": 2}')


def test_aliases_that_multiply_each_other_are_refused_before_they_do() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for before, name in zip(string.ascii_lowercase, string.ascii_lowercase[1:], strict=False):
        lines.append(f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]")
    assert "aliases counted as often as they stand" in refusal("\n".join(lines))


def test_merged_keys_that_multiply_each_other_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "_MOST_VALUES", 50)
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 20))]
    assert "has more than 50 values" in refusal("\n".join(lines))


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc:- '\"#"), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(_values)
def test_what_yaml_writes_is_read_as_it_was(value: object) -> None:
    assert parsed(yaml.safe_dump({"root": value}, allow_unicode=True), "shop.yaml") == {"root": value}


@given(st.text())
def test_any_text_is_a_value_or_refused_in_words(text: str) -> None:
    words = ""
    try:
        parsed(text, "shop.yaml")
    except AdapterError as error:
        words = str(error)
    assert not words or words.startswith("'shop.yaml' ")
