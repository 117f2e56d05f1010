"""``headgate serve``: an MCP-AQL server in one command."""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.entrances import Entrance, Serving
from headgate.cli.gates import SourceChoices, offered, offered_alone
from headgate.cli.guards import Configured, Guarding, configured
from headgate.cli.options import option
from headgate.cli.output import guarded
from headgate.cli.persons import Persons
from headgate.cli.running import Http, LogLevel, Running, Watched
from headgate.cli.targets import DatabaseChoices, load
from headgate.safety.policy.rules import Policy
from headgate.server.settings import SettingError
from headgate.sources.databases import is_database
from headgate.sources.gate.specs import GatePlan
from headgate.sources.modules import forget_modules, load_adapter, module_file

__all__ = ["serve"]


def serve(
    *sources: Annotated[
        str,
        Parameter(
            help="A database's URL or SQLite file, module:adapter, the URL of an MCP server or its command after --, a "
            "list of MCP servers, an OpenAPI document, an adapter file or a headgate.toml; several are served "
            "together. Without one: the built-in demo."
        ),
    ],
    http: Http = None,
    reload: Annotated[bool, option("Watch the module and serve it anew when it changes.", "HEADGATE_RELOAD")] = False,
    log_level: LogLevel = "info",
    serving: Serving = Serving(),  # noqa: B008  (frozen)
    entrance: Entrance = Entrance(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    persons: Persons = Persons(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    choices: SourceChoices = SourceChoices(),  # noqa: B008  (frozen)
) -> int:
    """Serve an adapter over stdio, or over HTTP with --http.

    A signal or the end of input stops the server; requests in work are finished first.
    """

    async def work() -> int:
        running = Running(log_level=log_level, http=http, serving=serving, entrance=entrance, persons=persons)

        def read() -> Configured:
            chosen = choices.choices(database.spec(), os.environ, reload=reload, vouched=guarding.vouches)
            return configured(*sources, choices=chosen)

        config = read()
        guard = partial(guarding.settings, config)
        if config.plan is not None:
            database.check([spec.kind for spec in config.plan.sources])
            offer = partial(offered, config.plan, choices.start_timeout)
            return await running.run(offer, guard, again=partial(_read_again, read, guarding))
        sys.dont_write_bytecode |= reload  # bytecode is told apart only by size and whole seconds
        if reload and (config.source is None or is_database(config.source)):
            raise SettingError("--reload needs a source that is a Python module or file")
        return await running.run(
            lambda: offered_alone(lambda: load(config.source, database)),
            guard,
            watching=partial(_reloading, config.source) if reload else None,
            is_demo=not sources,
        )

    return guarded(work, is_starting=True)


def _read_again(read: Callable[[], Configured], guarding: Guarding) -> tuple[GatePlan, Policy]:
    """What the files say now, after one of them has changed."""
    config = read()
    if config.plan is None:
        raise SettingError("what is left is one source alone: start anew to serve it by itself")
    return config.plan, guarding.settings(config).policy


def _reloading(source: str | None) -> Watched:
    """How to load anew what is loaded now, and where its files are."""
    file = module_file(source) if source else None
    if source is None or file is None:
        raise SettingError("--reload needs a source that is a Python module or file")

    def again() -> Adapter:
        forget_modules(file.parent)
        return load_adapter(source)

    return again, [file.parent]
