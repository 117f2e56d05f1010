"""The report as Markdown, for an issue, a pull request or a page. What servers say stays text."""

import re
from collections.abc import Iterator
from typing import Final

from headgate.conformance.reports.shortening import cut, spelt, steps_of
from headgate.conformance.reports.shown import Shown, ShownArea, ShownCheck, ShownExchange, ShownFinding
from headgate.conformance.reports.text import verdict_line
from headgate.conformance.sections import titled
from headgate.conformance.values import Verdict
from headgate.protocol.visible import visible

__all__ = ["markdown_of"]

_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_JSON: Final = 1_000
_MARKS: Final = {Verdict.PASS: "✅", Verdict.WARN: "⚠️", Verdict.FAIL: "❌", Verdict.SKIP: "⏭️"}


def markdown_of(shown: Shown) -> str:
    """The whole report."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: Shown) -> Iterator[str]:
    subject = shown.subject
    yield "# MCP-AQL conformance report"
    yield ""
    yield f"**{_plain(verdict_line(shown))}**"
    yield ""
    facts = {
        "Implementation": " ".join(filter(None, [subject.name, subject.version])),
        "Target": subject.target if subject.target != subject.name else "",
        "Specification": subject.spec_version,
        "Mode": subject.mode,
        "Calls": ", ".join(shown.rights),
        "Checked by": shown.checker,
    }
    yield from (f"- {name}: {_code(value)}" for name, value in facts.items() if value)
    yield ""
    yield from _table(shown)
    for check in shown.broken:
        yield from _broken(check)
    if shown.fixed:
        yield from ("", "## Fixed", "")
        yield from (f"- {_code(one.check)} of {_code(one.subject)}: remove it from the baseline" for one in shown.fixed)
    yield from ("", "## All checks")
    for area in shown.areas:
        yield from _area(area)


def _table(shown: Shown) -> Iterator[str]:
    yield "| | area | passed | warnings | failed | skipped |"
    yield "|---|---|---|---|---|---|"
    for area in shown.areas:
        verdicts = [check.verdict for check in area.checks]
        numbers = (verdicts.count(one) for one in (Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.SKIP))
        yield f"| {_MARKS[area.result]} | {_plain(area.name)} | {' | '.join(map(str, numbers))} |"


def _broken(check: ShownCheck) -> Iterator[str]:
    known = " (known)" if check.is_known else ""
    yield ""
    yield f"## {_MARKS[check.verdict]} {_plain(check.id or check.title)}{known}"
    yield ""
    where = ", ".join(filter(None, [check.demand, titled(check.section)]))
    yield f"{_plain(check.title)}{f' ({_plain(where)})' if where else ''}"
    if not check.findings and check.detail:
        yield from ("", _plain(check.detail))
    for finding in check.findings:
        yield from _finding(finding)


def _finding(finding: ShownFinding) -> Iterator[str]:
    yield ""
    yield f"- **{_plain(finding.subject)}**{' (known)' if finding.known else ''}: {_plain(finding.words)}"
    first, left_out, last = steps_of(finding.exchanges)
    yield from (line for exchange in first for line in _exchange(exchange))
    if left_out:
        yield f"  - … {left_out} more"
    yield from (line for exchange in last for line in _exchange(exchange))
    if finding.reproduce:
        yield f"  - reproduce: {_code(finding.reproduce)}"


def _exchange(exchange: ShownExchange) -> Iterator[str]:
    answer = exchange.problem if exchange.answer is None else spelt(exchange.answer)
    yield f"  - request to {_code(exchange.tool)}: {_code(cut(spelt(exchange.request), _JSON))}"
    yield f"  - answer: {_code(cut(visible(answer), _JSON))}"


def _area(area: ShownArea) -> Iterator[str]:
    yield from ("", f"### {_plain(area.name)}", "")
    for check in area.checks:
        why = f": {_plain(check.detail)}" if check.verdict is Verdict.SKIP and check.detail else ""
        name = f"{_code(check.id)} " if check.id else ""
        yield f"- {_MARKS[check.verdict]} {check.verdict.value} {name}{_plain(check.title)}{why}"


def _plain(text: str) -> str:
    """Text in which no sign means anything, nobody is called by name and no number leads elsewhere."""
    return _SIGNS.sub(r"\\\1", visible(text)).replace("@", "&#64;").replace("://", ":&#47;/")


def _code(text: str) -> str:
    """A span of code, whatever stands in it."""
    shown = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else "` `"
