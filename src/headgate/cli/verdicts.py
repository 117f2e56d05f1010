"""What a policy decided, for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.markup import escape
from rich.table import Table

from headgate.adapter.operations import Operation
from headgate.cli.exits import FAILED, OK
from headgate.cli.output import complain, console, print_json, print_line
from headgate.protocol.danger import Trust
from headgate.safety.decisions import Decision, Effect, Who
from headgate.safety.judging import Judgement
from headgate.safety.policy.cases import Case

__all__ = ["Result", "Tried", "show_call", "show_cases", "warn"]

_COLOURS: Final = {Effect.ALLOW: "green", Effect.CONFIRM: "yellow", Effect.DENY: "red"}


def warn(warnings: Sequence[str]) -> None:
    """Tell what is odd in a policy."""
    for warning in warnings:
        complain(f"warning: {warning}")


# one call


@dataclass(frozen=True, slots=True)
class Tried:
    """What was decided of a call."""

    operation: Operation
    origin: str
    trust: Trust
    judgement: Judgement
    is_dry: bool

    @property
    def decision(self) -> Decision:
        """The one that counts."""
        return self.judgement.decision

    def facts(self) -> Iterator[tuple[str, str]]:
        """All that there is to say beside what was considered, as names and words."""
        decision = self.decision
        yield "operation", self.operation.name
        yield "decision", _outcome(decision)
        yield "rule", decision.rule
        if decision.reason:
            yield "reason", decision.reason
        if decision.code:
            yield "code", decision.code
        yield "danger", f"{self.judgement.level} ({self.origin})"
        yield "trust", self.trust
        if self.is_dry and decision.effect is Effect.CONFIRM:
            yield "note", "a dry run changes nothing, and so needs no confirmation"

    def wire(self) -> dict[str, object]:
        """The same for programs."""
        return {
            "operation": self.operation.name,
            **_wire(self.decision),
            "danger": {"level": self.judgement.level, "origin": self.origin, "reasons": self.judgement.danger.reasons},
            "trust": self.trust,
            "dry_run": self.is_dry,
            "considered": [_wire(one) for one in self.judgement.considered],
        }


def _wire(decision: Decision) -> dict[str, object]:
    asks = {"confirm": decision.who, "remember": decision.remember} if decision.effect is Effect.CONFIRM else {}
    said = {"reason": decision.reason, "code": decision.code}
    return {"decision": decision.effect, "rule": decision.rule, **{k: v for k, v in said.items() if v}, **asks}


def _outcome(decision: Decision) -> str:
    """The decision in words."""
    if decision.effect is not Effect.CONFIRM:
        return decision.effect
    by = "by a person" if decision.who is Who.PERSON else "by the client"
    return f"{decision.effect} {by}{', once a session' if decision.remember else ''}"


def show_call(tried: Tried, warnings: Sequence[str], raw: bool) -> int:
    """Print what was decided of one call."""
    terminal = console()
    if raw:
        print_json({**tried.wire(), "warnings": warnings}, compact=True)
        return OK
    warn(warnings)
    if terminal.is_terminal:
        for name, words in tried.facts():
            shown = _coloured(words, tried.decision.effect) if name == "decision" else escape(words)
            terminal.print(f"[bold]{name:>10}[/]  {shown}", soft_wrap=True)
        terminal.print(_considered(tried.judgement))
    else:
        for cells in (*tried.facts(), *_considered_cells(tried.judgement)):
            print_line("\t".join(" ".join(cell.split()) for cell in cells if cell))
    return OK


def _considered_cells(judgement: Judgement) -> Iterator[tuple[str, ...]]:
    for one in judgement.considered:
        yield "considered", one.effect, one.rule, one.reason


def _considered(judgement: Judgement) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title="considered", title_justify="left")
    for column in ("decision", "rule", "reason"):
        table.add_column(column)
    for one in judgement.considered:
        table.add_row(_coloured(_outcome(one), one.effect), escape(one.rule), escape(one.reason))
    return table


def _coloured(words: str, effect: Effect) -> str:
    return f"[{_COLOURS[effect]}]{escape(words)}[/]"


# many calls


@dataclass(frozen=True, slots=True)
class Result:
    """A case and what was decided of it."""

    case: Case
    decision: Decision

    @property
    def is_expected(self) -> bool:
        """Whether it was decided as the case says, and by the rule that it names."""
        is_rule = not self.case.rule or self.case.rule == self.decision.rule
        return self.decision.effect is self.case.expect and is_rule

    @property
    def expected(self) -> str:
        """What the case says, in words."""
        return f"{self.case.expect} by '{self.case.rule}'" if self.case.rule else self.case.expect

    def row(self) -> tuple[str, ...]:
        """What a person looks for, as one line."""
        case = self.case
        who = case.caller.subject or case.caller.client_id or "anonymous"
        verdict = "ok" if self.is_expected else "FAILED"
        return (
            *(verdict, str(case.number), case.operation, who),
            *(self.expected, self.decision.effect, self.decision.rule),
        )

    def wire(self) -> dict[str, object]:
        """The same for programs."""
        case = self.case
        expected = {"decision": case.expect, **({"rule": case.rule} if case.rule else {})}
        return {"operation": case.operation, "ok": self.is_expected, "expected": expected, "got": _wire(self.decision)}


def show_cases(results: Sequence[Result], warnings: Sequence[str], raw: bool) -> int:
    """Print what was decided of each case, and say which are decided otherwise than expected."""
    wrong = [one for one in results if not one.is_expected]
    code = FAILED if wrong else OK
    if raw:
        print_json({"cases": [one.wire() for one in results], "warnings": warnings}, compact=True)
        return code
    warn(warnings)
    terminal = console()
    if terminal.is_terminal:
        terminal.print(_table(results))
    else:
        for one in results:
            print_line("\t".join(one.row()))
    for one in wrong:
        complain(f"{one.case.title}: expected {one.expected}, got {one.decision.effect} by '{one.decision.rule}'")
    return code


def _table(results: Sequence[Result]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "case", "operation", "caller", "expected", "got", "decided by"):
        table.add_column(column, overflow="fold")
    for one in results:
        verdict, *said, _, rule = map(escape, one.row())
        colour = "green" if one.is_expected else "red"
        got = _coloured(one.decision.effect, one.decision.effect)
        table.add_row(f"[{colour}]{verdict}[/]", *said, got, rule)
    return table
