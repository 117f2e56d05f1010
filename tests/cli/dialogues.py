"""A terminal with a person in front of it, who reads and types while a program runs."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.server.processes import HEADGATE, PATIENCE, environment

__all__ = ["Dialogue", "dialogue"]


@dataclass
class Dialogue:
    """A program on a terminal, and what it has shown so far."""

    process: subprocess.Popen[bytes]
    terminal: int
    seen: bytes = field(default=b"")

    @property
    def text(self) -> str:
        return self.seen.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until a text has been shown, or so many times."""
        end = time.monotonic() + PATIENCE
        while self.text.count(text) < times:
            assert time.monotonic() < end, f"'{text}' did not come; instead: {self.text}"
            assert self._read(), f"'{text}' did not come; instead: {self.text}"

    def _read(self) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], PATIENCE)
        if not ready:
            return False
        try:
            chunk = os.read(self.terminal, 65536)
        except OSError:  # which is how a terminal ends
            return False
        self.seen += chunk
        return bool(chunk)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.terminal, text.encode())

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """The exit code, once everything that was shown is read."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)


@contextmanager
def dialogue(
    *words: str, columns: int = 100, env: Mapping[str, str] | None = None, has_keys: bool = True
) -> Iterator[Dialogue]:
    """Run a command on a terminal of its own, with keys to press unless told otherwise."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = environment({"TERM": "xterm-256color", **(env or {})})
    keys = theirs if has_keys else subprocess.DEVNULL
    with subprocess.Popen([HEADGATE, *words], stdin=keys, stdout=theirs, stderr=theirs, env=variables) as process:
        os.close(theirs)
        try:
            yield Dialogue(process, ours)
        finally:
            if process.poll() is None:
                process.kill()
            with contextlib.suppress(OSError):
                os.close(ours)
