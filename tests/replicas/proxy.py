"""nginx as the documentation shows it, on ports that are free."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server.processes import PATIENCE, is_listening, until
from tests.support import ROOT

__all__ = ["ANSWERED", "SHOWN", "proxied"]

SHOWN = ROOT / "examples" / "nginx.conf"
ANSWERED = "x-answered"
"""The header that tells which server has answered."""

_AROUND = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
http {{
    access_log off;
    add_header {answered} $upstream_addr always;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/shown.conf;
}}
"""


def _program() -> str:
    found = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if found is None and not os.environ.get("CI"):
        pytest.skip("nginx is not installed: apt install nginx")
    assert found, "nginx is not installed"
    return found


@contextmanager
def proxied(folder: Path, port: int, ports: Sequence[int]) -> Iterator[None]:
    """The file that is shown, with nothing changed in it but ports."""
    program = _program()
    others = iter(ports)
    given = {"8700": port, **{f"870{number}": next(others) for number in range(1, 5)}}
    text = re.sub(r"\b870[0-4]\b", lambda found: str(given[found[0]]), SHOWN.read_text())
    (folder / "shown.conf").write_text(text)
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, answered=ANSWERED))
    command = [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            until(lambda: is_listening(port), "nginx")
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)
