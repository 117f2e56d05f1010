"""The first page: what waits, what agents do, what was decided, and how the server fares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from headgate.console.charts import Series, bars, lines
from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.console.metrics import Metrics, percentile
from headgate.executions.persons import executions
from headgate.safety.approvals import waiting
from headgate.safety.loop.persons import agents, challenges
from headgate.safety.searching import Search, last_rows

__all__ = ["doors"]

_ROWS: Final = 12
_EXECUTIONS: Final = 6


def doors(console: Console) -> list[Door]:
    """The routes of the first page."""

    async def show(visit: Visit) -> Response:
        now = console.clock()
        known = await agents(console.store)
        return await console.page(
            visit,
            "overview.html",
            grants=await waiting(console.store, now),
            challenges=await challenges(console.store, now),
            agents=[agent for agent in known if agent.execution or agent.block],
            executions=await executions(console.store, console.clock, live=True, first=_EXECUTIONS, brief=True),
            rows=(await last_rows(console.store, Search().matches(now), _ROWS)).rows[::-1],
            charts=_charts(console.metrics) if console.metrics else [],
            metrics=console.metrics,
        )

    return [Door("GET", "/", show)]


@dataclass(frozen=True, slots=True)
class _Chart:
    """A picture of some series, with what they are called beside it."""

    title: str
    said: str
    draw: Callable[[str, str, Sequence[Series]], Markup]
    about: str
    unit: str
    series: tuple[Series, ...]

    @property
    def picture(self) -> Markup:
        return self.draw(self.about, self.unit, self.series)


def _charts(metrics: Metrics) -> list[_Chart]:
    minutes = metrics.minutes()
    requests = sum(minute.requests for minute in minutes)
    errors = sum(minute.errors for minute in minutes)
    median, slow = percentile(minutes, 0.5), percentile(minutes, 0.95)
    decided = {name: [float(minute.decisions[name]) for minute in minutes] for name in ("allow", "confirm", "deny")}
    totals = {name: int(sum(values)) for name, values in decided.items()}
    return [
        _Chart(
            "Requests",
            f"{requests} in the last hour, {errors} with an error",
            bars,
            "Requests a minute",
            "a minute",
            (
                Series("answered", "good", [float(minute.requests - minute.errors) for minute in minutes]),
                Series("with an error", "bad", [float(minute.errors) for minute in minutes]),
            ),
        ),
        _Chart(
            "Latency",
            "nothing was asked yet" if median is None else f"half within {median:g} ms, 95 % within {slow:g} ms",
            lines,
            "Milliseconds to an answer",
            "ms",
            (
                Series("half within", "good", [percentile([minute], 0.5) for minute in minutes]),
                Series("95 % within", "wary", [percentile([minute], 0.95) for minute in minutes]),
            ),
        ),
        _Chart(
            "Decisions",
            f"{totals['allow']} allowed, {totals['confirm']} to be confirmed, {totals['deny']} denied",
            bars,
            "Decisions a minute",
            "a minute",
            (
                Series("allowed", "good", decided["allow"]),
                Series("to be confirmed", "wary", decided["confirm"]),
                Series("denied", "bad", decided["deny"]),
            ),
        ),
    ]
