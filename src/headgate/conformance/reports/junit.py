"""The report as JUnit's XML, which build servers show: a suite for each area, a case for each check."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from headgate.conformance.reports.shortening import spelt, steps_of
from headgate.conformance.reports.shown import Shown, ShownArea, ShownCheck, ShownExchange, ShownFinding
from headgate.conformance.sections import titled
from headgate.conformance.values import Verdict
from headgate.protocol.visible import visible

__all__ = ["junit_of"]


def junit_of(shown: Shown) -> str:
    """The whole report. What fails is a failure; what is warned of, or known, has passed and says so in its output."""
    root = ET.Element("testsuites", _numbers(shown.checks) | {"name": f"MCP-AQL {shown.scope}"})
    for area in shown.areas:
        root.append(_suite(area))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _numbers(checks: Iterable[ShownCheck]) -> dict[str, str]:
    found = list(checks)
    return {
        "tests": str(len(found)),
        "failures": str(sum(check.counted is Verdict.FAIL for check in found)),
        "errors": "0",
        "skipped": str(sum(check.verdict is Verdict.SKIP for check in found)),
        "time": f"{sum(check.seconds for check in found):.3f}",
    }


def _suite(area: ShownArea) -> ET.Element:
    suite = ET.Element("testsuite", {"name": visible(area.name), **_numbers(area.checks)})
    suite.extend(_case(area, check) for check in area.checks)
    return suite


def _case(area: ShownArea, check: ShownCheck) -> ET.Element:
    name = check.id or check.title
    case = ET.Element(
        "testcase", {"classname": visible(area.name), "name": visible(name), "time": f"{check.seconds:.3f}"}
    )
    if check.verdict is Verdict.SKIP:
        ET.SubElement(case, "skipped", {"message": visible(check.detail)})
    elif check.counted is Verdict.FAIL:
        failure = ET.SubElement(case, "failure", {"message": visible(check.detail), "type": check.demand or "MUST"})
        failure.text = _told(check)
    elif check.findings:
        ET.SubElement(case, "system-out").text = _told(check)
    return case


def _told(check: ShownCheck) -> str:
    where = ", ".join(filter(None, [check.demand, titled(check.section)]))
    head = f"{check.verdict.value}{' (known)' if check.is_known else ''}: {check.title} ({where})"
    return "\n".join([visible(head), *(_finding(finding) for finding in check.findings)])


def _finding(finding: ShownFinding) -> str:
    lines = [f"{finding.subject}: {finding.words}"]
    first, left_out, last = steps_of(finding.exchanges)
    lines += (line for exchange in first for line in _exchange(exchange))
    lines += [f"  … {left_out} more"] if left_out else []
    lines += (line for exchange in last for line in _exchange(exchange))
    if finding.reproduce:
        lines.append(f"  reproduce: {finding.reproduce}")
    return "\n".join(map(visible, lines))


def _exchange(exchange: ShownExchange) -> tuple[str, str]:
    answer = exchange.problem if exchange.answer is None else spelt(exchange.answer)
    return f"  request: {exchange.tool} {spelt(exchange.request)}", f"  answer: {answer}"
