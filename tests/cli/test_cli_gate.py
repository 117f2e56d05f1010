"""Several sources behind one gate, as real processes: a list of servers, a configuration, a command after ``--``."""

import io
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from headgate.cli import starting as progress
from headgate.cli.gates import SourceChoices
from headgate.cli.guards import configured
from headgate.cli.starting import progress_line, starting
from headgate.server.settings import SettingError
from headgate.sources.gate.gate import opened_gate
from headgate.sources.gate.planning import Choices
from headgate.sources.gate.specs import DatabaseSpec, GatePlan, SourceKind
from tests.cli.commands import Shell
from tests.cli.test_cli_targets import foreign, web
from tests.server.processes import LIBRARY, Pipes, serve_pipes, until
from tests.sources.gate.pieces import Told, adapter, spec
from tests.sources.mcp.opening import SERVER

COMMAND = (sys.executable, "-S", SERVER)
ONE_TOOL = ("--mode", "single", "--trust", "certified", "--state", "memory:", "--start-timeout", "0.5")


def listed(*names: str, **more: object) -> str:
    """A file that lists servers."""
    servers: dict[str, object] = {name: {"command": sys.executable, "args": ["-S", SERVER]} for name in names}
    return json.dumps({"mcpServers": {**servers, **more}})


class Gate:
    """A gate on pipes."""

    def __init__(self, pipes: Pipes) -> None:
        self.pipes = pipes
        self._last = 0

    def ask(self, operation: str, **params: Any) -> int:
        self._last += 1
        call = {"name": "mcp_aql", "arguments": {"operation": operation, "params": params}}
        self.pipes.send({"jsonrpc": "2.0", "id": self._last, "method": "tools/call", "params": call})
        return self._last

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        return self.pipes.envelope(self.ask(operation, **params))

    def data(self, operation: str, **params: Any) -> Any:
        answer = self.call(operation, **params)
        assert answer["success"], answer
        return answer["data"]

    def states(self) -> dict[str, str]:
        return {part["name"]: part["state"] for part in self.data("introspect", query="adapter_info")["sources"]}


@contextmanager
def gate(*words: str, **more: Any) -> Iterator[Gate]:
    source, *rest = words
    cut = rest.index("--") if "--" in rest else len(rest)
    with serve_pipes(*rest[:cut], *ONE_TOOL, *rest[cut:], source=source, **more) as pipes:
        yield Gate(pipes)


def test_five_servers_of_a_list_and_one_that_is_killed_amid_a_call(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(listed("ant", "bee", "cat", "dog", "eel"))
    with gate(str(path)) as here:
        pids = {name: here.data(f"{name}_pid") for name in ("ant", "bee", "cat", "dog", "eel")}
        assert len(set(pids.values())) == 5
        hanging = here.ask("cat_hang")
        assert here.data("bee_echo", value=1) == {"value": 1}
        os.kill(int(pids["cat"]), signal.SIGKILL)
        broken = here.pipes.envelope(hanging)
        assert (broken["success"], "cat" in broken["error"]["message"]) == (False, True)
        assert here.data("cat_pid") != pids["cat"]
        assert [here.data(f"{name}_pid") for name in ("ant", "bee", "dog", "eel")] == [
            pids[name] for name in ("ant", "bee", "dog", "eel")
        ]


def test_a_server_that_does_not_start_is_told_and_nothing_to_the_others(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    unset = {"command": "x", "env": {"KEY": "${NOT_THERE}"}}
    path.write_text(
        listed("well", gone={"command": "no-such-program"}, unset=unset, off={"command": "x", "disabled": True})
    )
    with gate(str(path)) as here:
        assert here.states() == {"well": "ready", "gone": "failed", "unset": "failed", "off": "disabled"}
        sources = {part["name"]: part for part in here.data("introspect", query="adapter_info")["sources"]}
        assert "no-such-program" in sources["gone"]["problem"]
        assert "'NOT_THERE'" in sources["unset"]["problem"]
        assert (sources["well"]["trust"], sources["well"]["operations"] > 5) == ("certified", True)
        missing = here.call("create_nothing")["error"]
        assert missing["details"]["sources_not_ready"] == ["gone", "unset"]
        assert here.data("echo", value=2) == {"value": 2}


def test_a_command_and_a_database_and_a_module_are_served_together(tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    with sqlite3.connect(shop) as connection:
        connection.execute("CREATE TABLE items (item_id INTEGER PRIMARY KEY, title TEXT)")
    connection.close()
    with gate(str(shop), LIBRARY, "--", *COMMAND) as here:
        until(lambda: set(here.states().values()) == {"ready"}, "all three sources")
        assert here.data("list_items")["items"] == []
        assert here.data("echo", value="x") == {"value": "x"}
        groups = here.data("introspect", query="groups", first=1000)
        assert [source["name"] for source in groups["sources"]] == ["line", "shop", "town_library"]
        of = here.data("introspect", query="adapter_info", name="list_items")["operation"]
        assert of["source"] == "shop"


def test_a_changed_configuration_is_served_and_what_stays_the_same_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "headgate.toml"
    command = f"command = {json.dumps(sys.executable)}\nargs = {json.dumps(['-S', SERVER])}\n"
    path.write_text(f"[sources.kept]\n{command}[sources.gone]\n{command}")
    with gate(str(path)) as here:
        pid = here.data("kept_pid")
        path.write_text("[sources.kept\n")
        here.pipes.serving.logged("not reloaded, what was served before stays")
        assert here.data("kept_pid") == pid
        path.write_text(f'[sources.kept]\n{command}[sources.new]\n{command}prefix = "fresh"\ninclude = ["echo"]\n')
        until(lambda: here.states() == {"kept": "ready", "new": "ready"}, "the new source")
        assert here.data("pid") == pid
        assert here.data("fresh_echo", value=3) == {"value": 3}
        assert here.call("fresh_pid")["error"]["code"] == "NOT_FOUND_OPERATION"


def test_a_changed_policy_counts_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "headgate.toml"
    command = f"command = {json.dumps(sys.executable)}\nargs = {json.dumps(['-S', SERVER])}\n"
    path.write_text(f"[sources.lines]\n{command}")
    with gate(str(path)) as here:
        pid = here.data("pid")
        rule = '[policy]\n[[policy.rule]]\nname = "no echo"\ndecision = "deny"\noperations = "echo"\n'
        path.write_text(f"[sources.lines]\n{command}{rule}")
        until(lambda: not here.call("echo", value=1)["success"], "the rule")
        assert here.data("pid") == pid


def test_nothing_starts_if_every_source_fails(shell: Shell, tmp_path: Path) -> None:
    done = shell("serve", "--", "no-such-program")
    assert (done.code, done.out) == (3, "")
    assert "no-such-program" in done.err
    path = tmp_path / "servers.json"
    path.write_text('{"mcpServers": {}}')
    done = shell("serve", str(path))
    assert (done.code, "There is no source to serve" in done.err) == (3, True)


def test_a_mistake_in_a_configuration_starts_nothing(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "headgate.toml"
    path.write_text('[sources.a]\ncommand = "x"\ntrust = "much"\n[sources.b]\n')
    done = shell("serve", str(path))
    assert done.code == 2
    assert [line.count("headgate.toml") for line in done.err.splitlines()] == [1, 1, 1]


# other commands


def test_commands_open_what_stands_after_two_dashes(shell: Shell) -> None:
    words = ("--state", "memory:", "--trust", "certified", "--", *COMMAND)
    done = shell("call", "echo", "value=5", *words)
    assert (done.code, json.loads(done.out)) == (0, {"value": 5}), done.err
    done = shell("ops", *words)
    assert "echo" in done.out
    done = shell("policy", "test", "--help")
    assert done.code == 0


@pytest.mark.parametrize("words", [("ops",), ("call", "list_books"), ("serve",)], ids=lambda words: words[0])
def test_nothing_after_two_dashes_is_a_mistake_and_not_the_demo(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell(*words, "--")
    assert (done.code, done.out) == (2, "")
    assert done.err == "headgate: '--' needs a command behind it, such as '-- npx -y some-server'\n"


def test_an_mcp_server_over_http_is_wrapped_where_it_is_called(shell: Shell) -> None:
    async def answer(ctx: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
        headers = ctx.request.headers
        said = (headers["authorization"].replace(" ", "-"), headers.get("x-team"))  # or it would be stars
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(said))])

    with web(foreign("get_headers", answer=answer)) as url:
        words = ("--state", "memory:", "--trust", "certified", "-s", url)
        done = shell(
            "call", "get_headers", *words, "--header", "X-Team: ${TEAM}", env={"HEADGATE_TOKEN": "t", "TEAM": "blue"}
        )
        assert (done.code, json.loads(done.out)) == (0, ["Bearer-t", "blue"]), done.err
        done = shell("call", "get_headers", *words, "--header", "Authorization: mine", env={"HEADGATE_TOKEN": "t"})
        assert json.loads(done.out) == ["mine", None]


def test_a_policy_is_tried_with_a_whole_configuration(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "headgate.toml"
    command = f"command = {json.dumps(sys.executable)}\nargs = {json.dumps(['-S', SERVER])}\n"
    rule = '[[sources.b.policy.rule]]\nname = "never"\ndecision = "deny"\noperations = "echo"\n'
    path.write_text(
        f'[sources.a]\n{command}[sources.b]\n{command}trust = "untested"\n{rule}[policy]\ndefault = "allow"\n'
    )
    done = shell("policy", "check", "-s", str(path))
    assert done.code == 0, done.err
    for operation, decision in (("a_echo", "allow"), ("b_echo", "deny")):
        done = shell("policy", "test", operation, "value=1", "-s", str(path), "--json")
        assert json.loads(done.out)["decision"] == decision, done.out
    wrong = path.read_text().replace('operations = "echo"', 'operations = "ecko"')
    path.write_text(wrong)
    done = shell("policy", "check", "-s", str(path))
    assert (done.code, "policy of source 'b'" in done.err) == (2, True)


# what the command line says of sources

WRONG = {
    "a header": (SourceChoices(header=("no value",)), "--header must be a name and a value"),
    "a header's variable": (SourceChoices(header=("X: ${NOT_THERE}",)), "needs the variable 'NOT_THERE'"),
    "allow": (SourceChoices(allow=("not a host!",)), "--allow: "),
    "a review": (SourceChoices(review=Path("none.toml")), "none.toml"),
    "a time": (SourceChoices(start_timeout=-1), "--start-timeout must be"),
}


@pytest.mark.parametrize(("choices", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_of_sources_is_told(choices: SourceChoices, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        choices.choices(DatabaseSpec(), {})


def test_headers_are_filled_in_from_the_environment() -> None:
    made = SourceChoices(header=("Authorization: Bearer ${T}", "X-Team: blue")).choices(DatabaseSpec(), {"T": "s3cret"})
    assert made.headers == {"Authorization": "Bearer s3cret", "X-Team": "blue"}
    assert "s3cret" not in repr(made)


def test_sources_that_are_alone_are_served_by_themselves(tmp_path: Path) -> None:
    assert configured("shop.db").plan is None
    assert configured().plan is None
    assert configured("shop.db", "tools.py").plan is not None
    review = tmp_path / "review.toml"
    review.write_text('exclude = ["list_*"]\n')
    chosen = SourceChoices(review=review).choices(DatabaseSpec(), {})
    plan = configured(choices=chosen).plan
    assert plan is not None
    assert [source.kind for source in plan.sources] == [SourceKind.DEMO]
    single = configured("stdio:npx some-server", choices=Choices()).plan
    assert single is not None
    assert single.name == "some"


def test_two_configurations_are_one_too_many() -> None:
    with pytest.raises(SettingError, match="One configuration"):
        configured("a.toml", "b.toml")


# what is told meanwhile


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.anyio
@pytest.mark.parametrize(("stream", "plainly"), [(io.StringIO, True), (io.StringIO, False), (Terminal, False)])
async def test_how_far_sources_are_is_told_while_they_start(
    stream: type[io.StringIO], plainly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0 if plainly else 60)
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 60 if plainly else 0)
    sources = {name: Told(name, [lambda: adapter("x")], held=anyio.Event()) for name in ("a", "b")}
    sources["c"] = Told("c", [])
    plan = GatePlan(name="g", sources=tuple(spec(name, disabled=name == "c") for name in sources))
    out = stream()
    async with opened_gate(plan, lambda one: sources[one.name], patience=5) as here:
        with starting(here, out, plainly=plainly) as told:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(told)
                for source in sources.values():
                    await anyio.wait_all_tasks_blocked()
                    if source.held:
                        source.held.set()
        assert progress_line(here) == "2 of 2 sources ready"
    lines = [line for line in out.getvalue().splitlines() if "waiting" in line and not out.isatty()]
    assert lines == (
        []
        if out.isatty()
        else [
            "headgate: 0 of 2 sources ready; waiting for a, b",
            "headgate: 1 of 2 sources ready; waiting for b",
        ]
    )


@pytest.mark.parametrize(
    "command", [("ops",), ("call", "x"), ("review",), ("export", "--bundle")], ids=lambda one: one[0]
)
def test_a_server_that_never_answers_is_named_while_it_is_waited_for(
    shell: Shell, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0)
    silent = (sys.executable, "-S", "-c", "import sys; sys.stdin.read()", "silent")
    done = shell(*command, "--start-timeout", "0.5", "--", *silent)
    assert "waiting for" in done.err.splitlines()[0], done.err


# what fails is told once


def test_a_source_that_fails_is_told_once_where_the_command_ends(shell: Shell, tmp_path: Path) -> None:
    for command in (("ops",), ("call", "x")):
        done = shell(*command, "--state", "memory:", "--", "false")
        assert (done.code, len(done.err.splitlines())) == (3, 1), done.err
        assert "tried again" not in done.err
    path = tmp_path / "servers.json"
    path.write_text(listed("well", gone={"command": "no-such-program"}))
    done = shell("call", "echo", "value=1", "--state", "memory:", "--trust", "certified", "-s", str(path))
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert "source 'gone' is not ready" in line
    assert "tried again" not in line


def test_each_mistake_of_an_adapter_file_is_told_once(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad-adapter.md"
    path.write_text("---\ntype: adapter\nname: 7\nversion: []\noperations: 3\n---\n# Bad\n")
    done = shell("ops", "-s", str(path))
    lines = [line.strip() for line in done.err.splitlines()]
    assert done.code == 3
    assert len(lines) > 2
    assert len(lines) == len(set(lines)), done.err


def test_a_server_says_once_when_a_source_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(listed("well", gone={"command": "no-such-program"}))
    with gate(str(path)) as here:
        line = here.pipes.serving.logged("source 'gone' is not ready")
        assert here.data("echo", value=2) == {"value": 2}
        told = [one for one in here.pipes.serving.log.seen if "no-such-program" in one]
    assert told == [line]
    assert "; it is tried again in " in line
