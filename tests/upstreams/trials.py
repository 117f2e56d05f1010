"""A trial of a server: a fresh folder, pages, a store where it needs one, and the calls of the table in their order."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.finding import chromium
from tests.upstreams.homes import furnish
from tests.upstreams.servers import FOLDER, Place, Server

__all__ = ["leavings", "trial"]

_STORE = """
from fakeredis import TcpFakeServer
server = TcpFakeServer(("127.0.0.1", 0), server_type="redis")
print(server.server_address[1], flush=True)
server.serve_forever()
"""
_PLAIN = {".txt", ".md", ".json", ".jsonl", ".csv"}
_PASSING = {"out", "logs", ".git", ".cache", ".config", ".npm", ".local"}
"""Folders of programs' own passing things."""


@contextmanager
def trial(server: Server, home: Path, web: str) -> Iterator[Place]:
    """Hold a trial of a server, in a folder that is as every trial finds it."""
    furnish(home)
    browser = chromium() or "chromium"
    if not server.stores:
        yield Place(home, web, chromium=browser)
        return
    with _store() as port:
        yield Place(home, web, redis=port, chromium=browser)


def leavings(home: Path) -> dict[str, bytes]:
    """What a trial left in its folder, but for files that hold the time of their making."""
    return {
        str(file.relative_to(home)): file.read_bytes()
        for file in sorted(home.rglob("*"))
        if file.is_file() and file.suffix in _PLAIN and not _PASSING & set(file.relative_to(home).parts)
    }


@contextmanager
def _store() -> Iterator[int]:
    """A store that answers like Redis, empty, on a port of its own."""
    python = FOLDER / "sdk1" / ".venv" / "bin" / "python"
    with subprocess.Popen([python, "-c", _STORE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()
