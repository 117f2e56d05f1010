"""What the audit tells of a call, from its proposal to its end, and what it never holds."""

import json
from typing import Annotated, Any

import anyio
import pytest

from headgate import Adapter, Caller, NotFound, Param
from headgate.protocol.canonical import digest
from headgate.safety.approvals import waiting
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded, code_of

pytestmark = pytest.mark.anyio

SECRET = "hunter2-and-more"  # noqa: S105


class Desk(Guarded):
    """Operations of several dangers, with a secret among their parameters."""

    def __init__(self, store: SqlStore, rules: str = "", **more: Any) -> None:
        self.begun = anyio.Event()
        adapter = Adapter("desk")

        @adapter.delete
        async def delete_login(
            user: str, password: Annotated[str, Param(sensitive=True)] = "", note: Any = None
        ) -> str:
            """Delete a login."""
            if user == "nobody":
                raise NotFound("user", user)
            if user == "broken":
                raise RuntimeError(f"it broke with {password}")
            if user == "slow":
                self.begun.set()
                await anyio.sleep_forever()
            return user

        @adapter.create
        async def create_login(user: str, password: Annotated[str, Param(sensitive=True)] = "") -> str:
            """Create a login."""
            return user

        @adapter.read
        async def get_login(user: str) -> str:
            """Get a login."""
            return user

        super().__init__(adapter, store, rules, **more)


LOGIN = {"user": "ann", "password": SECRET}


async def test_a_confirmed_call_leaves_a_row_for_each_step(store: SqlStore) -> None:
    desk = Desk(store)
    caller = Caller(subject="ann", client_id="desk")
    token = await desk.token("delete_login", LOGIN, caller=caller)
    desk.clock.move(7)
    assert (await desk.call("delete_login", LOGIN, token=token, caller=caller))["success"]
    entries = await desk.audit()
    assert [(entry.event, entry.code) for entry in entries] == [
        ("proposed", "CONFIRMATION_REQUIRED"),
        ("issued", ""),
        ("approved", ""),
        ("executed", ""),
        ("returned", ""),
    ]
    shown = {"user": "ann", "password": "***"}
    for entry in entries:
        assert (entry.adapter, entry.operation, entry.caller) == ("desk", "delete_login", '["ann","desk"]')
        assert (entry.session, entry.params, entry.params_digest) == (desk.session.id, shown, digest(shown))
        assert entry.request_id.startswith("req_")
    for entry in (entries[0], *entries[2:]):
        assert (entry.danger, entry.decision) == ("destructive", "confirm")
        assert entry.rule == "destructive operations of a validated adapter"
        assert entry.details["trust"] == "validated"
    assert [entry.at - entries[0].at for entry in entries] == [0, 0, 7, 7, 7]
    assert [entry.duration_ms is not None for entry in entries] == [False, False, False, False, True]
    assert entries[1].details["grant"] == entries[2].details["grant"] == token[5:21]
    assert len({entry.request_id for entry in entries}) == 2


@pytest.mark.parametrize(
    ("user", "code"), [("ann", ""), ("nobody", "NOT_FOUND_RESOURCE"), ("broken", "INTERNAL_ERROR")]
)
async def test_what_is_allowed_and_grave_leaves_its_steps_too(store: SqlStore, user: str, code: str) -> None:
    desk = Desk(store, trust="certified")
    assert await desk.code("delete_login", {"user": user, "password": SECRET}) == code
    entries = await desk.audit()
    assert [(entry.event, entry.code) for entry in entries] == [("proposed", ""), ("executed", ""), ("returned", code)]
    assert {entry.decision for entry in entries} == {"allow"}
    assert SECRET not in await desk.told()


async def test_what_is_not_grave_leaves_nothing_unless_all_is_audited(store: SqlStore) -> None:
    desk = Desk(store)
    await desk.call("create_login", LOGIN)
    await desk.call("get_login", {"user": "ann"})
    assert await desk.audit() == []
    everything = Desk(store, '[audit]\noperations = "all"')
    await everything.call("create_login", LOGIN)
    await everything.call("get_login", {"user": "ann"})
    entries = await everything.audit()
    assert [entry.event for entry in entries] == ["proposed", "executed", "returned"] * 2
    assert [entry.danger for entry in entries] == ["reversible"] * 3 + ["safe"] * 3
    assert SECRET not in await everything.told()


async def test_introspection_and_calls_that_are_wrong_in_form_leave_nothing(store: SqlStore) -> None:
    desk = Desk(store, '[audit]\noperations = "all"')
    await desk.call("introspect", {"query": "operations"})
    await desk.call("delete_login")
    await desk.call("nonsense")
    assert await desk.audit() == []


@pytest.mark.parametrize(
    ("rules", "trust", "code", "rule"),
    [
        ("", "untested", "PERMISSION_TRUST_LEVEL_INSUFFICIENT", "safe operations of a untested adapter"),
        ('[[rule]]\nname = "nobody reads"\ndecision = "deny"', "validated", "PERMISSION_DENIED", "nobody reads"),
        ('default = "deny"', "validated", "PERMISSION_DENIED", "the policy's default"),
    ],
    ids=["by trust", "by a rule", "by default"],
)
async def test_whatever_is_denied_leaves_a_row_with_the_rule(
    store: SqlStore, rules: str, trust: str, code: str, rule: str
) -> None:
    desk = Desk(store, rules, trust=trust)
    assert await desk.code("get_login", {"user": "ann"}) == code
    [entry] = await desk.audit()
    assert (entry.event, entry.decision, entry.code, entry.rule) == ("proposed", "deny", code, rule)
    assert entry.details["trust"] == trust


async def test_a_call_that_is_interrupted_is_told_so(store: SqlStore) -> None:
    desk = Desk(store, trust="certified")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.call, "delete_login", {"user": "slow"})
        await desk.begun.wait()
        tasks.cancel_scope.cancel()
    assert [(entry.event, entry.code) for entry in await desk.audit()] == [
        ("proposed", ""),
        ("executed", ""),
        ("returned", "INTERRUPTED"),
    ]


LONG = "x" * 5000


async def test_long_texts_are_cut_wherever_they_stand_and_the_digest_is_of_all(store: SqlStore) -> None:
    desk = Desk(store, trust="certified")
    note = {"deep": [LONG, {"deeper": LONG}], "short": "y" * 1000}
    await desk.call("delete_login", {"user": "ann", "note": note})
    [entry, *_] = await desk.audit()
    cut = "x" * 1000 + "… (5000 characters)"
    assert entry.params == {"user": "ann", "note": {"deep": [cut, {"deeper": cut}], "short": "y" * 1000}}
    assert entry.params_digest == digest({"user": "ann", "note": note})
    await desk.call("delete_login", {"user": "ann", "note": {**note, "deep": [LONG + "!", {"deeper": LONG}]}})
    assert (await desk.audit())[-1].params_digest != entry.params_digest


async def test_a_secret_is_in_no_row_no_question_and_no_record(store: SqlStore) -> None:
    desk = Desk(store, '[[rule]]\nname = "a person"\ndecision = "confirm"\nconfirm = "person"')
    envelope = await desk.call("delete_login", LOGIN)
    assert code_of(envelope) == "CONFIRMATION_REQUIRED"
    [grant] = await waiting(store, desk.clock())
    assert "***" in grant.message
    kept = json.dumps([record.value for record in await store.list("grant")])
    for text in (str(envelope), kept, await desk.told()):
        assert SECRET not in text


async def test_calls_that_differ_in_a_secret_alone_have_the_same_digest_in_the_audit_and_other_tokens(
    store: SqlStore,
) -> None:
    desk = Desk(store)
    token = await desk.token("delete_login", LOGIN)
    assert await desk.code("delete_login", {**LOGIN, "password": "another"}, token=token) == "TOKEN_SCOPE_MISMATCH"
    assert len({entry.params_digest for entry in await desk.audit()}) == 1


async def test_old_rows_are_forgotten_when_a_policy_says_so(store: SqlStore) -> None:
    desk = Desk(store, "[audit]\nkeep_days = 1", trust="certified")
    await desk.call("delete_login", LOGIN)
    desk.clock.move(86_401)
    await desk.call("delete_login", {"user": "bob"})
    await desk.gatekeeper.tidy()
    entries = await desk.audit()
    assert [entry.event for entry in entries] == ["proposed", "executed", "returned", "pruned"]
    assert {entry.params["user"] for entry in entries if entry.params} == {"bob"}
