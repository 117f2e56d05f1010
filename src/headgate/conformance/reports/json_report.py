"""The report as JSON: what the specification's own runner tells, and more. It can be read again."""

import json
from collections.abc import Mapping
from typing import Any, Final

from headgate.conformance.baseline import Known
from headgate.conformance.report import Subject
from headgate.conformance.reports.shown import Shown, ShownArea, ShownCheck, ShownExchange, ShownFinding
from headgate.conformance.values import Verdict
from headgate.protocol.visible import visible

__all__ = ["is_report", "json_of", "read_report", "wire_of"]

_TELLING: Final = ("categories", "summary", "conformanceLevel")


def json_of(shown: Shown) -> str:
    """The report as indented JSON in which nothing steers a terminal."""
    lines = json.dumps(wire_of(shown), ensure_ascii=False, indent=2, default=str).split("\n")
    return "\n".join(map(visible, lines)) + "\n"


def wire_of(shown: Shown) -> dict[str, Any]:
    """The report as a JSON object."""
    subject, counts = shown.subject, shown.counts
    return {
        "implementation": subject.name or subject.target,
        "version": subject.version,
        "specVersion": subject.spec_version,
        "requestedLevel": shown.level,
        "conformanceLevel": shown.reached,
        "summary": {
            "total": len(shown.checks),
            "passed": counts[Verdict.PASS],
            "warned": counts[Verdict.WARN],
            "failed": counts[Verdict.FAIL],
            "skipped": counts[Verdict.SKIP],
            "known": shown.known,
            "knownFindings": shown.known_findings,
        },
        "categories": [_area(area) for area in shown.areas],
        "exitCode": shown.exit_code,
        "checker": shown.checker,
        "target": subject.target,
        "era": subject.era,
        "mode": subject.mode,
        "claims": subject.claims,
        "operations": subject.operations,
        "operationsLeftOut": subject.left_out,
        "allowed": list(shown.allowed),
        "rights": list(shown.rights),
        "rightsLacking": list(shown.rights_lacking),
        "complete": shown.complete,
        "outOf": shown.out_of or len(shown.checks),
        "requests": shown.requests,
        "seconds": round(shown.seconds, 3),
        "fixed": [{"check": one.check, "subject": one.subject} for one in shown.fixed],
    }


def _area(area: ShownArea) -> dict[str, Any]:
    tests = [_check(check) for check in area.checks]
    return {"name": area.name, "required": area.required, "result": area.result.value, "tests": tests}


def _check(check: ShownCheck) -> dict[str, Any]:
    return {
        "name": check.title,
        "result": check.verdict.value,
        "detail": check.detail,
        "id": check.id,
        "section": check.section,
        "demand": check.demand,
        "level": check.level,
        "seconds": round(check.seconds, 3),
        "findings": [_finding(finding) for finding in check.findings],
    }


def _finding(finding: ShownFinding) -> dict[str, Any]:
    return {
        "subject": finding.subject,
        "words": finding.words,
        "known": finding.known,
        "reproduce": finding.reproduce,
        "exchanges": [
            {"tool": one.tool, "request": one.request, "answer": one.answer, "problem": one.problem}
            for one in finding.exchanges
        ],
    }


def is_report(content: object) -> bool:
    """Whether JSON is a report, of ours or of the specification's runner."""
    return isinstance(content, Mapping) and all(key in content for key in _TELLING)


def read_report(content: Mapping[str, Any]) -> Shown:
    """A report out of its JSON. What is missing or of another form is left empty: others write reports too."""
    return Shown(
        subject=Subject(
            target=_text(content, "target"),
            name=_text(content, "implementation"),
            version=_text(content, "version"),
            era=_text(content, "era"),
            mode=_text(content, "mode"),
            spec_version=_text(content, "specVersion"),
            claims=_text(content, "claims"),
            operations=_number(content, "operations"),
            left_out=_number(content, "operationsLeftOut"),
        ),
        level=_number(content, "requestedLevel"),
        reached=_number(content, "conformanceLevel"),
        areas=tuple(_read_area(area) for area in _objects(content, "categories")),
        allowed=tuple(str(one) for one in _list(content, "allowed")),
        requests=_number(content, "requests"),
        seconds=_seconds(content),
        fixed=tuple(Known(_text(one, "check"), _text(one, "subject")) for one in _objects(content, "fixed")),
        checker=_text(content, "checker"),
        out_of=_out_of(content),
        told_exit_code=_number(content, "exitCode"),
    )


def _out_of(content: Mapping[str, Any]) -> int:
    """How many checks there are, if these are not all that were to be run."""
    number = _number(content, "outOf")
    found = sum(len(_objects(area, "tests")) for area in _objects(content, "categories"))
    return number if number > found else 0


def _read_area(area: Mapping[str, Any]) -> ShownArea:
    tests = tuple(_read_check(test) for test in _objects(area, "tests"))
    return ShownArea(_text(area, "name"), area.get("required") is True, tests)


def _read_check(test: Mapping[str, Any]) -> ShownCheck:
    told = _text(test, "result")
    return ShownCheck(
        title=_text(test, "name"),
        verdict=Verdict(told) if told in {*Verdict} else Verdict.SKIP,
        id=_text(test, "id"),
        section=_text(test, "section"),
        demand=_text(test, "demand"),
        level=_number(test, "level"),
        detail=_text(test, "detail"),
        findings=tuple(_read_finding(finding) for finding in _objects(test, "findings")),
        seconds=_seconds(test),
    )


def _read_finding(finding: Mapping[str, Any]) -> ShownFinding:
    return ShownFinding(
        subject=_text(finding, "subject"),
        words=_text(finding, "words"),
        exchanges=tuple(
            ShownExchange(_text(one, "tool"), one.get("request"), one.get("answer"), _text(one, "problem"))
            for one in _objects(finding, "exchanges")
        ),
        reproduce=_text(finding, "reproduce"),
        known=finding.get("known") is True,
    )


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    return value if isinstance(value, str) else ""


def _number(content: Mapping[str, Any], key: str) -> int:
    value = content.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _seconds(content: Mapping[str, Any]) -> float:
    value = content.get("seconds")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _list(content: Mapping[str, Any], key: str) -> list[Any]:
    value = content.get(key)
    return value if isinstance(value, list) else []


def _objects(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [one for one in _list(content, key) if isinstance(one, Mapping)]
