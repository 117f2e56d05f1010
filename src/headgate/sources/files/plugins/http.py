"""The transport http: requests leave through the one sender that guards where they go."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headgate.adapter.context import Context
from headgate.protocol.errors import AqlError
from headgate.sources.files.headroom import Headroom
from headgate.sources.files.plugins.interfaces import Surroundings
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Target
from headgate.sources.http.credentials import Credential
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.http.origins import origin_of, parsed
from headgate.sources.http.sender import Sender

__all__ = ["HTTP", "Http", "HttpConnection"]

_BASE_URL: Final = "base_url"
_PLAIN: Final = re.compile(r"[!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]+\Z")
"""The characters of URLs; what uses others may be read in several ways."""


class HttpConnection:
    """A sender, made when the first request is sent."""

    def __init__(self, base_url: str, credentials: tuple[Credential, ...], here: Surroundings) -> None:
        self._base_url = base_url
        self._credentials = credentials
        self._here = here
        self._sender: Sender | None = None
        self._headroom = Headroom(here.telling)

    async def send(self, request: OutRequest, context: Context | None) -> Answer:
        """The answer to a request, whatever its status."""
        if self._sender is None:
            self._sender = Sender(self._here.bounds, self._base_url, self._credentials, name=self._here.name)
        self._headroom.check()
        answer = await self._sender.send(request)
        self._headroom.learn(answer)
        return answer

    async def close(self) -> None:
        """Close the connections that are kept."""
        sender, self._sender = self._sender, None
        if sender is not None:
            await sender.close()


@dataclass(frozen=True, slots=True)
class Http:
    """HTTP with TLS, and without it to this machine only."""

    name: str = "http"
    description: str = "HTTP and HTTPS"
    keys: tuple[str, ...] = (_BASE_URL,)

    def check(self, fields: Mapping[str, Spot], block: Spot) -> None:
        """The base URL must be there, and be one that may be used."""
        spot = fields.get(_BASE_URL)
        if spot is None:
            here = block.below(_BASE_URL, None)
            fix = "Add 'base_url: https://…'."
            here.wrong("the field 'base_url'", fix, found="none", code="SCHEMA_MISSING_FIELD")
            return
        url = spot.text()
        if url is not None:
            _check_url(spot, url)

    def connect(self, target: Target, credentials: tuple[Credential, ...], here: Surroundings) -> HttpConnection:
        """A connection to the base URL."""
        return HttpConnection(target.base_url, credentials, here)


def _check_url(spot: Spot, url: str) -> None:
    example = "a URL such as 'https://api.example.com/v1'"
    try:
        found, origin = parsed(url), origin_of(url) if _PLAIN.match(url) else None
    except AqlError:
        origin = None
    if origin is None:
        fix = "Write scheme, host and path; no user name, no password, no spaces."
        spot.wrong(example, fix, found="something else")
        return
    if origin.scheme != "https" and not origin.is_local:
        spot.wrong("https", "Use https; http is for localhost only.", found="http")
    if url.endswith("/"):
        spot.wrong("no slash behind it", f"Write '{url.rstrip('/')}'.", found="a slash")
    if found.query or found.fragment or "?" in url or "#" in url:
        spot.wrong(example, "End it before the '?' or '#'.", found="a query or a fragment")


HTTP: Final = Http()
