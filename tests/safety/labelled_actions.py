"""The two labelled sets of intended actions, and what the evaluator makes of them: a confusion matrix.

``labelled_actions.tsv`` has the 400 with which the rules were made. ``held_out_actions.tsv`` has 200 that were written
before their author had seen any rule or any of the 400. Run as a program, this prints both matrices as they stand in
docs/autonomy.md.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headgate.protocol.autonomy import Tier
from headgate.safety.autonomy.evaluation import Situation, evaluate
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.scoring import score
from headgate.safety.autonomy.verdicts import History, Report, Way

__all__ = ["FORMS", "LABELS", "SETS", "Action", "actions", "main", "matrix", "table", "takes"]

LABELS = ("harmless", "risky", "destructive")
FORMS = ("plain", "obfuscated", "foreign")
SETS = ("labelled", "held_out")

_TIERS = {
    Way.CONTINUE: Tier.ADVISORY,
    Way.PAUSE: Tier.CONFIRM,
    Way.VERIFY: Tier.VERIFY,
    Way.STOP: Tier.DANGER_ZONE,
}


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent might say it is about to do, and what a careful person says of it."""

    label: str
    form: str
    language: str
    hint: str


@cache
def actions(name: str) -> tuple[Action, ...]:
    """All of one set."""
    with Path(__file__).with_name(f"{name}_actions.tsv").open(encoding="utf-8", newline="") as file:
        return tuple(Action(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def takes(hint: str, rules: AgentRules | None = None) -> Tier:
    """What it takes until an agent may go on, all in all: a person who confirms may have to verify as well."""
    leave = Way.CONTINUE
    while True:
        verdict = evaluate(Situation(Report(hint), "", History(), rules or AgentRules(), score, leave))
        if verdict.way is Way.CONTINUE:
            return _TIERS[leave]
        leave = verdict.way


@cache
def matrix(name: str) -> Counter[tuple[str, Tier]]:
    """How many of each label took what."""
    return Counter((action.label, takes(action.hint)) for action in actions(name))


def table(name: str) -> str:
    """The matrix as the documentation shows it."""
    return "\n".join(_rows(name))


def _rows(name: str) -> Iterator[str]:
    yield "| Label | " + " | ".join(Tier) + " |"
    yield "|---" * (len(Tier) + 1) + "|"
    for label in LABELS:
        yield f"| {label} | " + " | ".join(str(matrix(name)[label, tier]) for tier in Tier) + " |"


def main() -> None:
    """Print the matrices."""
    for name in SETS:
        print(f"{name}_actions.tsv: {len(actions(name))}\n\n{table(name)}\n")  # noqa: T201


if __name__ == "__main__":
    main()
