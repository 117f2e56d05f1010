"""Programs that use one confirmation at the same moment, each in many tasks.

``python -m tests.safety_processes.racing STATE POLICY`` is one of them. It is told over its input which token to use
for which entry, says that it is ready, and starts when it is told to.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any

from headgate import Adapter, Engine, EngineOptions, Session
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.policy.reading import read_policy
from headgate.store.interface import Store
from headgate.store.opening import open_store
from tests.safety_processes.ledger import TRACES, ledger
from tests.server.processes import PATIENCE, environment
from tests.support import ROOT

__all__ = ["POLICY", "SUCCESS", "Racers", "Report", "engine_of"]

SUCCESS = "success"

POLICY = """
[confirmation]
outlive_session = true
max_live = 1000000
refusals_per_minute = 1000000000
"""
"""Under which a token counts in any session, and no number of refusals hides why a token was refused."""


def engine_of(store: Store, policy: Path, adapter: Adapter = ledger) -> Engine:
    """The adapter as a server guards it."""
    gatekeeper = Gatekeeper(adapter.name, adapter.operations, store, policy=read_policy(policy))
    return Engine(adapter, EngineOptions(max_concurrent_requests=1000), gatekeeper=gatekeeper)


def deletion(key: str, token: str | None = None) -> dict[str, object]:
    """A request to delete an entry, confirmed or not."""
    confirmed = {} if token is None else {"confirmation_token": token}
    return {"operation": "delete_entry", "params": {"key": key, **confirmed}}


@dataclass
class Report:
    """What has come of all rounds."""

    rounds: int = 0
    attempts: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    winners: Counter[int] = field(default_factory=Counter)
    """How often each of the programs was the one."""

    def add(self, answers: Sequence[Counter[str]]) -> None:
        """What each of the programs got in one round."""
        self.rounds += 1
        self.attempts += sum(one.total() for one in answers)
        for place, one in enumerate(answers):
            self.answers += one
            self.winners[place] += one[SUCCESS]

    def __str__(self) -> str:
        said = ", ".join(f"{count:,} {name}" for name, count in self.answers.most_common())
        won = ", ".join(f"{count:,}" for _, count in sorted(self.winners.items()))
        return f"{self.rounds:,} rounds, {self.attempts:,} attempts: {said}; won by each process: {won}"


class Racers:
    """Several programs on one store."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]]) -> None:
        self._processes = processes

    @classmethod
    @contextmanager
    def started(cls, size: int, state: str, policy: Path, traces: Path) -> Iterator["Racers"]:
        """So many of them, each with an engine of its own; they end with this."""
        command = [sys.executable, "-m", "tests.safety_processes.racing", state, str(policy)]
        with ExitStack() as stack:
            processes = [stack.enter_context(_started(command, traces)) for _ in range(size)]
            try:
                yield cls(processes)
            except BaseException:
                for process in processes:
                    process.kill()
                raise

    def ask(self, key: str) -> str:
        """A token for the deletion of an entry, from the first of them."""
        self._tell(self._processes[0], ["ask", key])
        token = self._answer(self._processes[0])
        assert isinstance(token, str)
        return token

    def race(self, key: str, token: str, tasks: int) -> list[Counter[str]]:
        """Have all of them use the token in so many tasks each, at the same moment; what each of them got."""
        for process in self._processes:
            self._tell(process, ["race", key, token, tasks])
        for process in self._processes:
            assert self._answer(process) == "ready"
        for process in self._processes:
            self._tell(process, "go")
        return [Counter(self._answer(process)) for process in self._processes]

    @staticmethod
    def _tell(process: subprocess.Popen[str], message: object) -> None:
        assert process.stdin
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()

    @staticmethod
    def _answer(process: subprocess.Popen[str]) -> Any:
        assert process.stdout
        assert select([process.stdout], [], [], PATIENCE)[0], "a program does not answer"
        line = process.stdout.readline()
        assert line, f"a program has ended with {process.wait()}"
        return json.loads(line)


def _started(command: Sequence[str], traces: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment({TRACES: str(traces)}),
    )


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def _ask(engine: Engine, key: str) -> str:
    envelope = json.loads((await engine.call(deletion(key))).text)
    token = envelope["error"]["details"]["confirmation_token"]
    assert isinstance(token, str)
    return token


async def _use(engine: Engine, key: str, token: str) -> str:
    """What became of one attempt: its code, or that it succeeded."""
    envelope = json.loads((await engine.call(deletion(key, token), session=Session())).text)
    return SUCCESS if envelope["success"] else str(envelope["error"]["code"])


async def _work(state: str, policy: Path) -> None:
    store = open_store(state)
    engine = engine_of(store, policy)
    await store.open()
    for line in sys.stdin:
        task, key, *rest = json.loads(line)
        if task == "ask":
            _say(await _ask(engine, key))
            continue
        token, tasks = rest
        _say("ready")
        sys.stdin.readline()
        _say(Counter(await asyncio.gather(*(_use(engine, key, token) for _ in range(tasks)))))
    await store.close()


if __name__ == "__main__":
    assert TRACES in os.environ
    asyncio.run(_work(sys.argv[1], Path(sys.argv[2])))
