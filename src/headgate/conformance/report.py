"""The outcome of a run, and what it amounts to."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from headgate.conformance.reports.reproducing import Way, reproduction_of
from headgate.conformance.reports.shortening import cut, shortened, spelt, steps_of
from headgate.conformance.values import Area, CheckResult, Exchange, Verdict
from headgate.protocol.visible import visible

__all__ = ["NotConformant", "Report", "Subject", "rights_lacking", "told_of"]

_PASSED: Final = 0
_FAILED: Final = 1
_WARNED: Final = 2
_JSON: Final = 600
_RIGHTS: Final = ("create", "update", "delete", "execute")
_NEEDED: Final = re.compile(r"--allow ([a-z,]+)")


class NotConformant(AssertionError):
    """A server does not keep to what it must; the words say in what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who was looked at."""

    target: str
    name: str = ""
    version: str = ""
    era: str = ""
    mode: str = ""
    spec_version: str = ""
    claims: str = ""
    """The level of conformance that it claims."""
    operations: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results of a run."""

    subject: Subject
    level: int
    allowed: frozenset[str]
    results: tuple[CheckResult, ...]
    requests: int
    seconds: float
    out_of: int = 0
    """How many checks there are, where only some of them were asked for."""
    way: Way | None = None
    """How the server is named on the command line, if it can be."""

    @property
    def rights_lacking(self) -> tuple[str, ...]:
        """What would have to be allowed for what was skipped to be tried."""
        skipped = (result.reason for result in self.results if result.verdict is Verdict.SKIP)
        return rights_lacking(skipped, self.allowed)

    @property
    def complete(self) -> bool:
        """Whether everything was asked for, and nothing skipped because nobody allowed it."""
        return not self.out_of and not self.rights_lacking

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many checks came to each verdict."""
        found = Counter(result.verdict for result in self.results)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def reached(self) -> int:
        """The highest level up to the one asked for whose checks none failed."""
        failed = [result.check.level for result in self.results if result.verdict is Verdict.FAIL]
        return min([self.level, *(level - 1 for level in failed)])

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: a MUST failed; 2: only warnings."""
        if self.counts[Verdict.FAIL]:
            return _FAILED
        return _WARNED if self.counts[Verdict.WARN] else _PASSED

    def by_area(self) -> Mapping[Area, tuple[CheckResult, ...]]:
        """The results of each area that has any."""
        areas = {area: tuple(one for one in self.results if one.check.area is area) for area in Area}
        return {area: results for area, results in areas.items() if results}

    def raise_for_failures(self, *, warnings: bool = False) -> None:
        """NotConformant if a MUST failed, or with ``warnings`` a SHOULD, with every finding in its words."""
        counted = (Verdict.FAIL, Verdict.WARN) if warnings else (Verdict.FAIL,)
        wrong = [one for one in self.results if one.verdict in counted]
        if wrong:
            raise NotConformant("\n".join(line for result in wrong for line in told_of(result, self.way)))


def rights_lacking(reasons: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """The rights that the reasons of skipped checks ask for and nobody gave, in the order of the families."""
    wanted = {word for reason in reasons for found in _NEEDED.findall(reason) for word in found.split(",")}
    return tuple(right for right in _RIGHTS if right in wanted - {one.lower() for one in allowed})


def told_of(result: CheckResult, way: Way | None = None) -> Iterator[str]:
    """A check and what it found wrong, line by line, and the commands that show it again."""
    yield f"{result.verdict} {result.check.id}: {result.check.title} ({result.check.section})"
    for finding in result.broken:
        yield f"  {visible(finding.subject)}: {visible(finding.words)}"
        first, left_out, last = steps_of(finding.exchanges)
        yield from (line for exchange in first for line in _exchange(exchange))
        if left_out:
            yield f"    … {left_out} more"
        yield from (line for exchange in last for line in _exchange(exchange))
        line = reproduction_of(result.check, finding, way) if way is not None else ""
        yield from [f"    $ {line}"] if line else []


def _exchange(exchange: Exchange) -> Iterator[str]:
    answer = exchange.problem if exchange.envelope is None else spelt(shortened(exchange.envelope))
    yield f"    → {visible(exchange.tool)} {cut(spelt(shortened(exchange.arguments)), _JSON)}"
    yield f"    ← {cut(visible(answer), _JSON)}"
