"""A client that is nothing but its messages, on a server in this process."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from headgate.server.binding import McpServer
from tests.server.processes import INITIALIZE, INITIALIZED, MODERN_META, PATIENCE
from tests.server.requests import Era

TASKS = "io.modelcontextprotocol/tasks"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

Message = dict[str, Any]


class Line:
    """Sends requests of one era, and keeps whatever comes back."""

    def __init__(self, era: Era, outgoing: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        self._era = era
        self._outgoing = outgoing
        self._next = 0
        self._changed = anyio.Event()
        self.answers: dict[object, Message] = {}
        self.news: list[Message] = []

    async def listen(self, incoming: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Keep what the server sends."""
        async with incoming:
            async for item in incoming:
                message = orjson.loads(item.message.model_dump_json(by_alias=True, exclude_unset=True))
                if "method" in message:
                    self.news.append(message)
                else:
                    self.answers[message["id"]] = message
                self._changed.set()
                self._changed = anyio.Event()

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait for messages until something is true."""
        with anyio.fail_after(PATIENCE):
            while not condition():
                await self._changed.wait()

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message as it is."""
        read = jsonrpc_message_adapter.validate_python(dict(message))
        await self._outgoing.send(SessionMessage(read))

    async def ask(self, method: str, params: Mapping[str, Any] | None = None, **capabilities: Any) -> int:
        """Send a request with what the client says it can; its id."""
        self._next += 1
        framed = dict(params or {})
        if self._era == "modern":
            framed["_meta"] = {**MODERN_META, **framed.get("_meta", {}), _CAPABILITIES: capabilities}
        await self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": framed})
        return self._next

    async def answer(self, request_id: object) -> Message:
        """The answer to a request."""
        await self.until(lambda: request_id in self.answers)
        return self.answers[request_id]

    async def request(self, method: str, params: Mapping[str, Any] | None = None, *, tasks: bool = True) -> Message:
        """The answer to a request, of a client that knows tasks or not."""
        capabilities: Message = {"extensions": {TASKS: {}}} if tasks else {}
        return await self.answer(await self.ask(method, params, **capabilities))

    async def call(self, operation: str, /, *, tasks: bool = True, **params: Any) -> Message:
        """The result of a call of an operation."""
        family = "read" if operation.startswith(("get_", "list_")) else "execute"
        arguments = {"operation": operation, "params": params}
        answer = await self.request("tools/call", {"name": f"mcp_aql_{family}", "arguments": arguments}, tasks=tasks)
        result: Message = answer["result"]
        return result

    async def envelope(self, operation: str, /, *, tasks: bool = False, **params: Any) -> Message:
        """The envelope in the result of a call."""
        return envelope_in(await self.call(operation, tasks=tasks, **params))

    async def started(self, operation: str, /, **params: Any) -> str:
        """The id of the execution that a call of an operation starts."""
        data: Message = (await self.envelope(operation, **params))["data"]
        return str(data["execution_id"])

    async def state(self, execution_id: str, **more: Any) -> Message:
        """The state of an execution."""
        data: Message = (await self.envelope("get_execution", execution_id=execution_id, **more))["data"]
        return data

    async def ended(self, execution_id: str) -> Message:
        """The state of an execution once it has ended."""
        state = await self.state(execution_id, wait_seconds=60)
        assert state["status"] in ("completed", "failed", "cancelled"), state
        return state


def envelope_in(result: Mapping[str, Any]) -> Message:
    """The envelope in the result of a tool call."""
    envelope: Message = orjson.loads(result["content"][0]["text"])
    return envelope


@asynccontextmanager
async def connected(server: McpServer, era: Era = "modern") -> AsyncIterator[Line]:
    """A connection to a server, as over pipes, for as long as the block lasts."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](10)
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage](10)
    line = Line(era, to_server)
    async with anyio.create_task_group() as tasks, to_server:
        tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        tasks.start_soon(line.listen, to_client)
        if era == "legacy":
            await line.send(INITIALIZE)
            await line.answer("hello")
            await line.send(INITIALIZED)
        yield line
