"""``headgate watch``: what waits for a person, as it comes, with the codes; for the operator's own terminal."""

import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Final

import anyio
from cyclopts import Parameter

from headgate.cli.approvals import show_in_full
from headgate.cli.exits import OK
from headgate.cli.output import complain, console, guarded, print_line
from headgate.cli.state import By, State, command, login_name, open_state, same_state
from headgate.cli.verify import try_code
from headgate.console.channels.interface import Notice
from headgate.safety.approvals import approve, turn_down, waiting
from headgate.safety.grants import Grant
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.persons import challenges, refuse_challenge, show_code
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["watch"]

_SECONDS_BETWEEN_LOOKS: Final = 0.5
_RULE: Final = "─" * 60


def watch(
    *,
    once: Annotated[bool, Parameter(help="Show what waits now, and end.", negative=(), show_default=False)] = False,
    by: By = None,
    state: State = None,
) -> int:
    """Show approvals and verification codes as they come, and ask about each. Ctrl-C ends it.

    Codes are printed only to a terminal: what goes to a file or a pipe, an agent may read.

    Enter alone decides nothing: what you leave, others may decide, and in the end it expires.
    """

    async def work() -> int:
        if not sys.stdout.isatty():
            raise SettingError(
                "headgate watch shows codes, so it prints to a terminal alone; headgate agents and headgate approvals "
                "print anywhere"
            )
        async with open_state(state) as store:
            asks = not once and sys.stdin.isatty() and os.name == "posix"  # elsewhere no terminal can be waited for
            watching = _Watching(store, state, by or login_name(), asks=asks)
            if once:
                if not await watching.look():
                    complain("nothing waits for a person")
                return OK
            complain("watching; what waits for a person appears here, and Ctrl-C ends it")
            while True:
                await watching.look()
                await anyio.sleep(_SECONDS_BETWEEN_LOOKS)

    try:
        return guarded(work)
    except KeyboardInterrupt:
        print_line("")
        return OK


class _Watching:
    """Tells everything once."""

    def __init__(self, store: Store, state: str | None, by: str, *, asks: bool) -> None:
        self._store = store
        self._state = state
        self._by = by
        self._asks = asks
        self._told: set[str] = set()

    async def look(self) -> bool:
        """Tell what is new, if anything is; and ask about each of it."""
        grants = [grant for grant in await waiting(self._store, time.time()) if grant.id not in self._told]
        for grant in grants:
            await self._tell_grant(grant)
        asked = [one for one in await challenges(self._store, time.time()) if one.id not in self._told]
        for challenge in asked:
            await self._tell_challenge(challenge)
        return bool(grants or asked)

    # approvals

    async def _tell_grant(self, grant: Grant) -> None:
        self._told.add(grant.id)
        if not await self._waits(grant):
            return
        print_line(_RULE)
        show_in_full(console(), grant, time.time())
        if not self._asks:
            print_line(f"\n  {command(self._state, 'approvals', 'approve', grant.approval_id)}")
            return
        said = await self._ask("Approve it? Type yes or no; Enter leaves it: ", lambda: self._waits(grant))
        match (said or "").lower():
            case "y" | "yes":
                done = await approve(self._store, grant.approval_id, self._by, time.time) is not None
                print_line("approved" if done else _TOO_LATE)
            case "n" | "no":
                reason = await self._ask("Why? Enter gives no reason: ", lambda: self._waits(grant)) or ""
                done = await turn_down(self._store, grant.approval_id, self._by, time.time, reason)
                print_line("turned down" if done else _TOO_LATE)
            case _ if said is not None:
                print_line(f"left; later: {command(self._state, 'approvals', 'approve', grant.approval_id)}")

    async def _waits(self, grant: Grant) -> bool:
        return any(one.id == grant.id for one in await waiting(self._store, time.time()))

    # codes

    async def _tell_challenge(self, challenge: Challenge) -> None:
        self._told.add(challenge.id)
        while (code := await show_code(self._store, challenge.id, "terminal", self._by, time.time)) is not None:
            kept = await self._store.find(CHALLENGE, challenge.id)  # whose time may be another by now
            shown = Challenge.read(kept) if kept else challenge
            print_line(f"{_RULE}\n{Notice(shown, code, same_state(self._state)).text}")
            if not self._asks:
                return
            or_no = "" if challenge.blocks else " or no"
            question = f"Verify it? Type the code{or_no}; Enter leaves it: "
            said = await self._ask(question, lambda: self._is_open(challenge))
            if not said:
                return
            if said.lower() in ("n", "no") and challenge.blocks:
                print_line("left: it stays blocked")
                return
            if said.lower() in ("n", "no"):
                reason = await self._ask("Why? Enter gives no reason: ", lambda: self._is_open(challenge)) or ""
                done = await refuse_challenge(self._store, challenge.id, self._by, reason, time.time)
                print_line("refused: the agent may go on, but not with that" if done else _TOO_LATE)
                return
            wrong = await try_code(self._store, challenge, said, self._by)
            print_line(wrong or "verified: the agent may go on")
            if not wrong:
                return

    async def _is_open(self, challenge: Challenge) -> bool:
        return any(one.id == challenge.id for one in await challenges(self._store, time.time()))

    # asking

    async def _ask(self, question: str, still: Callable[[], Awaitable[bool]]) -> str | None:
        """What the person types; None if there is nothing to decide any more. What was typed before is no answer."""
        import termios  # noqa: PLC0415  # which not every system has

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        sys.stdout.write(question)
        sys.stdout.flush()
        while await still():
            with anyio.move_on_after(_SECONDS_BETWEEN_LOOKS):
                await anyio.wait_readable(sys.stdin)
                return sys.stdin.readline().strip()
        print_line(f"\n{_TOO_LATE}")
        return None


_TOO_LATE: Final = "it no longer waits: somebody else has decided, or it has expired"
