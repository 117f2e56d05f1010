"""``headgate call`` of long work: it is followed to its end with a bar, or left to whoever does it."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution
from tests.cli.commands import Done, Shell
from tests.cli.dialogues import dialogue
from tests.cli.longwork import ERRANDS, at_work, execution_in, left
from tests.cli.states import add
from tests.cli.test_cli_targets import foreign, web
from tests.databases import Server
from tests.executions.books import code_of
from tests.server.processes import Serving, serve_http, until

HERE = "headgate: the work runs in this process, so the command waits for it\n"
SOURCE = "errands.py:errands"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an adapter that has long work to do, and a store."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "errands.py").write_text(ERRANDS)
    return folder


@pytest.fixture(scope="module")
def serving(home: Path) -> Iterator[Serving]:
    """A server that does it."""
    with serve_http(SOURCE, "--state", "served.db", cwd=home) as serving:
        yield serving


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = str(tmp_path / "state.db")
    add(path, [])
    return path


class Calling:
    """Calls operations in this process."""

    def __init__(self, shell: Shell, home: Path) -> None:
        self._shell = shell
        self._home = home

    def __call__(self, operation: str, *words: str, state: str = "memory:") -> Done:
        return self._shell("call", operation, *words, "-s", SOURCE, "--state", state, cwd=self._home)


@pytest.fixture
def calling(shell: Shell, home: Path) -> Calling:
    return Calling(shell, home)


def executions(state: str) -> list[Execution]:
    return at_work(state, lambda ledger: ledger.select())


# work in this very process


def test_work_in_this_process_is_waited_for_and_that_is_said(calling: Calling) -> None:
    done = calling("execute_count")
    assert (done.code, json.loads(done.out), done.err) == (0, [0, 1, 2], HERE)


def test_who_wants_to_wait_is_told_nothing(calling: Calling) -> None:
    done = calling("execute_count", "--wait")
    assert (done.code, json.loads(done.out), done.err) == (0, [0, 1, 2], "")


def test_programs_get_the_envelope_with_the_result(calling: Calling) -> None:
    done = calling("execute_count", "--wait", "--json")
    envelope = json.loads(done.out)
    assert (done.code, done.out.count("\n"), envelope["success"]) == (0, 1, True)
    assert (envelope["data"]["status"], envelope["data"]["result"]) == ("completed", [0, 1, 2])


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["result", "envelope"])
def test_a_long_list_is_joined_and_its_warnings_are_told(calling: Calling, words: tuple[str, ...]) -> None:
    done = calling("execute_count", "numbers=2500", "--wait", *words)
    printed = json.loads(done.out)
    assert (printed["data"]["result"] if words else printed) == list(range(2500))
    if words:
        assert "page" not in printed["data"]
        assert printed["warnings"][0]["code"] == "MANY"
    else:
        assert done.err == "headgate: warning: These are many\n"


def test_a_long_text_is_joined(calling: Calling) -> None:
    assert json.loads(calling("execute_tell", "letters=600000", "--wait").out) == {"told": "x" * 600_000}


def test_what_fails_is_told_with_its_own_error(calling: Calling) -> None:
    done = calling("execute_refuse", "--wait")
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(r"headgate: VALIDATION_\w+: .*there is none.*\n", done.err)
    envelope = json.loads(calling("execute_refuse", "--wait", "--json").out)
    assert envelope["success"] is False
    assert envelope["error"]["details"]["error"]["code"].startswith("VALIDATION_")


def test_another_attempt_is_waited_for(calling: Calling) -> None:
    assert calling("execute_fail", "once=true", "--wait").out == "2\n"


def test_what_is_not_long_is_answered_as_ever(calling: Calling) -> None:
    done = calling("get_anything", 'answer={"a": 1}', "--wait")
    assert (done.code, json.loads(done.out), done.err) == (0, {"a": 1}, "")


@pytest.mark.parametrize(
    "answer", [{"status": "running"}, {"execution_id": 7, "status": "running"}, {"execution_id": "x", "status": "odd"}]
)
def test_what_only_looks_like_the_state_of_an_execution_is_none(calling: Calling, answer: dict[str, Any]) -> None:
    done = calling("get_anything", f"answer:={json.dumps(answer)}", "--wait")
    assert (done.code, json.loads(done.out), done.err) == (0, answer, "")


def test_an_execution_that_cannot_be_found_any_more_is_told(calling: Calling) -> None:
    answer = {"execution_id": "exec_0", "status": "running"}
    done = calling("get_anything", f"answer:={json.dumps(answer)}", "--wait")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("headgate: NOT_FOUND_")


def test_an_operation_that_does_not_run_is_an_error_as_ever(calling: Calling) -> None:
    done = calling("execute_count", "numbers=many", "--wait")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("headgate: VALIDATION_")


def test_where_calls_are_limited_it_waits_for_its_turn(shell: Shell, home: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[api_limit]]\nscope = "endpoint"\nendpoint = ["get_execution_result"]\nlimit = 1\nwindow = "second"\n'
    )
    words = ("call", "execute_count", "numbers=1100", "--wait", "-s", SOURCE, "--policy", str(policy))
    done = shell(*words, "--state", "memory:", cwd=home)
    assert (done.code, len(json.loads(done.out))) == (0, 1100)


def test_a_command_leaves_to_servers_what_others_have_left(calling: Calling, state: str) -> None:
    waiting = left(state, State.PENDING, worker=None, adapter="errands", operation="execute_count")
    done = calling("execute_fail", "once=true", "--wait", state=state)
    assert (done.code, done.out) == (0, "2\n")
    assert execution_in(state, waiting.id).state is State.PENDING


def test_interrupting_the_command_ends_what_it_does_itself(home: Path, state: str) -> None:
    words = ("call", "execute_wait", "-s", str(home / "errands.py:errands"), "--state", state)
    with dialogue(*words) as terminal:
        terminal.wait_for(HERE.removeprefix("headgate: "))
        until(lambda: [one.state for one in executions(state)] == [State.RUNNING], "the work")
        terminal.interrupt()
        assert terminal.ended() == 130
    assert "the work runs in this process, and ends with it" in terminal.text
    assert "Traceback" not in terminal.text
    [found] = executions(state)
    assert (found.state, code_of(found)) == (State.FAILED, "INTERNAL_INTERRUPTED")


# work of a server


def commands(line: str) -> list[list[str]]:
    """The commands that a line tells, as a shell reads them."""
    found = [shlex.split(part) for part in re.findall(r"headgate (call .*?)(?=; \w|$)", line.strip())]
    assert found
    return found


def test_a_server_goes_on_by_itself_and_the_command_says_how_to_wait_for_it(shell: Shell, serving: Serving) -> None:
    done = shell("call", "execute_count", "-s", serving.url)
    assert (done.code, json.loads(done.out)["status"]) == (0, "pending")
    assert done.err.startswith("headgate: it goes on by itself; wait for its result: headgate call get_execution ")
    [waiting] = commands(done.err)
    for _ in range(2):  # whether it has ended or not
        again = shell(*waiting)
        assert (again.code, json.loads(again.out), again.err) == (0, [0, 1, 2], "")


def test_a_server_is_waited_for(shell: Shell, serving: Serving) -> None:
    done = shell("call", "execute_count", "numbers=1100", "--wait", "-s", serving.url)
    assert (done.code, json.loads(done.out), done.err) == (0, list(range(1100)), "headgate: warning: These are many\n")


def test_whoever_only_looks_is_told_nothing_more(shell: Shell, serving: Serving) -> None:
    started = json.loads(shell("call", "execute_wait", "-s", serving.url).out)
    about = (f"execution_id={started['execution_id']}", "-s", serving.url)
    looked = shell("call", "get_execution", *about)
    stopped = shell("call", "cancel_execution", *about)
    assert (looked.code, looked.err, stopped.code, stopped.err) == (0, "", 0, "")
    ended = shell("call", "get_execution", *about, "--wait")
    assert (ended.code, ended.err) == (1, f"headgate: '{started['execution_id']}' was cancelled\n")


def test_a_bar_tells_how_far_it_is_and_whoever_leaves_it_is_told_how_to_come_back(
    shell: Shell, serving: Serving, tmp_path: Path
) -> None:
    file = tmp_path / "done"
    with dialogue("call", "execute_patrol", f"until={file}", "--wait", "-s", serving.url, columns=150) as terminal:
        terminal.wait_for("25%")
        terminal.wait_for("at the [bold]gate[/]")
        terminal.interrupt()
        assert terminal.ended() == 130
    assert "Traceback" not in terminal.text
    line = terminal.text[terminal.text.index("it goes on by itself; wait again: ") :]
    waiting, cancelling = commands(line)
    assert cancelling[:2] == ["call", "cancel_execution"]
    file.touch()
    done = shell(*waiting)
    assert (done.code, done.out) == (0, '"all is well"\n')
    assert shell(*cancelling).code == 1


def test_a_server_that_breaks_leaves_a_command_to_ask_again(shell: Shell) -> None:
    answers = {
        "introspect": json.dumps({"success": True, "data": {}}),
        "execute_wait": json.dumps({"success": True, "data": {"execution_id": "exec_0", "status": "running"}}),
        "get_execution": "ouch",
    }

    async def answer(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = answers[(params.arguments or {})["operation"]]
        return types.CallToolResult(content=[types.TextContent(text=text)])

    with web(foreign("mcp_aql", answer=answer)) as url:
        done = shell("call", "execute_wait", "--wait", "-s", url)
    assert (done.code, done.out) == (3, "")
    told, broken = done.err.splitlines()
    assert told.startswith("headgate: what became of it, once the server is there: headgate call get_execution ")
    assert commands(told) == [["call", "get_execution", "execution_id=exec_0", "--wait", "-s", url]]
    assert broken == "headgate: The tool 'mcp_aql' does not answer as MCP-AQL demands."


# work of workers


def test_on_a_shared_store_workers_do_it_so_the_command_need_not_wait(
    calling: Calling, shell: Shell, home: Path, postgresql: Server
) -> None:
    with postgresql.fresh() as made:
        done = calling("execute_count", state=made.url)
        started = json.loads(done.out)
        assert (done.code, started["status"]) == (0, "pending")
        warned, line = done.err.splitlines()
        assert "'headgate worker'" in warned
        [waiting] = commands(line)
        assert waiting[-2:] == ["--state", made.url]
        assert shell("executions", "cancel", started["execution_id"], "--state", made.url).code == 0
        assert shell(*waiting, cwd=home).err == f"headgate: '{started['execution_id']}' was cancelled\n"


@pytest.mark.parametrize("words", [(), ("--wait",)], ids=["leaving", "waiting"])
def test_trying_a_call_starts_nothing(calling: Calling, words: tuple[str, ...]) -> None:
    done = calling("execute_count", "dry_run=true", *words)
    assert (done.code, done.err) == (0, "")
    assert "execution_id" not in done.out
