"""Reports in every form: complete, the same again when they are read, and deaf to whatever a server says."""

import json
import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.client.wires import Answer
from headgate.conformance.baseline import Baseline, Known, baseline_of
from headgate.conformance.evidence.transcripts import TRANSCRIPT
from headgate.conformance.report import Report, Subject, told_of
from headgate.conformance.reports.formats import FORMATS
from headgate.conformance.reports.json_report import is_report, json_of, read_report, wire_of
from headgate.conformance.reports.reproducing import Way, header_shown, without_secrets
from headgate.conformance.reports.shortening import cut, exact_json, shortened, spelt
from headgate.conformance.reports.shown import Shown, ShownArea, ShownCheck, shown_of
from headgate.conformance.reports.text import text_of, verdict_line
from headgate.conformance.sections import titled
from headgate.conformance.values import Demand, Exchange, Finding, Outcome, Verdict
from tests.conformance.reports.made import HOSTILE, a_check, a_report, an_exchange, broken, result

WAY = Way.of("http://127.0.0.1:3000/mcp", rights=("--allow", "create"))
FAILED = shown_of(a_report(), WAY, checker="headgate 1")


def report_of_one(text: str) -> Shown:
    """A report in which a server says a text wherever it can say something."""
    finding = broken(text, text, an_exchange(json.dumps({"success": True, "data": text}), {"operation": text}))
    made = a_report(result(a_check("bad.is"), Verdict.FAIL, finding), name=text or "shop")
    return shown_of(made, WAY)


# what every form has


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit", "html"])
def test_a_report_tells_what_is_wrong_where_it_is_said_and_how_to_see_it_again(form: str) -> None:
    said = FORMATS[form](FAILED).replace("\\_", "_").replace("&quot;", '"').replace("&#34;", '"').replace("\\\\", "\\")
    for needed in ("bad.is", "specification 4.6", "it is far", "--send", "mcp_aql_read", "odd.is"):
        assert needed in said, needed


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_that_a_server_says_steers_a_terminal_or_begins_a_line(form: str) -> None:
    said = FORMATS[form](report_of_one(HOSTILE))
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\n# x](" not in said


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def tags_of(page: str) -> set[tuple[str, tuple[str, ...]]]:
    parser = Tags()
    parser.feed(page)
    return {*parser.found}


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_page_has_the_same_elements_whatever_a_server_says(text: str) -> None:
    assert tags_of(FORMATS["html"](report_of_one(text))) == tags_of(FORMATS["html"](report_of_one("harmless")))


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_xml_can_be_read_whatever_a_server_says(text: str) -> None:
    for form in ("junit", "badge"):
        ET.fromstring(FORMATS[form](report_of_one(text)))  # noqa: S314  (ours)


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_saved_report_is_the_same_report(text: str) -> None:
    wire = json.loads(json_of(report_of_one(text)))
    assert is_report(wire)
    assert wire_of(read_report(wire)) == wire


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_request_that_is_repeated_is_the_same_request(text: str) -> None:
    line = report_of_one(text).checks[0].findings[0].reproduce
    words = shlex.split(line)
    assert words[:4] == ["headgate", "check", "http://127.0.0.1:3000/mcp", "--send"]
    assert json.loads(words[4]) == {"tool": "mcp_aql_read", "arguments": {"operation": text}}


def test_markdown_keeps_a_server_from_calling_people_or_leading_elsewhere() -> None:
    said = FORMATS["markdown"](report_of_one("@everyone <b>`x`</b> [a](http://evil.example)"))
    prose = [re.sub(r"\\.", "", line) for line in said.splitlines() if line.startswith("- **")]
    assert prose
    assert not [line for line in prose if any(sign in line for sign in ("@", "](", "<", "`", "://"))]


# JSON


def test_the_json_has_the_members_of_the_official_report() -> None:
    wire = wire_of(FAILED)
    official = {"implementation", "version", "specVersion", "requestedLevel", "conformanceLevel", "summary", "exitCode"}
    assert official | {"categories"} <= wire.keys()
    assert wire["summary"] == {"total": 4, "passed": 1, "warned": 1, "failed": 1, "skipped": 1} | {
        "known": 0,
        "knownFindings": 0,
    }
    assert (wire["requestedLevel"], wire["conformanceLevel"], wire["exitCode"]) == (1, 0, 1)
    assert [one["name"] for one in wire["categories"]] == [
        "Introspection Fidelity",
        "Parameter Handling",
        "Data and Limits",
    ]
    assert [one["result"] for one in wire["categories"]] == ["PASS", "FAIL", "SKIP"]
    assert {"name", "result", "detail"} <= wire["categories"][0]["tests"][0].keys()


def test_a_report_of_the_official_runner_can_be_shown_too() -> None:
    official = {
        "implementation": "reference",
        "version": "0.9",
        "specVersion": "1.0.0-draft",
        "requestedLevel": 2,
        "conformanceLevel": 2,
        "summary": {"total": 1, "passed": 0, "warned": 1, "failed": 0, "skipped": 0},
        "categories": [
            {
                "name": "Level 2 Features",
                "required": False,
                "result": "WARN",
                "tests": [{"name": "Batch", "result": "WARN", "detail": "no batch"}],
            }
        ],
        "exitCode": 2,
    }
    shown = read_report(official)
    assert (shown.exit_code, shown.reached) == (2, 2)
    for form in FORMATS:
        assert FORMATS[form](shown)
    assert "no batch" in FORMATS["text"](shown)


@pytest.mark.parametrize("content", [None, [], {}, {"categories": []}, {"summary": {}, "categories": []}])
def test_other_json_is_no_report(content: object) -> None:
    assert not is_report(content)


def test_a_report_whose_members_are_of_other_kinds_is_read_as_far_as_it_goes() -> None:
    odd: dict[str, Any] = {"categories": [7, {"tests": [{"result": "ODD", "seconds": True}]}], "exitCode": True}
    shown = read_report(odd | {"summary": 1, "conformanceLevel": "two", "allowed": "x", "seconds": "long"})
    assert shown.checks[0].verdict is Verdict.SKIP
    assert (shown.exit_code, shown.seconds, shown.allowed) == (0, 0.0, ())


# text


def test_the_last_line_says_what_it_amounts_to() -> None:
    assert (
        verdict_line(FAILED) == "Level 1: not passed. 1 passed, 1 warning, 1 failed, 1 skipped; 42 requests in 1.5 s."
    )


@pytest.mark.parametrize(
    ("verdicts", "level", "words"),
    [
        ([(Verdict.PASS, 1), (Verdict.FAIL, 2)], 2, "level 2: not passed; level 1 is"),
        ([(Verdict.FAIL, 1), (Verdict.PASS, 2)], 2, "level 2: not passed"),
        ([(Verdict.PASS, 1), (Verdict.WARN, 2)], 2, "level 2: passed"),
        ([(Verdict.SKIP, 1)], 1, "nothing could be checked"),
    ],
    ids=["the lower level", "none", "warnings", "nothing"],
)
def test_a_level_is_passed_if_nothing_of_it_and_below_fails(
    verdicts: list[tuple[Verdict, int]], level: int, words: str
) -> None:
    made = [
        result(a_check(f"c.{place}", level=of), verdict, *([broken()] if verdict is Verdict.FAIL else []))
        for place, (verdict, of) in enumerate(verdicts)
    ]
    assert shown_of(a_report(*made, level=level)).verdict == words


def test_lines_that_are_read_have_eighty_columns_and_commands_stay_whole() -> None:
    words = "what is wrong " * 20
    made = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, broken("x", words, an_exchange()))), WAY)
    lines = text_of(made, width=80).plain.splitlines()
    assert all(len(line) <= 80 or line.startswith(("    $ ", "    → ", "    ← ")) for line in lines[:-1])
    assert [line for line in lines if line.startswith("    $ ")] == [f"    $ {made.checks[0].findings[0].reproduce}"]


def test_many_findings_are_shown_in_part_unless_all_are_wanted() -> None:
    findings = [broken(f"operation_{number}", "it is wrong") for number in range(9)]
    shown = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, *findings)))
    assert "and 6 more" in text_of(shown).plain
    assert "operation_8" in text_of(shown, verbose=True).plain
    assert shown.checks[0].detail == "it is wrong (and 8 more)"


def test_every_check_is_shown_if_all_are_wanted() -> None:
    said = text_of(FAILED, verbose=True).plain
    assert "- far.is: it is far" in said
    assert "Skipped" not in said


def test_an_answer_that_never_came_is_told_by_why() -> None:
    silent = Exchange("mcp_aql_read", {}, None, "silent", "no answer within 3 seconds")
    shown = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, broken("x", "no", silent))))
    for form in ("text", "markdown", "junit", "html"):
        assert "no answer within 3 seconds" in FORMATS[form](shown)


def test_an_answer_that_is_no_envelope_is_shown_as_it_came() -> None:
    exchange = Exchange.of("mcp_aql_read", {}, Answer({"content": [{"type": "text", "text": "hello"}]}))
    shown = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, broken("x", "no", exchange))))
    assert '"text":"hello"' in text_of(shown).plain


def a_walk(steps: int) -> tuple[Report, Shown]:
    """A finding that took several requests."""
    made = [an_exchange('{"success": true, "data": 1}', {"operation": f"step_{one}_"}) for one in range(steps)]
    report = a_report(result(a_check("bad.is"), Verdict.FAIL, broken("x", "no", *made)))
    return report, shown_of(report)


def steps_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"step\\?_(\d+)\\?_", text)]


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit", "html"])
def test_every_step_of_a_finding_is_shown_in_order(form: str) -> None:
    assert steps_in(FORMATS[form](a_walk(4)[1])) == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["text", "markdown", "junit"])
def test_of_very_many_steps_the_first_and_the_last_are_shown(form: str) -> None:
    said = FORMATS[form](a_walk(30)[1])
    assert steps_in(said) == [0, 1, 2, 3, 4, 25, 26, 27, 28, 29]
    assert "… 20 more" in said


def test_a_test_that_fails_tells_every_step() -> None:
    (told,) = a_walk(30)[0].results
    lines = list(told_of(told))
    assert steps_in("".join(lines)) == [0, 1, 2, 3, 4, 25, 26, 27, 28, 29]
    assert "    … 20 more" in lines
    assert steps_in("".join(told_of(a_walk(3)[0].results[0]))) == [0, 1, 2]


# how long, how secret


def test_what_is_long_is_cut_and_its_length_is_told() -> None:
    exchange = an_exchange(json.dumps({"success": True, "data": "b" * 100_000}), {"params": {"x": "a" * 5_000_000}})
    shown = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, broken("x", "c" * 9_000, exchange))), WAY)
    for form in FORMATS:
        assert len(FORMATS[form](shown)) < 20_000
    assert "(5,000,000 characters)" in json_of(shown)
    assert shown.checks[0].findings[0].reproduce.endswith("--allow create --only bad.is")


def test_what_is_deep_or_wide_is_cut_too() -> None:
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    wide = {"list": list(range(50_000)), "object": {str(number): 1 for number in range(5_000)}, "deep": deep}
    said = json.dumps(shortened(wide))
    assert len(said) < 2_000
    assert "49,990 more" in said
    assert exact_json(deep, 10**9) is None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_spelt_is_one_line_from_which_the_same_is_read(value: object) -> None:
    said = spelt(value)
    assert json.loads(said) == value
    assert said.isprintable()


def test_a_text_that_is_short_stays() -> None:
    assert (cut("four", 4), cut("fives", 4)) == ("four", "five… (5 characters)")


def test_secrets_are_stars_wherever_a_server_repeats_them() -> None:
    exchange = an_exchange('{"success": true, "data": {"echo": "Bearer tok-123456"}}', {"x": "tok-123456"})
    finding = broken("x", "it said tok-123456", exchange)
    made = a_report(result(a_check("bad.is"), Verdict.FAIL, finding))
    shown = shown_of(made, WAY, secrets=frozenset({"tok-123456"}))
    for form in FORMATS:
        assert "tok-123456" not in FORMATS[form](shown)


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("https://ada:sesame@host.example/mcp", "https://ada:***@host.example/mcp"),
        ("https://host.example/mcp?api_key=sesame&page=2", "https://host.example/mcp?api_key=***&page=2"),
        ("https://host.example/mcp?page=2", "https://host.example/mcp?page=2"),
        ("shop.db", "shop.db"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_a_url_is_shown_without_what_is_secret_in_it(target: str, shown: str) -> None:
    assert without_secrets(target) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("serve", "--api-key", "sesame"), "serve --api-key '***'"),
        (("serve", "--token=sesame"), "serve '--token=***'"),
        (("serve", "--token", "--verbose"), "serve --token --verbose"),
        (("serve", "--keyboard", "us"), "serve --keyboard us"),
        (("serve", "https://ada:sesame@host.example/"), "serve 'https://ada:***@host.example/'"),
    ],
)
def test_a_command_is_shown_without_what_is_secret_in_it(words: tuple[str, ...], shown: str) -> None:
    assert str(Way.of(None, words)) == shown


def test_a_header_is_shown_with_its_variable_and_never_with_its_value() -> None:
    assert header_shown("Authorization: Bearer ${TOKEN}") == "Authorization: Bearer ${TOKEN}"
    assert header_shown("Authorization: Bearer sesame") == "Authorization: ***"


def test_a_finding_that_needs_several_requests_is_repeated_by_its_check() -> None:
    finding = broken("x", "no", an_exchange(), an_exchange())
    shown = shown_of(a_report(result(a_check("bad.is"), Verdict.FAIL, finding)), Way.of(None, ("node", "server.js")))
    assert shown.checks[0].findings[0].reproduce == "headgate check --only bad.is -- node server.js"


def test_a_transcript_is_judged_again_with_its_file_or_no_line_is_printed() -> None:
    report = a_report(result(TRANSCRIPT, Verdict.WARN, broken("finds books", "no")))
    named = replace(Way.of("shop.db", rights=("--allow", "create")), transcript=("--transcript", "said.json"))
    lines = [shown_of(report, way).checks[0].findings[0].reproduce for way in (named, Way())]
    assert lines == ["headgate check shop.db --transcript said.json --only semantic.transcript", ""]


def test_the_demo_is_called_so() -> None:
    assert (str(Way()), Way().line("--list")) == ("the demo", "headgate check --list")


# the baseline


def test_what_is_known_is_told_and_does_not_count() -> None:
    baseline = Baseline(frozenset({Known("bad.is", "list_books"), Known("odd.is", "get_book")}))
    shown = shown_of(a_report(), WAY, baseline=baseline)
    assert (shown.exit_code, shown.known, shown.reached) == (0, 2, 0)
    assert "FAIL (known)" in text_of(shown).plain
    assert "2 known findings" in verdict_line(shown)
    junit = ET.fromstring(FORMATS["junit"](shown))  # noqa: S314  (ours)
    assert junit.get("failures") == "0"
    assert len(junit.findall(".//system-out")) == 2


def test_what_is_new_counts_beside_what_is_known() -> None:
    findings = (broken("list_books", "old"), broken("get_book", "new"))
    report = a_report(result(a_check("bad.is"), Verdict.FAIL, *findings))
    shown = shown_of(report, baseline=Baseline(frozenset({Known("bad.is", "list_books")})))
    assert (shown.exit_code, shown.known, shown.known_findings) == (1, 0, 1)
    assert "list_books (known): old" in text_of(shown).plain
    assert "0 warnings, 1 failed, 1 known finding, 0 skipped" in verdict_line(shown)


def test_a_baseline_and_the_report_count_findings_alike() -> None:
    findings = [broken(subject, "no") for subject in ("get_book", "get_book", "list_books")]
    report = a_report(result(a_check("odd.is", Demand.SHOULD), Verdict.WARN, *findings))
    known = baseline_of(report)
    assert shown_of(report, baseline=known).known_findings == len(known.known) == 2
    for form in ("text", "markdown", "html"):
        assert "known finding" in FORMATS[form](shown_of(report, baseline=known))


@pytest.mark.parametrize("name", ["", "shop.db"])
def test_a_name_that_is_the_target_is_told_once(name: str) -> None:
    report = replace(a_report(result(a_check("fine.is"), Verdict.PASS)), subject=Subject(target="shop.db", name=name))
    for form in ("text", "markdown"):
        assert FORMATS[form](shown_of(report)).count("shop.db") == 1
    body = FORMATS["html"](shown_of(report)).partition("<body>")[2]
    assert body.count("shop.db") == 1


def test_what_has_vanished_is_told_and_what_was_not_seen_is_not() -> None:
    known = {Known("fine.is", "x"), Known("far.is", "y"), Known("gone.is", "z"), Known("bad.is", "list_books")}
    shown = shown_of(a_report(), baseline=Baseline(frozenset(known)))
    assert shown.fixed == (Known("fine.is", "x"),)
    for form in ("text", "markdown", "html"):
        assert "fine.is" in FORMATS[form](shown)
    assert "Fixed: fine.is of 'x'; remove it from the baseline." in text_of(shown).plain


# JUnit, the badge


def test_junit_counts_as_build_servers_do() -> None:
    root = ET.fromstring(FORMATS["junit"](FAILED))  # noqa: S314  (ours)
    assert [root.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "1", "0", "1"]
    assert [suite.get("name") for suite in root] == ["Introspection Fidelity", "Parameter Handling", "Data and Limits"]
    failure = root.find(".//failure")
    assert failure is not None
    assert "headgate check" in (failure.text or "")


@pytest.mark.parametrize(
    ("reached", "words", "colour"), [(0, "failing", "#b3261e"), (1, "level 1", "#0b61a4"), (2, "level 2", "#2b7a3d")]
)
def test_a_badge_says_which_level_was_reached(reached: int, words: str, colour: str) -> None:
    area = ShownArea("Error Quality", True, (ShownCheck(title="x", verdict=Verdict.PASS),))
    shown = Shown(subject=Subject(target="x"), level=2, reached=reached, areas=(area,))
    said = FORMATS["badge"](shown)
    assert (f">{words}</text>" in said, colour in said) == (True, True)


# what was tried only in part


def in_part(words: str = "it needs --allow create,delete", *allowed: str, out_of: int = 0, requests: int = 9) -> Shown:
    """A report of a check that passed and one that was skipped."""
    skipped = result(a_check("far.is"), Verdict.SKIP, Finding(Outcome.UNSEEN, "server", words))
    made = a_report(result(a_check("fine.is"), Verdict.PASS), skipped)
    return shown_of(replace(made, allowed=frozenset(allowed), out_of=out_of, requests=requests))


@pytest.mark.parametrize(
    ("shown", "begins", "ends", "badge"),
    [
        (
            in_part(),
            "Level 1: passed as far as reading shows. ",
            "; --allow create,delete tries the rest.",
            "level 1 · read only",
        ),
        (
            in_part("it needs --allow create,delete", "CREATE", "UPDATE"),
            "Level 1: passed as far as these rights show. ",
            "; --allow create,update,delete tries the rest.",
            "level 1 · tried in part",
        ),
        (in_part("it needs --allow create", "CREATE"), "Level 1: passed. ", " s.", "level 1"),
        (in_part("does not apply"), "Level 1: passed. ", " s.", "level 1"),
        (in_part(requests=0), "Level 1: passed. ", "1 skipped.", "level 1"),
        (in_part("does not apply", out_of=50), "2 of 50 checks. ", " s.", "2 of 50 checks"),
    ],
    ids=["only read", "some rights", "all that is needed", "nothing to do with rights", "evidence", "some checks"],
)
def test_what_was_tried_in_part_is_said_to_be_so(shown: Shown, begins: str, ends: str, badge: str) -> None:
    line = verdict_line(shown)
    assert (line[: len(begins)], line[-len(ends) :]) == (begins, ends)
    assert f">{badge}</text>" in FORMATS["badge"](shown)
    wire = wire_of(shown)
    assert wire["complete"] is (badge == "level 1")
    assert wire_of(read_report(wire)) == wire
    for form in ("text", "html", "markdown"):
        assert begins.strip() in FORMATS[form](shown)


def test_a_report_knows_itself_whether_everything_was_tried() -> None:
    lacking = Finding(Outcome.UNSEEN, "server", "it is only called with --allow execute")
    report = a_report(result(a_check("far.is"), Verdict.SKIP, lacking))
    assert (report.rights_lacking, report.complete) == (("execute",), False)
    assert (a_report().complete, replace(a_report(), out_of=9).complete) == (True, False)


# sections


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("specification 4.6", "specification 4.6, Unknown Parameter Handling"),
        ("collection querying 2.6", "collection querying 2.6, Pagination"),
        ("companion, pagination", "companion, pagination"),
        ("", ""),
    ],
)
def test_a_section_is_shown_with_its_heading(section: str, shown: str) -> None:
    assert titled(section) == shown


def test_warnings_alone_are_the_exit_code_2() -> None:
    shown = shown_of(a_report(result(a_check("odd.is", Demand.SHOULD), Verdict.WARN, broken())))
    assert (shown.exit_code, shown.reached) == (2, 1)
