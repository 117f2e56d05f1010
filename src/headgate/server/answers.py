"""What headgate says, in the form in which MCP sends it."""

from typing import Any

import mcp_types as types
import orjson

from headgate.adapter.adapter import Adapter
from headgate.engine.stages import Reply
from headgate.server.descriptions import ToolCard
from headgate.server.jsonrpc import tool_result

__all__ = ["instructions_of", "result_of", "tool_of"]


def result_of(reply: Reply, structured: bool) -> dict[str, Any]:
    """The envelope as one text. A failure also says where to find it in the log, in a place that models do not read.

    It is written as MCP sends it: the SDK checks that form in any case, and its models would only be made to be undone.
    """
    result = tool_result(reply.text, is_error=reply.is_error, attachments=reply.attachments)
    if structured:
        result["structuredContent"] = orjson.loads(reply.text)
    if reply.failed and reply.request_id:
        result["_meta"] = {"headgate/requestId": reply.request_id, "headgate/sessionId": reply.session_id}
    return result


def tool_of(card: ToolCard, schema: dict[str, Any]) -> types.Tool:
    """A tool as MCP lists it.

    What MCP's own defaults say already is left out, since each such word is paid for in every session: a tool that says
    nothing of reading only may change something, and of one that only reads the other hint has no meaning.
    """
    return types.Tool(
        name=card.name,
        description=card.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True if card.read_only else None,
            destructive_hint=None if card.read_only else card.destructive,
        ),
    )


def instructions_of(adapter: Adapter) -> str:
    """What a host tells its model of the server."""
    about = f"{adapter.description.rstrip('.')}. " if adapter.description else ""
    return (
        f"{about}Call a tool with an operation and its params, or with several as a list of operations. "
        "The operation 'introspect' tells what there is and how to call it."
    )
