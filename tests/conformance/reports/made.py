"""Reports that are made by hand, with everything in them that a report can have."""

from collections.abc import AsyncIterator

from headgate.client.wires import Answer
from headgate.conformance.probe import Probe
from headgate.conformance.report import Report, Subject
from headgate.conformance.values import Area, Check, CheckResult, Demand, Exchange, Finding, Outcome, Verdict
from tests.conformance.leaky import HOSTILE

__all__ = ["HOSTILE", "REQUEST", "a_check", "a_report", "an_exchange", "broken", "result"]

REQUEST = {"operation": "list_books", "params": {"zz": HOSTILE}}


async def _nothing(_probe: Probe) -> AsyncIterator[Finding]:
    return
    yield


def a_check(id: str, demand: Demand = Demand.MUST, level: int = 1, area: Area = Area.PARAMETERS) -> Check:  # noqa: A002
    return Check(
        id=id,
        title=f"What {id} proves.",
        section="specification 4.6",
        demand=demand,
        area=area,
        level=2 if level == 2 else 1,
        how="By looking.",
        proves=(),
        run=_nothing,
    )


def an_exchange(text: str = '{"success": true, "data": "%s"}', arguments: object = None) -> Exchange:
    answer = Answer({"content": [{"type": "text", "text": text}]})
    return Exchange.of("mcp_aql_read", REQUEST if arguments is None else arguments, answer)


def broken(subject: str = "list_books", words: str = f"it says {HOSTILE}", *exchanges: Exchange) -> Finding:
    return Finding(Outcome.BROKEN, subject, words, exchanges)


def result(check: Check, verdict: Verdict, *findings: Finding) -> CheckResult:
    return CheckResult(check, verdict, findings, 0.25)


def a_report(*results: CheckResult, level: int = 1, name: str = "shop") -> Report:
    """One check that passed, one that failed, one that warns and one that was skipped, unless others are given."""
    made = results or (
        result(a_check("fine.is", area=Area.INTROSPECTION), Verdict.PASS),
        result(a_check("bad.is"), Verdict.FAIL, broken("list_books", f"it says {HOSTILE}", an_exchange())),
        result(a_check("odd.is", Demand.SHOULD), Verdict.WARN, broken("get_book", "it is odd")),
        result(a_check("far.is", area=Area.DATA), Verdict.SKIP, Finding(Outcome.UNSEEN, "server", "it is far")),
    )
    return Report(
        subject=Subject(target="http://127.0.0.1:3000/mcp", name=name, version="1.2", operations=3, mode="semantic"),
        level=level,
        allowed=frozenset({"CREATE"}),
        results=made,
        requests=42,
        seconds=1.5,
    )
