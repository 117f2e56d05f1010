"""``headgate agents``: what agents do under the safety loop, and the administrator's way to release or end them."""

import time
from collections.abc import Sequence
from shlex import quote
from typing import Annotated, Final

from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.cli.approvals import what_became_of
from headgate.cli.audit_rows import time_shown
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, console, guarded, print_line
from headgate.cli.state import By, State, command, login_name, open_state
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.protocol.times import ago
from headgate.protocol.visible import json_line, visible
from headgate.safety.autonomy.verdicts import Way
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.agents import BLOCKED, EXECUTING, Agent, Step
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.persons import agents as all_agents
from headgate.safety.loop.persons import end_execution, find_agent, override, still_blocks
from headgate.safety.searching import caller_shown
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["agents"]

_COLOURS: Final = {
    BLOCKED: "red",
    "paused": "yellow",
    EXECUTING: "green",
    "went on": "green",
    "must be verified": "red",
    "stopped": "red",
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
    """List the agents that have worked under the safety loop, or show one of them step by step.

    One that is blocked or paused is shown with what you can do about it.
    """

    async def work() -> int:
        now = time.time()
        async with open_state(state) as store:
            if name is None:
                _list(await all_agents(store), now, as_json=json)
                return OK
            agent = await find_agent(store, name)
            if agent is None:
                return await _say_none(store, name, state)
            advice = await _advice(store, agent, state, now)
        if json:
            print_line(json_line(_wire(agent)))
        else:
            _show_one(agent, advice, now)
        return OK

    return guarded(work)


@agents.command(name="unblock")
def unblock(name: _Name, /, *, reason: _Reason, by: By = None, state: State = None, json: AsJson = False) -> int:
    """Lift a block without a code. This is an administrator's decision: it is audited with its reason."""

    async def work() -> int:
        async with open_state(state) as store:
            if await override(store, name, by or login_name(), _said(reason), time.time):
                return _tell(name, "unblocked", "is no longer blocked; what it was stopped for is not approved", json)
            return await _say_why(store, name, "is not blocked", state)

    return guarded(work)


@agents.command(name="end")
def end(name: _Name, /, *, reason: _Reason, by: By = None, state: State = None, json: AsJson = False) -> int:
    """End what an agent is executing. A block stays."""

    async def work() -> int:
        async with open_state(state) as store:
            if await end_execution(store, name, by or login_name(), _said(reason), time.time):
                return _tell(name, "ended", "executes nothing any more", json)
            return await _say_why(store, name, "executes nothing", state)

    return guarded(work)


def _said(reason: str) -> str:
    if not reason.strip():
        raise SettingError("--reason must say why, so that whoever reads the audit understands")
    return reason.strip()


# what is shown


def _state(agent: Agent) -> str:
    return "paused" if agent.pause and not agent.block else agent.owner


def _list(found: Sequence[Agent], now: float, *, as_json: bool) -> None:
    terminal = console()
    if as_json:
        print_line(json_line({"agents": [_wire(agent) for agent in found]}))
    elif not found:
        complain("no agent has worked under the safety loop")
    elif terminal.is_terminal:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in ("agent", "state", "steps", "last seen", "task or reason"):
            table.add_column(column, overflow="fold", justify="right" if column == "steps" else "left")
        for agent in found:
            cells = _row(agent, ago(agent.seen_at, now))
            cells_shown = [Text(cell) for cell in cells]
            cells_shown[1].stylize(_COLOURS.get(cells[1], ""))
            table.add_row(*cells_shown)
        terminal.print(table)
    else:
        for agent in found:
            print_line("\t".join(_row(agent, time_shown(agent.seen_at))))


def _row(agent: Agent, seen: str) -> list[str]:
    execution = agent.execution
    about = agent.block.reason if agent.block else agent.pause.reason if agent.pause else ""
    told = about or (execution.task if execution else "")
    steps = str(execution.steps) if execution else ""
    return [visible(cell) for cell in (agent.name, _state(agent), steps, seen, told)]


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
    wire = {**step._asdict(), "at": time_shown(step.at), "way": step.way.value}
    del wire["digest"]
    return wire


def _show_one(agent: Agent, advice: Sequence[str], now: float) -> None:
    terminal = console()
    state = _state(agent)
    execution = agent.execution
    _print(terminal, Text.assemble((visible(agent.name), "bold"), "  ", (state, _COLOURS.get(state, ""))))
    lines: list[tuple[str, str]] = [("last seen", ago(agent.seen_at, now))]
    if execution:
        started = f"{ago(execution.started_at, now)}, {time_shown(execution.started_at)}"
        lines += [("task", execution.task), ("started", f"{started}, by {caller_shown(execution.caller)}")]
    for word, held in (("blocked", agent.block), ("paused", agent.pause)):
        if held:
            lines += [(word, held.reason), ("about to", held.hint), *(("because", one) for one in held.factors)]
    lines += [("next" if number == 0 else "or", words) for number, words in enumerate(advice)]
    for name, words in lines:
        _print(terminal, Text.assemble((f"  {name:<11}", "dim"), visible(words)))
    if execution and execution.recent:
        _print(terminal, Text("  steps", style="dim"))
        for step in execution.recent:
            _print_step(terminal, step)


def _print_step(terminal: Console, step: Step) -> None:
    went = _WENT[step.way]
    said = (f"{went:<16}", _COLOURS.get(went, ""))
    _print(terminal, Text.assemble(f"  {step.number:>5}  ", said, f" {visible(step.hint)}"))
    for factor in step.factors:
        _print(terminal, Text(f"{'':<26}{visible(factor)}", style="dim"))


def _print(terminal: Console, line: Text) -> None:
    terminal.print(line, soft_wrap=True)


async def _advice(store: Store, agent: Agent, state: str | None, now: float) -> list[str]:
    """What a person can do about an agent that is held up."""
    if agent.block:
        name = f"-- {quote(agent.name)}" if agent.name.startswith("-") else quote(agent.name)
        overriding = f"{command(state, 'agents', 'unblock', '--reason', 'WHY')} {name}"
        return [await _verifying(store, agent.block.challenge_id, state, now), overriding]
    if agent.pause is None:
        return []
    if agent.pause.challenge_id:
        verifying = await _verifying(store, agent.pause.challenge_id, state, now)
        return [verifying, command(state, "verify", agent.pause.challenge_id, "--refuse", "--reason", "WHY")]
    record = await store.find(GRANT, agent.pause.grant_id)
    grant = Grant.read(record) if record else None
    if grant is None or not grant.is_pending or grant.expires_at <= now:
        became = what_became_of(grant, now) if grant else "is forgotten"
        return [f"nothing: '{agent.pause.waits_for}' {became}; the agent learns of it when it reports again"]
    return [command(state, "approvals", one, grant.approval_id) for one in ("approve", "deny")]


async def _verifying(store: Store, challenge_id: str, state: str | None, now: float) -> str:
    record = await store.find(CHALLENGE, challenge_id)
    challenge = Challenge.read(record) if record else None
    if challenge and challenge.is_open(now):
        return command(state, "verify", challenge_id)
    if challenge and await still_blocks(store, challenge):
        return command(state, "watch")  # which shows a new code
    return "wait: the code's time is over, and there is a new challenge as soon as the agent asks again"


def _tell(name: str, done: str, words: str, as_json: bool) -> int:
    if as_json:
        print_line(json_line({"agent": name, done: True}))
    else:
        complain(f"'{visible(name)}' {words}")
    return OK


# what is wrong


async def _say_why(store: Store, name: str, why: str, state: str | None) -> int:
    if await find_agent(store, name) is None:
        return await _say_none(store, name, state)
    complain(f"'{visible(name)}' {why}, so nothing was changed")
    return FAILED


async def _say_none(store: Store, name: str, state: str | None) -> int:
    known = [agent.name for agent in await all_agents(store)]
    advice = did_you_mean(nearest(name, known, 1)) or f"; see '{command(state, 'agents')}' for those that are"
    complain(f"No agent '{visible(name)}' is known{advice}")
    return FAILED
