"""Who waits for whom: four categories of concurrency, and how many requests are in work (Spec 9.3)."""

import threading
from typing import Any
from uuid import UUID

import anyio
import pytest
from anyio.abc import TaskGroup

from headgate import Adapter, Concurrency, Engine, EngineOptions, Limits, Patch
from headgate.engine.concurrency import Turns
from headgate.engine.validation import validate
from tests.engine.asking import answer

pytestmark = pytest.mark.anyio


class Workshop:
    """Operations that stand still until they are told to go on, so that a test sees which run together."""

    def __init__(self, concurrency: Concurrency, most: int = 100) -> None:
        self.running: list[str] = []
        self.done: list[str] = []
        self.may_end = anyio.Event()
        self.engine = Engine(self._adapter(), EngineOptions(concurrency=concurrency, max_concurrent_requests=most))

    def _adapter(self) -> Adapter:
        adapter = Adapter("workshop")

        async def work(name: str) -> None:
            self.running.append(name)
            try:
                await self.may_end.wait()
            finally:
                self.running.remove(name)
            self.done.append(name)

        @adapter.read
        async def get_part(part_id: str, name: str) -> None:
            """Get a part."""
            await work(name)

        @adapter.create
        async def create_part(part_id: str, name: str) -> None:
            """Make a part."""
            await work(name)

        @adapter.update
        async def update_part(part_id: str, input: dict[str, Any]) -> None:  # noqa: A002
            """Change a part."""
            await work(input["name"])

        @adapter.delete
        async def delete_part(part_id: str, name: str = "") -> None:
            """Remove a part."""
            await work(name)

        @adapter.update
        async def update_settings(input: dict[str, Any]) -> None:  # noqa: A002
            """Change the settings."""
            await work(input["name"])

        return adapter

    async def ask(self, operation: str, part: str, name: str) -> None:
        """One request; ``name`` says which."""
        beside = {"input": {"name": name}} if operation.startswith("update") else {"name": name}
        params = beside if operation == "update_settings" else {"part_id": part, **beside}
        await answer(self.engine, {"operation": operation, "params": params})

    async def start(self, tasks: TaskGroup, *requests: tuple[str, str, str]) -> None:
        """Start the requests in order, and come back when each of them runs or waits."""
        for request in requests:
            tasks.start_soon(self.ask, *request)
            await anyio.wait_all_tasks_blocked()


A, B = "part-a", "part-b"

TOGETHER = [
    pytest.param(Concurrency.SERIALIZED, "get_part", A, "get_part", B, False, id="serialized: reads wait"),
    pytest.param(Concurrency.SERIALIZED, "get_part", A, "create_part", B, False, id="serialized: all wait"),
    pytest.param(Concurrency.READ_CONCURRENT, "get_part", A, "get_part", A, True, id="read-concurrent: reads"),
    pytest.param(Concurrency.READ_CONCURRENT, "create_part", A, "create_part", B, False, id="read-concurrent: writes"),
    pytest.param(
        Concurrency.READ_CONCURRENT, "update_part", A, "delete_part", B, False, id="read-concurrent: any write"
    ),
    pytest.param(
        Concurrency.READ_CONCURRENT, "update_part", A, "get_part", A, True, id="read-concurrent: read and write"
    ),
    pytest.param(Concurrency.FULLY_CONCURRENT, "update_part", A, "update_part", A, True, id="fully-concurrent"),
    pytest.param(Concurrency.RESOURCE_LOCKED, "update_part", A, "update_part", A, False, id="resource-locked: same"),
    pytest.param(
        Concurrency.RESOURCE_LOCKED, "update_part", A, "delete_part", A, False, id="resource-locked: any write"
    ),
    pytest.param(Concurrency.RESOURCE_LOCKED, "update_part", A, "update_part", B, True, id="resource-locked: another"),
    pytest.param(Concurrency.RESOURCE_LOCKED, "update_part", A, "get_part", A, True, id="resource-locked: reads"),
    pytest.param(Concurrency.RESOURCE_LOCKED, "create_part", A, "create_part", A, True, id="resource-locked: creation"),
    pytest.param(Concurrency.RESOURCE_LOCKED, "update_settings", A, "update_settings", A, False, id="the one settings"),
    pytest.param(Concurrency.RESOURCE_LOCKED, "update_settings", A, "update_part", A, True, id="settings and a part"),
]


@pytest.mark.parametrize(("concurrency", "one", "part", "two", "other", "together"), TOGETHER)
async def test_two_requests_run_together_or_one_after_the_other(
    concurrency: Concurrency, one: str, part: str, two: str, other: str, together: bool
) -> None:
    workshop = Workshop(concurrency)
    async with anyio.create_task_group() as tasks:
        await workshop.start(tasks, (one, part, "first"), (two, other, "second"))
        assert workshop.running == (["first", "second"] if together else ["first"])
        workshop.may_end.set()
    assert workshop.done == ["first", "second"]


@pytest.mark.parametrize("concurrency", list(Concurrency))
async def test_requests_for_one_resource_run_in_the_order_they_came(concurrency: Concurrency) -> None:
    workshop = Workshop(concurrency)
    async with anyio.create_task_group() as tasks:
        await workshop.start(tasks, *(("update_part", A, str(number)) for number in range(5)))
        workshop.may_end.set()
    assert workshop.done == ["0", "1", "2", "3", "4"]


async def test_no_more_requests_are_in_work_than_allowed() -> None:
    workshop = Workshop(Concurrency.FULLY_CONCURRENT, most=2)
    async with anyio.create_task_group() as tasks:
        await workshop.start(tasks, *(("get_part", A, str(number)) for number in range(4)))
        assert workshop.running == ["0", "1"]
        workshop.may_end.set()
    assert workshop.done == ["0", "1", "2", "3"]


@pytest.mark.parametrize("concurrency", [Concurrency.SERIALIZED, Concurrency.RESOURCE_LOCKED])
async def test_a_request_that_is_cancelled_lets_the_next_one_run(concurrency: Concurrency) -> None:
    workshop = Workshop(concurrency)
    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def cancelled() -> None:
            with scope:
                await workshop.ask("update_part", A, "cancelled")

        tasks.start_soon(cancelled)
        await anyio.wait_all_tasks_blocked()
        await workshop.start(tasks, ("update_part", A, "next"))
        assert workshop.running == ["cancelled"]
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        assert workshop.running == ["next"]
        workshop.may_end.set()
    assert workshop.done == ["next"]


async def test_a_request_that_is_cancelled_while_it_waits_is_forgotten() -> None:
    workshop = Workshop(Concurrency.SERIALIZED)
    async with anyio.create_task_group() as tasks:
        await workshop.start(tasks, ("update_part", A, "first"))
        scope = anyio.CancelScope()

        async def impatient() -> None:
            with scope:
                await workshop.ask("update_part", A, "impatient")

        tasks.start_soon(impatient)
        await anyio.wait_all_tasks_blocked()
        await workshop.start(tasks, ("update_part", A, "patient"))
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        workshop.may_end.set()
    assert workshop.done == ["first", "patient"]


async def test_cancelled_requests_give_their_places_back() -> None:
    workshop = Workshop(Concurrency.FULLY_CONCURRENT, most=1)
    for _ in range(3):
        async with anyio.create_task_group() as tasks:
            await workshop.start(tasks, ("get_part", A, "in work"), ("get_part", A, "waiting"))
            assert workshop.running == ["in work"]
            tasks.cancel_scope.cancel()
    workshop.may_end.set()
    await workshop.ask("get_part", A, "last")
    assert workshop.done == ["last"]


async def test_a_handler_that_breaks_gives_its_place_and_its_lock_back() -> None:
    adapter = Adapter("x")

    @adapter.delete
    def delete_thing(thing_id: int) -> None:
        """Remove a thing."""
        raise KeyError(thing_id)

    engine = Engine(adapter, EngineOptions(max_concurrent_requests=1))
    for _ in range(3):
        envelope = await answer(engine, {"operation": "delete_thing", "thing_id": 1})
        assert envelope["error"]["code"] == "INTERNAL_ERROR"


async def test_a_thread_keeps_its_lock_until_it_has_ended_even_if_nobody_waits_for_it() -> None:
    adapter = Adapter("x")
    started, may_end = threading.Event(), threading.Event()
    order: list[int] = []

    @adapter.delete
    def delete_thing(thing_id: int, number: int = 0) -> None:
        """Remove a thing."""
        started.set()
        assert may_end.wait(10)
        order.append(number)

    engine = Engine(adapter)
    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def abandoned() -> None:
            with scope:
                await engine.call({"operation": "delete_thing", "params": {"thing_id": 1, "number": 1}})

        tasks.start_soon(abandoned)
        await anyio.to_thread.run_sync(started.wait)
        scope.cancel()
        tasks.start_soon(engine.call, {"operation": "delete_thing", "params": {"thing_id": 1, "number": 2}})
        await anyio.wait_all_tasks_blocked()
        assert order == []
        may_end.set()
    assert order == [1, 2]


# Which resource is meant.


def lock(annotation: object, value: object) -> object:
    """What a deletion of this resource must have for itself."""

    async def delete_thing(thing_id: Any) -> None:
        """Remove a thing."""

    delete_thing.__annotations__["thing_id"] = annotation
    adapter = Adapter("x")
    adapter.delete(delete_thing)
    operation = adapter.operations["delete_thing"]
    params = validate(operation, {"thing_id": value}, Limits(), strict=True).values
    return Turns(Concurrency.RESOURCE_LOCKED).key(operation, params)


@pytest.mark.parametrize(
    ("annotation", "one", "two"),
    [
        pytest.param(int, 1, 1.0, id="an integer with or without a point"),
        pytest.param(UUID, "123E4567-E89B-12D3-A456-426614174000", "123e4567-e89b-12d3-a456-426614174000", id="UUID"),
        pytest.param(dict[str, int], {"a": 1}, {"a": 1.0}, id="an object"),
        pytest.param(int, "123456789012345678901234567890", "123456789012345678901234567890", id="a huge integer"),
    ],
)
def test_one_resource_has_one_lock_however_it_is_written(annotation: object, one: object, two: object) -> None:
    assert lock(annotation, one) == lock(annotation, two)


@pytest.mark.parametrize(
    ("annotation", "one", "two"),
    [
        pytest.param(str, "a", "b", id="texts"),
        pytest.param(int | str, 1, "1", id="a number and a text"),
        pytest.param(list[int], [1, 2], [2, 1], id="arrays"),
    ],
)
def test_two_resources_have_two_locks(annotation: object, one: object, two: object) -> None:
    assert lock(annotation, one) != lock(annotation, two)


async def test_locks_exist_only_while_they_are_needed() -> None:
    turns = Turns(Concurrency.SERIALIZED)
    await turns.take("a")
    await turns.take("b")
    assert set(turns._locks) == {"a", "b"}
    turns.release("a")
    turns.release("b")
    assert turns._locks == {}


async def test_a_patch_is_no_identifier() -> None:
    adapter = Adapter("x")

    @adapter.update
    async def update_thing(thing_id: int, input: Patch[dict[str, Any]]) -> None:  # noqa: A002
        """Change a thing."""

    assert adapter.operations["update_thing"].lock_parameters == ("thing_id",)
