"""The doors of the console: which hosts, origins and requests are let in. Everything is refused that is not allowed."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from headgate.console.rendering import rendered
from headgate.console.signing_in import Operator, find_operator
from headgate.safety.clock import Clock
from headgate.store.interface import Store

__all__ = ["CSRF", "HEADERS", "Door", "Doors", "Visit", "VisitHandler", "guarded"]

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

_LARGEST_FORM: Final = 4 * 2**20


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
        if not self.is_named(request):
            return _refused(421, "This address is not the console's: open the link that was printed.")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower():
            return _refused(403, "This request comes from another page, so nothing was done.")
        if request.method != "GET" and origin is None:
            return _refused(403, "This request does not say from which page it comes, so nothing was done.")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            if origin is None and request.headers.get("sec-fetch-mode") == "navigate":
                return guarded(rendered("elsewhere.html", status=403, path=_path(request)))
            return _refused(403, "This request comes from another page, so nothing was done.")
        return None

    def is_named(self, request: Request) -> bool:
        """Whether a request is meant for the console: a page that rebinds its name to this address gets nothing."""
        return request.headers.get("host", "").lower() in self.hosts

    async def operator_of(self, request: Request) -> Operator | None:
        """Who has signed in, if anybody has."""
        secret = request.cookies.get(self.cookie)
        return await find_operator(self.store, secret, self.clock) if secret else None

    def opened(self, handler: VisitHandler) -> Callable[[Request], Awaitable[Response]]:
        """What answers a route: the handler, for somebody who has signed in and whose form is our own."""

        async def answer(request: Request) -> Response:
            refused = self.refusal(request)
            if refused is not None:
                return refused
            operator = await self.operator_of(request)
            if operator is None:
                if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
                    return guarded(RedirectResponse("/sign-in", 303))
                return _refused(401, "Sign in first: open the link that the server has printed.")
            form: Mapping[str, list[str]] = {}
            if request.method != "GET":
                read = await _form(request)
                if read is None:
                    return _refused(413, "The form is too large, so nothing was done.")
                if not hmac.compare_digest((read.get(CSRF) or [""])[0].encode(), operator.csrf.encode()):
                    return _refused(403, "This form is not the console's own, or too old: reload the page and repeat.")
                form = read
            return guarded(await handler(Visit(request, operator, form)))

        return answer


def _path(request: Request) -> str:
    """Where a link of the console's own leads to the same page."""
    query = request.url.query
    return f"/{request.url.path.lstrip('/')}" + (f"?{query}" if query else "")


async def _form(request: Request) -> Mapping[str, list[str]] | None:
    """The fields of a form, or None if there is more of it than anybody types."""
    size = request.headers.get("content-length", "")
    if not size.isdigit() or int(size) > _LARGEST_FORM:
        return None
    data: FormData = await request.form(max_files=0, max_fields=2000, max_part_size=_LARGEST_FORM)
    fields: dict[str, list[str]] = {}
    for name, value in data.multi_items():
        fields.setdefault(name, []).append(str(value))
    return fields


def _refused(status: int, words: str) -> Response:
    return guarded(PlainTextResponse(f"{words}\n", status))


def guarded(response: Response) -> Response:
    """A response that no other page can frame, read or keep."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
