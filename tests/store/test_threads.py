"""Work in another thread: in its order, with its result or its error, and waited for whatever happens meanwhile."""

import asyncio
import datetime
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.store.drivers import base
from headgate.store.drivers.base import OneThread, in_thread
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record

pytestmark = pytest.mark.anyio


@pytest.fixture
def thread() -> Iterator[OneThread]:
    made = OneThread("tested")
    yield made
    made.shutdown()


async def test_what_is_found_or_raised_arrives(thread: OneThread) -> None:
    assert await in_thread(thread, lambda: threading.current_thread().name) == "tested"

    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await in_thread(thread, fails)
    assert await in_thread(thread, lambda: 5) == 5


async def test_what_comes_first_is_done_first(thread: OneThread) -> None:
    done: list[int] = []
    await asyncio.gather(*(in_thread(thread, lambda number=number: done.append(number)) for number in range(50)))  # type: ignore[misc]
    assert done == list(range(50))


async def test_a_task_that_is_cancelled_waits_for_the_end(thread: OneThread) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), list[bool]()

    def slow() -> None:
        begun.set()
        assert may_end.wait(60)
        ended.append(True)

    task = asyncio.create_task(in_thread(thread, slow))
    await asyncio.to_thread(begun.wait)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


async def test_a_task_that_is_cancelled_as_the_answer_arrives_is_cancelled(thread: OneThread) -> None:
    for turns in range(8):
        task = asyncio.create_task(in_thread(thread, lambda: 5))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        [found] = await asyncio.gather(task, return_exceptions=True)
        assert found == 5 or isinstance(found, asyncio.CancelledError)


def test_shutting_down_waits_for_all_that_was_to_be_done() -> None:
    thread, done = OneThread("tested"), list[int]()
    may_begin = threading.Event()
    thread.submit(may_begin.wait, 60)
    for number in range(5):
        thread.submit(done.append, number)
    may_begin.set()
    thread.shutdown()
    assert done == list(range(5))


def test_a_thread_that_was_never_asked_was_never_started() -> None:
    before = threading.active_count()
    thread = OneThread("tested")
    assert threading.active_count() == before
    thread.shutdown()


def test_an_answer_for_a_loop_that_is_gone_disturbs_nobody() -> None:
    """A server that ends in a hurry leaves a thread behind that finds nobody to tell."""
    loop = asyncio.new_event_loop()
    answer: base._Answer[int] = base._Answer(loop)
    loop.close()
    answer.find(lambda: 5)
    assert answer.result() == 5


# Whichever way a record is written, it is read as it was

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    | st.sampled_from(["null", "a null b", 2**63, 2**64, -(2**63) - 1, 10**60, -0.0, 1e16, 1e300]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5).filter(str.isascii), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "null"]), JSON, max_size=3))
async def test_every_value_is_read_as_it_was_kept(value: dict[str, Any]) -> None:
    store = open_store("memory:")
    try:
        assert await store.change([Record("kind", "k", value)])
        found = await store.find("kind", "k")
        assert found
        assert repr(found.value) == repr(value)
    finally:
        await store.close()


@dataclass
class Thing:
    name: str = "x"


REFUSED = {
    "a dataclass": Thing(),
    "a time": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    "a day": datetime.date(2026, 1, 1),
    "bytes": b"x",
    "a set": {1},
    "not a number": float("nan"),
    "infinity": [float("-inf")],
    "half of a character": "\ud800",
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
async def test_what_is_no_json_is_refused_however_it_is_written(value: object) -> None:
    store = open_store("memory:")
    try:
        with pytest.raises(StoreError, match="is not JSON"):
            await store.change([Record("kind", "k", {"plain": "x", "value": value})])
        assert await store.find("kind", "k") is None
    finally:
        await store.close()
