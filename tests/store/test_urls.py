"""The URLs of stores: which there are, what is said of others, and how they are shown."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.store.drivers.sqlite import MemoryDriver, SqliteDriver
from headgate.store.interface import StoreError
from headgate.store.opening import default_state_url, open_store, shown
from tests.support import ROOT

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("given", [None, "", "relative/folder"])
def test_without_a_folder_for_state_it_lies_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_STATE_HOME", given)
    assert default_state_url() == f"sqlite:///{tmp_path}/.local/state/headgate/state.db"


async def test_without_a_home_a_store_must_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(StoreError, match="has no home folder"):
        default_state_url()
    await open_store(f"{tmp_path}/a.db").close()


WRONG = {
    "sqllite:///a.db": "'sqllite:' is no kind of store. Did you mean 'sqlite'?",
    "postgress://h/x": "'postgress:' is no kind of store. Did you mean 'postgres' or 'postgresql'?",
    "postgre://me:s3cr3t@h/x": "'postgre:' is no kind of store. Did you mean 'postgres' or 'postgresql'?",
    "memroy:": "'memroy:' is no kind of store. Did you mean 'memory'?",
    "redis://me:s3cr3t@h": "'redis:' is no kind of store; write 'memory:', a path that ends with '.db', or ",
    "state": "'state' names no store; write 'memory:', a path that ends with '.db', or 'postgresql://",
    "": "'' names no store; write 'memory:', ",
    ":memory:": "':memory:' names no store; write 'memory:' for one that ends with the process",
    "memory:mine": "'memory:mine' names no store; a store in memory has no name: write 'memory:'",
    "sqlite:///:memory:": "'sqlite:///:memory:' is written differently here; write 'memory:'",
    "sqlite://a.db": "'sqlite://a.db' names no file; write 'sqlite:///' and a path",
    "sqlite:a.db": "'sqlite:a.db' names no file; write 'sqlite:///' and a path",
    "sqlite:": "'sqlite:' names no file; write 'sqlite:///' and a path",
    "sqlite:///": "'sqlite:///' names no file; write 'sqlite:///' and a path",
    "sqlite:///a.db?mode=ro": "'sqlite:///a.db?mode=ro' has settings after '?', and there are none for a file",
    "~nobody at all/a.db": "'~nobody at all/a.db' names no file: there is no such user; write the whole path",
    "postgresql://me:s3cr3t%zz@h/x": "The URL of the store cannot be read; write it as 'postgresql://user:",
    "postgresql://me:s3cr3t@h/x?nonsense=1": "The URL of the store cannot be read; write it as",
}


@pytest.mark.parametrize(("url", "said"), WRONG.items(), ids=range(len(WRONG)))
async def test_a_url_that_names_no_store_is_told(url: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert str(caught.value).startswith(said)
    assert "s3cr3t" not in str(caught.value)


SHOWN = {
    "memory:": "memory:",
    "sqlite:////srv/a.db": "sqlite:////srv/a.db",
    "postgresql://me@h:5432/x": "postgresql://me@h:5432/x",
    "postgresql://h:5432/x": "postgresql://h:5432/x",
    "postgresql://me:s3cr3t@h/x": "postgresql://me:***@h/x",
    "postgresql://me:s3/cr3t@h/x": "postgresql://me:***@h/x",
    "postgresql://me:s3@s3cr3t@h/x": "postgresql://me:***@h/x",
    "postgresql://me:s3:s3cr3t?@h/x": "postgresql://me:***@h/x",
    "postgresql://:s3cr3t@h/x": "postgresql://:***@h/x",
    "postgresql://h/x?user=me&password=s3cr3t&a=b": "postgresql://h/x?user=me&password=***&a=b",
    "postgresql://h/x?sslpassword=s3cr3t": "postgresql://h/x?sslpassword=***",
}


@pytest.mark.parametrize(("url", "expected"), SHOWN.items(), ids=range(len(SHOWN)))
def test_a_url_is_shown_without_its_secrets(url: str, expected: str) -> None:
    assert shown(url) == expected


async def test_a_store_shows_its_url_without_the_password() -> None:
    store = open_store("postgresql://me:s3cr3t@127.0.0.1:1/x")
    assert store.url == "postgresql://me:***@127.0.0.1:1/x"
    assert "s3cr3t" not in repr(store)
    await store.close()


def test_drivers_are_what_they_are_named() -> None:
    assert isinstance(open_store("memory:")._driver, MemoryDriver)
    assert isinstance(open_store("a.db")._driver, SqliteDriver)


def test_psycopg_is_not_loaded_for_other_stores() -> None:
    look = "import sys, headgate.store.opening as o; o.open_store('memory:'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True, cwd=ROOT)
    assert not {"psycopg", "sqlalchemy"} & set(done.stdout.split())
