"""The report as one page that needs nothing else: no script, no font, no picture from elsewhere."""

from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from headgate.conformance.reports.shortening import cut, spelt
from headgate.conformance.reports.shown import Shown, ShownExchange
from headgate.conformance.reports.text import verdict_line
from headgate.conformance.sections import titled
from headgate.conformance.values import Verdict
from headgate.protocol.visible import visible

__all__ = ["html_of"]

_JSON: Final = 4_000
_WORDS: Final = {
    Verdict.PASS: "passed",
    Verdict.WARN: "warning",
    Verdict.FAIL: "failed",
    Verdict.SKIP: "skipped",
}


def html_of(shown: Shown) -> str:
    """The whole report. Everything that servers say is text and nothing else."""
    counts = {_WORDS[verdict]: number for verdict, number in shown.counts.items()}
    return _template().render(shown=shown, verdict=verdict_line(shown), counts=counts, words=_WORDS)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("headgate.conformance.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters |= {"titled": titled, "request": _request, "answer": _answer}
    return environment.get_template("report.html")


def _request(exchange: ShownExchange) -> str:
    return cut(f"{exchange.tool} {spelt(exchange.request)}", _JSON)


def _answer(exchange: ShownExchange) -> str:
    return cut(exchange.problem if exchange.answer is None else spelt(exchange.answer), _JSON)
