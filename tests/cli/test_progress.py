"""The bar for what takes long."""

import io
import sys

import pytest

from headgate.cli.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_after(seconds: float, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a bar has written when work has taken so long."""
    monkeypatch.setenv("TERM", "xterm-256color")
    now = [100.0]
    streams = (sys.stdout, sys.stderr)
    bar = Bar("verifying", stream, lambda: now[0])
    bar(0, 10)
    now[0] += seconds
    bar(3, 10)
    assert (sys.stdout, sys.stderr) == streams  # what is printed goes where it should, bar or not
    bar(10, 10)
    bar.close()
    return stream.getvalue()


def test_on_a_terminal_it_appears_after_a_second_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown_after(1.0, Terminal(), monkeypatch)
    assert "verifying" in text
    assert "100%" in text
    assert text.endswith("\x1b[2K")


def test_where_nobody_knows_how_much_there_is_it_tells_only_what_it_is_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    now = [100.0]
    stream = Terminal()
    bar = Bar("counting", stream, lambda: now[0])
    now[0] += 1
    bar(3, None, "[bold]apples[/]")
    bar.close()
    text = stream.getvalue()
    assert "counting" in text
    assert "[bold]apples[/]" in text
    assert "%" not in text


def test_what_is_quick_needs_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_after(0.9, Terminal(), monkeypatch) == ""


def test_in_a_pipe_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_after(5.0, io.StringIO(), monkeypatch) == ""
