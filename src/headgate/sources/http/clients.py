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
    hooks["response"] = [_stay, *hooks.get("response", ())]
    headers = httpx2.Headers({"Accept-Encoding": "identity"}) | httpx2.Headers(options.pop("headers", None))
    timeout = options.pop("timeout", httpx2.Timeout(bounds.total_seconds, connect=bounds.connect_seconds))
    return httpx2.AsyncClient(
        transport=GuardedTransport(reach, resolver, most_bytes=bounds.max_response_bytes),
        trust_env=False,
        event_hooks=hooks,
        headers=headers,
        timeout=timeout,
        **options,
    )


async def _stay(response: httpx2.Response) -> None:
    """Follow no redirect to another origin."""
    if response.has_redirect_location and response.next_request is not None:
        here, there = origin_of(response.request.url), origin_of(response.next_request.url)
        if here != there:
            raise Refused(Denied(f"the upstream redirects to {there.host}; this is not followed", target=str(here)))


def _without_query(record: logging.LogRecord) -> bool:
    """Show no query of a URL in the log: a key may stand in it."""
    if isinstance(record.args, tuple):
        record.args = tuple(_shortened(one) for one in record.args)
    return True


def _shortened(value: object) -> object:
    return str(value.copy_with(query=None, fragment=None)) if isinstance(value, httpx2.URL) else value
