"""No message that is written in the source can be taken for a program's trace."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT

SOURCE = ROOT / "src" / "headgate"
SPEAKING = [
    *sorted((SOURCE / "engine").glob("*.py")),
    *sorted((SOURCE / "query").glob("*.py")),
    *(SOURCE / "protocol" / name for name in ("inspection.py", "requests.py", "suggestions.py")),
    *(SOURCE / "adapter" / name for name in ("etags.py", "patch.py", "text_formats.py")),
    *(path for path in sorted((SOURCE / "safety").glob("*.py")) if path.stem != "describing"),
    *(SOURCE / "executions" / name for name in ("host.py", "ledger.py", "service.py", "values.py")),
    SOURCE / "adapter" / "collections" / "memory.py",
    SOURCE / "sources" / "sql" / "troubles.py",
]
"""The modules whose words reach callers in errors; the registry's own messages have their test beside them."""


def spoken(source: str) -> Iterator[str]:
    """The texts of a module that are not its documentation."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def suspicious(source: str) -> list[str]:
    return [text for text in spoken(source) if any(f"at{space}" in text.lower() for space in " \t\n")]


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_no_word_that_ends_in_at_is_followed_by_a_space(path: Path) -> None:
    assert suspicious(path.read_text()) == []


def test_such_a_word_would_be_found() -> None:
    assert suspicious('"""Look at me."""\n\nx = f"the format {y}"\nz = "that one"\n') == ["that one", "the format "]
