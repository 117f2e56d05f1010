"""Checks that ask nothing: when all others are done, they judge every exchange of the run once more.

Each judges one property alone, so a server with one fault of form fails one check.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.survey import entries
from headgate.conformance.values import Exchange, Finding

__all__ = ["Judge", "JudgeEnvelope", "in_hindsight", "of_envelopes"]

_MOST_SHOWN: Final = 5

Judge: TypeAlias = Callable[[Exchange, Probe], str | None]
"""What is wrong with an exchange: None if nothing is, and '' where the question does not arise."""
JudgeEnvelope: TypeAlias = Callable[[Mapping[str, Any]], str | None]


def in_hindsight(*row: Any, **columns: Any) -> Callable[[Judge], Judge]:
    """Enter a judge of exchanges as a check; the rest is as in ``check``."""

    def enter(judge: Judge) -> Judge:
        async def run(probe: Probe) -> AsyncIterator[Finding]:
            for finding in _judged(probe, judge):
                yield finding

        run.__module__ = judge.__module__  # which decides where it stands in reports
        check(*row, **columns)(run)
        return judge

    return enter


def of_envelopes(judge: JudgeEnvelope) -> Judge:
    """A judge of exchanges from one of envelopes, which sees those inside the answers to batches too."""

    def judge_exchange(exchange: Exchange, _probe: Probe) -> str | None:
        said = [judge(envelope) for envelope in _envelopes(exchange)]
        return next((words for words in said if words), None if None in said else "")

    judge_exchange.__module__ = judge.__module__
    return judge_exchange


def _judged(probe: Probe, judge: Judge) -> Iterator[Finding]:
    """One finding if all is fine, and a few for what is not."""
    seen, wrong = False, 0
    for exchange in probe.ledger:
        words = judge(exchange, probe)
        if words:
            wrong += 1
            if wrong <= _MOST_SHOWN:
                yield broken(exchange.operation or exchange.tool, words, exchange)
        seen = seen or words is None
    if seen and not wrong:
        yield holds("server")


def _envelopes(exchange: Exchange) -> Iterator[Mapping[str, Any]]:
    if exchange.envelope is not None:
        yield exchange.envelope
        results = (entry.get("result") for entry in entries(exchange.envelope.get("results")))
        yield from (result for result in results if isinstance(result, Mapping))
