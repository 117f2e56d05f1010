"""What a server is told of persons: the console and other channels, and what does not go together."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.cli.consoles import Opened, opened, place_of
from headgate.cli.persons import Persons
from headgate.cli.state import command, same_state
from headgate.protocol.autonomy import LoopMode
from headgate.store.opening import default_state_url, open_store
from tests.cli.commands import Shell
from tests.server.processes import LIBRARY, PATIENCE, environment

MISTAKES = {
    "an address": (("--console", "localhost"), "--console: 'localhost' is not HOST:PORT, such as 127.0.0.1:8765"),
    "beyond this machine": (
        ("--console", "0.0.0.0:8787"),
        "A console on 0.0.0.0:8787 needs --console-url, the https URL under which browsers reach it",
    ),
    "an open URL": (
        ("--console", "0.0.0.0:8787", "--console-url", "http://example.org"),
        "--console-url 'http://example.org' must be a URL such as https://console.example.org",
    ),
    "a URL for no console": (
        ("--console-url", "https://example.org"),
        "--console-url is about the console: add --console 127.0.0.1:8787, or leave it out",
    ),
    "a provider for no console": (
        ("--console-oauth-issuer", "https://id.example.org", "--console-oauth-client", "x"),
        "--console-oauth-issuer is about the console: add --console 127.0.0.1:8787, or leave it out",
    ),
    "a client without a provider": (
        ("--console", ":0", "--console-oauth-client", "x"),
        "--console-oauth-client and --console-allow need --console-oauth-issuer",
    ),
    "a provider without a client": (
        ("--console", ":0", "--console-oauth-issuer", "https://id.example.org"),
        "--console-oauth-issuer needs --console-oauth-client: the id of the console there",
    ),
    "nobody who may sign in": (
        ("--console", ":0", "--console-oauth-issuer", "https://id.example.org", "--console-oauth-client", "x"),
        "--console-allow must name who may sign in, such as *@example.org",
    ),
    "codes of no loop": (
        ("--notify", "https://example.org/x"),
        "--notify shows codes of the safety loop: add --safety-loop enforcing",
    ),
    "no display": (
        ("--notify", "desktop", "--safety-loop", "enforcing"),
        "--notify desktop: there is no display here, or no zenity, osascript or PowerShell",
    ),
    "no mail server": (
        ("--notify", "mailto:ana@example.org", "--safety-loop", "enforcing"),
        "--notify mailto:ana@example.org needs HEADGATE_SMTP, such as smtps://user:password@mail.example.org",
    ),
    "half a mode": (
        ("--safety-loop", "enforce"),
        f"'enforce' is not a value of safety_loop; known are {', '.join(LoopMode)}. Did you mean 'enforcing'?",
    ),
}
BARE = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.mark.parametrize("over", [(), ("--http", "127.0.0.1:0")], ids=["stdio", "http"])
@pytest.mark.parametrize(("words", "told"), MISTAKES.values(), ids=MISTAKES)
def test_what_does_not_go_together_stops_the_start(
    shell: Shell, words: tuple[str, ...], told: str, over: tuple[str, ...]
) -> None:
    done = shell("serve", LIBRARY, *over, *words, "--state", "memory:", env=BARE)
    assert (done.code, done.out, done.err) == (2, "", f"headgate: {told}\n")


def test_variables_of_the_environment_count_too_and_several_channels_are_told_apart(shell: Shell) -> None:
    variables = {"MCPAQL_SAFETY_LOOP": "enforcing", "HEADGATE_NOTIFY": "https://example.org/x pigeon"}
    done = shell("serve", LIBRARY, "--state", "memory:", env=variables)
    assert (done.code, "--notify 'pigeon' is no channel" in done.err) == (2, True)


def test_a_port_that_is_taken_stops_the_start(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        done = shell("serve", LIBRARY, "--console", where, "--state", "memory:")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"headgate: --console: Cannot listen on {where}: Address already in use; "
        "choose another HOST:PORT, or end what listens there\n"
    )


def test_empty_variables_are_as_good_as_none(shell: Shell) -> None:
    names = ("CONSOLE", "CONSOLE_URL", "CONSOLE_OAUTH_ISSUER", "CONSOLE_OAUTH_CLIENT", "CONSOLE_ALLOW", "NOTIFY")
    done = shell("safety", "--instructions", env={f"HEADGATE_{name}": "" for name in names})
    assert (done.code, done.err) == (0, "")


# what is told of a console where nobody sits

STATE = "/srv/state.db"
TOLD = {
    "the usual place": ("127.0.0.1:8787", None, STATE, f"headgate console --link --state {STATE}"),
    "another port": ("127.0.0.1:9000", None, STATE, f"headgate console --link --listen 127.0.0.1:9000 --state {STATE}"),
    "the usual state": ("[::1]:9000", None, None, "headgate console --link --listen '[::1]:9000'"),
    "a URL of its own": (
        *("0.0.0.0:9000", "https://console.example.org", STATE),
        f"headgate console --link --url https://console.example.org --state {STATE}",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("listen", "url", "state", "command"), TOLD.values(), ids=TOLD)
async def test_the_command_for_a_link_names_what_is_not_usual(
    listen: str, url: str | None, state: str | None, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "headgate")
    place = place_of(Persons(console=listen, console_url=url))
    with socket.socket() as sock:
        await Opened(place, sock, None, has_url=url is not None).tell(open_store("memory:"), state, None)
    assert caplog.messages == [f"console at {place.url}; for a link to sign in: {command}"]


@pytest.mark.anyio
async def test_a_state_that_nobody_else_sees_makes_no_links(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "headgate")
    with opened(Persons(console="127.0.0.1:0")) as there:
        await there.tell(open_store("memory:"), "memory:", None)
    url = there.place.url
    assert caplog.messages == [f"console at {url}; the state is in memory, so only OAuth can sign anybody in"]


# what is loaded


NOT_LOADED: dict[str, set[str]] = {
    "agents": {"jinja2", "starlette", "uvicorn", "mcp", "sqlalchemy", "headgate.console"},
    "watch": {"jinja2", "starlette", "uvicorn", "mcp", "sqlalchemy", "smtplib", "headgate.console.app"},
    f"ops -s {LIBRARY}": {"jinja2", "starlette", "uvicorn", "smtplib", "headgate.console.app"},
    "serve --http nowhere": {"jinja2", "smtplib", "headgate.console.app", "headgate.console.channels.mail"},
}
"""What commands do without that come one after the other."""


def test_what_nobody_has_asked_for_is_not_loaded(tmp_path: Path) -> None:
    script = (
        "import sys; from headgate.cli import main\n"
        "for words in sys.argv[1:]:\n"
        "    sys.argv = ['headgate', *words.split()]\n"
        "    try: main()\n"
        "    except SystemExit: sys.stderr.write('\\nloaded ' + ' '.join(sys.modules) + '\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *NOT_LOADED],
        capture_output=True,
        text=True,
        env=environment({"XDG_STATE_HOME": str(tmp_path)}),
        timeout=PATIENCE,
        check=False,
    )
    loaded = [set(line.split()) for line in done.stderr.splitlines() if line.startswith("loaded ")]
    assert "headgate.cli.serve" in loaded[-1]
    assert [modules & unused for modules, unused in zip(loaded, NOT_LOADED.values(), strict=True)] == [set()] * 4


# the next command


def test_the_next_command_finds_the_same_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for usual in (None, "", default_state_url()):
        assert command(usual, "verify", "1") == "headgate verify 1"
    assert same_state("shop.db") == f"--state {tmp_path}/shop.db"
    assert same_state("sqlite:////srv/shop.db") == "--state /srv/shop.db"
    assert same_state("my shop.db") == f"--state '{tmp_path}/my shop.db'"
    assert command("shop.db", "agents", "x; id") == f"headgate agents 'x; id' --state {tmp_path}/shop.db"


def test_the_next_command_tells_no_password() -> None:
    assert same_state("postgresql://ana:s3cret@db.example.org/state") == (
        "--state 'postgresql://ana:***@db.example.org/state'"
    )


def test_one_without_a_home_can_name_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert same_state("/srv/shop.db") == "--state /srv/shop.db"
