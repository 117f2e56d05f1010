"""Results: cut into pieces, read by page, and whole again when the pages are joined."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.encoding import encode
from headgate.executions import results
from headgate.executions.results import Cut, Page, cut, read_page
from headgate.executions.values import Outcome
from headgate.protocol.errors import AqlError
from headgate.protocol.results import Notice
from headgate.store.executions import Execution
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import found, kept_pieces, ledger_of, running

pytestmark = pytest.mark.anyio

SMALL = 20


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that little is much."""
    monkeypatch.setattr(results, "PAGE", SMALL)


async def completed(store: SqlStore, data: object) -> Execution:
    """An execution that has given a result."""
    ledger = ledger_of(store)
    execution = await running(ledger)
    await ledger.complete(execution, cut(data, encode))
    return await found(ledger, execution)


async def pages(store: SqlStore, execution: Execution, first: int = 1000) -> AsyncIterator[Page]:
    """All pages, each from where the one before has ended."""
    after = 0
    while True:
        page = await read_page(store, execution, after, first)
        yield page
        after += page.returned
        if after >= page.total:
            return


async def joined(store: SqlStore, execution: Execution, first: int = 1000) -> Any:
    """What a reader has who has joined all pages."""
    all_of_it = [page async for page in pages(store, execution, first)]
    if all_of_it[0].is_text:
        return json.loads("".join(page.content for page in all_of_it))
    items = [json.loads(page.content) for page in all_of_it]
    return items[0] if len(items) == 1 else [item for page in items for item in page]


VALUES: dict[str, object] = {
    "an empty list": [],
    "a list of one": [1],
    "a list over several pieces": [f"item {number}" for number in range(50)],
    "a list with items of all kinds": [None, True, 1.5, "a,b", [1, [2]], {"a": "]"}, "\\", '"', ""],
    "a list with an item larger than a piece": [1, "x" * 3 * SMALL, 2],
    "a list of nothing but large items": ["x" * 2 * SMALL, "y" * 2 * SMALL],
    "a short text": "done",
    "an empty text": "",
    "a large text": "".join(str(number) for number in range(200)),
    "a large object": {f"key {number}": list(range(number)) for number in range(20)},
    "nothing": None,
    "a number": 17,
    "characters beyond ASCII": ["é" * 9, "日本語" * 5, "\U0001f600" * 8, "\x00", "a\u2028b"],
    "a large text beyond ASCII": "é日\U0001f600" * 3 * SMALL,
}


@pytest.mark.usefixtures("small_pages")
async def test_all_pages_together_are_the_result(store: SqlStore) -> None:
    for name, value in VALUES.items():
        execution = await completed(store, value)
        assert await joined(store, execution) == value, name
        assert await joined(store, execution, first=2) == value, name


@pytest.mark.usefixtures("small_pages")
async def test_no_piece_and_no_page_is_larger_than_a_page(store: SqlStore) -> None:
    for name, value in VALUES.items():
        execution = await completed(store, value)
        assert all(len(piece.content) <= SMALL for piece in await kept_pieces(store, execution)), name
        async for page in pages(store, execution):
            items = json.loads(page.content) if not page.is_text and isinstance(value, list) else []
            brackets_and_commas = len(items) + 1
            assert len(page.content) <= SMALL + brackets_and_commas, name


@pytest.mark.usefixtures("small_pages")
async def test_a_page_has_as_many_items_as_were_asked_for_from_wherever_it_begins(store: SqlStore) -> None:
    execution = await completed(store, list(range(100)))
    for after, first in [(0, 3), (5, 1), (17, 4), (98, 2), (99, 5)]:
        page = await read_page(store, execution, after, first)
        assert json.loads(page.content) == list(range(100))[after : after + first]
        assert (page.start, page.returned, page.total) == (after, min(first, 100 - after), 100)
        assert not page.is_all
    beyond = await read_page(store, execution, 100, 10)
    assert (beyond.content, beyond.returned) == ("[]", 0)


async def test_what_fits_comes_at_once(store: SqlStore) -> None:
    numbers = await read_page(store, await completed(store, [1, 2, 3]), 0, 1000)
    assert (numbers.content, numbers.is_all, numbers.is_text) == ("[1,2,3]", True, False)
    value = await read_page(store, await completed(store, {"a": "é"}), 0, 1000)
    assert (value.content, value.is_all, value.is_text) == ('{"a":"é"}', True, False)
    nothing = await read_page(store, await completed(store, []), 0, 1000)
    assert (nothing.content, nothing.is_all, nothing.total) == ("[]", True, 0)


@pytest.mark.usefixtures("small_pages")
async def test_a_text_can_be_read_on_from_any_character(store: SqlStore) -> None:
    text = "0123456789" * 7
    execution = await completed(store, text)
    for after in (0, 1, SMALL - 1, SMALL, 71):
        page = await read_page(store, execution, after, 1000)
        assert page.content == f'"{text}"'[after : SMALL * (after // SMALL + 1)]
        assert (page.is_text, page.start, page.total) == (True, after, 72)


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=30),
    lambda children: st.lists(children, max_size=6) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=25,
)


@settings(max_examples=80)
@given(value=_json, first=st.integers(1, 5))
async def test_whatever_the_result_is_its_pages_joined_are_the_whole(value: object, first: int) -> None:
    store = open_store("memory:")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "PAGE", SMALL)
        try:
            assert await joined(store, await completed(store, value), first) == json.loads(encode(value))
        finally:
            await store.close()


def test_a_list_is_told_by_its_items_and_all_else_by_its_size() -> None:
    assert cut([1, 22], encode).outcome == Outcome(size=4, pieces=1, items=2)
    assert cut((1, 22), encode).outcome == Outcome(size=4, pieces=1, items=2)
    assert cut({"a": 1}, encode).outcome == Outcome(size=7, pieces=1)
    assert cut([], encode) == Cut([], Outcome(size=0, pieces=0, items=0))


@pytest.mark.parametrize("value", [["x" * 60, "y" * 60], "x" * 120], ids=["list", "text"])
def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    monkeypatch.setattr(results, "LARGEST", 130)
    assert cut(value, encode).outcome.size <= 130
    monkeypatch.setattr(results, "LARGEST", 120)
    with pytest.raises(AqlError, match=r"characters of JSON, and 120 are kept") as raised:
        cut(value, encode)
    assert raised.value.error.code == "VALIDATION_PAYLOAD_TOO_LARGE"


async def test_warnings_are_kept_with_the_result(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger)
    notices = (Notice("OLD", "It is old", {"days": 3}, "low"), Notice("PLAIN", "No more to say"))
    await ledger.complete(execution, cut([1], encode, notices))
    kept = (await found(ledger, execution)).outcome
    assert kept is not None
    assert Outcome.read(kept).warnings == notices
