"""``headgate approvals``: what waits for a person, in full, and the person's answer."""

import json
import sys
import time
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import App, Parameter
from rich.console import Console
from rich.text import Text

from headgate.cli.audit_rows import time_shown
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, console, guarded, print_line
from headgate.cli.questions import agrees
from headgate.cli.state import By, State, login_name, open_state
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.protocol.times import ago, span
from headgate.protocol.visible import json_line, visible
from headgate.safety.approvals import approve, turn_down, waiting
from headgate.safety.grants import APPROVAL, GRANT, Grant, Purpose
from headgate.safety.loop.agents import RECORD_STEP
from headgate.safety.searching import caller_shown
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["approvals", "show_in_full", "what_became_of"]

_TOKEN_PARAMETERS: Final = {Purpose.CONFIRMATION: "confirmation_token", Purpose.QUOTA: "_quota_continue"}
"""Where a caller puts the id or the token when it repeats the call."""

_Id = Annotated[str, Parameter(name="ID", help="The approval's id, such as appr_….")]

approvals = App(name="approvals", help_format="plaintext")


@approvals.default
def show(*, state: State = None, json: AsJson = False) -> int:
    """List the calls that wait for a person: who asks for what, with all parameters."""

    async def work() -> int:
        now = time.time()
        async with open_state(state) as store:
            grants = await waiting(store, now)
        _list(grants, now, as_json=json)
        return OK

    return guarded(work)


@approvals.command(name="approve")
def approve_one(
    approval_id: _Id,
    /,
    *,
    by: By = None,
    yes: Annotated[bool, Parameter(help="Approve without asking once more.", negative=(), show_default=False)] = False,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Approve one call, which is shown in full first. It counts once, for this call and this caller alone."""

    async def work() -> int:
        if not yes and not sys.stdin.isatty():
            raise SettingError("There is no terminal to ask you on; look at the call first, then add --yes")
        async with open_state(state) as store:
            now = time.time()
            grant = await _waiting_one(store, approval_id, now)
            if grant is None:
                return await _explain(store, approval_id, now)
            show_in_full(Console(stderr=True, highlight=False), grant, now)
            if not yes and not agrees("Approve this call?"):
                complain("nothing was approved; it still waits")
                return FAILED
            token = await approve(store, grant.approval_id, by or login_name(), time.time)
            if token is None:
                return await _explain(store, approval_id, time.time())
        _tell_approved(grant, token, as_json=json)
        return OK

    return guarded(work)


@approvals.command(name="deny")
def deny_one(
    approval_id: _Id,
    /,
    *,
    reason: Annotated[str, Parameter(help="Why; whoever asked is told.", show_default=False)] = "",
    by: By = None,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Turn one call down."""

    async def work() -> int:
        async with open_state(state) as store:
            if not await turn_down(store, _full(approval_id), by or login_name(), time.time, reason.strip()):
                return await _explain(store, approval_id, time.time())
        if json:
            print_line(json_line({"approval_id": _full(approval_id), "denied": True}))
        else:
            complain(f"'{_full(approval_id)}' was turned down: the call will not run")
        return OK

    return guarded(work)


# what is shown


def _list(grants: Sequence[Grant], now: float, *, as_json: bool) -> None:
    terminal = console()
    if as_json:
        print_line(json_line({"approvals": [_wire(grant) for grant in grants]}))
    elif not grants:
        complain("nothing waits for a person")
    elif terminal.is_terminal:
        for grant in grants:
            show_in_full(terminal, grant, now)
    else:
        for grant in grants:
            print_line("\t".join(_line(grant)))


def _line(grant: Grant) -> list[str]:
    bound = grant.binding
    who = caller_shown(bound.caller)
    times = (time_shown(grant.issued_at), time_shown(grant.expires_at))
    cells = (grant.approval_id, *times, bound.adapter, bound.operation, who, grant.danger, grant.message)
    return [*map(visible, cells), json_line(grant.params)]


def _wire(grant: Grant) -> dict[str, object]:
    bound = grant.binding
    return {
        "approval_id": grant.approval_id,
        "purpose": grant.purpose.name.lower(),
        "adapter": bound.adapter,
        "operation": bound.operation,
        "caller": bound.caller,
        "agent": grant.agent or None,
        "session": bound.session,
        "danger": grant.danger,
        "message": grant.message,
        "reasons": grant.reasons,
        "params": grant.params,
        "issued_at": time_shown(grant.issued_at),
        "expires_at": time_shown(grant.expires_at),
        "cooldown_seconds": grant.cooldown_seconds,
    }


def show_in_full(terminal: Console, grant: Grant, now: float) -> None:
    """Everything that a person should know, and nothing in it can pretend to be something else."""
    bound = grant.binding
    asked, left = ago(grant.issued_at, now), span(grant.expires_at - now)
    terminal.print(Text(grant.approval_id, style="bold"), soft_wrap=True)
    lines = [
        ("operation", f"{bound.operation} of {bound.adapter}"),
        ("caller", caller_shown(bound.caller)),
        *([("agent", grant.agent)] if grant.agent else []),
        ("danger", grant.danger),
        ("asked", f"{asked}; expires in {left}, {time_shown(grant.expires_at)}"),
        ("message", grant.message),
        *(("because", reason) for reason in grant.reasons),
    ]
    if grant.cooldown_seconds:
        lines.append(("runs", f"{grant.cooldown_seconds:g} seconds after the approval at the earliest"))
    for name, words in lines:
        style = "yellow" if name == "danger" else ""
        terminal.print(Text.assemble((f"  {name:<10}", "dim"), (visible(words), style)), soft_wrap=True)
    _show_params(terminal, grant)


def _show_params(terminal: Console, grant: Grant) -> None:
    terminal.print(Text("  parameters", style="dim"), soft_wrap=True)
    for line in json.dumps(grant.params, indent=2, ensure_ascii=False).split("\n"):
        terminal.print(Text(f"    {visible(line)}"), soft_wrap=True)


def _tell_approved(grant: Grant, token: str, *, as_json: bool) -> None:
    where, until = _TOKEN_PARAMETERS[grant.purpose], time_shown(grant.expires_at)
    if as_json:
        print_line(json_line({"approval_id": grant.approval_id, "token": token, "expires_at": until}))
        return
    if grant.binding.operation == RECORD_STEP:
        complain("approved: the agent may take this step once it reports it again")
        return
    complain(
        f"approved: until {until} the caller may repeat the call with {where} '{grant.approval_id}', or this token:"
    )
    print_line(token)


# what is wrong


async def _waiting_one(store: Store, approval_id: str, now: float) -> Grant | None:
    return next((grant for grant in await waiting(store, now) if grant.approval_id == _full(approval_id)), None)


def _full(approval_id: str) -> str:
    return approval_id if approval_id.startswith(APPROVAL) else APPROVAL + approval_id


async def _explain(store: Store, approval_id: str, now: float) -> int:
    """Say why nothing of that id waits."""
    record = await store.find(GRANT, approval_id.removeprefix(APPROVAL))
    if record is not None:
        complain(f"'{_full(approval_id)}' {what_became_of(Grant.read(record), now)}")
        return FAILED
    known = {grant.approval_id.lower(): grant.approval_id for grant in await waiting(store, now)}
    near = [known[name] for name in nearest(_full(approval_id), list(known), 1)]
    advice = did_you_mean(near) or "; see 'headgate approvals' for what waits"
    complain(f"There is no approval '{visible(approval_id)}'{advice}")
    return FAILED


def what_became_of(grant: Grant, now: float) -> str:
    """Why a call waits for no person, in words that follow its id."""
    if grant.replaced_by:
        return f"was approved with other arguments, as '{Grant.approval_of(grant.replaced_by)}'"
    if grant.revoked_at is not None:
        by = f"turned down by {visible(grant.turned_down_by)}" if grant.turned_down_by else "withdrawn"
        return f"was {by} at {time_shown(grant.revoked_at)}"
    if grant.consumed_at is not None:
        return f"was used at {time_shown(grant.consumed_at)}: the call has run"
    if grant.approved_at is not None:
        return f"was already approved at {time_shown(grant.approved_at)} by {visible(caller_shown(grant.approved_by))}"
    if grant.expires_at <= now:
        return f"has expired at {time_shown(grant.expires_at)}; the caller can ask again"
    return "waits for no person: the caller confirms it alone"
