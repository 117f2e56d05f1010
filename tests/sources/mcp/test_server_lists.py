"""The files in which hosts list MCP servers: every form that they write, and what is wrong with one server alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp.configuration import McpSpec, is_mcp_servers, mcp_servers_from, read_mcp_servers
from headgate.sources.mcp.relaxed_json import relaxed_json
from headgate.sources.mcp.variables import MissingVariable, Variables

ENVIRONMENT = {"TOKEN": "s3cret", "EMPTY": "", "API_KEY": "from-a-prompt"}


def read(entry: object, *, folder: str = "/home/ada/project/.cursor", name: str = "one") -> McpSpec:
    content = {"mcpServers": {name: entry}}
    [spec] = mcp_servers_from(content, "servers.json", Path(folder), ENVIRONMENT)
    return spec


FORMS: dict[str, dict[str, Any]] = {
    "Claude Desktop": {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "/srv"]}}},
    "VS Code": {
        "inputs": [],
        "servers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "server-files", "/srv"]}},
    },
    "settings of VS Code": {"mcp": {"servers": {"files": {"command": "npx", "args": ["-y", "server-files", "/srv"]}}}},
    "dotted settings": {"mcp.servers": {"files": {"command": "npx", "args": ["-y", "server-files", "/srv"]}}},
    "Zed": {"context_servers": {"files": {"command": "npx", "args": ["-y", "server-files", "/srv"]}}},
    "one list": {"mcpServers": {"files": {"command": ["npx", "-y", "server-files", "/srv"]}}},
    "one line": {"mcpServers": {"files": {"command": "npx -y server-files /srv"}}},
    "approvals": {
        "mcpServers": {
            "files": {
                "command": "npx",
                "args": ["-y", "server-files", "/srv"],
                "autoApprove": ["read"],
                "alwaysAllow": [],
            }
        }
    },
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_every_host_s_form_means_the_same_server(tmp_path: Path, content: dict[str, Any]) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(content))
    assert is_mcp_servers(path)
    assert read_mcp_servers(path) == (McpSpec(name="files", command="npx", args=("-y", "server-files", "/srv")),)


def test_comments_and_trailing_commas_are_read_as_editors_write_them(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        """\ufeff{
        // a comment, with "quotes" in it
        "servers": {
            "web": {"url": "https://mcp.example/a//b", /* not this, } ] */ "type": "http",},
        },
    }""",
        encoding="utf-8",
    )
    [spec] = read_mcp_servers(path)
    assert (spec.url, spec.transport) == ("https://mcp.example/a//b", "http")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_plain_json_means_what_it_means(value: object) -> None:
    assert relaxed_json(json.dumps(value)) == value
    assert relaxed_json(json.dumps(value, indent=1)) == value


BROKEN = {
    "no JSON": ("{\n  'x'", "line 2, column 3"),
    "an open text": ('{"a": "b', "line 1"),
    "too deep": ("[" * 100_000, "nested too deep"),
    "no list": ('{"mcpServers": []}', "lists no MCP servers"),
    "something else": ("[1]", "lists no MCP servers"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_lists_nothing_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text)
    with pytest.raises(AdapterError, match=r"servers\.json") as told:
        read_mcp_servers(path)
    assert said in str(told.value)
    assert not is_mcp_servers(path)


def test_a_file_that_is_not_there_or_no_text_or_huge_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe4"}')
    (tmp_path / "huge.json").write_bytes(b" " * (4 * 2**20 + 1))
    for name, said in {"none.json": "cannot be read", "latin.json": "no UTF-8", "huge.json": "larger than"}.items():
        with pytest.raises(AdapterError, match=said):
            read_mcp_servers(tmp_path / name)


ADDRESSES = {
    "url": ({"url": "https://a.example/mcp"}, "http"),
    "serverUrl": ({"serverUrl": "https://a.example/mcp"}, "http"),
    "httpUrl": ({"httpUrl": "https://a.example/mcp"}, "http"),
    "type": ({"url": "https://a.example/mcp", "type": "streamable-http"}, "http"),
    "transport": ({"url": "https://a.example/mcp", "transport": "SSE"}, "sse"),
}


@pytest.mark.parametrize(("entry", "transport"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_server_is_reached_by_whatever_its_host_calls_the_address(entry: dict[str, Any], transport: str) -> None:
    spec = read(entry)
    assert (spec.url, spec.transport, spec.problem) == ("https://a.example/mcp", transport, "")


FILLED = {
    "plain": ("${TOKEN}", "s3cret"),
    "env": ("${env:TOKEN}", "s3cret"),
    "inside": ("Bearer ${TOKEN}!", "Bearer s3cret!"),
    "default": ("${MISSING:-none}", "none"),
    "an empty one has the default": ("${EMPTY:-none}", "none"),
    "a default that is not needed": ("${TOKEN:-none}", "s3cret"),
    "an empty default": ("${MISSING:-}", ""),
    "an input": ("${input:api-key}", "from-a-prompt"),
    "workspace": ("${workspaceFolder}/data", "/home/ada/project/data"),
    "its name": ("${workspaceFolderBasename}", "project"),
    "home": ("${userHome}", str(Path.home())),
    "separator": ("a${/}b${pathSeparator}c", "a/b/c"),
    "a dollar alone": ("$TOKEN costs $5 {x} ${}", "$TOKEN costs $5 {x} ${}"),
}


@pytest.mark.parametrize(("text", "value"), FILLED.values(), ids=FILLED)
def test_variables_are_filled_in_everywhere(text: str, value: str) -> None:
    local = read({"command": "run", "args": [text], "env": {"A": text}})
    remote = read({"url": "https://a.example", "headers": {"X": text}})
    assert (local.args, local.env, remote.headers) == ((value,), {"A": value}, {"X": value})


@given(st.text(), st.text())
def test_a_value_is_never_filled_in_a_second_time(before: str, value: str) -> None:
    variables = Variables({"V": value, "TOKEN": "s3cret"}, Path("/"))
    assert variables.filled("${V}") == value
    if "$" not in before and "{" not in before:
        assert variables.filled(before) == before


MISSING = {
    "env": ({"command": "run", "env": {"KEY": "${GITHUB_TOKEN}"}}, "'env.KEY'", "GITHUB_TOKEN"),
    "args": ({"command": "run", "args": ["${env:GITHUB_TOKEN}"]}, "'args'", "GITHUB_TOKEN"),
    "headers": (
        {"url": "https://a.example", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}},
        "'headers.Authorization'",
        "GITHUB_TOKEN",
    ),
    "url": ({"url": "https://${HOST}/mcp"}, "'url'", "HOST"),
    "an input": ({"command": "run", "args": ["${input:my-key}"]}, "'args'", "MY_KEY"),
}


@pytest.mark.parametrize(("entry", "key", "variable"), MISSING.values(), ids=MISSING)
def test_a_missing_variable_is_a_problem_of_that_server_alone(entry: dict[str, Any], key: str, variable: str) -> None:
    content = {"mcpServers": {"one": {"command": "a"}, "two": entry, "three": {"command": "c"}}}
    one, two, three = mcp_servers_from(content, "x", Path("/"), ENVIRONMENT)
    assert (one.problem, three.problem) == ("", "")
    assert two.problem == f"MCP server 'two': {key} needs the environment variable '{variable}', which is not set"


WRONG = {
    "no object": (5, "must be an object"),
    "nothing": ({}, "neither 'command' nor 'url'"),
    "both": ({"command": "a", "url": "b"}, "both 'command' and 'url'"),
    "args": ({"command": "a", "args": "x"}, "'args' must be a list"),
    "nested args": ({"command": "a", "args": [["x"]]}, "'args' must be a list"),
    "env": ({"command": "a", "env": ["x"]}, "'env' must be an object"),
    "command": ({"command": 7}, "'command' must be a text"),
    "quotes": ({"command": 'a "b'}, "quotation mark"),
    "type": ({"command": "a", "type": "carrier pigeon"}, "'stdio', 'http' or 'sse'"),
    "a type that does not fit": ({"command": "a", "type": "http"}, "does not fit"),
    "timeout": ({"command": "a", "timeout": -1}, "'timeout'"),
    "no timeout": ({"command": "a", "timeout": True}, "'timeout'"),
}


@pytest.mark.parametrize(("entry", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_entry_says_what_is_wrong_with_it(entry: object, said: str) -> None:
    assert said in read(entry).problem


def test_servers_can_be_off_in_every_way_of_saying_so() -> None:
    assert read({"command": "a", "disabled": True}).disabled
    assert read({"command": "a", "enabled": False}).disabled
    assert read({"disabled": True}).disabled
    assert not read({"command": "a", "disabled": False, "enabled": True}).disabled


def test_numbers_and_truth_values_become_texts_and_null_is_left_out() -> None:
    spec = read({"command": "a", "args": [1, True], "env": {"N": 5, "F": False, "X": None}})
    assert (spec.args, spec.env) == (("1", "true"), {"N": "5", "F": "false"})


def test_a_folder_starts_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text('{"mcpServers": {"a": {"command": "x", "cwd": "sub"}}}')
    [spec] = read_mcp_servers(tmp_path / "servers.json")
    assert spec.cwd == str(tmp_path.resolve() / "sub")
    assert read({"command": "x", "cwd": "${workspaceFolder}"}).cwd == "/home/ada/project"


@pytest.mark.parametrize(("given_time", "seconds"), [(60, 60), (3600, 3600), (60_000, 60), (1.5, 1.5)])
def test_a_time_in_milliseconds_is_told_from_one_in_seconds(given_time: float, seconds: float) -> None:
    assert read({"command": "a", "timeout": given_time}).timeout == seconds


def test_nothing_that_may_be_secret_is_shown() -> None:
    spec = read({"command": "run", "args": ["--key", "s3cret"], "env": {"K": "s3cret"}})
    remote = read({"url": "https://a.example/?key=s3cret", "headers": {"A": "s3cret"}})
    for shown in (repr(spec), repr(remote), repr(Variables(ENVIRONMENT, Path("/")))):
        assert "s3cret" not in shown


def test_a_missing_variable_names_itself() -> None:
    with pytest.raises(MissingVariable, match="NOT_THERE"):
        Variables({}, Path("/")).filled("${NOT_THERE}")
