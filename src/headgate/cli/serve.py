"""``headgate serve``: an MCP-AQL server in one command."""

import sys
from functools import partial
from typing import Annotated

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.entrances import Entrance, Serving
from headgate.cli.guards import Guarding, configured
from headgate.cli.options import option
from headgate.cli.output import guarded
from headgate.cli.persons import Persons
from headgate.cli.running import Http, LogLevel, Running, Watched
from headgate.cli.targets import DatabaseChoices, load
from headgate.server.settings import SettingError
from headgate.sources.databases import is_database
from headgate.sources.modules import forget_modules, load_adapter, module_file

__all__ = ["serve"]


def serve(
    *sources: Annotated[
        str,
        Parameter(
            help="A database's URL or SQLite file, module:adapter or file.py:adapter. Without one: the built-in demo."
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
) -> int:
    """Serve an adapter over stdio, or over HTTP with --http.

    A signal or the end of input stops the server; requests in work are finished first.
    """

    async def work() -> int:
        source = _one_source(sources)
        config = configured(source)
        running = Running(log_level=log_level, http=http, serving=serving, entrance=entrance, persons=persons)
        sys.dont_write_bytecode |= reload  # bytecode is told apart only by size and whole seconds
        if reload and (config.source is None or is_database(config.source)):
            raise SettingError("--reload needs a source that is a Python module or file")
        return await running.run(
            lambda: load(config.source, database),
            lambda **more: guarding.settings(config, **more),
            watching=partial(_reloading, config.source) if reload else None,
            is_demo=source is None,
        )

    return guarded(work)


def _one_source(sources: tuple[str, ...]) -> str | None:
    if len(sources) > 1:
        raise SettingError(f"One source at a time, not {len(sources)}: combine them in one adapter")
    return sources[0] if sources else None


def _reloading(source: str | None) -> Watched:
    """How to load anew what is loaded now, and where its files are."""
    file = module_file(source) if source else None
    if source is None or file is None:
        raise SettingError("--reload needs a source that is a Python module or file")

    def again() -> Adapter:
        forget_modules(file.parent)
        return load_adapter(source)

    return again, [file.parent]
