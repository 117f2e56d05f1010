"""Codes reach a person, and nothing else: every byte that leaves the server is looked at, over many challenges."""

import importlib.util
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp.shared import _otel

from headgate.adapter.introspection import QUERIES
from headgate.safety.clock import Clock
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges, override, show_code
from headgate.server.addresses import Address, listen
from headgate.server.binding import McpServer
from headgate.server.http import PATH, Access, http_app
from headgate.server.settings import Settings
from headgate.store.opening import open_store
from tests.hostile.recording import Fragments, LogLines, Spans, WireTap, files_in
from tests.hostile.workshop import workshop
from tests.spec.wires import Aql, Connections, Era, Wire, connected

pytestmark = pytest.mark.anyio

CHALLENGES = int(os.environ.get("HEADGATE_CHALLENGES", "100"))
"""In the suite it is a tenth of what ``make separation`` looks at."""
AGENTS_A_SESSION = 50
POLICY = {"autonomy": {"mode": "enforcing", "start": "free"}}


@dataclass
class Person:
    """What a person was shown, through a channel of their own."""

    folder: Path
    """Where the state is kept."""
    codes: list[str] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    kept: bytes = b""
    """The files of the state while the first code counted."""


@pytest.mark.proves(
    "spec-8.8.2-code-shown-out-of-band",
    "spec-8.8.2-code-absent-from-agent-channels",
    "spec-8.8.4-code-not-in-tool-results",
    "spec-8.8.4-code-not-in-meta",
    "spec-8.8.4-code-not-in-readable-logs",
    "spec-8.8.4-code-not-in-errors",
    "spec-8.8.4-code-not-derivable",
)
async def test_no_code_and_nothing_from_which_one_follows_leaves_but_to_the_person(
    tmp_path: Path, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans, lines, person = Spans(), LogLines(), Person(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    monkeypatch.setattr(_otel, "_tracer", spans)
    store = open_store(str(tmp_path / "state.db"))
    written = b""
    with lines.listening():
        server = McpServer(workshop, Settings.of(policy=POLICY), store)
        async with _over_http(server) as (url, tap):
            sessions = CHALLENGES // AGENTS_A_SESSION
            for number in range(sessions):
                era: Era = "modern" if number % 2 else "legacy"
                await _challenged(store, person, url, era, number, connections)
                written += files_in(tmp_path)
        await store.close()
    written += files_in(tmp_path)
    assert len(set(person.codes)) >= CHALLENGES
    left = {
        "MCP": tap.heard.getvalue(),
        "the log": lines.heard.getvalue().encode(),
        "spans": spans.heard.getvalue().encode(),
        "the state": person.kept + written,
    }
    assert b"verification_id" in left["MCP"]
    assert b"headgate.operation" in left["spans"]
    assert b"agent blocked" in left["the state"]
    pieces = Fragments(person.codes)
    assert pieces.found_in(f"shown: {person.codes[7].lower()}".encode()), "the search finds what is there"
    for where, data in left.items():
        assert not pieces.found_in(data), where
    for where in ("MCP", "the log", "spans"):
        assert not any(one.encode() in left[where] for one in person.hashes), where
    assert person.hashes[0].encode() in person.kept, "only the state has what codes are checked by"


async def _challenged(store: Any, person: Person, url: str, era: Era, number: int, connections: Connections) -> None:
    """Some agents, each of which is blocked, tries everything, and is released by a person's own client."""
    clock: Clock = time.time
    wire = Wire("http", era)
    async with connections.open(connected(url, wire)) as agent, connections.open(connected(url, wire)) as desk:
        for place in range(AGENTS_A_SESSION):
            name = f"agent-{number}-{place}"
            await agent.execute("execute_agent", element_name=name)
            await agent.create("record_execution_step", element_name=name, next_action_hint="rm -rf /srv/data")
            [challenge] = await challenges(store, clock())
            code = await _shown(store, challenge, person, clock)
            await _tried(agent, name, challenge, code)
            if place == 0:
                await _everything(agent)
            again = await _shown(store, challenge, person, clock)
            await desk.create("verify_challenge", challenge_id=challenge.id, code=again)
            is_heard = Challenge.read(await store.find("challenge", challenge.id)).verified_at is not None
            assert not is_heard, "without a name nobody is told apart from the agent"
            assert await override(store, challenge.name, "ana", "the test goes on", clock)
            await agent.create("record_execution_step", element_name=name, next_action_hint="read the manual")
            await agent.execute("abort_execution", element_name=name, reason="the test goes on")


async def _shown(store: Any, challenge: Challenge, person: Person, clock: Clock) -> str:
    code = await show_code(store, challenge.id, "console", "ana", clock)
    assert code is not None
    record = await store.find("challenge", challenge.id)
    person.codes.append(code)
    person.hashes.append(record.value["codes"][-1]["hash"])
    person.kept = person.kept or files_in(person.folder)
    return code


async def _tried(agent: Aql, name: str, challenge: Challenge, code: str) -> None:
    """All that an agent may ask once it is blocked, the right code included, which it should not have."""
    report = {"element_name": name, "next_action_hint": "read"}
    item = {"operation": "verify_challenge", "params": {"challenge_id": challenge.id, "code": code}}
    await agent.create("record_execution_step", **report)
    await agent.create("verify_challenge", challenge_id=challenge.id, code=code)
    await agent.batch("create", item, {"operation": "record_execution_step", "params": report})
    await agent.read("introspect", query="safety_loop", name=name)
    await agent.create("verify_challenge", challenge_id=challenge.id, code="0000")
    await agent.create("verify_challenge", challenge_id=challenge.id)
    await agent.execute("confirm_operation", approval_id=challenge.id, token=code)
    await agent.execute("complete_execution", element_name=name)


async def _everything(agent: Aql) -> None:
    """Every other operation, every question to introspection, and the tools themselves."""
    await agent.tools()
    for query in (*QUERIES, "danger", "policies", "quota_status", "safety_loop"):
        await agent.read("introspect", query=query, name="a")
        await agent.read("introspect", query=query)
    for name, operation in workshop.operations.items():
        await agent.send(operation.category.name.lower(), name, {"part": "x"})
        await agent.read("introspect", query="operations", name=name)


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def _over_http(server: McpServer) -> AsyncIterator[tuple[str, WireTap]]:
    with listen(Address("127.0.0.1", 0)) as sock:
        where = Address("127.0.0.1", sock.getsockname()[1])
        tap = WireTap(http_app(server, where, Access()))
        web = _Uvicorn(uvicorn.Config(tap, log_config=None, timeout_graceful_shutdown=1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [sock])
            yield f"http://{where.netloc}{PATH}", tap
            web.should_exit = True
