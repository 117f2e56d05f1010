"""What a request of MCP says of whoever sends it."""

from typing import TypeAlias

from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from headgate.adapter.context import ANONYMOUS, Caller, Session

__all__ = ["Context", "caller_of", "declares", "is_legacy"]

Context: TypeAlias = ServerRequestContext[Session, Request]


def is_legacy(ctx: Context) -> bool:
    """Whether it comes from the era of the handshake."""
    return ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS


def declares(ctx: Context, extension: str) -> bool:
    """Whether the client has said with this very request that it knows an extension."""
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and extension in (capabilities.extensions or {})


def caller_of(ctx: Context) -> Caller:
    """Who calls, as far as the transport has proved it."""
    token = get_access_token() if ctx.request is not None else None
    label = _label(ctx)
    if token is None:
        return Caller(label=label) if label else ANONYMOUS
    return Caller(token.subject, token.client_id, frozenset(token.scopes), label)


def _label(ctx: Context) -> str | None:
    """The client's own name for itself."""
    params = ctx.session.client_params
    return params.client_info.name if params else None
