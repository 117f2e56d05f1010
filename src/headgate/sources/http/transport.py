"""The guarded transport: httpx2 in front, and behind it connections that only the guarded backend makes."""

import math
import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import httpcore2
import httpx2

from headgate.protocol.errors import AqlError
from headgate.sources.http.backend import GuardedBackend, Resolver, resolve
from headgate.sources.http.origins import origin_of, parsed
from headgate.sources.http.reach import Reach

__all__ = ["GuardedTransport", "Refused"]

_MOST_CONNECTIONS: Final = 100
_MOST_IDLE: Final = 20
_IDLE_SECONDS: Final = 4.0
"""After how long an idle connection is not used again: before servers close it, many of which wait for five."""
_TWINS: Final = (
    *("ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "ConnectError", "ReadError", "WriteError"),
    *("LocalProtocolError", "RemoteProtocolError", "UnsupportedProtocol", "TimeoutException", "NetworkError"),
    "ProtocolError",
)
"""Exceptions of the same name below and above, the particular ones first."""


class Refused(httpx2.ConnectError):
    """A request that was not sent, since its target may not be reached; ``error`` says why and what to do."""

    def __init__(self, error: AqlError) -> None:
        super().__init__(error.error.message)
        self.error = error


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends one request and gives its answer: no proxy, no repetition, no redirect, and nothing out of reach."""

    def __init__(self, reach: Reach, resolver: Resolver = resolve, *, most_bytes: int | None = None) -> None:
        self._reach = reach
        self._most_bytes = most_bytes
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
            max_connections=_MOST_CONNECTIONS,
            max_keepalive_connections=_MOST_IDLE,
            keepalive_expiry=_IDLE_SECONDS,
            retries=0,
            network_backend=GuardedBackend(reach, resolver),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer with its body still to be read. What may not be reached is a Refused."""
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _translated():
            # Read anew from its text: whatever was made of it before, this is what is connected to.
            self._reach.check_origin(origin_of(parsed(str(request.url))))
            answer = await self._pool.handle_async_request(
                httpcore2.Request(
                    request.method,
                    url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions={key: value for key, value in request.extensions.items() if key == "timeout"},
                )
            )
        headers = httpx2.Headers(answer.headers)
        is_endless = headers.get("content-type", "").startswith("text/event-stream")
        body = _Body(answer, None if is_endless else self._most_bytes)
        return httpx2.Response(answer.status, headers=headers, stream=body, extensions=answer.extensions)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response, most: int | None) -> None:
        self._answer = answer
        self._left = math.inf if most is None else most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated():
            async for part in self._answer.aiter_stream():
                self._left -= len(part)
                if self._left < 0:
                    raise httpx2.ReadError("The answer is too large.")
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


@cache
def _trust(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Whose certificates are believed: the system's, or those that the operator names in the environment."""
    return httpx2.create_ssl_context()


@contextmanager
def _translated() -> Iterator[None]:
    """Give exceptions of the connection the names that httpx2 has for them."""
    try:
        yield
    except AqlError as error:
        raise Refused(error) from error
    except OSError as error:
        raise httpx2.ReadError("") from error
    except Exception as error:
        for name in _TWINS:
            if isinstance(error, getattr(httpcore2, name)):
                raise getattr(httpx2, name)(str(error)) from error
        raise
