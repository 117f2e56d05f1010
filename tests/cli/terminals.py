"""A terminal for programs that look whether they have one."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from dataclasses import dataclass

from tests.server.processes import HEADGATE, PATIENCE, environment


@dataclass(frozen=True)
class Shown:
    """What a person would have seen."""

    text: str
    code: int

    @property
    def is_coloured(self) -> bool:
        return "\x1b[" in self.text


def on_terminal(*words: str, **variables: str) -> Shown:
    """Run a command on a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(
        [HEADGATE, *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment({"TERM": "xterm-256color", **variables}),
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while chunk := os.read(ours, 65536):
                seen += chunk
        os.close(ours)
        code = process.wait(PATIENCE)
    return Shown(seen.decode().replace("\r\n", "\n"), code)
