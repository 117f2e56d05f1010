"""A server is checked with one call, from any test suite."""

import sys
from pathlib import Path
from typing import Any

import pytest

import headgate.conformance
from headgate import Adapter
from headgate.client.wires import Command, InProcess, Unreachable, Url
from headgate.conformance import NotConformant, Report, check_server
from headgate.conformance.checking import Checked, opener_of_target, place_of, way_of
from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.choice import area_of, check_of, chosen_checks, rights_of
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.report import told_of
from headgate.conformance.running import Finished, Started
from headgate.conformance.values import Area, Demand, Verdict
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.bookshop import build_bookshop
from tests.conformance.reports.made import a_check, a_report, broken, result
from tests.conformance.servers import toy_server
from tests.support import ROOT

LEAKY = [sys.executable, str(ROOT / "tests" / "conformance" / "leaky.py")]
UNKNOWN = "parameters.unknown-refused"
OPENS = "transport.opens"


def test_a_server_that_is_started_is_checked() -> None:
    report = check_server(LEAKY, only=[UNKNOWN, OPENS])
    assert {one.check.id: one.verdict for one in report.results} == {UNKNOWN: Verdict.FAIL, OPENS: Verdict.PASS}
    assert (report.subject.name, report.exit_code) == ("leaky", 1)
    assert "leaky.py" in report.subject.target


def test_failures_are_raised_with_the_request_and_the_answer() -> None:
    report = check_server(Command(tuple(LEAKY)), only=[UNKNOWN])
    with pytest.raises(NotConformant, match=UNKNOWN) as raised:
        report.raise_for_failures()
    assert '→ mcp_aql_read {"operation":"get_thing"' in str(raised.value)
    assert '← {"success":true' in str(raised.value)
    assert "    $ headgate check --send '{" in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_a_server_that_passes_raises_nothing() -> None:
    check_server([*LEAKY, "strict"], only=[UNKNOWN]).raise_for_failures(warnings=True)


def test_warnings_are_raised_only_if_they_are_asked_for() -> None:
    report = a_report(result(a_check("odd.is", Demand.SHOULD), Verdict.WARN, broken()))
    report.raise_for_failures()
    with pytest.raises(NotConformant, match=r"odd\.is"):
        report.raise_for_failures(warnings=True)


def test_an_adapter_is_checked_in_this_process() -> None:
    library = Adapter("library")

    @library.read
    async def get_book(isbn: str) -> str:
        """Get one book."""
        return isbn

    seen: list[object] = []
    report = check_server(library, only=[OPENS, UNKNOWN], on_event=seen.append)
    assert (report.subject.target, report.exit_code) == ("library", 0)
    assert isinstance(seen[0], Started)
    assert isinstance(seen[-1], Finished)


@pytest.mark.parametrize("kind", ["module", "database", "server", "place"])
def test_whatever_headgate_can_serve_or_reach_is_checked(kind: str, tmp_path: Path) -> None:
    build_bookshop(tmp_path / "shop.db")
    targets: dict[str, Any] = {
        "module": f"{ROOT / 'examples' / 'library.py'}:library",
        "database": str(tmp_path / "shop.db"),
        "server": InProcess(toy_server(lambda _tool, _arguments: {"success": True, "data": {}})),
        "place": f"stdio:{LEAKY[0]} {LEAKY[1]}",
    }
    report = check_server(targets[kind], only=[OPENS], operations=2)
    assert [one.verdict for one in report.results] == [Verdict.PASS]


def test_where_nobody_is_that_is_said() -> None:
    with pytest.raises(Unreachable):
        check_server(Url("http://127.0.0.1:9/mcp"), only=[OPENS])
    with pytest.raises(Unreachable, match="there is no 'no-such-program'"):
        check_server(["no-such-program"], only=[OPENS])


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (Url("http://ada:sesame@127.0.0.1:9/mcp", {"X-Key": "sesame"}), "http://ada:***@127.0.0.1:9/mcp' --header"),
        ("http://127.0.0.1:9/mcp", "http://127.0.0.1:9/mcp --header"),
        (["node", "server.js"], "headgate check --allow create --only a.b -- node server.js"),
        ("stdio:node server.js", "headgate check --allow create --only a.b -- node server.js"),
        ("shop.db", "headgate check shop.db --allow create --only a.b"),
    ],
)
def test_what_was_checked_is_named_again_without_its_secrets(target: Checked, line: str) -> None:
    way = way_of(target, {"X-Team": "sesame"}, ("--allow", "create"))
    assert way is not None
    said = way.line("--only", "a.b", with_rights=True)
    assert (line in said, "sesame" in said) == (True, False)


def test_what_only_this_process_knows_has_no_command_line() -> None:
    assert way_of(Adapter("library"), {}, ()) is None
    assert way_of(InProcess(toy_server(lambda _tool, _arguments: {})), {}, ()) is None


def test_the_rights_and_the_fixtures_of_a_call_are_repeated(tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures.toml"
    fixtures.write_text("")
    report = check_server(LEAKY, only=[OPENS], allow="create,delete", fixtures=fixtures)
    assert report.way is not None
    assert report.way.rights == ("--allow", "create,delete", "--fixtures", str(fixtures))
    assert (report.out_of, report.complete) == (len(ALL_CHECKS), False)


@pytest.mark.parametrize("target", ["", 7])
def test_what_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises((AdapterError, TypeError)):
        opener_of_target(target)


def test_a_url_keeps_its_headers_and_never_shows_them() -> None:
    place = place_of("http://127.0.0.1:9/mcp", {"Authorization": "Bearer sesame"})
    assert isinstance(place, Url)
    assert place.headers["Authorization"] == "Bearer sesame"
    assert "sesame" not in repr(place)


@pytest.mark.parametrize(
    "fixtures",
    [Fixtures(), {"leave_alone": ["get_thing"]}, None, Path("fixtures.toml")],
    ids=["values", "table", "none", "file"],
)
def test_fixtures_are_taken_in_any_form(fixtures: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fixtures.toml").write_text('leave_alone = ["get_thing"]\n')
    report = check_server(LEAKY, only=[UNKNOWN], fixtures=fixtures)
    left_alone = fixtures not in (None, Fixtures())
    assert (report.results[0].verdict is Verdict.FAIL) == (not left_alone)


# what is chosen


def test_rights_are_words_with_commas() -> None:
    assert rights_of("create, Update") == {"CREATE", "UPDATE"}
    assert rights_of(["create", "delete,execute", "read", ""]) == {"CREATE", "DELETE", "EXECUTE"}
    with pytest.raises(AdapterError, match=r"'delet' cannot be allowed.*Did you mean 'delete'"):
        rights_of("delet")


@pytest.mark.parametrize("name", ["Parameter Handling", "parameters", "parameter-handling", "PARAMETERS"])
def test_an_area_is_found_by_its_name_or_its_word(name: str) -> None:
    assert area_of(name) is Area.PARAMETERS


def test_an_area_that_is_not_known_is_answered_with_the_nearest_or_with_all() -> None:
    with pytest.raises(AdapterError, match="Did you mean 'Error Quality'"):
        area_of("error qualty")
    with pytest.raises(AdapterError, match="there are Introspection Fidelity"):
        area_of("zzzzzz")


def test_a_check_that_is_not_known_is_answered_with_the_nearest() -> None:
    assert check_of(OPENS).id == OPENS
    with pytest.raises(AdapterError, match=r"Did you mean 'transport\.opens'"):
        check_of("transport.open")


def test_checks_are_chosen_by_level_area_and_name() -> None:
    assert {check.level for check in chosen_checks(level=1)} == {1}
    assert chosen_checks(level=2) == ALL_CHECKS
    assert {check.area for check in chosen_checks(level=2, category="batches")} == {Area.BATCHES}
    assert Area.SEMANTIC not in {check.area for check in chosen_checks(level=2, semantic=False)}
    high = next(check for check in ALL_CHECKS if check.level == 2)
    assert chosen_checks(level=1, only=[high.id]) == (high,)
    with pytest.raises(AdapterError, match="there is no level 3"):
        chosen_checks(level=3)


# the surface


def test_the_package_gives_what_suites_want_and_nothing_else() -> None:
    assert headgate.conformance.Report is Report
    assert {name: getattr(headgate.conformance, name).__name__ for name in headgate.conformance.__all__} == {
        "NotConformant": "NotConformant",
        "Report": "Report",
        "check_server": "check_server",
    }
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = headgate.conformance.nonsense


def test_a_finding_without_a_request_is_told_in_its_words() -> None:
    lines = list(told_of(result(a_check("odd.is"), Verdict.FAIL, broken("x", "it is odd"))))
    assert lines == ["FAIL odd.is: What odd.is proves. (specification 4.6)", "  x: it is odd"]
