"""MCP over streamable HTTP: both eras on one path, host and origin checked, callers authenticated."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import uvicorn
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from headgate.server.addresses import Address
from headgate.server.auth import OAuth
from headgate.server.binding import McpServer
from headgate.server.settings import SettingError
from headgate.server.signals import wait_for_signal

__all__ = ["PATH", "Access", "WebServer", "http_app", "run_http"]

PATH: Final = "/mcp"
_READING_SECONDS: Final = 0.1
"""So long after the end of listening, a request that is on its way is read."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may call, and under which names the server may be reached."""

    verifier: TokenVerifier | None = None
    oauth: OAuth | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    def hosts(self, address: Address) -> list[str]:
        """The names under which clients may reach a server there; a SettingError if nobody has said any."""
        if address.is_everywhere and not self.allowed_hosts:
            raise SettingError(
                f"Listening on {address.host} needs --allow-host with the names that clients use, "
                "such as api.example.org"
            )
        own = [] if address.is_everywhere else [address.url_host]
        return [*(_LOOPBACK if address.is_loopback else ()), *own, *self.allowed_hosts]

    def origins(self, address: Address) -> list[str]:
        """The origins of web pages that may call a server there."""
        own = [*_LOOPBACK, address.url_host] if address.is_loopback else []
        return [*(form for host in own for form in (f"http://{host}", f"http://{host}:*")), *self.allowed_origins]


def http_app(server: McpServer, address: Address, access: Access) -> Starlette:
    """The ASGI application of a server: MCP on ``/mcp``, ``/health`` beside it. Allowed origins may be web pages."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        transport_security=_security(address, access),
        auth=_auth_settings(address, access),
        token_verifier=access.verifier,
        custom_starlette_routes=[Route("/health", _health), Route("/", _front(server))],
    )
    if access.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=access.allowed_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "www-authenticate"],
        )
    return app


def _security(address: Address, access: Access) -> TransportSecuritySettings:
    """Only requests that were meant for this server: a page that rebinds its name to this address gets nothing."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for host in access.hosts(address) for form in (host, f"{host}:*")],
        allowed_origins=access.origins(address),
    )


def _auth_settings(address: Address, access: Access) -> AuthSettings | None:
    if access.verifier is None:
        return None
    if access.oauth is None:
        unused = AnyHttpUrl(f"http://{address.netloc}")
        return AuthSettings(issuer_url=unused, resource_server_url=None)
    return AuthSettings(
        issuer_url=AnyHttpUrl(access.oauth.issuer),
        resource_server_url=_resource(address, access.oauth),
        required_scopes=list(access.oauth.required_scopes) or None,
        validate_token_resource=False,  # the verifier checks the audience itself
    )


def _resource(address: Address, oauth: OAuth) -> AnyHttpUrl:
    """The identifier of this server: the audience where that is a URL, else where it listens."""
    return AnyHttpUrl(oauth.audience if oauth.is_resource else f"http://{address.netloc}{PATH}")


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _front(server: McpServer) -> Callable[[Request], Awaitable[Response]]:
    """A word for people who open the address in a browser."""
    text = f"{server.name}: an MCP server that speaks MCP-AQL. Connect an MCP client to {PATH}\n"

    async def front(_request: Request) -> Response:
        return PlainTextResponse(text)

    return front


class WebServer(uvicorn.Server):
    """Uvicorn, which loses nobody when it stops."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_read = anyio.Event()
        """Nobody listens any more, and whatever had come by then is in work."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to :func:`_stop_on_signal`."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening before anything else, and answer whoever was connected by then.

        Uvicorn would reset who waits to be accepted, and close on who was not read yet. A proxy cannot send such a
        request to another server, since it may have been done; one that is refused, it can.
        """
        arrived = [connection for sock in sockets or () for connection in _waiting(sock)]
        for server in self.servers:
            server.close()
        made: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        protocol = partial(
            made,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        for connection in arrived:
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
        await asyncio.sleep(_READING_SECONDS)
        self.has_read.set()
        await super().shutdown(sockets)


def _waiting(sock: socket.socket) -> Iterator[socket.socket]:
    """The connections to a socket that nobody has accepted yet."""
    with suppress(BlockingIOError):
        while True:
            connection, _ = sock.accept()
            connection.setblocking(False)
            yield connection


async def run_http(server: McpServer, app: Starlette, sock: socket.socket, grace_seconds: float) -> None:
    """Serve on a listening socket until a signal comes; requests in work are finished first."""
    # Left on, the drain would cut answers that are still being streamed.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    AppStatus.should_exit = False
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=int(grace_seconds) + 2
    )
    web = WebServer(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, web, server, grace_seconds)
        await web.serve(sockets=[sock])
        tasks.cancel_scope.cancel()
    server.sessions.end_all()


async def _stop_on_signal(web: WebServer, server: McpServer, grace_seconds: float) -> None:
    """The first signal lets requests finish; the second one does not."""
    await wait_for_signal()
    web.should_exit = True
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_drain, web, server, grace_seconds)
        await wait_for_signal()
        web.force_exit = True
        tasks.cancel_scope.cancel()


async def _drain(web: WebServer, server: McpServer, grace_seconds: float) -> None:
    server.stop_listening()
    await web.has_read.wait()
    await server.finish(grace_seconds)
    AppStatus.should_exit = True
