"""Verification codes: shown to a person who asks to see one, and taken from a person who has read one."""

from starlette.responses import RedirectResponse, Response

from headgate.console.console import Console
from headgate.console.doors import LONGEST_REASON, Door, Visit
from headgate.protocol.errors import AqlError
from headgate.safety.asks import identity
from headgate.safety.loop.agents import Party
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.deciding import Deciding
from headgate.safety.loop.persons import challenges, refuse_challenge, show_code
from headgate.safety.loop.settings import LoopSettings

__all__ = ["doors"]


def doors(console: Console) -> list[Door]:
    """The routes of verification codes."""

    async def show_all(visit: Visit) -> Response:
        found = await challenges(console.store, console.clock())
        return await console.page(visit, "codes.html", challenges=found)

    async def show_one(visit: Visit, *, said: str = "", code: str = "", status: int = 200) -> Response:
        record = await console.store.find(CHALLENGE, _id(visit))
        if record is None:
            return await console.page(visit, "missing.html", status=404, what="challenge")
        challenge = Challenge.read(record)
        waits = challenge.is_open(console.clock())
        return await console.page(
            visit, "code.html", status=status, challenge=challenge, waits=waits, said=said, code=code
        )

    async def show_its_code(visit: Visit) -> Response:
        code = await show_code(console.store, _id(visit), "console", visit.operator.name, console.clock)
        if code is None:
            return await show_one(visit, said="It waits no longer: there is no code.", status=409)
        return await show_one(visit, code=code)

    async def verify(visit: Visit) -> Response:
        caller = console.caller(visit)
        deciding = Deciding("", console.store, _settings(console), console.clock)
        try:
            await deciding.verify(Party(identity(caller), None), caller, _id(visit), visit.said("code"))
        except AqlError as error:
            return await show_one(visit, said=f"{error.error.message}.", status=422)
        return RedirectResponse(f"/codes/{_id(visit)}", 303)

    async def refuse(visit: Visit) -> Response:
        if visit.reason is None:
            said = f"Say why in up to {LONGEST_REASON} characters: nothing was refused."
            return await show_one(visit, said=said, status=422)
        if not await refuse_challenge(console.store, _id(visit), visit.operator.name, visit.reason, console.clock):
            return await show_one(visit, said="It waits no longer, so nothing was refused.", status=409)
        return RedirectResponse(f"/codes/{_id(visit)}", 303)

    return [
        Door("GET", "/codes", show_all),
        Door("GET", "/codes/{id}", show_one),
        Door("POST", "/codes/{id}/show", show_its_code),
        Door("POST", "/codes/{id}/verify", verify),
        Door("POST", "/codes/{id}/refuse", refuse),
    ]


def _id(visit: Visit) -> str:
    return str(visit.request.path_params["id"])


def _settings(console: Console) -> LoopSettings:
    loop = console.engine.loop if console.engine else None
    return loop.settings if loop else LoopSettings()
