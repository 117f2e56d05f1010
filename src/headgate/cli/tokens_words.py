"""What tokens come to in words: rows of a table, a verdict that says where it does not pay, JSON, and a chart."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from headgate.charts.values import Bar, BarChart, Group
from headgate.server.spending import DISCRETE, Bill, Spending, Task

__all__ = ["Prices", "about_task", "break_even", "chart_of", "joined", "rows_of", "told_as_json", "verdict"]

_WAYS: Final = {DISCRETE: "discrete tools", "semantic": "semantic mode", "single": "a single tool"}
_AS: Final = {"semantic": "in semantic mode", "single": "as a single tool"}
_NOTHING: Final = "-"
_MILLION: Final = 1_000_000
_MOST_NAMED: Final = 3
_TOO_CLOSE: Final = 0.2
"""Estimates that are no farther apart than this share say nothing of which is more."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost in some currency, if that was said, and how many sessions there are."""

    a_million: float | None
    sessions: int

    def of(self, tokens: int) -> Decimal:
        """What all sessions cost together, if each takes so many tokens."""
        return tokens * self.sessions * Decimal(str(self.a_million or 0)) / _MILLION


def rows_of(bill: Bill, prices: Prices) -> Iterator[tuple[str, ...]]:
    """The table: a name, and a cell for each way."""
    yield ("", *(_WAYS[one.way] for one in bill.ways))
    yield ("tools", *(f"{one.tools:,}" for one in bill.ways))
    yield ("tools/list", *(_about(bill, one.listed) for one in bill.ways))
    if bill.task:
        yield ("discovery: list all", *(_about(bill, one.every) for one in bill.ways))
        yield ("discovery: search", *(_about(bill, one.search) for one in bill.ways))
        yield ("discovery: describe those", *(_about(bill, one.detail) for one in bill.ways))
        yield (_task(bill), *(_about(bill, one.task) for one in bill.ways))
        yield ("  read anew every turn", *(_about(bill, one.every_turn) for one in bill.ways))
    if bill.task and prices.a_million is not None:
        sessions = f"{prices.sessions:,} {'session' if prices.sessions == 1 else 'sessions'} with such a task"
        yield (sessions, *(_sum(bill, prices.of(one.task)) for one in bill.ways))
        yield ("  read anew every turn", *(_sum(bill, prices.of(one.every_turn)) for one in bill.ways))


def about_task(bill: Bill) -> Iterator[str]:
    """What the task is, and what is not counted."""
    if bill.task:
        yield (
            f"The task: search for '{bill.task.words}', have those described that are called, call "
            f"{_called(bill.task)}. Introspection is asked for short answers, as the tools say. "
            f"Answers of calls are the same in every way, and left out.{_not_counted(bill.task)}"
        )


def _called(task: Task) -> str:
    """Each operation once, with how often where that is not once."""
    often = Counter(task.called)
    return ", ".join(name if times == 1 else f"{name} {times:,} times" for name, times in often.items())


def _not_counted(task: Task) -> str:
    confirming = " Calls may have to be confirmed here, which costs more behind headgate and is not counted."
    following = " Some of the work goes on after its call; following it costs more behind headgate and is not counted."
    return f"{confirming if task.may_be_confirmed else ''}{following if task.is_followed else ''}"


def verdict(bill: Bill) -> Iterator[str]:
    """Whether it pays, how sure that is to stay so, and why to do it where it does not."""
    if bill.task is None:
        costs = " and ".join(f"{_about(bill, one.listed)} {_AS[one.way]}" for one in bill.served)
        yield (
            f"There are no operations, so nothing can be spared: tools/list costs {costs}, "
            f"against {_about(bill, bill.discrete.listed)}."
        )
        return
    unsure = [one for one in bill.served if _is_unsure(bill, one)]
    yield from _unsure(bill, unsure) if unsure else _sure(bill)
    for one in bill.served:
        if one not in unsure:
            yield from _even(bill, one)


def _sure(bill: Bill) -> Iterator[str]:
    cheaper = [one for one in bill.served if one.task < bill.discrete.task]
    dearer = [one for one in bill.served if one not in cheaper]
    if not dearer:
        yield f"It pays: {_task(bill)} costs {_differences(bill, cheaper)}."
    elif cheaper:
        yield f"It pays {_AS[cheaper[0].way]} only: {_task(bill)} costs {_differences(bill, [*cheaper, *dearer])}."
    else:
        yield f"It does not pay: {_first_costs(bill)} {_task(bill).capitalize()} costs {_differences(bill, dearer)}."
        yield (
            "Reasons to do it anyway: several sources behind one gate, which share the tools; confirmation of what "
            "destroys; policies, quotas and an audit."
        )


def _is_unsure(bill: Bill, way: Spending) -> bool:
    """Whether estimates are too close to tell: they are higher for discrete tools than for ours."""
    return not bill.is_exact and abs(way.task - bill.discrete.task) < bill.discrete.task * _TOO_CLOSE


def _unsure(bill: Bill, unsure: list[Spending]) -> Iterator[str]:
    """The same where for some ways nothing can be said."""
    ways = " and ".join(_AS[one.way] for one in unsure)
    yield (
        f"Whether it pays {ways} is too close to tell by estimates, which may be off by a fifth: "
        f"{_task(bill)} costs {_differences(bill, unsure)}."
    )
    for one in bill.served:
        if one not in unsure:
            pays = "It pays" if one.task < bill.discrete.task else "It does not pay"
            yield f"{pays} {_AS[one.way]}: {_difference(bill, one)}."


def _first_costs(bill: Bill) -> str:
    """What stands in tools/list, where the whole does not pay: the same may be true of it, or not."""
    first, discrete = bill.semantic, bill.discrete
    begin = f"{_as_discrete(bill)} {_about(bill, discrete.listed)} tokens"
    apart = _about(bill, abs(first.listed - discrete.listed))
    if first.listed < discrete.listed:
        less = f"{begin}, {apart} more than {_about(bill, first.listed)} {_AS[first.way]}"
        return f"{less}, but {_later_costs(bill, first)}."
    return (
        f"{begin}, less than {_about(bill, first.listed)} {_AS[first.way]}: serving this behind headgate costs "
        f"{apart} tokens more a session."
    )


def _later_costs(bill: Bill, way: Spending) -> str:
    finding, calling = way.before_calls - way.listed, way.calls - bill.discrete.calls
    called = f", and calling them {_about(bill, calling)} more" if calling > 0 else ""
    return f"finding them costs {_about(bill, finding)}{called}"


def _differences(bill: Bill, ways: list[Spending]) -> str:
    return ", ".join(f"{_difference(bill, one)} {_AS[one.way]}" for one in ways)


def _difference(bill: Bill, way: Spending) -> str:
    difference = way.task - bill.discrete.task
    if difference < 0:
        return f"{_about(bill, -difference)} tokens less ({_percent(-difference / bill.discrete.task)})"
    if not difference:
        return "as many tokens"
    return f"{_about(bill, difference)} tokens more"


def break_even(bill: Bill, way: Spending) -> int | None:
    """After how many such calls in one session a way that pays does so no more; None where nothing uses it up."""
    count = len(bill.task.called) if bill.task else 0
    dearer = way.calls - bill.discrete.calls
    if not count or dearer <= 0 or way.task >= bill.discrete.task:
        return None
    return (bill.discrete.listed - way.before_calls) * count // dearer


def _even(bill: Bill, way: Spending) -> Iterator[str]:
    calls = break_even(bill, way)
    if calls is not None:
        often = "once" if calls == 1 else f"about {calls:,} times"
        yield f"{_AS[way.way].capitalize()}, a session that calls more than {often} loses it again."


def told_as_json(bill: Bill, prices: Prices) -> dict[str, object]:
    """Everything that was counted."""
    shown: dict[str, object] = {
        "operations": bill.operations,
        "exact": bill.is_exact,
        "task": bill.task and {"search": bill.task.words, "describe": bill.task.described, "call": bill.task.called},
        "ways": {one.way: _way(one) for one in bill.ways},
        "verdict": list(verdict(bill)),
    }
    if bill.task:
        evens = {one.way: break_even(bill, one) for one in bill.served}
        shown["break_even"] = {way: {"calls": calls} for way, calls in evens.items()}
    if prices.a_million is not None:
        costs = {
            one.way: {"task": float(prices.of(one.task)), "task_read_every_turn": float(prices.of(one.every_turn))}
            for one in bill.ways
        }
        shown["cost"] = {"price": prices.a_million, "sessions": prices.sessions, **costs}
    return shown


def _way(one: Spending) -> dict[str, object]:
    shown: dict[str, object] = {"tools": one.tools, "tools_list": one.listed}
    if one.discovery:
        shown["discovery"] = {"list": one.every, "search": one.search, "detail": one.detail}
    return {**shown, "calls": one.calls, "task": one.task, "task_read_every_turn": one.every_turn}


def chart_of(bill: Bill, name: str) -> BarChart:
    """Tools and task in each way, as bars."""
    groups = [
        Group([_bar(bill, one, one.listed, bill.discrete.listed) for one in bill.ways], "Before any work: tools/list")
    ]
    if bill.task:
        label = f"{_task(bill).capitalize()}, discovery included"
        groups.append(Group([_bar(bill, one, one.task, bill.discrete.task) for one in bill.ways], label))
    return BarChart(
        f"What {_operations(bill)} of {name} {'costs' if bill.operations == 1 else 'cost'} a model",
        groups,
        subtitle="One tool for each operation, or the same operations behind headgate",
        unit="tokens",
        is_linear=True,
        footnote=_footnote(bill),
    )


def joined(names: Sequence[str]) -> str:
    """Names as people say several: ``one, two and three``; of many the first two."""
    *most, last = names if len(names) <= _MOST_NAMED else (*names[:2], f"{len(names) - 2:,} more")
    return f"{', '.join(most)} and {last}" if most else last


def _footnote(bill: Bill) -> str:
    counted = "Counted with o200k." if bill.is_exact else "Estimated: o200k is not installed."
    return f"{counted} The answers of the calls are the same in every way, and left out." if bill.task else counted


def _bar(bill: Bill, way: Spending, tokens: int, whole: int) -> Bar:
    tools = f"{way.tools:,} {'tool' if way.tools == 1 else 'tools'}"
    if way is bill.discrete:
        return Bar(f"discrete, {tools}", tokens)
    label = f"semantic, {tools}" if way.way == "semantic" else _WAYS[way.way]
    return Bar(label, tokens, is_ours=True, note=_share(tokens, whole))


def _share(tokens: int, whole: int) -> str:
    if not whole:
        return ""
    return _percent(tokens / whole) if tokens <= whole else f"{tokens / whole:.1f} times as much"


def _percent(share: float) -> str:
    """Whole per cent; below one, and where less than all would be 100, as many digits as say something."""
    if 0 < share < 0.01:
        return f"{_first_digit(share * 100):f}%"
    whole = f"{share:.0%}"
    return f"{100 - _first_digit((1 - share) * 100):f}%" if share < 1 and whole == "100%" else whole


def _first_digit(amount: float) -> Decimal:
    """An amount, cut to the first digit that is not 0."""
    return Decimal(f"{amount:.1g}")


def _decimals(amount: Decimal) -> int:
    """How many decimals show two digits of an amount that say something, and two as of any money."""
    return max(2, 1 - math.floor(math.log10(amount))) if amount else 2


def _task(bill: Bill) -> str:
    count = len(bill.task.called) if bill.task else 0
    return f"a task of {count:,} {'call' if count == 1 else 'calls'}"


def _as_discrete(bill: Bill) -> str:
    return f"{_operations(bill)} as {'a discrete tool costs' if bill.operations == 1 else 'discrete tools cost'}"


def _operations(bill: Bill) -> str:
    return f"{bill.operations:,} {'operation' if bill.operations == 1 else 'operations'}"


def _about(bill: Bill, tokens: int) -> str:
    if not tokens:
        return _NOTHING
    return f"{tokens:,}" if bill.is_exact else f"about {tokens:,}"


def _sum(bill: Bill, amount: Decimal) -> str:
    return f"{'' if bill.is_exact else 'about '}{amount:,.{_decimals(amount)}f}"
