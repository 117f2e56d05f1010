"""From rows to items, by functions that are compiled once for each way of selecting.

A page is made of hundreds of values, so whatever is decided for each of them is decided here beforehand: what is left
is one expression that names the fields, and calls only what has to make another value of the one that is stored.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from headgate.query.backends import Reads, Row

__all__ = ["Branch", "Build", "Leaf", "compiled", "shown"]

Build: TypeAlias = Callable[[Sequence[Row]], list[dict[str, Any]]]

_ROWS: Final = "rows"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of an item: its place in a row."""

    place: int


@dataclass(frozen=True, slots=True)
class Branch:
    """An item, or an object inside one; null stands for it where the value in the place of its presence is null."""

    presence: int | None = None
    inside: dict[str, "Leaf | Branch"] = field(default_factory=dict)


def compiled(item: Branch, width: int, reads: Reads | None) -> Build:
    """What makes items of rows that have so many values.

    The names of fields become constants of the expression, and never a part of its text.
    """
    row = ast.Tuple([ast.Name(_value(place), ast.Store()) for place in range(width)], ast.Store())
    each = ast.comprehension(target=row, iter=ast.Name(_ROWS, ast.Load()), ifs=[], is_async=0)
    items = ast.ListComp(elt=_object(item, reads or (None,) * width), generators=[each])
    parameters = ast.arguments(posonlyargs=[], args=[ast.arg(_ROWS)], kwonlyargs=[], kw_defaults=[], defaults=[])
    expression = ast.fix_missing_locations(ast.Expression(ast.Lambda(args=parameters, body=items)))
    known = {_reader(place): read for place, read in enumerate(reads or ()) if read is not None}
    return cast("Build", eval(compile(expression, "<items>", "eval"), {"__builtins__": {}, **known}))  # noqa: S307


def _value(place: int) -> str:
    return f"value{place}"


def _reader(place: int) -> str:
    return f"read{place}"


def _object(branch: Branch, reads: Reads) -> ast.expr:
    keys: list[ast.expr | None] = [ast.Constant(name) for name in branch.inside]
    values = [
        _leaf(one.place, reads) if isinstance(one, Leaf) else _object(one, reads) for one in branch.inside.values()
    ]
    made = ast.Dict(keys, values)
    return made if branch.presence is None else _unless_null(branch.presence, made)


def _leaf(place: int, reads: Reads) -> ast.expr:
    stored = ast.Name(_value(place), ast.Load())
    if reads[place] is None:
        return stored
    return _unless_null(place, ast.Call(ast.Name(_reader(place), ast.Load()), [stored], []))


def _unless_null(place: int, made: ast.expr) -> ast.expr:
    is_null = ast.Compare(ast.Name(_value(place), ast.Load()), [ast.Is()], [ast.Constant(None)])
    return ast.IfExp(is_null, ast.Constant(None), made)


def shown(rows: Sequence[Row], reads: Reads | None) -> Sequence[Row]:
    """Rows with the values as they are shown."""
    if not rows or reads is None:
        return rows
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    for place, read in enumerate(reads):
        if read is not None:
            columns[place] = [None if value is None else read(value) for value in columns[place]]
    return list(zip(*columns, strict=True))
