"""``headgate worker``: a process that runs long executions from a shared queue."""

import logging
from typing import Annotated

from cyclopts import Parameter

from headgate.cli.exits import OK
from headgate.cli.guards import Guarding, configured, opened
from headgate.cli.options import option
from headgate.cli.output import guarded, log_to_stderr
from headgate.cli.running import LogLevel
from headgate.cli.targets import load
from headgate.server.settings import SettingError
from headgate.server.signals import wait_for_signal

__all__ = ["worker"]


def worker(
    source: Annotated[
        str, Parameter(help="What the servers serve: module:adapter, file.py:adapter, or headgate.toml.")
    ],
    /,
    *,
    state: Annotated[
        str | None, option("The database that the servers keep their state in: postgresql://…", "HEADGATE_STATE")
    ] = None,
    concurrency: Annotated[
        int, option("How many executions run at once in this process.", "HEADGATE_WORKER_CONCURRENCY")
    ] = 10,
    grace: Annotated[
        float, option("Seconds to finish what is under way when it is asked to stop.", "HEADGATE_WORKER_GRACE")
    ] = 30.0,
    log_level: LogLevel = "info",
) -> int:
    """Run the long executions of an adapter that servers have put into the queue of a PostgreSQL database.

    Start as many as you like, on any machine. A signal stops it: it takes nothing new, finishes what is under way, and
    after the grace gives the rest back, or lets it fail, as each operation declares.
    """

    async def work() -> int:
        from headgate.executions.worker import QueueWorker  # noqa: PLC0415  (slow to import)

        log_to_stderr(log_level)
        for noisy in ("procrastinate", "psycopg.pool"):
            logging.getLogger(noisy).setLevel(logging.ERROR)
        config = configured(source)
        settings = Guarding(state=state).settings(config)
        if concurrency < 1:
            raise SettingError(f"--concurrency must be 1 or more, not {concurrency}")
        if grace < 0:
            raise SettingError(f"--grace must be 0 seconds or more, not {grace:g}")
        adapter = load(config.source)
        async with opened(settings, adapter) as (trusted, store):
            if not store.is_shared:
                raise SettingError(
                    "A worker needs a database that servers share: --state postgresql://…. With a file or memory, the "
                    "server itself runs what it starts"
                )
            executions = trusted.executions(adapter, store, takes_jobs=True)
            if executions is None:
                raise SettingError(f"'{adapter.name}' has no operation that runs in the background")
            trusted.engine(adapter, store, executions)
            log = logging.getLogger("headgate")
            log.info("working on executions of '%s', %d at once", adapter.name, concurrency)
            await QueueWorker(executions, trusted.state, concurrency).run(wait_for_signal, grace)
            log.info("stopped")
        await adapter.close()
        return OK

    return guarded(work)
