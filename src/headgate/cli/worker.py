"""``headgate worker``: a process that runs long executions from a shared queue."""

import asyncio
import logging
import os
import signal
import time
from types import FrameType
from typing import Annotated, Final

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.exits import OK, leave_behind
from headgate.cli.guards import Configured, Guarding, configured, opened
from headgate.cli.options import number_option, option
from headgate.cli.output import guarded, log_to_stderr
from headgate.cli.running import LogLevel
from headgate.cli.targets import opened_source
from headgate.executions.desks import Desk, Stop
from headgate.executions.host import Failed, Perform
from headgate.executions.results import Cut
from headgate.executions.service import Executions
from headgate.server.settings import SettingError, Settings
from headgate.server.signals import wait_for_signal
from headgate.store.interface import Store

__all__ = ["worker"]

_LOG: Final = logging.getLogger("headgate")
_SIGNALLED: Final = 128
"""What a shell adds to the number of the signal that has ended a program."""

_STOPPED: Final = {
    Stop.ASKED: "cancelled",
    Stop.LATE: "stopped, since its time was over,",
    Stop.SHUTDOWN: "interrupted",
    Stop.TAKEN: "left, since another process has it,",
    None: "interrupted",
}


def worker(
    source: Annotated[
        str | None,
        Parameter(
            help="What the servers serve: module:adapter, file.py:adapter or headgate.toml. Without one: the demo."
        ),
    ] = None,
    /,
    *,
    state: Annotated[
        str | None, option("The database that the servers keep their state in: postgresql://…", "HEADGATE_STATE")
    ] = None,
    concurrency: Annotated[
        int,
        number_option(
            "How many executions run at once in this process; 10 unless said.", "HEADGATE_WORKER_CONCURRENCY"
        ),
    ] = 10,
    grace: Annotated[
        float,
        option("Seconds to finish what is under way when it is to stop; 30 unless said.", "HEADGATE_WORKER_GRACE"),
    ] = 30.0,
    log_level: LogLevel = "info",
) -> int:
    """Run the long executions of an adapter that servers have put into the queue of a PostgreSQL database.

    Start as many as you like, on any machine. A signal stops it: it takes nothing new, finishes what is under way, and
    after the grace gives the rest back, or lets it fail, as each operation declares. A second signal ends it at once.
    """

    async def work() -> int:
        log_to_stderr(log_level)
        for noisy in ("procrastinate", "psycopg.pool"):
            logging.getLogger(noisy).setLevel(logging.ERROR)
        config = configured(source)
        settings = _settings(config, state, concurrency, grace)
        async with opened_source(config) as offer, opened(settings, offer.trusted) as (trusted, store):
            executions = _executions(trusted, offer.adapter, store)
            await _run(executions, trusted.state, concurrency, grace)
        return OK

    return guarded(work)


def _settings(config: Configured, state: str | None, concurrency: int, grace: float) -> Settings:
    """What the options say; a SettingError if a worker cannot work so, before anything is loaded or opened."""
    if concurrency < 1:
        raise SettingError(f"--concurrency must be 1 or more, not {concurrency}")
    if not 0 <= grace < float("inf"):
        raise SettingError(f"--grace must be a number of seconds, 0 or more, not {grace:g}")
    settings = Guarding(state=state).settings(config)
    if not settings.store().is_shared:
        raise SettingError(
            "A worker needs a database that servers share: --state postgresql://…. With a file or memory, the server "
            "itself runs what it starts"
        )
    return settings


def _executions(settings: Settings, adapter: Adapter, store: Store) -> Executions:
    executions = settings.executions(adapter, store, takes_jobs=True)
    if executions is None:
        raise SettingError(
            f"'{adapter.name}' has no operation that runs in the background, so there is nothing for a worker to do"
        )
    settings.engine(adapter, store, executions)
    executions.perform = _told(executions.perform)
    return executions


async def _run(executions: Executions, url: str, concurrency: int, grace: float) -> None:
    from headgate.executions.worker import QueueWorker  # noqa: PLC0415  (slow to import)

    async def until() -> None:
        await wait_for_signal()
        _LOG.info("stopping: what is under way has %g s to finish, and a second signal ends it at once", grace)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _end_at_once)

    where = executions.ledger.store.url
    _LOG.info("%s works on '%s' from %s, %d at once", executions.host.id, executions.adapter, where, concurrency)
    await QueueWorker(executions, url, concurrency).run(until, grace)
    leave_behind(executions.host.left_behind)
    _LOG.info("stopped")


def _end_at_once(number: int, _frame: FrameType | None) -> None:
    """Leave everything as it is: other processes notice, and do what each operation declares."""
    _LOG.warning("ended at once; what was under way fails or is run again, as soon as another process notices")
    os._exit(_SIGNALLED + number)


def _told(perform: Perform) -> Perform:
    """The same work, with a line in the log when an attempt begins and one when it ends."""

    async def work(desk: Desk) -> Cut:
        execution, began = desk.execution, time.monotonic()
        name = f"{execution.id} {execution.operation}"
        _LOG.info("%s begun%s", name, f", attempt {execution.attempt}" if execution.attempt > 1 else "")
        became = "completed"
        try:
            return await perform(desk)
        except Failed as failed:
            became = f"failed with {failed.error.code}"
            raise
        except asyncio.CancelledError:
            became = _STOPPED[desk.stop]
            raise
        finally:
            _LOG.info("%s %s after %.1f s", name, became, time.monotonic() - began)

    return work
