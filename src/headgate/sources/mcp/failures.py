"""What goes wrong between headgate and an MCP server, as errors with codes."""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from headgate.protocol.error_codes import code_for_http_status
from headgate.protocol.errors import AqlError, harmless
from headgate.sources.words import clean

__all__ = ["broken", "misbehaved", "pages_of", "refused", "rejected", "said_by", "timed_out", "unavailable"]

_LONGEST: Final = 500
_CODES: Final[Mapping[int, tuple[str, str]]] = {
    types.INVALID_PARAMS: ("VALIDATION_INVALID_VALUE", "Parameters refused by '{source}'"),
    types.METHOD_NOT_FOUND: ("NOT_FOUND_RESOURCE", "Tool '{tool}' not found in '{source}'"),
    types.URL_ELICITATION_REQUIRED: (
        "PERMISSION_DENIED",
        "Permission denied: '{source} wants its user to open a page first; call again after that'",
    ),
}
_REPEATED: Final = ("VALIDATION_INVALID_VALUE", "NOT_FOUND_RESOURCE")
"""Codes whose message has the server's own words."""
_MOST_PAGES: Final = 5

_STATUSES: Final[Mapping[int, str]] = {
    401: "it does not accept the credentials that it is given, or there are none",
    403: "it does not allow this with the credentials that it is given",
    404: "there is no MCP server under this address",
    429: "it asks to slow down",
}
_BY_STATUS: Final[Mapping[str, str]] = {
    "PERMISSION_DENIED": "Permission denied: '{source} refuses this with status {status}'",
    "RATE_LIMIT_EXCEEDED": "API rate limit exceeded: '{source}' asks to slow down",
    "NOT_FOUND_RESOURCE": "Resource not found: '{source}' has ended the session",
}


def said_by(status: int) -> str:
    """What an HTTP status says of a server that cannot be used."""
    words = _STATUSES.get(status, "it fails" if status >= 500 else "it refuses the request")
    return f"{words} (HTTP status {status})"


def rejected(source: str, tool: str, status: int) -> AqlError:
    """The server has answered the call with a status instead of a result."""
    code = code_for_http_status(status)
    message = _BY_STATUS.get(code, "Internal error: '{source} answers with status {status}'")
    details = {"source": source, "tool": tool, "http_status": status, "reason": said_by(status)}
    return AqlError(code, message.format(source=source, status=status), details)


def refused(error: MCPError, source: str, tool: str) -> AqlError:
    """An error that the server itself has answered with."""
    code, message = _CODES.get(error.error.code, ("INTERNAL_ERROR", "Internal error: '{source} refuses the request'"))
    words = clean(error.error.message, _LONGEST)
    said = f": {words}" if words and harmless(words) and code in _REPEATED else ""
    details: dict[str, object] = {
        "source": source,
        "tool": tool,
        "upstream_code": error.error.code,
        "upstream_error": words,
    }
    if pages := pages_of(error):
        details["pages"] = [{"url": page["url"], "message": clean(page.get("message"), _LONGEST)} for page in pages]
    return AqlError(code, f"{message.format(source=source, tool=tool)}{said}", details)


def pages_of(error: MCPError) -> list[Mapping[str, Any]]:
    """The pages that a server wants its user to open before it does what it was asked for."""
    data = error.error.data
    if error.error.code != types.URL_ELICITATION_REQUIRED or not isinstance(data, Mapping):
        return []
    wanted = data.get("elicitations")
    pages = wanted if isinstance(wanted, list) else []
    return [page for page in pages if isinstance(page, Mapping) and isinstance(page.get("url"), str)][:_MOST_PAGES]


def broken(source: str, tool: str, why: str) -> AqlError:
    """The server is gone, and the call with it. Whether it was carried out, nobody knows."""
    return AqlError(
        "TRANSPORT_NETWORK_ERROR",
        f"'{source}' broke off while it worked on this: {why}. It is started again; whether this call had an effect "
        "is not known",
        {"target": source, "tool": tool},
    )


def unavailable(source: str, why: str, retry_after: float) -> AqlError:
    """The server is not there now; nothing was sent."""
    when = max(1, round(retry_after))
    return AqlError(
        "TRANSPORT_CONNECTION_REFUSED",
        f"'{source}' is not available: {why}. Nothing was sent; try again in {when} seconds",
        {"target": source, "retry_after_seconds": when},
    )


def timed_out(source: str, tool: str, seconds: float) -> AqlError:
    """The server does not answer."""
    return AqlError(
        "TRANSPORT_TIMEOUT",
        f"'{source}' did not answer within {seconds:g} second{'' if seconds == 1 else 's'}, and was told to stop",
        {"target": source, "tool": tool, "timeout_seconds": seconds},
    )


def misbehaved(source: str, tool: str) -> AqlError:
    """The server answers with what MCP does not allow."""
    return AqlError(
        "SERIALIZATION_PARSE_ERROR",
        f"The answer of '{source}' is not one of MCP, and cannot be read",
        {"target": source, "tool": tool},
    )
