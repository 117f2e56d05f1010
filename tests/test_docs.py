"""The documentation is complete and true: every option, code and setting is there, and every snippet runs."""

import dataclasses
import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from headgate import Adapter, Backend, SqlSettings, mcp_server, sql_adapter
from headgate.cli.entrances import Entrance, Serving
from headgate.cli.gates import SourceChoices
from headgate.cli.guards import Guarding
from headgate.cli.persons import Persons
from headgate.cli.targets import DatabaseChoices
from headgate.protocol.error_codes import REGISTRY, is_callers_to_repair
from headgate.protocol.profiles import PROFILES
from headgate.query.kinds import KINDS
from headgate.query.operators import COMBINERS, OPERATORS
from headgate.server.settings import Settings
from headgate.sources.bookshop import build_bookshop
from headgate.sources.sql import settings as sql_settings
from tests.cli.commands import Shell
from tests.shown import sections

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
HEADGATE = [sys.executable, "-c", "from headgate.cli import main; main()"]


def text(name: str) -> str:
    return (ROOT / name).read_text()


def snippets() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1):
            found.append((f"{page.name}-{number}", block))
    return found


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in snippets()])
def test_a_snippet_runs(code: str) -> None:
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})  # noqa: S102


def test_the_readme_shows_the_example_that_is_kept_in_examples() -> None:
    shown = next(code for name, code in snippets() if name == "README.md-1")
    kept = text("examples/library.py")
    essential = [line for line in shown.splitlines() if line.strip() and not line.startswith("#")]
    assert [line for line in essential if line not in kept.splitlines()] == []


def commands_shown() -> list[tuple[str, list[str]]]:
    """The commands that the README shows after a ``>``, with what they print."""
    found = re.findall(r"^ *> headgate (call .*)\n((?: *(?:headgate:|\{).*\n)+)", text("README.md"), re.MULTILINE)
    return [(words, [line.strip() for line in printed.splitlines()]) for words, printed in found]


@pytest.mark.parametrize(("words", "printed"), commands_shown())
def test_the_readme_shows_what_the_command_really_prints(words: str, printed: list[str]) -> None:
    run = subprocess.run(
        [*HEADGATE, *shlex.split(words)], cwd=ROOT / "examples", capture_output=True, text=True, timeout=60, check=False
    )
    assert [*run.stdout.splitlines(), *run.stderr.splitlines()] == printed


def test_the_readme_shows_commands_on_the_demo_and_on_a_file() -> None:
    assert len(commands_shown()) == 6


def test_every_option_of_serve_and_its_variable_are_documented() -> None:
    page = text("docs/serving.md")
    kinds = (Serving, Entrance, Guarding, Persons, DatabaseChoices, SourceChoices)
    options = [field.name for kind in kinds for field in dataclasses.fields(kind)]
    shown = subprocess.run(
        [*HEADGATE, "serve", "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    variables = set(re.findall(r"(?:HEADGATE|MCP_?AQL)_[A-Z_]+", shown))
    assert len(variables) >= len(options)
    assert [name for name in options if f"`--{name.replace('_', '-')}`" not in page] == []
    assert [name for name in sorted(variables) if f"`{name}`" not in page] == []


COMMANDS = (
    "call",
    "review",
    "export",
    "tokens",
    "check",
    "policy check",
    "policy test",
    "audit",
    "audit verify",
    "audit rotate",
    "approvals approve",
    "approvals deny",
    "trust",
    "safety",
    "agents",
    "agents unblock",
    "agents end",
    "verify",
    "watch",
    "console",
    "executions",
    "executions cancel",
    "executions retry",
    "executions result",
    "executions workers",
    "worker",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_documented(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    helped = Shell(monkeypatch, capsys)(*command.split(), "--help").out
    options = set(re.findall(r"^│ \*? *(--[a-z-]+)", helped, re.MULTILINE))
    pages = text("docs/cli.md") + text("docs/serving.md")
    assert len(options) >= 2
    assert [name for name in sorted(options) if name not in pages] == []


def test_every_setting_of_an_embedded_server_is_documented() -> None:
    page = text("docs/serving.md")
    assert [field.name for field in dataclasses.fields(Settings) if f"`{field.name}`" not in page] == []


def test_every_operator_and_combiner_is_documented() -> None:
    rows = "".join(line.split("|")[1] for line in text("docs/databases.md").splitlines() if line.startswith("| "))
    assert [name for name in (*OPERATORS, *COMBINERS) if f"`{name}`" not in rows] == []


def test_every_kind_of_value_is_documented() -> None:
    rows = "".join(line.split("|")[2] for line in text("docs/databases.md").splitlines() if line.startswith("| "))
    assert [word for word in KINDS if f"`{word}`" not in rows] == []


def settings_keys() -> set[str]:
    """The keys that the settings file takes: what the readers of the settings know."""
    kinds = ("SqlSettings", "TableSettings", "FieldSettings", "ComputedSettings", "RelationshipSettings")
    names = {one.name for kind in kinds for one in dataclasses.fields(getattr(sql_settings, kind))}
    return names - {"kind"} | {"type", "column", "target_column"}


def test_every_key_of_the_settings_file_is_documented() -> None:
    section = text("docs/databases.md").split("## The settings file")[1].split("\n## ")[0]
    assert [key for key in sorted(settings_keys()) if f"`{key}`" not in section] == []


def test_the_settings_file_that_is_shown_is_right() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", text("docs/databases.md"), re.DOTALL)
    assert blocks
    for block in blocks:
        assert SqlSettings.of(tomllib.loads(block)).tables["books"].singular == "title"


def requests_shown(page: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that a page shows, each as a request: parameters alone are those of list_books."""
    for block in re.findall(r"```json\n(.*?)```", text(page), re.DOTALL):
        rest = block.strip()
        while rest:
            found, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:].lstrip()
            if "root" in found:
                yield {"operation": "query_relationships", "params": found}
            else:
                yield (
                    found
                    if found.keys() & {"operation", "operations"}
                    else {"operation": "list_books", "params": found}
                )


@pytest.mark.anyio
async def test_every_request_to_a_database_that_is_shown_works(tmp_path: Path) -> None:
    build_bookshop(tmp_path / "shop.db")
    adapter = sql_adapter(tmp_path / "shop.db")
    requests = list(requests_shown("docs/databases.md"))
    async with Client(mcp_server(adapter, mode="single")) as client:
        answers = [(await client.call_tool("mcp_aql", request)).content[0] for request in requests]
    await adapter.close()
    envelopes = [json.loads(getattr(answer, "text", "")) for answer in answers]
    assert len(requests) >= 10
    assert [one for one, got in zip(requests, envelopes, strict=True) if not got["success"]] == []
    assert all(got["summary"]["failed"] == 0 for got in envelopes if "summary" in got)


def test_every_profile_is_documented_with_its_families() -> None:
    page = text("docs/serving.md")
    for profile in PROFILES.values():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{profile.name}`"))
        if profile.name != "crude_authorize":
            assert [family.name for family in profile.families if family.name not in row] == []
    assert "authorize" in next(line for line in page.splitlines() if line.startswith("| `crude_authorize`"))


def test_every_error_code_is_documented_with_its_details() -> None:
    page = text("docs/errors.md").splitlines()
    rows = {line.split("|")[1].strip(): line for line in page if line.startswith("| ")}
    for row in REGISTRY.values():
        assert row.meaning in rows[row.code]
        assert [detail for detail in row.details if f"`{detail}`" not in rows[row.code]] == []
        assert rows[row.code].rstrip(" |").endswith("yes" if is_callers_to_repair(row.code) else "no")


def test_every_page_is_linked_from_the_readme_and_every_link_leads_somewhere() -> None:
    readme = text("README.md")
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: list[str] = []
    for heading in sections(page):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return set(found)


def test_every_link_to_a_heading_finds_it() -> None:
    links = [(page, *link) for page in PAGES for link in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text())]
    assert links
    for page, target, anchor in links:
        assert anchor in anchors(page.parent / target if target else page), f"{page.name}: {target}#{anchor}"


SAID_BY_EXAMPLES = {
    "client.py": [
        "MCP-AQL 1.0.0-draft, 16 operations, 0 oddities",
        "['create_loan']",
        "A Brief History of Time",
        "Crime and Punishment",
        "Nineteen Eighty-Four",
        "Pride and Prejudice",
        "The Histories",
        "lent: 9780553380163 This was the last copy on the shelf",
        "1 found, 1 not: NOT_FOUND_RESOURCE: Resource 'book' not found: '0000000000000'",
        'asked: Run delete_book(isbn="9780241950432")?',
        "deleted: The Histories",
        "PERMISSION_DENIED Request('create_loan', {'isbn': '9780553380163', 'member_id': 'm1', 'pin': '***'})",
    ],
    "embedded.py": ['{"success":true,"data":1}'],
    "bookshelf.py": [
        "Pride and Prejudice, Jane Austen",
        "Emma, Jane Austen",
        "['school', 'gift'] \"2\"",
        "{'by_format': {'paperback': '18.48', 'hardcover': '14.00'}}",
        "PERMISSION_DENIED",
    ],
}


@pytest.mark.parametrize("example", SAID_BY_EXAMPLES)
def test_an_example_runs(example: str) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout.splitlines()) == (0, SAID_BY_EXAMPLES[example])


def test_every_option_of_a_collection_is_documented() -> None:
    rows = "".join(line.split("|")[1] for line in text("docs/collections.md").splitlines() if line.startswith("| "))
    options = [name for name in inspect.signature(Adapter.collection).parameters if name not in ("self", "model")]
    assert [name for name in options if f"`{name}`" not in rows] == []


def test_every_method_of_a_backend_is_documented() -> None:
    rows = [line.split("|")[1] for line in text("docs/collections.md").splitlines() if line.startswith("| ")]
    methods = [name for name, one in vars(Backend).items() if inspect.iscoroutinefunction(one)]
    assert len(methods) == 6
    assert [name for name in methods if not any(f"`{name}(" in row for row in rows)] == []
