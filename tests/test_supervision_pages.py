"""The pages about supervision, the console and hostile agents: what they show is so, and nothing is left out."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from headgate import mcp_server, sql_adapter
from headgate.cli.persons import Persons
from headgate.protocol.autonomy import Directive, LoopMode, NotificationType, StepOutcome, Tier, Tolerance
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.loop import agents
from headgate.safety.loop.settings import LoopSettings, Unreported
from headgate.safety.policy import autonomy_tables
from headgate.sources.bookshop import build_bookshop
from tests.cli.commands import Shell
from tests.homes import Home
from tests.hostile.attacks import ATTACKS, HELD
from tests.hostile.table import header, lines
from tests.hostile.test_hostile_agents import BY_DEFAULT, IN_PROCESS, OVER_HTTP
from tests.server.processes import serve_http
from tests.shown import Typed, blocks, exchanges, masked, same, sections, typed
from tests.support import ROOT

SUPERVISION, CONSOLE, HOSTILE = (ROOT / "docs" / f"{name}.md" for name in ("supervision", "console", "hostile"))
SERVERS = ("headgate serve", "headgate safety --http", "headgate safety --console", "headgate safety --policy")


def commands(page: Path) -> list[Typed]:
    return [one for block in blocks(page) for one in typed(block)]


def rows(page: Path, heading: str, column: int = 1) -> str:
    table = [line for line in sections(page)[heading].splitlines() if line.startswith("| ")]
    return "".join(line.split("|")[column] for line in table)


def missing(names: Any, text: str) -> list[str]:
    return [str(name) for name in names if f"`{name}`" not in text]


# what is shown


def test_the_page_shows_what_a_person_and_an_agent_really_see(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    home = Home(Shell(monkeypatch, capsys), tmp_path)
    wrong = []
    with serve_http("--safety-loop", "enforcing", env=home.variables) as serving:
        home.knows("127.0.0.1:8765", f"127.0.0.1:{serving.port}")
        for one in commands(SUPERVISION):
            if one.words.startswith(SERVERS):
                continue
            out, err = home.types(one.words)
            shown = "".join(line for line in one.printed.splitlines(keepends=True) if not line.startswith("Code: "))
            if shown and not same(shown, out + err):
                wrong.append((one.words, masked(out + err)))
    assert wrong == []


SHOWN_SERVERS = [
    one.words for page in (SUPERVISION, CONSOLE) for one in commands(page) if one.words.startswith(SERVERS)
]


@pytest.mark.parametrize("words", dict.fromkeys(SHOWN_SERVERS))
def test_a_server_that_a_page_shows_comes_up(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    policy = next(block.text for block in blocks(SUPERVISION) if block.language == "toml")
    Home(Shell(monkeypatch, capsys), tmp_path, files={"agents.toml": policy}).serves(words)


@pytest.mark.anyio
async def test_the_page_shows_what_is_answered_where_nothing_is_enforced(tmp_path: Path) -> None:
    build_bookshop(tmp_path / "shop.db")
    adapter = sql_adapter(tmp_path / "shop.db")
    shown = [one for block in blocks(SUPERVISION) if block.heading == "Modes" for one in exchanges(block)]
    wrong = []
    async with Client(mcp_server(adapter, mode="single", safety_loop="monitoring")) as client:
        for one in shown:
            answer = (await client.call_tool("mcp_aql", json.loads(one.request))).content[0]
            said = getattr(answer, "text", "")
            if not same(one.answer, said):
                wrong.append((one.request, masked(said)))
    await adapter.close()
    assert len(shown) == 2
    assert wrong == []


# what is told


def test_every_operation_mode_and_choice_is_documented() -> None:
    assert missing(RESERVED_OPERATIONS, rows(SUPERVISION, "The operations")) == []
    assert missing(LoopMode, rows(SUPERVISION, "Modes")) == []
    assert missing(Unreported, rows(SUPERVISION, "Operations of this server")) == []
    assert missing(StepOutcome, sections(SUPERVISION)["The operations"]) == []


def test_every_word_of_a_directive_is_documented() -> None:
    section = sections(SUPERVISION)["What is decided of a step"]
    fullest = Directive(goes_on=False, stopped=True, factors=(), reason="x", steps_remaining=1, tier=Tier.VERIFY)
    assert missing([*fullest.wire(), "notifications"], section) == []
    assert missing([*NotificationType, *Tolerance], section) == []
    for tier in Tier:
        if tier is not Tier.ADVISORY:
            lowest, highest = tier.scores
            assert f"risk {lowest} to {highest}, `{tier}`" in section
    assert [one for one in Tolerance if f"{one.threshold} `{one}`" not in section] == []


def test_every_key_of_the_loop_is_documented_with_what_counts_if_it_is_not_said() -> None:
    table = [line for line in sections(SUPERVISION)["[autonomy]"].splitlines() if line.startswith("| `")]
    told = {line.split("|")[1].strip(" `"): line for line in table}
    assert sorted(told) == sorted([*autonomy_tables._RULE_KEYS, *autonomy_tables._LOOP_KEYS, "agents"])
    usual, rules = LoopSettings(), AgentRules()
    assert f"`{LoopMode.ENFORCING}` (unless said)" in told["mode"]
    assert f"`{usual.unreported}` (unless said)" in told["unreported"]
    assert f"`{rules.risk_tolerance}` (unless said)" in told["risk_tolerance"]
    assert f": {rules.max_autonomous_steps} " in told["max_autonomous_steps"]
    assert f": {usual.challenge_seconds:g};" in told["challenge_seconds"]
    assert f": {usual.approval_seconds:g};" in told["approval_seconds"]
    assert f": {usual.failures_per_minute}," in told["failures_per_minute"]
    assert missing(rules.deny, told["deny"]) == []
    assert missing(rules.requires_approval, told["requires_approval"]) == []
    assert rules.auto_approve == ()


def test_as_many_steps_are_shown_as_the_pages_say() -> None:
    for page in (SUPERVISION, CONSOLE):
        assert f"last {agents._KEPT_STEPS} steps" in page.read_text()


def test_every_option_of_the_console_and_the_channels_is_documented() -> None:
    page = CONSOLE.read_text()
    assert [one.name for one in fields(Persons) if f"--{one.name.replace('_', '-')}" not in page] == []
    secrets = ("HEADGATE_CONSOLE_OAUTH_SECRET", "HEADGATE_WEBHOOK_TOKEN", "HEADGATE_SMTP", "HEADGATE_MAIL_FROM")
    assert [name for name in secrets if name not in page] == []


def test_every_picture_is_in_the_page_of_the_console() -> None:
    page = CONSOLE.read_text()
    pictures = sorted((ROOT / "docs" / "screenshots").glob("*.png"))
    assert pictures
    assert [picture.name for picture in pictures if f"(screenshots/{picture.name})" not in page] == []


def test_the_table_of_hostile_scenarios_is_complete() -> None:
    scenarios = [*IN_PROCESS, *OVER_HTTP, *BY_DEFAULT]
    page = HOSTILE.read_text()
    held = lines((f"test[{words}-{one.name}-{era}]", True) for words, one, era in scenarios)
    assert page.count(header()) == 1
    assert "\n".join(held) in page
    assert f"{len(ATTACKS)} attacks" in page
    assert f": {len(scenarios)} scenarios" in page
    assert len(HELD) == 4


def test_a_scenario_that_did_not_hold_is_seen_in_the_table() -> None:
    attack, held = next(iter(ATTACKS)), HELD[0].name
    table = lines([(f"test[{attack}-{held}-modern]", True), (f"test[{attack}-{held}-legacy]", False)])
    assert f"| {attack} | 1 of 2 |" in table[2]
    assert table[-1] == "1 of 2 scenarios held"
