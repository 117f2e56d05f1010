"""Specification 9.3: who waits for whom, and changes that must not overwrite somebody else's."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from headgate import Adapter, Concurrency, Patch
from headgate.engine.events import Decided, Event
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, Envelope, data_of, error_of
from tests.spec.world import Door

pytestmark = pytest.mark.anyio

_PATIENCE = 20.0


async def protocol(aql: Aql) -> dict[str, Any]:
    found = (await aql.introspect("operations"))["_protocol"]
    assert isinstance(found, dict)
    return found


@pytest.mark.proves("spec-9.3.1-concurrency-behaviour-documented")
async def test_by_default_calls_run_at_once_but_changes_to_one_resource_one_after_the_other(aql: Aql, key: str) -> None:
    assert (await protocol(aql))["concurrency"] == "resource-locked"

    async def change(door: str) -> None:
        data_of(await aql.update("update_door", door_id=f"{key}-{door}", lane=key, input={"name": "Exit"}))

    with anyio.fail_after(_PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(change, "a")
            await aql.read("list_arrivals", lane=key, least=1)
            tasks.start_soon(change, "a")
            tasks.start_soon(change, "b")
            await aql.read("list_arrivals", lane=key, least=2)  # the other door is entered meanwhile
            data_of(await aql.execute("execute_opening", lane=key))
        lines = data_of(await aql.read("list_arrivals", lane=key, least=6))
    at_a = [line for line in lines if line.endswith("-a")]
    assert at_a == [f"{step} {key}-a" for step in ("enter", "leave", "enter", "leave")]
    assert lines[:2] == [f"enter {key}-a", f"enter {key}-b"]


@pytest.mark.proves("spec-9.3.1-concurrency-behaviour-documented")
async def test_reads_run_at_once(aql: Aql, key: str) -> None:
    met: list[int] = []

    async def meet() -> None:
        met.append(data_of(await aql.read("get_meeting", lane=key, guests=5)))

    with anyio.fail_after(_PATIENCE):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(meet)
    assert met == [5] * 5


class Doorkeeper:
    """An adapter whose handlers wait for the test, which so learns which of them run at once."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.open = anyio.Event()
        self.adapter = Adapter("doors")
        keeper = self

        @self.adapter.read
        async def get_door(door_id: str) -> None:
            """One door."""
            await keeper.pass_through()

        @self.adapter.update
        async def update_door(door_id: str, input: Patch[Door]) -> None:  # noqa: A002
            """Change a door."""
            await keeper.pass_through()

    async def pass_through(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.open.wait()
        self.inside -= 1


Ask = Callable[[Aql, str], Coroutine[Any, Any, Envelope]]


async def read(aql: Aql, door: str) -> Envelope:
    return await aql.read("get_door", door_id=door)


async def write(aql: Aql, door: str) -> Envelope:
    return await aql.update("update_door", door_id=door, input={})


PAIRS: dict[str, tuple[tuple[Ask, str], tuple[Ask, str]]] = {
    "two-reads": ((read, "a"), (read, "a")),
    "two-writes-of-one": ((write, "a"), (write, "a")),
    "two-writes-of-two": ((write, "a"), (write, "b")),
    "read-and-write": ((write, "a"), (read, "a")),
}
AT_ONCE = {
    Concurrency.SERIALIZED: set[str](),
    Concurrency.READ_CONCURRENT: {"two-reads", "read-and-write"},
    Concurrency.FULLY_CONCURRENT: set(PAIRS),
    Concurrency.RESOURCE_LOCKED: {"two-reads", "two-writes-of-two", "read-and-write"},
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("concurrency", list(Concurrency))
@pytest.mark.proves("spec-9.3.1-concurrency-behaviour-documented")
async def test_the_concurrency_that_introspection_names_is_the_one_that_calls_have(
    serve: Serve, concurrency: Concurrency, pair: str
) -> None:
    keeper = Doorkeeper()
    decided = anyio.Semaphore(0)

    def listen(event: Event) -> None:
        if isinstance(event, Decided) and event.operation != "introspect":
            decided.release()

    async with serve(keeper.adapter, concurrency=concurrency.value, listeners=[listen]) as aql:
        assert (await protocol(aql))["concurrency"] == concurrency.value
        with anyio.fail_after(_PATIENCE):
            async with anyio.create_task_group() as tasks:
                for ask, door in PAIRS[pair]:
                    tasks.start_soon(ask, aql, door)
                for _ in PAIRS[pair]:
                    await decided.acquire()
                await anyio.wait_all_tasks_blocked()  # whoever may run has reached the door by now
                keeper.open.set()
    assert keeper.most == (2 if pair in AT_ONCE[concurrency] else 1)


@pytest.mark.proves("spec-9.3.1-concurrency-behaviour-documented")
async def test_no_more_calls_run_at_once_than_introspection_says(serve: Serve) -> None:
    keeper = Doorkeeper()
    settings: dict[str, Any] = {"concurrency": "fully-concurrent", "max_concurrent_requests": 3}
    async with serve(keeper.adapter, **settings) as aql:
        assert (await protocol(aql))["max_concurrent_requests"] == 3
        with anyio.fail_after(_PATIENCE):
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(read, aql, "a")
                await anyio.wait_all_tasks_blocked()
                keeper.open.set()
    assert keeper.most == 3


@pytest.mark.proves("spec-9.3.2-mutable-resources-carry-etag")
async def test_a_resource_carries_a_tag_that_changes_when_it_does(aql: Aql, key: str) -> None:
    created = data_of(await aql.create("create_note", note_id=key, title="One"))
    assert created["_etag"]
    read_tag = data_of(await aql.read("get_note", note_id=key))["_etag"]
    assert read_tag == created["_etag"]
    updated = data_of(await aql.update("update_note", note_id=key, input={"title": "Two"}))
    assert updated["_etag"] != created["_etag"]
    assert data_of(await aql.read("get_note", note_id=key))["_etag"] == updated["_etag"]
    assert (await protocol(aql))["supports_etag"] is True


@pytest.mark.proves("spec-9.3.2-if-match-precondition-accepted")
async def test_an_update_with_the_current_tag_is_applied(aql: Aql, key: str) -> None:
    tag = data_of(await aql.create("create_note", note_id=key, title="One"))["_etag"]
    updated = data_of(await aql.update("update_note", note_id=key, input={"title": "Two"}, if_match=tag))
    assert updated["title"] == "Two"
    again = data_of(await aql.update("update_note", note_id=key, input={"title": "Three"}, if_match=updated["_etag"]))
    assert again["title"] == "Three"


@pytest.mark.proves("spec-9.3.2-stale-precondition-is-conflict")
async def test_an_update_with_a_stale_tag_is_a_conflict_and_changes_nothing(aql: Aql, key: str) -> None:
    stale = data_of(await aql.create("create_note", note_id=key, title="One"))["_etag"]
    current = data_of(await aql.update("update_note", note_id=key, input={"title": "Two"}))["_etag"]
    answer = await aql.update("update_note", note_id=key, input={"title": "Three"}, if_match=stale)
    error = error_of(answer, "CONFLICT_VERSION_MISMATCH")
    assert error["details"]["current_etag"] == current
    assert data_of(await aql.read("get_note", note_id=key))["title"] == "Two"


@pytest.mark.proves("spec-9.3.2-stale-precondition-is-conflict", "spec-9.3.2-if-match-precondition-accepted")
async def test_of_two_updates_for_the_same_version_exactly_one_is_applied(aql: Aql, key: str) -> None:
    tag = data_of(await aql.create("create_note", note_id=key, title="One"))["_etag"]
    answers: list[Envelope] = []

    async def change(title: str) -> None:
        answers.append(await aql.update("update_note", note_id=key, input={"title": title}, if_match=tag))

    async with anyio.create_task_group() as tasks:
        for title in ("Two", "Three"):
            tasks.start_soon(change, title)
    assert sorted(answer["success"] for answer in answers) == [False, True]
    title = next(answer["data"]["title"] for answer in answers if answer["success"])
    assert data_of(await aql.read("get_note", note_id=key))["title"] == title
