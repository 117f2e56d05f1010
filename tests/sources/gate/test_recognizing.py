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
