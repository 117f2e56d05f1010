"""How memory is kept: a choice that is made where the C library knows it, and nowhere else."""

import platform
import sys

import pytest

from headgate.server.memory import keep_together


def test_glibc_is_told_to_keep_memory_together() -> None:
    assert keep_together() is (platform.libc_ver()[0] == "glibc")


def test_elsewhere_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_together()


def test_a_c_library_that_does_not_know_it_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    assert not keep_together()
