"""Operations of this server that belong to an executing agent: held up with it, and put before a person for it."""

from contextlib import nullcontext
from typing import Any

import pytest

from headgate import Adapter, Caller, Session
from headgate.protocol.autonomy import LoopMode
from headgate.safety.approvals import approve
from headgate.safety.loop.overseeing import party
from headgate.store.sql import SqlStore
from tests.engine.asking import answer
from tests.safety.guarding import code_of, codes_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY, Supervised, shop

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot", client_id="host")
NOTE: dict[str, Any] = {"text": "x"}
ORDER: dict[str, Any] = {"order_id": 1}
LOOK = "calling get_order to look at order 1"
WRITE = "calling create_note to write down what was found"


def rules(unreported: str = "allow", mode: str = "enforcing") -> str:
    return f'[autonomy]\nmode = "{mode}"\nstart = "free"\nunreported = "{unreported}"\nmax_autonomous_steps = 100\n'


# Who a call belongs to


def test_who_calls_is_known_by_what_was_proved() -> None:
    lasting, single, own = Session(), Session(lasting=False), Session(is_callers_own=True)
    assert party(Caller(label="a name of its own"), lasting).marks == (f"session:{lasting.id}",)
    assert party(Caller(), single).marks == ("nobody",)
    assert party(ROBOT, lasting).marks[1] == f"session:{lasting.id}"
    assert len(party(ROBOT, own).marks) == 1
    assert party(ROBOT, own).marks == party(ROBOT, single).marks


@pytest.mark.parametrize(
    ("who", "belongs"),
    [
        pytest.param({}, True, id="its session"),
        pytest.param({"session": Session()}, False, id="another session without a name"),
        pytest.param({"session": Session(), "caller": ROBOT}, False, id="somebody with a name"),
    ],
)
async def test_an_agent_without_a_name_is_its_session(store: SqlStore, who: dict[str, Any], belongs: bool) -> None:
    found = Supervised(store, rules())
    await found.start()
    await found.step(RISKY)
    assert (await found.code("create_note", NOTE, **who) == "PERMISSION_DENIED") is belongs


@pytest.mark.parametrize(
    ("who", "belongs"),
    [
        pytest.param({"caller": ROBOT}, True, id="its session"),
        pytest.param({"caller": ROBOT, "session": Session()}, True, id="another session of it"),
        pytest.param({"caller": ROBOT, "session": Session(is_callers_own=True)}, True, id="without a session"),
        pytest.param({"caller": Caller(subject="other"), "session": Session()}, False, id="another caller"),
        pytest.param({"session": Session()}, False, id="nobody in particular"),
    ],
)
async def test_an_agent_with_a_name_is_known_in_every_session(
    store: SqlStore, who: dict[str, Any], belongs: bool
) -> None:
    found = Supervised(store, rules())
    await found.start(caller=ROBOT)
    await found.step(RISKY, caller=ROBOT)
    assert (await found.code("create_note", NOTE, **who) == "PERMISSION_DENIED") is belongs


async def test_those_who_cannot_be_told_apart_are_held_up_together(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start(session=Session(lasting=False))
    await found.step(RISKY, session=Session(lasting=False))
    assert await found.code("create_note", NOTE, session=Session(lasting=False)) == "PERMISSION_DENIED"


# What is refused to whom


@pytest.mark.parametrize(
    ("state", "reads", "writes"),
    [
        ("free", "", ""),
        ("paused", "", "PERMISSION_DENIED"),
        ("to be verified", "", "PERMISSION_DENIED"),
        ("blocked", "PERMISSION_DENIED", "PERMISSION_DENIED"),
        ("done", "", ""),
    ],
)
async def test_a_paused_agent_may_look_and_a_blocked_one_may_do_nothing(
    store: SqlStore, state: str, reads: str, writes: str
) -> None:
    found = Supervised(store, rules())
    await found.start()
    hints = {"paused": RISKY, "to be verified": GRAVE, "blocked": DEADLY}
    await found.step(hints.get(state, HARMLESS))
    if state == "done":
        assert await found.code("complete_execution", {"element_name": "bot"}) == ""
    assert await found.code("get_order", ORDER) == reads
    assert await found.code("create_note", NOTE) == writes
    ran = ["get 1"] * (not reads) + ["note x"] * (not writes)
    assert found.done == ran


async def test_what_is_refused_says_what_it_waits_for_and_is_on_record(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    await found.step(RISKY)
    error = (await found.call("create_note", NOTE))["error"]
    pending = await found.pending()
    assert error["details"]["waits_for"] == pending.approval_id
    assert error["details"]["agent"] == "bot"
    last = (await found.audit())[-1]
    assert (last.event, last.operation, last.code) == ("refused", "create_note", "PERMISSION_DENIED")
    await found.allow()
    assert await found.code("create_note", NOTE) == "", "as soon as a person has agreed"


async def test_a_pause_to_be_verified_holds_until_it_is_verified_or_lapses(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    await found.step(GRAVE)
    assert await found.code("create_note", NOTE) == "PERMISSION_DENIED"
    found.clock.move(300)
    assert await found.code("create_note", NOTE) == ""


async def test_a_pause_that_was_refused_holds_until_the_agent_has_heard_of_it(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    await found.step(RISKY)
    await found.refuse()
    assert await found.code("create_note", NOTE) == "PERMISSION_DENIED"
    assert (await found.step(HARMLESS))["continue"] is True
    assert await found.code("create_note", NOTE) == ""


async def test_a_batch_and_a_transaction_are_held_up_too(store: SqlStore) -> None:
    adapter = shop()
    adapter.collections.transactions.append(nullcontext)
    found = Supervised(store, rules(), adapter=adapter)
    await found.start()
    await found.step(RISKY)
    item = {"operation": "create_note", "params": NOTE}
    done = await answer(found.engine, {"operations": [item, item]}, session=found.session)
    assert list(codes_of(done)) == ["PERMISSION_DENIED"] * 2
    done = await answer(found.engine, {"operations": [item, item], "transaction": True}, session=found.session)
    assert list(codes_of(done)) == ["PERMISSION_DENIED"] * 2
    await found.allow()
    done = await answer(found.engine, {"operations": [item, item]}, session=found.session)
    assert list(codes_of(done)) == ["", ""]


# What must be confirmed


async def test_an_agents_operation_is_put_before_a_person_even_where_its_user_could_agree(store: SqlStore) -> None:
    found = Supervised(store, rules())
    envelope = await found.call("delete_order", ORDER)
    assert "confirmation_token" in envelope["error"]["details"], "without an agent the client may ask its user"
    await found.start()
    envelope = await found.call("delete_order", {"order_id": 2})
    details = envelope["error"]["details"]
    assert "confirmation_token" not in details
    pending = await found.pending()
    assert (pending.approval_id, pending.agent) == (details["approval_id"], "bot")
    assert (await found.agent()).waiting == (pending.id,)


async def test_a_token_from_before_counts_for_no_agent(store: SqlStore) -> None:
    """Else an agent could ask for tokens first, and start afterwards."""
    found = Supervised(store, rules())
    token = await found.token("delete_order", ORDER)
    await found.start()
    assert await found.code("delete_order", ORDER, token=token) == "TOKEN_SCOPE_MISMATCH"
    assert found.done == []


async def test_the_same_operation_is_noted_once_for_an_agent(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    for _ in range(3):
        await found.approval("delete_order", ORDER)
    assert len((await found.agent()).waiting) == 1


async def test_an_agent_that_asks_for_a_dry_run_is_not_asked_about_it(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    assert await found.code("delete_order", {**ORDER, "dry_run": True}) == ""
    assert found.done == []


# Operations that were not reported

NOT_REPORTED = "was not reported"


@pytest.mark.parametrize(
    ("unreported", "executing", "hint", "expected"),
    [
        ("allow", False, "", ""),
        ("allow", True, HARMLESS, ""),
        ("refuse", False, "", ""),
        ("refuse", True, "", "PERMISSION_DENIED"),
        ("refuse", True, HARMLESS, "PERMISSION_DENIED"),
        ("refuse", True, WRITE, ""),
        ("refuse", True, WRITE.upper(), ""),
        ("refuse", True, "calling create_notes to write", "PERMISSION_DENIED"),
        ("refuse", True, "calling recreate_note to write", "PERMISSION_DENIED"),
        ("require", False, "", "PERMISSION_DENIED"),
        ("require", True, HARMLESS, "PERMISSION_DENIED"),
        ("require", True, WRITE, ""),
    ],
)
async def test_a_change_that_was_not_reported_may_be_refused(
    store: SqlStore, unreported: str, executing: bool, hint: str, expected: str
) -> None:
    found = Supervised(store, rules(unreported))
    if executing:
        await found.start()
    if hint:
        assert (await found.step(hint))["continue"] is True
    envelope = await found.call("create_note", NOTE)
    assert code_of(envelope) == expected
    assert found.done == ([] if expected else ["note x"])
    if expected:
        first = "record_execution_step" if executing else "execute_agent"
        assert NOT_REPORTED in envelope["error"]["message"]
        assert f"call {first} first" in envelope["error"]["message"]
        assert envelope["error"]["details"]["operation"] == "create_note"


@pytest.mark.parametrize(("unreported", "expected"), [("refuse", ""), ("require", "PERMISSION_DENIED")])
async def test_a_caller_without_an_agent_reports_only_if_everybody_must(
    store: SqlStore, unreported: str, expected: str
) -> None:
    found = Supervised(store, rules(unreported))
    await found.start(caller=Caller(subject="other"))
    assert await found.code("create_note", NOTE, caller=ROBOT, session=Session()) == expected


@pytest.mark.parametrize("unreported", ["refuse", "require"])
async def test_who_only_looks_need_not_report_it(store: SqlStore, unreported: str) -> None:
    found = Supervised(store, rules(unreported))
    assert await found.code("get_order", ORDER) == ""
    await found.start()
    assert await found.code("get_order", ORDER) == ""


async def test_only_the_last_report_counts(store: SqlStore) -> None:
    found = Supervised(store, rules("refuse"))
    await found.start()
    await found.step(WRITE)
    await found.step(LOOK)
    assert await found.code("create_note", NOTE) == "PERMISSION_DENIED"


async def test_a_report_that_was_not_let_pass_is_no_leave(store: SqlStore) -> None:
    found = Supervised(store, f"{rules('refuse')}requires_approval = ['*create_note*']\n")
    await found.start()
    assert (await found.step(WRITE))["continue"] is False
    await found.allow()
    assert await found.code("create_note", NOTE) == "PERMISSION_DENIED", "before it was reported again"
    assert (await found.step(WRITE))["continue"] is True
    assert await found.code("create_note", NOTE) == ""


async def test_of_several_agents_of_a_caller_any_may_have_reported_it(store: SqlStore) -> None:
    found = Supervised(store, rules("refuse"))
    await found.start("one", caller=ROBOT)
    await found.start("two", caller=ROBOT)
    await found.step(WRITE, name="two", caller=ROBOT)
    assert await found.code("create_note", NOTE, caller=ROBOT) == ""


async def test_starting_completing_and_reporting_need_no_report(store: SqlStore) -> None:
    found = Supervised(store, rules("require"))
    await found.start()
    await found.step(HARMLESS)
    assert await found.code("abort_execution", {"element_name": "bot"}) == ""


# Where nothing is enforced


@pytest.mark.parametrize("mode", [LoopMode.MONITORING, LoopMode.LOGGING, LoopMode.DISABLED])
async def test_where_nothing_is_enforced_operations_belong_to_nobody(store: SqlStore, mode: LoopMode) -> None:
    found = Supervised(store, rules("require", mode))
    await found.start()
    for hint in (RISKY, GRAVE, DEADLY):
        await found.step(hint)
    assert await found.code("create_note", NOTE) == ""
    assert await found.code("get_order", ORDER) == ""
    assert await found.token("delete_order", ORDER), "and their users may agree as ever"


async def test_an_adapter_of_another_kind_shares_the_blocks_of_the_store(store: SqlStore) -> None:
    """A caller whose agent is blocked in one server can do nothing in another one either."""
    first = Supervised(store, rules())
    other = Adapter("other")

    @other.read
    async def get_page(number: int) -> int:
        """Read a page."""
        return number

    second = Supervised(store, rules(), adapter=other, clock=first.clock)
    await first.start(caller=ROBOT)
    assert await second.code("get_page", {"number": 1}, caller=ROBOT) == ""
    await first.step(DEADLY, caller=ROBOT)
    assert await second.code("get_page", {"number": 1}, caller=ROBOT) == "PERMISSION_DENIED"
    await first.release()
    assert await second.code("get_page", {"number": 1}, caller=ROBOT) == ""


async def test_an_approved_operation_of_an_agent_runs_once(store: SqlStore) -> None:
    found = Supervised(store, rules())
    await found.start()
    asked = await found.approval("delete_order", ORDER)
    assert await approve(store, asked, "ana", found.clock)
    assert await found.code("delete_order", ORDER, token=asked) == ""
    assert await found.code("delete_order", ORDER, token=asked) == "TOKEN_ALREADY_USED"
    assert found.done == ["delete 1"]


@pytest.mark.parametrize(
    ("hint", "is_reported"),
    [
        ("calling create_note with the text", True),
        ("find the order, then create_note about it", True),
        ("explain what create_note does", False),
        ("read how create_note works", False),
        ("list orders, and do not call create_note", False),
        ("read the order without create_note", False),
        ("look at the order instead of create_note", False),
        ("list orders rather than create_note", False),
        ("read the docs of create_note", False),
    ],
)
async def test_a_report_names_the_operation_as_what_will_be_done(store: SqlStore, hint: str, is_reported: bool) -> None:
    found = Supervised(store, f"{rules('refuse')}risk_tolerance = 'aggressive'\nauto_approve = ['*']\n")
    await found.start()
    assert (await found.step(hint))["continue"] is True
    assert await found.code("create_note", NOTE) == ("" if is_reported else "PERMISSION_DENIED")
