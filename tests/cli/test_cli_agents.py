"""``headgate agents``: a person sees what agents do and what can be done about it, and releases or ends them."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from headgate import Session
from headgate.safety.loop.agents import Agent
from headgate.safety.loop.persons import find_agent
from tests.cli.commands import Done, Shell
from tests.cli.states import add, in_store, rows_of
from tests.cli.supervision import at_work, blocked, code_for, paused
from tests.cli.terminals import on_terminal
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, Supervised

HOSTILE = "a\x1b[2Jb\n\u202ec"
SPELT = r"a\u001b[2Jb\n\u202ec"
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "the state.db"
    add(str(path), [])
    return str(path)


def agent_in(state: str, name: str = "bot") -> Agent:
    agent = in_store(state, lambda store: find_agent(store, name))
    assert agent is not None
    return agent


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def shown(done: Done) -> dict[str, list[str]]:
    """What is said of one agent, by what it is about."""
    found: dict[str, list[str]] = {}
    for line in done.out.splitlines()[1:]:
        label = re.fullmatch(r"  (\S(?:.{9}))  ?(.*)|  (steps)|(.*)", line)
        assert label
        found.setdefault((label[1] or label[3] or "").strip(), []).append(label[2] or label[4] or "")
    return found


# the list


def test_without_agents_that_is_said(shell: Shell, state: str) -> None:
    done = shell("agents", "--state", state)
    assert (done.code, done.out, done.err) == (0, "", "headgate: no agent has worked under the safety loop\n")
    assert json.loads(shell("agents", "--state", state, "--json").out) == {"agents": []}


def test_in_a_pipe_each_agent_is_one_line(shell: Shell, state: str) -> None:
    at_work(state, lambda world: world.start(HOSTILE, task=HOSTILE, session=Session()))
    blocked(state, "crawler")
    paused(state, "mailer")
    lines = [line.split("\t") for line in shell("agents", "--state", state).out.splitlines()]
    assert all(re.fullmatch(ISO, line.pop(3)) for line in lines)
    assert sorted(lines) == [
        [SPELT, "executing", "0", SPELT],
        ["crawler", "blocked", "2", "Action denied by a pattern"],
        ["mailer", "paused", "1", "A person must confirm this action"],
    ]


def test_on_a_terminal_it_is_a_table(state: str) -> None:
    at_work(state, lambda world: world.start(HOSTILE, session=Session()))
    blocked(state, "[bold]crawler", ago=130)
    seen = on_terminal("agents", "--state", state)
    text = plain(seen.text)
    assert (seen.code, seen.is_coloured) == (0, True)
    assert "\x1b[2J" not in seen.text
    assert re.search(r"^agent +state +steps +last seen +task or reason *$", text, re.MULTILINE)
    assert re.search(r"^\[bold\]crawler +blocked +2 +2 min ago +Action denied by a pattern *$", text, re.MULTILINE)
    assert SPELT in text


def test_programs_get_all_of_it(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    grant = paused(state, "mailer")
    found = json.loads(shell("agents", "--state", state, "--json").out)["agents"]
    by_name = {one["agent"]: one for one in found}
    bot, mailer = by_name["bot"], by_name["mailer"]
    assert (bot["state"], bot["execution"]["task"], bot["execution"]["steps"]) == ("blocked", "tidy up", 2)
    assert bot["block"] == {
        "reason": "Action denied by a pattern",
        "about_to": DEADLY,
        "challenge_id": challenge.id,
    }
    assert [(step["number"], step["hint"], step["way"]) for step in bot["execution"]["recent"]] == [
        (1, HARMLESS, "continue"),
        (2, DEADLY, "stop"),
    ]
    assert mailer["state"] == "paused"
    assert mailer["pause"]["waits_for"] == grant.approval_id
    assert json.loads(shell("agents", "bot", "--state", state, "--json").out) == bot


# one agent


def advice(done: Done) -> list[list[str]]:
    """The commands that a person is told to type, as a shell reads them."""
    about = shown(done)
    commands = [shlex.split(words) for words in (*about.get("next", ()), *about.get("or", ()))]
    assert all(words[0] == "headgate" for words in commands)
    return [words[1:] for words in commands]


def test_one_agent_is_shown_step_by_step(shell: Shell, state: str) -> None:
    blocked(state, ago=65)
    done = shell("agents", "bot", "--state", state)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("bot  blocked\n")
    about = shown(done)
    assert about["task"] == ["tidy up"]
    assert about["last seen"] == ["1 min ago"]
    assert re.fullmatch(rf"1 min ago, {ISO}, by host of bot", about["started"][0])
    assert (about["blocked"], about["about to"]) == (["Action denied by a pattern"], [DEADLY])
    assert about["because"] == ["The action matches the deny pattern 'rm -rf*'"]
    steps = done.out[done.out.index("  steps\n") :].splitlines()[1:]
    assert steps[0] == f"      1  went on          {HARMLESS}"
    assert f"      2  stopped          {DEADLY}" in steps
    assert steps[-1].strip() == "The action matches the deny pattern 'rm -rf*'"


def test_a_blocked_agent_comes_with_the_two_ways_to_release_it_and_both_work(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    verifying, _ = advice(shell("agents", "bot", "--state", state))
    assert verifying[:2] == ["verify", challenge.id]
    assert shell(*verifying, given=code_for(state, challenge)).code == 0
    assert agent_in(state).block is None
    blocked(state, "other")
    _, overriding = advice(shell("agents", "other", "--state", state))
    assert shell(*overriding).code == 0
    assert agent_in(state, "other").block is None


def test_one_that_waits_for_a_confirmation_comes_with_the_commands_for_that(shell: Shell, state: str) -> None:
    grant = paused(state)
    done = shell("agents", "bot", "--state", state)
    approving, denying = advice(done)
    assert (approving[:3], denying[:3]) == (
        ["approvals", "approve", grant.approval_id],
        ["approvals", "deny", grant.approval_id],
    )
    assert shown(done)["paused"] == ["A person must confirm this action"]
    assert shell(*denying, "--reason", "not now").code == 0
    [left] = shown(shell("agents", "bot", "--state", state))["next"]
    assert re.fullmatch(
        rf"nothing: '{grant.approval_id}' was turned down by \S+ at {ISO}; "
        "the agent learns of it when it reports again",
        left,
    )


def test_one_that_waits_for_a_verification_comes_with_the_commands_for_that(shell: Shell, state: str) -> None:
    challenge = blocked(state, hint=GRAVE)
    done = shell("agents", "bot", "--state", state)
    assert done.out.startswith("bot  paused\n")
    assert "must be verified" in done.out
    verifying, refusing = advice(done)
    assert (verifying[:2], refusing[:3]) == (["verify", challenge.id], ["verify", challenge.id, "--refuse"])
    assert shell(*refusing).code == 0
    assert agent_in(state).pause is None


def test_one_that_is_paused_and_whose_code_has_expired_has_to_ask_again(shell: Shell, state: str) -> None:
    blocked(state, hint=GRAVE, ago=400)
    about = shown(shell("agents", "bot", "--state", state))
    assert about["next"] == [
        "wait: the code's time is over, and there is a new challenge as soon as the agent asks again"
    ]
    assert len(about["or"]) == 1


def test_one_that_is_blocked_and_whose_code_has_expired_is_verified_with_a_new_one(shell: Shell, state: str) -> None:
    blocked(state, ago=400)
    about = shown(shell("agents", "bot", "--state", state))
    assert about["next"] == [f"headgate watch --state '{state}'"]
    assert len(about["or"]) == 1


def test_one_whose_approval_is_long_forgotten_can_be_shown(shell: Shell, state: str) -> None:
    grant = paused(state)
    in_store(state, lambda store: store.remove("grant", grant.id))
    [left] = shown(shell("agents", "bot", "--state", state))["next"]
    assert left.startswith(f"nothing: '{grant.approval_id}' is forgotten")


def test_one_that_does_nothing_is_shown_too(shell: Shell, state: str) -> None:
    async def work(world: Supervised) -> None:
        await world.start()
        await world.call("complete_execution", {"element_name": "bot", "summary": "done"})

    at_work(state, work)
    done = shell("agents", "bot", "--state", state)
    assert re.fullmatch(r"bot  idle\n  last seen  0 s ago\n", done.out)
    assert shell("agents", "--state", state).out.startswith("bot\tidle\t\t")


def test_nothing_that_an_agent_says_can_pretend(shell: Shell, state: str) -> None:
    blocked(state, HOSTILE, f"rm -rf /{HOSTILE}", task=HOSTILE)
    done = shell("agents", HOSTILE, "--state", state)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    about = shown(done)
    assert (about["task"], about["about to"]) == ([SPELT], [f"rm -rf /{SPELT}"])


@pytest.mark.parametrize("name", ["x; touch pwned", "$(id)", "it's", "--by=evil", "-x", "a b", HOSTILE])
def test_the_command_for_an_agent_is_safe_to_paste_whatever_its_name(shell: Shell, state: str, name: str) -> None:
    blocked(state, name)
    words: Sequence[str] = ("--", name) if name.startswith("-") else (name,)
    _, overriding = advice(shell("agents", "--state", state, *words))
    assert overriding[-1] == (SPELT if name == HOSTILE else name)
    done = shell(*overriding)
    assert (done.code, agent_in(state, name).block) == (0, None)
    assert rows_of(state)[-1].entry.details["by"] != "evil"


def test_a_name_reads_the_same_in_any_case_and_form(shell: Shell, state: str) -> None:
    blocked(state, "Build-Bot")
    for name in ("build-bot", "BUILD-BOT", "Ｂuild-Bot"):  # noqa: RUF001  (a letter of another width)
        assert shell("agents", name, "--state", state).out.startswith("Build-Bot  blocked\n")


def test_an_unknown_agent_gets_the_nearest_name(shell: Shell, state: str) -> None:
    blocked(state, "crawler")
    for words in (("crawlr",), ("unblock", "crawlr", "--reason", "x"), ("end", "crawlr", "--reason", "x")):
        done = shell("agents", *words, "--state", state)
        assert (done.code, done.out) == (1, "")
        assert done.err == "headgate: No agent 'crawlr' is known. Did you mean 'crawler'?\n"
    done = shell("agents", HOSTILE, "--state", state)
    where = shlex.quote(state)
    assert (
        done.err == f"headgate: No agent '{SPELT}' is known; see 'headgate agents --state {where}' for those that are\n"
    )


# releasing and ending


def test_an_administrator_lifts_a_block_with_a_reason(shell: Shell, state: str) -> None:
    challenge = blocked(state)
    code = code_for(state, challenge)
    done = shell("agents", "unblock", "bot", "--reason", " a false alarm ", "--by", "ana", "--state", state)
    assert (done.code, done.out) == (0, "")
    assert done.err == "headgate: 'bot' is no longer blocked; what it was stopped for is not approved\n"
    [entry] = [row.entry for row in rows_of(state) if row.entry.event == "block overridden"]
    assert entry.details["by"] == "ana"
    assert entry.details["reason"] == "a false alarm"
    assert entry.details["challenge"] == challenge.id
    late = shell("verify", challenge.id, "--state", state, given=code)
    assert late.code == 1
    assert late.err == (
        "headgate: It counts no more: the agent was released otherwise, or there is a newer challenge\n"
    )
    again = shell("agents", "unblock", "bot", "--reason", "x", "--state", state)
    assert (again.code, again.err) == (1, "headgate: 'bot' is not blocked, so nothing was changed\n")


def test_ending_leaves_a_block(shell: Shell, state: str) -> None:
    blocked(state)
    done = shell("agents", "end", "bot", "--reason", "enough", "--by", "ana", "--state", state)
    assert (done.code, done.err) == (0, "headgate: 'bot' executes nothing any more\n")
    agent = agent_in(state)
    assert (agent.execution, agent.owner) == (None, "blocked")
    entry = rows_of(state)[-1].entry
    assert (entry.event, entry.details["by"], entry.details["reason"]) == ("agent aborted", "ana", "enough")
    again = shell("agents", "end", "bot", "--reason", "x", "--state", state)
    assert (again.code, again.err) == (1, "headgate: 'bot' executes nothing, so nothing was changed\n")


def test_programs_are_told_too(shell: Shell, state: str) -> None:
    blocked(state)
    ended = shell("agents", "end", "bot", "--reason", "x", "--json", "--state", state)
    freed = shell("agents", "unblock", "bot", "--reason", "x", "--json", "--state", state)
    assert json.loads(ended.out) == {"agent": "bot", "ended": True}
    assert json.loads(freed.out) == {"agent": "bot", "unblocked": True}


@pytest.mark.parametrize("command", ["unblock", "end"])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "parameter --reason requires an argument"),
        (("--reason", " "), "--reason must say why, so that whoever reads the audit understands"),
    ],
    ids=["none", "empty"],
)
def test_without_a_reason_nothing_is_done(
    shell: Shell, state: str, command: str, words: tuple[str, ...], told: str
) -> None:
    blocked(state)
    done = shell("agents", command, "bot", *words, "--state", state)
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert (agent_in(state).block is None, agent_in(state).execution is None) == (False, False)


# the audit


def test_the_audit_finds_all_that_concerns_one_agent(shell: Shell, state: str) -> None:
    challenge = blocked(state, "Crawler")
    blocked(state, "other")
    shell("verify", challenge.id, "--state", state, given="no code")
    shell("agents", "unblock", "crawler", "--reason", "x", "--state", state)
    lines = shell("audit", "--agent", "crawler", "--state", state).out.splitlines()
    assert [line.split("\t")[2] for line in lines] == [
        *("agent started", "agent step", "agent step", "agent blocked"),
        *("verification failed", "block overridden"),
    ]


@pytest.mark.parametrize(
    "event", ["agent blocked", "self-approval refused", "signed in", "code shown", "block overridden", "verified"]
)
def test_the_audit_knows_the_events_of_agents_and_persons(shell: Shell, state: str, event: str) -> None:
    assert shell("audit", "--event", event, "--state", state).code == 0


def test_what_agents_are_about_to_do_finds_room_on_a_terminal(state: str) -> None:
    """An adapter that is the same in every row does not take it."""
    blocked(state)
    header, *lines = plain(on_terminal("audit", "--agent", "bot", "--state", state).text).splitlines()
    assert header.split() == ["row", "time", "event", "caller", "parameters"]
    assert all('{"agent":"bot","' in line for line in lines)


@pytest.mark.parametrize("words", [(), ("unblock",), ("end",)])
def test_each_command_explains_itself(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell("agents", *words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("Usage: headgate agents", *words)))
    assert "HEADGATE_STATE" in done.out
