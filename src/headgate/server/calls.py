"""Tool calls on their way to the engine: past MCP's own checks where those would only repeat or hinder it."""

from dataclasses import replace
from typing import Any, Final, NamedTuple

import mcp_types as types

from headgate.server.contexts import Context, is_legacy

__all__ = ["PlainCall", "arguments_of", "plain_call", "with_any_arguments"]

_PLAIN_PARAMS: Final = frozenset({"name", "arguments", "_meta"})
_PLAIN_META: Final = frozenset(
    {
        "progress_token",
        types.PROTOCOL_VERSION_META_KEY,
        types.CLIENT_INFO_META_KEY,
        types.CLIENT_CAPABILITIES_META_KEY,
    }
)


class PlainCall(NamedTuple):
    """A tool, and what it is called with."""

    tool: str
    arguments: dict[str, Any]


def plain_call(ctx: Context) -> PlainCall | None:
    """A call in which nothing is left for MCP's models to check: a sixth of its time in process.

    The transport has read who the client is, and the engine will read the arguments.
    """
    params, meta = ctx.params or {}, ctx.meta or {}
    tool, arguments = params.get("name"), params.get("arguments")
    is_read = _is_introduced(ctx) and (ctx.meta is not None or "_meta" not in params)
    is_known = params.keys() <= _PLAIN_PARAMS and meta.keys() <= _PLAIN_META
    if is_read and is_known and isinstance(tool, str) and isinstance(arguments, dict):
        return PlainCall(tool, arguments)
    return None


def _is_introduced(ctx: Context) -> bool:
    """Whether the transport has understood all that a client says of itself; in the newer era it may keep its name."""
    if ctx.session.client_params is not None:
        return True
    is_silent = types.CLIENT_INFO_META_KEY not in (ctx.meta or {})
    return is_silent and not is_legacy(ctx) and ctx.session.client_capabilities is not None


class _NoObject:
    """Arguments that are no object, on their way through MCP's own checks to the engine, which names the mistake."""

    def __init__(self, value: object) -> None:
        self.value = value


def with_any_arguments(ctx: Context) -> Context:
    """A request whose arguments MCP's own checks let pass, whatever they are."""
    arguments = ctx.params.get("arguments") if ctx.params else None
    if arguments is None or isinstance(arguments, dict):
        return ctx
    return replace(ctx, params={**(ctx.params or {}), "arguments": {"": _NoObject(arguments)}})


def arguments_of(params: types.CallToolRequestParams) -> object:
    """The arguments as they were sent."""
    arguments = params.arguments or {}
    carried = arguments.get("")
    return carried.value if isinstance(carried, _NoObject) else arguments
