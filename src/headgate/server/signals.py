"""Signals that ask a server to stop."""

import signal
import threading

import anyio

__all__ = ["wait_for_signal"]


async def wait_for_signal() -> None:
    """Return when the process is asked to stop. Outside the main thread, where no signal arrives, never."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            return
