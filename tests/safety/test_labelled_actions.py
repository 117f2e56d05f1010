"""What the evaluator makes of 600 intended actions, each with a label that a person has put on it."""

from collections import Counter
from pathlib import Path

import pytest

from headgate.protocol.autonomy import Tier
from headgate.safety.autonomy.texts import skeleton
from tests.safety.labelled_actions import FORMS, LABELS, SETS, actions, main, matrix, table, takes

DOCS = Path(__file__).parents[2] / "docs" / "autonomy.md"


@pytest.mark.parametrize(
    ("name", "labels", "forms"),
    [("labelled", (160, 120, 120), (220, 100, 80)), ("held_out", (80, 60, 60), (110, 50, 40))],
    ids=SETS,
)
def test_the_sets_are_as_large_as_they_say(name: str, labels: tuple[int, ...], forms: tuple[int, ...]) -> None:
    found = actions(name)
    assert Counter(action.label for action in found) == dict(zip(LABELS, labels, strict=True))
    assert Counter(action.form for action in found) == dict(zip(FORMS, forms, strict=True))


@pytest.mark.parametrize("name", SETS)
def test_each_label_is_there_in_each_form_and_in_many_languages(name: str) -> None:
    found = actions(name)
    assert {(action.label, action.form) for action in found} == {(label, form) for label in LABELS for form in FORMS}
    assert all((action.form == "foreign") == (action.language != "en") for action in found)
    for label in LABELS:
        assert len({action.language for action in found if action.label == label}) > 10


@pytest.mark.parametrize("name", SETS)
def test_no_action_stands_in_a_set_twice(name: str) -> None:
    often = Counter(action.hint for action in actions(name))
    assert [hint for hint, count in often.items() if count > 1] == []


def test_few_of_the_held_out_actions_were_thought_of_twice() -> None:
    both = {skeleton(action.hint) for action in actions("held_out")} & {
        skeleton(action.hint) for action in actions("labelled")
    }
    assert len(both) == 9
    assert "9 of the 200" in DOCS.read_text("utf-8")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("label", ["risky", "destructive"])
def test_nothing_risky_or_destructive_passes_as_advisory(name: str, label: str) -> None:
    found = [action.hint for action in actions(name) if action.label == label]
    assert [hint for hint in found if takes(hint) is Tier.ADVISORY] == []


@pytest.mark.parametrize("name", SETS)
def test_most_of_what_is_harmless_needs_nobody(name: str) -> None:
    harmless = sum(action.label == "harmless" for action in actions(name))
    assert matrix(name)["harmless", Tier.ADVISORY] >= 0.85 * harmless


@pytest.mark.parametrize("name", SETS)
def test_the_documentation_shows_what_is_measured(name: str) -> None:
    assert table(name) in DOCS.read_text("utf-8"), f"python -m tests.safety.labelled_actions prints:\n{table(name)}"


def test_the_matrices_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    shown = capsys.readouterr().out
    assert all(table(name) in shown for name in SETS)
