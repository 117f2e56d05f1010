"""Why something failed, as a person is told: the error and what stands behind it, bounded and without tricks."""

import json
from typing import Any

import pytest

from headgate.cli.failures import failure_lines
from tests.cli.commands import Shell
from tests.cli.test_cli_gate import COMMAND

FAILED = "Internal error: 'a tool of time reports a failure: see the details'"
SHOWN = "X: Internal error: 'a tool of time reports a failure'"
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a text": ({"upstream": "no such\n\n zone "}, [SHOWN, "no such", "zone"]),
    "an object": ({"upstream": {"why": 7}}, [SHOWN, '{"why": 7}']),
    "a service's words": ({"upstream_error": "503 today"}, [SHOWN, "503 today"]),
    "a sequence for terminals": ({"upstream": "\x1b[2Jgone"}, [SHOWN, "\\u001b[2Jgone"]),
    "many lines": (
        {"upstream": "\n".join("abcdefg")},
        [SHOWN, *"abcde", "… and 2 more lines: --json has all of it"],
    ),
    "a long line": ({"upstream": "x" * 501}, [SHOWN, "x" * 500 + "…"]),
    "nothing said": ({"upstream": ""}, [f"X: {FAILED}"]),
    "no details": ({}, [f"X: {FAILED}"]),
}


@pytest.mark.parametrize(("details", "lines"), CASES.values(), ids=CASES)
def test_what_was_said_stands_below_the_error(details: dict[str, Any], lines: list[str]) -> None:
    assert list(failure_lines({"code": "X", "message": FAILED, "details": details})) == lines


def test_a_tool_that_fails_is_told_with_its_own_words(shell: Shell) -> None:
    given = json.dumps({"content": [{"type": "text", "text": "the moon is \x1b[31mfull"}], "isError": True})
    words = ("--state", "memory:", "--trust", "certified", "--", *COMMAND)
    done = shell("call", "give", "--params", json.dumps({"text": given}), *words)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "headgate: INTERNAL_ERROR: Internal error: 'a tool of line reports a failure'",
        "headgate: the moon is \\u001b[31mfull",
    ]
