"""Where a redirect leads: one pure step from a request and an answer to the next request, or to a refusal."""

from dataclasses import dataclass, field, replace
from typing import Final

import httpx2

from headgate.protocol.errors import AqlError, Denied
from headgate.sources.http.messages import SAFE_METHODS, OutRequest
from headgate.sources.http.origins import Origin, origin_of, parsed

__all__ = ["Hop", "redirected"]

_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_UNCHANGED: Final = frozenset({307, 308})
_HARMLESS: Final = frozenset({"accept", "accept-language", "user-agent"})
"""The headers that another origin may see."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One request on the way to an answer, and whether it is still where the source was pointed to."""

    request: OutRequest
    trusted: bool
    count: int = 0
    origin: Origin = field(init=False)

    @property
    def is_safe(self) -> bool:
        """Whether it changes nothing, so that it may be repeated."""
        return self.request.method in SAFE_METHODS

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", origin_of(self.request.url))


def redirected(hop: Hop, status: int, headers: httpx2.Headers, most: int) -> Hop | None:
    """The next hop if an answer is a redirect, None if it is an answer, an AqlError if it must not be followed.

    Who has once left an origin is a stranger from then on, even if the way leads back.
    """
    location = headers.get("location")
    if status not in _MOVED or not location:
        return None
    url = _target(hop, location)
    origin = origin_of(url)
    at_home = origin == hop.origin
    if not hop.is_safe and not (status in _UNCHANGED and at_home):
        raise _not_followed(hop, status)
    if hop.origin.scheme == "https" and origin.scheme == "http":
        raise Denied(
            f"the upstream redirects from https to http, to {origin.host}; this is not followed", target=str(hop.origin)
        )
    if hop.count >= most:
        raise AqlError(
            "TRANSPORT_NETWORK_ERROR",
            f"'{hop.origin}' redirects more than {most} times",
            {"target": str(hop.origin), "http_status": status},
        )
    return Hop(_next(hop.request, status, str(url), at_home=at_home), hop.trusted and at_home, hop.count + 1)


def _target(hop: Hop, location: str) -> httpx2.URL:
    try:
        joined = str(httpx2.URL(hop.request.url).join(location))
        return parsed(joined).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError, AqlError):
        raise AqlError(
            "TRANSPORT_NETWORK_ERROR",
            f"'{hop.origin}' redirects to something else than a web address",
            {"target": str(hop.origin)},
        ) from None


def _next(request: OutRequest, status: int, url: str, *, at_home: bool) -> OutRequest:
    moved = replace(request, url=url)
    if not at_home:
        moved = replace(
            moved, headers=tuple(pair for pair in request.headers if pair[0].lower() in _HARMLESS), content=None
        )
    if status == 303 and request.method != "HEAD":
        moved = replace(moved, method="GET", content=None)
    return moved


def _not_followed(hop: Hop, status: int) -> AqlError:
    return AqlError(
        "PROTOCOL_INVALID_MAPPING",
        f"'{hop.origin}' redirects this '{hop.request.method}' request (HTTP {status}). It was not sent again, and "
        "may have taken effect; point the operation to where the redirect leads",
        {"target": str(hop.origin), "http_status": status, "mapping": hop.request.method},
    )
