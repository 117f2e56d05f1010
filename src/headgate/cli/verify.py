"""``headgate verify``: a person releases an agent with the code that a channel of their own has shown."""

import sys
import time
from typing import Annotated

from cyclopts import Parameter

from headgate.adapter.context import Caller
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.questions import answer
from headgate.cli.state import By, State, login_name, open_state
from headgate.protocol.errors import AqlError
from headgate.protocol.visible import json_line, visible
from headgate.safety.asks import identity
from headgate.safety.loop.agents import Party
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.deciding import Deciding
from headgate.safety.loop.settings import LoopSettings
from headgate.store.interface import Store

__all__ = ["verify"]


def verify(
    challenge_id: Annotated[str, Parameter(name="ID", help="The challenge: directives call it verificationId.")],
    /,
    *,
    by: By = None,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Release an agent that is blocked or paused, with the code for it, which is asked for and never an argument.

    The code is shown by the console, by headgate watch, or wherever --notify sends it. Exit code 1: it was wrong.
    """

    async def work() -> int:
        async with open_state(state) as store:
            challenge = await _waiting(store, challenge_id)
            if challenge is None:
                return FAILED
            if not json:
                complain(f"agent '{visible(challenge.name)}' is about to: {visible(challenge.hint)}")
            code = answer("Code: ") if sys.stdin.isatty() else sys.stdin.readline()
            caller = Caller(subject=f"terminal:{by or login_name()}", client_id="headgate verify")
            deciding = Deciding("", store, LoopSettings(), time.time)
            try:
                await deciding.verify(Party(identity(caller), None), caller, challenge.id, code or "")
            except AqlError as error:
                complain(error.error.message)
                return FAILED
        if json:
            print_line(json_line({"verified": True, "challenge_id": challenge.id, "agent": challenge.name}))
        else:
            complain(f"verified: agent '{visible(challenge.name)}' may go on")
        return OK

    return guarded(work)


async def _waiting(store: Store, challenge_id: str) -> Challenge | None:
    """The challenge, if it can still be met; else why not is said."""
    record = await store.find(CHALLENGE, challenge_id)
    challenge = Challenge.read(record) if record else None
    if challenge is None:
        complain(f"There is no challenge '{visible(challenge_id)}'; see 'headgate agents' for who is held up")
    elif challenge.verified_at is not None:
        complain("It was verified already")
    elif not challenge.is_open(time.time()):
        complain("It has expired: there is a new one as soon as the agent asks again")
    else:
        return challenge
    return None
