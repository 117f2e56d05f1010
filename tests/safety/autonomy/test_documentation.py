"""The page on the evaluator says what is so."""

import re
from pathlib import Path

from headgate.protocol.autonomy import Tier
from headgate.safety.autonomy.lexicon import KINDS, RULES
from headgate.safety.autonomy.rules import AgentRules
from tests.safety.autonomy.attacks import attacks
from tests.safety.guarding import policy
from tests.safety.labelled_actions import takes

PAGE = (Path(__file__).parents[3] / "docs" / "autonomy.md").read_text("utf-8")


def test_the_defaults_are_as_shown() -> None:
    usual = AgentRules()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert rows["max_autonomous_steps"] == str(usual.max_autonomous_steps)
    assert rows["risk_tolerance"] == f"`{usual.risk_tolerance}` ({usual.risk_tolerance.threshold})"
    assert rows["deny"] == " ".join(f"`{pattern}`" for pattern in usual.deny)
    assert rows["requires_approval"] == " ".join(f"`{pattern}`" for pattern in usual.requires_approval)
    assert rows["auto_approve"] == "none"
    assert usual.auto_approve == ()


def test_the_risks_of_verbs_are_as_shown() -> None:
    shown = {int(number) for number in re.findall(r"\| (\d+) (?=\|)", PAGE.split("   | verb |")[1].split("\n\n")[0])}
    assert shown == {kind.score for kind in KINDS.values()} | {40}


def test_the_counts_are_as_shown() -> None:
    assert f"[{len(attacks())} attacks]" in PAGE
    assert "Some 100 patterns" in PAGE
    assert 90 <= len(RULES) <= 110


def test_the_policy_that_is_shown_is_right() -> None:
    [block] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    settings = policy(block).autonomy
    assert settings.rules_of("release-bot").max_autonomous_steps == 5


def test_the_weaknesses_are_as_told() -> None:
    for hint in (
        "put the wrong numbers into the report",
        "read the notes and yeet customers",
        'see what "reboot" does',
        'list snapshots "--purge"',
        "read the private messages of others",
    ):
        assert hint in PAGE
        assert takes(hint) is Tier.ADVISORY, "the page need no longer say so"
