"""Four servers on one PostgreSQL behind one address."""

import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.starting import free_port
from tests.databases import Database
from tests.replicas.depot import DEPOT, FOLDER
from tests.replicas.proxy import ANSWERED, proxied
from tests.server.processes import HEADGATE, PATIENCE, Serving, environment, serve_http
from tests.server.requests import Answer, Caller, modern

__all__ = ["LIMIT", "NAMES", "Envelope", "Fleet", "fleet"]

NAMES = ("one", "two", "three", "four")
LIMIT = 10
_TOKENS = {name: f"a-token-of-{name}-for-the-fleet" for name in ("robot", "clerk", "boss")}
_POLICY = f"""
[confirmation]
refusals_per_minute = 1000

[autonomy]
start = "free"

[[api_limit]]
scope = "endpoint"
endpoint = "get_limited"
limit = {LIMIT}
window = "hour"

[[rule]]
name = "a person sees some of them"
operations = ["delete_entry"]
decision = "confirm"
confirm = "person"
when = {{ key = {{ matches = "^grave" }} }}
"""

Envelope = dict[str, Any]


@dataclass
class Replica:
    """One of the servers, in one life after the other. Nothing is shared with the others but the database and a key."""

    name: str
    port: int
    words: Sequence[str]
    home: Path
    env: dict[str, str]
    _life: AbstractContextManager[Serving] | None = None
    serving: Serving | None = None

    def start(self) -> None:
        """Serve, on the port that it always has."""
        env = {**self.env, "XDG_STATE_HOME": str(self.home)}
        self._life = serve_http(*self.words, "--replica", self.name, "--log-level", "warning", port=self.port, env=env)
        self.serving = self._life.__enter__()

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        """End it, by the signal that is given; its exit code."""
        assert self.serving
        assert self._life
        code = self.serving.stop(with_signal)
        self._life.__exit__(None, None, None)
        self.serving = self._life = None
        return code

    def end(self) -> None:
        """End it, if it is there."""
        if self.serving is not None:
            self.stop()


@dataclass(frozen=True)
class Fleet:
    """The address before the servers, and the servers behind it."""

    port: int
    replicas: Sequence[Replica]
    state: str
    folder: Path
    pool: ThreadPoolExecutor

    def caller(self, name: str = "clerk") -> Caller:
        """Somebody of the newer era."""
        return modern(self.port, **self.credentials(name))

    def credentials(self, name: str = "clerk") -> dict[str, str]:
        """The header that says who somebody is."""
        return {"authorization": f"Bearer {_TOKENS[name]}"}

    def name_of(self, answer: Answer) -> str:
        """Which server has answered; the last that was tried."""
        port = int(answer.headers[ANSWERED].rpartition(":")[2])
        return next(replica.name for replica in self.replicas if replica.port == port)

    def ask(self, operation: str, family: str = "read", *, by: str = "clerk", **params: Any) -> tuple[str, Envelope]:
        """Who has answered, and what."""
        answer = self.caller(by).call(operation, params, tool=f"mcp_aql_{family}")
        assert answer.status == 200, answer.body
        return self.name_of(answer), answer.envelope

    def data(self, operation: str, family: str = "read", *, by: str = "clerk", **params: Any) -> Any:
        """What an operation gives."""
        _, envelope = self.ask(operation, family, by=by, **params)
        assert envelope["success"], envelope
        return envelope["data"]

    def code(self, operation: str, family: str = "read", *, by: str = "clerk", **params: Any) -> str:
        """The code with which an operation is refused."""
        _, envelope = self.ask(operation, family, by=by, **params)
        assert not envelope["success"], envelope
        return str(envelope["error"]["code"])

    def everywhere(self, operation: str, family: str = "read", *, by: str = "clerk", **params: Any) -> list[Envelope]:
        """The answer of each server, one after the other."""
        found: dict[str, Envelope] = {}
        end = time.monotonic() + 30
        while len(found) < len(NAMES):
            assert time.monotonic() < end, f"only {sorted(found)} answer"
            name, envelope = self.ask(operation, family, by=by, **params)
            found.setdefault(name, envelope)
        return [found[name] for name in NAMES]


@contextmanager
def fleet(state: Database, folder: Path) -> Iterator[Fleet]:
    """All of it, from the first table to the proxy."""
    url = state.url.replace("+psycopg", "")
    _make_parts(url)
    (folder / "policy.toml").write_text(_POLICY)
    (folder / "tokens.toml").write_text("".join(f'[tokens.{n}]\nsecret = "{s}"\n' for n, s in _TOKENS.items()))
    sources = f'[sources.depot]\nsource = "{DEPOT}"\n[sources.stock]\nsource = "{url}"\n'
    (folder / "headgate.toml").write_text(f'name = "fleet"\nstate = "{url}"\npolicy = "policy.toml"\n{sources}')
    words = (str(folder / "headgate.toml"), "--tokens", str(folder / "tokens.toml"), "--safety-loop", "enforcing")
    env = {FOLDER: str(folder), "HEADGATE_CURSOR_KEY": "a key that all replicas share"}
    with ExitStack() as stack:
        replicas = [Replica(name, free_port(), words, folder / name, env) for name in NAMES]
        workers = stack.enter_context(ThreadPoolExecutor(16))
        stack.callback(lambda: list(workers.map(Replica.end, replicas)))
        list(workers.map(Replica.start, replicas))
        stack.enter_context(_worker(folder, env))
        port = free_port()
        stack.enter_context(proxied(folder, port, [replica.port for replica in replicas]))
        yield Fleet(port, replicas, url, folder, workers)


@contextmanager
def _worker(folder: Path, env: dict[str, str]) -> Iterator[None]:
    """Whoever works on executions: on PostgreSQL, servers only tell of them."""
    command = [HEADGATE, "worker", str(folder / "headgate.toml"), "--log-level", "warning", "--grace", "1"]
    with subprocess.Popen(command, env=environment({**env, "XDG_STATE_HOME": str(folder / "worker")})) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _make_parts(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE parts (id integer PRIMARY KEY, name text NOT NULL)")
        connection.execute("INSERT INTO parts SELECT n, 'part ' || n FROM generate_series(1, 200) n")
