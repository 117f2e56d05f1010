"""How a program ends whose work does not."""

import logging
import os

import pytest

from headgate.cli.exits import OK, leave_behind


def test_a_program_whose_work_has_ended_goes_on_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "_exit", pytest.fail)
    leave_behind(0)


def test_a_program_whose_work_does_not_stop_ends_at_once_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(logging, "shutdown", lambda: None)
    leave_behind(2)
    assert codes == [OK]
    assert "2 of the executions" in caplog.text
