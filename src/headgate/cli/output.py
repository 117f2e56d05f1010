"""What a person sees: colour and tables on a terminal, plain lines in a pipe."""

import sys
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import orjson
from rich.console import Console

from headgate.adapter.errors import AdapterError
from headgate.cli.exits import UNREACHABLE, USAGE
from headgate.client.targets import TargetError
from headgate.server.settings import SettingError

__all__ = ["complain", "console", "guarded", "print_json", "print_line"]


def console() -> Console:
    """Standard output, in colour only if it is a terminal."""
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


def complain(message: str) -> None:
    """One line to standard error."""
    label = "\x1b[31mheadgate:\x1b[0m" if sys.stderr.isatty() else "headgate:"
    sys.stderr.write(f"{label} {' '.join(message.split())}\n")


def guarded(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command's work; what is known to go wrong becomes one line and an exit code."""
    try:
        return anyio.run(work)
    except SettingError as error:
        complain(str(error))
        return USAGE
    except (AdapterError, TargetError) as error:
        complain(str(error))
        return UNREACHABLE
    except BaseExceptionGroup as group:
        known = group.subgroup((SettingError, AdapterError, TargetError))
        if known is None or len(known.exceptions) != len(group.exceptions):
            raise
        complain(str(known.exceptions[0]))
        return UNREACHABLE
