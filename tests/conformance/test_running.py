"""A run of checks: verdicts by demand, what breaks off, what takes too long, and the report in the end."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from headgate.conformance.probe import Options, Probe
from headgate.conformance.registry import broken, holds, unseen
from headgate.conformance.running import Ended, examine
from headgate.conformance.values import Area, Check, Demand, Finding, Verdict
from tests.conformance.servers import opener_of_server, report_of, toy_server

pytestmark = pytest.mark.anyio

FINE = {"success": True, "data": {"operations": [], "types": []}}


def row(run: Any, demand: Demand = Demand.MUST, name: str = "test.row", level: int = 1) -> Check:
    return Check(
        id=name,
        title="It is so.",
        section="specification 1",
        demand=demand,
        area=Area.FORMAT,
        level=level,  # type: ignore[arg-type]
        how="By looking.",
        proves=(),
        run=run,
    )


def finding(*findings: Finding) -> Any:
    async def run(_probe: Probe) -> AsyncIterator[Finding]:
        for one in findings:
            yield one

    return run


def fine_server() -> Any:
    return opener_of_server(toy_server(lambda _tool, _request: FINE))


@pytest.mark.parametrize(
    ("findings", "demand", "verdict"),
    [
        ([holds("x")], Demand.MUST, Verdict.PASS),
        ([holds("x"), broken("y", "wrong")], Demand.MUST, Verdict.FAIL),
        ([holds("x"), broken("y", "wrong")], Demand.SHOULD, Verdict.WARN),
        ([broken("y", "wrong")], Demand.MAY, Verdict.PASS),
        ([holds("x"), unseen("y", "no")], Demand.MUST, Verdict.PASS),
        ([unseen("y", "nobody knows")], Demand.MUST, Verdict.SKIP),
        ([], Demand.MUST, Verdict.SKIP),
    ],
)
async def test_a_verdict_follows_from_findings_and_demand(
    findings: list[Finding], demand: Demand, verdict: Verdict
) -> None:
    report = await report_of(fine_server(), row(finding(*findings), demand))
    assert report.results[0].verdict is verdict


async def test_why_a_check_was_skipped_is_told() -> None:
    report = await report_of(
        fine_server(), row(finding(unseen("y", "nobody knows"))), row(finding(), name="test.other")
    )
    assert [one.reason for one in report.results] == ["nobody knows", "does not apply to this server"]


@pytest.mark.parametrize(
    ("verdicts", "code", "reached"),
    [
        ([(holds("x"), Demand.MUST, 1)], 0, 2),
        ([(broken("x", "w"), Demand.SHOULD, 1)], 2, 2),
        ([(broken("x", "w"), Demand.MUST, 2)], 1, 1),
        ([(broken("x", "w"), Demand.MUST, 1), (broken("x", "w"), Demand.SHOULD, 1)], 1, 0),
    ],
)
async def test_the_exit_code_and_the_level_follow_from_verdicts(verdicts: Any, code: int, reached: int) -> None:
    rows = [row(finding(one), demand, f"test.{place}", level) for place, (one, demand, level) in enumerate(verdicts)]
    report = await report_of(fine_server(), *rows, level=2)
    assert (report.exit_code, report.reached) == (code, reached)


async def test_checks_of_a_higher_level_are_not_run() -> None:
    report = await report_of(fine_server(), row(finding(broken("x", "w")), level=2), level=1)
    assert report.results == ()


async def test_a_check_that_may_not_ask_is_skipped_with_the_reason() -> None:
    listing = {"operations": [{"name": "delete_all", "semantic_category": "DELETE"}], "types": []}
    server = toy_server(lambda _tool, _request: {"success": True, "data": listing})

    async def run(probe: Probe) -> AsyncIterator[Finding]:
        yield holds("before")
        await probe.ask("mcp_aql_read", {"operation": "delete_all"})
        yield broken("after", "never reached")

    report = await report_of(opener_of_server(server), row(run))
    assert report.results[0].verdict is Verdict.PASS
    assert "--allow delete" in report.results[0].findings[-1].words


async def test_a_server_that_falls_silent_is_given_up_and_blamed_once() -> None:
    from headgate.conformance.checks import ALL_CHECKS

    entry = {"name": "introspect", "semantic_category": "READ", "endpoint": "read", "description": "Discover."}

    async def answer(_tool: str, request: Any) -> object:
        if request["operation"] == "introspect" and request["params"] in ({"query": "operations"}, {"query": "types"}):
            return {"success": True, "data": {"_protocol": {"version": "1.0.0"}, "operations": [entry], "types": []}}
        await anyio.sleep_forever()
        return None

    report = await report_of(opener_of_server(toy_server(answer)), *ALL_CHECKS, seconds=0.05)
    failed = [one.check.id for one in report.results if one.verdict is Verdict.FAIL]
    assert failed == ["transport.answers-everything"]
    assert report.exit_code == 1
    assert any("not reached" in one.reason for one in report.results if one.verdict is Verdict.SKIP)


async def test_a_server_with_many_tools_that_never_answers_has_opened_and_left_a_request_without_an_answer() -> None:
    from headgate.conformance.checks import ALL_CHECKS

    async def answer(_tool: str, _request: Any) -> object:
        await anyio.sleep_forever()
        return None

    tools = tuple(f"mcp_aql_{family}" for family in ("create", "read", "update", "delete", "execute"))
    report = await report_of(opener_of_server(toy_server(answer, tools)), *ALL_CHECKS, seconds=0.05)
    verdicts = {one.check.id: one for one in report.results}
    failed = [one for one in report.results if one.verdict is Verdict.FAIL]
    assert [one.check.id for one in failed] == ["transport.answers-everything"]
    assert [one.kind for one in failed[0].broken[0].exchanges] == ["silent"]
    assert verdicts["transport.opens"].verdict is Verdict.PASS
    assert report.requests == 3


async def test_a_server_that_has_no_answer_yet_when_the_time_is_over_is_told_by_the_request() -> None:
    from headgate.conformance.checks import ALL_CHECKS

    async def answer(_tool: str, _request: Any) -> object:
        await anyio.sleep_forever()
        return None

    run = examine(opener_of_server(toy_server(answer)), Options(), target="toy", checks=ALL_CHECKS, seconds=0.05)
    events = [event async for event in run]
    [failed] = [one.result for one in events if isinstance(one, Ended) and one.result.verdict is Verdict.FAIL]
    assert failed.check.id == "transport.answers-everything"
    assert [one.operation for one in failed.broken[0].exchanges] == ["introspect"]


async def test_a_server_that_has_no_tool_of_mcp_aql_fails_to_open() -> None:
    from headgate.conformance.checks import ALL_CHECKS

    report = await report_of(opener_of_server(toy_server(lambda _t, _r: FINE, ("read_file",))), *ALL_CHECKS)
    failed = [one for one in report.results if one.verdict is Verdict.FAIL]
    assert [one.check.id for one in failed] == ["transport.opens"]
    assert "read_file" in failed[0].broken[0].words


async def test_a_check_that_takes_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.conformance.running._CHECK_SECONDS", 0.05)

    async def run(_probe: Probe) -> AsyncIterator[Finding]:
        await anyio.sleep_forever()
        yield holds("never")

    report = await report_of(fine_server(), row(run))
    assert (report.results[0].verdict, report.results[0].reason) == (Verdict.SKIP, "it took too long")


async def test_a_check_that_is_wrong_itself_ends_in_a_skip_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run(_probe: Probe) -> AsyncIterator[Finding]:
        yield holds("before")
        raise KeyError("a mistake of ours")

    rows = (row(run), row(finding(holds("x")), name="test.other"))
    ended = [
        event.result
        async for event in examine(fine_server(), Options(), target="toy", checks=rows)
        if isinstance(event, Ended)
    ]
    assert [one.verdict for one in ended] == [Verdict.PASS, Verdict.PASS]
    assert ended[0].findings[-1].words.startswith("the check itself broke off (KeyError)")
    assert "test.row" in caplog.text
