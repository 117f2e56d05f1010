"""A client of httpx2 for those who need one, behind the same guard."""

import logging
from typing import Any, Final

import httpx2

from headgate.protocol.errors import Denied
from headgate.sources.http.backend import Resolver, resolve
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.origins import origin_of
from headgate.sources.http.reach import Reach, home_of
from headgate.sources.http.transport import GuardedTransport, Refused

__all__ = ["guarded_client"]

_OURS: Final = frozenset({"cert", "mounts", "proxy", "transport", "trust_env", "verify"})
"""What would lead round the guard."""
_LOG: Final = logging.getLogger("httpx2")


def guarded_client(
    bounds: Bounds, base_url: str, *, resolver: Resolver = resolve, **options: Any
) -> httpx2.AsyncClient:
    """A client that reaches what the bounds allow, and nothing else. What it may not reach is a Refused.

    It retries nothing. If it is told to follow redirects, it follows those within an origin, so that no header of its
    user is seen by another. Streams of events may be endless; any other answer ends with the bounds.
    """
    if forbidden := sorted(_OURS & options.keys()):
        raise ValueError(f"{', '.join(forbidden)}: not of a guarded client")
    _LOG.addFilter(_without_query)
    home = home_of(base_url)
    reach = Reach(bounds, frozenset({home}) if home.is_local else frozenset())
    hooks = dict(options.pop("event_hooks", None) or {})
    hooks["response"] = [_judge, *hooks.get("response", ())]
    headers = httpx2.Headers(options.pop("headers", None)) | {"Accept-Encoding": "identity"}
    timeout = options.pop("timeout", httpx2.Timeout(bounds.total_seconds, connect=bounds.connect_seconds))
    return httpx2.AsyncClient(
        transport=GuardedTransport(reach, resolver, most_bytes=bounds.max_response_bytes),
        trust_env=False,
        event_hooks=hooks,
        headers=headers,
        timeout=timeout,
        **options,
    )


async def _judge(response: httpx2.Response) -> None:
    """Refuse redirects to another origin, and what was compressed unasked, since it may unfold to anything."""
    here = origin_of(response.request.url)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _refused(response, "the upstream compresses its answers although it was asked not to", str(here))
    if response.has_redirect_location:
        target = response.request.url.join(response.headers["location"])
        if target.scheme not in ("http", "https") or origin_of(target) != here:
            raise _refused(response, "the upstream redirects to another origin; this is not followed", str(here))


def _refused(response: httpx2.Response, reason: str, target: str) -> Refused:
    error = Refused(Denied(reason, target=target))
    error.request = response.request
    return error


def _without_query(record: logging.LogRecord) -> bool:
    """Show no query of a URL in the log: a key may stand in it."""
    if isinstance(record.args, tuple):
        record.args = tuple(_shortened(one) for one in record.args)
    return True


def _shortened(value: object) -> object:
    return str(value.copy_with(query=None, fragment=None)) if isinstance(value, httpx2.URL) else value
