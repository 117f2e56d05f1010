"""What guards a source on the command line: a policy, a trust, a state; and nothing starts if one of them is wrong."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.cli.dialogues import dialogue
from tests.server.processes import LIBRARY, serve_http

STORE = '''
from headgate import Adapter

shop = Adapter("shop")
gone = []

@shop.read
async def list_users() -> list[str]:
    """All users."""
    return ["ada", "bob"]

@shop.delete
async def delete_user(user: str, amount: int = 1) -> list[str]:
    """Remove a user."""
    gone.append(user)
    return gone

@shop.delete
async def drop_users() -> None:
    """Remove everybody."""
'''

CONFIRMED = "CONFIRMATION_REQUIRED"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(STORE)
    return tmp_path


def source(folder: Path) -> str:
    return f"{folder / 'shop.py'}:shop"


MISTAKES: dict[str, tuple[str, list[str]]] = {
    "a typo in a key": (
        '[[rule]]\nname = "x"\ndecision = "deny"\noperatons = "list_users"\n',
        ["operatons", "operations"],
    ),
    "a typo in a decision": ('[[rule]]\nname = "x"\ndecision = "denny"\n', ["denny", "deny"]),
    "a bad pattern": (
        '[[rule]]\nname = "x"\ndecision = "deny"\noperations = "delete_user"\nwhen = { user = { matches = "(" } }\n',
        ["'x'", "matches"],
    ),
    "a wrong type": ('[[rule]]\nname = "x"\ndecision = "deny"\noperations = 5\n', ["operations", "5"]),
    "a truth for a number": ('[[api_limit]]\nscope = "global"\nlimit = true\nwindow = "minute"\n', ["limit"]),
    "an unknown operation": (
        '[[rule]]\nname = "x"\ndecision = "deny"\noperations = "delete_usr"\n',
        ["delete_usr", "Did you mean 'delete_user'"],
    ),
    "a pattern that matches nothing": (
        '[[rule]]\nname = "keep"\ndecision = "deny"\noperations = "remove_*"\n',
        ["remove_*", "keep"],
    ),
    "an unknown parameter": (
        '[[rule]]\nname = "x"\ndecision = "deny"\noperations = "delete_user"\nwhen = { amuont = 5 }\n',
        ["amuont", "amount"],
    ),
    "an empty file": ("", ["policy.toml"]),
    "no TOML": ("[[rule\n", ["policy.toml", "line 1"]),
    "an unknown trust": ('trust = "validatd"\n', ["validatd", "validated"]),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("command", ["serve", "call"])
def test_a_mistake_in_a_policy_keeps_everything_from_starting(
    shell: Shell, shop: Path, command: str, text: str, said: list[str]
) -> None:
    policy = shop / "policy.toml"
    policy.write_text(text)
    words = ["serve", source(shop)] if command == "serve" else ["call", "list_users", "-s", source(shop)]
    done = shell(*words, "--policy", str(policy), "--state", "memory:")
    assert done.code == 2
    assert done.out == ""
    assert "policy.toml" in done.err
    for word in said:
        assert word in done.err


@pytest.mark.parametrize("kind", ["missing", "a folder", "not UTF-8"])
def test_a_policy_that_cannot_be_read_keeps_everything_from_starting(shell: Shell, shop: Path, kind: str) -> None:
    policy = shop / "policy.toml"
    if kind == "a folder":
        policy.mkdir()
    elif kind == "not UTF-8":
        policy.write_bytes(b"trust = '\xff\xfe'\n")
    done = shell("serve", source(shop), "--policy", str(policy), "--state", "memory:")
    assert done.code == 2
    assert "policy.toml" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--trust", "validatd"], "Did you mean 'validated'"),
        (["--state", "postgre://x/y"], "postgres"),
        (["--state", "memory:x"], "memory:"),
        (["--state", "."], "."),
    ],
    ids=["trust", "a misspelt scheme", "a name for memory", "a folder"],
)
def test_a_wrong_trust_or_state_keeps_everything_from_starting(
    shell: Shell, shop: Path, options: list[str], said: str
) -> None:
    done = shell("serve", source(shop), *options)
    assert done.code == 2
    assert said in done.err


def test_a_state_that_is_no_database_is_left_alone(shell: Shell, shop: Path) -> None:
    file = shop / "notes.db"
    file.write_text("these are my notes, and no database " * 50)
    before = file.read_bytes()
    done = shell("call", "list_users", "-s", source(shop), "--state", str(file))
    assert done.code == 2
    assert "notes.db" in done.err
    assert file.read_bytes() == before


def test_what_must_be_confirmed_waits_where_nobody_can_be_asked(shell: Shell, shop: Path) -> None:
    done = shell("call", "delete_user", "user=ada", "-s", source(shop), "--state", "memory:")
    assert (done.code, done.out) == (1, "")
    assert CONFIRMED in done.err
    assert 'delete_user(user="ada")?' in done.err
    assert "--yes" in done.err


def test_yes_confirms(shell: Shell, shop: Path) -> None:
    done = shell("call", "delete_user", "user=ada", "-s", source(shop), "--state", "memory:", "--yes")
    assert (done.code, json.loads(done.out)) == (0, ["ada"])


def test_what_is_denied_is_denied_with_yes_too(shell: Shell, shop: Path) -> None:
    done = shell("call", "drop_users", "-s", source(shop), "--state", "memory:", "--yes")
    assert done.code == 1
    assert "PERMISSION_DANGER_LEVEL_DENIED" in done.err


def test_trust_decides_whether_it_asks(shell: Shell, shop: Path) -> None:
    state = ["--state", "memory:"]
    trusted = shell("call", "delete_user", "user=ada", "-s", source(shop), "--trust", "community_reviewed", *state)
    assert trusted.code == 0
    untested = shell("call", "list_users", "-s", source(shop), "--trust", "untested", *state)
    assert untested.code == 1
    assert "PERMISSION_TRUST_LEVEL_INSUFFICIENT" in untested.err


def test_trust_on_record_counts_until_an_option_says_otherwise(shell: Shell, shop: Path) -> None:
    state = ["--state", str(shop / "state.db")]
    raised = shell("trust", "shop", "--set", "community_reviewed", "--reason", "reviewed", *state)
    assert raised.code == 0, raised.err
    delete = ["call", "delete_user", "user=ada", "-s", source(shop), *state]
    assert shell(*delete).code == 0
    assert CONFIRMED in shell(*delete, "--trust", "validated").err
    rows = [
        json.loads(line) for line in shell("audit", "--format", "jsonl", "--event", "trust", *state).out.splitlines()
    ]
    assert [row["details"]["to"] for row in rows] == ["community_reviewed", "validated"]


def test_a_configuration_names_source_state_and_policy(shell: Shell, shop: Path) -> None:
    (shop / "headgate.toml").write_text(
        f'source = "{source(shop)}"\nstate = "state.db"\n\n'
        '[[policy.rule]]\nname = "nobody lists"\ndecision = "deny"\noperations = "list_users"\nreason = "No."\n'
    )
    done = shell("call", "list_users", "-s", "headgate.toml", cwd=shop)
    assert done.code == 1
    assert "PERMISSION_DENIED" in done.err
    with sqlite3.connect(shop / "state.db") as state:
        assert state.execute("SELECT count(*) FROM audit").fetchone() == (1,)
    state.close()


def test_paths_of_a_configuration_start_from_its_folder(
    shell: Shell, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (shop / "headgate.toml").write_text('source = "shop.py:shop"\nstate = "state.db"\n')
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = shell("call", "list_users", "-s", str(shop / "headgate.toml"), cwd=elsewhere)
    assert (done.code, json.loads(done.out)) == (0, ["ada", "bob"])
    assert (shop / "state.db").exists()
    assert list(elsewhere.iterdir()) == []


def test_a_configuration_may_name_a_policy_file_beside_it(shell: Shell, shop: Path) -> None:
    (shop / "rules.toml").write_text('[[rule]]\nname = "nobody lists"\ndecision = "deny"\noperations = "list_users"\n')
    (shop / "headgate.toml").write_text(f'source = "{source(shop)}"\nstate = "memory:"\npolicy = "rules.toml"\n')
    done = shell("call", "list_users", "-s", str(shop / "headgate.toml"))
    assert "nobody lists" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('sorce = "x.db"\n', "Did you mean 'source'"),
        ('state = "memory:"\n', "names no source"),
        ("source = 5\n", "'source'"),
        ("source = \n", "no TOML"),
        ('source = "{source}"\n[policy]\nrules = []\n', "rules"),
        ('source = "{source}"\n[policy]\n', "rules nothing"),
        ('source = "{source}"\npolicy = false\n', "not 'False'"),
        ('source = "{source}"\npolicy = []\n', "not '[]'"),
        ('source = "{source}"\npolicy = 0\n', "not '0'"),
        ('source = "{source}"\npolicy = ""\n', "not ''"),
        ('source = "{source}"\npolicy = "none.toml"\n', "no such file"),
    ],
    ids=[
        *("a typo", "no source", "a wrong type", "no TOML", "a mistake in its policy", "an empty policy"),
        *("a policy that is false", "an empty list", "a number", "an empty name", "a missing policy"),
    ],
)
def test_a_mistake_in_a_configuration_is_said(shell: Shell, shop: Path, text: str, said: str) -> None:
    (shop / "headgate.toml").write_text(text.replace("{source}", source(shop)))
    done = shell("serve", str(shop / "headgate.toml"))
    assert done.code == 2
    assert said in done.err
    assert ".toml" in done.err or "policy" in done.err
    assert shell("call", "list_users", "-s", str(shop / "headgate.toml")).code == 2


def test_a_policy_that_takes_the_place_of_another_says_so(shell: Shell, shop: Path) -> None:
    (shop / "other.toml").write_text('[[rule]]\nname = "x"\ndecision = "deny"\noperations = "delete_user"\n')
    (shop / "headgate.toml").write_text(f'source = "{source(shop)}"\nstate = "memory:"\n[policy]\ndefault = "deny"\n')
    done = shell("ops", "-s", str(shop / "headgate.toml"), "--policy", str(shop / "other.toml"))
    assert done.code == 0
    assert "takes its place" in done.err


def test_an_empty_variable_is_no_policy(shell: Shell, shop: Path) -> None:
    done = shell("call", "list_users", "-s", source(shop), "--state", "memory:", env={"HEADGATE_POLICY": ""})
    assert done.code == 0, done.err


@pytest.mark.parametrize("key", ["x", "               "], ids=["short", "blank"])
def test_a_key_of_the_audit_that_protects_nothing_is_refused(shell: Shell, shop: Path, key: str) -> None:
    done = shell("call", "list_users", "-s", source(shop), "--state", "memory:", env={"HEADGATE_AUDIT_KEY": key})
    assert done.code == 2
    assert "HEADGATE_AUDIT_KEY" in done.err


def test_each_mistake_has_a_line_of_its_own(shell: Shell, shop: Path) -> None:
    (shop / "policy.toml").write_text('trust = "x"\ndefault = "y"\n')
    done = shell("serve", source(shop), "--policy", str(shop / "policy.toml"), "--state", "memory:")
    assert [line.count("policy.toml") for line in done.err.splitlines()] == [1, 1]


def test_what_guards_a_server_cannot_be_chosen_by_who_calls_it(shell: Shell) -> None:
    options = (("--trust", "certified"), ("--state", "x.db"), ("--policy", "x.toml"), ("--safety-loop", "logging"))
    with serve_http(LIBRARY) as serving:
        for words in options:
            done = shell("call", "list_users", "-s", serving.url, *words)
            assert done.code == 2
            assert "a server has its own" in done.err


def test_what_the_environment_says_of_guards_is_not_said_to_servers(shell: Shell) -> None:
    variables = {"HEADGATE_STATE": "x.db", "HEADGATE_TRUST": "certified", "HEADGATE_POLICY": "x.toml"}
    done = shell("ops", "-s", "http://127.0.0.1:1/mcp", env=variables | {"MCPAQL_SAFETY_LOOP": "logging"})
    assert done.code == 3
    assert "a server has its own" not in done.err


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("YES\n", 0), ("\n", 1), ("n\n", 1), ("maybe\n", 1)], ids=repr)
def test_a_person_at_a_terminal_is_asked(shop: Path, typed: str, code: int) -> None:
    with dialogue("call", "delete_user", "user=ada", "-s", source(shop), "--state", "memory:") as person:
        person.wait_for('Run delete_user(user="ada")? [y/N]')
        assert "destructive" in person.text
        person.type(typed)
        assert person.ended() == code
    after = person.text.partition("[y/N]")[2]
    assert ('"ada"' in after) is (code == 0)
    assert ("nothing was done" in after) is (code == 1)


def test_ctrl_c_at_the_question_confirms_nothing(shop: Path) -> None:
    with dialogue("call", "delete_user", "user=ada", "-s", source(shop), "--state", "memory:") as person:
        person.wait_for("[y/N]")
        person.interrupt()
        assert person.ended() == 1
    assert person.text.endswith("nothing was done.\n")
    assert "Traceback" not in person.text
