"""The channels that an operator has chosen, by words: ``desktop``, an https address, ``mailto:``."""

import os
from collections.abc import Iterable, Mapping

from headgate.console.channels.desktop import Desktop, dialog_program
from headgate.console.channels.interface import Channel
from headgate.console.channels.mail import Mail, MailServer
from headgate.console.channels.webhook import Webhook
from headgate.server.settings import SettingError

__all__ = ["channels_of"]


def channels_of(words: Iterable[str], environment: Mapping[str, str] = os.environ) -> list[Channel]:
    """The channels; a SettingError if one is unknown, or cannot work here. Secrets come from the environment alone."""
    return [_channel(word.strip(), environment) for word in words if word.strip()]


def _channel(word: str, environment: Mapping[str, str]) -> Channel:
    if word == "desktop":
        program = dialog_program(environment=environment)
        if program is None:
            raise SettingError("--notify desktop: there is no display here, or no zenity, osascript or PowerShell")
        return Desktop(program)
    if word.startswith(("http://", "https://")):
        return Webhook(word, environment.get("HEADGATE_WEBHOOK_TOKEN"))
    address = word.removeprefix("mailto:")
    if address != word and "@" in address and not any(one.isspace() or ord(one) < 32 for one in address):
        url = environment.get("HEADGATE_SMTP")
        if not url:
            raise SettingError(f"--notify {word} needs HEADGATE_SMTP, such as smtps://user:password@mail.example.org")
        return Mail(MailServer.read(url), address, environment.get("HEADGATE_MAIL_FROM"))
    raise SettingError(
        f"--notify '{word}' is no channel: say desktop, an https address, or mailto:somebody@example.org"
    )
