"""Findings that are known: they are told, and only new ones count."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headgate.conformance.report import Report
from headgate.conformance.values import Verdict
from headgate.protocol.adapter_errors import AdapterError

__all__ = ["Baseline", "Known", "baseline_of", "fixed_in"]

_FORM: Final = 1


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """One thing that is known to be wrong: which check says so, and of what."""

    check: str
    subject: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """All that is known to be wrong with a server."""

    known: frozenset[Known] = frozenset()

    @classmethod
    def read(cls, path: Path) -> "Baseline":
        """The baseline in a file; what is wrong with it is an AdapterError."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise AdapterError(f"the baseline '{path}' cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise AdapterError(f"the baseline '{path}' is no JSON; --write-baseline writes one") from None
        return cls.of(content, str(path))

    @classmethod
    def of(cls, content: object, where: str) -> "Baseline":
        """The same from what a file holds."""
        rows = content.get("known") if isinstance(content, Mapping) else None
        if not isinstance(content, Mapping) or content.get("baseline") != _FORM or not isinstance(rows, list):
            raise AdapterError(f"'{where}' is no baseline; --write-baseline writes one")
        return cls(frozenset(_row(row, where) for row in rows))

    def wire(self) -> dict[str, Any]:
        """What is written to a file, the same whenever the same is known."""
        rows = [{"check": one.check, "subject": one.subject} for one in sorted(self.known)]
        return {"baseline": _FORM, "known": rows}


def _row(row: object, where: str) -> Known:
    if isinstance(row, Mapping):
        check, subject = row.get("check"), row.get("subject")
        if isinstance(check, str) and isinstance(subject, str):
            return Known(check, subject)
    raise AdapterError(f"'{where}': each of 'known' must be an object with the texts 'check' and 'subject'")


def baseline_of(report: Report) -> Baseline:
    """Everything that a run found wrong."""
    return Baseline(frozenset(_wrong(report)))


def fixed_in(report: Report, baseline: Baseline) -> tuple[Known, ...]:
    """What is known to be wrong and was seen to be right; what was not looked at stays known."""
    seen = {result.check.id for result in report.results if result.verdict is not Verdict.SKIP}
    return tuple(sorted(one for one in baseline.known - {*_wrong(report)} if one.check in seen))


def _wrong(report: Report) -> Iterable[Known]:
    for result in report.results:
        if result.verdict in (Verdict.FAIL, Verdict.WARN):
            yield from (Known(result.check.id, finding.subject) for finding in result.broken)
