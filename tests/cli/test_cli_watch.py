"""``headgate watch``: what waits for a person appears on the operator's own terminal, and is decided there."""

import re
from pathlib import Path

import pytest

from headgate import Session
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.agents import Agent
from headgate.safety.loop.persons import find_agent
from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.cli.states import add, in_store, rows_of
from tests.cli.supervision import at_work, blocked, code_for, paused
from tests.cli.terminals import on_terminal
from tests.safety.supervising import GRAVE, RISKY, Supervised

CODE = re.compile(r"^  ((?:[2-9A-HJKMNP-TV-Z]{4}-){6}[2-9A-HJKMNP-TV-Z]{4})$", re.MULTILINE)
APPROVE = "Approve it? Type yes or no; Enter leaves it: "
VERIFY = "Verify it? Type the code; Enter leaves it: "
HOSTILE = "a\x1b[2Jb\n\u202ec"
SPELT = r"a\u001b[2Jb\n\u202ec"
LATE = "it no longer waits: somebody else has decided, or it has expired"


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "state.db"
    add(str(path), [])
    return str(path)


def agent_in(state: str) -> Agent:
    agent = in_store(state, lambda store: find_agent(store, "bot"))
    assert agent is not None
    return agent


def asked(state: str, number: int) -> str:
    """Have an agent ask to be started; the approval that it waits for."""

    async def ask(world: Supervised) -> str:
        envelope = await world.call("execute_agent", {"element_name": f"bot {number}"}, session=Session())
        return str(envelope["error"]["details"]["approval_id"])

    return at_work(state, ask, rules='[autonomy]\nmode = "enforcing"\n')


def grant_in(state: str, grant_id: str) -> Grant:
    record = in_store(state, lambda store: store.find(GRANT, grant_id))
    assert record is not None
    return Grant.read(record)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def events(state: str) -> list[str]:
    return [row.entry.event for row in rows_of(state)]


# once


def test_what_goes_to_a_pipe_is_no_code(shell: Shell, state: str) -> None:
    blocked(state)
    done = shell("watch", "--once", "--state", state)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "headgate: headgate watch shows codes, so it prints to a terminal alone; headgate agents and headgate approvals"
        " print anywhere\n"
    )
    assert "code shown" not in events(state)


def test_what_waits_now_is_shown_with_its_code_and_nothing_can_pretend(shell: Shell, state: str) -> None:
    grant, challenge = paused(state, "mailer"), blocked(state, hint=f"rm -rf /{HOSTILE}")
    seen = on_terminal("watch", "--once", "--by", "ana", "--state", state)
    text = plain(seen.text)
    assert seen.code == 0
    assert f"{grant.approval_id}\n  operation record_execution_step of shop\n" in text
    assert f"headgate approvals approve {grant.approval_id} --state {state}\n" in text
    assert f"Agent 'bot' is blocked. It is about to:\n\n  rm -rf /{SPELT}\n" in text
    assert "\x1b[2J" not in seen.text
    assert f"headgate verify {challenge.id} --state {state}\n" in text
    entry = rows_of(state)[-1].entry
    assert (entry.event, entry.details["channel"], entry.details["by"]) == ("code shown", "terminal", "ana")
    [code] = CODE.findall(text)
    assert shell("verify", challenge.id, "--state", state, given=code).code == 0
    assert shell("approvals", "deny", grant.approval_id, "--state", state).code == 0
    nothing = on_terminal("watch", "--once", "--state", state)
    assert (nothing.code, plain(nothing.text)) == (0, "headgate: nothing waits for a person\n")


def test_where_nobody_can_type_it_only_shows(shell: Shell, state: str) -> None:
    """As its input is no terminal, nobody is asked, and it goes on until it is interrupted."""
    blocked(state)
    with dialogue("watch", "--state", state, has_keys=False) as terminal:
        terminal.wait_for("a wrong try makes it void.")
        paused(state, "mailer")
        terminal.wait_for("headgate approvals approve ")
        terminal.interrupt()
        assert terminal.ended() == 0
    assert APPROVE not in terminal.text
    assert VERIFY not in terminal.text


# approvals


def test_approvals_are_asked_for_as_they_come(shell: Shell, state: str) -> None:
    with dialogue("watch", "--by", "ana", "--state", state) as terminal:
        terminal.wait_for("watching; ")
        first = paused(state)
        terminal.wait_for(APPROVE)
        assert RISKY in terminal.text
        terminal.type("yes\n")
        terminal.wait_for("approved")
        second = paused(state, "second")
        terminal.wait_for(APPROVE, 2)
        terminal.type("n\n")
        terminal.wait_for("Why? Enter gives no reason: ")
        terminal.type("not on a Friday\n")
        terminal.wait_for("turned down")
        third = paused(state, "third")
        terminal.wait_for(APPROVE, 3)
        terminal.type("\n")
        terminal.wait_for(f"left; later: headgate approvals approve {third.approval_id} --state {state}")
        terminal.interrupt()
        assert terminal.ended() == 0
    assert "Traceback" not in terminal.text
    kept = [grant_in(state, grant.id) for grant in (first, second, third)]
    assert [grant.approved_by for grant in kept] == ["ana", None, None]
    assert [grant.turned_down_by for grant in kept] == [None, "ana", None]
    assert kept[1].turned_down_because == "not on a Friday"
    assert shell("approvals", "--state", state).out.startswith(third.approval_id)


def test_what_somebody_else_decides_is_asked_no_more(shell: Shell, state: str) -> None:
    with dialogue("watch", "--state", state) as terminal:
        grants = [asked(state, number) for number in range(3)]
        terminal.wait_for(APPROVE)
        assert shell("approvals", "deny", grants[1], "--state", state).code == 0
        assert shell("approvals", "deny", grants[0], "--state", state).code == 0
        terminal.wait_for(LATE)
        terminal.wait_for(APPROVE, 2)
        assert [grant in terminal.text for grant in grants] == [True, False, True]
        terminal.type("\n")
        challenge = blocked(state, "other")
        terminal.wait_for(VERIFY)
        assert shell("verify", challenge.id, "--state", state, given=code_for(state, challenge)).code == 0
        terminal.wait_for(LATE, 2)
        terminal.interrupt()
        assert terminal.ended() == 0


def test_what_was_typed_before_a_question_is_no_answer(state: str) -> None:
    with dialogue("watch", "--state", state) as terminal:
        terminal.wait_for("watching; ")
        terminal.type("yes\nyes\n")
        grant = paused(state)
        terminal.wait_for(APPROVE)
        terminal.type("\n")
        terminal.wait_for("left; later: ")
        terminal.interrupt()
        assert terminal.ended() == 0
    assert grant_in(state, grant.id).approved_at is None


# codes


def test_a_code_is_typed_where_it_is_shown(state: str) -> None:
    with dialogue("watch", "--by", "ana", "--state", state) as terminal:
        blocked(state)
        terminal.wait_for(VERIFY)
        [first] = CODE.findall(terminal.text)
        terminal.type("not a code\n")
        terminal.wait_for(VERIFY, 2)
        assert "That was not the code, so none counts any more" in terminal.text
        [_, second] = CODE.findall(terminal.text)
        assert first != second
        terminal.type(f"{second}\n")
        terminal.wait_for("verified: the agent may go on")
        terminal.interrupt()
        assert terminal.ended() == 0
    assert agent_in(state).block is None
    assert '"terminal:ana"' in rows_of(state)[-1].entry.caller


def test_who_leaves_a_code_decides_nothing(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    with dialogue("watch", "--state", state) as terminal:
        terminal.wait_for(VERIFY)
        terminal.type("\n")
        paused(state, "mailer")
        terminal.wait_for(APPROVE)  # which shows that it has gone on
        terminal.interrupt()
        assert terminal.ended() == 0
    assert agent_in(state).block is not None
    [code] = CODE.findall(terminal.text)
    assert shell("verify", challenge.id, "--state", state, given=code).code == 0


def test_what_an_agent_is_paused_for_is_refused_with_a_no(state: str) -> None:
    blocked(state, hint=GRAVE)
    with dialogue("watch", "--by", "ana", "--state", state) as terminal:
        terminal.wait_for("Verify it? Type the code or no; Enter leaves it: ")
        terminal.type("no\n")
        terminal.wait_for("Why? Enter gives no reason: ")
        terminal.type("not on a Friday\n")
        terminal.wait_for("refused: the agent may go on, but not with that")
        terminal.interrupt()
        assert terminal.ended() == 0
    entry = rows_of(state)[-1].entry
    assert (entry.event, entry.details["reason"]) == ("verification refused", "not on a Friday")
    assert agent_in(state).pause is None
