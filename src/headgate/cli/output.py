"""What a person sees: colour and tables on a terminal, plain lines in a pipe."""

import logging
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TextIO

import anyio
import orjson

from headgate.cli import garbage
from headgate.cli.exits import UNREACHABLE, USAGE
from headgate.client.targets import TargetError, only
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.settings import SettingError
from headgate.store.interface import StoreError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["complain", "console", "guarded", "is_coloured", "log_to_stderr", "print_json", "print_line", "told"]

_LOG: Final = logging.getLogger("headgate")


def console() -> "Console":
    """Standard output, in colour only if it is a terminal."""
    from rich.console import Console  # noqa: PLC0415  (a server prints nothing that needs it)

    return Console(highlight=False)


def print_line(text: str) -> None:
    """One plain line."""
    sys.stdout.write(f"{text}\n")


def print_json(value: object, *, compact: bool) -> None:
    """A JSON value: indented for reading, or on one line for programs."""
    if compact:
        print_line(orjson.dumps(value).decode())
        return
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    terminal = console()
    if terminal.is_terminal:
        terminal.print_json(text, indent=2)
    else:
        print_line(text)


def is_coloured(stream: TextIO) -> bool:
    """Whether colour belongs there: on a terminal whose owner has not said NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def complain(message: str) -> None:
    """One line to standard error."""
    _tell(" ".join(message.split()))


def _tell(message: str) -> None:
    label = "\x1b[31mheadgate:\x1b[0m" if is_coloured(sys.stderr) else "headgate:"
    sys.stderr.write(f"{label} {message}\n")


class _Told(logging.Handler):
    """Writes what is logged in the form of a complaint."""

    def emit(self, record: logging.LogRecord) -> None:
        """Traces keep their lines."""
        _tell(self.format(record))


@contextmanager
def told(*, notes: bool) -> Iterator[None]:
    """While open, warnings are told; what a source notes about itself only where somebody looks at the source."""
    handler = _Told(logging.WARNING)
    handler.addFilter(lambda record: notes or record.levelno > logging.WARNING or record.name != _LOG.name)
    _LOG.addHandler(handler)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)


def log_to_stderr(level: str) -> None:
    """Write what is logged to standard error, and of others only what is wrong."""
    logging.basicConfig(level=level.upper(), stream=sys.stderr, format="headgate: %(message)s")
    for noisy in ("mcp", "httpx2", "httpcore2", "watchfiles", "uvicorn"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))


def guarded(work: Callable[[], Coroutine[Any, Any, int]], *, is_starting: bool = False) -> int:
    """Run a command's work; what is known to go wrong becomes one line and an exit code.

    Garbage is searched for from here on, but for work that is still ``starting`` and sees to that itself.
    """
    if not is_starting:
        garbage.resume()
    try:
        return anyio.run(work)
    except (SettingError, AdapterError, TargetError, StoreError) as error:
        return _report(error)
    except BaseExceptionGroup as group:
        alone = only(group)
        if isinstance(alone, SettingError | AdapterError | TargetError | StoreError):
            return _report(alone)
        raise


def _report(error: Exception) -> int:
    for line in str(error).splitlines():
        complain(line)
    return USAGE if isinstance(error, SettingError) else UNREACHABLE
