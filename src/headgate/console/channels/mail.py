"""Mail by SMTP, encrypted on the way to the mail server unless that is on this machine."""

import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Final
from urllib.parse import unquote, urlsplit

import anyio.to_thread

from headgate.console.channels.interface import ChannelError, subject_of, text_of
from headgate.safety.loop.challenges import Challenge
from headgate.server.addresses import is_loopback
from headgate.server.settings import SettingError

__all__ = ["Mail", "MailServer"]

_SECONDS: Final = 15.0
_PORTS: Final = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed over: ``smtp://user:password@mail.example.org`` (STARTTLS) or ``smtps://…``."""

    host: str
    port: int
    is_encrypted: bool
    """From the beginning; otherwise STARTTLS is asked for."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, url: str) -> "MailServer":
        """The server that a URL names; a SettingError, without the password, if it names none."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
        except (ValueError, KeyError):
            parts, port = None, 0
        if parts is None or not parts.hostname:
            raise SettingError("HEADGATE_SMTP must be a URL such as smtps://user:password@mail.example.org")
        return cls(
            parts.hostname,
            port,
            parts.scheme == "smtps",
            unquote(parts.username) if parts.username else None,
            unquote(parts.password) if parts.password else None,
        )


class Mail:
    """Sends codes to one address."""

    name = "mail"

    def __init__(self, server: MailServer, to: str, sender: str | None = None) -> None:
        self._server = server
        self._to = to
        self._from = sender or to

    async def show(self, challenge: Challenge, code: str) -> None:
        """Send the code, with all that a person needs to decide."""
        message = EmailMessage()
        message["Subject"] = " ".join(subject_of(challenge).split())
        message["From"] = self._from
        message["To"] = self._to
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text_of(challenge, code))
        try:
            await anyio.to_thread.run_sync(self._send, message, abandon_on_cancel=True)
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelError(f"the mail server {self._server.host} did not take it: {type(error).__name__}") from None

    def _send(self, message: EmailMessage) -> None:
        server = self._server
        safe = ssl.create_default_context()
        if server.is_encrypted:
            with smtplib.SMTP_SSL(server.host, server.port, timeout=_SECONDS, context=safe) as smtp:
                self._deliver(smtp, message)
            return
        with smtplib.SMTP(server.host, server.port, timeout=_SECONDS) as smtp:
            smtp.ehlo()
            if smtp.has_extn("starttls") or not is_loopback(server.host):
                smtp.starttls(context=safe)  # which fails where it cannot be had: nothing goes in the clear
            self._deliver(smtp, message)

    def _deliver(self, smtp: smtplib.SMTP, message: EmailMessage) -> None:
        if self._server.user is not None:
            smtp.login(self._server.user, self._server.password or "")
        smtp.send_message(message)
