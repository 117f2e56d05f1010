"""A report as it is shown: the same values whether a run has just ended or its JSON is read again."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from headgate.adapter.masking import scrubbed
from headgate.conformance.baseline import Baseline, Known, fixed_in
from headgate.conformance.report import Report, Subject, rights_lacking
from headgate.conformance.reports.reproducing import Way, reproduction_of
from headgate.conformance.reports.shortening import cut, exact_json, shortened
from headgate.conformance.values import CheckResult, Demand, Exchange, Finding, Verdict

__all__ = ["Shown", "ShownArea", "ShownCheck", "ShownExchange", "ShownFinding", "result_of_all", "shown_of"]

_LONGEST_JSON: Final = 3_000
_LONGEST_WORDS: Final = 2_000


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """A request and its answer, no longer than somebody reads."""

    tool: str
    request: object
    answer: object
    problem: str = ""
    """Why there is no answer."""


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """One thing that is wrong."""

    subject: str
    words: str
    exchanges: tuple[ShownExchange, ...] = ()
    reproduce: str = ""
    """The command that shows it again."""
    known: bool = False
    """Whether the baseline has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCheck:
    """One check and what became of it."""

    title: str
    verdict: Verdict
    id: str = ""
    section: str = ""
    demand: str = ""
    level: int = 0
    detail: str = ""
    """Why it was skipped, or what is wrong, in one line."""
    findings: tuple[ShownFinding, ...] = ()
    seconds: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether it is broken, and nothing about that is new."""
        return bool(self.findings) and all(finding.known for finding in self.findings)

    @property
    def counted(self) -> Verdict | None:
        """The verdict, or nothing where all of it is known."""
        return None if self.is_known else self.verdict


@dataclass(frozen=True, slots=True)
class ShownArea:
    """The checks of one area."""

    name: str
    required: bool
    checks: tuple[ShownCheck, ...]

    @property
    def result(self) -> Verdict:
        """The worst of all verdicts; SKIP where there is none."""
        return result_of_all(check.verdict for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A whole report."""

    subject: Subject
    level: int
    reached: int
    areas: tuple[ShownArea, ...]
    allowed: tuple[str, ...] = ()
    requests: int = 0
    seconds: float = 0.0
    fixed: tuple[Known, ...] = ()
    """What the baseline says is wrong, and no longer is."""
    checker: str = ""
    out_of: int = 0
    """How many checks there are, where only some of them were asked for."""
    told_exit_code: int | None = None
    """What a saved report ended with, which another program may have judged otherwise."""

    @property
    def checks(self) -> tuple[ShownCheck, ...]:
        """All checks."""
        return tuple(check for area in self.areas for check in area.checks)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many checks came to each verdict; those that are known not among them."""
        found = Counter(check.counted for check in self.checks)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def known(self) -> int:
        """How many checks fail in no other way than the baseline says."""
        return sum(check.is_known for check in self.checks)

    @property
    def known_findings(self) -> int:
        """How many findings of the baseline are there still, as its rows count them."""
        return len({(check.id, one.subject) for check in self.checks for one in check.findings if one.known})

    @property
    def exit_code(self) -> int:
        """0: all is well or known; 1: a MUST failed; 2: only warnings."""
        if self.told_exit_code is not None:
            return self.told_exit_code
        if self.counts[Verdict.FAIL]:
            return 1
        return 2 if self.counts[Verdict.WARN] else 0

    @property
    def broken(self) -> tuple[ShownCheck, ...]:
        """What failed or is warned of, failures first."""
        wrong = (Verdict.FAIL, Verdict.WARN)
        found = [check for check in self.checks if check.verdict in wrong]
        return tuple(sorted(found, key=lambda check: (check.is_known, wrong.index(check.verdict))))

    @property
    def rights(self) -> tuple[str, ...]:
        """What could be called; nothing where nothing was asked of a server."""
        return ("read", *(one.lower() for one in self.allowed)) if self.requests else ()

    @property
    def rights_lacking(self) -> tuple[str, ...]:
        """What would have to be allowed for what was skipped to be tried."""
        if not self.requests:
            return ()
        return rights_lacking((one.detail for one in self.checks if one.verdict is Verdict.SKIP), self.allowed)

    @property
    def complete(self) -> bool:
        """Whether everything was asked for, and nothing skipped because nobody allowed it."""
        return not self.out_of and not self.rights_lacking

    @property
    def scope(self) -> str:
        """What was asked for: a level, or some checks alone."""
        return f"{len(self.checks)} of {self.out_of} checks" if self.out_of else f"level {self.level}"

    @property
    def verdict(self) -> str:
        """What it amounts to, in a few words."""
        if not any(check.verdict is not Verdict.SKIP for check in self.checks):
            return "nothing could be checked"
        if self.out_of:
            return self.scope
        if self.reached >= self.level:
            shows = "these rights show" if self.allowed else "reading shows"
            return f"level {self.level}: passed{f' as far as {shows}' if self.rights_lacking else ''}"
        lower = f"; level {self.reached} is" if self.reached else ""
        return f"level {self.level}: not passed{lower}"


def result_of_all(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several verdicts."""
    found = {*verdicts}
    order = (Verdict.FAIL, Verdict.WARN, Verdict.PASS)
    return next((verdict for verdict in order if verdict in found), Verdict.SKIP)


def shown_of(
    report: Report,
    way: Way = Way(),  # noqa: B008  (frozen)
    *,
    baseline: Baseline = Baseline(),  # noqa: B008  (frozen)
    secrets: frozenset[str] = frozenset(),
    checker: str = "",
) -> Shown:
    """A report as it is shown: every finding with the command that shows it again, and no secret anywhere."""
    made = _Maker(way, baseline, secrets)
    areas = report.by_area().items()
    return Shown(
        subject=report.subject,
        level=report.level,
        reached=report.reached,
        areas=tuple(
            ShownArea(
                area.value,
                any(result.check.demand is Demand.MUST for result in results),
                tuple(made.check(result) for result in results),
            )
            for area, results in areas
        ),
        allowed=tuple(sorted(report.allowed)),
        requests=report.requests,
        seconds=report.seconds,
        fixed=fixed_in(report, baseline),
        checker=checker,
        out_of=report.out_of,
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    way: Way
    baseline: Baseline
    secrets: frozenset[str]

    def check(self, result: CheckResult) -> ShownCheck:
        check = result.check
        findings = tuple(self._finding(result, finding) for finding in result.broken)
        return ShownCheck(
            id=check.id,
            title=check.title,
            verdict=result.verdict,
            section=check.section,
            demand=check.demand.value,
            level=check.level,
            detail=self._detail(result, findings),
            findings=findings if result.verdict in (Verdict.FAIL, Verdict.WARN) else (),
            seconds=result.seconds,
        )

    def _detail(self, result: CheckResult, findings: tuple[ShownFinding, ...]) -> str:
        if result.verdict is Verdict.SKIP:
            return self._clean(result.reason)
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        return f"{findings[0].words}{more}" if findings else ""

    def _finding(self, result: CheckResult, finding: Finding) -> ShownFinding:
        return ShownFinding(
            subject=self._clean(finding.subject),
            words=self._clean(finding.words),
            exchanges=tuple(map(self._exchange, finding.exchanges)),
            reproduce=self._clean(reproduction_of(result.check, finding, self.way)),
            known=Known(result.check.id, finding.subject) in self.baseline.known,
        )

    def _exchange(self, exchange: Exchange) -> ShownExchange:
        raw = exchange.answer.raw if exchange.answer is not None else None
        answer = exchange.envelope if exchange.envelope is not None else raw
        problem = self._clean(exchange.problem)
        return ShownExchange(exchange.tool, self._value(exchange.arguments), self._value(answer), problem)

    def _value(self, value: object) -> object:
        shown = value if exact_json(value, _LONGEST_JSON) is not None else shortened(value)
        return scrubbed(shown, self.secrets)

    def _clean(self, text: str) -> str:
        return str(scrubbed(cut(text, _LONGEST_WORDS), self.secrets))
