"""What a confirmation counts for beyond its call: for the session where a rule says so, and never for more."""

from typing import Any

import pytest

from headgate import Adapter, Caller, Session
from headgate.safety.approvals import approve
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded

pytestmark = pytest.mark.anyio

ANN = Caller(subject="ann")
REMEMBER = """
[[rule]]
name = "once a session"
decision = "confirm"
remember = "session"
"""


class Files(Guarded):
    """Files that can be moved and deleted."""

    def __init__(self, store: SqlStore, rules: str = REMEMBER, **more: Any) -> None:
        self.ran: list[int] = []
        adapter = Adapter("files")

        @adapter.execute
        async def execute_move(size: int) -> int:
            """Move a file."""
            self.ran.append(size)
            return size

        @adapter.delete
        async def delete_file(size: int, dry_run: bool = False) -> dict[str, int]:
            """Delete a file."""
            if not dry_run:
                self.ran.append(size)
            return {"affected": size}

        super().__init__(adapter, store, rules, **more)

    async def confirm(self, operation: str = "execute_move", size: int = 1, **who: Any) -> None:
        token = await self.token(operation, {"size": size}, **who)
        assert (await self.call(operation, {"size": size}, token=token, **who))["success"]

    async def asks(self, operation: str = "execute_move", size: int = 1, **who: Any) -> bool:
        code = await self.code(operation, {"size": size}, **who)
        assert code in ("", "CONFIRMATION_REQUIRED"), code
        return bool(code)


async def test_what_was_confirmed_for_the_session_runs_with_other_parameters_too(store: SqlStore) -> None:
    files = Files(store)
    await files.confirm()
    assert not await files.asks(size=99)
    assert files.ran == [1, 99]


async def test_it_counts_for_its_operation_alone(store: SqlStore) -> None:
    files = Files(store)
    await files.confirm("execute_move")
    assert await files.asks("delete_file")


async def test_it_counts_for_its_caller_alone(store: SqlStore) -> None:
    files = Files(store)
    await files.confirm(caller=ANN)
    assert not await files.asks(caller=ANN)
    assert await files.asks()
    assert await files.asks(caller=Caller(subject="bob"))
    assert await files.asks(caller=Caller(subject="ann", client_id="desk"))


async def test_it_ends_with_the_session(store: SqlStore) -> None:
    files = Files(store)
    await files.confirm()
    assert await files.asks(session=Session())
    files.session.end()
    assert await files.asks()


async def test_it_does_not_count_where_every_request_stands_alone(store: SqlStore) -> None:
    files = Files(store)
    alone = Session(lasting=False)
    await files.confirm(session=alone)
    assert await files.asks(session=alone)


async def test_it_does_not_count_under_another_policy_or_trust(store: SqlStore) -> None:
    files = Files(store)
    await files.confirm()
    for other in (
        Files(store, REMEMBER + "[confirmation]\nclock_skew_seconds = 1"),
        Files(store, trust="community_reviewed"),
    ):
        assert await other.asks(session=files.session)
    assert not await Files(store).asks(session=files.session), "the same on another server of the same state"


async def test_a_rule_that_does_not_remember_asks_each_time_even_beside_one_that_does(store: SqlStore) -> None:
    files = Files(store, REMEMBER + '[[rule]]\nname = "large"\ndecision = "confirm"\nwhen = {size = {gt = 100}}')
    await files.confirm(size=1)
    assert not await files.asks(size=2)
    assert await files.asks(size=500)
    await files.confirm(size=500)
    assert await files.asks(size=500)


async def test_what_a_client_confirmed_for_the_session_is_not_enough_where_a_person_must(store: SqlStore) -> None:
    large = '[[rule]]\nname = "large"\ndecision = "confirm"\nconfirm = "person"\nremember = "session"\n'
    files = Files(store, REMEMBER + large + "when = {size = {gt = 100}}")
    await files.confirm(size=1)
    approval = await files.approval("execute_move", {"size": 500})
    assert files.ran == [1]
    await approve(store, approval, "root", files.clock)
    assert (await files.call("execute_move", {"size": 500}, token=approval))["success"]
    assert not await files.asks(size=600), "now a person has confirmed it for the session"


async def test_where_a_person_must_confirm_each_time_nothing_is_remembered(store: SqlStore) -> None:
    rules = REMEMBER + '[danger."execute_move"]\nlevel = "reversible"\nrequires_reauth = true'
    files = Files(store, rules)
    for _ in range(2):
        approval = await files.approval("execute_move", {"size": 1})
        await approve(store, approval, "root", files.clock)
        assert (await files.call("execute_move", {"size": 1}, token=approval))["success"]
    assert await files.asks()


async def test_a_denial_counts_whatever_was_confirmed(store: SqlStore) -> None:
    files = Files(store, REMEMBER + '[[rule]]\nname = "huge"\ndecision = "deny"\nwhen = {size = {gt = 100}}')
    await files.confirm()
    assert await files.code("execute_move", {"size": 500}) == "PERMISSION_DENIED"


async def test_a_clients_token_is_not_enough_once_a_person_must_confirm_the_call(store: SqlStore) -> None:
    rules = """
        [[rule]]
        name = "ask"
        decision = "confirm"
        [[rule]]
        name = "many"
        decision = "confirm"
        confirm = "person"
        operations = "delete_file"
        affected_rows = {gt = 10}
    """
    grown = {"size": 1}
    adapter = Adapter("files")
    ran: list[str] = []

    @adapter.delete
    async def delete_file(name: str, dry_run: bool = False) -> dict[str, int]:
        """Delete a file."""
        if not dry_run:
            ran.append(name)
        return {"affected": grown["size"]}

    guard = Guarded(adapter, store, rules)
    token = await guard.token("delete_file", {"name": "a"})
    grown["size"] = 100
    envelope = await guard.call("delete_file", {"name": "a"}, token=token)
    assert envelope["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    assert envelope["error"]["details"]["differs_in"] == ["who must confirm"]
    assert ran == []
    grown["size"] = 1
    assert (await guard.call("delete_file", {"name": "a"}, token=token))["success"], "it was not used up"


# Repetition.

ESCALATION = '[escalation]\nafter = 2\nwithin = "minute"\n'


async def test_repetition_makes_an_operation_more_dangerous_until_the_first_is_a_minute_old(store: SqlStore) -> None:
    files = Files(store, ESCALATION, trust="community_reviewed")
    for _ in range(2):
        assert (await files.call("delete_file", {"size": 1}))["success"]
        files.clock.move(10)
    envelope = await files.call("delete_file", {"size": 1})
    assert envelope["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert envelope["error"]["details"]["danger_level"] == "dangerous"
    assert envelope["error"]["details"]["reasons"][-1].startswith("It was repeated so often")
    assert files.ran == [1, 1]
    files.clock.move(60)
    assert (await files.call("delete_file", {"size": 1}))["success"]


async def test_repetition_may_make_what_asks_be_denied(store: SqlStore) -> None:
    files = Files(store, ESCALATION)
    for _ in range(2):
        await files.confirm("delete_file")
    assert await files.code("delete_file", {"size": 1}) == "PERMISSION_DANGER_LEVEL_DENIED"
    assert files.ran == [1, 1], "asking and confirming are one call"


async def test_a_right_token_is_denied_too_if_the_operation_was_repeated_too_often_meanwhile(store: SqlStore) -> None:
    files = Files(store, ESCALATION)
    token, *_ = [await files.token("delete_file", {"size": size}) for size in range(2)]
    assert await files.code("delete_file", {"size": 9}) == "PERMISSION_DANGER_LEVEL_DENIED"
    assert await files.code("delete_file", {"size": 0}, token=token) == "PERMISSION_DANGER_LEVEL_DENIED"
    assert files.ran == []


async def test_repetition_is_counted_for_each_caller_session_and_operation(store: SqlStore) -> None:
    files = Files(store, ESCALATION, trust="community_reviewed")
    for _ in range(3):
        await files.call("delete_file", {"size": 1}, caller=ANN)
    assert await files.asks("delete_file", caller=ANN)
    assert not await files.asks("delete_file")
    assert not await files.asks("delete_file", caller=ANN, session=Session())
    assert not await files.asks("execute_move", caller=ANN)


async def test_dry_runs_are_no_repetition(store: SqlStore) -> None:
    files = Files(store, ESCALATION, trust="community_reviewed")
    for _ in range(5):
        assert (await files.call("delete_file", {"size": 1, "dry_run": True}))["success"]
    assert not await files.asks("delete_file")


async def test_only_the_levels_that_are_named_escalate(store: SqlStore) -> None:
    files = Files(store, ESCALATION + 'levels = ["reversible"]', trust="community_reviewed")
    for _ in range(4):
        assert (await files.call("delete_file", {"size": 1}))["success"]
    for _ in range(3):
        assert (await files.call("execute_move", {"size": 1}))["success"], "destructive is allowed here too"
    moved = [entry for entry in await files.audit() if entry.operation == "execute_move"]
    assert {entry.danger for entry in moved} == {"destructive"}, "and what counts as grave is audited"


async def test_what_was_confirmed_for_the_session_is_asked_again_once_it_counts_as_more_dangerous(
    store: SqlStore,
) -> None:
    files = Files(store, ESCALATION + REMEMBER, trust="community_reviewed")
    await files.confirm("delete_file")
    assert not await files.asks("delete_file")
    assert await files.asks("delete_file")
