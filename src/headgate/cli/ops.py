"""``headgate ops``: what a source offers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias

import orjson
from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headgate.cli.exits import FAILED, OK
from headgate.cli.guards import Guarding
from headgate.cli.openings import Reaching
from headgate.cli.output import complain, console, guarded, print_json, print_line, told
from headgate.cli.targets import DatabaseChoices, Source, open_target
from headgate.client.targets import Target
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.server.settings import SettingError

__all__ = ["ops"]

_COLOURS = {"READ": "green", "CREATE": "blue", "UPDATE": "yellow", "DELETE": "red", "EXECUTE": "magenta"}


def ops(
    name: Annotated[str | None, Parameter(help="One operation, to see it in full.")] = None,
    /,
    *,
    search: Annotated[str | None, Parameter(help="Words; the operations that match best come first.")] = None,
    source: Source = None,
    json: Annotated[
        bool, Parameter(help="Print what introspection answers, as JSON.", negative=(), show_default=False)
    ] = False,
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
) -> int:
    """Show what an adapter or a running server offers, or one operation in full."""

    async def work() -> int:
        async with open_target(source, database, guarding, reaching, lazily=False) as target:
            if search is not None:
                show = await _found(target, search)
            elif name is not None:
                show = await _one(target, name)
            else:
                show = await _all(target)
        return show(json)

    with told(notes=True):
        return guarded(work)


_Show: TypeAlias = Callable[[bool], int]
"""Prints what was asked for, as JSON or for people, and gives the exit code."""


async def _data(target: Target, params: Mapping[str, object]) -> dict[str, Any]:
    """What introspection answers; a refusal is the caller's mistake."""
    answer = await target.call("introspect", params)
    data = answer.get("data")
    if isinstance(data, dict):
        return data
    raise SettingError((answer.get("error") or {}).get("message", "introspect gives no answer"))


async def _found(target: Target, words: str) -> _Show:
    if not words.strip():
        raise SettingError("--search needs words, such as 'lend a book'")
    data = await _data(target, {"query": "search", "name": words})
    if not data["operations"]:
        complain(f"Nothing matches '{words}'")
    return partial(_list, data)


async def _all(target: Target) -> _Show:
    return partial(_list, await _everything(target))


async def _everything(target: Target) -> dict[str, Any]:
    """All operations, page by page."""
    data = await _data(target, {"query": "operations"})
    page = data.get("_protocol", {}).get("page")
    while page and page.get("after"):
        more = await _data(target, {"query": "operations", "after": page["after"]})
        data["operations"] += more["operations"]
        page = more.get("_protocol", {}).get("page")
    data.get("_protocol", {}).pop("page", None)
    return data


def _list(data: Mapping[str, Any], raw: bool) -> int:
    terminal = console()
    if raw:
        print_json(data, compact=True)
    elif terminal.is_terminal:
        terminal.print(_table(data["operations"]))
    else:
        for operation in data["operations"]:
            print_line("\t".join(operation[key] for key in ("name", "semantic_category", "endpoint", "description")))
    return OK


def _table(operations: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("operation", "category", "endpoint", "what it does"):
        table.add_column(column, no_wrap=column != "what it does")
    for operation in operations:
        table.add_row(
            escape(operation["name"]),
            _coloured(operation["semantic_category"]),
            escape(operation["endpoint"]),
            escape(operation["description"]),
        )
    return table


def _coloured(category: str) -> str:
    return f"[{_COLOURS.get(category, 'default')}]{escape(category)}[/]"


async def _one(target: Target, name: str) -> _Show:
    data = await _data(target, {"query": "operations", "name": name})
    if data.get("operation"):
        return partial(_show_one, data)
    known = [found["name"] for found in (await _everything(target))["operations"]]
    return partial(_show_none, data, f"There is no operation '{name}'{did_you_mean(nearest(name, known))}")


def _show_none(data: Mapping[str, Any], complaint: str, raw: bool) -> int:
    if raw:
        print_json(data, compact=True)
    complain(complaint)
    return FAILED


def _show_one(data: Mapping[str, Any], raw: bool) -> int:
    if raw:
        print_json(data, compact=True)
    else:
        _print_one(data["operation"])
    return OK


def _print_one(operation: Mapping[str, Any]) -> None:
    terminal = console()
    category = _coloured(operation["semantic_category"])
    terminal.print(
        f"[bold]{escape(operation['name'])}[/]  {category}  via {escape(operation['mcpTool'])}", soft_wrap=True
    )
    terminal.print(escape(operation["description"]), soft_wrap=True)
    terminal.print()
    for parameter in operation["parameters"]:
        _print_parameter(terminal, parameter)
    returns = operation["returns"]
    meaning = f": {returns['description']}" if "description" in returns else ""
    terminal.print(f"\nreturns {escape(returns['name'] + meaning)}", soft_wrap=True)
    for example in operation.get("examples", ()):
        terminal.print(f"example {escape(orjson.dumps(example['request']).decode())}", soft_wrap=True)


def _print_parameter(terminal: Console, parameter: Mapping[str, Any]) -> None:
    needed = "required" if parameter["required"] else _default(parameter)
    constraints = [
        f"{key} {value if isinstance(value, str) else orjson.dumps(value).decode()}"
        for key, value in parameter.items()
        if key in ("enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format")
    ]
    facts = ", ".join([parameter["type"], needed, *constraints])
    terminal.print(f"  [bold]{escape(parameter['name'])}[/]  {escape(facts)}", soft_wrap=True)
    if parameter.get("description"):
        terminal.print(f"      {escape(parameter['description'])}", soft_wrap=True)


def _default(parameter: Mapping[str, Any]) -> str:
    return f"default {orjson.dumps(parameter['default']).decode()}" if "default" in parameter else "optional"
