"""A server with its console as an operator starts them, the links that sign one in, and agents that call it by MCP."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.processes import PATIENCE, Serving, run, serve_http
from tests.spec.wires import Aql, Wire

__all__ = ["Consoled", "agent_of", "serve_console"]

_LEGACY = Wire("http", "legacy")


@dataclass(frozen=True)
class Consoled:
    """A running server, and the console beside it."""

    serving: Serving
    state: str
    url: str
    """Where the console is."""
    tokens: Mapping[str, str]
    """The secrets of those who may call, by name."""

    def link(self, by: str = "ana") -> str:
        """A link that signs somebody in once, from the very command that an operator types."""
        netloc = self.url.removeprefix("http://")
        done = run("console", "--link", "--state", self.state, "--listen", netloc, "--by", by)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@contextmanager
def serve_console(
    folder: Path,
    source: str | None,
    policy: str,
    *words: str,
    callers: Sequence[str],
    env: Mapping[str, str] | None = None,
) -> Iterator[Consoled]:
    """A server that supervises agents, and its console. Callers have names: what is anonymous is all one agent."""
    rules, state = folder / "policy.toml", str(folder / "state.db")
    rules.write_text(policy, encoding="utf-8")
    tokens = {name: f"the-long-secret-of-number-{number}" for number, name in enumerate(callers)}
    file = folder / "tokens.toml"
    file.write_text("".join(f"[tokens.{json.dumps(name)}]\nsecret = {json.dumps(tokens[name])}\n" for name in tokens))
    guards = ("--safety-loop", "enforcing", "--policy", str(rules), "--state", state, "--tokens", str(file))
    with serve_http(*filter(None, [source]), *guards, "--console", "127.0.0.1:0", *words, env=env) as serving:
        found = re.search(r"console at (http://\S+);", serving.logged("console at"))
        assert found
        yield Consoled(serving, state, found.group(1), tokens)


@asynccontextmanager
async def agent_of(served: Consoled, caller: str) -> AsyncIterator[Aql]:
    """An agent's connection, in a session of its own."""
    headers = {"Authorization": f"Bearer {served.tokens[caller]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(served.serving.url, http_client=http), mode="legacy") as client,
    ):
        yield Aql(client, _LEGACY)
