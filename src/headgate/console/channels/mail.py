"""Mail by SMTP, encrypted on the way to the mail server unless that is on this machine."""

import re
import smtplib
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread

from headgate.console.channels.interface import ChannelError, Notice
from headgate.server.addresses import is_loopback
from headgate.server.settings import SettingError

__all__ = ["Mail", "MailServer"]

_SECONDS: Final = 60.0
"""How long a mail may take to be handed over."""
_SECONDS_OF_SILENCE: Final = 15.0
_READY: Final = 220
_PORTS: Final = {"smtp": 587, "smtps": 465}
_ADDRESS: Final = re.compile(r"[^\s\x00-\x1f\x7f@<>(),;:?\"\\\[\]]+@[^\s\x00-\x1f\x7f@<>(),;:?\"\\]+")


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
        if parts is None or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
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

    def __init__(self, server: MailServer, to: str, sender: str | None = None, *, seconds: float = _SECONDS) -> None:
        if not _ADDRESS.fullmatch(to):
            raise SettingError(f"--notify mailto: needs one address, such as mailto:somebody@example.org, not '{to}'")
        if sender is not None and not _ADDRESS.fullmatch(sender):
            raise SettingError("HEADGATE_MAIL_FROM must be one address, such as headgate@example.org")
        self._server = server
        self._to = to
        self._from = sender or to
        self._seconds = seconds

    async def show(self, notice: Notice) -> None:
        """Send the code, with all that a person needs to decide."""
        sending = _Sending(self._server, self._message(notice))
        try:
            with anyio.fail_after(self._seconds):
                await anyio.to_thread.run_sync(sending.send, abandon_on_cancel=True)
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            raise ChannelError(f"the mail server {self._server.host} {_what_is_wrong(error)}") from None
        finally:
            sending.give_up()

    def _message(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = notice.subject
        message["From"] = self._from
        message["To"] = self._to
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=self._from.rpartition("@")[2])
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(notice.text)
        return message


class _Sending:
    """One mail on its way, in a thread of its own, which can only be given up from outside."""

    def __init__(self, server: MailServer, message: EmailMessage) -> None:
        self._server = server
        self._message = message
        self._safe = ssl.create_default_context()
        self._smtp = (
            smtplib.SMTP_SSL(timeout=_SECONDS_OF_SILENCE, context=self._safe)
            if server.is_encrypted
            else smtplib.SMTP(timeout=_SECONDS_OF_SILENCE)
        )
        # The name that certificates must be for; it is asked for only where one connects at once.
        self._smtp._host = server.host  # type: ignore[attr-defined]  # noqa: SLF001
        self._is_given_up = False

    def send(self) -> None:
        smtp = self._smtp
        try:
            code, _ = smtp.connect(self._server.host, self._server.port)
            if code != _READY or self._is_given_up:
                raise smtplib.SMTPConnectError(code, "")
            self._deliver(smtp)
            with suppress(OSError, smtplib.SMTPException):  # the mail is there: how they part does not matter
                smtp.quit()
        finally:
            smtp.close()

    def _deliver(self, smtp: smtplib.SMTP) -> None:
        server = self._server
        smtp.ehlo()
        if not server.is_encrypted and (smtp.has_extn("starttls") or not is_loopback(server.host)):
            smtp.starttls(context=self._safe)  # which fails where it cannot be had: nothing goes in the clear
        if server.user is not None:
            smtp.login(server.user, server.password or "")
        smtp.send_message(self._message)

    def give_up(self) -> None:
        """End the thread, if it still waits: whatever it waits for will not come."""
        self._is_given_up = True
        sock: socket.socket | None = self._smtp.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _what_is_wrong(error: Exception) -> str:
    """Words for what went wrong. What the server itself said is left out: it might repeat the mail."""
    match error:
        case TimeoutError():
            return "did not answer in time"
        case ssl.SSLCertVerificationError():
            return "has a certificate that cannot be trusted"
        case ssl.SSLError():
            return "does not speak TLS there: smtps:// is for port 465, smtp:// for STARTTLS"
        case UnicodeError():
            return "takes only plain letters and digits in the user and the password"
        case smtplib.SMTPAuthenticationError():
            return "does not accept the user and the password in HEADGATE_SMTP"
        case smtplib.SMTPRecipientsRefused():
            return "refuses the recipient"
        case smtplib.SMTPSenderRefused():
            return "refuses the sender: set HEADGATE_MAIL_FROM"
        case smtplib.SMTPNotSupportedError():
            return "lacks what is needed: STARTTLS, a way to log in, or addresses beyond ASCII"
        case smtplib.SMTPException():
            return "did not take the mail"
        case _:
            return "was not reached"
