"""``headgate agents``: what agents do under the safety loop, and the administrator's way to release or end them."""

import time
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.cli.audit_rows import caller_shown, time_shown
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, console, guarded, print_line
from headgate.cli.state import By, State, login_name, open_state
from headgate.protocol.autonomy import Tier
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.protocol.visible import json_line, visible
from headgate.safety.autonomy.evaluation import Way
from headgate.safety.loop.agents import BLOCKED, Agent, Step
from headgate.safety.loop.persons import agents as all_agents
from headgate.safety.loop.persons import end_execution, find_agent, override
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["agents"]

_COLOURS: Final = {
    BLOCKED: "red",
    "paused": "yellow",
    "executing": "green",
    Tier.ADVISORY: "green",
    Tier.CONFIRM: "yellow",
    Tier.VERIFY: "red",
    Tier.DANGER_ZONE: "red",
}
_WENT: Final = {Way.CONTINUE: "went on", Way.PAUSE: "paused", Way.VERIFY: "must be verified", Way.STOP: "stopped"}

_Name = Annotated[str, Parameter(name="NAME", help="The agent's name.")]
_Reason = Annotated[str, Parameter(help="Why; the audit keeps it.")]

agents = App(name="agents", help_format="plaintext")


@agents.default
def show(
    name: Annotated[str | None, Parameter(help="One agent, to see its steps.")] = None,
    /,
    *,
    state: State = None,
    json: AsJson = False,
) -> int:
    """List the agents that have worked under the safety loop, or show one of them step by step."""

    async def work() -> int:
        async with open_state(state) as store:
            if name is None:
                _list(await all_agents(store), as_json=json)
                return OK
            agent = await find_agent(store, name)
            if agent is None:
                return await _say_none(store, name)
        _show_one(agent, as_json=json)
        return OK

    return guarded(work)


@agents.command(name="unblock")
def unblock(name: _Name, /, *, reason: _Reason, by: By = None, state: State = None, json: AsJson = False) -> int:
    """Lift a block without a code. This is an administrator's decision: it is audited with its reason."""

    async def work() -> int:
        async with open_state(state) as store:
            if await override(store, name, by or login_name(), _said(reason), time.time):
                return _tell(name, "unblocked", "is no longer blocked; what it was stopped for is not approved", json)
            return await _say_why(store, name, "is not blocked")

    return guarded(work)


@agents.command(name="end")
def end(name: _Name, /, *, reason: _Reason, by: By = None, state: State = None, json: AsJson = False) -> int:
    """End what an agent is executing. A block stays."""

    async def work() -> int:
        async with open_state(state) as store:
            if await end_execution(store, name, by or login_name(), _said(reason), time.time):
                return _tell(name, "ended", "executes nothing any more", json)
            return await _say_why(store, name, "executes nothing")

    return guarded(work)


def _said(reason: str) -> str:
    if not reason.strip():
        raise SettingError("--reason must say why, so that whoever reads the audit understands")
    return reason.strip()


# what is shown


def _state(agent: Agent) -> str:
    return "paused" if agent.pause and not agent.block else agent.owner


def _list(found: Sequence[Agent], *, as_json: bool) -> None:
    terminal = console()
    rows = [_row(agent) for agent in found]
    if as_json:
        print_line(json_line({"agents": [_wire(agent) for agent in found]}))
    elif not found:
        complain("no agent has worked under the safety loop")
    elif terminal.is_terminal:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("agent", "state", "steps", "last seen", "task or reason"):
            table.add_column(column)
        for row in rows:
            table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
        terminal.print(table)
    else:
        for row in rows:
            print_line("\t".join(row))


def _row(agent: Agent) -> list[str]:
    execution = agent.execution
    about = agent.block.reason if agent.block else agent.pause.reason if agent.pause else ""
    told = about or (execution.task if execution else "")
    steps = str(execution.steps) if execution else ""
    return [visible(cell) for cell in (agent.name, _state(agent), steps, time_shown(agent.seen_at), told)]


def _wire(agent: Agent) -> dict[str, object]:
    execution, block, pause = agent.execution, agent.block, agent.pause
    shown: dict[str, object] = {"agent": agent.name, "state": _state(agent), "seen_at": time_shown(agent.seen_at)}
    if execution:
        steps = [_step(step) for step in execution.recent]
        about = {"id": execution.id, "task": execution.task, "caller": execution.caller, "steps": execution.steps}
        shown["execution"] = {**about, "started_at": time_shown(execution.started_at), "recent": steps}
    if block:
        shown["block"] = {"reason": block.reason, "about_to": block.hint, "challenge_id": block.challenge_id}
    if pause:
        shown["pause"] = {"reason": pause.reason, "about_to": pause.hint, "waits_for": pause.waits_for}
    return shown


def _step(step: Step) -> dict[str, object]:
    return {**step._asdict(), "at": time_shown(step.at), "way": step.way.value}


def _show_one(agent: Agent, *, as_json: bool) -> None:
    if as_json:
        print_line(json_line(_wire(agent)))
        return
    terminal = console()
    state = _state(agent)
    _print(terminal, Text.assemble((visible(agent.name), "bold"), "  ", (state, _COLOURS.get(state, ""))))
    if agent.block:
        _print(terminal, f"  blocked: {agent.block.reason}; verify {agent.block.challenge_id}, or see unblock")
    if agent.pause:
        _print(terminal, f"  paused: {agent.pause.reason}; waits for {agent.pause.waits_for}")
    if agent.execution:
        _print(terminal, f"  task: {agent.execution.task}")
        _print(
            terminal, f"  started {time_shown(agent.execution.started_at)} by {caller_shown(agent.execution.caller)}"
        )
        for step in agent.execution.recent:
            _print_step(terminal, step)


def _print_step(terminal: Console, step: Step) -> None:
    risk = f", risk {step.score}" if step.score is not None else ""
    words = f"  {step.number:>3}  {visible(step.hint)}"
    _print(
        terminal, Text.assemble(words, "  ", (f"{step.tier}{risk}", _COLOURS.get(step.tier, "")), f" {_WENT[step.way]}")
    )
    for factor in step.factors:
        _print(terminal, Text(f"       {visible(factor)}", style="dim"))


def _print(terminal: Console, line: str | Text) -> None:
    terminal.print(Text(visible(line)) if isinstance(line, str) else line, soft_wrap=True)


def _tell(name: str, done: str, words: str, as_json: bool) -> int:
    if as_json:
        print_line(json_line({"agent": name, done: True}))
    else:
        complain(f"'{visible(name)}' {words}")
    return OK


# what is wrong


async def _say_why(store: Store, name: str, why: str) -> int:
    if await find_agent(store, name) is None:
        return await _say_none(store, name)
    complain(f"'{visible(name)}' {why}, so nothing was changed")
    return FAILED


async def _say_none(store: Store, name: str) -> int:
    known = [agent.name for agent in await all_agents(store)]
    advice = did_you_mean(nearest(name, known, 1)) or "; see 'headgate agents' for those that are"
    complain(f"No agent '{visible(name)}' is known{advice}")
    return FAILED
