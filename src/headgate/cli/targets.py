"""The source that ``call`` and ``ops`` speak to."""

import logging
import os
import sys
from collections.abc import AsyncIterator, Container
from contextlib import AbstractAsyncContextManager, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.gates import OPENING_SECONDS, Offered, SourceChoices, offered, offered_alone
from headgate.cli.guards import Configured, Guarding, configured, opened
from headgate.client.targets import NotAqlError, Target, connect, local
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.settings import SettingError
from headgate.sources.databases import is_database
from headgate.sources.gate.opening import database_adapter, demo_adapter
from headgate.sources.gate.planning import Choices
from headgate.sources.gate.recognizing import kind_of_source, problem_of_file
from headgate.sources.gate.specs import DatabaseSpec, SourceKind
from headgate.sources.modules import load_adapter

if TYPE_CHECKING:
    from headgate.sources.sql.settings import SqlSettings

__all__ = ["DatabaseChoices", "Source", "Tables", "load", "open_target", "opened_source", "settings_of"]

_GUARDED_THERE: Final = "--policy, --trust and --state are for what is called here: a server has its own"

Source: TypeAlias = Annotated[
    str | None,
    Parameter(
        name=["--source", "-s"],
        env_var="HEADGATE_SOURCE",
        help="A database's URL or SQLite file, module:adapter, the http(s) URL of a running server, a list of MCP "
        "servers, an OpenAPI document, an adapter file, a headgate.toml, or a command after --. Without one: the demo.",
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

    def spec(self) -> DatabaseSpec:
        """The same as values; what is wrong with them is a mistake in how the command is used."""
        timeout = self.statement_timeout
        if timeout is not None and not isfinite(timeout):
            raise SettingError(f"--statement-timeout must be a number of seconds, not {timeout:g}")
        if timeout is not None and timeout <= 0:
            raise SettingError(f"--statement-timeout must be more than 0 seconds, not {timeout:g}")
        tables = self.tables if self.tables != Path() else None
        return DatabaseSpec(read_only=self.read_only, tables=tables, statement_timeout=timeout)

    def check(self, kinds: Container[SourceKind]) -> None:
        """Refuse what makes no sense for sources of these kinds, and a file with mistakes."""
        if SourceKind.DATABASE not in kinds:
            self.refuse_elsewhere()
        settings_of(self.tables)

    def refuse_elsewhere(self) -> None:
        """Say that an option only makes sense for a database, where it would be ignored otherwise."""
        if self.read_only or self.tables or self.statement_timeout is not None:
            raise SettingError("--read-only, --tables and --statement-timeout are for databases: this source is none")


def load(source: str | None, choices: DatabaseChoices = DatabaseChoices()) -> Adapter:  # noqa: B008  (frozen)
    """The adapter of a source in this process; the demo if there is none."""
    if source is None or is_database(source):
        choices.check([SourceKind.DATABASE])
        return database_adapter(source, choices.spec()) if source else demo_adapter(choices.spec())
    choices.refuse_elsewhere()
    if problem := problem_of_file(source):
        raise AdapterError(problem)
    return load_adapter(source)


def opened_source(
    config: Configured,
    choices: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    start_timeout: float = OPENING_SECONDS,
    *,
    lazily: bool = True,
) -> AbstractAsyncContextManager[Offered]:
    """What a command works on, once: all sources that are meant, as soon as it is known which of them open.

    Unless ``lazily``, each is asked anew what it offers.
    """
    if config.plan is None:
        return offered_alone(lambda: load(config.source, choices))
    choices.check([spec.kind for spec in config.plan.sources])
    return offered(config.plan, start_timeout, lazily=lazily, plainly=False)


def _with_token(choices: Choices) -> Choices:
    """The same with the token that a server is called with, unless another is said."""
    token = os.environ.get("HEADGATE_TOKEN")
    if not token or any(name.lower() == "authorization" for name in choices.headers):
        return choices
    return replace(choices, headers={**choices.headers, "Authorization": f"Bearer {token}"})


@asynccontextmanager
async def open_target(
    source: str | None,
    choices: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    reaching: SourceChoices = SourceChoices(start_timeout=OPENING_SECONDS),  # noqa: B008  (frozen)
    *,
    lazily: bool = True,
) -> AsyncIterator[Target]:
    """What a source names, ready to be called."""
    if source and source.startswith(("http://", "https://")) and kind_of_source(source) is SourceKind.MCP:
        choices.refuse_elsewhere()
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is said once, by us
        try:
            async with connect(source, os.environ.get("HEADGATE_TOKEN")) as target:
                if guarding.given:
                    raise SettingError(
                        "--policy, --trust and --state are for what is called here: a server has its own"
                    )
                yield target
                return
        except NotAqlError:
            pass  # any other MCP server is wrapped here
    with redirect_stdout(sys.stderr):  # what a module prints is not the answer
        made = reaching.choices(choices.spec(), os.environ, vouched=guarding.vouches)
        config = configured(source, choices=_with_token(made))
        settings = guarding.settings(config)
        async with (
            opened_source(config, choices, reaching.start_timeout, lazily=lazily) as offer,
            opened(settings, offer.trusted) as (trusted, store),
        ):
            engine = trusted.engine(offer.adapter, store)
            if engine.executions is not None:
                engine.executions.host.adopts = False  # which would end with this command
            try:
                yield local(engine)
            finally:
                if engine.executions is not None:
                    await engine.executions.close()
