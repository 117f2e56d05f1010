"""The public surface: what a user may import from headgate, and nothing else."""

import subprocess
import sys

import pytest

import headgate

PUBLIC = [
    "Adapter",
    "AdapterError",
    "AqlError",
    "Binary",
    "Caller",
    "Category",
    "Concurrency",
    "Conflict",
    "Context",
    "Denied",
    "Deprecated",
    "Engine",
    "EngineOptions",
    "Example",
    "Family",
    "Invalid",
    "Limits",
    "Mode",
    "NotFound",
    "Operation",
    "Param",
    "Parameter",
    "Patch",
    "Profile",
    "RateLimited",
    "Session",
    "Unavailable",
    "VersionMismatch",
    "__version__",
    "etag_of",
    "mcp_server",
    "merge",
    "require_match",
    "with_etag",
]


def test_the_public_names_are_exactly_these() -> None:
    assert headgate.__all__ == PUBLIC


def test_the_public_names_are_sorted() -> None:
    assert sorted(headgate.__all__) == headgate.__all__


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_can_be_imported_and_bears_its_own_name(name: str) -> None:
    found = getattr(headgate, name)
    assert getattr(found, "__name__", name) == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'headgate' has no attribute 'Nonsense'"):
        _ = headgate.Nonsense


def test_importing_headgate_imports_nothing_heavy() -> None:
    script = "import sys, headgate; print([name for name in ('mcp', 'pydantic', 'anyio') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
