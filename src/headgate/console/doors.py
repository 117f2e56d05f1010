"""The doors of the console: which hosts, origins and requests are let in. Everything is refused that is not allowed."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.console.rendering import rendered
from headgate.console.signing_in import Operator, find_operator
from headgate.safety.clock import Clock
from headgate.store.interface import Store, StoreError

__all__ = ["CSRF", "HEADERS", "LONGEST_REASON", "Door", "Doors", "Threshold", "Visit", "VisitHandler", "refused"]

CSRF: Final = "csrf"
"""The field of every form that proves it is one of ours."""

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, browsers would not say where a form comes from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}

LONGEST_REASON: Final = 500
_LARGEST_FORM: Final = 10 * 2**20
"""Room for the arguments of the largest call, each sign of which may be spelt out in eight."""
_MOST_FIELDS: Final = 2000
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who has signed in, and what their form says."""

    request: Request
    operator: Operator
    form: Mapping[str, list[str]]

    @property
    def is_refresh(self) -> bool:
        """Whether an open page asks for what has changed on it, and nobody for a new page."""
        return "x-headgate-refresh" in self.request.headers

    def said(self, name: str) -> str:
        """The one value of a field, or nothing."""
        values = self.form.get(name, [])
        return values[0] if values else ""

    @property
    def reason(self) -> str | None:
        """Why something is done, which may be nothing; None if it is more than anybody reads."""
        reason = self.said("reason").strip()
        return reason if len(reason) <= LONGEST_REASON else None


VisitHandler: TypeAlias = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Door:
    """One route: a method, a path, and what answers whoever has signed in."""

    method: str
    path: str
    handler: VisitHandler


@dataclass(frozen=True, slots=True)
class Doors:
    """Who is let in, and under which names the console may be reached."""

    store: Store
    hosts: frozenset[str]
    """Host and port, as browsers send them."""
    is_secure: bool
    """Whether browsers reach it by https."""
    clock: Clock
    cookie: str = "headgate_console"
    """Under which name a browser keeps a session."""

    def refusal(self, request: Request) -> Response | None:
        """Why a request is none of the console's own pages or its operator's; None if it may be."""
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != self._origin(request):
            return refused(403, "This request comes from another page, so nothing was done.")
        if request.method != "GET" and origin is None:
            return refused(403, "This request does not say from which page it comes, so nothing was done.")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            if origin is None and request.headers.get("sec-fetch-mode") == "navigate":
                return rendered("elsewhere.html", status=403, path=_path(request))
            return refused(403, "This request comes from another page, so nothing was done.")
        return None

    def _origin(self, request: Request) -> str:
        return f"{'https' if self.is_secure else 'http'}://{_host(request)}"

    def is_named(self, request: Request) -> bool:
        """Whether a request is meant for the console: a page that rebinds its name to this address gets nothing."""
        return _host(request) in self.hosts

    async def operator_of(self, request: Request) -> Operator | None:
        """Who has signed in, if anybody has."""
        secret = request.cookies.get(self.cookie)
        return await find_operator(self.store, secret, self.clock) if secret else None

    def opened(self, handler: VisitHandler) -> Callable[[Request], Awaitable[Response]]:
        """What answers a route: the handler, for somebody who has signed in and whose form is our own."""

        async def answer(request: Request) -> Response:
            refusal = self.refusal(request)
            if refusal is not None:
                return refusal
            operator = await self.operator_of(request)
            if operator is None:
                if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
                    return RedirectResponse("/sign-in", 303)
                return refused(401, "Sign in first: open the link that the server has printed.")
            form = {} if request.method == "GET" else await _form(request)
            if isinstance(form, Response):
                return form
            if request.method != "GET" and not _is_own(form, operator):
                return refused(403, "This form is not the console's own, or too old: reload the page and repeat.")
            try:
                return await handler(Visit(request, operator, form))
            except StoreError as error:
                return refused(503, f"{error}.")

        return answer


class Threshold:
    """What every request and answer passes, whatever is answered, and by whom.

    Only what was meant for the console is answered at all, and no answer can be framed, read or kept by another page.
    """

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._app
        if scope["type"] == "http" and not self._doors.is_named(Request(scope)):
            app = refused(421, "This address is not the console's: open the link that was printed.")
        await app(scope, receive, guarded)


def refused(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal in words, which tell nothing of the state."""
    return PlainTextResponse(f"{words}\n", status, headers)


def _host(request: Request) -> str:
    return request.headers.get("host", "").lower()


def _path(request: Request) -> str:
    """Where a link of the console's own leads to the same page."""
    path, query = str(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    return f"/{quote(path.lstrip('/'))}" + (f"?{query}" if query else "")


async def _form(request: Request) -> Mapping[str, list[str]] | Response:
    """The fields of a form as the console's pages send them, or why it is none."""
    size = request.headers.get("content-length", "")
    if not (size.isascii() and size.isdigit()):
        return refused(411, "This form does not say how large it is, so nothing was done.")
    if len(size) > len(str(_LARGEST_FORM)) or int(size) > _LARGEST_FORM:
        return refused(413, "The form is too large, so nothing was done.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return refused(415, "This is no form of the console, so nothing was done.")
    text = (await request.body()).decode(errors="replace")
    try:
        said = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return refused(413, "The form has too many fields, so nothing was done.")
    fields: dict[str, list[str]] = {}
    for name, value in said:
        fields.setdefault(name, []).append(value)
    return fields


def _is_own(form: Mapping[str, list[str]], operator: Operator) -> bool:
    [given, *_] = form.get(CSRF) or [""]
    return hmac.compare_digest(given.encode(), operator.csrf.encode())
