"""From a URL to a store, and what is said where there can be none."""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from headgate.store.interface import StoreError
from headgate.store.opening import default_state_url, open_store, shown
from headgate.store.records import Record
from tests.databases import Database, Server

pytestmark = pytest.mark.anyio

RECORD = Record("token", "k", {})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def problem(url: str) -> str:
    """What is said of a store that cannot be opened, in one line and without a password."""
    store = open_store(url)
    with pytest.raises(StoreError) as caught:
        await store.open()
    await store.close()
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cr3t" not in message
    return message


@pytest.mark.parametrize("suffix", ["db", "sqlite", "sqlite3", "DB"])
async def test_a_path_is_a_store(tmp_path: Path, suffix: str) -> None:
    for name in (f"{tmp_path}/plain.{suffix}", f"sqlite:///{tmp_path}/named.{suffix}"):
        store = open_store(name)
        assert await store.insert(RECORD)
        await store.close()
    assert names(tmp_path) == [f"named.{suffix}", f"plain.{suffix}"]


async def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    stores = [open_store(name) for name in ("a.db", "sqlite:///b:c.state", "~/c.db", "d:e.db")]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for store in stores:
        await store.open()
        await store.close()
    assert names(tmp_path) == ["a.db", "b:c.state", "c.db", "d:e.db", "elsewhere"]


async def test_what_was_kept_in_a_file_is_there_again(tmp_path: Path) -> None:
    for expected in (True, False):
        store = open_store(f"{tmp_path}/a.db")
        assert await store.insert(RECORD) == expected
        await store.close()


async def test_a_store_in_memory_is_nobody_elses() -> None:
    for url in ("memory:", "memory://"):
        store = open_store(url)
        assert await store.insert(RECORD)
        await store.close()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
async def test_postgresql_goes_by_three_names(postgresql: Server, scheme: str) -> None:
    with postgresql.fresh() as made:
        store = open_store(made.url.replace("postgresql+psycopg", scheme))
        assert await store.insert(RECORD)
        await store.close()


async def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    for url in (f"{tmp_path}/a.db", "postgresql://127.0.0.1:1/x", "memory:"):
        await open_store(url).close()
    assert names(tmp_path) == []


async def test_a_file_is_closed_to_other_users_and_written_with_a_journal_beside_it(tmp_path: Path) -> None:
    store = open_store(f"{tmp_path}/a.db")
    await store.insert(RECORD)
    assert names(tmp_path) == ["a.db", "a.db-shm", "a.db-wal"]
    assert {mode(tmp_path / name) for name in names(tmp_path)} == {0o600}
    assert await store._read("PRAGMA journal_mode") == [("wal",)]
    assert await store._read("PRAGMA synchronous") == [(2,)]
    await store.close()


async def test_the_default_is_a_file_in_the_users_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert default_state_url() == f"sqlite:///{tmp_path}/state/headgate/state.db"
    store = open_store(default_state_url())
    await store.open()
    await store.close()
    folder = tmp_path / "state" / "headgate"
    assert [mode(folder), mode(folder / "state.db")] == [0o700, 0o600]


async def test_a_folder_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    said = await problem(f"{tmp_path}/folder.db")
    assert said == f"'{tmp_path}/folder.db' is a folder; name a file, such as '{tmp_path}/folder.db/state.db'"


async def test_a_folder_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    said = await problem(f"{tmp_path}/none/a.db")
    expected = (
        f"'{tmp_path}/none/a.db' cannot be made, since '{tmp_path}/none' is no folder; make it, or name another file"
    )
    assert said == expected
    (tmp_path / "file").touch()
    assert "is no folder" in await problem(f"{tmp_path}/file/a.db")
    assert names(tmp_path) == ["file"]


async def test_the_state_of_a_user_may_be_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "headgate").touch()
    assert f"'{tmp_path}/headgate' is no folder" in await problem(default_state_url())


@pytest.mark.parametrize("name", ["a\0b.db", "x" * 300 + ".db"], ids=["NUL", "too long"])
async def test_a_name_that_no_file_can_have_is_told(tmp_path: Path, name: str) -> None:
    assert "cannot be opened: " in await problem(f"{tmp_path}/{name}")


NO_DATABASES = {
    "a text": b"this is a text and no database\n" * 40,
    "zeros": bytes(4096),
    "a short text": b"hello",
}


@pytest.mark.parametrize("content", NO_DATABASES.values(), ids=NO_DATABASES)
async def test_another_kind_of_file_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    said = await problem(str(path))
    assert said == f"The store '{path}' is no database of SQLite; name another file, or move this one away"
    assert path.read_bytes() == content


@pytest.fixture
async def kept(tmp_path: Path) -> Path:
    """A file of a store with records in it, that nobody has open."""
    path = tmp_path / "kept.db"
    store = open_store(str(path))
    for number in range(30):
        await store.insert(Record("token", f"{number}", {"text": "x" * 3000}))
    await store.close()
    return path


def damage(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xaa" * (len(content) - 4096))


async def test_a_damaged_file_is_told(kept: Path) -> None:
    damage(kept)
    said = await problem(str(kept))
    assert said == f"The store '{kept}' is damaged; restore it from a backup, or move it away to start anew"


async def test_a_file_that_was_cut_off_is_told(kept: Path) -> None:
    os.truncate(kept, 4096 * 12)
    store = open_store(str(kept))
    with pytest.raises(StoreError, match="is damaged"):
        await store.list("token")
    await store.close()


async def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE books (id)")
    said = await problem(str(path))
    assert said == f"The store '{path}' is a database of another program; name a file that headgate has for itself"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("books",)]


@contextmanager
def rights_of(folder: Path, mode: int) -> Iterator[None]:
    """Give a folder such rights, and have no more than those: who runs tests as root may do everything."""
    folder.chmod(mode)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


@pytest.fixture
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="headgate-rights-") as name:
        yield Path(name)


async def test_a_folder_that_may_not_be_written_is_told(common: Path) -> None:
    with rights_of(common, 0o555):
        said = await problem(f"{common}/a.db")
    assert said == f"'{common}/a.db' cannot be opened for reading and writing; see who owns the file and its folder"


async def test_a_file_that_may_not_be_written_is_told(common: Path) -> None:
    path = common / "a.db"
    path.touch(0o444)
    with rights_of(common, 0o777):
        said = await problem(str(path))
    assert said == f"'{path}' cannot be opened for reading and writing; see who owns the file and its folder"


async def test_a_file_whose_folder_may_not_be_written_is_told(common: Path, kept: Path) -> None:
    path = common / "a.db"
    shutil.copy(kept, path)
    path.chmod(0o666)
    with rights_of(common, 0o555):
        said = await problem(str(path))
    assert said.startswith(f"The store '{path}' cannot be ")
    assert said.endswith("; see who owns the file and its folder")


UNREACHABLE = [
    "postgresql://me:s3cr3t@127.0.0.1:1/x",
    "postgresql://me@127.0.0.1:1/x?password=s3cr3t",
    "postgresql:///x?host=/there/is/no/socket",
]


@pytest.mark.parametrize("url", UNREACHABLE)
async def test_a_server_that_is_not_there_is_told(url: str) -> None:
    said = await problem(url)
    assert said.startswith(f"The store '{shown(url)}' cannot be reached: ")
    assert said.endswith(". See whether the server is running, and whether address, name, user and password are right")


async def test_a_database_that_is_not_there_is_told(postgresql: Server) -> None:
    with postgresql.fresh() as made:
        said = await problem(made.url.replace("/test_", "/none_"))
    assert "cannot be reached: " in said
    assert "does not exist" in said


def tell(made: Database, *statements: str) -> None:
    with made.connected() as engine, engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


async def test_a_user_who_may_not_make_a_schema_is_told_how_to_get_one(postgresql: Server) -> None:
    with postgresql.fresh() as made:
        tell(made, "CREATE ROLE guest LOGIN")
        url = made.url.replace("postgres@", "guest@")
        said = await problem(url)
        assert "may not be used: permission denied for database" in said
        assert "CREATE SCHEMA headgate AUTHORIZATION" in said
        tell(made, "CREATE SCHEMA headgate AUTHORIZATION guest")
        store = open_store(url)
        assert await store.insert(RECORD)
        await store.close()
        tell(made, "DROP OWNED BY guest", "DROP ROLE guest")


async def test_a_store_that_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    store = open_store(f"{tmp_path}/folder/a.db")
    with pytest.raises(StoreError, match="is no folder"):
        await store.open()
    (tmp_path / "folder").mkdir()
    assert await store.insert(RECORD)
    await store.close()
