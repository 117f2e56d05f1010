"""The plugins that are always there."""

from headgate.sources.files.plugins.auth import API_KEY, BASIC, BEARER, NONE
from headgate.sources.files.plugins.calls import HEADGATE, MCP, OPERATION, TOOLS
from headgate.sources.files.plugins.formats import FORM, JSON, NOTHING
from headgate.sources.files.plugins.http import HTTP
from headgate.sources.files.plugins.registry import (
    register_auth,
    register_protocol,
    register_serialization,
    register_transport,
)
from headgate.sources.files.plugins.rest import REST
from headgate.sources.files.plugins.xml_format import XML

__all__ = ["register_builtin"]


def register_builtin() -> None:
    """Make headgate's own plugins known; to do so again changes nothing."""
    for transport in (HTTP, HEADGATE, MCP):
        register_transport(transport)
    for protocol in (REST, OPERATION, TOOLS):
        register_protocol(protocol)
    for serialization in (JSON, FORM, XML, NOTHING):
        register_serialization(serialization)
    for auth in (NONE, BEARER, API_KEY, BASIC):
        register_auth(auth)
