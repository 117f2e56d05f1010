"""A real mail server on this machine, with what operators configure: TLS, logins, and refusals."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

__all__ = ["Mailbox", "mailbox"]


@dataclass
class Mailbox:
    """What a mail server has taken, and what it refuses."""

    port: int = 0
    refuses: str = ""
    """What it does not take: a sender, a recipient or a mail."""
    come: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a mail has come."""
    envelopes: list[Envelope] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)
    users: list[str] = field(default_factory=list)

    def mail(self) -> EmailMessage:
        """The one mail that has come."""
        [envelope] = self.envelopes
        assert isinstance(envelope.original_content, bytes)
        message = message_from_bytes(envelope.original_content, policy=default)
        assert isinstance(message, EmailMessage)
        return message

    def text(self) -> str:
        """What is in that mail, in the lines that were written."""
        content = self.mail().get_content()
        assert isinstance(content, str)
        return content.replace("\r\n", "\n")

    # what the server asks

    async def handle_MAIL(  # noqa: N802  (as aiosmtpd names it)
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses == "sender":
            return "550 not you"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses == "recipient":
            return "550 not them"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.refuses == "mail":
            return f"554 I do not like this: {envelope.original_content!r}"
        self.envelopes.append(envelope)
        self.come.set()
        assert server.transport is not None
        self.was_encrypted.append(session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None)
        return "250 OK"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: Any
    ) -> AuthResult:
        assert isinstance(given, LoginPassword)
        self.users.append(given.login.decode())
        return AuthResult(success=given == LoginPassword(b"ana@example.org", b"p@ss/word:1"), handled=False)


@asynccontextmanager
async def mailbox(
    *, starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None, refuses: str = ""
) -> AsyncIterator[Mailbox]:
    """A mail server on a free port, in plain text unless told otherwise."""
    box = Mailbox(refuses=refuses)
    servers: list[SMTP] = []

    def made() -> SMTP:
        servers.append(
            SMTP(
                box,
                hostname="mail.test",
                enable_SMTPUTF8=False,
                tls_context=starttls,
                require_starttls=starttls is not None,
                auth_require_tls=starttls is not None,
                authenticator=box.authenticate,
                loop=asyncio.get_running_loop(),
            )
        )
        return servers[-1]

    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0, ssl=tls)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()
        for one in servers:
            if isinstance(one.transport, asyncio.WriteTransport):
                one.transport.abort()
