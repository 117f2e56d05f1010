"""``headgate safety``: the safety loop as a server by itself, and the page that tells an agent how to use it."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from mcp.client.stdio import StdioServerParameters

from tests.cli.commands import Done, Shell
from tests.cli.starting import address_of, started
from tests.cli.states import rows_of
from tests.cli.supervision import code_for
from tests.safety.supervising import DEADLY, HARMLESS
from tests.server.processes import HEADGATE, environment
from tests.spec.wires import Aql, Wire, connected, data_of, error_of

SEVEN = {
    *("introspect", "execute_agent", "record_execution_step", "complete_execution", "abort_execution"),
    *("confirm_operation", "verify_challenge"),
}
STDIO, HTTP = Wire("stdio", "legacy"), Wire("http", "legacy")


def command(*words: str) -> StdioServerParameters:
    return StdioServerParameters(command=HEADGATE, args=["safety", *words], env=environment())


# what is served


@pytest.mark.anyio
async def test_over_http_seven_operations_are_served_and_no_others() -> None:
    with started("safety", "--http", "127.0.0.1:0", "--state", "memory:") as serving:
        async with connected(address_of(serving), HTTP) as aql:
            await _is_the_loop_alone(aql)


async def _is_the_loop_alone(aql: Aql) -> None:
    assert {*await aql.operation_names()} == SEVEN
    assert {*await aql.tools()} == {"mcp_aql_create", "mcp_aql_read", "mcp_aql_execute"}
    assert await loop_of(aql) == "enforcing"


@pytest.mark.anyio
async def test_over_stdio_an_agent_is_started_stopped_and_released_with_commands(shell: Shell, tmp_path: Path) -> None:
    """The whole way of a newcomer: serve, approve, see the block, verify, go on."""
    state = str(tmp_path / "state.db")
    async with connected(command("--state", state), STDIO) as aql:
        await _is_the_loop_alone(aql)
        asked = error_of(
            await aql.execute("execute_agent", element_name="bot", task="tidy up"), "CONFIRMATION_REQUIRED"
        )
        approval = asked["details"]["approval_id"]
        assert (await aside(shell, "approvals", "approve", approval, "--yes", "--state", state)).code == 0
        start = {"element_name": "bot", "task": "tidy up", "confirmation_token": approval}
        assert data_of(await aql.execute("execute_agent", **start))["state"] == "running"
        assert (await _directive(aql, HARMLESS))["continue"] is True
        directive = await _directive(aql, DEADLY)
        assert directive["stopped"] is True
        challenge_id = directive["notifications"][-1]["metadata"]["verificationId"]
        error_of(await aql.create("record_execution_step", element_name="bot", next_action_hint=HARMLESS))
        shown = (await aside(shell, "agents", "bot", "--state", state)).out
        assert f"headgate verify {challenge_id} --state " in shown
        code = await to_thread.run_sync(code_for, state, challenge_id)
        assert (await aside(shell, "verify", challenge_id, "--state", state, given=code)).code == 0
        assert (await _directive(aql, DEADLY))["continue"] is True
        assert (await _directive(aql, DEADLY))["continue"] is False
    events = {row.entry.event for row in await to_thread.run_sync(rows_of, state)}
    assert {"agent started", "agent blocked", "verified"} <= events


async def loop_of(aql: Aql) -> object:
    """How far the server says that it goes."""
    return (await aql.introspect("operations"))["_protocol"]["capabilities"]["execution_safety_loop"]


async def aside(shell: Shell, *words: str, given: str = "") -> Done:
    """Run a command beside what runs already."""
    return await to_thread.run_sync(partial(shell, *words, given=given))


async def _directive(aql: Aql, hint: str) -> Any:
    return data_of(await aql.create("record_execution_step", element_name="bot", next_action_hint=hint))["directive"]


# what is wrong

MISTAKES = {
    "a mode": (("--safety-loop", "enforced"), "'enforced' is not a value of safety_loop", "Did you mean 'enforcing'?"),
    "a policy": (("--policy", "none.toml"), "none.toml: there is no such file", ""),
    "an address": (("--http", "localhost"), "'localhost' is not HOST:PORT, such as 127.0.0.1:8765", ""),
    "a source": (("shop.db",), "There is nothing that takes 'shop.db'", ""),
    "a channel": (("--notify", "pigeon"), "--notify 'pigeon' is no channel", "say desktop"),
    "nobody to tell": (
        ("--notify", "https://example.org/x", "--safety-loop", "logging"),
        "--notify shows codes of the safety loop: add --safety-loop enforcing",
        "",
    ),
    "an option": (("--consol", ":1"), "Unknown option", "Did you mean --console?"),
}


@pytest.mark.parametrize(("words", "told", "advice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_stops_the_start(shell: Shell, words: tuple[str, ...], told: str, advice: str) -> None:
    done = shell("safety", "--state", "memory:", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert advice in done.err
    assert "Traceback" not in done.err


# instructions


def test_the_instructions_are_for_the_tools_as_they_are_named(shell: Shell) -> None:
    done = shell("safety", "--instructions")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# How you work under supervision\n")
    assert "the tools `mcp_aql_create` and `mcp_aql_execute`" in done.out
    assert "(through `mcp_aql_execute`)" in done.out
    assert not re.search(r"\{(tools|create|execute)\}", done.out)
    single = shell("safety", "--instructions", "--mode", "single", "--prefix", "watch_").out
    assert "the tools `watch_mcp_aql`." in single
    assert "mcp_aql_create" not in single


@pytest.mark.anyio
async def test_an_agent_that_does_as_it_is_told_is_understood(shell: Shell, tmp_path: Path) -> None:
    """Every call that the page shows is one that the server takes."""
    page = " ".join((await aside(shell, "safety", "--instructions")).out.split())
    calls = [json.loads(text) for text in re.findall(r'`(\{"operation".*?\}\})`', page)]
    assert [call["operation"] for call in calls] == ["execute_agent", "record_execution_step"]
    assert {name for name in SEVEN if f"`{name}`" in page} == SEVEN - {"introspect"}
    policy = tmp_path / "policy.toml"
    policy.write_text('[autonomy]\nmode = "monitoring"\nstart = "free"\n')
    async with connected(command("--state", "memory:", "--policy", str(policy)), STDIO) as aql:
        assert await loop_of(aql) == "monitoring"  # as the operator says here
        assert data_of(await aql.call("mcp_aql_execute", calls[0]))["agent"] == "YOUR-NAME"
        assert data_of(await aql.call("mcp_aql_create", calls[1]))["directive"]["factors"]
        ended = await aql.execute("complete_execution", element_name="YOUR-NAME", summary="done")
    assert data_of(ended)


def test_it_explains_itself(shell: Shell) -> None:
    done = shell("safety", "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: headgate safety")
    assert "It enforces unless --safety-loop or the policy says otherwise." in done.out
