"""Verification codes: shown to a person who asks to see one, and taken from a person who has read one."""

from starlette.responses import RedirectResponse, Response

from headgate.console.console import Console
from headgate.console.doors import LONGEST_REASON, Door, Visit
from headgate.protocol.errors import AqlError
from headgate.safety.asks import identity
from headgate.safety.loop.agents import Party
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.deciding import Deciding
from headgate.safety.loop.persons import challenges, refuse_challenge, show_code, still_blocks
from headgate.safety.loop.settings import LoopSettings

__all__ = ["doors"]


def doors(console: Console) -> list[Door]:
    """The routes of verification codes."""
    pages = _Challenges(console)
    return [
        Door("GET", "/codes", pages.show_all),
        Door("GET", "/codes/{id}", pages.show_one),
        Door("POST", "/codes/{id}/show", pages.show_its_code),
        Door("POST", "/codes/{id}/verify", pages.verify),
        Door("POST", "/codes/{id}/refuse", pages.refuse),
    ]


class _Challenges:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._store = console.store
        self._clock = console.clock

    async def show_all(self, visit: Visit) -> Response:
        found = await challenges(self._store, self._clock())
        return await self._console.page(visit, "codes.html", challenges=found)

    async def show_one(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def show_its_code(self, visit: Visit) -> Response:
        code = await show_code(self._store, _id(visit), "console", visit.operator.name, self._clock)
        if code is None:
            return await self._page(visit, said="It waits no longer: there is no code.", status=409)
        return await self._page(visit, code=code)

    async def verify(self, visit: Visit) -> Response:
        caller = self._console.caller(visit)
        deciding = Deciding("", self._store, _settings(self._console), self._clock)
        try:
            await deciding.verify(Party(identity(caller), None), caller, _id(visit), visit.said("code"))
        except AqlError as error:
            wrong = "That was not the code, so none counts any more: show a new one"
            said = wrong if error.error.code == "TOKEN_INVALID" else error.error.message
            return await self._page(visit, said=f"{said}.", status=422)
        return RedirectResponse(f"/codes/{_id(visit)}", 303)

    async def refuse(self, visit: Visit) -> Response:
        if visit.reason is None:
            said = f"Say why in up to {LONGEST_REASON} characters: nothing was refused."
            return await self._page(visit, said=said, status=422)
        if not await refuse_challenge(self._store, _id(visit), visit.operator.name, visit.reason, self._clock):
            return await self._page(visit, said="It waits no longer, so nothing was refused.", status=409)
        return RedirectResponse(f"/codes/{_id(visit)}", 303)

    async def _page(self, visit: Visit, *, said: str = "", code: str = "", status: int = 200) -> Response:
        record = await self._store.find(CHALLENGE, _id(visit))
        if record is None:
            return await self._console.page(visit, "missing.html", status=404, what="challenge")
        challenge = Challenge.read(record)
        waits = challenge.is_open(self._clock()) or await still_blocks(self._store, challenge)
        return await self._console.page(
            visit, "code.html", status=status, challenge=challenge, waits=waits, said=said, code=code
        )


def _id(visit: Visit) -> str:
    return str(visit.request.path_params["id"])


def _settings(console: Console) -> LoopSettings:
    loop = console.engine.loop if console.engine else None
    return loop.settings if loop else LoopSettings()
