"""``headgate verify``: a person releases an agent with the code that a channel of their own has shown."""

import sys
import time
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from headgate.adapter.context import Caller
from headgate.cli.audit_rows import time_shown
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.questions import answer
from headgate.cli.state import By, State, login_name, open_state
from headgate.protocol.errors import AqlError
from headgate.protocol.times import span
from headgate.protocol.visible import json_line, visible
from headgate.safety.asks import identity
from headgate.safety.loop.agents import Party
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.deciding import Deciding
from headgate.safety.loop.persons import refuse_challenge, still_blocks
from headgate.safety.loop.settings import LoopSettings
from headgate.safety.searching import caller_shown
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["try_code", "verify"]


def verify(
    challenge_id: Annotated[str, Parameter(name="ID", help="The challenge: directives call it verificationId.")],
    /,
    *,
    refuse: Annotated[
        bool,
        Parameter(
            help="Refuse what it is paused for; it may go on with other things.", negative=(), show_default=False
        ),
    ] = False,
    reason: Annotated[str, Parameter(help="Why, for the agent; with --refuse.", show_default=False)] = "",
    by: By = None,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Release an agent that is blocked or paused, with a code, which is asked for and never an argument.

    The code is shown by the console, by headgate watch, or wherever --notify sends it; a wrong one makes it void.

    Verify only what you want done: the agent may do it then, once. Exit code 0: it is released; 1: it is not.
    """

    async def work() -> int:
        if reason.strip() and not refuse:
            raise SettingError("--reason goes with --refuse; what is verified needs none")
        async with open_state(state) as store:
            challenge = await _waiting(store, challenge_id.strip())
            if challenge is None:
                return FAILED
            if refuse:
                return await _refuse(store, challenge, by or login_name(), reason.strip(), as_json=json)
            if not json:
                _show(Console(stderr=True, highlight=False), challenge, time.time())
            code = answer("Code: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
            if not code:
                complain("nothing was verified; it still waits")
                return FAILED
            wrong = await try_code(store, challenge, code, by or login_name())
        if wrong:
            complain(wrong)
            return FAILED
        if json:
            print_line(json_line({"verified": True, "challenge_id": challenge.id, "agent": challenge.name}))
        else:
            complain(f"verified: agent '{visible(challenge.name)}' may go on")
        return OK

    return guarded(work)


async def _refuse(store: Store, challenge: Challenge, by: str, reason: str, *, as_json: bool) -> int:
    if challenge.blocks:
        complain("The agent is blocked, and stays so until somebody verifies it: there is nothing to refuse")
        return FAILED
    if not await refuse_challenge(store, challenge.id, by, reason, time.time):
        complain("It counts no more: somebody else has decided, or it has expired")
        return FAILED
    if as_json:
        print_line(json_line({"verified": False, "challenge_id": challenge.id, "agent": challenge.name}))
    else:
        complain(f"refused: agent '{visible(challenge.name)}' may go on, but not with that")
    return OK


async def try_code(store: Store, challenge: Challenge, code: str, by: str) -> str:
    """Try a code; nothing if it was right, else why the agent is not released."""
    caller = Caller(subject=f"terminal:{by}", client_id="headgate verify")
    deciding = Deciding("", store, LoopSettings(), time.time)
    try:
        await deciding.verify(Party(identity(caller), None), caller, challenge.id, code)
    except AqlError as error:
        return _words(error)
    return ""


def _words(error: AqlError) -> str:
    """What is wrong, for the person who types; what callers of MCP are told is for those."""
    told = error.error
    match told.code:
        case "TOKEN_INVALID":
            return "That was not the code, so none counts any more; see a new one in the console or with headgate watch"
        case "RATE_LIMIT_EXCEEDED":
            seconds = float(str((told.details or {}).get("retry_after_seconds", 0)))
            return f"Too many tries have failed: nothing is verified for this agent for another {span(seconds)}"
        case _:
            return told.message


async def _waiting(store: Store, challenge_id: str) -> Challenge | None:
    """The challenge, if it can still be met; else why not is said."""
    record = await store.find(CHALLENGE, challenge_id)
    challenge = Challenge.read(record) if record else None
    if challenge is None:
        complain(f"There is no challenge '{visible(challenge_id)}'; see 'headgate agents' for who is held up")
    elif challenge.verified_at is not None:
        complain(f"It was verified already, by {visible(caller_shown(challenge.verified_by))}")
    elif challenge.closed_at is not None:
        complain("It counts no more: the agent was released otherwise, or there is a newer challenge")
    elif challenge.is_open(time.time()):
        return challenge
    elif await still_blocks(store, challenge):
        complain("No code counts any more: see a new one in the console or with headgate watch, and verify that")
    else:
        complain("It has expired: there is a new one as soon as the agent asks again")
    return None


def _show(terminal: Console, challenge: Challenge, now: float) -> None:
    """What would be allowed, and nothing in it can pretend to be something else."""
    left = span(challenge.expires_at - now)
    lines = [
        ("agent", f"{challenge.name} ({'blocked' if challenge.blocks else 'paused'})"),
        ("about to", challenge.hint),
        ("reason", challenge.reason),
        *(("because", factor) for factor in challenge.factors),
        ("expires", f"in {left}, {time_shown(challenge.expires_at)}"),
    ]
    for name, words in lines:
        style = "bold" if name == "about to" else ""
        terminal.print(Text.assemble((f"  {name:<10}", "dim"), (visible(words), style)), soft_wrap=True)
