"""What the servers list, asked once for each version and way to start it."""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.upstreams.servers import FOLDER, Server
from tests.upstreams.sessions import connected
from tests.upstreams.trials import trial

__all__ = ["Tools", "keep", "tools_of"]

Tools = Mapping[str, Mapping[str, Any]]

_KEPT = FOLDER / "js" / "node_modules" / ".listed"
"""Beside what is installed, and as short-lived: what others wrote is no part of the repository."""


async def tools_of(server: Server) -> Tools:
    """The tools of a server by name, as it lists them to a client that can ask its user."""
    if (kept := _place(server)).exists():
        tools: Tools = json.loads(kept.read_bytes())
        return tools
    with TemporaryDirectory(prefix="hg-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        with trial(server, home, "http://127.0.0.1:9") as place:
            async with connected(server.command(place), home, Path(folder)) as session:
                keep(server, session.tools)
                return session.tools


def keep(server: Server, tools: Tools) -> None:
    """Remember what a server has listed."""
    _KEPT.mkdir(exist_ok=True)
    place = _place(server)
    part = place.with_name(f"{place.name}-{os.getpid()}")
    part.write_text(json.dumps(tools))
    part.replace(place)  # whole, whoever else reads or writes it now


def _place(server: Server) -> Path:
    said = (server.package, server.version, server.arguments, sorted(server.environment.items()))
    return _KEPT / f"{server.name}-{sha256(repr(said).encode()).hexdigest()[:16]}.json"
