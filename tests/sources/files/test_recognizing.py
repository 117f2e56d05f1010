"""Which sources are adapter files."""

from pathlib import Path

import pytest

from headgate.sources.files.recognizing import is_adapter_file


@pytest.mark.parametrize("source", ["github-api-adapter.md", "some/where/x-adapter.md", "/abs/x-adapter.md"])
def test_a_name_is_enough(source: str) -> None:
    assert is_adapter_file(source)


@pytest.mark.parametrize(
    "source",
    ["shop.db", "library.py:adapter", "adapter.md", "notes.md", "https://example.com/x-adapter.md", "x-adapter.md.bak"],
)
def test_other_sources_are_none(source: str) -> None:
    assert not is_adapter_file(source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: x\ntype: adapter\n---\n", True),
        ('---\ntype: "adapter"  # as it should be\n---\n', True),
        ("---\nname: x\ntype: persona\n---\n", False),
        ("# Notes\n\ntype: adapter\n", False),
        ("---\nname: x\n---\ntype: adapter\n", False),
    ],
    ids=["head", "quoted", "another type", "no head", "below the head"],
)
def test_markdown_of_another_name_is_told_by_its_head(tmp_path: Path, text: str, expected: bool) -> None:
    file = tmp_path / "weather.md"
    file.write_text(text)
    assert is_adapter_file(str(file)) is expected
