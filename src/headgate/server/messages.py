"""How large a message of the transport may be."""

from typing import Final

from headgate.protocol.limits import Limits

__all__ = ["max_message_size"]

_ENVELOPE: Final = 64 * 1024
_LEAST: Final = 4 * 1024 * 1024


def max_message_size(limits: Limits) -> int:
    """Room for the largest request that the engine takes, even with its text escaped, and for MCP around it."""
    return max(_LEAST, 2 * limits.max_request_size + _ENVELOPE)
