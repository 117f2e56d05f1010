"""What a command does not need is not loaded: each start pays for what is."""

import gc
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.cli import garbage

LIBRARY = '''
"""A library."""

from headgate import Adapter

adapter = Adapter("library", "Books.")


@adapter.read()
def get_book(isbn: str) -> str:
    """Get one book by its ISBN."""
    return isbn
'''
PROGRAM = """
import gc, sys
from headgate.cli import main
try:
    main()
except SystemExit as ended:
    print(ended.code, gc.isenabled(), *sys.modules, file=sys.stderr)
"""
"""Runs a command, and tells on the last line how it ended, whether garbage is searched for, and what was loaded."""

NEEDED_BY_SOME = (
    "jinja2",
    "jwt",
    "procrastinate",
    "psycopg",
    "rich",
    "sqlalchemy",
    "headgate.console.app",
    "headgate.safety.autonomy.lexicon",
    "headgate.safety.loop.service",
    "headgate.server.oauth",
    "headgate.sources.files.source",
    "headgate.sources.mcp.upstream",
    "headgate.sources.openapi.source",
)


def ended(*words: str) -> tuple[str, str, set[str]]:
    """How a command ended whose input is empty: its code, whether garbage is searched for, and the modules loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    code, searched, *modules = done.stderr.splitlines()[-1].split()
    return code, searched, set(modules)


@pytest.fixture
def library(tmp_path: Path) -> str:
    """An adapter in a file."""
    file = tmp_path / "library.py"
    file.write_text(LIBRARY)
    return str(file)


def test_help_loads_nothing_but_the_command_line() -> None:
    code, _, modules = ended("--help")
    assert code == "0"
    assert not modules & {"anyio", "asyncio", "jsonschema_rs", "mcp", "mcp_types", "pydantic", "sqlalchemy"}
    ours = {name for name in modules if name.startswith("headgate.")}
    assert ours == {"headgate._version", "headgate.cli", "headgate.cli.exits", "headgate.cli.garbage"}


def test_a_server_loads_only_what_it_serves_with(library: str) -> None:
    code, searched, modules = ended("serve", library, "--state", "memory:")
    assert (code, searched) == ("0", "True")
    assert "mcp.server" in modules
    assert not modules & set(NEEDED_BY_SOME)


def test_a_database_loads_the_words_of_its_own_kind_alone(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    code, _, modules = ended("serve", str(file), "--state", "memory:")
    assert (code, "sqlalchemy.dialects.sqlite" in modules) == ("0", True)
    assert not modules & {"sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.mysql", "psycopg", "rich"}


def test_a_server_with_a_safety_loop_has_its_words_before_the_first_step(library: str) -> None:
    _, _, modules = ended("serve", library, "--state", "memory:", "--safety-loop", "enforcing")
    assert {"headgate.safety.autonomy.lexicon", "headgate.safety.loop.operations"} <= modules


@pytest.mark.parametrize("command", ["call", "ops", "check", "review", "audit"])
def test_the_help_of_a_command_loads_no_database_and_no_adapter(command: str) -> None:
    code, _, modules = ended(command, "--help")
    assert code == "0"
    assert not modules & {"sqlalchemy", "headgate.sources.sql.source", "headgate.sources.openapi.source"}


@pytest.fixture
def searching() -> Iterator[None]:
    """The search for garbage, as it was."""
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("searching")
def test_what_is_there_as_the_search_for_garbage_resumes_is_not_searched() -> None:
    garbage.put_off()
    assert not gc.isenabled()
    garbage.resume()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


@pytest.mark.usefixtures("searching")
def test_where_the_search_was_not_put_off_all_is_searched_as_before() -> None:
    gc.enable()
    before = gc.get_freeze_count()
    garbage.resume()
    assert gc.get_freeze_count() == before
