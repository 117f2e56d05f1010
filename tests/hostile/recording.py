"""Records everything that leaves a server: bytes on the wire, log lines, spans; and looks for codes in it."""

import io
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry import trace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Fragments", "LogLines", "Spans", "WireTap", "files_in"]

_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_RUNS = re.compile(rb"[0-9A-Za-z \-_]{10,}")
_OF_CLIENTS = ("mcp.client", "httpx2", "httpcore2")
_SIGNIFICANT = 10
"""So many letters of a code in a row are no accident: there are 30 to the power of 10."""


class WireTap:
    """An ASGI application that passes everything on and keeps what is answered: status, headers and bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.heard = io.BytesIO()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def tapped(message: Message) -> None:
            self.heard.write(str(message.get("status", "")).encode())
            for name, value in message.get("headers", ()):
                self.heard.write(name + b": " + value + b"\n")
            self.heard.write(message.get("body", b"") + b"\n")
            await send(message)

        await self._app(scope, receive, tapped)


class LogLines(logging.Handler):
    """Every line of every logger of a server at every level, with its arguments and its trace.

    The clients run in the same process; what they log of their own requests is no server's.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self.heard = io.StringIO()
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(_OF_CLIENTS):
            return
        extra = {key: value for key, value in vars(record).items() if key != "msg"}
        self.heard.write(f"{self.format(record)} {extra!r}\n")

    @contextmanager
    def listening(self) -> Iterator[None]:
        loggers = [logging.getLogger(), *map(logging.getLogger, logging.root.manager.loggerDict)]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(1)
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


class _Span(trace.NonRecordingSpan):
    def __init__(self, heard: io.StringIO) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self._heard = heard

    def is_recording(self) -> bool:
        return True

    def set_attribute(self, key: str, value: object) -> None:
        self._heard.write(f"{key}={value!r}\n")

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        self._heard.write(f"{dict(attributes)!r}\n")

    def add_event(self, name: str, attributes: object = None, timestamp: int | None = None) -> None:
        self._heard.write(f"{name} {attributes!r} {timestamp}\n")

    def record_exception(self, exception: BaseException, *args: object, **more: object) -> None:
        self._heard.write(f"{exception!r} {args!r} {more!r}\n")

    def set_status(self, status: object, description: str | None = None) -> None:
        self._heard.write(f"{status!r} {description}\n")

    def update_name(self, name: str) -> None:
        self._heard.write(f"{name}\n")


class Spans(trace.Tracer):
    """A tracer whose spans are all written down."""

    def __init__(self) -> None:
        self.heard = io.StringIO()

    def start_span(self, name: str, *args: object, **more: Any) -> trace.Span:
        self.heard.write(f"{name} {more.get('attributes')!r}\n")
        return _Span(self.heard)

    @contextmanager
    def start_as_current_span(self, name: str, *args: object, **more: Any) -> Iterator[trace.Span]:  # type: ignore[override]
        span = self.start_span(name, *args, **more)
        with trace.use_span(span, end_on_exit=False):
            yield span


class Fragments:
    """Finds any piece of any code, in whatever case and grouping it stands."""

    def __init__(self, codes: Iterable[str]) -> None:
        plain = ["".join(one for one in code if one in _LETTERS) for code in codes]
        self._pieces = {
            code[start : start + _SIGNIFICANT] for code in plain for start in range(len(code) - _SIGNIFICANT + 1)
        }

    def found_in(self, data: bytes) -> set[str]:
        found: set[str] = set()
        for run in _RUNS.finditer(data):
            text = re.sub(rb"[ \-_]", b"", run[0]).decode().upper()
            windows = (text[start : start + _SIGNIFICANT] for start in range(len(text) - _SIGNIFICANT + 1))
            found |= self._pieces.intersection(windows)
        return found


def files_in(folder: Path) -> bytes:
    """The bytes of every file in a folder, and their names."""
    return b"\n".join(
        str(path).encode() + b"\n" + path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    )
