"""The public surface: what a user may import from headgate, and nothing else."""

import subprocess
import sys

import pytest

import headgate

PUBLIC = [
    "Adapter",
    "AdapterError",
    "Aql",
    "AqlError",
    "AqlFailure",
    "Backend",
    "Background",
    "Binary",
    "BlockingAql",
    "Caller",
    "Category",
    "ClientError",
    "Collection",
    "Computed",
    "Concurrency",
    "Conflict",
    "Context",
    "Danger",
    "DangerLevel",
    "DatabaseOptions",
    "Denied",
    "Deprecated",
    "Engine",
    "EngineOptions",
    "Example",
    "Family",
    "Field",
    "Invalid",
    "Kind",
    "Limits",
    "Mode",
    "NotFound",
    "Operation",
    "Param",
    "Parameter",
    "Patch",
    "Profile",
    "RateLimited",
    "Relationship",
    "ServerError",
    "Session",
    "SqlSettings",
    "Trust",
    "Unavailable",
    "VersionMismatch",
    "__version__",
    "connect",
    "connect_sync",
    "etag_of",
    "mcp_server",
    "merge",
    "require_match",
    "sql_adapter",
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
    assert loaded_by("import headgate") & {"mcp", "pydantic", "anyio", "orjson", "sqlalchemy"} == set()


@pytest.mark.parametrize("name", ["Adapter", "Backend", "Collection", "Computed", "Field", "Kind", "Relationship"])
def test_an_adapter_without_a_database_does_without_what_databases_need(name: str) -> None:
    assert loaded_by(f"from headgate import {name}") & {"sqlalchemy", "psycopg"} == set()


def test_settings_of_a_database_are_read_without_one() -> None:
    assert "sqlalchemy" not in loaded_by("from headgate import SqlSettings; SqlSettings.of({'exclude': ['log']})")


def loaded_by(statement: str) -> set[str]:
    """The packages that are loaded once a statement has run in a fresh process."""
    script = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
