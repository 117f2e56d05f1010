"""What a server was given that nobody else may see: its errors and its last words must not bring it out."""

import json
from typing import Final

from headgate.adapter.masking import scrubbed
from headgate.protocol.errors import AqlError
from headgate.sources.mcp.captures import json_of
from headgate.sources.mcp.configuration import McpSpec

__all__ = ["secrets_of", "without_secrets"]

_SHORTEST: Final = 8
"""Shorter values are no secrets, and would turn innocent words into stars."""
_PLAIN: Final = ("true", "false", "production", "development")
_SCHEMES: Final = ("bearer ", "basic ", "token ")


def secrets_of(spec: McpSpec) -> frozenset[str]:
    """The values of its environment and its headers, as they are and without the word before them."""
    given = [*spec.env.values(), *spec.headers.values()]
    bare = [text[len(scheme) :] for text in given for scheme in _SCHEMES if text.lower().startswith(scheme)]
    return frozenset(text for text in (*given, *bare) if len(text) >= _SHORTEST and text.lower() not in _PLAIN)


def without_secrets(error: AqlError, secrets: frozenset[str]) -> AqlError:
    """The same error, with stars in the place of secrets."""
    if not secrets:
        return error
    details = json.loads(json_of(error.error.details)) if error.error.details else None
    return AqlError(error.error.code, scrubbed(error.error.message, secrets), scrubbed(details, secrets))
