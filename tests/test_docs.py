"""The documentation is complete and true: every option, code and setting is there, and every snippet runs."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.cli.serve import Guarding, Serving
from headgate.protocol.error_codes import REGISTRY, is_callers_to_repair
from headgate.protocol.profiles import PROFILES
from headgate.server.settings import Settings

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


def test_the_readme_shows_what_the_command_really_prints() -> None:
    block = re.search(r"> headgate (call .*)\n((?:  headgate: .*\n)+)", text("README.md"))
    assert block is not None
    words, printed = block.groups()
    run = subprocess.run(
        [*HEADGATE, *words.split()], cwd=ROOT / "examples", capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stderr.splitlines() == [line.strip() for line in printed.splitlines()]


def test_every_option_of_serve_and_its_variable_are_documented() -> None:
    page = text("docs/serving.md")
    options = [field.name for kind in (Serving, Guarding) for field in dataclasses.fields(kind)]
    shown = subprocess.run(
        [*HEADGATE, "serve", "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    variables = set(re.findall(r"(?:HEADGATE|MCP_AQL)_[A-Z_]+", shown))
    assert len(variables) >= len(options)
    assert [name for name in options if f"`--{name.replace('_', '-')}`" not in page] == []
    assert [name for name in sorted(variables) if f"`{name}`" not in page] == []


def test_every_setting_of_an_embedded_server_is_documented() -> None:
    page = text("docs/serving.md")
    assert [field.name for field in dataclasses.fields(Settings) if f"`{field.name}`" not in page] == []


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


@pytest.mark.parametrize("example", ["embedded.py"])
def test_an_example_runs(example: str) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout) == (0, '{"success":true,"data":1}\n')
