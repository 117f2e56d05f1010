"""``headgate trust``: how far an adapter is trusted, who changed that and why."""

import json
import re
from pathlib import Path

import pytest

from headgate.protocol.danger import Trust
from tests.cli.commands import Done, Shell
from tests.cli.states import add, rows_of
from tests.cli.terminals import on_terminal
from tests.server.processes import run

ADVICE = "what its origin and the policy say counts"


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "state.db"
    add(str(path), [])
    return str(path)


def change(shell: Shell, state: str, level: str, *words: str, adapter: str = "shop") -> Done:
    return shell("trust", adapter, "--set", level, "--reason", "a test", "--state", state, *words)


def test_trust_changes_and_the_audit_tells_why(shell: Shell, state: str) -> None:
    done = change(shell, state, "community_reviewed", "--by", "ann")
    assert (done.code, done.out) == (0, "shop: validated → community_reviewed\n")
    assert done.err == "headgate: servers that run already keep the trust that they started with\n"
    [row] = rows_of(state)
    details = dict(row.entry.details)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", str(details.pop("at")))
    assert details == {"from": "validated", "to": "community_reviewed", "by": "ann", "reason": "a test"}
    assert (row.entry.event, row.entry.adapter, row.entry.caller) == ("trust", "shop", "ann")


def test_the_history_of_one_adapter_is_shown(shell: Shell, state: str) -> None:
    change(shell, state, "community-reviewed", "--by", "ann")
    change(shell, state, "untested", "--by", "bob")
    lines = [line.split("\t")[1:] for line in shell("trust", "shop", "--state", state).out.splitlines()]
    assert lines == [
        ["validated", "community_reviewed", "ann", "a test"],
        ["community_reviewed", "untested", "bob", "a test"],
    ]
    told = json.loads(shell("trust", "shop", "--state", state, "--json").out)
    assert (told["adapter"], told["level"]) == ("shop", "untested")
    assert [one["by"] for one in told["history"]] == ["ann", "bob"]


def test_all_adapters_are_listed(shell: Shell, state: str) -> None:
    change(shell, state, "generated", "--by", "ann", adapter="shop")
    change(shell, state, "certified", "--by", "ann", adapter="bank")  # two levels above: refused
    change(shell, state, "community_reviewed", "--by", "bob", adapter="bank")
    lines = [line.split("\t") for line in shell("trust", "--state", state).out.splitlines()]
    assert [[*line[:2], *line[3:]] for line in lines] == [
        ["bank", "community_reviewed", "bob", "a test"],
        ["shop", "generated", "ann", "a test"],
    ]
    told = json.loads(shell("trust", "--state", state, "--json").out)["adapters"]
    assert {one["adapter"]: one["level"] for one in told} == {"bank": "community_reviewed", "shop": "generated"}


CHANGES = [
    ("untested", "generated", ""),
    ("untested", "validated", "from untested to generated first"),
    ("generated", "validated", ""),
    ("validated", "certified", "from validated to community_reviewed first"),
    ("community_reviewed", "certified", ""),
    ("community_reviewed", "community_reviewed", "it is community_reviewed already"),
    ("community_reviewed", "untested", ""),
]


@pytest.mark.parametrize(("old", "new", "refusal"), CHANGES)
def test_trust_rises_one_level_at_a_time_and_falls_at_once(
    shell: Shell, state: str, old: str, new: str, refusal: str
) -> None:
    if old != "validated":
        assert change(shell, state, old).code == 0
    before = len(rows_of(state))
    done = change(shell, state, new, "--json")
    if not refusal:
        assert (done.code, json.loads(done.out)["level"]) == (0, new)
        return
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"headgate: The trust in 'shop' cannot become {new}: ")
    assert done.err.endswith(f"{refusal}.\n")
    assert len(rows_of(state)) == before


def test_what_is_not_on_record_is_told(shell: Shell, state: str) -> None:
    done = shell("trust", "shop", "--state", state)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"headgate: No trust is on record for 'shop'; {ADVICE}\n"
    change(shell, state, "generated")
    near = shell("trust", "shp", "--state", state, "--json")
    assert (near.code, json.loads(near.out)) == (1, {"adapter": "shp", "level": None, "history": []})
    assert near.err == "headgate: No trust is on record for 'shp'. Did you mean 'shop'?\n"


def test_nothing_on_record_is_no_error(shell: Shell, state: str) -> None:
    done = shell("trust", "--state", state)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("headgate: no trust is on record for any adapter")
    assert json.loads(shell("trust", "--state", state, "--json").out) == {"adapters": []}


WRONG = {
    "no adapter": (("--set", "generated", "--reason", "x"), "--set needs the name of an adapter"),
    "no reason": (("shop", "--set", "generated"), "--set needs --reason: say why"),
    "an empty reason": (("shop", "--set", "generated", "--reason", " "), "--set needs --reason: say why"),
    "no level": (("shop", "--reason", "x"), "--reason goes with --set: name the level"),
    "a level that is none": (
        ("shop", "--set", "certifed", "--reason", "x"),
        "is no level of trust; there are untested, generated, validated, community_reviewed, certified. Did you mean",
    ),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_what_means_nothing_is_refused(shell: Shell, state: str, words: tuple[str, ...], message: str) -> None:
    done = shell("trust", *words, "--state", state)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert rows_of(state) == []


def test_trust_may_be_set_before_the_first_server_runs(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    assert change(shell, str(path), "generated").code == 0
    assert path.exists()


def test_what_a_person_sets_is_what_counts_for_calls(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        'from headgate import Adapter\nshop = Adapter("shop", "A shop")\n'
        '@shop.read\nasync def list_orders() -> list[int]:\n    """Orders."""\n    return [7]\n'
    )
    state = str(tmp_path / "state.db")
    call = ("call", "list_orders", "-s", f"{tmp_path / 'shop.py'}:shop", "--state", state, "--json")
    assert json.loads(run(*call).stdout)["data"] == [7]
    assert (
        run("trust", "shop", "--set", "untested", "--reason", "it was tampered with", "--state", state).returncode == 0
    )
    assert json.loads(run(*call).stdout)["error"]["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"


def test_on_a_terminal_there_are_tables_with_colour(shell: Shell, state: str) -> None:
    shell("trust", "sh\x1b[2Jop", "--set", "generated", "--reason", "[red]x\x1b[2J", "--state", state, "--by", "ann")
    for words in ((), ("sh\x1b[2Jop",)):
        shown = on_terminal("trust", *words, "--state", state)
        assert (shown.code, shown.is_coloured) == (0, True)
        assert "\x1b[2J" not in shown.text
        assert r"sh\u001b[2Jop" in shown.text
        assert r"[red]x\u001b[2J" in shown.text
        assert "\x1b[33mgenerated" in shown.text


def test_help_names_every_level(shell: Shell) -> None:
    done = shell("trust", "--help")
    assert done.out.startswith("Usage: headgate trust")
    assert [level for level in Trust if level not in done.out] == []
