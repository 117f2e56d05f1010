"""The report for a person: calm, in eighty columns, what is wrong in full and the rest in a line."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich.text import Text

from headgate.conformance.reports.shortening import cut, spelt, steps_of
from headgate.conformance.reports.shown import Shown, ShownArea, ShownCheck, ShownExchange, ShownFinding
from headgate.conformance.sections import titled
from headgate.conformance.values import Verdict
from headgate.protocol.visible import visible

__all__ = ["WIDTH", "counted", "text_of", "verdict_line"]

WIDTH: Final = 80
_MOST_FINDINGS: Final = 3
_JSON: Final = 400
_STEP_JSON: Final = 200
_RIGHTS: Final = ("create", "update", "delete", "execute")
_MARKS: Final = {Verdict.PASS: "✓", Verdict.WARN: "!", Verdict.FAIL: "✗", Verdict.SKIP: "-"}
_COLOURS: Final = {Verdict.PASS: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red", Verdict.SKIP: "dim"}
_WORDS: Final = {Verdict.PASS: "passed", Verdict.WARN: "warning", Verdict.FAIL: "failed", Verdict.SKIP: "skipped"}


def text_of(shown: Shown, *, verbose: bool = False, width: int = WIDTH) -> Text:
    """The whole report. Colours are in it; whoever prints it decides whether they are seen."""
    parts = (
        _head(shown, width),
        _areas(shown.areas, verbose=verbose),
        *(_broken(check, width, verbose=verbose) for check in shown.broken),
        _skipped(shown, width, verbose=verbose),
        _fixed(shown),
        [_verdict(shown)],
    )
    filled = [lines for part in parts if (lines := list(part))]
    return Text("\n\n").join(Text("\n").join(lines) for lines in filled)


def verdict_line(shown: Shown) -> str:
    """The last line: what it amounts to, and how many."""
    verdict = shown.verdict[:1].upper() + shown.verdict[1:]
    took = f"; {_many(shown.requests, 'request')} in {shown.seconds:.1f} s" if shown.requests else ""
    wanted = {*shown.rights, *shown.rights_lacking}
    rights = ",".join(one for one in _RIGHTS if one in wanted)
    more = f"; --allow {rights} tries the rest" if shown.rights_lacking else ""
    return f"{verdict}. {counted(shown.counts, shown.known_findings)}{took}{more}."


def counted(counts: Mapping[Verdict, int], known: int = 0) -> str:
    """How many checks came to which verdict, and how many findings are known."""
    told = [_count(verdict, counts[verdict]) for verdict in (Verdict.PASS, Verdict.WARN, Verdict.FAIL)]
    return ", ".join(
        [*told, *([_many(known, "known finding")] if known else []), _count(Verdict.SKIP, counts[Verdict.SKIP])]
    )


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _head(shown: Shown, width: int) -> Iterator[Text]:
    subject = shown.subject
    name = visible(subject.name or subject.target or "a server")
    yield Text.assemble((name, "bold"), f" {visible(subject.version)}" if subject.version else "")
    told = [
        subject.target if visible(subject.target) != name else "",
        *([f"MCP-AQL {subject.spec_version}"] if subject.spec_version else []),
        *([f"{subject.mode} mode"] if subject.mode else []),
        *([f"{subject.era} MCP"] if subject.era else []),
        *([_many(subject.operations, "operation")] if subject.operations else []),
    ]
    yield from _wrapped(" · ".join(filter(None, told)), width, "", "dim")
    rights = f" · calls {', '.join(shown.rights)}" if shown.rights else ""
    left = f"; {_many(subject.left_out, 'operation')} not looked into" if subject.left_out else ""
    yield Text(f"{shown.scope}{rights}{left}", style="dim")


def _areas(areas: Iterable[ShownArea], *, verbose: bool) -> Iterator[Text]:
    for area in areas:
        counts = Counter(check.verdict for check in area.checks)
        told = ", ".join(_count(verdict, counts[verdict]) for verdict in Verdict if counts[verdict])
        yield Text.assemble(_mark(area.result), f" {visible(area.name):<26} ", (told, _COLOURS[area.result]))
        if verbose:
            yield from (_row(check) for check in area.checks)


def _count(verdict: Verdict, number: int) -> str:
    return _many(number, "warning") if verdict is Verdict.WARN else f"{number} {_WORDS[verdict]}"


def _row(check: ShownCheck) -> Text:
    why = f": {visible(check.detail)}" if check.verdict is Verdict.SKIP and check.detail else ""
    return Text.assemble("    ", _mark(check.verdict), f" {visible(check.id or check.title)}", (why, "dim"))


def _mark(verdict: Verdict) -> tuple[str, str]:
    return (_MARKS[verdict], _COLOURS[verdict])


def _broken(check: ShownCheck, width: int, *, verbose: bool) -> Iterator[Text]:
    label = f"{check.verdict.value} (known)" if check.is_known else check.verdict.value
    where = ", ".join(filter(None, [check.demand, titled(check.section)]))
    yield Text.assemble(
        (label, f"bold {_COLOURS[check.verdict]}"),
        ("  ", ""),
        (visible(check.id or check.title), "bold"),
    )
    if check.id:
        yield from _wrapped(check.title, width, "  ")
    if where:
        yield from _wrapped(where, width, "  ", "dim")
    if not check.findings and check.detail:
        yield from _wrapped(check.detail, width, "  ")
    most = len(check.findings) if verbose else _MOST_FINDINGS
    for finding in check.findings[:most]:
        yield Text("")
        yield from _finding(finding, width, check_is_known=check.is_known)
    if len(check.findings) > most:
        yield Text(f"\n  … and {len(check.findings) - most} more; --verbose shows them all", style="dim")


def _finding(finding: ShownFinding, width: int, *, check_is_known: bool) -> Iterator[Text]:
    known = " (known)" if finding.known and not check_is_known else ""
    about = f"{finding.subject}{known}: " if finding.subject not in finding.words or known else ""
    yield from _wrapped(f"{about}{finding.words}", width, "  ")
    first, left_out, last = steps_of(finding.exchanges)
    most = _JSON if len(finding.exchanges) == 1 else _STEP_JSON
    yield from (line for exchange in first for line in _exchange(exchange, most))
    if left_out:
        yield Text(f"    … {left_out} more; --format json has them all", style="dim")
    yield from (line for exchange in last for line in _exchange(exchange, most))
    if finding.reproduce:
        yield Text.assemble(("    $ ", "dim"), (visible(finding.reproduce), "cyan"))


def _exchange(exchange: ShownExchange, most: int) -> Iterator[Text]:
    yield Text.assemble(("    → ", "dim"), cut(f"{visible(exchange.tool)} {spelt(exchange.request)}", most))
    answer = exchange.problem if exchange.answer is None else spelt(exchange.answer)
    yield Text.assemble(("    ← ", "dim"), cut(visible(answer), most))


def _skipped(shown: Shown, width: int, *, verbose: bool) -> Iterator[Text]:
    """Why checks were skipped, unless each was told already."""
    reasons = Counter(check.detail for check in shown.checks if check.verdict is Verdict.SKIP and check.detail)
    if verbose or not reasons:
        return
    yield Text("Skipped", style="bold")
    for reason, number in reasons.most_common():
        first, *rest = list(_wrapped(reason, width, "       "))
        yield Text.assemble((f"  {number:>3}  ", "dim"), first.plain.strip())
        yield from rest


def _fixed(shown: Shown) -> Iterator[Text]:
    for one in shown.fixed:
        words = f"Fixed: {visible(one.check)} of '{visible(one.subject)}'; remove it from the baseline."
        yield Text(words, style="green")


def _verdict(shown: Shown) -> Text:
    colour = {0: "bold green" if shown.complete else "bold cyan", 2: "bold yellow"}.get(shown.exit_code, "bold red")
    return Text(verdict_line(shown), style=colour)


def _wrapped(words: str, width: int, indent: str, style: str = "") -> Iterator[Text]:
    shown = textwrap.wrap(
        visible(words), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return (Text(line, style=style) for line in shown or [indent])
