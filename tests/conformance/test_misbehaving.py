"""Servers that misbehave below the protocol end in a clear verdict, within the time that the run was given."""

import json
from typing import Any

import pytest

from tests.cli.commands import Shell
from tests.conformance.misbehaving import LISTENERS, PROCESSES, listening, refuses_what_is_large, started

GRACE = 13.0
"""What a run may take beyond its limit: a last check has a second, and a process is given time to end."""
OPENS = "transport.opens"
ANSWERS = "transport.answers-everything"
CLEAN = "transport.clean-output"
LONG = "data.string-limit"
DEEP = "data.depth-limit"
FORM = "format.errors-are-answers"

HANGS = ("--time-limit", "2", "--timeout", "30")
"""For whom the limit of the run is what ends it."""
FALLS_SILENT = ("--time-limit", "30", "--timeout", "0.3")
BREAKS = ("--time-limit", "30", "--timeout", "30")

PATIENCE = {
    "never answers": HANGS,
    "writes garbage": HANGS,
    "talks": HANGS,
    "greets and falls silent": FALLS_SILENT,
    "chatters instead of answering": FALLS_SILENT,
    "never ends a stream": FALLS_SILENT,
    "drips": FALLS_SILENT,
}
SAID_OF_PROCESSES = {
    "never answers": (OPENS, "it did not greet and list its tools within 2 seconds"),
    "dies at once": (OPENS, "before it had greeted, with the words: cannot open the configuration of the shop"),
    "dies with a trace": (OPENS, "before it had greeted, with the words: Error: Cannot find module 'till'"),
    "dies with wishes": (OPENS, "with the words: --till NAME / --port NUMBER / Good bye"),
    "floods its output": (OPENS, "it writes something else than messages of MCP"),
    "never ends a line": (OPENS, "it sent a message of more than 16 MB"),
    "writes garbage": (OPENS, "it did not greet and list its tools within 2 seconds"),
    "talks": (OPENS, "within 2 seconds; it wrote 'Hello from the shop' to its standard output, which is for messages"),
    "logs among its answers": (CLEAN, "it wrote 'request number 3' to its standard output, which is for messages"),
    "lists tools without end": (OPENS, "it lists its tools without end"),
    "greets and falls silent": (ANSWERS, "the server left 3 requests in a row without an answer"),
    "dies on the fifth request": (ANSWERS, "it ended"),
    "dies of a large request": (LONG, "the server ended, or hung up, in place of an answer to a request beyond 20000"),
    "dies of a huge request": (DEEP, "a request beyond 64 levels was taken"),
    "answers what is no JSON-RPC": (FORM, "the answer cannot be read"),
    "answers with a number": (FORM, "the answer cannot be read"),
    "answers with 60 MB": (ANSWERS, "it sent a message of more than 16 MB"),
    "chatters instead of answering": (ANSWERS, "the server left 3 requests in a row without an answer"),
}
SAID_OF_LISTENERS = {
    "never answers": (OPENS, "it did not greet and list its tools within 2 seconds"),
    "fails": (OPENS, "it fails (HTTP status 500)"),
    "is a web page": (OPENS, "it does not greet as a server of MCP does"),
    "speaks no HTTP": (OPENS, "it hangs up, or what it answers is no HTTP"),
    "hangs up": (OPENS, "it hangs up, or what it answers is no HTTP"),
    "never ends a stream": (ANSWERS, "the server left 3 requests in a row without an answer"),
    "drips": (ANSWERS, "the server left 3 requests in a row without an answer"),
    "answers with 60 MB": (ANSWERS, "it broke off an answer, or sent one of more than 16 MB"),
    "answers with half of JSON": (FORM, "the answer cannot be read"),
    "hangs up on a large request": (LONG, "the server ended, or hung up, in place of an answer to a request beyond"),
    "breaks off an answer": (ANSWERS, "it broke off an answer, or sent one of more than 16 MB"),
}


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def failures(shell: Shell, behaviour: str, *target: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The checks that failed or warn, with what they say, and the whole report."""
    done = shell("check", "--format", "json", *PATIENCE.get(behaviour, BREAKS), *target)
    report = json.loads(done.out)
    assert (done.code, report["exitCode"], done.err) == (1, 1, "")
    tests = [test for category in report["categories"] for test in category["tests"]]
    assert report["seconds"] <= float(PATIENCE.get(behaviour, BREAKS)[1]) + GRACE
    return {test["id"]: test["detail"] for test in tests if test["result"] in ("FAIL", "WARN")}, report


def test_every_behaviour_has_its_verdict() -> None:
    assert {*SAID_OF_PROCESSES} == {*PROCESSES}
    assert {*SAID_OF_LISTENERS} == {*LISTENERS}


@pytest.mark.parametrize("behaviour", PROCESSES)
def test_a_process_that_misbehaves_fails_in_time(behaviour: str, shell: Shell) -> None:
    check, words = SAID_OF_PROCESSES[behaviour]
    failed, _report = failures(shell, behaviour, "--", *started(behaviour))
    assert words in failed.get(check, "")


def test_what_carries_a_huge_request_may_have_limits_of_its_own(shell: Shell) -> None:
    """Nothing is held against a server that may never have seen it."""
    behaviour = "dies of a huge request"
    _failed, report = failures(shell, behaviour, "--", *started(behaviour))
    [said] = [test for one in report["categories"] for test in one["tests"] if test["id"] == LONG]
    assert said["result"] == "SKIP"
    assert "may have limits of its own" in said["detail"]


@pytest.mark.parametrize("behaviour", LISTENERS)
def test_a_listener_that_misbehaves_fails_in_time(behaviour: str, shell: Shell) -> None:
    check, words = SAID_OF_LISTENERS[behaviour]
    with listening(LISTENERS[behaviour]) as url:
        failed, _report = failures(shell, behaviour, url)
    assert words in failed.get(check, "")


def test_an_http_status_in_place_of_an_answer_refuses_a_large_request(shell: Shell) -> None:
    with listening(refuses_what_is_large) as url:
        done = shell("check", "--only", LONG, url)
    assert (done.code, "1 passed" in done.out) == (0, True)


def test_a_process_that_writes_messages_alone_has_a_clean_output(shell: Shell) -> None:
    target = ("--only", CLEAN, "--", *started("dies of a large request"))
    assert "1 passed" in shell("check", *target).out


def test_where_nobody_listens_the_address_is_told_without_what_may_be_secret(shell: Shell) -> None:
    done = shell("check", "http://127.0.0.1:9/mcp?key=hush")
    assert (done.code, done.err) == (3, "headgate: 'http://127.0.0.1:9/mcp': it cannot be reached\n")


def test_what_is_not_reached_is_skipped_and_why_is_said_once(shell: Shell) -> None:
    failed, report = failures(shell, "dies at once", "--", *started("dies at once"))
    skipped = [test for one in report["categories"] for test in one["tests"] if test["result"] == "SKIP"]
    assert [*failed] == [OPENS]
    assert len(skipped) == report["summary"]["total"] - 1
    assert {test["detail"] for test in skipped} == {"not reached"}


def test_a_server_that_does_not_open_fails_whatever_was_to_be_looked_at(shell: Shell) -> None:
    done = shell("check", "--format", "json", "--only", LONG, "--", *started("dies at once"))
    tests = {test["id"]: test["result"] for one in json.loads(done.out)["categories"] for test in one["tests"]}
    assert (done.code, tests) == (1, {LONG: "SKIP", OPENS: "FAIL"})
