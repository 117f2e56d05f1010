"""``headgate console``: the console over a state, and links that sign somebody in to it."""

import re
import shlex
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.console.signing_in import sign_in
from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.cli.starting import console_of, free_port, seen_in_console, started
from tests.cli.states import add, in_store, rows_of
from tests.cli.supervision import blocked
from tests.server.processes import Serving

LINK = re.compile(r"https?://[^/\s]+/sign-in/[A-Za-z0-9_-]{40,}")


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "state.db"
    add(str(path), [])
    return str(path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with a blocked agent in it."""
    path = tmp_path_factory.mktemp("console") / "the state.db"
    add(str(path), [])
    blocked(str(path))
    return str(path)


@pytest.fixture(scope="module")
def running(kept: str) -> Iterator[Serving]:
    """A console by itself, for all tests of this module."""
    with started("console", "--listen", "127.0.0.1:0", "--state", kept) as serving:
        yield serving


def secret_of(link: str) -> str:
    assert LINK.fullmatch(link), link
    return link.rpartition("/")[2]


# links


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        ((), "http://127.0.0.1:8787"),
        (("--listen", "127.0.0.1:9000"), "http://127.0.0.1:9000"),
        (("--listen", ":9000"), "http://127.0.0.1:9000"),
        (("--listen", "[::1]:9000"), "http://[::1]:9000"),
        (("--url", "https://console.example.org"), "https://console.example.org"),
        (("--url", "https://console.example.org/"), "https://console.example.org"),
        (("--listen", "0.0.0.0:80", "--url", "https://console.example.org:8443"), "https://console.example.org:8443"),
        (("--listen", "127.0.0.1:0", "--url", "http://localhost:3000"), "http://localhost:3000"),
    ],
)
def test_a_link_leads_to_the_console_that_is_meant(
    shell: Shell, state: str, words: tuple[str, ...], origin: str
) -> None:
    done = shell("console", "--link", *words, "--by", "ana", "--state", state)
    assert (done.code, done.out.count("\n")) == (0, 1)
    link = done.out.strip()
    assert link.startswith(f"{origin}/sign-in/")
    assert done.err == "headgate: the link signs in whoever has it: keep it from agents\n"
    assert in_store(state, lambda store: sign_in(store, secret_of(link), time.time))
    assert not in_store(state, lambda store: sign_in(store, secret_of(link), time.time))
    entry = rows_of(state)[-1].entry
    assert (entry.event, entry.caller) == ("signed in", "ana")


def test_on_a_terminal_the_link_stands_alone(shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    done = shell("console", "--link", "--state", state)
    assert (done.code, done.err) == (0, "")
    assert LINK.fullmatch(done.out.strip())


MISTAKES = {
    "an address": (("--listen", "localhost"), "--listen: 'localhost' is not HOST:PORT, such as 127.0.0.1:8765"),
    "no port": (("--listen", "127.0.0.1:0"), "--listen must name the port of the console that the link is for"),
    "beyond this machine": (
        ("--listen", "0.0.0.0:80"),
        "A console on 0.0.0.0:80 needs --url, the https URL under which browsers reach it",
    ),
    "a URL": (("--url", "console.example.org"), "--url 'console.example.org' must be a URL such as https://"),
    "an open URL": (("--listen", "0.0.0.0:80", "--url", "http://example.org"), "--url 'http://example.org' must be"),
    "a path": (("--url", "https://example.org/console"), "must be a URL such as https://console.example.org"),
}


@pytest.mark.parametrize(("words", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_the_words_of_this_command(
    shell: Shell, state: str, words: tuple[str, ...], told: str
) -> None:
    done = shell("console", "--link", *words, "--state", state)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1
    assert "--console" not in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--oauth-issuer", "https://id.example.org"), "--oauth-issuer needs --oauth-client: the id of the console"),
        (("--oauth-client", "x"), "--oauth-client and --allow need --oauth-issuer"),
        (("--allow", "*@example.org"), "--oauth-client and --allow need --oauth-issuer"),
        (
            ("--oauth-issuer", "https://id.example.org", "--oauth-client", "x"),
            "--allow must name who may sign in, such as *@example.org",
        ),
        (("--oauth-isuer", "x"), "Unknown option"),
        (("extra",), "There is nothing that takes 'extra'"),
    ],
)
def test_half_a_provider_is_refused(shell: Shell, state: str, words: tuple[str, ...], told: str) -> None:
    done = shell("console", *words, "--state", state)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.parametrize("words", [(), ("--link",)])
def test_without_a_state_there_is_nothing_to_see(shell: Shell, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = shell("console", *words, "--state", str(tmp_path / "none.db"))
    assert (done.code, done.out) == (3, "")
    assert "no server has kept anything there; name another with --state" in done.err
    memory = shell("console", *words, "--state", "memory:")
    assert (memory.code, memory.out) == (2, "")


def test_a_port_that_is_taken_is_told_of(shell: Shell, state: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        done = shell("console", "--listen", where, "--state", state)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"headgate: --listen: Cannot listen on {where}: Address already in use; "
        "choose another HOST:PORT, or end what listens there\n"
    )


# a console by itself


def test_where_nobody_sits_the_command_for_a_link_is_told_and_works(shell: Shell, running: Serving, kept: str) -> None:
    url, command = console_of(running)
    words = shlex.split(command)
    assert words == ["headgate", "console", "--link", "--listen", url.removeprefix("http://"), "--state", kept]
    link = shell(*words[1:]).out.strip()
    assert link.startswith(f"{url}/sign-in/")
    assert secret_of(link) not in "\n".join(running.log.seen)
    assert "blocked" in seen_in_console(link, "/agents")


def test_on_a_terminal_the_link_is_printed_and_ctrl_c_ends_it(state: str) -> None:
    where = f"127.0.0.1:{free_port()}"
    with dialogue("console", "--listen", where, "--by", "ana", "--state", state, columns=200) as terminal:
        terminal.wait_for("\n", 2)
        terminal.interrupt()
        assert terminal.ended() == 0
    assert "console; this link signs you in, once and within ten minutes:\n" in terminal.text
    assert "Traceback" not in terminal.text
    [link] = LINK.findall(terminal.text)
    assert link.startswith(f"http://{where}/sign-in/")
    in_store(state, lambda store: sign_in(store, secret_of(link), time.time))
    assert rows_of(state)[-1].entry.caller == "ana"


def test_ctrl_c_ends_it_however_early_it_comes(shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("headgate.cli.console.guarded", interrupted)
    done = shell("console", "--state", state)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_it_explains_itself(shell: Shell) -> None:
    done = shell("console", "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: headgate console")
    assert "With --link it prints a link" in done.out
