"""``dry_run: true``: what would happen is told, nothing happens, and nobody has to confirm it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from headgate import Adapter, Engine, NotFound, Param
from headgate.protocol.danger import Trust
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.engine.asking import ask
from tests.safety.guarding import Guarded, code_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    store = open_store("memory:")
    yield store
    await store.close()


@dataclass
class Book:
    id: int
    title: str


class Library(Guarded):
    """Functions that cannot try, functions that can, and a collection."""

    def __init__(self, store: SqlStore, rules: str = "", **more: Any) -> None:
        self.ran: list[object] = []
        self.tried: list[object] = []
        self.books = {1: Book(1, "Dune"), 2: Book(2, "Emma")}
        super().__init__(self._adapter(), store, rules, **more)

    def _adapter(self) -> Adapter:
        adapter = Adapter("library")

        @adapter.delete
        async def delete_shelf(name: str, key: Annotated[str, Param(sensitive=True)] = "") -> str:
            """Remove a shelf."""
            self.ran.append(name)
            return name

        @adapter.delete
        async def delete_loans(reader: str, dry_run: bool = False) -> dict[str, object]:
            """Remove the loans of a reader."""
            if reader == "nobody":
                raise NotFound("reader", reader)
            (self.tried if dry_run else self.ran).append(reader)
            return {"affected": len(reader)}

        @adapter.read
        async def list_shelves() -> list[str]:
            """List the shelves."""
            return []

        adapter.collection(Book, key="id", items=self.books)
        return adapter


CALLS: dict[str, dict[str, Any]] = {
    "delete_shelf": {"name": "a"},
    "delete_loans": {"reader": "b"},
    "delete_book": {"id": 1},
}
SHELF = {"name": "a", "key": "s3cret-key"}
DRY = {"dry_run": True}


async def test_a_function_that_cannot_try_is_not_called_and_the_answer_tells_what_would_be(store: SqlStore) -> None:
    library = Library(store)
    envelope = await library.call("delete_shelf", {"name": "a", **DRY})
    assert envelope["data"] == {
        "dry_run": True,
        "affected": None,
        "would_run": {"operation": "delete_shelf", "params": {"name": "a"}},
    }
    assert library.ran == []


async def test_what_would_be_called_is_told_without_secrets(store: SqlStore) -> None:
    library = Library(store)
    envelope = await library.call("delete_shelf", {**SHELF, **DRY})
    assert envelope["data"]["would_run"]["params"] == {"name": "a", "key": "***"}
    assert "s3cret" not in str(envelope)
    assert "s3cret" not in await library.told()


async def test_a_function_that_can_try_is_called_to_try(store: SqlStore) -> None:
    library = Library(store)
    assert (await library.call("delete_loans", {"reader": "ann", **DRY}))["data"] == {"affected": 3}
    assert (library.tried, library.ran) == (["ann"], [])


async def test_a_collection_tells_what_it_would_do_and_does_nothing(store: SqlStore) -> None:
    library = Library(store)
    deleted = (await library.call("delete_book", {"id": 1, **DRY}))["data"]
    assert (deleted["dry_run"], deleted["affected"], deleted["would_delete"]["title"]) == (True, 1, "Dune")
    created = (await library.call("create_book", {"id": 3, "title": "Ulysses", **DRY}))["data"]
    assert (created["affected"], created["would_create"]["title"]) == (1, "Ulysses")
    updated = (await library.call("update_book", {"id": 1, "input": {"title": "Dune II"}, **DRY}))["data"]
    assert (updated["before"]["title"], updated["after"]["title"]) == ("Dune", "Dune II")
    assert [book.title for book in library.books.values()] == ["Dune", "Emma"]


@pytest.mark.parametrize("params", [{"dry_run": False}, {}], ids=str)
async def test_without_it_a_deletion_must_be_confirmed(store: SqlStore, params: dict[str, Any]) -> None:
    library = Library(store)
    for operation, more in CALLS.items():
        assert await library.code(operation, {**more, **params}) == "CONFIRMATION_REQUIRED"
    assert (library.ran, library.tried, len(library.books)) == ([], [], 2)


@pytest.mark.parametrize("value", [1, "true", "yes", [True], {}], ids=repr)
@pytest.mark.parametrize("operation", CALLS)
async def test_what_only_looks_like_a_dry_run_is_refused(store: SqlStore, operation: str, value: object) -> None:
    library = Library(store)
    assert await library.code(operation, {**CALLS[operation], "dry_run": value}) == "VALIDATION_INVALID_TYPE"
    assert (library.ran, library.tried, len(library.books)) == ([], [], 2)


@pytest.mark.parametrize(
    ("rules", "trust", "code"),
    [
        ("", "generated", "PERMISSION_DANGER_LEVEL_DENIED"),
        ('[[rule]]\nname = "no"\ndecision = "deny"\noperations = "delete_*"', "certified", "PERMISSION_DENIED"),
        ('default = "deny"', "certified", "PERMISSION_DENIED"),
    ],
    ids=["by trust", "by a rule", "by default"],
)
async def test_a_dry_run_of_what_is_denied_is_denied(store: SqlStore, rules: str, trust: str, code: str) -> None:
    library = Library(store, rules, trust=trust)
    for operation, params in CALLS.items():
        assert await library.code(operation, {**params, **DRY}) == code
    assert (library.ran, library.tried) == ([], [])


async def test_a_dry_run_gives_no_token_and_the_audit_says_that_it_was_one(store: SqlStore) -> None:
    library = Library(store)
    await library.call("delete_shelf", {"name": "a", **DRY})
    entries = await library.audit()
    assert [entry.event for entry in entries] == ["proposed", "executed", "returned"]
    assert all(entry.details["dry_run"] is True for entry in entries)


async def test_reading_has_no_dry_run(store: SqlStore) -> None:
    library = Library(store)
    assert await library.code("list_shelves", DRY) == "VALIDATION_UNKNOWN_PARAM"


async def test_without_a_gatekeeper_a_dry_run_runs_nothing_too(store: SqlStore) -> None:
    library = Library(store)
    engine = Engine(library.engine.adapter)
    assert (await ask(engine, "delete_shelf", name="a", dry_run=True))["data"]["dry_run"] is True
    assert library.ran == []


# Rules that look at the number of rows.

MANY = """
[[rule]]
name = "many"
decision = "confirm"
operations = "delete_loans"
affected_rows = {gt = 3}
"""


@pytest.mark.parametrize(("reader", "code"), [("bob", ""), ("anna", "CONFIRMATION_REQUIRED")], ids=["few", "many"])
async def test_a_rule_over_rows_has_the_call_tried_first(store: SqlStore, reader: str, code: str) -> None:
    library = Library(store, MANY, trust=Trust.CERTIFIED)
    assert await library.code("delete_loans", {"reader": reader}) == code
    assert library.tried == [reader]
    assert library.ran == ([] if code else [reader])


async def test_a_confirmed_call_is_tried_again_before_it_runs(store: SqlStore) -> None:
    library = Library(store, MANY, trust=Trust.CERTIFIED)
    token = await library.token("delete_loans", {"reader": "anna"})
    assert (await library.call("delete_loans", {"reader": "anna"}, token=token))["success"]
    assert (library.tried, library.ran) == (["anna", "anna"], ["anna"])


async def test_where_the_number_of_rows_is_unknown_a_rule_that_asks_does_ask(store: SqlStore) -> None:
    library = Library(store, MANY.replace("delete_loans", "delete_*"), trust=Trust.CERTIFIED)
    assert await library.code("delete_shelf", {"name": "a"}) == "CONFIRMATION_REQUIRED"
    assert (await library.call("delete_book", {"id": 1}))["success"], "a collection tells, and it is one"
    assert library.ran == []


async def test_leave_for_few_rows_is_none_where_the_number_is_unknown(store: SqlStore) -> None:
    rules = 'default = "deny"\n' + MANY.replace("confirm", "allow").replace("gt = 3", "lte = 3")
    library = Library(store, rules.replace('"delete_loans"', '"delete_*"'), trust=Trust.CERTIFIED)
    assert (await library.call("delete_loans", {"reader": "bob"}))["success"]
    assert await library.code("delete_loans", {"reader": "anna"}) == "PERMISSION_DENIED"
    assert await library.code("delete_shelf", {"name": "a"}) == "PERMISSION_DENIED"
    assert library.ran == ["bob"]


async def test_a_dry_run_is_judged_by_its_rows_like_the_call_itself(store: SqlStore) -> None:
    library = Library(store, MANY.replace("confirm", "deny"), trust=Trust.CERTIFIED)
    assert await library.code("delete_loans", {"reader": "anna", **DRY}) == "PERMISSION_DENIED"
    assert (await library.call("delete_loans", {"reader": "bob", **DRY}))["success"]
    assert library.ran == []


async def test_a_trial_that_fails_is_the_answer_and_nothing_runs(store: SqlStore) -> None:
    library = Library(store, MANY, trust=Trust.CERTIFIED)
    assert await library.code("delete_loans", {"reader": "nobody"}) == "NOT_FOUND_RESOURCE"
    assert library.ran == []


async def test_whoever_is_denied_anyway_does_not_learn_what_a_trial_would_find(store: SqlStore) -> None:
    denied = '[[rule]]\nname = "not eve"\ndecision = "deny"\noperations = "delete_*"\ncallers = "anonymous"\n'
    library = Library(store, denied + MANY, trust=Trust.CERTIFIED)
    answers = {str(await library.call("delete_loans", {"reader": reader})) for reader in ("nobody", "bob", "anna")}
    assert len(answers) == 1
    assert "PERMISSION_DENIED" in answers.pop()
    assert library.tried == []


async def test_a_function_that_cannot_try_says_so_in_introspection(store: SqlStore) -> None:
    library = Library(store)
    for operation, words in (("delete_shelf", "run nothing"), ("delete_book", "change nothing")):
        told = (await library.call("introspect", {"query": "operations", "name": operation}))["data"]["operation"]
        [parameter] = [one for one in told["parameters"] if one["name"] == "dry_run"]
        assert words in parameter["description"]
        assert not parameter["required"]
    assert code_of(await library.call("introspect", {"query": "danger"})) == ""
