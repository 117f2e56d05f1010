"""Programs that use one store at the same time, each told over its input what to do and answering on its output.

``python -m tests.store.crew`` is one of them.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from headgate.store.windows import Charge
from tests.store.entries import entry

__all__ = ["Crew", "Member"]

_ROOT = Path(__file__).parent.parent.parent


class Member:
    """One program."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.store.crew"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT)

    def tell(self, task: str, *arguments: object) -> None:
        """Set it to work."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([task, *arguments]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """What it says next."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def kill(self) -> int:
        """End it in the middle of what it does; how many more answers it had given by then."""
        self.process.kill()
        assert self.process.stdout is not None
        more = [line for line in self.process.stdout if line.endswith("\n")]
        self.end()
        return len(more)

    def end(self) -> None:
        """Let it come to its end."""
        with self.process:
            pass


class Crew:
    """Several programs."""

    def __init__(self, size: int) -> None:
        self.members = [Member() for _ in range(size)]

    def each(self, task: str, *arguments: object) -> list[Any]:
        """Set all of them to the same work at the same moment; their answers."""
        for member in self.members:
            member.tell(task, *arguments)
        return [member.answer() for member in self.members]

    def end(self) -> None:
        for member in self.members:
            member.end()


async def _insert(store: SqlStore, key: str) -> bool:
    return await store.insert(Record("token", key, {}), [entry("inserted", key=key)])


async def _replace(store: SqlStore, version: int) -> bool:
    return await store.replace(Record("token", "k", {}, version=version), [entry("replaced")])


async def _charge(store: SqlStore, times: int, limit: int) -> int:
    """How often two windows had room, of which one alone is too small; each program takes them in another order."""
    charges = [Charge(key, 60, 1, most) for key, most in (("small", limit), ("large", 10 * limit))]
    said = [store.charge(charges[:: -1 if turn % 2 else 1], 1_000.0 + turn / 10) for turn in range(times)]
    return sum(used[0].retry_after is None and used[1].retry_after is None for used in await asyncio.gather(*said))


async def _append(store: SqlStore, times: int) -> int:
    await asyncio.gather(*(store.append([entry(f"{turn}")] * (1 + turn % 3)) for turn in range(times)))
    return sum(1 + turn % 3 for turn in range(times))


async def _append_forever(store: SqlStore) -> None:
    while True:
        await store.append([entry("a"), entry("b")])
        print(1, flush=True)  # noqa: T201  # an answer for each


TASKS: dict[str, Callable[..., Awaitable[object]]] = {
    "insert": _insert,
    "replace": _replace,
    "charge": _charge,
    "append": _append,
    "append forever": _append_forever,
}


async def _work() -> None:
    store = open_store("memory:")
    for line in sys.stdin:
        task, *arguments = json.loads(line)
        if task == "open":
            await store.close()
            store = open_store(*arguments)
            answer: object = None
        else:
            answer = await TASKS[task](store, *arguments)
        print(json.dumps(answer), flush=True)  # noqa: T201
    await store.close()


if __name__ == "__main__":
    asyncio.run(_work())
