"""Well-known databases that somebody else made: with spaces in names, composite keys and views.

Their files are not in this repository. Put them into a folder under the names below and set ``HEADGATE_SAMPLES``.

- Chinook, MIT licence: github.com/lerocha/chinook-database at 7f67772, ``ChinookDatabase/DataSources/``; a file of
  SQLite, and scripts for PostgreSQL and MySQL that begin with making and choosing a database
- Northwind, MIT licence: github.com/jpwhite3/northwind-SQLite3 at 4f56e7f, ``src/create.sql``; a script for SQLite
- Sakila, BSD licence of two clauses: github.com/jOOQ/sakila at e089a5b, ``postgres-sakila-db/`` and
  ``sqlite-sakila-db/``; a schema for each, and the rows for PostgreSQL as a script for psql
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.databases import ServerName
from tests.support import ROOT

__all__ = ["SAMPLES", "Sample", "sample"]


@dataclass(frozen=True)
class Sample:
    """One file of a sample database, known by what is in it."""

    server: ServerName
    file: str
    sha256: str


SAMPLES = {
    "chinook": Sample(
        "sqlite", "Chinook_Sqlite.sqlite", "7651ba378ac2fcd0dfc3c66fb101f7a7eed3ba39a612ec642b96e20702061f15"
    ),
    "chinook-postgresql": Sample(
        "postgresql", "Chinook_PostgreSql.sql", "e3fde5c1a5b51a2a91429a702c9ca6e69ba56e6c7f5e112724d70c3d03db695e"
    ),
    "chinook-mariadb": Sample(
        "mariadb", "Chinook_MySql.sql", "68768623bac1fe6f92c317235735c706a54a28cc76ab175c194e99f994dadbd6"
    ),
    "northwind": Sample("sqlite", "create.sql", "5854b536dea3fe8c586223bf7b47a793727dd44c34fc32537a68a97fec8e2f4b"),
    "sakila": Sample(
        "sqlite", "sqlite-sakila-schema.sql", "b1db76b3a5192f98493901a9ac40fecb9dba918feb5604b7ef6b74230a385f12"
    ),
    "sakila-postgresql": Sample(
        "postgresql", "postgres-sakila-schema.sql", "eaa8cfc2fd358e70617d31ed3638196982944749929f02e90b980457855bfa48"
    ),
    "sakila-postgresql-rows": Sample(
        "postgresql",
        "postgres-sakila-insert-data-using-copy.sql",
        "072e793e9f4f2686b46de8904e1e5ca90c02cbc1873d69ed15401aef610ab52b",
    ),
}


@cache
def sample(name: str) -> Path:
    """The file of a sample database, the very one that the tests were written for; skipped where there is none."""
    wanted = SAMPLES[name]
    folder = Path(os.environ.get("HEADGATE_SAMPLES") or ROOT.parent / "shared" / "samples")
    path = folder / wanted.file
    if not path.is_file():
        pytest.skip(f"the sample database {wanted.file} is not here; set HEADGATE_SAMPLES to its folder")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wanted.sha256:
        pytest.fail(f"{path} is another version of the sample database than the tests expect: {found}")
    return path
