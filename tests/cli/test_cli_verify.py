"""``headgate verify``: a person sees what they are about to allow, and a code counts once."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.safety.loop.persons import find_agent
from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.cli.states import add, in_store, rows_of
from tests.cli.supervision import at_work, blocked, code_for
from tests.safety.supervising import DEADLY, GRAVE, Supervised

HOSTILE = "a\x1b[2Jb\n\u202ec"
SPELT = r"a\u001b[2Jb\n\u202ec"
WRONG = "That was not the code, so none counts any more; see a new one in the console or with headgate watch"

OTHERWISE = "It counts no more: the agent was released otherwise, or there is a newer challenge"


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "state.db"
    add(str(path), [])
    return str(path)


def is_held(state: str, name: str = "bot") -> bool:
    agent = in_store(state, lambda store: find_agent(store, name))
    assert agent is not None
    return agent.block is not None or agent.pause is not None


# the code


@pytest.mark.parametrize("hint", [DEADLY, GRAVE], ids=["blocked", "paused"])
@pytest.mark.parametrize("channel", ["console", "terminal", "desktop", "webhook", "mail"])
def test_the_code_of_any_channel_releases_the_agent(shell: Shell, state: str, hint: str, channel: str) -> None:
    challenge = blocked(state, hint=hint)
    done = shell("verify", challenge.id, "--by", "ana", "--state", state, given=code_for(state, challenge, channel))
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("headgate: verified: agent 'bot' may go on\n")
    assert not is_held(state)
    entry = rows_of(state)[-1].entry
    assert (entry.event, json.loads(entry.caller)) == ("verified", ["terminal:ana", "headgate verify"])


@pytest.mark.parametrize("written", ["{}\n", "  {}  \r\n", "{lower}", "{spaced}", "{joined}"])
def test_a_code_may_be_written_in_any_case_and_grouping(shell: Shell, state: str, written: str) -> None:
    challenge = blocked(state)
    code = code_for(state, challenge)
    given = written.format(code, lower=code.lower(), spaced=code.replace("-", " "), joined=code.replace("-", ""))
    assert shell("verify", f" {challenge.id} ", "--state", state, given=given).code == 0


def test_what_would_be_allowed_is_shown_first(shell: Shell, state: str) -> None:
    challenge = blocked(state, HOSTILE, f"rm -rf /{HOSTILE}")
    done = shell("verify", challenge.id, "--state", state, given="")
    assert re.fullmatch(
        rf"  agent     {re.escape(SPELT)} \(blocked\)\n"
        rf"  about to  {re.escape(f'rm -rf /{SPELT}')}\n"
        r"  reason    Action denied by a pattern\n"
        r"  because   The action matches the deny pattern 'rm -rf\*'\n"
        r"  expires   in 4 min, \S+Z\n"
        r"headgate: nothing was verified; it still waits\n",
        done.err,
    )


def test_a_wrong_code_makes_the_right_one_void(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    code = code_for(state, challenge)
    wrong = shell("verify", challenge.id, "--state", state, given=code[:-1] + ("A" if code[-1] != "A" else "B"))
    assert (wrong.code, wrong.out, wrong.err.splitlines()[-1]) == (1, "", f"headgate: {WRONG}")
    late = shell("verify", challenge.id, "--state", state, given=code)
    assert (late.code, late.err.splitlines()[-1]) == (1, f"headgate: {WRONG}")
    assert is_held(state)
    assert shell("verify", challenge.id, "--state", state, given=code_for(state, challenge)).code == 0


@pytest.mark.parametrize("given", ["", "\n", "   \n"])
def test_who_gives_no_code_decides_nothing(shell: Shell, state: str, given: str) -> None:
    challenge = blocked(state)
    code = code_for(state, challenge)
    before = len(rows_of(state))
    done = shell("verify", challenge.id, "--state", state, given=given)
    assert (done.code, done.err.splitlines()[-1]) == (1, "headgate: nothing was verified; it still waits")
    assert len(rows_of(state)) == before
    assert shell("verify", challenge.id, "--state", state, given=code).code == 0


def test_a_code_is_never_an_argument(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    done = shell("verify", challenge.id, code_for(state, challenge), "--state", state)
    assert (done.code, done.out) == (2, "")
    assert is_held(state)


def test_after_too_many_wrong_codes_even_the_right_one_has_to_wait(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    for _ in range(10):
        assert shell("verify", challenge.id, "--state", state, given="wrong").code == 1
    done = shell("verify", challenge.id, "--state", state, given=code_for(state, challenge))
    assert done.code == 1
    assert re.fullmatch(
        r"headgate: Too many tries have failed: nothing is verified for this agent for another (1 min|\d\d? s)",
        done.err.splitlines()[-1],
    )
    assert is_held(state)


def test_programs_are_told_in_json(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    done = shell("verify", challenge.id, "--json", "--state", state, given=code_for(state, challenge))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"verified": True, "challenge_id": challenge.id, "agent": "bot"}
    again = shell("verify", challenge.id, "--json", "--state", state, given="x")
    assert (again.code, again.out) == (1, "")


# refusing


def test_what_an_agent_is_paused_for_can_be_refused_without_a_code(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE)
    words = ("--refuse", "--reason", " not on a Friday ", "--by", "ana", "--state", state)
    done = shell("verify", challenge.id, *words)
    assert (done.code, done.out) == (0, "")
    assert done.err == "headgate: refused: agent 'bot' may go on, but not with that\n"
    assert not is_held(state)
    entry = rows_of(state)[-1].entry
    assert (entry.event, entry.details["by"], entry.details["reason"]) == (
        "verification refused",
        "ana",
        "not on a Friday",
    )
    late = shell("verify", challenge.id, "--state", state, given="x")
    assert (late.code, late.err) == (1, f"headgate: {OTHERWISE}\n")


def test_programs_are_told_of_refusals_too(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE)
    done = shell("verify", challenge.id, "--refuse", "--json", "--state", state)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"verified": False, "challenge_id": challenge.id, "agent": "bot"}


def test_a_block_is_there_to_stay_so_nothing_of_it_can_be_refused(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    done = shell("verify", challenge.id, "--refuse", "--state", state)
    assert done.code == 1
    assert done.err.endswith("stays so until somebody verifies it: there is nothing to refuse\n")
    assert is_held(state)


def test_what_somebody_else_decides_meanwhile_is_not_refused(
    shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = blocked(state, hint=GRAVE)

    async def too_late(*_: object) -> bool:
        return False

    monkeypatch.setattr("headgate.cli.verify.refuse_challenge", too_late)
    done = shell("verify", challenge.id, "--refuse", "--state", state)
    assert (done.code, done.err) == (1, "headgate: It counts no more: somebody else has decided, or it has expired\n")


def test_a_reason_goes_with_a_refusal(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    done = shell("verify", challenge.id, "--reason", "x", "--state", state, given=code_for(state, challenge))
    assert (done.code, done.err) == (2, "headgate: --reason goes with --refuse; what is verified needs none\n")
    assert is_held(state)


# what no longer waits


def test_one_that_was_verified_already_says_by_whom(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    shell("verify", challenge.id, "--by", "ana", "--state", state, given=code_for(state, challenge))
    done = shell("verify", challenge.id, "--state", state, given="x")
    assert (done.code, done.err) == (
        1,
        "headgate: It was verified already, by terminal:ana via headgate verify\n",
    )


def test_one_that_has_expired_says_so(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE, ago=301)
    done = shell("verify", challenge.id, "--state", state, given="x")
    assert (done.code, done.err) == (
        1,
        "headgate: It has expired: there is a new one as soon as the agent asks again\n",
    )


def test_a_block_whose_code_has_expired_gets_a_new_one(shell: Shell, state: str) -> None:
    challenge = blocked(state, ago=301)
    done = shell("verify", challenge.id, "--state", state, given="x")
    assert (done.code, done.err) == (
        1,
        "headgate: No code counts any more: see a new one in the console or with headgate watch, and verify that\n",
    )
    code = code_for(state, challenge)
    assert shell("verify", challenge.id, "--state", state, given=code).code == 0


def test_one_that_is_not_known_says_where_to_look(shell: Shell, state: str) -> None:
    done = shell("verify", HOSTILE, "--state", state, given="x")
    assert (done.code, done.err) == (
        1,
        f"headgate: There is no challenge '{SPELT}'; see 'headgate agents' for who is held up\n",
    )


def test_one_whose_agent_has_gone_on_otherwise_is_refused(shell: Shell, state: str) -> None:
    """A pause that is over needs no code any more, and a code for it opens nothing."""
    challenge = blocked(state, hint=GRAVE)
    code = code_for(state, challenge)

    async def abort(world: Supervised) -> None:
        agent = await world.agent()
        assert await world.store.replace(replace(agent.freed(), execution=None).record())

    at_work(state, abort)
    done = shell("verify", challenge.id, "--state", state, given=code)
    assert (done.code, done.err.splitlines()[-1]) == (1, f"headgate: {WRONG}")


# at a terminal


def test_at_a_terminal_the_code_is_asked_for(state: str) -> None:
    challenge = blocked(state)
    with dialogue("verify", challenge.id, "--state", state) as terminal:
        terminal.wait_for("Code: ")
        assert f"about to  {DEADLY}" in re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
        terminal.type(f"{code_for(state, challenge).lower()}\n")
        assert terminal.ended() == 0
    assert terminal.text.endswith("verified: agent 'bot' may go on\n")


def test_ctrl_c_at_the_question_decides_nothing(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    code = code_for(state, challenge)
    with dialogue("verify", challenge.id, "--state", state) as terminal:
        terminal.wait_for("Code: ")
        terminal.interrupt()
        assert terminal.ended() == 1
    assert terminal.text.endswith("nothing was verified; it still waits\n")
    assert "Traceback" not in terminal.text
    assert shell("verify", challenge.id, "--state", state, given=code).code == 0


def test_it_explains_itself(shell: Shell) -> None:
    done = shell("verify", "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: headgate verify")
    assert "never an argument" in done.out
    assert "Exit code 0" in done.out


# refusing


def test_what_an_agent_is_paused_for_can_be_refused(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE)
    code = code_for(state, challenge)
    done = shell("verify", challenge.id, "--refuse", "--reason", "not on a Friday", "--by", "ana", "--state", state)
    assert (done.code, done.out) == (0, "")
    assert done.err == "headgate: refused: agent 'bot' may go on, but not with that\n"
    entry = rows_of(state)[-1].entry
    told = {"agent": "bot", "by": "ana", "reason": "not on a Friday", "challenge": challenge.id}
    assert (entry.event, {name: entry.details[name] for name in told}) == ("verification refused", told)
    assert not is_held(state)
    late = shell("verify", challenge.id, "--state", state, given=code)
    assert (late.code, late.err.startswith("headgate: It counts no more")) == (1, True)


def test_a_block_is_not_refused_since_it_stays(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    done = shell("verify", challenge.id, "--refuse", "--state", state)
    assert (done.code, done.out) == (1, "")
    assert "there is nothing to refuse" in done.err
    assert is_held(state)


def test_a_refusal_as_json(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE)
    done = shell("verify", challenge.id, "--refuse", "--json", "--state", state)
    assert json.loads(done.out) == {"verified": False, "challenge_id": challenge.id, "agent": "bot"}
    assert not is_held(state)
