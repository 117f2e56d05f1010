"""One line for each operation, as a person who watches a server wants to see it."""

from typing import Final, TextIO

from headgate.cli.output import is_coloured
from headgate.engine import events

__all__ = ["RequestsLog"]

_GREEN, _RED, _YELLOW, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
_WIDTH: Final = 28


class RequestsLog:
    """A listener that prints: when it ran, how long it took, or why it was refused."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._coloured = is_coloured(stream)

    def __call__(self, event: events.Event) -> None:
        """Print the events that end an operation."""
        match event:
            case events.Executed(operation=operation, duration_ms=duration):
                self._print(_GREEN, operation, "ok", f"{duration:.1f} ms", event.caller.subject)
            case events.Refused(operation=operation, error=error):
                self._print(_YELLOW, operation or "(unreadable)", error.code, error.message, event.caller.subject)
            case events.Failed(operation=operation, error=error):
                self._print(_RED, operation, error.code, event.request_id, event.caller.subject)
            case _:
                pass

    def _print(self, colour: str, operation: str, outcome: str, detail: str, subject: str | None) -> None:
        who = f"  ({_printable(subject)})" if subject else ""
        shown = f"{colour}{outcome}{_PLAIN}" if self._coloured else outcome
        self._stream.write(f"{_printable(operation)[:_WIDTH]:<{_WIDTH}}  {shown}  {_printable(detail)}{who}\n")
        self._stream.flush()


def _printable(text: str) -> str:
    """What cannot steer a terminal: names and messages may hold what a client has sent."""
    return "".join(character for character in text if character.isprintable())
