"""Mail, taken by a real mail server on this machine, or by one that is hostile."""

import asyncio
from typing import Any

import pytest

from headgate.console.channels.interface import ChannelError
from headgate.console.channels.mail import Mail, MailServer
from headgate.server.settings import SettingError
from tests.channels.certificates import Certificates
from tests.channels.mailboxes import mailbox
from tests.channels.notices import CODE, HOSTILE, SPELT, notice
from tests.channels.receivers import Behaviour, Receiver, connections

pytestmark = pytest.mark.anyio

TO = "ana@example.org"
LOGIN = "ana%40example.org:p%40ss%2Fword:1"


def mail(url: str, *, sender: str | None = None, seconds: float = 30.0) -> Mail:
    return Mail(MailServer.read(url), TO, sender, seconds=seconds)


async def failure(channel: Mail, **about: Any) -> str:
    with pytest.raises(ChannelError) as failed:
        await channel.show(notice(**about))
    words = str(failed.value)
    assert CODE not in words
    assert "p@ss" not in words
    return words.removeprefix("the mail server 127.0.0.1 ")


# what is sent


async def test_the_operator_gets_all_that_is_needed_to_decide() -> None:
    about = notice()
    async with mailbox() as box:
        await mail(f"smtp://127.0.0.1:{box.port}", sender="headgate@example.org").show(about)
    [envelope] = box.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == ("headgate@example.org", [TO])
    assert box.mail()["subject"] == "headgate: agent 'bot' is blocked"
    assert (box.mail()["from"], box.mail()["to"]) == ("headgate@example.org", TO)
    assert box.mail()["auto-submitted"] == "auto-generated"
    assert box.mail()["date"].datetime is not None
    assert box.mail()["message-id"].endswith("@example.org>")
    assert box.text() == about.text
    assert box.users == []


async def test_without_a_sender_it_is_the_operators_own() -> None:
    async with mailbox() as box:
        await mail(f"smtp://127.0.0.1:{box.port}").show(notice())
    assert (box.envelopes[0].mail_from, box.mail()["from"]) == (TO, TO)


@pytest.mark.parametrize(
    "text",
    ["Zoë räumt auf", "日本語のエージェント", "ي" * 200, "🐙" * 50],
    ids=["accents", "another script", "right to left", "pictures"],
)
async def test_any_letters_arrive(text: str) -> None:
    about = notice(name=text, hint=text)
    async with mailbox() as box:
        await mail(f"smtp://127.0.0.1:{box.port}").show(about)
    assert box.mail()["subject"] == about.subject
    assert box.text() == about.text


async def test_no_agent_adds_a_header_or_a_recipient() -> None:
    async with mailbox() as box:
        await mail(f"smtp://127.0.0.1:{box.port}").show(notice(name=HOSTILE, hint=HOSTILE, reason=HOSTILE))
    assert box.envelopes[0].rcpt_tos == [TO]
    assert sorted(name.lower() for name in box.mail().keys()) == [  # noqa: SIM118  (which has all names, repeated ones too)
        *("auto-submitted", "content-transfer-encoding", "content-type", "date"),
        *("from", "message-id", "mime-version", "subject", "to"),
    ]
    assert box.mail()["subject"] == f"headgate: agent '{SPELT}' is blocked"
    assert box.mail().get_content_type() == "text/plain"


async def test_a_line_with_a_dot_alone_does_not_end_the_mail() -> None:
    about = notice(hint=".", factors=(".", "..", ".\r\n."), reason="\n.\n")
    async with mailbox() as box:
        await mail(f"smtp://127.0.0.1:{box.port}").show(about)
    assert box.text() == about.text


# encryption and logins


async def test_starttls_is_used_where_it_is_offered(trusted: Certificates) -> None:
    async with mailbox(starttls=trusted.context()) as box:
        await mail(f"smtp://{LOGIN}@127.0.0.1:{box.port}").show(notice())
    assert (box.was_encrypted, box.users) == ([True], [TO])


async def test_tls_from_the_beginning(trusted: Certificates) -> None:
    async with mailbox(tls=trusted.context()) as box:
        await mail(f"smtps://{LOGIN}@127.0.0.1:{box.port}").show(notice())
    assert (box.was_encrypted, box.users) == ([True], [TO])


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_a_certificate_that_nobody_trusts_gets_nothing(tls: Certificates, scheme: str) -> None:
    starttls, tls_at_once = (tls.context(), None) if scheme == "smtp" else (None, tls.context())
    async with mailbox(starttls=starttls, tls=tls_at_once) as box:
        words = await failure(mail(f"{scheme}://{LOGIN}@127.0.0.1:{box.port}"))
    assert words == "has a certificate that cannot be trusted"
    assert (box.envelopes, box.users) == ([], [])


async def test_beyond_this_machine_nothing_goes_in_the_clear() -> None:
    """0.0.0.0 leads to this machine too, but is not known to."""
    async with mailbox() as box:
        words = await failure(mail(f"smtp://{LOGIN}@0.0.0.0:{box.port}"))
    assert words.endswith("0.0.0.0 lacks what is needed: STARTTLS, a way to log in, or addresses beyond ASCII")
    assert (box.envelopes, box.users) == ([], [])


async def test_a_server_that_speaks_no_tls_is_told_of() -> None:
    async with mailbox() as box:
        words = await failure(mail(f"smtps://127.0.0.1:{box.port}"))
    assert words == "does not speak TLS there: smtps:// is for port 465, smtp:// for STARTTLS"
    assert box.envelopes == []


async def test_a_wrong_password_is_told_of(trusted: Certificates) -> None:
    async with mailbox(tls=trusted.context()) as box:
        words = await failure(mail(f"smtps://ana%40example.org:p%40ssword@127.0.0.1:{box.port}"))
    assert words == "does not accept the user and the password in HEADGATE_SMTP"


async def test_a_password_that_cannot_be_sent_is_told_of(trusted: Certificates) -> None:
    async with mailbox(tls=trusted.context()) as box:
        words = await failure(mail(f"smtps://ana:k%C3%A4se@127.0.0.1:{box.port}"))
    assert words == "takes only plain letters and digits in the user and the password"


# what servers refuse


@pytest.mark.parametrize(
    ("refuses", "words"),
    [
        ("sender", "refuses the sender: set HEADGATE_MAIL_FROM"),
        ("recipient", "refuses the recipient"),
        ("mail", "did not take the mail"),
    ],
)
async def test_what_the_server_refuses_is_told_in_our_words(refuses: str, words: str) -> None:
    async with mailbox(refuses=refuses) as box:
        assert await failure(mail(f"smtp://127.0.0.1:{box.port}")) == words
    assert box.envelopes == []


async def test_an_address_that_the_server_cannot_write_is_told_of() -> None:
    async with mailbox() as box:
        channel = Mail(MailServer.read(f"smtp://127.0.0.1:{box.port}"), "zoë@example.org")
        words = await failure(channel)
    assert words == "lacks what is needed: STARTTLS, a way to log in, or addresses beyond ASCII"


# hostile servers


async def _silent(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(65536):
        pass


async def _drips(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not reader.at_eof():
        writer.write(b"220-wait\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("behave", [_silent, _drips], ids=["says nothing", "never ends its greeting"])
async def test_one_that_does_not_come_to_an_end_is_left(behave: Behaviour) -> None:
    async with connections(behave) as receiver:
        assert await failure(mail(f"smtp://127.0.0.1:{receiver.port}", seconds=0.3)) == "did not answer in time"
        await asyncio.wait_for(receiver.left.wait(), 30)  # no thread of ours goes on with it


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (b"554 go away\r\n", "did not take the mail"),
        (b"", "did not take the mail"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "did not take the mail"),
        (b"2" * 100_000, "did not take the mail"),
    ],
    ids=["refuses", "hangs up", "is no mail server", "has an endless line"],
)
async def test_one_that_will_not_talk_is_told_of(greeting: bytes, words: str) -> None:
    async def behave(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await writer.drain()

    async with connections(behave) as receiver:
        assert await failure(mail(f"smtp://127.0.0.1:{receiver.port}")) == words


async def test_one_that_hangs_up_after_it_has_taken_the_mail_has_taken_it() -> None:
    async def behave(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        for answer in (b"250 hello\r\n", b"250 OK\r\n", b"250 OK\r\n", b"354 go on\r\n"):
            await reader.readline()
            writer.write(answer)
        await reader.readuntil(b"\r\n.\r\n")
        writer.write(b"250 taken\r\n")
        await writer.drain()

    async with connections(behave) as receiver:
        await mail(f"smtp://127.0.0.1:{receiver.port}").show(notice())


async def test_one_that_is_not_there_is_told_of() -> None:
    async with mailbox() as box:
        pass
    assert await failure(mail(f"smtp://127.0.0.1:{box.port}")) == "was not reached"


# which servers and addresses are taken

SERVERS = {
    "smtp://mail.example.org": MailServer("mail.example.org", 587, False),
    "smtps://mail.example.org": MailServer("mail.example.org", 465, True),
    "smtps://mail.example.org/": MailServer("mail.example.org", 465, True),
    "smtp://localhost:25": MailServer("localhost", 25, False),
    "smtps://[::1]:2465": MailServer("::1", 2465, True),
    f"smtps://{LOGIN}@mail.example.org": MailServer("mail.example.org", 465, True, TO, "p@ss/word:1"),
    "smtps://ana@mail.example.org": MailServer("mail.example.org", 465, True, "ana"),
}


@pytest.mark.parametrize(("url", "server"), SERVERS.items())
def test_a_url_names_a_mail_server(url: str, server: MailServer) -> None:
    assert MailServer.read(url) == server


@pytest.mark.parametrize(
    "url",
    [
        *("mail.example.org", "smtp:mail.example.org", "smtp://", "smtps://user:s3cret@", "http://mail.example.org"),
        *("smtp://mail.example.org:99999", "smtp://mail.example.org:port", "smtp://[::1", "smtp://u:s3cret/x@mail.org"),
        *("smtp://mail.example.org?s3cret", "smtp://mail.example.org/#s3cret"),
    ],
)
def test_other_urls_name_none_and_are_not_repeated(url: str) -> None:
    with pytest.raises(SettingError) as refused:
        MailServer.read(url)
    assert str(refused.value) == "HEADGATE_SMTP must be a URL such as smtps://user:password@mail.example.org"


def test_a_password_is_not_in_what_is_printed_for_developers() -> None:
    assert "p@ss" not in repr(MailServer.read(f"smtps://{LOGIN}@mail.example.org"))


@pytest.mark.parametrize(
    "address",
    [
        *("", "ana", "@", "ana@", "@example.org", "ana@example.org,bo@example.org", "ana@example.org\nBcc: bo@x.org"),
        *("Ana <ana@example.org>", "ana@example.org?subject=x", "a b@example.org", "ana@b@c", "ana@exam\x00ple.org"),
    ],
)
def test_one_plain_address_is_needed(address: str) -> None:
    server = MailServer.read("smtp://localhost")
    with pytest.raises(SettingError, match="needs one address, such as mailto:somebody@example"):
        Mail(server, address)
    with pytest.raises(SettingError, match="HEADGATE_MAIL_FROM must be one address"):
        Mail(server, TO, address)
