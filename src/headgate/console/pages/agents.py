"""Agents: what they are doing, step by step, what holds them up, and how a person lifts a block or ends it all."""

from typing import Final
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from headgate.console.console import Console
from headgate.console.doors import LONGEST_REASON, Door, Visit
from headgate.safety.loop.persons import agents, end_execution, find_agent, override

__all__ = ["doors"]

_NO_REASON: Final = f"Say why, in up to {LONGEST_REASON} characters: nothing was changed."


def doors(console: Console) -> list[Door]:
    """The routes of agents."""

    async def show_all(visit: Visit) -> Response:
        return await console.page(visit, "agents.html", agents=await agents(console.store))

    async def show_one(visit: Visit, *, said: str = "", name: str | None = None, status: int = 200) -> Response:
        agent = await find_agent(console.store, visit.request.query_params.get("name", "") if name is None else name)
        if agent is None:
            return await console.page(visit, "missing.html", status=404, what="agent")
        return await console.page(visit, "agent.html", status=status, agent=agent, said=said)

    async def lift(visit: Visit) -> Response:
        name, reason = visit.said("name"), visit.reason
        if not reason:
            return await show_one(visit, name=name, said=_NO_REASON, status=422)
        if not await override(console.store, name, visit.operator.name, reason, console.clock):
            said = "The agent is not blocked, so nothing was changed."
            return await show_one(visit, name=name, said=said, status=409)
        return _to(name)

    async def end(visit: Visit) -> Response:
        name, reason = visit.said("name"), visit.reason
        if not reason:
            return await show_one(visit, name=name, said=_NO_REASON, status=422)
        if not await end_execution(console.store, name, visit.operator.name, reason, console.clock):
            said = "The agent executes nothing, so nothing was changed."
            return await show_one(visit, name=name, said=said, status=409)
        return _to(name)

    return [
        Door("GET", "/agents", show_all),
        Door("GET", "/agent", show_one),
        Door("POST", "/agent/override", lift),
        Door("POST", "/agent/end", end),
    ]


def _to(name: str) -> Response:
    return RedirectResponse(f"/agent?name={quote(name, safe='')}", 303)
