"""A whole run of checks, told as it goes: what reads the events decides how it looks."""

import logging
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio

from headgate.client.wires import Lost, NotOpened, Unreachable, WireError
from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.probe import CannotBeSeen, Gone, Opener, Options, Probe, opened_probe
from headgate.conformance.report import Report, Subject
from headgate.conformance.values import Area, Check, CheckResult, Demand, Exchange, Finding, Outcome, Verdict

__all__ = ["Began", "Ended", "Event", "Finished", "Started", "examine", "verdict_of"]

_LOG: Final = logging.getLogger("headgate.conformance")
_CHECK_SECONDS: Final = 60.0
_ASKS_NOTHING: Final = ("transport.", "format.", "errors.")
BROKE_OFF: Final = "the check itself broke off"
_NOT_REACHED: Final = "not reached"
OPENS: Final = "transport.opens"
ANSWERS: Final = "transport.answers-everything"


@dataclass(frozen=True, slots=True)
class Started:
    """The server has told what it offers; so many checks follow."""

    subject: Subject
    checks: int


@dataclass(frozen=True, slots=True)
class Began:
    """A check begins."""

    check: Check


@dataclass(frozen=True, slots=True)
class Ended:
    """A check has ended."""

    result: CheckResult


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing more comes."""

    report: Report


Event: TypeAlias = Started | Began | Ended | Finished


async def examine(
    opener: Opener,
    options: Options,
    *,
    target: str,
    level: int = 1,
    checks: Sequence[Check] = ALL_CHECKS,
    seconds: float = 600.0,
) -> AsyncIterator[Event]:
    """Look at a server, check by check. The run ends within ``seconds``, whatever the server does.

    Unreachable if there is none.
    """
    chosen = [check for check in checks if check.level <= level]
    run = _Run(target, level, options, time.monotonic() + seconds)
    try:
        async with opened_probe(opener, options, seconds=seconds, ledger=run.ledger) as probe:
            run.meet(probe)
            yield Started(run.subject, len(chosen))
            for check in _in_order(chosen):
                yield Began(check)
                yield Ended(await run.perform(check, probe))
    except Unreachable:
        raise
    except (NotOpened, Lost, Gone) as error:
        chosen = run.break_off(str(error), chosen)
        for check in chosen:
            if check.id not in run.results:
                yield Ended(run.skip(check))
    yield Finished(run.report(chosen))


def _in_order(checks: Iterable[Check]) -> list[Check]:
    """Those that have an agent blocked come late, since that may stop everything; who judges the run comes last."""
    return sorted(checks, key=lambda check: (check.id.startswith(_ASKS_NOTHING), check.area is Area.SAFETY_LOOP))


def verdict_of(check: Check, findings: Iterable[Finding]) -> Verdict:
    """What the findings of a check amount to."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.BROKEN in outcomes:
        return {Demand.MUST: Verdict.FAIL, Demand.SHOULD: Verdict.WARN, Demand.MAY: Verdict.PASS}[check.demand]
    return Verdict.PASS if Outcome.HOLDS in outcomes else Verdict.SKIP


class _Run:
    """What is known so far."""

    def __init__(self, target: str, level: int, options: Options, deadline: float) -> None:
        self.subject = Subject(target=target)
        self.results: dict[str, CheckResult] = {}
        self.ledger: list[Exchange] = []
        self._level = level
        self._options = options
        self._deadline = deadline
        self._began = time.monotonic()
        self._why_over = ""

    def meet(self, probe: Probe) -> None:
        """Learn who the server is."""
        name, version = probe.wire.server
        self.subject = Subject(
            target=self.subject.target,
            name=name,
            version=version,
            era=probe.wire.era,
            mode=probe.survey.endpoints.mode,
            spec_version=str(probe.survey.protocol.get("version", "")),
            claims=str(probe.survey.protocol.get("conformance", "")),
            operations=len(probe.survey.operations),
            left_out=probe.survey.left_out,
        )

    async def perform(self, check: Check, probe: Probe) -> CheckResult:
        """Run one check, for as long as it may take."""
        began = time.monotonic()
        findings: list[Finding] = []
        left = self._deadline - began
        try:
            if left <= 0 and not check.id.startswith(_ASKS_NOTHING):
                raise CannotBeSeen("the time limit of the run was reached")  # noqa: TRY301  (said where it is known)
            with anyio.fail_after(max(min(left, _CHECK_SECONDS), 1.0)):
                async for finding in check.run(probe):
                    findings.append(finding)  # noqa: PERF401  (what was found before it broke off counts)
        except CannotBeSeen as error:
            findings.append(Finding(Outcome.UNSEEN, "server", str(error)))
        except TimeoutError:
            findings.append(Finding(Outcome.UNSEEN, "server", "it took too long"))
        except (WireError, Gone):
            raise
        except Exception as error:  # noqa: BLE001  (a mistake in one check must not cost the others)
            _LOG.exception("the check %s broke off", check.id)
            findings.append(
                Finding(Outcome.UNSEEN, "server", f"{BROKE_OFF} ({type(error).__name__}); please report it")
            )
        return self._keep(check, findings, time.monotonic() - began)

    def skip(self, check: Check) -> CheckResult:
        """The result of a check that could not be run, because the server is not there, or not any more."""
        if check.id == self._blamed:
            last = tuple(one for one in self.ledger[-1:] if one.kind != "answered")
            finding = Finding(Outcome.BROKEN, "server", self._why_over, last)
        elif check.id == OPENS:
            finding = Finding(Outcome.HOLDS, "server", "")
        else:
            finding = Finding(Outcome.UNSEEN, "server", _NOT_REACHED)
        return self._keep(check, [finding], 0.0)

    @property
    def _blamed(self) -> str:
        """The check that a broken run is held against: a server that was asked anything had opened."""
        return ANSWERS if self.ledger else OPENS

    def break_off(self, why: str, checks: list[Check]) -> list[Check]:
        """Note why nothing more can be asked; the checks, with the one that it is held against in any case."""
        self._why_over = why
        blamed = [check for check in ALL_CHECKS if check.id == self._blamed and check not in checks]
        return [*checks, *blamed]

    def _keep(self, check: Check, findings: list[Finding], seconds: float) -> CheckResult:
        result = CheckResult(check, verdict_of(check, findings), tuple(findings), seconds)
        self.results[check.id] = result
        return result

    def report(self, checks: Iterable[Check]) -> Report:
        """Everything, in the order of the checks."""
        return Report(
            subject=self.subject,
            level=self._level,
            allowed=self._options.allowed,
            results=tuple(self.results[check.id] for check in checks if check.id in self.results),
            requests=len(self.ledger),
            seconds=time.monotonic() - self._began,
        )
