"""Channels are chosen by words, and their secrets come from the environment alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.console.channels.choosing import channels_of
from headgate.server.settings import SettingError

POST = {"HEADGATE_SMTP": "smtps://ana:s3cret@mail.example.org"}


@pytest.fixture
def screen(tmp_path: Path) -> dict[str, str]:
    """The environment of a desktop with a program for dialogs."""
    (tmp_path / "zenity").touch(0o755)
    return {"DISPLAY": ":0", "PATH": str(tmp_path)}


@pytest.fixture(autouse=True)
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which programs there are for dialogs elsewhere is tested with those."""
    from headgate.console.channels import choosing
    from headgate.console.channels.desktop import dialog_here

    here: Callable[..., object] = lambda environment: dialog_here("linux", environment)  # noqa: E731
    monkeypatch.setattr(choosing, "dialog_here", here)


def test_each_word_is_a_channel_in_that_order(screen: dict[str, str]) -> None:
    words = ("desktop", "https://example.org/hook", "mailto:ana@example.org", "http://127.0.0.1:9/hook")
    chosen = channels_of(words, {**screen, **POST})
    assert [channel.name for channel in chosen] == ["desktop", "webhook", "mail", "webhook"]


def test_what_is_said_twice_counts_once_and_empty_words_are_none() -> None:
    chosen = channels_of(("", " ", "https://example.org/hook", " https://example.org/hook "), {})
    assert [channel.name for channel in chosen] == ["webhook"]


def test_none_is_none() -> None:
    assert channels_of(()) == []


def test_the_environment_of_the_process_is_looked_at_when_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_SMTP", "smtp://localhost")
    assert [channel.name for channel in channels_of(["mailto:ana@example.org"])] == ["mail"]


NEITHER = "there is no display here, or no zenity, osascript or PowerShell"
CHANNELS = "say desktop, an https address, or mailto:somebody@example.org"
MISTAKES: dict[str, tuple[str, dict[str, str], str]] = {
    "no display": ("desktop", {}, f"--notify desktop: {NEITHER}"),
    "unknown": ("pigeon", {}, f"--notify 'pigeon' is no channel: {CHANNELS}"),
    "another case": ("Desktop", {}, f"--notify 'Desktop' is no channel: {CHANNELS}"),
    "an address alone": ("ana@example.org", POST, f"--notify 'ana@example.org' is no channel: {CHANNELS}"),
    "another scheme": ("ftp://example.org", {}, f"--notify 'ftp://example.org' is no channel: {CHANNELS}"),
    "unsafe": (
        "http://example.org/s3cret",
        {},
        "--notify 'http://example.org/…' must be a whole https URL: others could read the code",
    ),
    "no mail server": (
        "mailto:ana@example.org",
        {},
        "--notify mailto:ana@example.org needs HEADGATE_SMTP, such as smtps://user:password@mail.example.org",
    ),
    "an empty mail server": (
        "mailto:ana@example.org",
        {"HEADGATE_SMTP": ""},
        "--notify mailto:ana@example.org needs HEADGATE_SMTP, such as smtps://user:password@mail.example.org",
    ),
    "a wrong mail server": (
        "mailto:ana@example.org",
        {"HEADGATE_SMTP": "mail.example.org:s3cret"},
        "HEADGATE_SMTP must be a URL such as smtps://user:password@mail.example.org",
    ),
    "no address": (
        "mailto:ana",
        POST,
        "--notify mailto: needs one address, such as mailto:somebody@example.org, not 'ana'",
    ),
    "a wrong sender": (
        "mailto:ana@example.org",
        {**POST, "HEADGATE_MAIL_FROM": "headgate"},
        "HEADGATE_MAIL_FROM must be one address, such as headgate@example.org",
    ),
    "a wrong token": (
        "https://example.org/x",
        {"HEADGATE_WEBHOOK_TOKEN": "s3cret\n"},
        "HEADGATE_WEBHOOK_TOKEN must be plain letters, digits and signs on one line",
    ),
}


@pytest.mark.parametrize(("word", "variables", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_what_to_do_and_without_secrets(
    word: str, variables: dict[str, str], words: str
) -> None:
    with pytest.raises(SettingError) as refused:
        channels_of([word], variables)
    assert str(refused.value) == words
    assert "s3cret" not in words


def test_empty_variables_are_as_good_as_none() -> None:
    empty = {"HEADGATE_WEBHOOK_TOKEN": "", "HEADGATE_MAIL_FROM": ""}
    assert len(channels_of(["https://example.org/x", "mailto:ana@example.org"], {**POST, **empty})) == 2
