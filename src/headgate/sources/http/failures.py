"""How a request ended badly, as an error that the caller can act on: an answer with a status, or no answer."""

import re
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import httpx2

from headgate.adapter.binary import Binary
from headgate.adapter.masking import scrubbed
from headgate.protocol.error_codes import code_for_http_status
from headgate.protocol.errors import AqlError, Conflict, NotFound, harmless, retry_in
from headgate.sources.http.backend import Unresolved
from headgate.sources.http.decoding import data_of, media_type_of, text_of
from headgate.sources.http.messages import Answer
from headgate.sources.http.retries import retry_after
from headgate.sources.http.transport import Refused

__all__ = ["failure_of", "named", "trouble_of", "without_secrets"]

_MOST_WORDS: Final = 2_000
"""Characters of an upstream's own words that are passed on."""
_DEEPEST: Final = 8
_TITLE: Final = re.compile(rb"<title>([^<]{1,200})</title>", re.IGNORECASE)
_REFUSED: Final = {
    401: "the upstream does not accept the credentials of this source, or there are none",
    403: "the upstream does not allow this to the credentials of this source",
}
_TIMEOUTS: Final = (httpx2.TimeoutException, TimeoutError)
_TROUBLES: Final = (
    ((Unresolved, socket.gaierror), "TRANSPORT_DNS_ERROR", "The host name of {} could not be resolved"),
    (ssl.SSLError, "TRANSPORT_TLS_ERROR", "The certificate or the encryption of {} failed"),
    (ConnectionRefusedError, "TRANSPORT_CONNECTION_REFUSED", "{} refused the connection"),
    (_TIMEOUTS, "TRANSPORT_TIMEOUT", "{} did not answer in time"),
    (BaseException, "TRANSPORT_NETWORK_ERROR", "The connection to {} broke"),
)
_UNSURE: Final = "; the request may have taken effect, and was not repeated"
_NOTHING_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""What lies behind an exception of the connection, the particular first."""


def failure_of(answer: Answer, *, operation: str, resource: str, identifier: object = None) -> AqlError:
    """The error that an answer with a status from 300 up stands for, with the upstream's own words in its details."""
    code = code_for_http_status(answer.status)
    message, details = _worded(code, answer, operation, resource, identifier)
    words = _own_words(answer)
    if words:
        details["upstream_error"] = words
    return without_secrets(AqlError(code, message, {**details, "http_status": answer.status}), answer.secrets)


def trouble_of(error: BaseException, target: str, *, unsure: bool = False) -> AqlError:
    """The error that an exception of the connection stands for; the target is an origin, never a whole URL.

    If it is not sure that a request had no effect, the message says so, unless there was no connection to begin with.
    """
    if isinstance(error, Refused):
        return error.error
    behind = [error] if isinstance(error, _TIMEOUTS) else list(_chain(error))
    code, message = next(row[1:] for row in _TROUBLES if any(isinstance(one, row[0]) for one in behind))
    hint = _UNSURE if unsure and not isinstance(error, _NOTHING_SENT) else ""
    shown = f"'{target}'" if harmless(target) else "the upstream"
    return AqlError(code, message.format(shown) + hint, {"target": target})


def named(error: AqlError, source: str) -> AqlError:
    """The same error with the name of the source that it is about."""
    found = error.error
    return AqlError(found.code, found.message, {**(found.details or {}), "source": source}) if source else error


def without_secrets(error: AqlError, secrets: frozenset[str]) -> AqlError:
    """The same error without any of the secrets, wherever in it they stood."""
    if not secrets:
        return error
    found = error.error
    details = scrubbed(found.details, secrets) if found.details else found.details
    return AqlError(found.code, scrubbed(found.message, secrets), details)


def _worded(
    code: str, answer: Answer, operation: str, resource: str, identifier: object
) -> tuple[str, dict[str, object]]:
    """The message as the registry words it, and the details that belong to the code."""
    refused = f"The upstream refused the request of '{operation}' (HTTP {answer.status})"
    match code:
        case "NOT_FOUND_RESOURCE" | "CONFLICT_ALREADY_EXISTS":
            return _about(code, resource, identifier)
        case "PERMISSION_DENIED":
            reason = _REFUSED[answer.status]
            return f"Permission denied: '{reason}'", {"reason": reason}
        case "RATE_LIMIT_EXCEEDED":
            wait = retry_after(answer.headers)
            hint = "" if wait is None else f": {retry_in(wait)}"
            return f"API rate limit exceeded{hint}", {} if wait is None else {"retry_after_seconds": wait}
        case "INTERNAL_ERROR":
            return f"Internal error: 'the upstream failed (HTTP {answer.status})'", {}
        case _:
            return refused, {"operation": operation}


def _about(code: str, resource: str, identifier: object) -> tuple[str, dict[str, object]]:
    kind = NotFound if code == "NOT_FOUND_RESOURCE" else Conflict
    found = kind(resource, identifier).error
    return found.message, {key: value for key, value in (found.details or {}).items() if value is not None}


def _own_words(answer: Answer) -> object:
    """What the upstream says itself: data if it is little, else the beginning of its text; of a page, its title."""
    if media_type_of(answer) == "text/html":
        title = _TITLE.search(answer.content[:_MOST_WORDS])
        return title[1].decode(errors="replace").strip() if title else None
    try:
        data = data_of(answer, _DEEPEST)
    except AqlError:
        data = text_of(answer)
    if isinstance(data, Binary):
        return None
    if isinstance(data, str) or len(answer.content) > _MOST_WORDS:
        text = data if isinstance(data, str) else text_of(answer)
        return scrubbed(text, answer.secrets)[:_MOST_WORDS].strip()
    return data


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that it came of, also where somebody has cut the chain from view.

    What a caller was busy with before is not part of it, nor what TLS says while it waits.
    """
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, AqlError | ssl.SSLWantReadError | ssl.SSLWantWriteError):
            continue
        seen.add(id(one))
        yield one
        inside = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [cause for cause in (one.__cause__, one.__context__, *inside) if cause is not None]
