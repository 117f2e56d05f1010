"""A supervised agent reports before it acts, heeds the answer, and cannot act beside its run (specification 8.6)."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import AqlFailure, Caller, Session, connect, mcp_server
from headgate.client.directives import Directive
from headgate.client.errors import Held, Paused, PermissionFailure, Stopped, Unreported
from headgate.safety.approvals import approve, waiting
from headgate.safety.loop.persons import challenges, show_code
from headgate.server.binding import McpServer
from tests.client.shops import Toy, details, shop

pytestmark = pytest.mark.anyio

FREE = {"autonomy": {"mode": "enforcing", "start": "free"}}
PERSON = Caller(subject="ana", client_id="desk")
READING = "read project/config.json"
RISKY = "send the quarterly report to the press"
DEADLY = "rm -rf /srv/data"


class Desk:
    """A server with a safety loop, what was done on it, and the person who decides."""

    def __init__(self, policy: Any = FREE) -> None:
        self.done: list[str] = []
        self.server: McpServer = mcp_server(shop(self.done), policy=policy)

    async def approve(self) -> str:
        [grant] = await waiting(self.server.store, time.time())
        assert await approve(self.server.store, grant.approval_id, "ana", time.time)
        return grant.approval_id

    async def verify(self) -> None:
        [challenge] = await challenges(self.server.store, time.time())
        code = await show_code(self.server.store, challenge.id, "tests", "ana", time.time)
        request = {"operation": "verify_challenge", "params": {"challenge_id": challenge.id, "code": code}}
        reply = await self.server.engine.call(request, caller=PERSON, session=Session())
        assert not reply.failed, reply.text


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    await made.server.store.close()


@pytest.mark.proves(
    "spec-8.6.2-actions-reported-before-execution",
    "spec-8.6.2-no-effects-before-first-report",
    "spec-8.6.3-agents-report-all-actions",
)
async def test_every_call_is_reported_before_it_is_made_with_words_for_a_person() -> None:
    order: list[str] = []

    def noted(name: str, answer: object) -> Any:
        def note(params: dict[str, Any]) -> object:
            order.append(name + (f": {params['nextActionHint']}" if "nextActionHint" in params else ""))
            return answer

        return note

    listed = [
        details("execute_agent", "EXECUTE", "element_name!"),
        details("record_execution_step", "CREATE", "element_name!", "nextActionHint!", "outcome", "stepDescription"),
        details("complete_execution", "EXECUTE", "element_name!"),
        details("get_order", "READ", "order_id!"),
    ]
    going_on = {"directive": {"continue": True, "factors": []}}
    answers = {
        "execute_agent": noted("begin", {"execution_id": "e1"}),
        "record_execution_step": noted("report", going_on),
        "get_order": noted("get_order", {"order_id": 1}),
        "complete_execution": noted("complete", {}),
    }
    async with connect(Toy(listed, answers).server()) as aql, aql.supervised("clerk") as run:
        assert order == ["begin"]  # nothing has happened yet, and nothing may
        assert await run.call("get_order", order_id=1) == {"order_id": 1}
        assert run.steps == 1
    assert order == ["begin", 'report: calling get_order with {"order_id":1}', "get_order", "complete"]


async def test_a_run_on_a_real_server_reports_calls_and_completes(desk: Desk) -> None:
    async with connect(desk.server) as aql:
        async with aql.supervised("clerk", task="Tidy up") as run:
            assert run.mode == "enforcing"
            assert await run.call("get_order", order_id=1) == {"order_id": 1}
            directive = await run.step(READING, outcome="success", description="looked", findings="fine")
            assert (directive.goes_on, directive.stopped) == (True, False)
            run.summary = "All tidy"
        assert await aql.read("get_order", order_id=1) == {"order_id": 1}  # the loop is over
        with pytest.raises(AqlFailure):
            await aql.call("record_execution_step", element_name="clerk", next_action_hint=READING)


@pytest.mark.proves("spec-8.6.5-no-actions-outside-loop")
async def test_nothing_is_called_beside_the_run(desk: Desk) -> None:
    async with connect(desk.server) as aql:
        async with aql.supervised("clerk") as run:
            await run.step(READING)
            for call in (aql.call, aql.read):
                with pytest.raises(
                    Unreported, match="'get_order' was not reported: call it through the run of 'clerk'"
                ):
                    await call("get_order", order_id=1)
            with pytest.raises(Unreported):
                await aql.batch([("get_order", {"order_id": 1})])
            with pytest.raises(Unreported):
                await aql.create("create_note", text="hi")
            assert await aql.operation("get_order")  # to look what there is, is no action
            with pytest.raises(Unreported, match="supervises an agent already"):
                async with aql.supervised("another"):
                    pass
        assert desk.done == []


@pytest.mark.proves("spec-8.6.4-agent-halts-when-not-continued", "spec-8.6.4-agent-reports-its-pause")
async def test_a_paused_agent_does_not_act_and_says_that_it_is_paused(desk: Desk) -> None:
    told: list[Held] = []
    acted: list[str] = []
    async with connect(desk.server) as aql, aql.supervised("clerk", on_pause=told.append) as run:
        with pytest.raises(Paused, match="Agent 'clerk' is paused: ") as paused:
            await run.act(RISKY, acted.append, "sent")
        assert told == [paused.value]
        assert paused.value.directive is not None
        assert paused.value.directive.factors
        for again in (run.step(READING), run.call("get_order", order_id=1), run.act(READING, acted.append, "read")):
            with pytest.raises(Paused):
                await again
        assert (acted, len(told)) == ([], 1)
        with pytest.raises(Paused):  # nobody has decided yet
            await run.resume()
        await desk.approve()
        assert (await run.resume()).goes_on
        assert await run.call("get_order", order_id=2) == {"order_id": 2}


@pytest.mark.proves("spec-8.6.4-agent-ceases-when-stopped")
async def test_a_stopped_agent_does_nothing_more_until_it_is_verified_out_of_band(desk: Desk) -> None:
    acted: list[str] = []
    async with connect(desk.server) as aql, aql.supervised("clerk") as run:
        with pytest.raises(Stopped, match="Agent 'clerk' is stopped"):
            await run.act(DEADLY, acted.append, "deleted")
        for again in (run.step(READING), run.call("get_order", order_id=1), run.act(READING, acted.append, "x")):
            with pytest.raises(Stopped):
                await again
        for _ in range(2):  # nobody has verified it yet
            with pytest.raises(Stopped, match="Agent 'clerk' is held up: Permission denied"):
                await run.resume()
        assert (acted, run.steps) == ([], 0)
        await desk.verify()
        assert (await run.resume()).goes_on
        assert await run.call("get_order", order_id=1) == {"order_id": 1}


async def test_a_stopped_agent_that_gives_up_leaves_without_a_word_of_its_own(desk: Desk) -> None:
    async with connect(desk.server) as aql:
        with pytest.raises(Stopped):
            async with aql.supervised("clerk") as run:
                await run.step(DEADLY)
        with pytest.raises(PermissionFailure):
            await aql.create("create_note", text="hi")  # the server has not forgotten it
    assert desk.done == []


async def test_to_resume_without_a_pause_is_to_report_again(desk: Desk) -> None:
    async with connect(desk.server) as aql, aql.supervised("clerk") as run:
        await run.step(READING)
        assert (await run.resume()).goes_on
        await aql.call("abort_execution", element_name="clerk", reason="enough")
        with pytest.raises(AqlFailure):
            await run.resume()
        run.held = Paused("it has ended")


@pytest.mark.proves("spec-8.6.5-foreign-tools-reported-first", "spec-8.6.5-file-shell-actions-reported-first")
async def test_what_is_done_elsewhere_is_reported_first_and_not_done_if_it_may_not(desk: Desk) -> None:
    notes: list[str] = []
    other = shop(notes)
    async with connect(desk.server) as aql, connect(other) as elsewhere, aql.supervised("clerk") as run:

        async def write() -> object:
            assert run.steps == 1  # the report was there before
            return await elsewhere.create("create_note", text="hi")

        assert await run.act("read the note of the other server", write) == "a note of hi"
        with pytest.raises(Held):
            await run.act("executing shell command: rm -rf /srv/notes", notes.clear)
    assert notes == ["note hi"]


@pytest.mark.proves("spec-8.7.2-agent-reports-failure-before-retry")
async def test_a_failure_is_told_with_the_next_report_before_anything_is_tried_again(desk: Desk) -> None:
    tries: list[int] = []

    def fail() -> None:
        tries.append(1)
        raise OSError("no room")

    async with connect(desk.server) as aql, aql.supervised("clerk") as run:
        with pytest.raises(OSError, match="no room"):
            await run.act(READING, fail)
        with pytest.raises(Paused):
            await run.act(READING, fail)
        assert tries == [1]
        await desk.approve()
        assert (await run.resume()).goes_on


async def test_whoever_must_approve_the_start_is_waited_for() -> None:
    desk = Desk({"autonomy": {"mode": "enforcing"}})
    async with connect(desk.server) as aql:
        with pytest.raises(AqlFailure, match="CONFIRMATION_REQUIRED"):
            async with aql.supervised("clerk", task="Tidy up"):
                pass
        approval = await desk.approve()
        async with aql.supervised("clerk", task="Tidy up", confirmation_token=approval) as run:
            assert (await run.step(READING)).goes_on
    await desk.server.store.close()


async def test_nothing_is_done_before_the_run_is_open_and_after_it_is_over(desk: Desk) -> None:
    acted: list[str] = []
    async with connect(desk.server) as aql:
        run = aql.supervised("clerk")
        for _ in range(2):
            for again in (run.step(READING), run.call("get_order", order_id=1), run.act(READING, acted.append, "x")):
                with pytest.raises(Unreported, match="The run of 'clerk' is not open"):
                    await again
            async with run:
                pass
    assert acted == []


async def test_an_error_in_the_block_aborts_the_run(desk: Desk) -> None:
    async with connect(desk.server) as aql:
        with pytest.raises(ZeroDivisionError):
            async with aql.supervised("clerk") as run:
                await run.act(READING, lambda: 1 / 0)
        async with aql.supervised("clerk") as again:  # it has ended, so it may begin anew
            assert (await again.step(READING)).goes_on


async def test_a_permit_ends_with_what_was_reported(desk: Desk) -> None:
    async with connect(desk.server) as aql, aql.supervised("clerk") as run:

        async def look() -> object:
            return await aql.read("get_order", order_id=3)

        assert await run.act("calling get_order 3", look) == {"order_id": 3}
        with pytest.raises(Unreported):
            await look()


async def test_in_monitoring_mode_a_directive_is_advice() -> None:
    desk = Desk({"autonomy": {"mode": "monitoring", "start": "free"}})
    async with connect(desk.server) as aql, aql.supervised("clerk") as run:
        assert run.mode == "monitoring"
        assert (await run.step(DEADLY)).goes_on
    await desk.server.store.close()


DIRECTIVES = {
    "go on": ({"directive": {"continue": True, "factors": ["fine"]}}, True, True, False),
    "no directive": ({}, True, False, False),
    "nothing": (None, True, False, False),
    "a text for true": ({"directive": {"continue": "true"}}, True, False, False),
    "stopped and going on": ({"directive": {"continue": True, "stopped": True}}, True, False, True),
    "without a frame": ({"continue": True, "factors": []}, True, True, False),
    "advice": ({"directive": {"continue": False, "stopped": True}}, False, True, False),
    "no advice": (None, False, True, False),
}


@pytest.mark.parametrize(("data", "binding", "goes_on", "stopped"), DIRECTIVES.values(), ids=DIRECTIVES)
def test_only_a_clear_word_lets_an_agent_go_on(data: object, binding: bool, goes_on: bool, stopped: bool) -> None:
    directive = Directive.of(data, binding=binding)
    assert (directive.goes_on, directive.stopped) == (goes_on, stopped)
    assert directive.words


async def test_a_mode_that_only_introspection_tells_is_found() -> None:
    listed = [
        details("execute_agent", "EXECUTE", "element_name!"),
        details("record_execution_step", "CREATE", "element_name!", "next_action_hint!"),
        details("complete_execution", "EXECUTE", "element_name!"),
    ]
    answers: dict[str, Any] = {
        "execute_agent": lambda _params: "begun",
        "record_execution_step": lambda _params: {},
        "complete_execution": lambda _params: {},
    }
    toy = Toy(listed, answers, protocol={"capabilities": {"execution_safety_loop": "logging"}})
    async with connect(toy.server()) as aql, aql.supervised("clerk") as run:
        assert run.mode == "logging"
        assert (await run.step(DEADLY)).goes_on
    assert toy.sent[1]["params"] == {"element_name": "clerk", "next_action_hint": DEADLY}
