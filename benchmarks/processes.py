"""Processes on this machine: servers, and work that is done by itself.

Each is a group of its own: Ctrl-C ends the benchmarks, which then end what they have started.
"""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import orjson

__all__ = ["ROOT", "free_port", "headgate", "processor_seconds", "running", "said_elsewhere", "wait_for"]

ROOT: Final = Path(__file__).parent.parent
_START_SECONDS: Final = 30.0


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def headgate(*words: str) -> list[str]:
    """The command of headgate, with the Python that runs this."""
    main = "import sys; from headgate.cli import main; sys.argv[0] = 'headgate'; main()"
    return [sys.executable, "-c", main, *words, "--log-level", "warning"]


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[int]:
    """A process while the block runs, by its id."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, process_group=0)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


async def said_elsewhere(module: str, *words: str) -> Any:
    """What a module writes as JSON when it is run in a process that does nothing else."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *words), stdout=asyncio.subprocess.PIPE, process_group=0
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise RuntimeError(f"{module} has failed")
    return orjson.loads(output)


def processor_seconds(process: int) -> float | None:
    """For how long a process has had a processor, in all of its threads; None where the system does not tell."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    spent = [int(thread.read_text().split()[0]) for thread in threads]
    return sum(spent) / 1e9 if spent else None


def wait_for(port: int) -> None:
    """Until somebody listens on a port."""
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            with closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
