"""What a whole task costs in tokens: an agent that knows nothing finds, describes and calls three operations."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from mcp import Client

from benchmarks.github import ROWS, github
from benchmarks.tables import Cell, Table
from headgate import Adapter, mcp_server
from headgate.sources.gate.opening import demo_adapter
from headgate.sources.gate.specs import DatabaseSpec

__all__ = ["MOST", "TASKS", "Task", "costs_of", "task_costs", "texts_of"]

MOST: Final = 1800
"""How many tokens a task of three operations may cost, with what leads to them."""

_LISTED: Final = "tools/list"


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent looks for, and the three calls that do it, each with the tool that takes it."""

    words: str
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...]

    @property
    def names(self) -> list[str]:
        """The operations that are called."""
        return [operation for _, operation, _ in self.calls]


TASKS: Final[Mapping[str, Task]] = {
    "github": Task(
        "issues of a repository, comment, close",
        (
            ("read", "list_issues", {"owner": "ada", "repo": "engine", "labels": ["bug"], "state": "open"}),
            ("create", "add_issue_comment", {"owner": "ada", "repo": "engine", "issue_number": 7, "body": "Fixed."}),
            (
                "update",
                "update_issue",
                {"owner": "ada", "repo": "engine", "issue_number": 7, "input": {"state": "closed"}},
            ),
        ),
    ),
    "bookshop": Task(
        "books by words, reviews of a book",
        (
            ("read", "search_books", {"query": "lighthouse", "first": 5, "format": "table"}),
            ("read", "get_book", {"id": 1, "fields": ["title", "price", "stock", "author.name"]}),
            ("read", "count_reviews", {"filter": {"book_id": 1, "rating": {"gte": 4}}}),
        ),
    ),
}


def costs_of(texts: Mapping[str, Iterable[str]], count: Callable[[str], int]) -> dict[str, int]:
    """The tokens of each step of a task, and of all."""
    costs = {step: sum(map(count, parts)) for step, parts in texts.items()}
    return {**costs, "together": sum(costs.values())}


async def texts_of(client: Client, task: Task, *, compact: bool) -> dict[str, list[str]]:
    """What a model reads and writes on its way: each request as it is written, each answer as it is read."""
    form = {"format": "compact"} if compact else {}
    listed = (await client.list_tools()).tools
    texts = {_LISTED: [_text([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed])]}
    find = {"query": "search", "name": task.words, "first": 5, **form}
    texts["find"] = await _exchange(client, "read", "introspect", find)
    texts["describe"] = []
    if compact:
        describe = {"query": "operations", "names": task.names, **form}
        texts["describe"] = await _exchange(client, "read", "introspect", describe)
    else:
        for name in task.names:
            texts["describe"] += await _exchange(client, "read", "introspect", {"query": "operations", "name": name})
    texts["call"] = []
    for tool, operation, params in task.calls:
        texts["call"] += await _exchange(client, tool, operation, params)
    return texts


async def _exchange(client: Client, tool: str, operation: str, params: Mapping[str, Any]) -> list[str]:
    name, arguments = f"mcp_aql_{tool}", {"operation": operation, "params": dict(params)}
    result = (await client.call_tool(name, arguments)).model_dump()
    text = str(result["content"][0]["text"])
    answer = orjson.loads(text)
    if not answer["success"]:
        raise RuntimeError(f"{operation} was refused: {answer['error']['message']}")
    return [_text({"name": name, "arguments": arguments}), text]


async def task_costs(count: Callable[[str], int]) -> tuple[Table, dict[str, int]]:
    """The table of both tasks, in short and in full, and what each costs together in short."""
    rows: list[tuple[Cell, ...]] = []
    together: dict[str, int] = {}
    for name, adapter in (("github", github()), ("bookshop", demo_adapter(DatabaseSpec()))):
        for compact in (True, False):
            async with Client(mcp_server(adapter)) as client:
                texts = await texts_of(client, TASKS[name], compact=compact)
            costs = costs_of(texts, count)
            rows.append((f"{_said(name, adapter)}, {'compact' if compact else 'in full'}", *costs.values()))
            if compact:
                together[name] = costs["together"]
        await adapter.close()
    columns = ("", _LISTED, "find", "describe", "call", "together")
    return Table("A task of three operations, in tokens (o200k)", columns, tuple(rows)), together


def _said(name: str, adapter: Adapter) -> str:
    return f"{len(ROWS)} operations" if name == "github" else f"{name}, {len(adapter.operations)} operations"


def _text(value: object) -> str:
    return orjson.dumps(value).decode()
