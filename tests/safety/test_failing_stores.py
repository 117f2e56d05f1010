"""Stores that fail: without its state the gatekeeper lets nothing pass, and what nothing concerns needs no state."""

import logging
from typing import Any

import pytest

from headgate import Adapter, RateLimited
from headgate.store.interface import Store, StoreError
from headgate.store.sql import SqlStore
from tests.safety.guarding import Clock, Guarded

pytestmark = pytest.mark.anyio

METHODS = (
    *("open", "insert", "replace", "find", "list", "count", "remove", "purge"),
    *("charge", "used", "append", "head", "start", "rows", "prune", "close"),
)
WORDS = "disk-full-on-host-7"


class Broken:
    """A store of which every method, or some, raise."""

    url = "broken:"

    def __init__(self, store: SqlStore, error: Exception, *methods: str) -> None:
        self._store = store
        self._error = error
        self.methods = set(methods or METHODS)
        self.touched: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        self.touched.append(name)
        if name not in self.methods:
            return getattr(self._store, name)

        async def fails(*_: object, **__: object) -> None:
            raise self._error

        return fails


class Shelf(Guarded):
    """Operations of each danger, and what ran."""

    def __init__(self, store: Store, rules: str = "", **more: Any) -> None:
        self.ran: list[str] = []
        self.limited = False
        adapter = Adapter("shelf")

        @adapter.read
        async def get_book() -> str:
            """Get a book."""
            if self.limited:
                raise RateLimited(30)
            return "a book"

        @adapter.create
        async def create_book() -> str:
            """Create a book."""
            self.ran.append("create")
            return "made"

        @adapter.delete
        async def delete_book() -> str:
            """Delete a book."""
            self.ran.append("delete")
            return "gone"

        super().__init__(adapter, store, rules, **more)


ERRORS = pytest.mark.parametrize(
    "error", [StoreError(WORDS), OSError(WORDS), RuntimeError(WORDS)], ids=["StoreError", "OSError", "RuntimeError"]
)


@pytest.mark.parametrize(
    "rules",
    ["", '[[rule]]\nname = "no"\ndecision = "deny"\noperations = "delete_*"', "[confirmation]\nelicit = false"],
    ids=["no policy", "a rule for something else", "settings"],
)
async def test_what_nothing_concerns_never_touches_the_store(store: SqlStore, rules: str) -> None:
    broken = Broken(store, StoreError(WORDS))
    shelf = Shelf(broken, rules)
    assert (await shelf.call("get_book"))["success"]
    assert (await shelf.call("create_book"))["success"]
    assert (await shelf.call("introspect", {"query": "operations"}))["success"]
    assert (await shelf.call("introspect", {"query": "danger"}))["success"]
    batch = await shelf.ask({"operations": [{"operation": "get_book"}, {"operation": "create_book"}]})
    assert batch["summary"]["succeeded"] == 2
    assert broken.touched == []


GUARDED = {
    "an audited operation": ("delete_book", "", "certified"),
    "one that must be confirmed": ("delete_book", "", "validated"),
    "one that a person confirms": ("delete_book", '[confirmation]\nby = "person"', "validated"),
    "one that is denied": ("delete_book", "", "generated"),
    "one that is limited": ("get_book", '[[api_limit]]\nscope = "global"\nlimit = 5\nwindow = "minute"', "validated"),
    "one with a quota": ("get_book", '[[quota]]\nmetric = "requests_per_day"\nwarn = 5', "validated"),
    "one that escalates": ("create_book", '[escalation]\nafter = 5\nwithin = "minute"', "validated"),
    "one of which everything is audited": ("get_book", '[audit]\noperations = "all"', "validated"),
}


@ERRORS
@pytest.mark.parametrize("guarded", GUARDED.values(), ids=GUARDED)
async def test_without_its_state_nothing_that_is_guarded_runs(
    store: SqlStore, guarded: tuple[str, str, str], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    operation, rules, trust = guarded
    shelf = Shelf(Broken(store, error), rules, trust=trust)
    for token in (None, "conf_" + "x" * 59):
        envelope = await shelf.call(operation, token=token)
        assert envelope["error"]["code"] == "INTERNAL_ERROR"
        assert WORDS not in str(envelope)
        assert WORDS in caplog.text
    assert shelf.ran == []


@ERRORS
async def test_a_right_token_does_not_count_if_its_use_cannot_be_written_down(
    store: SqlStore, error: Exception
) -> None:
    clock = Clock()
    whole = Shelf(store, clock=clock)
    token = await whole.token("delete_book")
    for method in ("find", "used", "replace"):
        shelf = Shelf(Broken(store, error, method), clock=clock)
        assert await shelf.code("delete_book", token=token, session=whole.session) == "INTERNAL_ERROR"
        assert shelf.ran == []
    assert (await whole.call("delete_book", token=token))["success"]


@ERRORS
async def test_a_store_that_fails_after_the_run_does_not_take_the_answer_away(
    store: SqlStore, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Broken(store, error, "no method yet")
    shelf = Shelf(broken)
    token = await shelf.token("delete_book")
    broken.methods = {"append"}
    with caplog.at_level(logging.ERROR, "headgate"):
        envelope = await shelf.call("delete_book", token=token)
    assert envelope == {"success": True, "data": "gone"}
    assert "could not be written down" in caplog.text
    broken.methods = set()
    assert (await shelf.events())[-2:] == ["approved", "executed"]
    assert shelf.ran == ["delete"]


# What waits for an upstream.


async def test_an_upstream_that_asks_for_patience_is_left_alone_until_then(store: SqlStore) -> None:
    shelf = Shelf(Broken(store, StoreError(WORDS)))
    shelf.limited = True
    first = await shelf.call("get_book")
    assert first["error"]["details"]["retry_after_seconds"] == 30
    shelf.limited = False
    shelf.clock.move(10)
    held = (await shelf.call("get_book"))["error"]
    assert (held["code"], held["details"]["retry_after_seconds"]) == ("RATE_LIMIT_EXCEEDED", 20)
    assert (await shelf.call("create_book"))["success"], "others are not concerned"
    shelf.clock.move(19.999)
    assert await shelf.code("get_book") == "RATE_LIMIT_EXCEEDED"
    shelf.clock.move(0.001)
    assert (await shelf.call("get_book"))["success"]
