"""The servers behind the wires. Each is started once, and only when a test wants it."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mcp.client.stdio import StdioServerParameters

from headgate import mcp_server
from tests.spec.wires import Wire
from tests.spec.world import world
from tests.support import ROOT

HEADGATE = Path(sys.executable).with_name("headgate")
WORLD = "tests.spec.world:world"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Servers:
    """What a client connects to, for each wire."""

    def __enter__(self) -> Self:
        self._running = ExitStack()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def target(self, wire: Wire) -> Any:
        """A server in process, the command that starts one, or the address of one."""
        match wire.transport:
            case "memory":
                return self._memory
            case "stdio":
                return stdio_server()
            case "http":
                return self.url

    @cached_property
    def _memory(self) -> Any:
        return mcp_server(world)

    @cached_property
    def url(self) -> str:
        return self._running.enter_context(http_server())


def stdio_server(*options: str) -> StdioServerParameters:
    """The command that serves one client over its standard input and output."""
    return StdioServerParameters(command=str(HEADGATE), args=["serve", WORLD, *options], env=ENVIRONMENT)


@contextmanager
def http_server(*options: str) -> Iterator[str]:
    """A server process on a port of its own choice, and its address."""
    command = [str(HEADGATE), "serve", WORLD, "--http", "127.0.0.1:0", *options]
    with subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = (re.search(r"http://\S+", line) for line in process.stderr)
        found = next(match for match in said if match)
        rest = threading.Thread(target=process.stderr.read)  # or the log of requests would fill the pipe
        rest.start()
        try:
            yield found.group()
        finally:
            process.terminate()
            process.wait(30)
            rest.join()
