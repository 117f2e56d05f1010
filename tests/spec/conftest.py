"""The connections that the behaviour suite runs over."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias
from uuid import uuid4

import anyio
import pytest

from headgate import Adapter, Mode, mcp_server
from headgate.server.binding import McpServer
from tests.spec.servers import Servers
from tests.spec.wires import WIRES, Aql, Connections, Era, Wire, connected
from tests.spec.world import world

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Aql]]
ConnectTo: TypeAlias = Callable[[McpServer], AbstractAsyncContextManager[Aql]]
Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[Aql]]


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The servers, each started when it is first wanted."""
    with Servers() as started:
        yield started


@pytest.fixture(scope="session")
async def connections(anyio_backend: str) -> AsyncIterator[Connections]:
    async with anyio.create_task_group() as tasks:
        opened = Connections(tasks)
        yield opened
        await opened.close()


@pytest.fixture(params=[pytest.param(wire, id=wire.name, marks=pytest.mark.xdist_group(wire.name)) for wire in WIRES])
def wire(request: pytest.FixtureRequest) -> Wire:
    """Each of the six ways in turn."""
    found = request.param
    assert isinstance(found, Wire)
    return found


@pytest.fixture
def connect(wire: Wire, servers: Servers, connections: Connections) -> Connect:
    """Opens one more connection over this wire: another session."""
    return lambda: connections.open(connected(servers.target(wire), wire))


@pytest.fixture
async def aql(wire: Wire, servers: Servers, connections: Connections) -> Aql:
    """A connection over this wire to a server with the default settings, shared by many tests."""
    return await connections.shared(wire, connected(servers.target(wire), wire))


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    found: Era = request.param
    return found


@pytest.fixture
def connect_to(era: Era, connections: Connections) -> ConnectTo:
    """Opens a connection to a server in process, in each era."""

    def connecting(server: McpServer) -> AbstractAsyncContextManager[Aql]:
        settings = server.settings
        single = settings.mode is Mode.SINGLE
        return connections.open(connected(server, Wire("memory", era), prefix=settings.prefix, single=single))

    return connecting


@pytest.fixture
def serve(connect_to: ConnectTo) -> Serve:
    """Serves any adapter with any settings in process, where the transport can make no difference."""

    def serving(adapter: Adapter = world, **settings: Any) -> AbstractAsyncContextManager[Aql]:
        return connect_to(mcp_server(adapter, **settings))

    return serving


@pytest.fixture
def key() -> str:
    """A name that no other test uses."""
    return f"k{uuid4().hex[:12]}"
