"""The lines that an operator sees while a server runs."""

import io

import pytest

from headgate.adapter.context import Caller
from headgate.cli.requests_log import RequestsLog
from headgate.engine.events import Answered, Event, Executed, Failed, Refused
from headgate.protocol.errors import ErrorDetail

ABOUT = ("req_1", "sess_1", Caller("alice"))
EVENTS: dict[str, tuple[Event, str]] = {
    "done": (Executed(*ABOUT, "get_book", 1.25), "get_book                      ok  1.2 ms  (alice)\n"),
    "refused": (
        Refused(*ABOUT, "get_book", ErrorDetail("NOT_FOUND_RESOURCE", "Resource 'book' not found: '1'")),
        "get_book                      NOT_FOUND_RESOURCE  Resource 'book' not found: '1'  (alice)\n",
    ),
    "unreadable": (
        Refused("req_1", "sess_1", Caller(), None, ErrorDetail("VALIDATION_INVALID_TYPE", "no object")),
        "(unreadable)                  VALIDATION_INVALID_TYPE  no object\n",
    ),
    "broken": (
        Failed(*ABOUT, "get_book", ErrorDetail("INTERNAL_ERROR", "broken")),
        "get_book                      INTERNAL_ERROR  req_1  (alice)\n",
    ),
    "answered": (Answered(*ABOUT, 10, 1.0), ""),
    "tricks": (
        Refused("r", "s", Caller("al\x1bice\n"), "x\x1b[2Jy" * 20, ErrorDetail("CODE", "line\nbreak\x07")),
        "x[2Jyx[2Jyx[2Jyx[2Jyx[2Jyx[2  CODE  linebreak  (alice)\n",
    ),
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("event", "line"), EVENTS.values(), ids=EVENTS)
def test_an_event_is_a_plain_line(event: Event, line: str) -> None:
    stream = io.StringIO()
    RequestsLog(stream)(event)
    assert stream.getvalue() == line


def test_on_a_terminal_the_outcome_has_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    RequestsLog(stream)(EVENTS["done"][0])
    assert "\x1b[32mok\x1b[0m" in stream.getvalue()
