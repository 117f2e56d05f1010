"""A question at a terminal, and a person who presses Ctrl-C."""

import os
import pty
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.cli.questions import agrees
from tests.server.processes import PATIENCE


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """The keys of the terminal that the question is asked on."""
    ours, theirs = pty.openpty()

    def press(text: str) -> None:
        os.write(ours, text.encode())

    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield press
    os.close(ours)


@pytest.mark.parametrize(
    ("typed", "agreed"),
    [("y\n", True), ("YES \n", True), ("n\n", False), ("\n", False), ("yes please\n", False), ("\x04", False)],
)
def test_only_a_yes_is_a_yes(keys: Callable[[str], None], typed: str, agreed: bool) -> None:
    keys(typed)
    assert agrees("Go on?") is agreed


def test_an_interruption_that_reaches_another_thread_ends_the_question_all_the_same(
    keys: Callable[[str], None],
) -> None:
    asking, answered, goes_on = threading.get_native_id(), threading.Event(), threading.Event()

    def interrupt() -> None:
        end = time.monotonic() + 5  # where the kernel does not tell, the person is slow
        while not is_waiting_for_input(asking) and time.monotonic() < end:
            pass
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        if not answered.wait(PATIENCE):
            goes_on.set()
            keys("y\n")  # so that the test ends

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        assert agrees("Go on?") is False
    finally:
        answered.set()
        interrupting.join()
    assert not goes_on.is_set()


def is_waiting_for_input(thread: int) -> bool:
    """Whether the thread is asleep in a call that reads or looks for input, as the kernel tells it."""
    waiting_in = Path(f"/proc/self/task/{thread}/wchan").read_text()
    return any(word in waiting_in for word in ("tty", "woken", "poll", "select"))


def test_what_an_interruption_does_elsewhere_is_as_before(keys: Callable[[str], None]) -> None:
    handler, waking = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(waking)
    keys("y\n")
    agrees("Go on?")
    assert signal.getsignal(signal.SIGINT) is handler
    assert signal.set_wakeup_fd(waking) == waking
