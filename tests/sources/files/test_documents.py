"""The text of a file, taken apart."""

from pathlib import Path

import pytest

from headgate.sources.files import documents
from headgate.sources.files.documents import LARGEST_FILE, read_document, text_of_file
from headgate.sources.files.mistakes import AdapterFileError


def refused(text: str) -> str:
    with pytest.raises(AdapterFileError) as caught:
        read_document(text, "x-adapter.md")
    return str(caught.value)


def test_values_lines_and_prose_come_apart() -> None:
    document = read_document("---\nname: x\nlist:\n  - a: 1\n    b: {c: yes}\n---\n\n# About\n", "x-adapter.md")
    assert document.content == {"name": "x", "list": [{"a": 1, "b": {"c": "yes"}}]}
    assert document.body == "\n# About\n"
    assert document.line_of(("list", 0, "b", "c")) == 5
    assert document.line_of(("list", 0, "b", "c", "deeper")) == 5
    assert document.line_of(("unknown",)) == 2


def test_windows_line_ends_and_a_mark_before_the_text_are_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "x-adapter.md"
    file.write_bytes(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nprose\r\n")
    document = read_document(text_of_file(file), "x-adapter.md")
    assert document.content == {"name": "x"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("on", "on"),
        ("no", "no"),
        ("2026-02-04", "2026-02-04"),
        ("12:30", "12:30"),
        ("true", True),
        ("~", None),
        ("", None),
        ("0x10", 16),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_scalars_are_those_of_json(written: str, expected: object) -> None:
    assert read_document(f"---\nvalue: {written}\n---\n", "x").content == {"value": expected}


def test_a_key_is_a_text_whatever_it_looks_like() -> None:
    assert read_document("---\n200: a\non: b\nnull: c\n---\n", "x").content == {"200": "a", "on": "b", "null": "c"}


def test_a_key_that_stands_twice_is_told_with_both_lines() -> None:
    document = read_document("---\na: 1\nb: {c: 1, c: 2}\na: 3\n---\n", "x")
    assert [(one.code, one.path, one.line) for one in document.mistakes] == [
        ("SCHEMA_DUPLICATE_NAME", "b.c", 3),
        ("SCHEMA_DUPLICATE_NAME", "a", 4),
    ]
    assert "line 2" in document.mistakes[1].fix
    assert document.content == {"a": 1, "b": {"c": 1}}


def test_an_alias_repeats_a_value() -> None:
    document = read_document("---\na: &x {b: [1]}\nc: *x\nd: &y 5\ne: *y\n---\n", "x")
    assert document.content == {"a": {"b": [1]}, "c": {"b": [1]}, "d": 5, "e": 5}


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "---\n" + "\n".join(lines) + "\n---\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no head", "'---' in the first line"),
        ("", "'---' in the first line"),
        ("---\nname: x\n", "a second line '---'"),
        ("---\nname: [1\n---\n", "line 3"),
        ("---\na: b: c\n---\n", "line 2"),
        ("---\n\ta: 1\n---\n", "line 2"),
        ("---\na: \x07\n---\n", "characters that YAML does not allow"),
        ("---\na: !!python/object:os.system {}\n---\n", "a tag of YAML"),
        ("---\na: !custom 1\n---\n", "a tag of YAML"),
        ("---\n? [1, 2]\n: 3\n---\n", "a name before the colon"),
        ("---\na: &x [*x]\n---\n", "not yet whole"),
        ("---\na: *nowhere\n---\n", "not yet whole"),
        ("---\na: " + "[" * 200 + "]" * 200 + "\n---\n", "100 levels or fewer"),
        ("---\na: " + "[" * 100_000 + "\n---\n", "100 levels or fewer"),
        (bomb(9), "1000000 values or fewer"),
    ],
    ids=[
        *("no head", "nothing", "no end", "open bracket", "two colons", "tab", "control", "python tag", "own tag"),
        *("odd key", "ring", "unknown alias", "deep", "very deep", "bomb"),
    ],
)
def test_what_cannot_be_read_says_where_and_what_to_do(text: str, words: str) -> None:
    message = refused(text)
    assert message.startswith("x-adapter.md: ")
    assert words in message


def test_an_alias_as_a_key_is_refused() -> None:
    assert "alias" in refused("---\na: &x b\n*x : c\n---\n")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST_FILE", 100)
    file = tmp_path / "x-adapter.md"
    file.write_text("---\n" + "# " * 100)
    with pytest.raises(AdapterFileError, match="100 bytes or fewer"):
        text_of_file(file)
    assert LARGEST_FILE < 10_000_000


def test_a_file_that_is_no_text_or_not_there_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x-adapter.md"
    file.write_bytes(b"---\nname: \xff\n---\n")
    with pytest.raises(AdapterFileError, match="UTF-8, found something else from byte 11 on"):
        text_of_file(file)
    with pytest.raises(AdapterFileError, match="none of this name"):
        text_of_file(tmp_path / "y-adapter.md")
    with pytest.raises(AdapterFileError, match="a folder"):
        text_of_file(tmp_path)
    with pytest.raises(AdapterFileError, match="a readable file"):
        text_of_file(tmp_path / "a\0b")
