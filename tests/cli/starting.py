"""Programs that serve until they are stopped: safety, console, and serve on pipes with a console beside it."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2

from tests.server.processes import HEADGATE, PATIENCE, Lines, Serving, environment, until

__all__ = ["address_of", "console_of", "free_port", "seen_in_console", "started"]


@contextmanager
def started(*words: str, env: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """A command that runs on, with pipes for all of its streams."""
    with subprocess.Popen(
        [HEADGATE, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
    ) as process:
        assert process.stderr
        serving = Serving(process, Lines(process.stderr))
        try:
            yield serving
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


def address_of(serving: Serving) -> str:
    """Where a server over HTTP is, once it says so."""

    def found() -> str:
        assert serving.process.poll() is None, serving.log.text
        match = re.search(r"^  (http://127\.0\.0\.1:\d+/mcp)$", "\n".join(serving.log.seen), re.MULTILINE)
        return match[1] if match else ""

    serving.url = until(found, "the server")
    return serving.url


def console_of(serving: Serving) -> tuple[str, str]:
    """Where the console beside a server is, and the command that it names for a link."""
    line = serving.logged("console at ")
    match = re.fullmatch(r"headgate: console at (http\S+); for a link to sign in: (headgate console --link.*)", line)
    assert match, line
    return match[1], match[2]


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    assert isinstance(port, int)
    return port


def seen_in_console(link: str, path: str) -> str:
    """A page of the console, as somebody sees it whom a link signs in; nobody else sees it."""
    url = link.partition("/sign-in/")[0]
    with httpx2.Client(timeout=PATIENCE) as browser:
        assert browser.get(f"{url}{path}").status_code == 401
        assert browser.post(link, headers={"origin": url}).status_code == 303
        page = browser.get(f"{url}{path}")
    assert page.status_code == 200
    return page.text
