"""What the tools of real MCP servers cost in tokens: by themselves, and behind headgate."""

from benchmarks.tables import Cell, Table
from tests.upstreams.figures import cost_of
from tests.upstreams.installing import install, missing_program
from tests.upstreams.listings import tools_of
from tests.upstreams.servers import SERVERS

__all__ = ["wrapped"]


async def wrapped() -> Table:
    """The table of all servers that the tests wrap; without npm there is nothing to install them with."""
    columns = ("", "tools", "discrete", "semantic", "single")
    missing = missing_program()
    if missing:
        return Table(f"tools/list of wrapped servers in tokens (o200k): {missing}", columns, ())
    install()
    rows: list[tuple[Cell, ...]] = []
    for name, server in SERVERS.items():
        cost = await cost_of(name, await tools_of(server))
        rows.append((server.package, cost.discrete.tools, *(way.listed for way in cost.ways)))
    return Table("tools/list of wrapped servers in tokens (o200k)", columns, tuple(rows))
