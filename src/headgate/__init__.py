"""MCP-AQL for Python: every tool an agent needs behind one to five MCP tools, discoverable and guarded."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headgate._version import __version__

if TYPE_CHECKING:
    from headgate.adapter.adapter import Adapter
    from headgate.adapter.background import Background
    from headgate.adapter.binary import Binary
    from headgate.adapter.context import Caller, Context, Session
    from headgate.adapter.etags import etag_of, require_match, with_etag
    from headgate.adapter.operations import Example, Operation
    from headgate.adapter.parameters import Deprecated, Param, Parameter
    from headgate.adapter.patch import Patch
    from headgate.client.aql import Aql
    from headgate.client.blocking import BlockingAql, connect_sync
    from headgate.client.connections import connect
    from headgate.client.errors import AqlFailure, ClientError, ServerError
    from headgate.engine.pipeline import Engine, EngineOptions
    from headgate.protocol.adapter_errors import AdapterError
    from headgate.protocol.categories import Category
    from headgate.protocol.concurrency import Concurrency
    from headgate.protocol.danger import Danger, DangerLevel, Trust
    from headgate.protocol.errors import (
        AqlError,
        Conflict,
        Denied,
        Invalid,
        NotFound,
        RateLimited,
        Unavailable,
        VersionMismatch,
    )
    from headgate.protocol.limits import Limits
    from headgate.protocol.merge import merge
    from headgate.protocol.profiles import Family, Mode, Profile
    from headgate.query.backends import Backend
    from headgate.query.collections import Collection, Computed, Field, Relationship
    from headgate.query.kinds import Kind
    from headgate.server.binding import mcp_server
    from headgate.sources.sql.connections import DatabaseOptions
    from headgate.sources.sql.settings import SqlSettings
    from headgate.sources.sql.source import sql_adapter

__all__ = [
    "Adapter",
    "AdapterError",
    "Aql",
    "AqlError",
    "AqlFailure",
    "Backend",
    "Background",
    "Binary",
    "BlockingAql",
    "Caller",
    "Category",
    "ClientError",
    "Collection",
    "Computed",
    "Concurrency",
    "Conflict",
    "Context",
    "Danger",
    "DangerLevel",
    "DatabaseOptions",
    "Denied",
    "Deprecated",
    "Engine",
    "EngineOptions",
    "Example",
    "Family",
    "Field",
    "Invalid",
    "Kind",
    "Limits",
    "Mode",
    "NotFound",
    "Operation",
    "Param",
    "Parameter",
    "Patch",
    "Profile",
    "RateLimited",
    "Relationship",
    "ServerError",
    "Session",
    "SqlSettings",
    "Trust",
    "Unavailable",
    "VersionMismatch",
    "__version__",
    "connect",
    "connect_sync",
    "etag_of",
    "mcp_server",
    "merge",
    "require_match",
    "sql_adapter",
    "with_etag",
]

_HOMES = {
    "headgate.adapter.adapter": ("Adapter",),
    "headgate.adapter.background": ("Background",),
    "headgate.adapter.binary": ("Binary",),
    "headgate.adapter.context": ("Caller", "Context", "Session"),
    "headgate.protocol.adapter_errors": ("AdapterError",),
    "headgate.adapter.etags": ("etag_of", "require_match", "with_etag"),
    "headgate.adapter.operations": ("Example", "Operation"),
    "headgate.adapter.parameters": ("Deprecated", "Param", "Parameter"),
    "headgate.adapter.patch": ("Patch",),
    "headgate.client.aql": ("Aql",),
    "headgate.client.blocking": ("BlockingAql", "connect_sync"),
    "headgate.client.connections": ("connect",),
    "headgate.client.errors": ("AqlFailure", "ClientError", "ServerError"),
    "headgate.engine.pipeline": ("Engine", "EngineOptions"),
    "headgate.protocol.categories": ("Category",),
    "headgate.protocol.concurrency": ("Concurrency",),
    "headgate.protocol.danger": ("Danger", "DangerLevel", "Trust"),
    "headgate.protocol.errors": (
        "AqlError",
        "Conflict",
        "Denied",
        "Invalid",
        "NotFound",
        "RateLimited",
        "Unavailable",
        "VersionMismatch",
    ),
    "headgate.protocol.limits": ("Limits",),
    "headgate.protocol.merge": ("merge",),
    "headgate.protocol.profiles": ("Family", "Mode", "Profile"),
    "headgate.query.backends": ("Backend",),
    "headgate.query.collections": ("Collection", "Computed", "Field", "Relationship"),
    "headgate.query.kinds": ("Kind",),
    "headgate.server.binding": ("mcp_server",),
    "headgate.sources.sql.connections": ("DatabaseOptions",),
    "headgate.sources.sql.settings": ("SqlSettings",),
    "headgate.sources.sql.source": ("sql_adapter",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for: the command line starts without the rest."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'headgate' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)
