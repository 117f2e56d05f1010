"""The console's web application: every route in one table, each behind the same doors."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from importlib.resources import files
from typing import Final, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route

from headgate.console.console import Console
from headgate.console.doors import HEADERS, Door, Doors, Threshold, Visit, refused
from headgate.console.oauth import CALLBACK, OAuthError, SignInWithOAuth
from headgate.console.pages import agents, approvals, audit, challenges, executions, live, operations, overview
from headgate.console.rendering import rendered
from headgate.console.signing_in import SESSION_SECONDS, sign_in, sign_out, start
from headgate.store.interface import StoreError

__all__ = ["console_app", "doors_of"]

_STATIC: Final = {"console.css": "text/css", "console.js": "text/javascript", "gate.svg": "image/svg+xml"}
"""What everybody may see: nothing in it tells anything of the state."""

_USED: Final = "This link was used already, or is too old. Make a new one where the server runs."
_ON_THE_WAY_SECONDS: Final = 600
_LOG: Final = logging.getLogger("headgate")


def doors_of(console: Console) -> list[Door]:
    """All routes for somebody who has signed in."""
    parts = (overview, approvals, challenges, agents, executions, audit, operations, live)
    return [door for part in parts for door in part.doors(console)]


def console_app(console: Console, doors: Doors, oauth: SignInWithOAuth | None = None) -> Starlette:
    """The application; whatever is not in the table does not exist."""
    entrance = _Entrance(console, doors, oauth)

    def routes() -> Iterator[Route]:
        yield _route("GET", "/sign-in", entrance.ask)
        yield _route("GET", "/sign-in/{secret}", entrance.ask)
        yield _route("POST", "/sign-in/{secret}", entrance.use_link)
        if oauth is not None:
            returns = _Returns(entrance, oauth)
            yield _route("POST", "/sign-in-with-oauth", returns.go)
            yield _route("GET", CALLBACK, returns.come_back)
        yield _route("GET", "/static/{name}", entrance.static)
        for door in (*doors_of(console), Door("POST", "/sign-out", entrance.leave)):
            yield _route(door.method, door.path, doors.opened(door.handler))

    app = Starlette(
        routes=list(routes()),
        middleware=[Middleware(Threshold, doors)],
        exception_handlers={HTTPException: _not_here, StoreError: _no_state, Exception: _broken},
    )
    app.router.redirect_slashes = False  # it would send browsers wherever the request says
    return app


def _route(method: str, path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
    """A route for one method alone."""
    route = Route(path, endpoint, methods=[method])
    route.methods = {method}  # where GET is, HEAD would be too
    return route


def _not_here(request: Request, error: Exception) -> Response:
    """What is answered where no route fits."""
    if not isinstance(error, HTTPException) or error.status_code != 405:
        return refused(404, "There is no such page.")
    fitting = (one for one in request.app.routes if one.matches(request.scope)[0] is not Match.NONE)
    methods = ", ".join(sorted(method for one in fitting for method in one.methods))
    return refused(405, "This page cannot be asked for in this way.", {"allow": methods})


def _no_state(_request: Request, error: Exception) -> Response:
    """What is answered to anybody while the state cannot be read; why, is for the log alone."""
    _LOG.error("the console cannot look into the state: %s", error)
    return refused(503, "The state cannot be read now: the server's log says why.")


def _broken(_request: Request, _error: Exception) -> Response:
    """What is answered when a page breaks, from outside of everything else."""
    return refused(500, "This page is broken: the server's log says how.", HEADERS)


class _Entrance:
    """What is answered to somebody who has not signed in: nothing but the ways to do so."""

    def __init__(self, console: Console, doors: Doors, oauth: SignInWithOAuth | None) -> None:
        self.console = console
        self.doors = doors
        self._offers = oauth is not None

    async def ask(self, request: Request) -> Response:
        """A page with a button: what only looks at links, such as a mail program, does not use them up."""
        return self.doors.refusal(request) or self.page(secret=request.path_params.get("secret", ""))

    async def use_link(self, request: Request) -> Response:
        """Begin a session for whoever has a link that counts."""
        refusal = self.doors.refusal(request)
        if refusal is not None:
            return refusal
        secret = await sign_in(self.console.store, request.path_params["secret"], self.console.clock)
        if secret is None:
            return self.page(failed=_USED, status=403)
        return self.signed_in(RedirectResponse("/", 303), secret)

    async def leave(self, visit: Visit) -> Response:
        """End the session of somebody who has signed in."""
        await sign_out(self.console.store, visit.operator, self.console.clock)
        return self.with_cookie(RedirectResponse("/sign-in", 303), self.doors.cookie, "", 0)

    async def static(self, request: Request) -> Response:
        """The style, the script and the sign of the console."""
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        content = files("headgate.console").joinpath("static", name).read_bytes()
        return self.doors.refusal(request) or Response(content, media_type=_STATIC[name])

    def page(self, *, secret: str = "", failed: str = "", status: int = 200) -> Response:
        """The page to sign in, with what went wrong, if anything did."""
        return rendered("sign_in.html", status=status, secret=secret, failed=failed, oauth=self._offers)

    def signed_in(self, response: Response, secret: str) -> Response:
        """A response with which a session begins."""
        return self.with_cookie(response, self.doors.cookie, secret, int(SESSION_SECONDS))

    def with_cookie(
        self, response: Response, name: str, value: str, seconds: int, samesite: Literal["strict", "lax"] = "strict"
    ) -> Response:
        """A response with a cookie for so long; to take one away, browsers want all of the same words."""
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            secure=self.doors.is_secure,
            samesite=samesite,
            path="/",
        )
        return response


class _Returns:
    """The way to the provider and back."""

    def __init__(self, entrance: _Entrance, oauth: SignInWithOAuth) -> None:
        self._entrance = entrance
        self._oauth = oauth
        self._cookie = f"{entrance.doors.cookie}_oauth"

    async def go(self, request: Request) -> Response:
        """Send a browser to the provider."""
        refusal = self._entrance.doors.refusal(request)
        if refusal is not None:
            return refusal
        try:
            going = await self._oauth.go()
        except OAuthError as error:
            return self._entrance.page(failed=str(error), status=502)
        leaving = rendered("leave.html", url=going.url)
        return self._entrance.with_cookie(leaving, self._cookie, going.secret, _ON_THE_WAY_SECONDS, "lax")

    async def come_back(self, request: Request) -> Response:
        """Take a browser back, which comes from another site by nature: its cookie tells that it left from here.

        The page that follows makes the next request the console's own; a redirect would still be the other site's,
        and browsers would keep the strict cookie from it.
        """
        asked, console = request.query_params, self._entrance.console
        try:
            name = await self._oauth.back(
                request.cookies.get(self._cookie, ""), asked.get("state", ""), asked.get("code", "")
            )
        except OAuthError as error:
            return self._entrance.page(failed=str(error), status=403)
        session = await start(console.store, name, "oauth", console.clock)
        response = self._entrance.signed_in(rendered("welcome.html"), session)
        return self._entrance.with_cookie(response, self._cookie, "", 0, "lax")
