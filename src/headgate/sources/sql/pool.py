"""The connections of a database."""

from collections.abc import Callable

import anyio

from headgate.sources.sql.connections import Connection
from headgate.sources.sql.failures import DatabaseFailure
from headgate.sources.sql.threads import Threads

__all__ = ["Pool"]


class Pool:
    """At most so many connections. Whoever waits longest is next."""

    def __init__(self, connect: Callable[[], Connection], size: int, threads: Threads) -> None:
        self._connect = connect
        self._size = size
        self._threads = threads
        self._room = anyio.Semaphore(size, max_value=size, fast_acquire=True)
        self._idle: list[Connection] = []
        self._is_closed = False

    async def take(self) -> Connection:
        """A connection for the caller alone, until it is given back."""
        if self._is_closed:
            raise DatabaseFailure("the database was closed")
        await self._room.acquire()
        try:
            while not self._idle:
                # The thread itself puts it there, so that it is not lost if the task is cancelled meanwhile.
                await self._threads.run(None, self._open)
            connection = self._idle.pop()
            if not connection.reused:
                await connection.ready()
        except BaseException:
            self._room.release()
            raise
        return connection

    def _open(self) -> None:
        self._idle.append(self._connect())

    def give(self, connection: Connection) -> None:
        """Let the next one have the connection; one that is of no use any more is closed."""
        if connection.usable:
            connection.reset()
            self._idle.append(connection)
        else:
            connection.close()
        self._room.release()

    def forget_idle(self) -> None:
        """Close the connections that nobody uses: what one of them has lost, the others have lost as well."""
        while self._idle:
            self._idle.pop().close()

    async def close(self) -> None:
        """Wait until every connection is given back, and close them all."""
        self._is_closed = True
        for _ in range(self._size):
            await self._room.acquire()
        self.forget_idle()
