"""The key of cursors: made once for all processes of a user, and kept from everybody else."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.query.keys import cursor_key

PRINT_KEY = "from headgate.query.keys import cursor_key; print(cursor_key().hex())"


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing of other tests, nor of the person who runs them."""
    monkeypatch.delenv("HEADGATE_CURSOR_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cursor_key.cache_clear()
    yield
    cursor_key.cache_clear()


def asked_again() -> bytes:
    """The key as another process of the same user finds it."""
    cursor_key.cache_clear()
    return cursor_key()


def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "headgate" / "cursor.key"


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    key = cursor_key()
    assert len(key) == 32
    assert file(tmp_path).read_bytes() == key
    assert asked_again() == key


def test_nobody_else_can_read_it_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    cursor_key()
    assert file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert file(tmp_path).parent.stat().st_mode & 0o077 == 0
    assert list(file(tmp_path).parent.iterdir()) == [file(tmp_path)]


def test_processes_that_start_together_agree_on_one_key() -> None:
    started = [subprocess.Popen([sys.executable, "-c", PRINT_KEY], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    keys = {process.communicate()[0].strip() for process in started}
    assert keys == {cursor_key().hex()}


def test_a_key_that_another_process_made_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = b"the other process was here first"
    file(tmp_path).parent.mkdir(parents=True)
    file(tmp_path).write_bytes(other)
    monkeypatch.setattr(Path, "exists", lambda _path: False)
    assert cursor_key() == other
    assert list(file(tmp_path).parent.iterdir()) == [file(tmp_path)]


def test_where_nothing_can_be_kept_each_process_has_a_key_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    key = cursor_key()
    assert len(key) == 32
    assert cursor_key() == key, "the same as long as the process lives"
    assert asked_again() != key


def test_a_file_that_is_cut_short_is_not_trusted(tmp_path: Path) -> None:
    file(tmp_path).parent.mkdir(parents=True)
    file(tmp_path).write_bytes(b"short")
    assert len(cursor_key()) == 32
    assert file(tmp_path).read_bytes() == b"short"


def test_a_key_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_CURSOR_KEY", "a key for several machines")
    assert cursor_key() == b"a key for several machines"
    assert not file(tmp_path).exists()


def test_without_a_state_directory_the_home_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    key = cursor_key()
    assert (tmp_path / ".local" / "state" / "headgate" / "cursor.key").read_bytes() == key


def test_on_windows_it_is_kept_among_the_local_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    key = cursor_key()
    assert (tmp_path / "headgate" / "cursor.key").read_bytes() == key
