"""What happens to a request, told sideways: in order, with secrets masked, and never in its way."""

import logging
from typing import Annotated, Any

import pytest

from headgate import Adapter, Caller, Category, Engine, NotFound, Param, Session
from headgate.engine.events import Answered, Decided, Event, Executed, Failed, Received, Refused, Validated
from headgate.engine.stages import Call, Scope
from headgate.protocol.errors import ErrorDetail
from headgate.safety.decisions import ALLOW, Allow, Confirm, Decision, Deny

pytestmark = pytest.mark.anyio


class Told:
    """An engine and all that it told."""

    def __init__(self, **more: Any) -> None:
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

        self.engine = Engine(adapter, listeners=[self.events.append], **more)

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


@pytest.mark.parametrize(
    ("decision", "word"),
    [
        (ALLOW, "allow"),
        (Allow(), "allow"),
        (Confirm(ErrorDetail("CONFIRMATION_REQUIRED", "x")), "confirm"),
        (Deny(ErrorDetail("PERMISSION_DENIED", "x")), "deny"),
    ],
    ids=["allow", "another allow", "confirm", "deny"],
)
async def test_the_decision_of_a_gate_is_told(decision: Decision, word: str) -> None:
    def gate(_call: Call, _scope: Scope) -> Decision:
        return decision

    told = Told(gate=gate)
    names = await told.by(login("ada"))
    assert told.one(Decided).decision == word
    assert ("Executed" in names) is (word == "allow")


async def test_a_gate_sees_the_typed_values_and_whose_request_it_is() -> None:
    seen: list[object] = []

    def gate(call: Call, scope: Scope) -> Decision:
        seen.extend([call.operation.name, call.values["user"], scope.caller.subject, scope.endpoint])
        return ALLOW

    await Told(gate=gate).by(login("ada"), caller=Caller(subject="eve"), endpoint="create")
    assert seen == ["create_login", "ada", "eve", "create"]


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
