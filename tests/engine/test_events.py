"""What happens to a request, told sideways: in order, with secrets masked, and never in its way."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from headgate import Adapter, Caller, Category, Engine, NotFound, Param, Session
from headgate.engine.events import Answered, Decided, Event, Executed, Failed, Received, Refused, Validated
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.safety.guarding import gatekeeper

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    """Where a gatekeeper keeps its state."""
    store = open_store("memory:")
    yield store
    await store.close()


class Told:
    """An engine and all that it told; with a store, it is guarded under a policy."""

    def __init__(self, store: SqlStore | None = None, policy: str = "") -> None:
        self.events: list[Event] = []
        adapter = Adapter("library")

        @adapter.create
        async def create_login(user: str, password: Annotated[str, Param(sensitive=True)] = "") -> str:
            """Log in."""
            if user == "nobody":
                raise NotFound("user", user)
            if user == "broken":
                raise KeyError(user)
            return user

        @adapter.delete
        async def delete_logins(dry_run: bool = False) -> dict[str, object]:
            """Delete all of them."""
            return {"dry_run": dry_run, "affected": 7}

        guard = gatekeeper(adapter, store, policy) if store else None
        self.engine = Engine(adapter, gatekeeper=guard, listeners=[self.events.append])

    async def by(self, arguments: object, **where: Any) -> list[str]:
        self.events.clear()
        self.reply = await self.engine.call(arguments, **where)
        return [type(event).__name__ for event in self.events]

    def one(self, kind: type[Event]) -> Any:
        (event,) = [event for event in self.events if isinstance(event, kind)]
        return event


def login(user: str, **more: Any) -> dict[str, Any]:
    return {"operation": "create_login", "params": {"user": user, "password": "hunter2"}, **more}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(login("ada"), ["Received", "Validated", "Decided", "Executed", "Answered"], id="a success"),
        pytest.param(login("nobody"), ["Received", "Validated", "Decided", "Refused", "Answered"], id="a typed error"),
        pytest.param(
            login("broken"), ["Received", "Validated", "Decided", "Failed", "Answered"], id="a broken handler"
        ),
        pytest.param({"operation": "create_login"}, ["Received", "Refused", "Answered"], id="wrong parameters"),
        pytest.param({"operation": "nonsense"}, ["Received", "Refused", "Answered"], id="an unknown operation"),
        pytest.param([], ["Received", "Refused", "Answered"], id="no request at all"),
        pytest.param(
            {"operations": [login("ada"), 5]},
            ["Received", "Validated", "Decided", "Executed", "Refused", "Answered"],
            id="a batch",
        ),
    ],
)
async def test_every_step_is_told_in_order(arguments: object, names: list[str]) -> None:
    assert await Told().by(arguments) == names


async def test_every_event_says_whose_request_it_is_about() -> None:
    told, session, caller = Told(), Session(), Caller(subject="ada")
    await told.by(login("ada"), session=session, caller=caller)
    for event in told.events:
        assert (event.request_id, event.session_id, event.caller) == (told.reply.request_id, session.id, caller)


async def test_the_arrival_tells_endpoint_count_and_the_clients_own_labels() -> None:
    told = Told()
    await told.by(login("ada", _request_id="r1", _meta={"a": 1}), endpoint="create")
    received = told.one(Received)
    assert (received.endpoint, received.operations) == ("create", 1)
    assert received.labels == {"_request_id": "r1", "_meta": {"a": 1}}
    await told.by({"operations": [1, 2, 3]})
    assert told.one(Received).operations == 3
    await told.by("nothing")
    assert (told.one(Received).operations, told.one(Received).labels) == (0, {})


async def test_parameters_are_told_with_secrets_masked() -> None:
    told = Told()
    await told.by(login("ada"))
    validated = told.one(Validated)
    assert (validated.operation, validated.category) == ("create_login", Category.CREATE)
    assert validated.params == {"user": "ada", "password": "***"}
    assert "hunter2" not in str(told.events)


async def test_a_refusal_and_a_failure_tell_what_the_caller_was_told() -> None:
    told = Told()
    await told.by(login("nobody"))
    refused = told.one(Refused)
    assert (refused.operation, refused.error.code) == ("create_login", "NOT_FOUND_RESOURCE")
    await told.by(login("broken"))
    failed = told.one(Failed)
    assert (failed.operation, failed.error.code) == ("create_login", "INTERNAL_ERROR")
    assert failed.error.message in told.reply.text
    await told.by({"operation": 5})
    assert told.one(Refused).operation is None


async def test_times_and_sizes_are_measured() -> None:
    told = Told()
    await told.by(login("ada"))
    assert told.one(Answered).size == len(told.reply.text.encode())
    assert 0 <= told.one(Executed).duration_ms <= told.one(Answered).duration_ms


def ruled(decision: str, **more: str) -> str:
    return "\n".join(["[[rule]]", 'name = "the rule"', f'decision = "{decision}"', *more.values()])


@pytest.mark.parametrize(
    ("policy", "decision", "rule"),
    [
        pytest.param("", "allow", "", id="where nothing concerns the call"),
        pytest.param(ruled("allow"), "allow", "", id="where a rule allows every call"),
        pytest.param(
            ruled("allow", when='when = {user = "ada"}'),
            "allow",
            "the rule",
            id="where a rule allows this call, and danger and trust do too",
        ),
        pytest.param(ruled("confirm"), "confirm", "the rule", id="where a rule asks"),
        pytest.param(ruled("deny"), "deny", "the rule", id="where a rule denies"),
        pytest.param('default = "deny"', "deny", "the policy's default", id="where the default denies"),
    ],
)
async def test_the_decision_of_a_gate_is_told(store: SqlStore, policy: str, decision: str, rule: str) -> None:
    told = Told(store, policy)
    names = await told.by(login("ada"))
    decided = told.one(Decided)
    assert (decided.operation, decided.decision, decided.rule) == ("create_login", decision, rule)
    assert ("Executed" in names) is (decision == "allow")
    assert ("Refused" in names) is (decision != "allow")
    assert "hunter2" not in str(told.events)
    assert "conf_" not in str(told.events)


async def test_a_gate_sees_the_values_and_whose_request_it_is(store: SqlStore) -> None:
    told = Told(store, ruled("deny", callers='callers = "eve"', when='when = {user = "ada"}'))
    for caller, user, decision in (("eve", "ada", "deny"), ("eve", "bob", "allow"), ("ann", "ada", "allow")):
        await told.by(login(user), caller=Caller(subject=caller), endpoint="create")
        assert told.one(Decided).decision == decision
        assert told.one(Decided).caller.subject == caller


async def test_a_broken_listener_breaks_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Event] = []

    def broken(_event: Event) -> None:
        raise RuntimeError("the console is closed")

    engine = Engine(Told().engine.adapter, listeners=[broken, heard.append])
    with caplog.at_level(logging.ERROR, "headgate"):
        reply = await engine.call(login("ada"))
    assert reply.text == '{"success":true,"data":"ada"}'
    assert len(heard) == 5
    assert "a listener failed on Received" in caplog.text


async def test_without_listeners_the_answer_is_the_same() -> None:
    quiet = Engine(Told().engine.adapter)
    assert (await quiet.call(login("ada"))).text == '{"success":true,"data":"ada"}'
    assert '"code":"INTERNAL_ERROR"' in (await quiet.call(login("broken"))).text
    assert '"code":"NOT_FOUND_RESOURCE"' in (await quiet.call(login("nobody"))).text


async def test_a_call_that_is_only_tried_for_a_rule_is_not_told_as_one_that_ran(store: SqlStore) -> None:
    many = '[[rule]]\nname = "many"\noperations = "delete_logins"\naffected_rows = { gt = 5 }\ndecision = "deny"\n'
    told = Told(store, many)
    assert await told.by({"operation": "delete_logins"}) == ["Received", "Validated", "Decided", "Refused", "Answered"]
