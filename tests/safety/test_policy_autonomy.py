"""The table ``[autonomy]`` of a policy: what is right is read as it says, and each mistake is named in its place."""

from pathlib import Path

import pytest

from headgate.protocol.autonomy import LoopMode, Tolerance
from headgate.safety.autonomy.rules import DEFAULT_DENY, DEFAULT_REQUIRES_APPROVAL, AgentRules
from headgate.safety.loop.settings import LoopSettings, Unreported
from headgate.safety.policy.rules import Policy
from tests.cli.commands import Shell
from tests.safety.policies import EMPTY, mistakes_in, policy

RULE_KEYS = "max_autonomous_steps, risk_tolerance, deny, requires_approval, auto_approve"
KEYS = f"{RULE_KEYS}, mode, start, unreported, challenge_seconds, approval_seconds, failures_per_minute, agents"

EVERYTHING = """
[autonomy]
mode = "monitoring"
start = "free"
unreported = "refuse"
max_autonomous_steps = 7
risk_tolerance = "aggressive"
deny = ["format *", "Sell everything"]
requires_approval = "pay*"
auto_approve = []
challenge_seconds = 90.5
approval_seconds = 60
failures_per_minute = 3

[autonomy.agents."Night Bot"]
max_autonomous_steps = 1

[autonomy.agents.clerk]
risk_tolerance = "conservative"
deny = []
auto_approve = ["look *"]
"""


def said(line: str) -> LoopSettings:
    return policy(f"[autonomy]\n{line}\n").autonomy


def test_without_the_table_there_is_no_loop() -> None:
    assert Policy().autonomy.mode is None
    assert policy('default = "allow"').autonomy == LoopSettings()


def test_a_table_that_says_anything_makes_a_loop_that_is_enforced() -> None:
    settings = said("failures_per_minute = 10")
    assert settings.mode is LoopMode.ENFORCING
    assert settings.starts_freely is False
    assert settings.unreported is Unreported.ALLOW
    assert (settings.challenge_seconds, settings.approval_seconds, settings.failures_per_minute) == (300, 900, 10)
    assert settings.rules == AgentRules(
        max_autonomous_steps=25,
        risk_tolerance=Tolerance.MODERATE,
        deny=DEFAULT_DENY,
        requires_approval=DEFAULT_REQUIRES_APPROVAL,
        auto_approve=(),
    )


def test_everything_that_can_be_said_is_read() -> None:
    rules = AgentRules(
        max_autonomous_steps=7,
        risk_tolerance=Tolerance.AGGRESSIVE,
        deny=("format *", "Sell everything"),
        requires_approval=("pay*",),
        auto_approve=(),
    )
    clerk = AgentRules(
        max_autonomous_steps=7,
        risk_tolerance=Tolerance.CONSERVATIVE,
        deny=(),
        requires_approval=("pay*",),
        auto_approve=("look *",),
    )
    night = AgentRules(
        max_autonomous_steps=1,
        risk_tolerance=Tolerance.AGGRESSIVE,
        deny=rules.deny,
        requires_approval=rules.requires_approval,
        auto_approve=(),
    )
    assert policy(EVERYTHING).autonomy == LoopSettings(
        mode=LoopMode.MONITORING,
        rules=rules,
        agents={"night bot": night, "clerk": clerk},
        unreported=Unreported.REFUSE,
        starts_freely=True,
        challenge_seconds=90.5,
        approval_seconds=60.0,
        failures_per_minute=3,
    )


@pytest.mark.parametrize(
    "name", ["NIGHT  bot", "night bot ", "n\u0456ght bot", "\uff2eight bot", "night\u200b bot"], ids=ascii
)
def test_the_rules_of_an_agent_count_however_its_name_is_written(name: str) -> None:
    settings = policy(f'[autonomy]\n[autonomy.agents."{name}"]\nmax_autonomous_steps = 3').autonomy
    assert settings.rules_of("night bot").max_autonomous_steps == 3
    assert settings.rules_of("day bot").max_autonomous_steps == 25


@pytest.mark.parametrize("word", LoopMode)
def test_every_mode_can_be_chosen(word: LoopMode) -> None:
    assert said(f'mode = "{word}"').mode is word


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("challenge_seconds = 3600", "challenge_seconds", 3600.0),
        ("challenge_seconds = 0.5", "challenge_seconds", 0.5),
        ("approval_seconds = 86400", "approval_seconds", 86400.0),
        ("failures_per_minute = 1", "failures_per_minute", 1),
        ('unreported = "require"', "unreported", Unreported.REQUIRE),
        ('start = "person"', "starts_freely", False),
    ],
)
def test_what_is_just_within_its_bounds_is_taken(line: str, name: str, value: object) -> None:
    assert getattr(said(line), name) == value


@pytest.mark.parametrize("steps", [1, 1_000_000])
def test_steps_within_their_bounds_are_taken(steps: int) -> None:
    assert said(f"max_autonomous_steps = {steps}").rules.max_autonomous_steps == steps


TABLES = [
    pytest.param("autonomy = 5", "autonomy: this must be a table, not the number 5", id="a number"),
    pytest.param('autonomy = "on"', "autonomy: this must be a table, not the text 'on'", id="a text"),
    pytest.param("autonomy = []", "autonomy: this must be a table, not a list", id="a list"),
    pytest.param("[[autonomy]]\nmode = 1", "autonomy: this must be a table, not a list", id="two brackets"),
    pytest.param("[autonomy]", f"autonomy: {EMPTY}", id="empty"),
]


@pytest.mark.parametrize(("toml", "mistake"), TABLES)
def test_the_table_as_a_whole(toml: str, mistake: str) -> None:
    assert mistakes_in(toml) == [mistake]


MODES = "enforcing, monitoring, logging or disabled"
LINES = [
    pytest.param(
        'modus = "enforcing"',
        f"key 'modus': there is no such key; known are {KEYS}. Did you mean 'mode'?",
        id="unknown key",
    ),
    pytest.param(
        "maxAutonomousSteps = 5",
        f"key 'maxAutonomousSteps': there is no such key; known are {KEYS}. Did you mean 'max_autonomous_steps'?",
        id="a key as the protocol spells it",
    ),
    pytest.param('mode = "on"', f"key 'mode': 'on' is not known; it may be {MODES}", id="mode"),
    pytest.param(
        'mode = "Enforcing"',
        f"key 'mode': 'Enforcing' is not known; it may be {MODES}. Did you mean 'enforcing'?",
        id="mode in capitals",
    ),
    pytest.param("mode = true", "key 'mode': this must be a text, not true", id="mode of a flag"),
    pytest.param('mode = ""', "key 'mode': this must be a text with something in it", id="no mode"),
    pytest.param('start = "anybody"', "key 'start': 'anybody' is not known; it may be person or free", id="start"),
    pytest.param(
        'unreported = "deny"',
        "key 'unreported': 'deny' is not known; it may be allow, refuse or require",
        id="unreported",
    ),
    pytest.param(
        'risk_tolerance = "high"',
        "key 'risk_tolerance': 'high' is not known; it may be conservative, moderate or aggressive",
        id="tolerance",
    ),
    pytest.param(
        "risk_tolerance = 50",
        "key 'risk_tolerance': this must be a text, not the number 50",
        id="tolerance of a number",
    ),
    pytest.param(
        "max_autonomous_steps = 0",
        "key 'max_autonomous_steps': this must be 1 or more, not the number 0",
        id="no step at all",
    ),
    pytest.param(
        "max_autonomous_steps = -1",
        "key 'max_autonomous_steps': this must be 1 or more, not the number -1",
        id="negative steps",
    ),
    pytest.param(
        "max_autonomous_steps = 1000001",
        "key 'max_autonomous_steps': this must be 1000000 or less, not the number 1000001",
        id="steps without end",
    ),
    pytest.param(
        "max_autonomous_steps = 5.0",
        "key 'max_autonomous_steps': this must be a whole number, not the number 5.0",
        id="half steps",
    ),
    pytest.param(
        "max_autonomous_steps = true", "key 'max_autonomous_steps': this must be a whole number, not true", id="flag"
    ),
    pytest.param(
        "challenge_seconds = 0", "key 'challenge_seconds': this must be more than 0, not the number 0", id="no time"
    ),
    pytest.param(
        "challenge_seconds = -5",
        "key 'challenge_seconds': this must be more than 0, not the number -5",
        id="time that runs back",
    ),
    pytest.param(
        "challenge_seconds = 3601",
        "key 'challenge_seconds': this must be 3600 or less, not the number 3601",
        id="a long challenge",
    ),
    pytest.param(
        "challenge_seconds = inf", "key 'challenge_seconds': this must be a finite number, not inf", id="for ever"
    ),
    pytest.param(
        "challenge_seconds = nan", "key 'challenge_seconds': this must be a finite number, not nan", id="no number"
    ),
    pytest.param(
        'approval_seconds = "15m"', "key 'approval_seconds': this must be a number, not the text '15m'", id="text"
    ),
    pytest.param(
        "approval_seconds = 86401",
        "key 'approval_seconds': this must be 86400 or less, not the number 86401",
        id="a long approval",
    ),
    pytest.param(
        "failures_per_minute = 11",
        "key 'failures_per_minute': this must be 10 or less, not the number 11",
        id="more failures than the specification allows",
    ),
    pytest.param(
        "failures_per_minute = 0", "key 'failures_per_minute': this must be 1 or more, not the number 0", id="none"
    ),
    pytest.param("deny = 5", "key 'deny': this must be a text or a list of texts, not the number 5", id="a pattern"),
    pytest.param('deny = ["a*", 5]', "key 'deny': item 2: this must be a text, not the number 5", id="one of two"),
    pytest.param('deny = "  "', "key 'deny': this must be a text with something in it", id="spaces"),
    pytest.param(
        'auto_approve = ["\\u200b"]',
        "key 'auto_approve': item 1: '\N{REPLACEMENT CHARACTER}' is no pattern: nothing in it can be seen",
        id="a pattern that nobody sees",
    ),
    pytest.param(
        f'requires_approval = ["{"x" * 201}"]',
        f"key 'requires_approval': item 1: '{'x' * 60}…' is too long: a pattern has 200 characters at most",
        id="a long pattern",
    ),
    pytest.param("agents = 5", "key 'agents': this must be a table, not the number 5", id="agents of a number"),
    pytest.param("agents = {}", f"key 'agents': {EMPTY}", id="no agents"),
    pytest.param(
        "agents = { bot = 5 }",
        "key 'agents', agent 'bot': this must be a table, not the number 5",
        id="one of a number",
    ),
    pytest.param("agents = { bot = {} }", f"key 'agents', agent 'bot': {EMPTY}", id="an agent without rules"),
    pytest.param(
        'agents = { bot = { mode = "logging" } }',
        f"key 'agents', agent 'bot', key 'mode': there is no such key; known are {RULE_KEYS}",
        id="a mode for one agent",
    ),
    pytest.param(
        'agents = { bot = { risk_tolerance = "brave" } }',
        "key 'agents', agent 'bot', key 'risk_tolerance': 'brave' is not known; it may be conservative, moderate or "
        "aggressive",
        id="a tolerance of one agent",
    ),
    pytest.param(
        'agents = { "\\u200b" = { deny = [] } }',
        "key 'agents', agent '\N{REPLACEMENT CHARACTER}': this is no name: it must have 1 to 200 characters, some of "
        "them visible",
        id="an agent that nobody sees",
    ),
    pytest.param(
        f"agents = {{ {'x' * 201} = {{ deny = [] }} }}",
        f"key 'agents', agent '{'x' * 60}…': this is no name: it must have 1 to 200 characters, some of them visible",
        id="a long name",
    ),
    pytest.param(
        'agents = { bot = { deny = [] }, "B\u041eT" = { deny = [] } }',
        "key 'agents', agent 'B\u041eT': this reads the same as 'bot', so both are one agent: leave one of them out",
        id="two names that read the same",
    ),
]


@pytest.mark.parametrize(("line", "mistake"), LINES)
def test_each_key(line: str, mistake: str) -> None:
    assert mistakes_in(f"[autonomy]\n{line}") == [f"autonomy, {mistake}"]


def test_all_mistakes_are_named_at_once_each_in_its_place() -> None:
    toml = """
    default = "maybe"
    [autonomy]
    mode = "off"
    deny = [1, "  "]
    failures_per_minute = 99
    [autonomy.agents.bot]
    max_autonomus_steps = 3
    """
    agent, meant = "key 'agents', agent 'bot'", "Did you mean 'max_autonomous_steps'?"
    assert sorted(mistakes_in(toml)) == [
        f"autonomy, {agent}, key 'max_autonomus_steps': there is no such key; known are {RULE_KEYS}. {meant}",
        "autonomy, key 'deny': item 1: this must be a text, not the number 1",
        "autonomy, key 'deny': item 2: this must be a text with something in it",
        "autonomy, key 'failures_per_minute': this must be 10 or less, not the number 99",
        f"autonomy, key 'mode': 'off' is not known; it may be {MODES}",
        "key 'default': 'maybe' is not known; it may be allow, confirm or deny",
    ]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def test_the_command_that_checks_a_policy_names_the_file_and_the_place(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "guard.toml"
    file.write_text('[autonomy]\nmode = "off"\nmax_autonomous_steps = -3\n')
    done = shell("policy", "check", "-p", str(file))
    assert (done.code, done.out) == (2, "")
    assert f"{file}: autonomy, key 'mode': 'off' is not known; it may be {MODES}" in done.err
    assert f"{file}: autonomy, key 'max_autonomous_steps': this must be 1 or more, not the number -3" in done.err
    assert "Traceback" not in done.err


def test_the_command_takes_a_policy_that_is_right(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "guard.toml"
    file.write_text(EVERYTHING)
    assert shell("policy", "check", "-p", str(file)).code == 0
