"""Several processes on one store behave as one."""

from collections.abc import Iterator

import pytest

from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.schema import MIGRATIONS
from headgate.store.windows import Charge
from tests.store.crew import Crew, Member
from tests.store.entries import broken, entry, rows

pytestmark = pytest.mark.anyio

SIZE = 4


@pytest.fixture(scope="module")
def everyone() -> Iterator[Crew]:
    crew = Crew(SIZE)
    yield crew
    crew.end()


@pytest.fixture
def crew(everyone: Crew, shared_url: str) -> Iterator[Crew]:
    """Four programs that are about to use one store, which is not made yet."""
    everyone.each("open", shared_url)
    yield everyone
    everyone.each("open", "memory:")


async def test_a_new_store_is_made_once(crew: Crew, shared_url: str) -> None:
    assert sum(crew.each("insert", "k")) == 1
    store = open_store(shared_url)
    assert await store._read("SELECT value FROM headgate.meta") == [(str(len(MIGRATIONS)),)]
    assert [row.entry.event for row in await rows(store)] == ["inserted"]
    await store.close()


async def test_of_changes_at_once_one_happens_each_time(crew: Crew, shared_url: str) -> None:
    crew.each("insert", "k")
    for version in range(1, 21):
        assert sum(crew.each("replace", version)) == 1
    store = open_store(shared_url)
    assert await store.find("token", "k") == Record("token", "k", {}, version=21)
    assert [row.entry.event for row in await rows(store)] == ["inserted", *["replaced"] * 20]
    assert await broken(store) is None
    await store.close()


async def test_no_more_is_admitted_than_the_limit(crew: Crew, shared_url: str) -> None:
    assert sum(crew.each("charge", 25, 60)) == 60
    store = open_store(shared_url)
    small, large = await store.used([Charge("small", 60, 0), Charge("large", 60, 0)], 1_000.0)
    assert (small.amount, large.amount) == (60, 60)
    await store.close()


async def test_the_audit_is_one_chain(crew: Crew, shared_url: str) -> None:
    written = sum(crew.each("append", 20))
    store = open_store(shared_url)
    assert [row.number for row in await rows(store)] == list(range(1, written + 1))
    assert await broken(store) is None
    await store.close()


async def test_a_writer_that_is_killed_leaves_a_whole_chain(shared_url: str) -> None:
    store = open_store(shared_url)
    await store.open()
    known = 0
    for _ in range(2):
        member = Member()
        member.tell("open", shared_url)
        member.answer()
        member.tell("append forever")
        known += sum(member.answer() for _ in range(10)) + member.kill()
        head = await store.head()
        assert head.number >= 2 * known  # what was told is there
        assert head.number % 2 == 0  # and what was begun is whole or not there
        known = head.number // 2
        assert await broken(store) is None
    await store.append([entry("still alive")])
    assert await broken(store) is None
    await store.close()
