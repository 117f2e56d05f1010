"""``headgate policy``: what a policy decides, and whether it fits, before anything is served under it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.cli.commands import Done, Shell
from tests.cli.terminals import on_terminal

SHOP = '''
from typing import Literal
from headgate import Adapter

shop = Adapter("shop", "A shop")
print("this is not the answer")

@shop.read
async def get_order(number: int) -> None:
    """One order."""
    raise RuntimeError("nothing is called")

@shop.delete
async def delete_order(number: int, status: Literal["open", "closed"] = "open") -> None:
    """Delete an order."""

@shop.create
async def create_refund(number: int, amount: float, note: str = "") -> None:
    """Give money back."""

@shop.execute
async def purge_orders(before: str) -> None:
    """Remove old orders."""
'''
POLICY = """
[[rule]]
name = "large refunds"
decision = "confirm"
operations = "create_refund"
when = { amount = { gt = 100 } }
confirm = "person"
remember = "session"
reason = "The owner [b]decides[/b]."

[[rule]]
name = "closed orders stay"
decision = "deny"
operations = "delete_order"
when = { status = "closed" }
callers = "!scope:admin"

[[rule]]
name = "few rows"
decision = "deny"
operations = "delete_order"
affected_rows = { gt = 10 }
"""
ROWS = (
    "rule 3 ('few rows'), key 'affected_rows': these cannot be tried without effect, so the rule always applies to "
    "them, however few the rows: delete_order"
)
ODD = f"headgate: warning: {ROWS}\n"
MISSING = "VALIDATION_MISSING_PARAM: Missing required parameter 'number'. Expected: integer"
NOT_FOUND = "NOT_FOUND_OPERATION: Unknown operation: 'get_oder'. Did you mean 'get_order'?"
UNKNOWN_EXPECTATION = "'alow' is not known; it may be allow, confirm or deny. Did you mean 'allow'?"

Run: TypeAlias = Callable[..., Done]


@pytest.fixture
def run(shell: Shell, tmp_path: Path) -> Run:
    """Runs ``headgate policy`` in a folder with a shop and a policy."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "policy.toml").write_text(POLICY)

    def command(name: str, *words: str, given: str = "") -> Done:
        options = [] if "-s" in words else ["-s", "shop.py:shop"]
        options += [] if "-p" in words or any(".toml" in word for word in words) else ["-p", "policy.toml"]
        return shell("policy", name, *words, *options, cwd=tmp_path, given=given)

    return command


def test_a_call_is_decided_and_all_that_was_considered_is_shown(run: Run) -> None:
    done = run("test", "create_refund", "number=1", "amount=100.5")
    assert done.code == 0
    assert done.err == f"this is not the answer\n{ODD}"
    assert done.out.splitlines() == [
        "operation\tcreate_refund",
        "decision\tconfirm by a person, once a session",
        "rule\tlarge refunds",
        "reason\tThe owner [b]decides[/b].",
        "danger\treversible (category)",
        "trust\tvalidated",
        (
            "considered\tallow\treversible operations of a validated adapter\t"
            "Operations of the category CREATE are reversible"
        ),
        "considered\tconfirm\tlarge refunds\tThe owner [b]decides[/b].",
    ]


@pytest.mark.parametrize(
    ("words", "decision", "rule"),
    [
        (("create_refund", "number=1", "amount=100"), "allow", "reversible operations of a validated adapter"),
        (("create_refund", "--params", '{"number": 1, "amount": 101}'), "confirm", "large refunds"),
        (
            ("create_refund", "number=1", "amount=101", "--trust", "generated"),
            "deny",
            "reversible operations of a generated adapter",
        ),
        (("delete_order", "number=1", "status=closed", "--affected-rows", "1"), "deny", "closed orders stay"),
        (
            (
                "delete_order",
                "number=1",
                "status=closed",
                "--caller",
                "alice",
                "--scope",
                "admin",
                "--affected-rows",
                "1",
            ),
            "confirm",
            "destructive operations of a validated adapter",
        ),
        (("delete_order", "number=1", "--client", "web"), "deny", "few rows"),
        (("delete_order", "number=1", "--affected-rows", "11"), "deny", "few rows"),
        (
            ("delete_order", "number=1", "--affected-rows", "10", "--trust", "certified"),
            "allow",
            "destructive operations of a certified adapter",
        ),
        (("purge_orders", "before=2020"), "deny", "dangerous operations of a validated adapter"),
    ],
    ids=["small", "large, as JSON", "little trust", "closed", "by an admin", "rows unknown", "rows", "trust", "danger"],
)
def test_what_is_decided_for_whom(run: Run, words: tuple[str, ...], decision: str, rule: str) -> None:
    done = run("test", *words, "--json")
    assert (done.code, done.err) == (0, "this is not the answer\n")
    told = json.loads(done.out)
    assert (told["decision"], told["rule"], told["warnings"]) == (decision, rule, [ROWS])


def test_a_program_gets_everything(run: Run) -> None:
    assert json.loads(run("test", "delete_order", "number=1", "status=closed", "dry_run=true", "--json").out) == {
        "operation": "delete_order",
        "decision": "deny",
        "rule": "closed orders stay",
        "code": "PERMISSION_DENIED",
        "danger": {
            "level": "destructive",
            "origin": "category",
            "reasons": ["Operations of the category DELETE are destructive"],
        },
        "trust": "validated",
        "dry_run": True,
        "considered": [
            {
                "decision": "confirm",
                "rule": "destructive operations of a validated adapter",
                "reason": "Operations of the category DELETE are destructive",
                "confirm": "client",
                "remember": False,
            },
            {"decision": "deny", "rule": "closed orders stay", "code": "PERMISSION_DENIED"},
            {"decision": "deny", "rule": "few rows", "code": "PERMISSION_DENIED"},
        ],
        "warnings": [ROWS],
    }


def test_a_dry_run_is_said_to_need_no_confirmation(run: Run) -> None:
    words = ("delete_order", "number=1", "--affected-rows", "1")
    note = "note\ta dry run changes nothing, and so needs no confirmation\n"
    assert note in run("test", *words, "dry_run=true").out
    assert note not in run("test", *words).out


@pytest.mark.parametrize(
    ("words", "complaints"),
    [
        (("delete_oder",), ["NOT_FOUND_OPERATION: Unknown operation: 'delete_oder'. Did you mean 'delete_order'?"]),
        (
            ("delete_order", "nmber=1"),
            [
                f"{MISSING} (and 1 more, see details)",
                (
                    "VALIDATION_UNKNOWN_PARAM: Unknown parameter(s) for operation 'delete_order': 'nmber'. "
                    "Did you mean 'number'?"
                ),
            ],
        ),
        (("introspect",), ["introspection is open in every case: no policy rules it"]),
        ((), ["say which operation to test, or name a file with --cases: one of the two"]),
        (("get_order", "number"), ["'number' is not name=value"]),
        (
            ("get_order", "number=1", "--scope", "x"),
            ["--scope: only a caller with a name or a client has scopes: say which"],
        ),
        (("get_order", "number=1", "--affected-rows", "-1"), ["--affected-rows must be 0 or more, not -1"]),
        (
            ("get_order", "number=1", "--trust", "valdated"),
            [
                (
                    "--trust: 'valdated' is not known; it may be untested, generated, validated, community_reviewed or "
                    "certified. Did you mean 'validated'?"
                )
            ],
        ),
        (
            ("get_order", "-s", "http://localhost:1/mcp"),
            ["a policy is tried with an adapter, not with a running server: name the server's source"],
        ),
    ],
    ids=["operation", "parameter", "introspect", "nothing", "no value", "scope", "rows", "trust", "a server"],
)
def test_a_call_that_is_wrong(run: Run, words: tuple[str, ...], complaints: list[str]) -> None:
    done = run("test", *words)
    assert (done.code, done.out) == (2, "")
    said = done.err.replace("this is not the answer\n", "")
    assert said.splitlines() == [f"headgate: {one}" for one in complaints]


def test_a_policy_with_mistakes_is_not_tried(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('defualt = "deny"\n[[rule]]\nname = "r"\ndecision = "no"\n')
    done = run("test", "get_order", "number=1", "-p", "bad.toml")
    assert (done.code, done.out) == (2, "")
    assert [line.split(": ")[1:3] for line in done.err.splitlines()] == [
        ["bad.toml", "key 'defualt'"],
        ["bad.toml", "rule 1 ('r'), key 'decision'"],
    ]


def test_a_policy_must_be_named(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    done = shell("policy", "check", "-s", "shop.py:shop", cwd=tmp_path)
    assert (done.code, done.err) == (2, "headgate: name the policy: --policy FILE\n")


def test_the_policy_of_a_file_with_a_source(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "headgate.toml").write_text('source = "shop.py:shop"\n[policy]\ndefault = "deny"\n')
    done = shell("policy", "test", "get_order", "number=1", "-s", "headgate.toml", cwd=tmp_path)
    assert done.code == 0
    assert "decision\tdeny\nrule\tthe policy's default\nreason\tno rule of the policy allows it\n" in done.out


class TestCases:
    """Many calls out of a file."""

    def cases(self, run: Run, tmp_path: Path, toml: str, *words: str) -> Done:
        (tmp_path / "cases.toml").write_text(toml)
        return run("test", "--cases", "cases.toml", "-p", "policy.toml", *words)

    RIGHT = """
    [[case]]
    operation = "create_refund"
    params = { number = 1, amount = 101 }
    caller = "alice"
    expect = "confirm"
    rule = "large refunds"

    [[case]]
    operation = "delete_order"
    params = { number = 1, status = "closed" }
    client = "web"
    scopes = ["admin"]
    affected_rows = 3
    expect = "confirm"
    """
    WRONG = """
    [[case]]
    operation = "create_refund"
    params = { number = 1, amount = 100 }
    expect = "deny"

    [[case]]
    operation = "delete_order"
    params = { number = 1 }
    expect = "deny"
    rule = "closed orders stay"
    """

    def test_all_as_expected(self, run: Run, tmp_path: Path) -> None:
        done = self.cases(run, tmp_path, self.RIGHT)
        assert (done.code, done.err) == (0, f"this is not the answer\n{ODD}")
        assert done.out.splitlines() == [
            "ok\t1\tcreate_refund\talice\tconfirm by 'large refunds'\tconfirm\tlarge refunds",
            "ok\t2\tdelete_order\tweb\tconfirm\tconfirm\tdestructive operations of a validated adapter",
        ]

    def test_some_otherwise(self, run: Run, tmp_path: Path) -> None:
        done = self.cases(run, tmp_path, self.RIGHT + self.WRONG)
        assert done.code == 1
        assert [line.split("\t")[0] for line in done.out.splitlines()] == ["ok", "ok", "FAILED", "FAILED"]
        assert done.err.splitlines()[2:] == [
            (
                "headgate: case 3 ('create_refund'): expected deny, got allow by 'reversible operations of a validated "
                "adapter'"
            ),
            "headgate: case 4 ('delete_order'): expected deny by 'closed orders stay', got deny by 'few rows'",
        ]

    def test_for_programs(self, run: Run, tmp_path: Path) -> None:
        done = self.cases(run, tmp_path, self.WRONG, "--json")
        assert (done.code, done.err) == (1, "this is not the answer\n")
        assert json.loads(done.out) == {
            "cases": [
                {
                    "operation": "create_refund",
                    "ok": False,
                    "expected": {"decision": "deny"},
                    "got": {
                        "decision": "allow",
                        "rule": "reversible operations of a validated adapter",
                        "reason": "Operations of the category CREATE are reversible",
                    },
                },
                {
                    "operation": "delete_order",
                    "ok": False,
                    "expected": {"decision": "deny", "rule": "closed orders stay"},
                    "got": {"decision": "deny", "rule": "few rows", "code": "PERMISSION_DENIED"},
                },
            ],
            "warnings": [ROWS],
        }

    @pytest.mark.parametrize(
        ("toml", "mistakes"),
        [
            ("", ["it is empty and so says nothing: fill it or leave it out"]),
            ("case = []", ["key 'case': it is empty and so says nothing: fill it or leave it out"]),
            (
                "[[case]]\noperation = 5",
                [
                    "case 1: the key 'expect' is missing: add it",
                    "case 1, key 'operation': this must be a text, not the number 5",
                ],
            ),
            (
                '[[case]]\noperation = "get_order"\nexpect = "alow"\nparam = {}',
                [
                    (
                        "case 1, key 'param': there is no such key; known are operation, params, caller, client, "
                        "scopes, affected_rows, expect, rule. Did you mean 'params'?"
                    ),
                    f"case 1, key 'expect': {UNKNOWN_EXPECTATION}",
                ],
            ),
            (
                '[[case]]\noperation = "get_order"\nexpect = "allow"\nscopes = "x"\nparams = 5\naffected_rows = -1',
                [
                    "case 1, key 'params': this must be a table, not the number 5",
                    "case 1, key 'scopes': only a caller with a name or a client has scopes: say which",
                    "case 1, key 'affected_rows': this must be 0 or more, not the number -1",
                ],
            ),
            (
                "".join(f'[[case]]\noperation = "{name}"\nexpect = "allow"\n' for name in ("get_oder", "get_order")),
                [
                    f"case 1 ('get_oder'): {NOT_FOUND}",
                    f"case 2 ('get_order'): {MISSING}",
                ],
            ),
            (
                '[[case]]\noperation = "get_order"\nparams = { number = 1 }\nexpect = "allow"\nrule = "large refund"',
                [
                    "case 1 ('get_order'): there is no rule 'large refund'. Did you mean 'large refunds'?",
                ],
            ),
            (
                '[[case]]\noperation = "introspect"\nexpect = "allow"',
                [
                    "case 1 ('introspect'): introspection is open in every case: no policy rules it",
                ],
            ),
            ("case = [", ["end of document: it is no TOML from here on: Invalid value"]),
        ],
        ids=["empty", "none", "no expectation", "keys", "values", "calls", "rule", "introspect", "no TOML"],
    )
    def test_mistakes(self, run: Run, tmp_path: Path, toml: str, mistakes: list[str]) -> None:
        done = self.cases(run, tmp_path, toml)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[1:] == [f"headgate: cases.toml: {one}" for one in mistakes]

    def test_nothing_of_a_call_is_said_beside_a_file(self, run: Run, tmp_path: Path) -> None:
        for words in (("--caller", "alice"), ("--params", "{}"), ("--affected-rows", "1")):
            done = self.cases(run, tmp_path, self.RIGHT, *words)
            assert (done.code, done.err) == (
                2,
                "headgate: with --cases, parameters and callers stand in the file: leave the options for them out\n",
            )
        both = run("test", "get_order", "--cases", "cases.toml")
        assert (both.code, "one of the two" in both.err) == (2, True)


class TestChecking:
    def test_a_policy_that_fits(self, run: Run) -> None:
        done = run("check")
        assert (done.code, done.out) == (0, "policy.toml fits shop, with 1 odd\n")
        assert done.err == f"this is not the answer\n{ODD}"
        assert json.loads(run("check", "--json").out) == {"mistakes": [], "warnings": [ROWS]}

    def test_a_policy_with_nothing_odd(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "plain.toml").write_text('default = "deny"\n')
        assert run("check", "-p", "plain.toml").out == "plain.toml fits shop, with nothing odd\n"

    def test_a_policy_that_does_not_fit(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "other.toml").write_text(
            POLICY.replace("create_refund", "create_refunds").replace("status", "sttus")
        )
        done = run("check", "-p", "other.toml")
        lines = [
            (
                "other.toml: rule 1 ('large refunds'), key 'operations': there is no operation 'create_refunds'. "
                "Did you mean 'create_refund'?"
            ),
            (
                "other.toml: rule 2 ('closed orders stay'), key 'when', parameter 'sttus': none of the matched "
                "operations has such a parameter. Did you mean 'status'?"
            ),
        ]
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[1:] == [f"headgate: {line}" for line in lines]
        told = run("check", "-p", "other.toml", "--json")
        assert (told.code, json.loads(told.out)) == (2, {"mistakes": lines, "warnings": []})

    def test_a_file_or_source_that_is_not_there(self, run: Run) -> None:
        done = run("check", "-p", "none.toml")
        assert (done.code, done.err) == (2, "headgate: none.toml: there is no such file\n")
        assert run("check", "-p", "policy.toml", "-s", "none.py").code == 3

    def test_trust_makes_rules_needless(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "ask.toml").write_text('[[rule]]\nname = "ask"\ndecision = "confirm"\noperations = "delete_*"\n')
        assert "danger and trust (validated) decide as much" in run("check", "-p", "ask.toml").err
        assert run("check", "-p", "ask.toml", "--trust", "certified").out.endswith("nothing odd\n")


def test_on_a_terminal_there_is_colour(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(TestCases.RIGHT + TestCases.WRONG)
    files = ("-p", str(tmp_path / "policy.toml"), "-s", f"{tmp_path / 'shop.py'}:shop")
    one = on_terminal("policy", "test", "create_refund", "number=1", "amount=101", *files)
    assert one.code == 0
    assert "\x1b[33mconfirm by a person, once a session\x1b[0m" in one.text
    assert "The owner [b]decides[/b]." in one.text
    many = on_terminal("policy", "test", "--cases", str(tmp_path / "cases.toml"), *files)
    assert many.code == 1
    assert "\x1b[31mFAILED\x1b[0m" in many.text
    assert "\x1b[32mok\x1b[0m" in many.text


def test_the_demo_can_be_ruled(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[[rule]]\nname = "r"\ndecision = "deny"\noperations = "delete_*"\n')
    done = shell("policy", "check", "-p", "p.toml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "p.toml fits bookshop, with nothing odd\n")
