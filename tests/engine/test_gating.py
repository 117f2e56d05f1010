"""Batches whose operations must be confirmed (Operations 7.5): halted, skipped, continued, or kept together."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from headgate import Adapter
from headgate.safety.approvals import approve
from headgate.sources.sql.source import sql_adapter
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded, code_of, codes_of
from tests.support import schema_errors

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    store = open_store("memory:")
    yield store
    await store.close()


class Users(Guarded):
    """The users of the specification's example. Deleting one must be confirmed."""

    def __init__(self, store: SqlStore, rules: str = "", **more: Any) -> None:
        self.ran: list[str] = []
        adapter = Adapter("users")

        @adapter.execute
        async def execute_rename(user_id: str) -> dict[str, str]:
            """Rename a user."""
            self.ran.append(f"rename {user_id}")
            return {"id": user_id}

        @adapter.delete
        async def delete_user(user_id: str) -> dict[str, str]:
            """Delete a user."""
            self.ran.append(f"delete {user_id}")
            return {"id": user_id}

        @adapter.execute
        async def send_notification(user_id: str, message: str) -> None:
            """Send a notification."""
            self.ran.append(f"notify {user_id}")

        super().__init__(adapter, store, rules, **more)

    async def batch(self, *items: object, **beside: object) -> Any:
        envelope = await self.ask({"operations": list(items), **beside})
        assert schema_errors(envelope, "batch-operation") == []
        return envelope


def rename(user: str) -> dict[str, Any]:
    return {"operation": "execute_rename", "params": {"user_id": user}}


def delete(user: str, token: str | None = None) -> dict[str, Any]:
    params = {"user_id": user, **({"confirmation_token": token} if token else {})}
    return {"operation": "delete_user", "params": params}


def notify(user: str) -> dict[str, Any]:
    return {"operation": "send_notification", "params": {"user_id": user, "message": "Account deleted"}}


def halting_token(envelope: Any) -> str:
    return str(envelope["halted_at"]["result"]["error"]["details"]["confirmation_token"])


SKIP = '[confirmation]\nbatches = "skip"'


async def test_a_batch_halts_exactly_as_the_specification_shows(store: SqlStore) -> None:
    users = Users(store)
    envelope = await users.batch(rename("alice"), delete("alice"), notify("alice"))
    assert users.ran == ["rename alice"]
    details = envelope["halted_at"]["result"]["error"].pop("details")
    assert envelope == {
        "success": True,
        "data": None,
        "results": [
            {"index": 0, "operation": "execute_rename", "result": {"success": True, "data": {"id": "alice"}}},
        ],
        "halted_at": {
            "index": 1,
            "operation": "delete_user",
            "result": {
                "success": False,
                "error": {"code": "CONFIRMATION_REQUIRED", "message": "This operation requires confirmation"},
            },
        },
        "pending_operations": [
            {
                "index": 2,
                "operation": "send_notification",
                "params": {"user_id": "alice", "message": "Account deleted"},
            },
        ],
        "summary": {"total": 3, "succeeded": 1, "failed": 0, "halted": 1, "pending": 1},
    }
    assert details.items() >= {"operation": "delete_user", "danger_level": "destructive"}.items()
    assert details["confirmation_token"].startswith("conf_")
    assert details["expires_at"] == "2026-02-04T10:18:20.000Z"


async def test_a_halted_batch_is_continued_with_the_token_and_what_is_pending(store: SqlStore) -> None:
    users = Users(store)
    halted = await users.batch(rename("alice"), delete("alice"), notify("alice"))
    pending = [{key: item[key] for key in ("operation", "params")} for item in halted["pending_operations"]]
    envelope = await users.batch(delete("alice", halting_token(halted)), *pending)
    assert envelope["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    assert "halted_at" not in envelope
    assert users.ran == ["rename alice", "delete alice", "notify alice"]


async def test_a_continued_batch_halts_again_at_the_next_operation_that_must_be_confirmed(store: SqlStore) -> None:
    users = Users(store)
    first = await users.batch(delete("alice"), notify("alice"), delete("bob"), notify("bob"))
    assert (first["halted_at"]["index"], first["summary"]["pending"], users.ran) == (0, 3, [])
    second = await users.batch(delete("alice", halting_token(first)), notify("alice"), delete("bob"), notify("bob"))
    assert second["halted_at"]["index"] == 2
    assert second["summary"] == {"total": 4, "succeeded": 2, "failed": 0, "halted": 1, "pending": 1}
    last = await users.batch(delete("bob", halting_token(second)), notify("bob"))
    assert last["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    assert users.ran == ["delete alice", "notify alice", "delete bob", "notify bob"]


async def test_a_wrong_token_fails_its_operation_and_halts_nothing(store: SqlStore) -> None:
    users = Users(store)
    envelope = await users.batch(delete("alice", "conf_" + "x" * 59), notify("alice"))
    assert codes_of(envelope) == ["TOKEN_INVALID", ""]
    assert envelope["summary"] == {"total": 2, "succeeded": 1, "failed": 1}


async def test_a_denied_operation_fails_and_halts_nothing(store: SqlStore) -> None:
    users = Users(store, trust="generated")
    envelope = await users.batch(delete("alice"), rename("alice"))
    assert codes_of(envelope) == ["PERMISSION_DANGER_LEVEL_DENIED", "PERMISSION_TRUST_LEVEL_INSUFFICIENT"]
    assert envelope["summary"] == {"total": 2, "succeeded": 0, "failed": 2}


async def test_the_same_token_twice_in_a_batch_counts_once(store: SqlStore) -> None:
    users = Users(store)
    token = await users.token("delete_user", {"user_id": "alice"})
    envelope = await users.batch(delete("alice", token), delete("alice", token))
    assert codes_of(envelope) == ["", "TOKEN_ALREADY_USED"]
    assert users.ran == ["delete alice"]


async def test_where_batches_skip_the_rest_runs_and_what_waits_is_marked(store: SqlStore) -> None:
    users = Users(store, SKIP)
    envelope = await users.batch(rename("alice"), delete("alice"), notify("alice"), {"operation": "nonsense"})
    assert [item.get("status") for item in envelope["results"]] == [None, "pending_confirmation", None, None]
    assert codes_of(envelope) == ["", "CONFIRMATION_REQUIRED", "", "NOT_FOUND_OPERATION"]
    assert envelope["summary"] == {"total": 4, "succeeded": 2, "failed": 1, "pending_confirmation": 1}
    assert not envelope.keys() & {"halted_at", "pending_operations"}
    assert users.ran == ["rename alice", "notify alice"]
    token = envelope["results"][1]["result"]["error"]["details"]["confirmation_token"]
    again = await users.batch(delete("alice", token))
    assert again["summary"] == {"total": 1, "succeeded": 1, "failed": 0}


async def test_a_batch_that_only_waits_has_neither_failed_nor_succeeded(store: SqlStore) -> None:
    users = Users(store, SKIP)
    envelope = await users.batch(delete("alice"), delete("bob"))
    assert envelope["summary"] == {"total": 2, "succeeded": 0, "failed": 0, "pending_confirmation": 2}
    tokens = [item["result"]["error"]["details"]["confirmation_token"] for item in envelope["results"]]
    assert len(set(tokens)) == 2


async def test_whether_a_batch_halts_is_not_the_clients_choice(store: SqlStore) -> None:
    users = Users(store)
    assert code_of(await users.ask({"operations": [delete("a")], "batches": "skip"})) == "VALIDATION_UNKNOWN_PARAM"


async def test_a_halt_for_a_person_gives_an_approval_and_no_token(store: SqlStore) -> None:
    users = Users(store, '[confirmation]\nby = "person"')
    halted = await users.batch(delete("alice"), notify("alice"))
    assert "conf_" not in str(halted)
    approval = halted["halted_at"]["result"]["error"]["details"]["approval_id"]
    assert (await users.batch(delete("alice", approval)))["halted_at"]["index"] == 0
    assert users.ran == []
    assert await approve(store, approval, "root", users.clock)
    assert (await users.batch(delete("alice", approval), notify("alice")))["summary"]["succeeded"] == 2


# All or nothing, on a real database.


class Bank(Guarded):
    """Accounts in a file of SQLite. Deleting one must be confirmed."""

    def __init__(self, store: SqlStore, path: Path, rules: str = "", **more: Any) -> None:
        self.path = path
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT NOT NULL UNIQUE)")
            connection.executemany("INSERT INTO accounts VALUES (?, ?)", [(1, "ann"), (2, "bob"), (3, "eve")])
        connection.close()
        self.adapter = sql_adapter(path, name="bank")
        super().__init__(self.adapter, store, rules, **more)

    def owners(self) -> list[str]:
        """Who has an account, seen from outside."""
        connection = sqlite3.connect(self.path)
        try:
            return [owner for (owner,) in connection.execute("SELECT owner FROM accounts ORDER BY id")]
        finally:
            connection.close()

    async def together(self, *items: object) -> Any:
        envelope = await self.ask({"operations": list(items), "transaction": True})
        assert schema_errors(envelope, "batch-operation") == []
        return envelope


@pytest.fixture
async def bank(store: SqlStore, tmp_path: Path) -> AsyncIterator[Bank]:
    bank = Bank(store, tmp_path / "bank.db")
    yield bank
    await bank.adapter.close()


def close(account: int, token: str | None = None) -> dict[str, Any]:
    item: dict[str, Any] = {"operation": "delete_account", "params": {"id": account}}
    return {**item, "_confirmation": token} if token else item


def open_for(owner: str) -> dict[str, Any]:
    return {"operation": "create_account", "params": {"owner": owner}}


def tokens_of(envelope: Any) -> list[str]:
    return [item["result"]["error"]["details"]["confirmation_token"] for item in envelope["results"]]


async def test_a_transaction_asks_for_all_of_its_confirmations_before_anything_runs(bank: Bank) -> None:
    envelope = await bank.together(open_for("dan"), close(1), open_for("fay"), close(2))
    assert codes_of(envelope) == [
        "CONFLICT_ROLLED_BACK",
        "CONFIRMATION_REQUIRED",
        "CONFLICT_ROLLED_BACK",
        "CONFIRMATION_REQUIRED",
    ]
    assert [item.get("status") for item in envelope["results"]] == [None, *["pending_confirmation", None] * 2][:4]
    assert envelope["summary"] == {"total": 4, "succeeded": 0, "failed": 2, "pending_confirmation": 2}
    assert bank.owners() == ["ann", "bob", "eve"]
    assert "executed" not in await bank.events()


async def test_with_all_of_its_tokens_a_transaction_runs_once(bank: Bank) -> None:
    first, second = tokens_of(await bank.together(close(1), close(2)))
    envelope = await bank.together(close(1, first), open_for("dan"), close(2, second))
    assert envelope["summary"] == {"total": 3, "succeeded": 3, "failed": 0}
    assert bank.owners() == ["eve", "dan"]
    again = await bank.together(close(1, first), close(2, second))
    assert codes_of(again) == ["TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"]
    assert bank.owners() == ["eve", "dan"]


async def test_with_one_of_two_tokens_nothing_runs_and_the_one_is_not_used_up(bank: Bank) -> None:
    first, second = tokens_of(await bank.together(close(1), close(2)))
    envelope = await bank.together(close(1, first), close(2))
    assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "CONFIRMATION_REQUIRED"]
    assert bank.owners() == ["ann", "bob", "eve"]
    assert (await bank.together(close(1, first), close(2, second)))["summary"]["succeeded"] == 2
    assert bank.owners() == ["eve"]


@pytest.mark.parametrize("wrong", ["conf_" + "x" * 59, ""], ids=["an unknown token", "an empty token"])
async def test_with_a_wrong_token_nothing_runs(bank: Bank, wrong: str) -> None:
    [first] = tokens_of(await bank.together(close(1)))
    second: dict[str, Any] = {**close(2), "_confirmation": wrong}
    envelope = await bank.together(close(1, first), second)
    assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "TOKEN_INVALID"]
    assert bank.owners() == ["ann", "bob", "eve"]
    assert (await bank.together(close(1, first)))["summary"]["succeeded"] == 1


async def test_tokens_of_two_operations_cannot_be_exchanged(bank: Bank) -> None:
    first, second = tokens_of(await bank.together(close(1), close(2)))
    envelope = await bank.together(close(1, second), close(2, first))
    assert codes_of(envelope) == ["TOKEN_SCOPE_MISMATCH", "TOKEN_SCOPE_MISMATCH"]
    assert bank.owners() == ["ann", "bob", "eve"]


async def test_the_audit_tells_that_a_confirmed_operation_was_undone(bank: Bank) -> None:
    [token] = tokens_of(await bank.together(close(1)))
    envelope = await bank.together(close(1, token), open_for("bob"))
    assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "CONFLICT_ALREADY_EXISTS"]
    assert bank.owners() == ["ann", "bob", "eve"]
    told = [(entry.event, entry.operation, entry.code) for entry in await bank.audit()]
    assert told == [
        ("proposed", "delete_account", "CONFIRMATION_REQUIRED"),
        ("issued", "delete_account", ""),
        ("approved", "delete_account", ""),
        ("executed", "delete_account", ""),
        ("returned", "delete_account", "CONFLICT_ROLLED_BACK"),
    ]


async def test_the_audit_tells_of_every_operation_that_was_kept(bank: Bank) -> None:
    first, second = tokens_of(await bank.together(close(1), close(2)))
    await bank.together(close(1, first), close(2, second))
    last = [(entry.event, entry.code, entry.params) for entry in await bank.audit()][-6:]
    assert last == [
        ("approved", "", {"id": 1}),
        ("executed", "", {"id": 1}),
        ("approved", "", {"id": 2}),
        ("executed", "", {"id": 2}),
        ("returned", "", {"id": 1}),
        ("returned", "", {"id": 2}),
    ]


async def test_a_denied_operation_undoes_the_transaction(store: SqlStore, tmp_path: Path) -> None:
    rules = '[[rule]]\nname = "no"\ndecision = "deny"\noperations = "create_*"\nwhen = {owner = "mallory"}'
    bank = Bank(store, tmp_path / "bank.db", rules)
    envelope = await bank.together(open_for("dan"), open_for("mallory"))
    assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "PERMISSION_DENIED"]
    assert bank.owners() == ["ann", "bob", "eve"]
    await bank.adapter.close()


async def test_a_confirmation_that_depends_on_rows_is_asked_for_without_running_anything(
    store: SqlStore, tmp_path: Path
) -> None:
    rules = '[[rule]]\nname = "many"\ndecision = "confirm"\noperations = "*_account"\naffected_rows = {gt = 1}'
    bank = Bank(store, tmp_path / "bank.db", rules, trust="certified")
    envelope = await bank.together(close(1), open_for("dan"))
    assert envelope["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    assert bank.owners() == ["bob", "eve", "dan"]
    assert (await bank.events()).count("executed") == 1, "a deletion is audited, and ran once"
    await bank.adapter.close()


async def test_a_transaction_without_its_store_runs_nothing_and_is_answered(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    for name in ("append", "insert", "find", "used", "charge", "count", "purge"):
        monkeypatch.setattr(bank.store, name, broken)
    for items in ([close(1)], [open_for("dan"), close(1, "conf_" + "x" * 59)]):
        envelope = await bank.together(*items)
        assert codes_of(envelope)[-1] == "INTERNAL_ERROR"
        assert "disk" not in str(envelope)
    assert bank.owners() == ["ann", "bob", "eve"]


# What is tried in a transaction before it begins.


class Rooms(Guarded):
    """Rooms that can be cleared; a trial tells how many things are in one."""

    def __init__(self, store: SqlStore, rules: str, **more: Any) -> None:
        self.ran: list[str] = []
        self.tried: list[str] = []
        self.things = {"attic": 3, "hall": 300}
        adapter = Adapter("rooms")

        @adapter.delete
        async def delete_things(room: str, dry_run: bool = False) -> dict[str, object]:
            """Clear a room."""
            (self.tried if dry_run else self.ran).append(room)
            return {"affected": self.things[room]}

        adapter.collections.transactions.append(nullcontext)
        super().__init__(adapter, store, rules, **more)


MANY = '[[rule]]\nname = "many"\ndecision = "confirm"\noperations = "delete_*"\naffected_rows = {gt = 100}'


async def test_an_operation_whose_trial_needs_no_confirmation_runs_once_in_its_transaction(store: SqlStore) -> None:
    rooms = Rooms(store, MANY, trust="certified")
    few = {"operation": "delete_things", "params": {"room": "attic"}}
    envelope = await rooms.ask({"operations": [few], "transaction": True})
    assert envelope["summary"]["succeeded"] == 1
    assert rooms.ran == ["attic"]
    many = {"operation": "delete_things", "params": {"room": "hall"}}
    envelope = await rooms.ask({"operations": [few, many], "transaction": True})
    assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "CONFIRMATION_REQUIRED"]
    assert rooms.ran == ["attic"]
