"""What a source is by how it is written, and what it is called if nobody says."""

from pathlib import Path

import pytest

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.gate.planning import Choices, distinct, specs_of
from headgate.sources.gate.recognizing import (
    beside,
    command_words,
    is_plain,
    is_server_list,
    kind_of_source,
    name_of_source,
    problem_of_file,
    unique,
)
from headgate.sources.gate.specs import DatabaseSpec, SourceKind

SOURCES = {
    "stdio:npx -y @modelcontextprotocol/server-filesystem /tmp": ("mcp", "filesystem"),
    "stdio:uvx mcp-server-git --repository .": ("mcp", "git"),
    "stdio:python -m weather": ("mcp", "weather"),
    "stdio:npx @playwright/mcp@latest --headless": ("mcp", "playwright"),
    "stdio:/usr/bin/github-mcp-server stdio": ("mcp", "github"),
    "stdio:docker run -i --rm ghcr.io/github/github-mcp-server": ("mcp", "github"),
    "stdio:node tools.js": ("mcp", "tools"),
    "stdio:npx": ("mcp", "server"),
    "https://mcp.linear.app/mcp": ("mcp", "linear"),
    "https://api.example.com/mcp/": ("mcp", "example"),
    "http://127.0.0.1:8000/mcp": ("mcp", "server"),
    "http://localhost:8000/mcp": ("mcp", "localhost"),
    "https://petstore.example/openapi.json": ("openapi", "petstore"),
    "postgresql://ada:s3cret@db.example/shop": ("database", "shop"),
    "mysql://db.example": ("database", "db_example"),
    "data/Shop Floor.db": ("database", "shop_floor"),
    "library.py:adapter": ("module", "library"),
    "tools/library.py": ("module", "library"),
    "package.tools:adapter": ("module", "tools"),
    "package.tools": ("module", "tools"),
    "docs/weather-adapter.md": ("adapter_file", "weather"),
}


@pytest.mark.parametrize(("source", "kind", "name"), [(source, *told) for source, told in SOURCES.items()], ids=SOURCES)
def test_a_source_tells_what_it_is_and_gets_a_name(source: str, kind: str, name: str) -> None:
    assert (kind_of_source(source).value, name_of_source(source)) == (kind, name)


def test_files_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    servers, document = tmp_path / "servers.json", tmp_path / "petstore.json"
    servers.write_text('{"mcpServers": {}}')
    document.write_text('{"openapi": "3.1.0"}')
    assert is_server_list(str(servers))
    assert not is_server_list(str(document))
    assert not is_server_list(str(tmp_path / "none.json"))
    assert kind_of_source(str(document)) is SourceKind.OPENAPI
    assert not is_plain(str(servers))
    assert is_plain("shop.db")
    assert not is_plain("stdio:npx x")


BROKEN = {
    "absent": ("none.json", None, "There is no file 'none.json'"),
    "absent document": ("none.yaml", None, "There is no file 'none.yaml'"),
    "absent text": ("none.md", None, "There is no file 'none.md'"),
    "cut off": ("cut.json", b'{"mcpServers": {\n"a":', "'cut.json' is not JSON: line 2, column 5"),
    "too deep": ("deep.json", b"[" * 100_000, "'deep.json' is not JSON: it is nested too deep"),
    "no UTF-8": ("latin.json", b'{"\xe9": 1}', "'latin.json' is no UTF-8: save it as UTF-8"),
    "something else": (
        "other.JSON",
        b'{"a": 1}',
        "'other.JSON' lists no MCP servers and is no OpenAPI document: it needs a key 'mcpServers', or 'openapi'",
    ),
    "no document": (
        "notes.yml",
        b"a: 1",
        "'notes.yml' is no OpenAPI document: it needs a line such as 'openapi: 3.1.0'",
    ),
    "no adapter": ("notes.md", b"# Notes", "'notes.md' is no adapter file: its head must say 'type: adapter'"),
    "a module": ("package.tools", None, ""),
}


@pytest.mark.parametrize(("name", "content", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_served_is_not_called_a_module(
    name: str, content: bytes | None, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    assert problem_of_file(name) == problem
    (spec,) = specs_of([name], Choices())
    assert (spec.name, spec.problem) == (name_of_source(name), problem)
    assert spec.name == (name.partition(".")[0] if problem else "tools")


def test_a_folder_or_a_closed_file_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.json").mkdir()
    assert problem_of_file("folder.json") == "'folder.json' is no file: name a file in it"
    Path("closed.json").write_text("{}")

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert problem_of_file("closed.json") == "The file 'closed.json' cannot be read"


def test_a_command_keeps_its_words() -> None:
    assert command_words("stdio:run 'two words' --x=1") == ["run", "two words", "--x=1"]
    with pytest.raises(AdapterError, match="needs a command"):
        list(specs_of(["stdio:"], Choices()))


@pytest.mark.parametrize(
    ("named", "placed"),
    [
        ("shop.db", "/etc/gate/shop.db"),
        ("tools.py:adapter", "/etc/gate/tools.py:adapter"),
        ("package.tools:adapter", "package.tools:adapter"),
        ("postgresql://h/x", "postgresql://h/x"),
        ("stdio:npx x", "stdio:npx x"),
        ("memory:", "memory:"),
        ("/var/shop.db", "/var/shop.db"),
    ],
)
def test_a_path_in_a_file_starts_from_its_folder(named: str, placed: str) -> None:
    assert beside(Path("/etc/gate"), named) == placed


def test_sources_that_would_have_one_name_are_numbered() -> None:
    specs = distinct(tuple(specs_of(["a/shop.db", "b/shop.db", "c/shop.db"], Choices())))
    assert [spec.name for spec in specs] == ["shop", "shop_2", "shop_3"]
    assert unique("x", {}) == "x"


def test_what_a_command_says_of_all_sources_reaches_those_that_it_is_for(tmp_path: Path) -> None:
    servers = tmp_path / "servers.json"
    servers.write_text('{"mcpServers": {"a": {"command": "x", "disabled": true, "timeout": 5}}}')
    choices = Choices(
        database=DatabaseSpec(read_only=True), headers={"X": "y"}, allow=("10.0.0.1",), reload=True, vouched=True
    )
    words = ["shop.db", "https://a.example/mcp", "stdio:run it", "tools.py", "x-adapter.md", str(servers)]
    database, web, command, module, file, listed = specs_of(words, choices)
    assert database.database.read_only
    assert not module.database.read_only
    assert web.mcp is not None
    assert web.mcp.headers == {"X": "y"}
    assert command.mcp is not None
    assert (command.mcp.command, command.mcp.args, command.mcp.headers) == ("run", ("it",), {})
    assert [spec.reload for spec in (database, web, command, module)] == [False, False, False, True]
    assert file.is_vouched_for
    assert not module.is_vouched_for
    assert (listed.name, listed.disabled, listed.timeout, listed.allow) == ("a", True, 5, ("10.0.0.1",))
    assert "s3cret" not in repr(list(specs_of(["postgresql://ada:s3cret@h/shop"], choices)))
