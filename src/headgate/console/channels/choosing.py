"""The channels that an operator has chosen, by words: ``desktop``, an https address, ``mailto:``."""

import os
from collections.abc import Iterable, Mapping

from headgate.console.channels.desktop import Desktop, dialog_here
from headgate.console.channels.interface import Channel
from headgate.console.channels.mail import Mail, MailServer
from headgate.console.channels.webhook import Webhook
from headgate.server.settings import SettingError

__all__ = ["channels_of"]


def channels_of(words: Iterable[str], environment: Mapping[str, str] | None = None) -> list[Channel]:
    """The channels; a SettingError if one is unknown, or cannot work here. Secrets come from the environment alone."""
    here = os.environ if environment is None else environment
    chosen = dict.fromkeys(word.strip() for word in words)
    return [_channel(word, here) for word in chosen if word]


def _channel(word: str, environment: Mapping[str, str]) -> Channel:
    if word == "desktop":
        dialog = dialog_here(environment=environment)
        if dialog is None:
            raise SettingError("--notify desktop: there is no display here, or no zenity, osascript or PowerShell")
        return Desktop(dialog)
    if word.startswith(("http://", "https://")):
        return Webhook(word, environment.get("HEADGATE_WEBHOOK_TOKEN") or None)
    if word.startswith("mailto:"):
        url = environment.get("HEADGATE_SMTP")
        if not url:
            raise SettingError(f"--notify {word} needs HEADGATE_SMTP, such as smtps://user:password@mail.example.org")
        address = word.removeprefix("mailto:")
        return Mail(MailServer.read(url), address, environment.get("HEADGATE_MAIL_FROM") or None)
    raise SettingError(
        f"--notify '{word}' is no channel: say desktop, an https address, or mailto:somebody@example.org"
    )
