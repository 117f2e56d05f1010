"""MCP over standard input and output, one JSON message a line.

The SDK's transport drops what it cannot read and puts U+FFFD for what is not UTF-8. Here such a line gets a clear
error and the server lives on; and when input ends, requests in work are finished before the server stops.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import anyio
from mcp.server.runner import serve_loop

from headgate.server.binding import McpServer
from headgate.server.line_streams import Answers, Debts, Incoming, Line, write_lines
from headgate.server.messages import max_message_size
from headgate.server.signals import wait_for_signal

__all__ = ["Pipes", "private_pipes", "run_stdio"]

_WRITING_SECONDS: Final = 1.0
"""For what is still to be written when nothing is in work any more."""


class Pipes(NamedTuple):
    """The descriptors that a client writes to and reads from."""

    source: int
    sink: int


async def run_stdio(server: McpServer, pipes: Pipes, grace_seconds: float) -> None:
    """Serve one client on standard input and output until input ends, a signal comes, or nobody reads any more."""
    outgoing, receive_out = anyio.create_memory_object_stream[Line](0)
    debts = Debts()

    def ended() -> None:
        serving.cancel_scope.deadline = anyio.current_time() + grace_seconds
        server.stop_listening()

    incoming = Incoming(pipes.source, debts, outgoing.clone(), max_message_size(server.settings.limits), ended)
    answers = Answers(pipes.sink, debts, outgoing)

    async def write() -> None:
        try:
            await write_lines(pipes.sink, debts, receive_out)
        except OSError:  # the client is gone, and with it whoever would read an answer
            tasks.cancel_scope.cancel()

    async def until_signal() -> None:
        await wait_for_signal()
        incoming.stop()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        async with anyio.create_task_group() as serving, incoming, answers:
            serving.start_soon(until_signal)
            await _serve(server, incoming, answers)
            serving.cancel_scope.cancel()
        tasks.cancel_scope.deadline = max(anyio.current_time(), serving.cancel_scope.deadline) + _WRITING_SECONDS


async def _serve(server: McpServer, incoming: Incoming, answers: Answers) -> None:
    """Serve in the era that the client opens with. For the handshake the SDK need not look into each message itself."""
    options = server.create_initialization_options()
    if not await incoming.opens_with_handshake():
        await server.run(incoming, answers, options)
        return
    async with server.lifespan(server) as session:
        await serve_loop(server, incoming, answers, lifespan_state=session, init_options=options)


@contextmanager
def private_pipes() -> Iterator[Pipes]:
    """Copies of standard input and output for the wire alone, so that a stray ``print`` cannot break it."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield Pipes(source, sink)
    finally:
        sys.stdout.flush()  # what a handler printed must not wait until the wire is standard output again
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)
