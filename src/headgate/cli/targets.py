"""The source that ``call`` and ``ops`` speak to."""

import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.guards import Guarding, configured, opened
from headgate.client.targets import Target, connect, local
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.settings import SettingError
from headgate.sources.bookshop import bookshop_file
from headgate.sources.bookshop.stocktaking import add_stocktaking
from headgate.sources.databases import is_database
from headgate.sources.modules import load_adapter

if TYPE_CHECKING:
    from headgate.sources.sql.settings import SqlSettings

__all__ = ["DatabaseChoices", "Source", "Tables", "load", "open_target", "settings_of"]

Source: TypeAlias = Annotated[
    str | None,
    Parameter(
        name=["--source", "-s"],
        env_var="HEADGATE_SOURCE",
        help="A database's URL or SQLite file, module:adapter, file.py:adapter, or the http(s) URL of a running "
        "server. Without one: the demo.",
    ),
]


Tables: TypeAlias = Annotated[
    Path | None,
    Parameter(
        help="A TOML file that includes, renames and describes tables and fields.",
        env_var="HEADGATE_TABLES",
        show_default=False,
    ),
]


def settings_of(tables: Path | None) -> "SqlSettings":
    """What a file says of a database; what is wrong in it is a mistake in how the command is used."""
    from headgate.sources.sql.settings import SqlSettings  # noqa: PLC0415  (a third of a second of imports)

    try:
        return SqlSettings.read(tables) if tables else SqlSettings()
    except AdapterError as error:
        raise SettingError(str(error)) from None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DatabaseChoices:
    """How a source that is a database is used."""

    read_only: Annotated[
        bool,
        Parameter(
            help="Leave out what changes data, and have the database itself refuse changes.",
            env_var="HEADGATE_READ_ONLY",
            negative=(),
            show_default=False,
        ),
    ] = False
    tables: Tables = None
    statement_timeout: Annotated[
        float | None,
        Parameter(
            help="Seconds that a statement may take; 30 unless said.",
            env_var="HEADGATE_STATEMENT_TIMEOUT",
            show_default=False,
        ),
    ] = None

    def adapter(self, source: str, name: str | None = None) -> Adapter:
        """The adapter of a database."""
        from headgate.sources.sql.database import DatabaseOptions  # noqa: PLC0415  (a third of a second of imports)
        from headgate.sources.sql.source import sql_adapter  # noqa: PLC0415

        timeout = 30.0 if self.statement_timeout is None else self.statement_timeout
        if timeout <= 0:
            raise SettingError(f"--statement-timeout must be more than 0 seconds, not {timeout:g}")
        options = DatabaseOptions(read_only=self.read_only, statement_timeout=timeout)
        return sql_adapter(source, options, settings_of(self.tables), name=name)

    def refuse_elsewhere(self) -> None:
        """Say that an option only makes sense for a database, where it would be ignored otherwise."""
        if self.read_only or self.tables or self.statement_timeout is not None:
            raise SettingError("--read-only, --tables and --statement-timeout are for databases: this source is none")


def load(source: str | None, choices: DatabaseChoices = DatabaseChoices()) -> Adapter:  # noqa: B008  (frozen)
    """The adapter of a source in this process; the demo if there is none."""
    if source is None:
        return _demo(choices)
    if is_database(source):
        return choices.adapter(source)
    choices.refuse_elsewhere()
    return load_adapter(source)


def _demo(choices: DatabaseChoices) -> Adapter:
    path = bookshop_file()
    adapter = choices.adapter(str(path), "bookshop")
    add_stocktaking(adapter, path)
    return adapter


@asynccontextmanager
async def open_target(
    source: str | None,
    choices: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
) -> AsyncIterator[Target]:
    """What a source names, ready to be called."""
    if source and source.startswith(("http://", "https://")):
        choices.refuse_elsewhere()
        if guarding.given:
            raise SettingError("--policy, --trust and --state are for what is called here: a server has its own")
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is said once, by us
        async with connect(source, os.environ.get("HEADGATE_TOKEN")) as target:
            yield target
        return
    with redirect_stdout(sys.stderr):  # what a module prints is not the answer
        config = configured(source)
        settings = guarding.settings(config)
        adapter = load(config.source, choices)
        try:
            async with opened(settings, adapter) as (trusted, store):
                engine = trusted.engine(adapter, store)
                if engine.executions is not None:
                    engine.executions.host.adopts = False  # which would end with this command
                try:
                    yield local(engine)
                finally:
                    if engine.executions is not None:
                        await engine.executions.close()
        finally:
            await adapter.close()
