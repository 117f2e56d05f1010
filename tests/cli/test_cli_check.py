"""``headgate check``: what is checked, what is said of it, and the exit code."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from headgate.cli.check import _usage_is_configuration
from headgate.conformance.checks import ALL_CHECKS
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.settings import SettingError
from headgate.sources.bookshop import bookshop_file
from tests.cli.commands import Shell
from tests.cli.conftest import KNOWN
from tests.cli.terminals import on_terminal
from tests.conformance.evidence.bundles import fine
from tests.server.processes import LIBRARY, Serving
from tests.support import ROOT

LEAKY = (sys.executable, str(ROOT / "tests" / "conformance" / "leaky.py"))
UNKNOWN = "parameters.unknown-refused"
EXAMPLES = "introspection.examples"
OPENS = "transport.opens"
SMALL = f"{ROOT / 'examples' / 'library.py'}:library"
REQUEST = {"tool": "mcp_aql_read", "arguments": {"operation": "get_thing", "params": {"name": "x"}}}

# what is checked, and how it ends


def test_a_source_is_served_here_and_checked(shell: Shell) -> None:
    done = shell("check", SMALL, "--only", OPENS, "--only", UNKNOWN)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "library 0.1.0"
    assert done.out.splitlines()[-1].startswith(
        f"2 of {len(ALL_CHECKS)} checks. 2 passed, 0 warnings, 0 failed, 0 skipped; "
    )


def test_the_demo_is_checked_without_a_target(shell: Shell) -> None:
    done = shell("check", "--only", OPENS, "--operations", "1")
    assert done.code == 0
    assert "the demo" in done.out


def test_what_is_tried_on_the_demo_is_tried_on_a_copy_of_it(shell: Shell) -> None:
    before = bookshop_file().read_bytes()
    done = shell("check", "--allow", "create,update,delete", "--only", "round-trips.create-read")
    assert done.code == 0, done.err
    assert bookshop_file().read_bytes() == before


def test_a_must_that_fails_is_1_with_the_request_the_answer_and_the_section(shell: Shell) -> None:
    done = shell("check", "--only", UNKNOWN, "--", *LEAKY)
    assert done.code == 1
    for needed in ("FAIL  parameters.unknown-refused", "MUST, specification 4.6, Unknown Parameter Handling", "→", "←"):
        assert needed in done.out
    assert "\x1b" not in done.out


def test_a_finding_is_reproduced_by_the_line_that_is_printed(shell: Shell) -> None:
    done = shell("check", "--only", UNKNOWN, "--", *LEAKY)
    line = next(line for line in done.out.splitlines() if line.startswith("    $ "))
    program, *words = shlex.split(line.removeprefix("    $ "))
    again = shell(*words)
    assert (program, again.code) == ("headgate", 0)
    assert json.loads(again.out)["success"] is True


def test_only_warnings_are_2(shell: Shell) -> None:
    done = shell("check", "--only", EXAMPLES, "--only", OPENS, "--", *LEAKY)
    assert (done.code, "WARN  introspection.examples" in done.out) == (2, True)


def test_a_server_that_runs_is_checked_with_the_token_of_the_environment(shell: Shell, library: Serving) -> None:
    done = shell("check", library.url, "--only", OPENS, "--era", "modern", env=KNOWN)
    assert (done.code, done.err) == (0, "")
    assert "modern MCP" in done.out


def test_a_header_is_sent_and_never_shown(shell: Shell, library: Serving) -> None:
    token = KNOWN["HEADGATE_TOKEN"]
    words = ("check", library.url, "--header", f"Authorization: Bearer {token}", "--verbose", "--format", "json")
    done = shell(*words, "--only", OPENS, "--only", "errors.name-operation")
    assert done.code == 0
    assert token not in done.out + done.err


def test_what_a_server_repeats_of_a_secret_is_stars(shell: Shell) -> None:
    done = shell(
        "check",
        "--only",
        UNKNOWN,
        "--format",
        "json",
        "--header",
        "X-Key: ${SECRET}",
        "--",
        *LEAKY,
        env={"SECRET": "tok-0123456789"},
    )
    assert done.code == 1
    assert "tok-0123456789" not in done.out
    assert '\\"token\\"' in done.out or '"token": "***"' in done.out


def test_what_would_change_something_is_called_only_if_that_is_allowed(shell: Shell) -> None:
    check = "round-trips.create-read"
    without = shell("check", LIBRARY, "--only", check)
    allowed = shell("check", LIBRARY, "--only", check, "--allow", "create,update,delete")
    assert (without.code, allowed.code) == (0, 0)
    assert "--allow" in without.out
    assert "calls read, create, delete, update" in allowed.out


@pytest.mark.parametrize("words", [("--only", OPENS), ("--level", "2", "--only", OPENS), ("--category", "routing")])
def test_some_checks_alone_are_no_level(words: tuple[str, ...], shell: Shell) -> None:
    done = shell("check", SMALL, *words)
    assert done.code == 0
    assert "level" not in done.out.lower()
    assert f" of {len(ALL_CHECKS)} checks. " in done.out.splitlines()[-1]


def test_a_level_that_was_seen_by_reading_alone_is_passed_as_far_as_that_shows(shell: Shell, tmp_path: Path) -> None:
    done = shell("check", LIBRARY, "--format", "json", "--output", "report.json", cwd=tmp_path)
    badge = shell("check", "report.json", "--format", "badge", cwd=tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (done.code, badge.code, report["complete"], report["rights"]) == (0, 0, False, ["read"])
    last = done.err.splitlines()[-1]
    assert "Level 1: passed as far as reading shows. " in last
    assert last.endswith("; --allow create,update,delete tries the rest.")
    assert ">level 1 · read only</text>" in badge.out


# what is wrong with the command line is 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--format", "jsn"),
            "--format must be one of text, json, markdown, junit, html, badge, not 'jsn'. Did you mean",
        ),
        (("--level", "3"), "--level must be 1 or 2, not 3"),
        (("--level", "two"), "whole number"),
        (("--tier", "7"), "--tier must be one of 1, 2, both"),
        (("--era", "stone"), "--era must be one of auto, modern, legacy"),
        (("--category", "error qualty"), "Did you mean 'Error Quality'?"),
        (("--only", "transport.open"), "Did you mean 'transport.opens'"),
        (("--only", "semantic.transcript"), "is judged from a transcript, which --transcript names"),
        (("--explain", "transport.open"), "Did you mean 'transport.opens'"),
        (("--allow", "delet"), "Did you mean 'delete'?"),
        (("--fixtures", "none.toml"), "'none.toml' cannot be read"),
        (("--baseline", "none.json"), "the baseline 'none.json' cannot be read"),
        (("--timeout", "0"), "--timeout must be more than 0 seconds, not 0"),
        (("--time-limit", "inf"), "--time-limit must be more than 0 seconds"),
        (("--operations", "0"), "--operations must be 1 or more"),
        (("--format", "badge", "--only", OPENS), "a badge is for a whole run"),
        (("--category", "batches", "--only", OPENS), "no check is left"),
        (("--send", "no JSON"), "--send must be JSON"),
        (("--send", "{}"), "--send must be an object such as"),
        (("--header", "nonsense"), "--header must be a name and a value"),
        (("--other-mode", "http://127.0.0.1:9/mcp"), "--other-mode is for servers"),
        (("--nonsense",), "Unknown option"),
        (("--",), "'--' needs a command behind it"),
        (("nowhere.json",), "There is no file 'nowhere.json'"),
        (("http://127.0.0.1:9/mcp",), "it cannot be reached"),
        (("http://127.0.0.1:9/mcp", "--trust", "certified"), "a server has its own"),
        (("http://127.0.0.1:9/mcp", "--read-only"), "are for databases"),
        (("http://127.0.0.1:9/mcp", "--other-mode", "shop.db"), "--other-mode must be a URL"),
        (("--", "no-such-program"), "there is no 'no-such-program' here"),
    ],
)
def test_wrong_usage_and_a_server_that_is_not_there_are_3(
    words: tuple[str, ...], said: str, shell: Shell, tmp_path: Path
) -> None:
    done = shell("check", *words, cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_a_page_that_is_no_server_is_3(shell: Shell, library: Serving) -> None:
    done = shell("check", library.url.removesuffix("/mcp") + "/nothing", env=KNOWN)
    assert (done.code, "there is no MCP server under this address" in done.err) == (3, True)


def test_a_token_that_is_not_accepted_is_3(shell: Shell, library: Serving) -> None:
    done = shell("check", library.url, env={"HEADGATE_TOKEN": "wrong-wrong-wrong"})
    assert (done.code, "does not accept the credentials" in done.err) == (3, True)


def test_who_interrupts_gets_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_work: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("headgate.cli.check.guarded", interrupted)
    done = shell("check", SMALL)
    assert (done.code, done.out, done.err) == (130, "", "headgate: interrupted: there is no report\n")


# forms, files, baselines


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit", "html"])
def test_a_report_is_written_to_a_file(form: str, shell: Shell, tmp_path: Path) -> None:
    done = shell("check", SMALL, "--only", OPENS, "-f", form, "-o", "report", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "written to 'report'" in done.err
    assert f"1 of {len(ALL_CHECKS)} checks. 1 passed" in done.err
    assert "transport" in (tmp_path / "report").read_text().lower()


def test_a_file_that_cannot_be_written_is_3(shell: Shell, tmp_path: Path) -> None:
    done = shell("check", SMALL, "--only", OPENS, "-o", "no/folder/report", cwd=tmp_path)
    assert (done.code, "cannot be written" in done.err) == (3, True)


def test_a_saved_report_is_shown_in_another_form(shell: Shell, tmp_path: Path) -> None:
    first = shell("check", "--only", UNKNOWN, "-f", "json", "-o", "report.json", "--", *LEAKY, cwd=tmp_path)
    again = shell("check", "report.json", "-f", "markdown", cwd=tmp_path)
    badge = shell("check", "report.json", "-f", "badge", cwd=tmp_path)
    assert (first.code, again.code, badge.code) == (1, 1, 1)
    assert UNKNOWN in again.out
    assert ">failing</text>" in badge.out


@pytest.mark.parametrize("words", [("--baseline", "x.json"), ("--write-baseline", "x.json"), ("--format", "odd")])
def test_what_is_for_a_run_is_refused_for_a_saved_report(words: tuple[str, ...], shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"categories": [], "summary": {}, "conformanceLevel": 1}')
    assert shell("check", "report.json", *words, cwd=tmp_path).code == 3


def test_known_failures_do_not_count_new_ones_do_and_vanished_ones_are_told(shell: Shell, tmp_path: Path) -> None:
    words = ("check", "--only", UNKNOWN, "--only", EXAMPLES)
    written = shell(*words, "--write-baseline", "known.json", "--", *LEAKY, cwd=tmp_path)
    same = shell(*words, "--baseline", "known.json", "--", *LEAKY, cwd=tmp_path)
    fixed = shell(*words, "--baseline", "known.json", "--", *LEAKY, "strict", cwd=tmp_path)
    known = json.loads((tmp_path / "known.json").read_text())
    known["known"] = [row for row in known["known"] if row["check"] != UNKNOWN]
    (tmp_path / "known.json").write_text(json.dumps(known))
    new = shell(*words, "--baseline", "known.json", "--", *LEAKY, cwd=tmp_path)
    assert (written.code, same.code, fixed.code, new.code) == (0, 0, 0, 1)
    known_rows = len(json.loads((tmp_path / "known.json").read_text())["known"]) + 1
    assert f"{known_rows} known findings are written to 'known.json'" in written.err
    assert f"{known_rows} known findings" in same.out
    assert "FAIL (known)" in same.out
    assert f"Fixed: {UNKNOWN} of 'get_thing'; remove it from the baseline." in fixed.out
    assert "FAIL  parameters.unknown-refused" in new.out


def test_verbose_shows_every_check(shell: Shell) -> None:
    done = shell("check", SMALL, "--only", OPENS, "--only", "updates.preserve", "--verbose")
    assert "    ✓ transport.opens" in done.out
    assert "    - updates.preserve: does not apply to this server" in done.out


# one request, the list, one check


def test_one_request_is_sent_as_it_is(shell: Shell) -> None:
    done = shell("check", "--send", json.dumps(REQUEST), "--", *LEAKY)
    assert (done.code, json.loads(done.out)["success"], "\x1b" in done.out) == (0, True, False)


def test_a_request_that_is_not_answered_is_1(shell: Shell) -> None:
    frail = shell(
        "check", "--send", '{"tool": "t", "arguments": {"operation": "get_thing", "params": 7}}', "--", *LEAKY, "frail"
    )
    unknown = shell("check", SMALL, "--send", '{"tool": "nonsense", "arguments": {}}')
    assert (frail.code, frail.err) == (1, "headgate: it ended\n")
    assert (unknown.code, "error -32602 of JSON-RPC" in unknown.err) == (1, True)


def test_all_checks_are_listed(shell: Shell) -> None:
    lines = shell("check", "--list").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [check.id for check in ALL_CHECKS]
    listed = json.loads(shell("check", "--list", "--format", "json", "--category", "batches").out)
    assert {row["category"] for row in listed} == {"Batches"}
    assert {"id", "level", "demand", "section", "title", "how"} <= listed[0].keys()


def test_a_check_is_explained(shell: Shell) -> None:
    done = shell("check", "--explain", UNKNOWN)
    assert done.code == 0
    for needed in (UNKNOWN, "MUST: where it does not hold, that is a failure", "specification 4.6", "how "):
        assert needed in done.out


# evidence, transcripts, terminals


def test_an_evidence_bundle_is_judged(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps(fine()))
    done = shell("check", "bundle.json", "--level", "2", "--format", "json", cwd=tmp_path)
    report = json.loads(done.out)
    assert (done.code, report["target"], report["exitCode"]) == (0, "bundle.json", 0)
    assert shell("check", "bundle.json", "--level", "7", cwd=tmp_path).code == 3
    assert shell("check", "bundle.json", "--baseline", "x.json", cwd=tmp_path).code == 3


def test_a_transcript_is_judged_beside_the_server(shell: Shell, tmp_path: Path) -> None:
    case = {"name": "finds books", "prompt": "Which books are there?", "response_text": "list_books", "tool_calls": []}
    case["semantic"] = {"phrase_groups": [["nothing of the kind"]]}  # type: ignore[assignment]
    (tmp_path / "said.json").write_text(json.dumps([case]))
    done = shell("check", SMALL, "--only", OPENS, "--transcript", "said.json", cwd=tmp_path)
    assert "Semantic Evaluation" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("    $ "))
    again = shell(*shlex.split(line.removeprefix("    $ "))[1:], cwd=tmp_path)
    assert (again.code, "WARN  semantic.transcript" in again.out, OPENS in again.out) == (2, True, False)
    assert "transcript of a conversation" in shell("check", "--explain", "semantic.transcript").out
    assert shell("check", SMALL, "--only", OPENS, "--transcript", "none.json", cwd=tmp_path).code == 3


@pytest.mark.parametrize("content", ["no JSON", '{"neither": "nor"}'])
def test_json_that_is_neither_a_report_nor_evidence_nor_a_source_is_3(
    content: str, shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "odd.json").write_text(content)
    done = shell("check", "odd.json", cwd=tmp_path)
    assert (done.code, "'odd.json'" in done.err) == (3, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "expected is a saved report, an evidence bundle, a list of MCP servers with a key 'mcpServers', or an"),
        ("[1]", "expected is a saved report"),
        ('{"baseline": 1, "known": []}', "is a baseline, which --baseline takes"),
    ],
)
def test_other_json_is_told_what_is_expected(content: str, said: str, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(content)
    done = shell("check", "odd.json", cwd=tmp_path)
    assert (done.code, said in done.err) == (3, True)


def test_on_a_terminal_there_is_colour_and_a_table() -> None:
    done = on_terminal("check", "--only", UNKNOWN, "--", *LEAKY, "hostile")
    listed = on_terminal("check", "--list", "--category", "batches")
    assert (done.code, done.is_coloured) == (1, True)
    assert "\\u001b[2J" in done.text
    assert (listed.code, "what it proves" in listed.text) == (0, True)


def test_a_terminal_of_somebody_who_wants_no_colour_has_none() -> None:
    assert not on_terminal("check", SMALL, "--only", OPENS, NO_COLOR="1").text.count("\x1b[3")


def test_an_answer_of_several_parts_is_printed_whole_and_one_that_does_not_come_is_told(shell: Shell) -> None:
    silent = ("--timeout", "0.2", "--send", json.dumps(REQUEST))
    done = shell("check", *silent, "--", *LEAKY, "silent")
    parts = shell("check", "--send", json.dumps(REQUEST), "--", *LEAKY, "parts")
    assert (done.code, done.err) == (1, "headgate: no answer within 0.2 seconds\n")
    assert [block["type"] for block in json.loads(parts.out)["content"]] == ["text", "text"]


def test_a_request_to_nobody_is_3(shell: Shell) -> None:
    assert shell("check", "http://127.0.0.1:9/mcp", "--send", json.dumps(REQUEST)).code == 3


def test_a_mistake_that_comes_in_a_group_is_one_too() -> None:
    with pytest.raises(AdapterError, match="wrong"), _usage_is_configuration():
        raise BaseExceptionGroup("", [SettingError("wrong")])
    with pytest.raises(ExceptionGroup), _usage_is_configuration():
        raise ExceptionGroup("", [ValueError("a"), ValueError("b")])


def test_a_source_is_seen_in_both_modes(shell: Shell) -> None:
    done = shell("check", SMALL, "--only", "features.both-modes", "--format", "json")
    tests = [test for one in json.loads(done.out)["categories"] for test in one["tests"]]
    assert [test["result"] for test in tests] == ["PASS"]


def test_the_options_that_a_source_was_checked_with_are_repeated(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "fixtures.toml").write_text("")
    words = ("--fixtures", "fixtures.toml", "--allow", "create", "--era", "legacy", "--format", "json")
    done = shell("check", "--only", UNKNOWN, *words, "--", *LEAKY, cwd=tmp_path)
    finding = json.loads(done.out)["categories"][0]["tests"][0]["findings"][0]
    assert finding["reproduce"].startswith("headgate check --era legacy --send ")
