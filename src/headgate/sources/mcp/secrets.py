"""What a server was given that nobody else may see: its errors and its last words must not bring it out."""

import json
import re
from dataclasses import replace
from typing import Any, Final

from headgate.adapter.masking import scrubbed
from headgate.protocol.errors import AqlError
from headgate.sources.mcp.captures import json_of
from headgate.sources.mcp.configuration import McpSpec

__all__ = ["credentials_of", "redacted", "secrets_of", "without_secrets"]

_SHORTEST: Final = 8
"""Shorter values are no secrets, and would turn innocent words into stars."""
_PLAIN: Final = ("true", "false", "production", "development")
_SECRET: Final = re.compile(r"(?i)token|secret|passw|credential|auth|cookie|api[-_]?key|(?:^|[-_])(?:key|pat|pwd)$")
"""How variables and headers are called that hold secrets."""
_SCHEMES: Final = ("bearer ", "basic ", "token ")


def secrets_of(spec: McpSpec) -> frozenset[str]:
    """The values of its environment and its headers, as they are and without the word before them."""
    given = [*spec.env.values(), *spec.headers.values()]
    bare = [text[len(scheme) :] for text in given for scheme in _SCHEMES if text.lower().startswith(scheme)]
    return frozenset(text for text in (*given, *bare) if len(text) >= _SHORTEST and text.lower() not in _PLAIN)


def credentials_of(spec: McpSpec) -> frozenset[str]:
    """Those of them that are secrets by their names. A path or a region may well stand in an answer."""
    named = [*spec.env.items(), *spec.headers.items()]
    secret = {name: text for name, text in named if _SECRET.search(name)}
    return secrets_of(replace(spec, env=secret, headers={}))


def redacted(result: dict[str, Any], credentials: frozenset[str]) -> dict[str, Any]:
    """A result with stars in the place of credentials. One that has none is the very same."""
    if not credentials:
        return result
    text = json_of(result)
    if not any(secret in text for secret in (json_of(one)[1:-1] for one in credentials)):
        return result
    clean: dict[str, Any] = scrubbed(result, credentials)
    return clean


def without_secrets(error: AqlError, secrets: frozenset[str]) -> AqlError:
    """The same error, with stars in the place of secrets."""
    if not secrets:
        return error
    details = json.loads(json_of(error.error.details)) if error.error.details else None
    return AqlError(error.error.code, scrubbed(error.error.message, secrets), scrubbed(details, secrets))
