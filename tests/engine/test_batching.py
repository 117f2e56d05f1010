"""Several operations in one request (Operations 7)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headgate import Adapter, AqlError, Conflict, Context, Engine, EngineOptions, Limits, NotFound, Session
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.engine.asking import answer, leaks
from tests.safety.guarding import gatekeeper
from tests.support import schema_errors

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    """Where the gatekeeper keeps its state. Adapters are trusted so far that deletions must be confirmed."""
    store = open_store("memory:")
    yield store
    await store.close()


def library(store: SqlStore | None = None, policy: str = "", **more: Any) -> Engine:
    """An engine, with a store behind a gatekeeper."""
    adapter = Adapter("library")
    ran: list[str] = []

    @adapter.create
    async def create_book(title: str) -> list[str]:
        """Add a book."""
        ran.append(title)
        return list(ran)

    @adapter.create
    async def create_text(size: int, letter: str = "x") -> str:
        """Write a text."""
        return letter * size

    @adapter.create
    async def create_trouble(kind: str) -> None:
        """Make trouble."""
        raise NotFound("trouble", kind) if kind == "typed" else RuntimeError(kind)

    @adapter.create
    async def create_warning(ctx: Context) -> int:
        """Warn."""
        ctx.warn("A_WARNING", "x")
        return 1

    @adapter.delete
    async def delete_book(title: str) -> str:
        """Remove a book."""
        return title

    return Engine(adapter, gatekeeper=gatekeeper(adapter, store, policy) if store else None, **more)


def book(title: str, **beside: Any) -> dict[str, Any]:
    return {"operation": "create_book", "params": {"title": title}, **beside}


async def batch(engine: Engine, *items: object, **where: Any) -> dict[str, Any]:
    return await answer(engine, {"operations": list(items)}, **where)


async def test_operations_run_in_order_and_each_has_its_result() -> None:
    assert await batch(library(), book("a"), book("b")) == {
        "success": True,
        "data": None,
        "results": [
            {"index": 0, "operation": "create_book", "result": {"success": True, "data": ["a"]}},
            {"index": 1, "operation": "create_book", "result": {"success": True, "data": ["a", "b"]}},
        ],
        "summary": {"total": 2, "succeeded": 2, "failed": 0},
    }


BROKEN_ITEMS = [
    pytest.param({"operation": "nonsense"}, "nonsense", "NOT_FOUND_OPERATION", id="an unknown operation"),
    pytest.param({"operation": "create_book"}, "create_book", "VALIDATION_MISSING_PARAM", id="a missing parameter"),
    pytest.param(
        {"operation": "create_trouble", "kind": "typed"}, "create_trouble", "NOT_FOUND_RESOURCE", id="a typed error"
    ),
    pytest.param(
        {"operation": "create_trouble", "kind": "x"}, "create_trouble", "INTERNAL_ERROR", id="a broken handler"
    ),
    pytest.param({}, "", "VALIDATION_MISSING_PARAM", id="an empty object"),
    pytest.param({"operation": 5}, "", "VALIDATION_INVALID_TYPE", id="an operation that is no text"),
    pytest.param(None, "", "VALIDATION_INVALID_TYPE", id="null"),
    pytest.param("create_book", "", "VALIDATION_INVALID_TYPE", id="a text"),
    pytest.param({"operations": [book("z")]}, "", "VALIDATION_INVALID_VALUE", id="a batch in a batch"),
    pytest.param({"operation": "introspect"}, "introspect", "VALIDATION_MISSING_PARAM", id="introspection"),
]


@pytest.mark.parametrize(("item", "name", "code"), BROKEN_ITEMS)
async def test_one_failure_stops_no_other_and_the_batch_succeeds(item: object, name: str, code: str) -> None:
    envelope = await batch(library(), book("a"), item, book("b"))
    assert envelope["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    assert [result["operation"] for result in envelope["results"]] == ["create_book", name, "create_book"]
    assert envelope["results"][1]["result"]["error"]["code"] == code
    assert envelope["results"][2]["result"]["data"] == ["a", "b"]


async def test_a_batch_of_nothing_but_failures_has_still_been_processed() -> None:
    engine = library()
    reply = await engine.call({"operations": [1, 2]})
    assert (reply.failed, reply.is_error) == (False, False)
    assert json.loads(reply.text)["summary"] == {"total": 2, "succeeded": 0, "failed": 2}


async def test_an_operation_of_another_family_fails_alone() -> None:
    envelope = await batch(library(), book("a"), {"operation": "delete_book", "title": "a"}, endpoint="create")
    assert envelope["results"][1]["result"]["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"
    assert envelope["summary"]["succeeded"] == 1


async def test_a_batch_sent_as_text_with_params_as_text_is_read() -> None:
    text = json.dumps([{"operation": "create_book", "params": json.dumps({"title": "a"})}])
    envelope = await answer(library(), {"operations": text})
    assert envelope["results"][0]["result"]["data"] == ["a"]
    assert envelope["results"][0]["result"]["warnings"][0]["code"] == "VALIDATION_STRINGIFIED_WARNING"


async def test_warnings_stay_with_the_result_they_belong_to() -> None:
    envelope = await batch(library(), {"operation": "create_warning"}, book("a"))
    assert [len(item["result"].get("warnings", [])) for item in envelope["results"]] == [1, 0]


async def test_a_long_name_is_repeated_only_in_part() -> None:
    envelope = await batch(library(), {"operation": "x" * 100_000})
    assert envelope["results"][0]["operation"] == "x" * 64


@pytest.mark.parametrize(
    "arguments", [{"operations": []}, {"operations": "x"}, {"operations": [1], "params": {}}], ids=str
)
async def test_a_batch_that_is_none_fails_as_a_whole_without_details(arguments: object) -> None:
    envelope = await answer(library(), arguments)
    assert schema_errors(envelope, "batch-operation") == []
    assert set(envelope["error"]) == {"code", "message"}


# Halting for a confirmation.

DELETION = {"operation": "delete_book", "params": {"title": "a"}}


async def test_a_batch_halts_where_a_confirmation_is_needed(store: SqlStore) -> None:
    envelope = await batch(library(store), book("a"), {}, DELETION, book("b", _meta=1), {"operation": "x"}, 5)
    assert schema_errors(envelope, "batch-operation") == []
    assert [item["index"] for item in envelope["results"]] == [0, 1]
    halted = envelope["halted_at"]
    assert (halted["index"], halted["operation"]) == (2, "delete_book")
    assert halted["result"]["error"]["code"] == "CONFIRMATION_REQUIRED"
    details = halted["result"]["error"]["details"]
    assert details["confirmation_token"].startswith("conf_")
    assert (details["operation"], details["danger_level"]) == ("delete_book", "destructive")
    assert envelope["pending_operations"] == [
        {"index": 3, "operation": "create_book", "params": {"title": "b"}},
        {"index": 4, "operation": "x"},
        {"index": 5, "operation": ""},
    ]
    assert envelope["summary"] == {"total": 6, "succeeded": 1, "failed": 1, "halted": 1, "pending": 3}


async def test_what_comes_after_the_halt_does_not_run(store: SqlStore) -> None:
    engine = library(store)
    await batch(engine, book("a"), DELETION, book("b"))
    envelope = await batch(engine, book("c"))
    assert envelope["results"][0]["result"]["data"] == ["a", "c"]


async def test_what_is_pending_can_be_sent_again_as_it_stands(store: SqlStore) -> None:
    engine = library(store)
    halted = await batch(engine, DELETION, book("a"), {"operation": "create_book", "params": '{"title": "b"}'})
    again = [{key: item[key] for key in ("operation", "params")} for item in halted["pending_operations"]]
    assert (await batch(engine, *again))["summary"] == {"total": 2, "succeeded": 2, "failed": 0}


async def test_a_batch_may_halt_with_its_first_and_with_its_last_operation(store: SqlStore) -> None:
    engine = library(store)
    first = await batch(engine, DELETION)
    assert (first["results"], first["pending_operations"]) == ([], [])
    last = await batch(engine, book("a"), DELETION)
    assert last["summary"] == {"total": 2, "succeeded": 1, "failed": 0, "halted": 1, "pending": 0}


async def test_a_single_operation_that_needs_a_confirmation_fails_with_the_token(store: SqlStore) -> None:
    engine = library(store)
    envelope = await answer(engine, DELETION)
    details = envelope["error"]["details"]
    assert details["confirmation_token"] == envelope["confirmation"]["token"]
    assert details["expires_at"] == envelope["confirmation"]["expires_at"]
    assert details["reasons"] == ["Operations of the category DELETE are destructive"]
    assert (await engine.call(DELETION)).is_error is False


async def test_a_denied_operation_fails_and_the_batch_goes_on(store: SqlStore) -> None:
    nobody_deletes = '[[rule]]\nname = "nobody deletes"\ndecision = "deny"\noperations = "delete_*"'
    envelope = await batch(library(store, nobody_deletes), DELETION, book("a"))
    assert envelope["results"][0]["result"]["error"]["code"] == "PERMISSION_DENIED"
    assert envelope["summary"] == {"total": 2, "succeeded": 1, "failed": 1}


async def test_a_gate_that_breaks_lets_nothing_pass(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    engine = library(store, '[[rule]]\nname = "ask"\ndecision = "confirm"')
    for name in ("append", "insert", "find", "used", "charge"):
        monkeypatch.setattr(store, name, broken)
    envelope = await answer(engine, book("a"))
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert "disk" not in json.dumps(envelope)
    broken_batch = await batch(engine, book("a"), book("b"))
    assert broken_batch["summary"] == {"total": 2, "succeeded": 0, "failed": 2}


# All or nothing.


class Shelf:
    """Books whose changes can be undone together: a transaction as a source of collections would offer it."""

    def __init__(self, *, refuses: Exception | None = None) -> None:
        self.books: list[str] = []
        self.log: list[str] = []
        self.refuses = refuses

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        before = list(self.books)
        self.log.append("begin")
        try:
            yield
            self._keep()
        except BaseException:
            self.books[:] = before
            self.log.append("undone")
            raise

    def _keep(self) -> None:
        if self.refuses:
            raise self.refuses
        self.log.append("kept")


def shelves(*shelves: Shelf, store: SqlStore | None = None) -> Engine:
    """An engine that puts books on the first of several shelves."""
    adapter = Adapter("library")

    @adapter.create
    async def create_book(title: str) -> list[str]:
        """Add a book."""
        if title == "stuck":
            raise RuntimeError(title)
        if title == "taken":
            raise Conflict("book", title)
        shelves[0].books.append(title)
        return list(shelves[0].books)

    @adapter.delete
    async def delete_book(title: str) -> str:
        """Remove a book."""
        shelves[0].books.remove(title)
        return title

    adapter.collections.transactions.extend(shelf.transaction for shelf in shelves)
    return Engine(adapter, gatekeeper=gatekeeper(adapter, store) if store else None)


async def together(engine: Engine, *items: object, **where: Any) -> dict[str, Any]:
    return await answer(engine, {"operations": list(items), "transaction": True}, **where)


async def test_a_transaction_is_kept_as_a_whole() -> None:
    shelf = Shelf()
    envelope = await together(shelves(shelf), book("a"), book("b"))
    assert envelope == {
        "success": True,
        "data": None,
        "results": [
            {"index": 0, "operation": "create_book", "result": {"success": True, "data": ["a"]}},
            {"index": 1, "operation": "create_book", "result": {"success": True, "data": ["a", "b"]}},
        ],
        "summary": {"total": 2, "succeeded": 2, "failed": 0},
    }
    assert (shelf.books, shelf.log) == (["a", "b"], ["begin", "kept"])


FAILING = [
    pytest.param(book("taken"), "CONFLICT_ALREADY_EXISTS", id="a typed error"),
    pytest.param(book("stuck"), "INTERNAL_ERROR", id="a broken handler"),
    pytest.param({"operation": "create_book"}, "VALIDATION_MISSING_PARAM", id="a missing parameter"),
    pytest.param({"operation": "nonsense"}, "NOT_FOUND_OPERATION", id="an unknown operation"),
    pytest.param(5, "VALIDATION_INVALID_TYPE", id="no operation at all"),
]


@pytest.mark.parametrize(("failing", "code"), FAILING)
async def test_a_transaction_that_fails_in_one_operation_is_undone_as_a_whole(failing: object, code: str) -> None:
    shelf = Shelf()
    envelope = await together(shelves(shelf), book("a"), failing, book("b"))
    assert (shelf.books, shelf.log) == ([], ["begin", "undone"])
    assert envelope["summary"] == {"total": 3, "succeeded": 0, "failed": 3}
    undone, failed, never = (item["result"]["error"] for item in envelope["results"])
    assert failed["code"] == code
    for other, happened in ((undone, "undone"), (never, "not begun")):
        assert other["code"] == "CONFLICT_ROLLED_BACK"
        assert other["details"] == {"failed_index": 1}
        assert other["message"] == (f"The operation was {happened}, since operation 1 of the same transaction failed")
    assert [item["index"] for item in envelope["results"]] == [0, 1, 2]


async def test_what_comes_after_the_failure_does_not_run() -> None:
    shelf = Shelf()
    served = shelves(shelf)
    await together(served, book("taken"), book("b"))
    assert (await batch(served, book("c")))["results"][0]["result"]["data"] == ["c"]


async def test_every_source_of_collections_takes_part() -> None:
    shelf, other = Shelf(), Shelf()
    served = shelves(shelf, other)
    await together(served, book("a"))
    await together(served, book("taken"))
    assert shelf.log == other.log == ["begin", "kept", "begin", "undone"]


async def test_a_confirmation_that_is_needed_keeps_the_transaction_from_beginning_and_gives_the_token(
    store: SqlStore,
) -> None:
    shelf = Shelf()
    engine, session = shelves(shelf, store=store), Session()
    envelope = await together(engine, book("a"), DELETION, book("b"), session=session)
    assert (shelf.books, shelf.log) == ([], [])
    first, asked, last = (item["result"]["error"] for item in envelope["results"])
    assert asked["code"] == "CONFIRMATION_REQUIRED"
    for other in (first, last):
        assert other["code"] == "CONFLICT_ROLLED_BACK"
        assert other["message"] == (
            "The operation was not begun, since operation 1 of the same transaction must be confirmed first"
        )
    assert "halted_at" not in envelope
    assert envelope["summary"] == {"total": 3, "succeeded": 0, "failed": 2, "pending_confirmation": 1}
    confirmed = {**DELETION, "_confirmation": asked["details"]["confirmation_token"]}
    envelope = await together(engine, book("a"), confirmed, book("b"), session=session)
    assert envelope["summary"] == {"total": 3, "succeeded": 3, "failed": 0}
    assert (shelf.books, shelf.log) == (["b"], ["begin", "kept"])


async def test_where_nothing_can_be_undone_a_transaction_is_refused_and_nothing_runs() -> None:
    served = library()
    envelope = await together(served, book("a"))
    assert schema_errors(envelope, "batch-operation") == []
    assert envelope["error"]["code"] == "VALIDATION_INVALID_VALUE"
    assert "'transaction'" in envelope["error"]["message"]
    assert leaks(envelope["error"]["message"]) == []
    assert (await batch(served, book("b")))["results"][0]["result"]["data"] == ["b"]


@pytest.mark.parametrize("given", ["true", 1, [], {}], ids=repr)
async def test_the_flag_of_a_transaction_is_a_boolean(given: object) -> None:
    shelf = Shelf()
    envelope = await answer(shelves(shelf), {"operations": [book("a")], "transaction": given})
    assert envelope["error"]["code"] == "VALIDATION_INVALID_TYPE"
    assert envelope["error"]["message"].startswith("Parameter 'transaction' expected 'boolean', got '")
    assert (shelf.books, shelf.log) == ([], [])


@pytest.mark.parametrize("given", [False, None], ids=["false", "null"])
async def test_without_the_flag_each_operation_stands_for_itself(given: object) -> None:
    shelf = Shelf()
    envelope = await answer(shelves(shelf), {"operations": [book("a"), book("taken"), book("b")], "transaction": given})
    assert envelope["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    assert (shelf.books, shelf.log) == (["a", "b"], [])


async def test_what_the_database_says_in_the_end_is_the_answer_for_the_whole() -> None:
    shelf = Shelf(refuses=AqlError("CONFLICT_REFERENCED", "Something refers to it"))
    envelope = await together(shelves(shelf), book("a"))
    assert envelope["error"] == {"code": "CONFLICT_REFERENCED", "message": "Something refers to it"}
    assert (shelf.books, shelf.log) == ([], ["begin", "undone"])


async def test_a_database_that_breaks_in_the_end_is_an_internal_error() -> None:
    shelf = Shelf(refuses=RuntimeError("the disk is full"))
    envelope = await together(shelves(shelf), book("a"))
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert "disk" not in json.dumps(envelope)
    assert shelf.books == []


async def test_a_single_request_knows_no_transaction() -> None:
    envelope = await answer(library(), {**book("a"), "transaction": True})
    assert envelope["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"


# The limit of the answer.

SMALL = EngineOptions(limits=Limits(max_response_size=MB, max_request_size=10 * MB, max_string_length=10 * MB))


def text(size: int) -> dict[str, Any]:
    return {"operation": "create_text", "params": {"size": size}}


async def sized(engine: Engine, arguments: object) -> tuple[int, dict[str, Any]]:
    reply = await engine.call(arguments)
    return len(reply.text.encode()), json.loads(reply.text)


async def test_an_answer_of_exactly_the_limit_is_given_and_one_byte_more_is_not() -> None:
    engine = library(options=SMALL)
    around = len('{"success":true,"data":""}')
    size, envelope = await sized(engine, text(MB - around))
    assert (size, envelope["success"]) == (MB, True)
    _, envelope = await sized(engine, text(MB - around + 1))
    assert envelope["error"]["code"] == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert envelope["error"]["message"] == (
        f"Payload exceeds response_size limit of {MB} bytes: the operation ran, only its answer is withheld"
        "; ask for less in one request"
    )
    details = envelope["error"]["details"]
    assert (details["limit_type"], details["limit_value"], details["actual_value"]) == ("response_size", MB, MB + 1)


async def test_an_answer_that_is_too_large_says_how_to_ask_for_less() -> None:
    adapter = Adapter("x")

    @adapter.read
    async def list_things(first: int = 5, fields: str = "") -> str:
        """List things."""
        return "x" * 2 * MB

    envelope = await answer(Engine(adapter, SMALL), {"operation": "list_things"})
    assert envelope["error"]["message"].endswith("; narrow the request with first, fields")
    assert "ran" not in envelope["error"]["message"]


async def test_a_failure_that_does_not_fit_into_a_batch_keeps_its_code_and_is_not_said_to_have_run() -> None:
    adapter = Adapter("x")

    @adapter.read
    async def get_thing() -> str:
        """Get a thing."""
        raise AqlError("CONFLICT_REFERENCED", "It is in use", {"by": "x" * (MB // 2)})

    batch = {"operations": [{"operation": "get_thing"}] * 3}
    size, envelope = await sized(Engine(adapter, SMALL), batch)
    assert size <= MB
    first, *others = [item["result"]["error"] for item in envelope["results"]]
    assert first["message"] == "It is in use"
    for error in others:
        assert error == {
            "code": "CONFLICT_REFERENCED",
            "message": "The rest of this error did not fit: send fewer operations in a batch",
        }


async def test_the_results_of_a_batch_never_exceed_the_limit_together() -> None:
    engine = library(options=SMALL)
    for sizes in ([MB // 2, MB // 3, MB // 3, 10], [MB * 2, 10], [MB - 4000, 4000, 10], [MB // 10] * 12):
        size, envelope = await sized(engine, {"operations": [text(size) for size in sizes]})
        assert size <= MB
        codes = [item["result"].get("error", {}).get("code") for item in envelope["results"]]
        assert "VALIDATION_PAYLOAD_TOO_LARGE" in codes
        assert None in codes
        assert len(codes) == len(sizes)


async def test_as_many_operations_as_possible_are_all_answered_within_the_limit() -> None:
    engine = library(options=SMALL)
    most = MB // 768 - 1
    for item in (text(MB), {"operation": "\u0001" * 70}, {"operation": "é" * 70}, {"operation": "create_text"}):
        size, envelope = await sized(engine, {"operations": [item] * most})
        assert size <= MB
        assert envelope["summary"]["total"] == most


async def test_a_halted_batch_keeps_the_limit_by_leaving_parameters_out(store: SqlStore) -> None:
    engine = library(store, options=SMALL)
    large = [book("y" * 600_000), book("z" * 600_000), book("short")]
    size, envelope = await sized(engine, {"operations": [text(300_000), DELETION, *large]})
    assert size <= MB
    assert [("params" in item) for item in envelope["pending_operations"]] == [True, False, False]
    assert schema_errors(envelope, "batch-operation") == []


async def test_an_error_whose_details_are_too_large_is_told_without_them() -> None:
    adapter = Adapter("x")

    @adapter.read
    async def get_thing() -> None:
        """Get a thing."""
        raise NotFound("thing", "x" * 2 * MB)

    size, envelope = await sized(Engine(adapter, SMALL), {"operation": "get_thing"})
    assert size < 1000
    assert envelope["error"] == {"code": "NOT_FOUND_RESOURCE", "message": "Resource 'thing' not found"}


async def test_an_error_whose_message_is_too_large_is_cut() -> None:
    adapter = Adapter("x")

    @adapter.read
    async def get_thing() -> None:
        """Get a thing."""
        raise AqlError("VALIDATION_INVALID_VALUE", "x" * 2 * MB)

    _, envelope = await sized(Engine(adapter, SMALL), {"operation": "get_thing"})
    assert envelope["error"] == {"code": "VALIDATION_INVALID_VALUE", "message": "x" * 1000}


async def test_a_request_that_is_repeated_in_its_error_keeps_the_limit() -> None:
    engine = library(options=SMALL)
    for params in (
        {f"key_{number}_{'x' * 90}": 1 for number in range(50_000)},
        {"title": {"k" * 5_000_000: 1}},
        {"k" * 9_000_000: 1},
    ):
        size, envelope = await sized(engine, {"operation": "create_book", "params": params})
        assert size < 100_000
        assert envelope["success"] is False
