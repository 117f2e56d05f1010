"""``headgate watch``: what waits for a person, as it comes, with the codes; for the operator's own terminal."""

import sys
import time
from typing import Annotated, Final

import anyio
from cyclopts import Parameter

from headgate.cli.audit_rows import caller_shown, time_shown
from headgate.cli.exits import OK
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.state import By, State, login_name, open_state
from headgate.console.channels.interface import subject_of, text_of
from headgate.protocol.visible import json_line, visible
from headgate.safety.approvals import waiting
from headgate.safety.grants import Grant
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges, show_code
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
    """Show what waits for a person, as it comes: approvals, and verification codes. Ctrl-C ends it.

    Codes are printed only to a terminal: what goes to a file or a pipe, an agent may read.
    """

    async def work() -> int:
        if not sys.stdout.isatty():
            raise SettingError(
                "headgate watch shows codes, so it prints to a terminal alone; see also: headgate agents"
            )
        async with open_state(state) as store:
            watching = _Watching(store, by or login_name())
            complain("watching; approvals and codes appear here")
            while True:
                await watching.look()
                if once:
                    return OK
                await anyio.sleep(_SECONDS_BETWEEN_LOOKS)

    try:
        return guarded(work)
    except KeyboardInterrupt:
        return OK


class _Watching:
    """Tells everything once."""

    def __init__(self, store: Store, by: str) -> None:
        self._store = store
        self._by = by
        self._told: set[str] = set()

    async def look(self) -> None:
        """Tell what is new."""
        now = time.time()
        for grant in await waiting(self._store, now):
            if self._is_new(grant.id):
                _tell_grant(grant)
        for challenge in await challenges(self._store, now):
            if self._is_new(challenge.id):
                await self._tell_challenge(challenge)

    def _is_new(self, key: str) -> bool:
        is_new = key not in self._told
        self._told.add(key)
        return is_new

    async def _tell_challenge(self, challenge: Challenge) -> None:
        code = await show_code(self._store, challenge.id, "terminal", self._by, time.time)
        if code is not None:
            print_line(f"{_RULE}\n{subject_of(challenge)}\n\n{text_of(challenge, code)}")


def _tell_grant(grant: Grant) -> None:
    bound = grant.binding
    print_line(
        f"{_RULE}\n{grant.approval_id} waits until {time_shown(grant.expires_at)}\n"
        f"  {visible(bound.operation)} of {visible(bound.adapter)}, asked by {caller_shown(bound.caller)}\n"
        f"  {visible(grant.message)}\n  {json_line(grant.params)[:2000]}\n"
        f"  headgate approvals approve {grant.approval_id}"
    )
