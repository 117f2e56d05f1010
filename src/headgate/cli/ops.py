"""``headgate ops``: what a source offers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headgate.adapter.suggestions import did_you_mean, nearest
from headgate.cli.exits import FAILED, OK
from headgate.cli.output import complain, console, guarded, print_json, print_line
from headgate.cli.targets import Source, open_target
from headgate.client.targets import Target

__all__ = ["ops"]

_COLOURS = {"READ": "green", "CREATE": "blue", "UPDATE": "yellow", "DELETE": "red", "EXECUTE": "magenta"}


def ops(
    name: Annotated[str | None, Parameter(help="One operation, to see it in full.")] = None,
    /,
    *,
    search: Annotated[str | None, Parameter(help="Words; the operations that match best come first.")] = None,
    source: Source = None,
    json: Annotated[bool, Parameter(help="Print what introspection answers, as JSON.", negative=())] = False,
) -> int:
    """Show what an adapter or a running server offers, or one operation in full."""

    async def work() -> int:
        async with open_target(source) as target:
            if search is not None:
                found = await _data(target, {"query": "search", "name": search})
                return _list(found["operations"], raw=found if json else None)
            if name is not None:
                return await _one(target, name, raw=json)
            return _list_all(await _everything(target), raw=json)

    return guarded(work)


async def _data(target: Target, params: Mapping[str, object]) -> dict[str, Any]:
    answer = await target.call("introspect", params)
    data = answer.get("data")
    return data if isinstance(data, dict) else {"operations": []}


async def _everything(target: Target) -> dict[str, Any]:
    """All operations, page by page."""
    data = await _data(target, {"query": "operations"})
    page = data.get("_protocol", {}).get("page")
    while page and page["returned"]:
        more = await _data(target, {"query": "operations", "after": page["after"]})
        data["operations"] += more["operations"]
        page = more.get("_protocol", {}).get("page") if more["operations"] else None
    data.get("_protocol", {}).pop("page", None)
    return data


def _list_all(data: dict[str, Any], *, raw: bool) -> int:
    return _list(data["operations"], raw=data if raw else None)


def _list(operations: Sequence[Mapping[str, Any]], *, raw: object) -> int:
    if raw is not None:
        print_json(raw, compact=True)
        return OK
    terminal = console()
    if not terminal.is_terminal:
        for operation in operations:
            print_line("\t".join(operation[key] for key in ("name", "semantic_category", "endpoint", "description")))
        return OK
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("operation", "category", "endpoint", "what it does"):
        table.add_column(column, no_wrap=column != "what it does")
    for operation in operations:
        category = operation["semantic_category"]
        table.add_row(
            operation["name"],
            f"[{_COLOURS[category]}]{category}[/]",
            operation["endpoint"],
            escape(operation["description"]),
        )
    terminal.print(table)
    return OK


async def _one(target: Target, name: str, *, raw: bool) -> int:
    data = await _data(target, {"query": "operations", "name": name})
    operation = data.get("operation")
    if raw:
        print_json(data, compact=True)
    elif operation:
        _print_one(operation)
    if operation:
        return OK
    known = [found["name"] for found in (await _everything(target))["operations"]]
    complain(f"There is no operation '{name}'{did_you_mean(nearest(name, known))}")
    return FAILED


def _print_one(operation: Mapping[str, Any]) -> None:
    terminal = console()
    category = operation["semantic_category"]
    terminal.print(f"[bold]{operation['name']}[/]  [{_COLOURS[category]}]{category}[/]  via {operation['mcpTool']}")
    terminal.print(escape(operation["description"]), "\n")
    for parameter in operation["parameters"]:
        _print_parameter(terminal, parameter)
    returns = operation["returns"]
    terminal.print(
        f"\nreturns {escape(returns['name'])}" + (f": {returns['description']}" if "description" in returns else "")
    )
    for example in operation.get("examples", ()):
        terminal.print(f"example {escape(orjson.dumps(example['request']).decode())}", soft_wrap=True)


def _print_parameter(terminal: Console, parameter: Mapping[str, Any]) -> None:
    needed = "required" if parameter["required"] else f"default {orjson.dumps(parameter.get('default')).decode()}"
    constraints = [
        f"{key} {value if isinstance(value, str) else orjson.dumps(value).decode()}"
        for key, value in parameter.items()
        if key in ("enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format")
    ]
    facts = ", ".join([parameter["type"], needed, *constraints])
    terminal.print(f"  [bold]{parameter['name']}[/]  {escape(facts)}", soft_wrap=True)
    if parameter.get("description"):
        terminal.print(f"      {escape(parameter['description'])}", soft_wrap=True)
