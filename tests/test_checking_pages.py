"""The pages on checking are complete and true: every option, every key, every check that is named."""

import re
import tomllib
from pathlib import Path

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.reports.formats import FORMATS
from headgate.conformance.sections import titled
from tests.cli.commands import Shell
from tests.shown import blocks, typed
from tests.support import ROOT

REFERENCE = ROOT / "docs" / "checking.md"
FIRST = ROOT / "docs" / "check-your-server.md"


def test_every_option_is_in_the_reference(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    helped = Shell(monkeypatch, capsys)("check", "--help").out
    options = {*re.findall(r"^│ \*? *(--[a-z-]+)", helped, re.MULTILINE)}
    assert len(options) > 20
    assert [name for name in sorted(options) if f"`{name}" not in REFERENCE.read_text()] == []


def test_every_option_of_the_plugin_is_in_the_reference() -> None:
    plugin = (ROOT / "src" / "headgate" / "conformance" / "plugin.py").read_text()
    options = re.findall(r'add\("(--headgate-[a-z]+)"', plugin)
    assert len(options) == 6
    assert [name for name in options if f"`{name}" not in REFERENCE.read_text()] == []


def test_every_form_is_in_the_reference() -> None:
    assert [form for form in FORMATS if f"- **{form}**" not in REFERENCE.read_text()] == []


@pytest.mark.parametrize("page", [REFERENCE, FIRST], ids=lambda page: page.name)
def test_every_command_that_is_shown_has_options_that_there_are(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {*re.findall(r"(--[a-z-]+)", Shell(monkeypatch, capsys)("check", "--help").out)} | {"--headgate-check"}
    shown = [one.words.split(" -- ")[0] for block in blocks(page) for one in typed(block)]
    used = {word for words in shown if "headgate check" in words for word in re.findall(r"(?<=\s)(--[a-z-]+)", words)}
    assert used - known == set()


def test_the_fixtures_that_are_shown_can_be_read_and_every_key_is_explained() -> None:
    shown = next(block.text for block in blocks(FIRST) if block.language == "toml")
    fixtures = Fixtures.of(tomllib.loads(shown), "shown")
    assert fixtures.leave_alone == {"execute_payroll"}
    assert fixtures.words["list_invoices"][0] == "unpaid bills"
    for key in ("leave_alone", "[values]", "[operations.NAME]", "[words]"):
        assert f"`{key}`" in REFERENCE.read_text()


def test_the_finding_that_is_shown_is_one_of_a_check_that_there_is() -> None:
    page = FIRST.read_text()
    check = next(one for one in ALL_CHECKS if one.id == "parameters.unknown-refused")
    assert f"FAIL  {check.id}\n  {check.title}\n  {check.demand}, {titled(check.section)}\n" in page
    assert set(re.findall(r"--(?:only|explain) ([\w.-]+)", page)) == {check.id}
