"""What the tools cost in tokens: every one that a host lists is read by the model before it starts."""

from functools import cache
from importlib.util import find_spec
from typing import Final

from mcp import Client

from benchmarks.github import ROWS, discrete_tools, github
from benchmarks.registry import catalogue
from benchmarks.tables import Cell, Table
from headgate import Adapter, Mode, mcp_server
from headgate.server.counting import Counter, exact_counter

__all__ = ["PACKAGE", "TokenCosts", "can_count", "counter", "listed", "tokens"]

TokenCosts = dict[str, int]
PACKAGE: Final = "bpe-openai"
"""What tokens are counted with."""
_FEW, _MANY = 100, 10_000


def can_count() -> bool:
    """Whether that package is installed."""
    return find_spec(PACKAGE.replace("-", "_")) is not None


@cache
def counter() -> Counter:
    """Counts with o200k. It is made when it is first needed: not every suite counts, nor has what it takes."""
    return exact_counter()


async def tokens() -> tuple[Table, TokenCosts]:
    """The table of tokens, and the same by name."""
    costs = {
        f"{len(ROWS)} operations, semantic": await listed(github(), Mode.SEMANTIC),
        f"{len(ROWS)} operations, single": await listed(github(), Mode.SINGLE),
        f"{len(ROWS)} operations as discrete tools": counter().of_tools(discrete_tools()),
    }
    for size in (_FEW, _MANY):
        for mode in (Mode.SEMANTIC, Mode.SINGLE):
            costs[f"{size:,} operations, {mode.value}"] = await listed(catalogue(size), mode)
    discrete = f"{len(ROWS)} operations as discrete tools"
    rows: list[tuple[Cell, ...]] = [(name, cost, _share(name, cost, costs[discrete])) for name, cost in costs.items()]
    return Table("tools/list in tokens (o200k)", ("", "tokens", "/ discrete tools"), tuple(rows)), costs


def _share(name: str, cost: int, discrete: int) -> float | None:
    """Of what the same operations cost as discrete tools, which only those modelled on a real server have."""
    return cost / discrete if name.startswith(f"{len(ROWS)} ") else None


async def listed(adapter: Adapter, mode: Mode) -> int:
    """The tools as a client gets them."""
    async with Client(mcp_server(adapter, mode=mode)) as client:
        listed = await client.list_tools()
    return counter().of_tools([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools])
