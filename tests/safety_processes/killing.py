"""A server that is killed while it works, started again on the same state, and somebody who keeps asking it."""

import asyncio
import json
import random
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from headgate.safety.confirmations import grants_of
from headgate.store.opening import open_store
from tests.safety_processes.ledger import LEDGER, TRACES, traces_in
from tests.safety_processes.reading import AuditRead
from tests.server.processes import HEADGATE, INITIALIZE, INITIALIZED, PATIENCE, environment, tool_call

__all__ = ["Deletion", "Killings"]

AT_ONCE = 16
"""How many deletions are under way at the same time."""

MOST_SECONDS = 0.02
"""The kill comes up to so long after the answer that is chosen for it, so that it meets every step of the work."""

USED = "TOKEN_ALREADY_USED"


class Gone(Exception):
    """The server has ended, and this request was never answered."""


class Life:
    """A running ``headgate serve`` on pipes, from its start to its kill."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = count(1)
        self._awaited: dict[object, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    @asynccontextmanager
    async def begun(cls, state: str, policy: Path, traces: Path) -> AsyncIterator["Life"]:
        """A server that has said hello; it is killed at the end, if nobody did so before."""
        process = await asyncio.create_subprocess_exec(
            *(HEADGATE, "serve", LEDGER, "--state", state, "--policy", str(policy)),
            *("--concurrency", "fully-concurrent", "--log-level", "error"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment({TRACES: str(traces)}),
        )
        life = cls(process)
        try:
            await life._answer(INITIALIZE)
            life._send(INITIALIZED)
            yield life
        finally:
            await life.kill()

    async def kill(self) -> None:
        """End it in the middle of whatever it does; all that it had answered by then is heard."""
        if self._process.returncode is None:
            self._process.kill()
        await self._reading
        await self._process.wait()
        assert self._process.stdin
        self._process.stdin.close()

    async def delete(self, key: str, token: str | None = None) -> dict[str, Any]:
        """The envelope that answers a deletion, confirmed or not; Gone if none comes."""
        confirmed = {} if token is None else {"confirmation_token": token}
        request = tool_call(next(self._ids), "delete_entry", {"key": key, **confirmed}, tool="mcp_aql_delete")
        envelope = json.loads((await self._answer(request))["result"]["content"][0]["text"])
        assert isinstance(envelope, dict)
        return envelope

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._reading.done():
            raise Gone
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._awaited[request["id"]] = answer
        self._send(request)
        async with asyncio.timeout(PATIENCE):
            return await answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            if line.endswith(b"\n"):  # else it was cut off by the kill
                message = json.loads(line)
                self._awaited.pop(message["id"]).set_result(message)
        for answer in self._awaited.values():
            answer.set_exception(Gone())


@dataclass(eq=False)
class Deletion:
    """One entry that is to be deleted: asked for, then confirmed."""

    key: str
    token: str | None = None
    is_sent: bool = False
    """Whether the confirmation was sent, so that it may have been used."""

    async def go_on(self, life: Life) -> bool:
        """Ask for a token, unless there is one, and use it; whether it counted. Gone if that is not answered.

        Only a token that was sent before may be used up already.
        """
        if self.token is None:
            asked = await life.delete(self.key)
            assert asked["error"]["code"] == "CONFIRMATION_REQUIRED", asked
            self.token = asked["error"]["details"]["confirmation_token"]
        was_sent, self.is_sent = self.is_sent, True
        done = await life.delete(self.key, self.token)
        if done["success"]:
            return True
        assert done["error"]["code"] == USED, done
        assert was_sent, done
        return False


@dataclass
class Killings:
    """A stream of deletions through servers that are killed, one after the other, on one state."""

    state: str
    policy: Path
    traces: Path
    seed: int
    kills: int = 0
    found: Counter[str] = field(default_factory=Counter)
    """How far those were that had been sent and not answered when the server was killed."""
    again: Counter[str] = field(default_factory=Counter)
    """What their tokens were answered with afterwards."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  (nothing is secret here)
        self._numbers = count(1)
        self._interrupted: list[Deletion] = []
        self._in_flight: set[str] = set()
        self._answered: set[str] = set()
        self._settled: set[str] = set()
        self.audit = AuditRead(self.state)

    async def run(self, kills: int, operations: int) -> None:
        """So many kills, each somewhere in the middle of so many deletions; then the rest of them."""
        left = 0
        for _ in range(kills):
            before = self._random.randrange(operations)
            async with Life.begun(self.state, self.policy, self.traces) as life:
                await self._recover(life)
                await self._stream(life, left)
                await self._stream_until_killed(life, before)
            left = operations - before
            self.kills += 1
            await self._examine()
            self._look_at_interrupted()
        async with Life.begun(self.state, self.policy, self.traces) as life:
            await self._recover(life)
            await self._stream(life, left)
        await self._examine()
        assert set(self.audit.executed.values()) == self._answered | self._settled
        assert await self._spent() <= set(self.audit.grants.values())

    async def _spent(self) -> set[str]:
        """The grants that are used up, of those that are still known."""
        store = open_store(self.state)
        try:
            return {grant.id for grant in await grants_of(store) if grant.consumed_at is not None}
        finally:
            await store.close()

    # the stream

    async def _stream(self, life: Life, operations: int) -> None:
        """So many deletions, each of which is answered."""
        waiting = deque(self._new() for _ in range(operations))

        async def work() -> None:
            while waiting:
                await self._do(waiting.popleft(), life)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def _stream_until_killed(self, life: Life, before: int) -> None:
        """Deletions without end. The server is killed soon after so many of them are answered."""
        enough = len(self._answered) + before
        is_time = asyncio.Event()

        async def work() -> None:
            while True:
                if len(self._answered) >= enough:
                    is_time.set()
                deletion = self._new()
                try:
                    await self._do(deletion, life)
                except Gone:
                    self._interrupted.append(deletion)
                    return

        async def kill() -> None:
            await is_time.wait()
            await asyncio.sleep(self._random.uniform(0, MOST_SECONDS))  # any moment will do: nothing waits for it
            await life.kill()

        await asyncio.gather(kill(), *(work() for _ in range(AT_ONCE)))

    def _new(self) -> Deletion:
        return Deletion(f"entry {next(self._numbers)}")

    async def _do(self, deletion: Deletion, life: Life) -> None:
        if await deletion.go_on(life):
            self._answered.add(deletion.key)
        else:
            self._settled.add(deletion.key)

    async def _recover(self, life: Life) -> None:
        """Go on with what the kill has interrupted; then no token counts once more."""
        interrupted, self._interrupted = self._interrupted, []
        for deletion in interrupted:
            was_sent = deletion.is_sent
            await self._do(deletion, life)
            if was_sent:
                self.again["run now" if deletion.key in self._answered else USED] += 1
            again = await life.delete(deletion.key, deletion.token)
            assert again["error"]["code"] == USED, again

    # what is left behind

    async def _examine(self) -> None:
        """See that the traces and the audit tell the same, now that no server runs."""
        audit = self.audit
        await audit.read_on()
        done = audit.agrees_with(self.traces)
        assert len(set(audit.executed.values())) == len(audit.executed), "an entry was deleted with one token twice"
        assert self._answered <= {one.key for one in done}
        self._in_flight |= {deletion.key for deletion in self._interrupted if deletion.is_sent}
        assert set(audit.unfinished.values()) <= self._in_flight, "something was answered whose end is not written"

    def _look_at_interrupted(self) -> None:
        requests = {key: request_id for request_id, key in self.audit.executed.items()}
        run = {trace.request_id for trace in traces_in(self.traces)}
        for deletion in self._interrupted:
            request_id = requests.get(deletion.key)
            if not deletion.is_sent:
                self.found["only asked for"] += 1
            elif request_id is None:
                self.found["sent, token unused"] += 1
            elif request_id not in run:
                self.found["token used, not run"] += 1
            elif request_id not in self.audit.returned:
                self.found["run, end not written"] += 1
            else:
                self.found["all written, not answered"] += 1

    def __str__(self) -> str:
        audit = self.audit
        found = ", ".join(f"{number} {name}" for name, number in sorted(self.found.items()))
        again = ", ".join(f"{number} {name}" for name, number in sorted(self.again.items()))
        return (
            f"{self.kills} kills, {len(self._answered) + len(self._settled):,} confirmed operations, "
            f"{len(traces_in(self.traces)):,} traces, {len(audit.executed):,} executed and {len(audit.returned):,} "
            f"returned in {audit.rows:,} rows of audit; in work when killed: {found}; "
            f"sent tokens tried again: {again}"
        )
