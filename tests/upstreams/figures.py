"""What the page of wrapped servers tells: costs, calls and how well tools are told apart, as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson
from mcp import Client

from headgate import Mode, mcp_server
from tests.server.o200k import cost
from tests.upstreams.calls import CALLS
from tests.upstreams.classified import Row, adapter_of, rows_of, score_of
from tests.upstreams.listings import Tools
from tests.upstreams.servers import SERVERS

__all__ = [
    "PRECISION_HEAD",
    "Cost",
    "all_rows",
    "cost_of",
    "cost_table",
    "precision_table",
    "score_line",
    "tool_table",
]

PRECISION_HEAD = (
    "| server | tools | category | best category | danger | danger played down | changing, but READ | for review |",
    "|---" * 8 + "|",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of a server's own list of tools, and of headgate's before it in two modes."""

    tools: int
    own: int
    semantic: int
    single: int


def _tokens(tools: Iterable[object]) -> int:
    return cost(orjson.dumps(list(tools)).decode())


async def cost_of(name: str, tools: Tools) -> Cost:
    """What a server costs a model before any work begins."""
    adapter = adapter_of(name, tools)
    served: dict[Mode, int] = {}
    for mode in (Mode.SEMANTIC, Mode.SINGLE):
        async with Client(mcp_server(adapter, mode=mode)) as client:
            listed = (await client.list_tools()).tools
        served[mode] = _tokens(tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed)
    return Cost(len(tools), _tokens(tools.values()), served[Mode.SEMANTIC], served[Mode.SINGLE])


def cost_table(costs: Mapping[str, Cost]) -> list[str]:
    """Each server with its version, its tools, its tokens before and after, and the calls that were compared."""
    rows = [
        f"| {SERVERS[name].package} | {SERVERS[name].version} | {one.tools} | {one.own:,} | {one.semantic:,} "
        f"| {one.single:,} | {len(CALLS.get(name, ())) or '–'} |"  # noqa: RUF001  (a dash stands for none)
        for name, one in costs.items()
    ]
    sums = [
        sum(figures) for figures in zip(*((c.tools, c.own, c.semantic, c.single) for c in costs.values()), strict=True)
    ]
    total = f"| **all** | | {' | '.join(f'{figure:,}' for figure in sums)} | {sum(map(len, CALLS.values()))} |"
    head = "| server | version | tools | tokens of its tools/list | semantic | single | calls compared |"
    return [head, "|---|---|---|---|---|---|---|", *rows, total]


def all_rows(listed: Mapping[str, Tools]) -> list[Row]:
    """Every tool of every server, classified."""
    return [row for name, tools in listed.items() for row in rows_of(name, tools)]


def precision_table(rows: Sequence[Row]) -> list[str]:
    """How often each server's tools are told right."""
    by_server = {name: [row for row in rows if row.server == name] for name in SERVERS}
    lines = [score_line(SERVERS[name].package, found) for name, found in by_server.items()]
    head = (
        "| server | tools | category | best category | danger | danger played down | changing, but READ | for review |"
    )
    return [head, "|---" * 8 + "|", *lines, score_line("**all**", rows)]


def score_line(name: str, rows: Sequence[Row]) -> str:
    """One line of the table of precision."""
    score = score_of(rows)
    shares = [f"{figure / score.tools:.1%}" for figure in (score.category, score.best_category, score.danger)]
    return (
        f"| {name} | {score.tools} | {' | '.join(shares)} | {score.played_down} | {score.changing_reads} "
        f"| {score.for_review} |"
    )


def tool_table(rows: Sequence[Row]) -> list[str]:
    """Every tool with what it was taken for, how surely and why; and its label where that says otherwise."""
    head = "| tool | category | danger | sure | for review | evidence | label, where it differs |"
    return [head, "|---" * 7 + "|", *map(_tool_line, rows)]


def _tool_line(row: Row) -> str:
    origin = row.origin
    why = "; ".join((*origin.category.evidence, *origin.danger.evidence)).replace("|", "\\|")
    differs = "" if row.category_is_right and row.danger_is_right else str(row.label)
    review = "yes" if origin.needs_review else ""
    cells = (origin.own_name, row.category, row.danger, f"{origin.category.confidence:.2f}", review, why, differs)
    return f"| {' | '.join(cells)} |"
