"""The console's web application: every route in one table, each behind the same doors."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from headgate.console.console import Console
from headgate.console.doors import Door, Doors, Visit, guarded
from headgate.console.oauth import CALLBACK, OAuthError, SignInWithOAuth
from headgate.console.pages import agents, approvals, audit, challenges, live, operations, overview
from headgate.console.rendering import rendered
from headgate.console.signing_in import SESSION_SECONDS, sign_in, sign_out, start

__all__ = ["console_app", "doors_of"]

_STATIC: Final = {"console.css": "text/css", "console.js": "text/javascript", "gate.svg": "image/svg+xml"}
"""What everybody may see: nothing in it tells anything of the state."""

_USED: Final = "This link was used already, or is too old. Make a new one where the server runs."
_ON_THE_WAY: Final = "headgate_console_oauth"
_ON_THE_WAY_SECONDS: Final = 600


def doors_of(console: Console) -> list[Door]:
    """All routes for somebody who has signed in."""
    parts = (overview, approvals, challenges, agents, audit, operations, live)
    return [door for part in parts for door in part.doors(console)]


def console_app(console: Console, doors: Doors, oauth: SignInWithOAuth | None = None) -> Starlette:
    """The application; whatever is not in the table does not exist."""
    entrance = _Entrance(console, doors, oauth)

    async def leave(visit: Visit) -> Response:
        await sign_out(console.store, visit.operator, console.clock)
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(doors.cookie, path="/")
        return response

    def routes() -> Iterator[Route]:
        yield Route("/sign-in", entrance.ask, methods=["GET"])
        yield Route("/sign-in/{secret}", entrance.ask, methods=["GET"])
        yield Route("/sign-in/{secret}", entrance.use_link, methods=["POST"])
        if oauth is not None:
            yield Route("/sign-in-with-oauth", entrance.go, methods=["POST"])
            yield Route(CALLBACK, entrance.come_back, methods=["GET"])
        yield Route("/static/{name}", entrance.static, methods=["GET"])
        for door in (*doors_of(console), Door("POST", "/sign-out", leave)):
            yield Route(door.path, doors.opened(door.handler), methods=[door.method])

    return Starlette(routes=list(routes()))


class _Entrance:
    """What is answered to somebody who has not signed in: nothing but the ways to do so."""

    def __init__(self, console: Console, doors: Doors, oauth: SignInWithOAuth | None) -> None:
        self._console = console
        self._doors = doors
        self._oauth = oauth

    async def ask(self, request: Request) -> Response:
        """A page with a button: what only looks at links, such as a mail program, does not use them up."""
        return self._doors.refusal(request) or self._page(secret=request.path_params.get("secret", ""))

    async def use_link(self, request: Request) -> Response:
        """Begin a session for whoever has a link that counts."""
        refused = self._doors.refusal(request)
        if refused is not None:
            return refused
        secret = await sign_in(self._console.store, request.path_params["secret"], self._console.clock)
        if secret is None:
            return self._page(failed=_USED, status=403)
        return guarded(self._signed_in(RedirectResponse("/", 303), secret))

    async def go(self, request: Request) -> Response:
        """Send a browser to the provider."""
        refused = self._doors.refusal(request)
        if refused is not None or self._oauth is None:
            return refused or self._page(status=404)
        try:
            going = await self._oauth.go()
        except OAuthError as error:
            return self._page(failed=str(error), status=502)
        response = rendered("leave.html", url=going.url)
        response.set_cookie(
            _ON_THE_WAY,
            going.secret,
            max_age=_ON_THE_WAY_SECONDS,
            httponly=True,
            secure=self._doors.is_secure,
            samesite="lax",
            path=CALLBACK,
        )
        return guarded(response)

    async def come_back(self, request: Request) -> Response:
        """Take a browser back, which comes from another site by nature: its cookie tells that it left from here.

        The page that follows makes the next request the console's own; a redirect would still be the other site's,
        and browsers would keep the strict cookie from it.
        """
        if self._oauth is None or not self._doors.is_named(request):
            return self._page(status=404)
        secret = request.cookies.get(_ON_THE_WAY, "")
        asked = request.query_params
        try:
            name = await self._oauth.back(secret, asked.get("state", ""), asked.get("code", ""))
        except OAuthError as error:
            return self._page(failed=str(error), status=403)
        session = await start(self._console.store, name, "oauth", self._console.clock)
        response = self._signed_in(rendered("welcome.html"), session)
        response.delete_cookie(_ON_THE_WAY, path=CALLBACK)
        return guarded(response)

    async def static(self, request: Request) -> Response:
        """The style, the script and the sign of the console."""
        name = request.path_params["name"]
        if name not in _STATIC:
            return guarded(Response("There is no such file.\n", 404, media_type="text/plain"))
        content = files("headgate.console").joinpath("static", name).read_bytes()
        return self._doors.refusal(request) or guarded(Response(content, media_type=_STATIC[name]))

    def _page(self, *, secret: str = "", failed: str = "", status: int = 200) -> Response:
        offers = self._oauth is not None
        return guarded(rendered("sign_in.html", status=status, secret=secret, failed=failed, oauth=offers))

    def _signed_in(self, response: Response, secret: str) -> Response:
        response.set_cookie(
            self._doors.cookie,
            secret,
            max_age=int(SESSION_SECONDS),
            httponly=True,
            secure=self._doors.is_secure,
            samesite="strict",
            path="/",
        )
        return response
