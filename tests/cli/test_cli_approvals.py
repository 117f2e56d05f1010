"""``headgate approvals``: a person sees the whole call, and what they decide counts once."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.safety.decisions import Who
from headgate.safety.grants import GRANT, Binding, Grant, Purpose, new_grant
from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.cli.states import add, in_store, rows_of
from tests.cli.supervision import paused
from tests.cli.terminals import on_terminal
from tests.databases import Server

SHOP = '''
from headgate import Adapter

shop = Adapter("shop", "A shop")

@shop.delete
async def delete_order(id: int, note: str = "") -> str:
    """Delete an order."""
    return f"order {id} is gone"
'''
POLICY = """
[confirmation]
outlive_session = true  # each command is a session of its own

[[rule]]
name = "a person sees deletions"
operations = ["delete_*"]
decision = "confirm"
confirm = "person"
"""
HOSTILE = "a\x1b[2Jb\n\u202ec"
SPELT = r"a\u001b[2Jb\n\u202ec"


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty store in each kind of database that servers share."""
    server: Server = request.getfixturevalue(request.param)
    with server.fresh() as database:
        add(database.url, [])
        yield database.url


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "state.db"
    add(str(path), [])
    return str(path)


def asked(url: str, *, ago: float = 60.0, lives: float = 300.0, who: Who = Who.PERSON, **about: Any) -> Grant:
    """A call that waits for a confirmation since some time."""
    issued = time.time() - ago
    binding = Binding(
        adapter=about.pop("adapter", "shop"),
        operation=about.pop("operation", "delete_order"),
        params_digest="0" * 64,
        caller=about.pop("caller", "anonymous"),
        policy="p",
        session=None,
    )
    plain: dict[str, Any] = {
        "purpose": Purpose.CONFIRMATION,
        "danger": "destructive",
        "message": "Delete order 7?",
        "reasons": ("It cannot be undone",),
        "params": {"id": 7},
    }
    grant, _ = new_grant(binding=binding, who=who, issued_at=issued, expires_at=issued + lives, **(plain | about))
    assert in_store(url, lambda store: store.insert(grant.record(1800.0)))
    return grant


def test_a_call_waits_is_approved_and_runs_once(shell: Shell, shared: str, tmp_path: Path) -> None:
    """The whole way: a caller asks, a person approves elsewhere, the caller repeats the call."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "policy.toml").write_text(POLICY)
    guards = ("-s", "shop.py:shop", "--policy", "policy.toml", "--state", shared)

    def call(*values: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(shell("call", "delete_order", *values, "--json", *guards, cwd=tmp_path).out)
        return answer

    wanted = call("id=7", "note=twice the same")["error"]["details"]["approval_id"]
    [listed] = json.loads(shell("approvals", "--state", shared, "--json").out)["approvals"]
    assert (listed["approval_id"], listed["adapter"], listed["operation"]) == (wanted, "shop", "delete_order")
    assert listed["params"] == {"id": 7, "note": "twice the same"}
    assert (listed["caller"], listed["danger"], listed["purpose"]) == ("anonymous", "destructive", "confirmation")
    done = shell("approvals", "approve", wanted, "--yes", "--by", "ann", "--state", shared)
    assert (done.code, done.out.count("\n")) == (0, 1)
    token = done.out.strip()
    assert token.startswith("conf_")
    assert '"note": "twice the same"' in done.err
    assert f"repeat the call with confirmation_token '{wanted}', or this token" in done.err
    other = call("id=8", "note=twice the same", f"confirmation_token={wanted}")
    assert other["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    assert call("id=7", "note=twice the same", f"confirmation_token={wanted}")["data"] == "order 7 is gone"
    again = call("id=7", "note=twice the same", f"confirmation_token={token}")
    assert again["error"]["code"] == "TOKEN_ALREADY_USED"
    approved = [row.entry for row in rows_of(shared) if row.entry.event == "approved"]
    assert approved[0].details["by"] == "ann"
    used = shell("approvals", "approve", wanted, "--yes", "--state", shared)
    assert used.code == 1
    assert re.search(rf"'{wanted}' was used at \S+Z: the call has run", used.err)


def test_the_token_alone_will_do(shell: Shell, shared: str) -> None:
    grant = asked(shared)
    done = shell("approvals", "approve", "--yes", "--json", "--state", shared, "--", grant.id)
    told = json.loads(done.out)
    assert (done.code, told["approval_id"]) == (0, grant.approval_id)
    assert told["token"].startswith(f"conf_{grant.id}")
    assert len(told["token"]) > len(grant.id) + 40


def test_a_call_is_turned_down(shell: Shell, shared: str) -> None:
    grant = asked(shared)
    done = shell("approvals", "deny", grant.approval_id, "--by", "ann", "--state", shared)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"headgate: '{grant.approval_id}' was turned down: the call will not run\n"
    assert shell("approvals", "--state", shared).err == "headgate: nothing waits for a person\n"
    [row] = rows_of(shared)
    assert (row.entry.event, row.entry.details["by"]) == ("revoked", "ann")
    for command in (("approve", "--yes"), ("deny",)):
        late = shell("approvals", command[0], grant.approval_id, *command[1:], "--state", shared)
        assert (late.code, late.out) == (1, "")
        assert f"'{grant.approval_id}' was turned down by ann at " in late.err


def test_who_asked_is_told_why_not(shell: Shell, state: str) -> None:
    grant = asked(state)
    assert shell("approvals", "deny", grant.approval_id, "--reason", " not on a Friday ", "--state", state).code == 0
    record = in_store(state, lambda store: store.find(GRANT, grant.id))
    assert record is not None
    assert Grant.read(record).turned_down_because == "not on a Friday"


def test_a_step_of_an_agent_needs_no_token(shell: Shell, state: str) -> None:
    grant = paused(state)
    done = shell("approvals", "approve", grant.approval_id, "--yes", "--state", state)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("headgate: approved: the agent may take this step once it reports it again\n")


def test_denying_tells_programs_too(shell: Shell, state: str) -> None:
    grant = asked(state)
    done = shell("approvals", "deny", grant.approval_id, "--json", "--state", state)
    assert json.loads(done.out) == {"approval_id": grant.approval_id, "denied": True}


def test_who_decides_is_the_user_of_this_machine_unless_said(shell: Shell, state: str) -> None:
    grant = asked(state)
    shell("approvals", "approve", grant.approval_id, "--yes", "--state", state, env={"LOGNAME": "mary"})
    [row] = rows_of(state)
    assert (row.entry.event, row.entry.details["by"]) == ("approved", "mary")


# what is listed


def test_in_a_pipe_each_call_is_one_line_the_oldest_first(shell: Shell, state: str) -> None:
    young = asked(state, ago=10.0)
    old = asked(state, ago=200.0, caller='["alice","claude"]', params={"id": 8, "note": HOSTILE}, message=HOSTILE)
    asked(state, ago=400.0)  # which has expired
    asked(state, who=Who.CLIENT)  # which no person is asked for
    first, second = (line.split("\t") for line in shell("approvals", "--state", state).out.splitlines())
    assert (first[0], second[0]) == (old.approval_id, young.approval_id)
    assert first[3:] == [
        "shop",
        "delete_order",
        "alice via claude",
        "destructive",
        SPELT,
        f'{{"id":8,"note":"{SPELT}"}}',
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text) for text in first[1:3])


def test_on_a_terminal_everything_is_shown_and_nothing_can_pretend(state: str) -> None:
    params = {"note": "x" * 500, HOSTILE: HOSTILE}
    grant = asked(state, ago=125.0, cooldown_seconds=5.0, params=params, message=f"[bold]{HOSTILE}", lives=7400.0)
    shown = on_terminal("approvals", "--state", state)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.text)
    assert (shown.code, shown.is_coloured) == (0, True)
    assert "\x1b[2J" not in shown.text
    assert text.startswith(f"{grant.approval_id}\n  operation delete_order of shop\n")
    for part in (
        "  caller    anonymous\n",
        "  danger    destructive\n",
        "  asked     2 min ago; expires in 2 h, ",
        f"  message   [bold]{SPELT}\n",
        "  because   It cannot be undone\n",
        "  runs      5 seconds after the approval at the earliest\n",
        f'"{SPELT}": "{SPELT}"',
        "x" * 500,
    ):
        assert part in text


def test_numbers_of_any_size_are_shown_as_they_are(shell: Shell, state: str) -> None:
    asked(state, params={"id": 10**30})
    assert f'"id":{10**30}' in shell("approvals", "--state", state, "--json").out


# what is asked


@pytest.mark.parametrize(
    ("answer", "code"), [("y\n", 0), ("YES\n", 0), ("n\n", 1), ("\n", 1), ("yeah\n", 1), ("\x04", 1)]
)
def test_on_a_terminal_the_person_is_asked(state: str, answer: str, code: int) -> None:
    grant = asked(state)
    with dialogue("approvals", "approve", grant.approval_id, "--state", state) as terminal:
        terminal.wait_for("Approve this call? [y/N] ")
        assert '"id": 7' in terminal.text
        terminal.type(answer)
        assert terminal.ended() == code
    assert ("conf_" in terminal.text) is (code == 0)
    assert ("nothing was approved; it still waits" in terminal.text) is (code == 1)
    assert len(rows_of(state)) == (1 if code == 0 else 0)


def test_ctrl_c_at_the_question_approves_nothing(state: str) -> None:
    grant = asked(state)
    with dialogue("approvals", "approve", grant.approval_id, "--state", state) as terminal:
        terminal.wait_for("Approve this call? [y/N] ")
        terminal.interrupt()
        assert terminal.ended() == 1
    assert terminal.text.endswith("nothing was approved; it still waits\n")
    assert "Traceback" not in terminal.text


def test_who_is_slower_than_another_person_is_told_so(shell: Shell, state: str) -> None:
    grant = asked(state)
    with dialogue("approvals", "approve", grant.approval_id, "--state", state) as terminal:
        terminal.wait_for("Approve this call? [y/N] ")
        assert shell("approvals", "deny", grant.approval_id, "--state", state).code == 0
        terminal.type("y\n")
        assert terminal.ended() == 1
    assert f"'{grant.approval_id}' was turned down by " in terminal.text
    assert "conf_" not in terminal.text


def test_a_user_without_a_name_is_unknown(shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError("No username set in the environment")

    monkeypatch.setattr("getpass.getuser", nobody)
    shell("approvals", "deny", asked(state).approval_id, "--state", state)
    assert rows_of(state)[0].entry.details["by"] == "unknown"


def test_where_nobody_can_be_asked_nothing_is_approved(shell: Shell, state: str) -> None:
    grant = asked(state)
    done = shell("approvals", "approve", grant.approval_id, "--state", state, given="y\n")
    assert (done.code, done.out) == (2, "")
    assert done.err == "headgate: There is no terminal to ask you on; look at the call first, then add --yes\n"
    assert rows_of(state) == []


# ids


@pytest.mark.parametrize("command", [("approve", "--yes"), ("deny",)])
def test_an_unknown_id_gets_the_nearest(shell: Shell, state: str, command: tuple[str, ...]) -> None:
    grant = asked(state)
    asked(state)
    wrong = grant.approval_id[:-1] + ("a" if grant.approval_id[-1] != "a" else "b")
    done = shell("approvals", command[0], wrong, *command[1:], "--state", state)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"headgate: There is no approval '{wrong}'. Did you mean '{grant.approval_id}'?\n"


def test_an_id_that_is_like_none_says_where_to_look(shell: Shell, state: str) -> None:
    asked(state)
    done = shell("approvals", "deny", "x\x1b[2J", "--state", state)
    assert (done.code, done.err) == (
        1,
        "headgate: There is no approval 'x\\u001b[2J'; see 'headgate approvals' for what waits\n",
    )


def test_an_id_that_no_longer_waits_is_told_why(shell: Shell, state: str) -> None:
    approved, expired, client = asked(state), asked(state, ago=400.0), asked(state, who=Who.CLIENT)
    shell("approvals", "approve", approved.approval_id, "--yes", "--by", "ann", "--state", state)
    reasons = {
        approved.approval_id: rf"'{approved.approval_id}' was already approved at \S+Z by ann",
        expired.approval_id: rf"'{expired.approval_id}' has expired at \S+Z; the caller can ask again",
        client.approval_id: rf"'{client.approval_id}' waits for no person: the caller confirms it alone",
    }
    for approval_id, reason in reasons.items():
        done = shell("approvals", "approve", approval_id, "--yes", "--state", state)
        assert (done.code, done.out) == (1, "")
        assert re.fullmatch(f"headgate: {reason}\n", done.err)
    assert [row.entry.event for row in rows_of(state)] == ["approved"]


def test_leave_to_go_beyond_a_quota_names_its_own_parameter(shell: Shell, state: str) -> None:
    grant = asked(state, purpose=Purpose.QUOTA)
    done = shell("approvals", "approve", grant.approval_id, "--yes", "--state", state)
    assert done.out.startswith("quota_continue_")
    assert f"repeat the call with _quota_continue '{grant.approval_id}', or this token" in done.err


@pytest.mark.parametrize("words", [(), ("approve",), ("deny",)])
def test_each_command_explains_itself(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell("approvals", *words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("Usage: headgate approvals", *words)))
    assert "HEADGATE_STATE" in done.out
