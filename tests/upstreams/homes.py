"""What a trial finds in its folder, made anew each time and the same each time, and pages that it may visit."""

import json
import os
import struct
import subprocess
import threading
import wave
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

__all__ = ["GIT_IDENTITY", "furnish", "pages"]

GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2024-05-01T12:00:00+0000",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2024-05-01T12:00:00+0000",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""With these a commit has the same name whenever it is made."""

_PAGE = """<!doctype html>
<html lang="en"><head><title>Lending desk</title></head><body>
<h1>Lending desk</h1>
<p id="greeting">Books are lent for four weeks.</p>
<form><label>Name <input id="name" name="name" type="text"></label>
<label>Branch <select id="branch" name="branch"><option>North</option><option>South</option></select></label>
<label><input type="checkbox" id="agreed"> I agree</label>
<button type="button" id="lend" onclick="give()">Lend</button>
<label>Letter <input type="file" id="letter"></label></form>
<button type="button" id="ask" onclick="confirm('Really?')">Ask</button>
<ul aria-label="Shelves"><li>Maps</li><li>Music</li></ul>
<script>function give() {
  document.title = 'Lent';
  document.getElementById('greeting').textContent = 'Lent to ' + document.getElementById('name').value;
  console.log('lent');
}</script>
<a href="/second">Second page</a>
</body></html>"""
_SECOND = """<!doctype html><html lang="en"><head><title>Second</title></head><body><article><h1>Second page</h1>
<p>It has <a href="/">a way back</a>, and <em>two</em> sentences. This is the other one.</p></article></body></html>"""
_PROJECT = {
    "id": 1,
    "name": "desk",
    "path_with_namespace": "town/desk",
    "default_branch": "main",
    "visibility": "private",
}
_WHEN = "2024-05-01T12:00:00.000Z"
_ABOUT = (
    "avatar_url",
    "web_url",
    "bio",
    "location",
    "public_email",
    "website_url",
    "organization",
    "job_title",
    "email",
)
_SEEN = ("created_at", "last_sign_in_at", "confirmed_at", "last_activity_on")
_USER = {"id": 7, "username": "ada", "name": "Ada", "state": "active"}
_USER |= dict.fromkeys(_ABOUT, "") | dict.fromkeys(_SEEN, _WHEN)
_ISSUE = {"id": 10, "iid": 1, "project_id": 1, "title": "Squeaking door", "state": "opened", "labels": ["house"]}
_ISSUE |= {"author": _USER, "assignees": [], "milestone": None, "closed_at": None, "web_url": "", "description": "Oil?"}
_ISSUE |= {"created_at": _WHEN, "updated_at": _WHEN}
_FOUND: dict[str, tuple[str, bytes]] = {
    "/": ("text/html; charset=utf-8", _PAGE.encode()),
    "/second": ("text/html; charset=utf-8", _SECOND.encode()),
    "/plain.txt": ("text/plain; charset=utf-8", ("All quiet: nothing überdue.\n" * 40).encode()),
    "/data.json": ("application/json", b'{"books":[{"title":"Emma","copies":2}]}'),
    "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /private\n"),
    "/private": ("text/plain", b"not for robots"),
    "/favicon.ico": ("image/x-icon", b""),
    "/gitlab/api/v4/user": ("application/json", json.dumps(_USER).encode()),
    "/gitlab/api/v4/projects/1": ("application/json", json.dumps(_PROJECT).encode()),
    "/gitlab/api/v4/projects/1/issues/1": ("application/json", json.dumps(_ISSUE).encode()),
    "/gitlab/api/v4/projects/1/labels": ("application/json", b'[{"id":3,"name":"house","color":"#00ff00"}]'),
}


def furnish(home: Path) -> None:
    """Make the folder as every trial finds it."""
    if home.exists():  # a program of the last trial may still be writing there
        home.rename(home.with_name(f"left-{uuid4().hex}"))
    (home / "notes").mkdir(parents=True)
    (home / "out").mkdir()
    for name, text in {
        "notes/one.txt": "".join(f"line {number}\n" for number in range(1, 11)),
        "notes/two.md": "# Two\n\nÜber “quotes”, tabs\tand \U0001f4da.\n",
        "notes/data.json": '{"copies": 2, "title": "Emma"}\n',
        "notes/books.csv": "title,copies\nEmma,2\nUlysses,1\nMiddlemarch,3\n",
    }.items():
        (home / name).write_text(text)
    (home / "dot.png").write_bytes(_png())
    (home / "blob.bin").write_bytes(bytes(range(256)))
    with wave.open(str(home / "tone.wav"), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", "not compressed"))
        sound.writeframes(bytes(range(0, 256, 8)))
    _repository(home / "repo", home / "far.git")


def _png(side: int = 16) -> bytes:
    """A small red square."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\xff\0\0" * side) * side)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def _repository(folder: Path, far: Path) -> None:
    """Two commits, a side branch, a tag, a remote, one staged and one unstaged change and one unknown file."""
    folder.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, env={**os.environ, **GIT_IDENTITY}, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    (folder / "a.txt").write_text("first\n")
    git("add", "a.txt")
    git("commit", "--quiet", "-m", "First")
    git("branch", "side")
    (folder / "b.txt").write_text("second\n")
    git("add", "b.txt")
    git("commit", "--quiet", "-m", "Second")
    git("tag", "v1")
    git("clone", "--quiet", "--bare", ".", str(far))
    git("remote", "add", "origin", str(far))
    (folder / "a.txt").write_text("first\nchanged\n")
    (folder / "b.txt").write_text("second\nstaged\n")
    git("add", "b.txt")
    (folder / "c.txt").write_text("unknown\n")


class _Pages(BaseHTTPRequestHandler):
    """Fixed pages, without a date, so that an answer is the same each time."""

    def do_GET(self) -> None:
        found = _FOUND.get(self.path.split("?")[0])
        self.send_response_only(200 if found else 404)
        kind, body = found or ("text/plain", b"There is no such page")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def pages() -> Iterator[str]:
    """Serve the pages on the loopback interface; the address is given."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
