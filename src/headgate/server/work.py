"""What is being done right now, so that a server can finish it before it stops."""

import anyio

__all__ = ["Work"]


class Work:
    """Counts the requests in work: ``with work:`` around each."""

    def __init__(self) -> None:
        self._running = 0
        self._idle: anyio.Event | None = None

    @property
    def running(self) -> int:
        """How many requests are in work."""
        return self._running

    def __enter__(self) -> None:
        self._running += 1

    def __exit__(self, *_: object) -> None:
        self._running -= 1
        if self._running == 0 and self._idle is not None:
            self._idle.set()
            self._idle = None

    async def finish(self, seconds: float) -> bool:
        """Wait until nothing is in work, this long at the most; whether that came about."""
        with anyio.move_on_after(seconds):
            while self._running:
                self._idle = self._idle or anyio.Event()
                await self._idle.wait()
        return self._running == 0
