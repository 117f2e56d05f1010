"""Cases: calls of which an operator says in a file what a policy must decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate.adapter.context import ANONYMOUS, Caller
from headgate.safety.decisions import Effect
from headgate.safety.policy.reading import PolicyError, read_toml
from headgate.safety.policy.tables import Mistake, Place, Table, kind_of, named, one_of, subtables, text, texts, whole

__all__ = ["Case", "caller_of", "read_cases"]

_KEYS: Final = ("operation", "params", "caller", "client", "scopes", "affected_rows", "expect", "rule")
_MOST_ROWS: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call, what is expected of it, and by which rule if that matters."""

    number: int
    operation: str
    params: Mapping[str, object]
    caller: Caller
    affected_rows: int | None
    expect: Effect
    rule: str = ""

    @property
    def title(self) -> str:
        """Where it stands in its file."""
        return f"case {self.number} ({named(self.operation)})"


def read_cases(path: Path | str) -> tuple[Case, ...]:
    """The cases in a TOML file. A PolicyError has everything that is wrong in it."""
    mistakes: list[str] = []
    table = Table(read_toml(path), Place("", mistakes), ("case",), ("case",))
    cases = table.part("case", _cases, ())
    if mistakes:
        raise PolicyError(str(path), mistakes)
    return cases


def _cases(content: object, place: Place) -> tuple[Case, ...]:
    return tuple(_case(one, number, place) for number, one in subtables(content, place, "case"))


def _case(content: object, number: int, place: Place) -> Case:
    table = Table(content, place.below(f"case {number}"), _KEYS, ("operation", "expect"))
    return Case(
        number=number,
        operation=table.take("operation", text, ""),
        params=table.take("params", _params, {}),
        caller=_caller(table),
        affected_rows=table.take("affected_rows", whole(0, _MOST_ROWS), None),
        expect=table.take("expect", one_of(list(Effect)), Effect.DENY),
        rule=table.take("rule", text, ""),
    )


def _params(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise Mistake(f"this must be a table, not {kind_of(value)}")
    return value


def _caller(table: Table) -> Caller:
    name, client = table.take("caller", text, None), table.take("client", text, None)
    scopes = table.take("scopes", texts, ())
    try:
        return caller_of(name, client, scopes)
    except Mistake as mistake:
        table.place.key("scopes").note(*mistake.sentences)
        return ANONYMOUS


def caller_of(name: str | None, client: str | None, scopes: Iterable[str]) -> Caller:
    """Somebody by name, by their client, or neither; only who is known can have scopes."""
    caller = Caller(None if name == "anonymous" else name, client, frozenset(scopes))
    if caller.scopes and not caller.authenticated:
        raise Mistake("only a caller with a name or a client has scopes: say which")
    return caller
