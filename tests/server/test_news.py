"""Changes while a server runs: replaced adapters and files that are edited, told to the clients of both eras."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from watchfiles import Change

from headgate import Adapter, AdapterError, mcp_server
from headgate.server.reload import follow
from tests.server.processes import HEADGATE, PATIENCE, environment, serve_http

pytestmark = pytest.mark.anyio


def adapter_with(*names: str) -> Adapter:
    adapter = Adapter("shelf")
    for name in names:

        @adapter.read(name=name)
        async def get_something() -> str:
            """Something."""
            return "something"

    return adapter


class Ear:
    """Hears the notifications that a client receives."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._new = anyio.Event()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.heard.append(message.method)
            self._new.set()

    async def wait(self) -> None:
        with anyio.fail_after(PATIENCE):
            await self._new.wait()
        self._new = anyio.Event()


async def names(client: Client) -> set[str]:
    listed = await client.list_tools(cache_mode="refresh")
    return {name for tool in listed.tools for name in ("get_old", "get_new") if name in (tool.description or "")}


async def test_a_legacy_client_is_told_that_the_tools_have_changed() -> None:
    server, ear = mcp_server(adapter_with("get_old")), Ear()
    async with Client(server, mode="legacy", message_handler=ear) as client:
        assert client.server_capabilities.tools
        assert client.server_capabilities.tools.list_changed
        assert await names(client) == {"get_old"}
        await server.replace(adapter_with("get_new"))
        await ear.wait()
        assert await names(client) == {"get_new"}


async def test_a_modern_client_that_listens_is_told() -> None:
    server = mcp_server(adapter_with("get_old"))
    async with Client(server) as client, client.listen(tools_list_changed=True) as news:
        assert await names(client) == {"get_old"}
        await server.replace(adapter_with("get_new"))
        with anyio.fail_after(PATIENCE):
            await anext(aiter(news))
        assert await names(client) == {"get_new"}


async def test_clients_that_are_gone_are_not_waited_for() -> None:
    server = mcp_server(adapter_with("get_old"))
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
    with anyio.fail_after(PATIENCE):
        await server.replace(adapter_with("get_new"))


async def test_a_call_that_began_before_is_finished_by_the_version_it_began_with() -> None:
    begun, go = anyio.Event(), anyio.Event()
    old = Adapter("shelf")

    @old.read
    async def get_old() -> str:
        """Wait."""
        begun.set()
        await go.wait()
        return "old"

    server = mcp_server(old)
    answers: list[str] = []
    async with Client(server) as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            result = await client.call_tool("mcp_aql_read", {"operation": "get_old"})
            assert isinstance(result.content[0], types.TextContent)
            answers.append(result.content[0].text)

        tasks.start_soon(call)
        await begun.wait()
        await server.replace(adapter_with("get_new"))
        go.set()
    assert answers == ['{"success":true,"data":"old"}']


async def changes(*times: object) -> AsyncIterator[set[tuple[Change, str]]]:
    for _ in times:
        yield {(Change.modified, "shelf.py")}


async def test_a_version_that_cannot_be_loaded_leaves_the_one_before(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "headgate")
    server = mcp_server(adapter_with("get_old"))
    versions = [adapter_with("get_new"), None]

    def load() -> Adapter:
        version = versions.pop()
        if version is None:
            raise AdapterError("'shelf.py' cannot be loaded")
        return version

    await follow(server, load, changes(1))
    assert "get_old" in server.engine.adapter.operations
    await follow(server, load, changes(1))
    assert "get_new" in server.engine.adapter.operations
    assert [record.getMessage() for record in caplog.records if record.name == "headgate"] == [
        "not reloaded, the version before stays: 'shelf.py' cannot be loaded",
        "reloaded 'shelf' with 1 operations",
    ]


async def test_a_version_that_the_policy_does_not_fit_leaves_the_one_before(caplog: pytest.LogCaptureFixture) -> None:
    rule = {"name": "never", "decision": "deny", "operations": "get_old"}
    server = mcp_server(adapter_with("get_old"), policy={"rule": [rule]})
    await follow(server, lambda: adapter_with("get_new"), changes(1))
    assert "get_old" in server.engine.adapter.operations
    (told,) = [record.getMessage() for record in caplog.records if record.name == "headgate"]
    assert told.startswith("not reloaded, the version before stays: ")
    assert "'get_old'" in told


SHELF = '''
from headgate import Adapter
from shelf_words import WORD

shelf = Adapter("shelf", "Version {version}")

@shelf.read(name="{name}")
async def get_something() -> str:
    """Say the word."""
    return WORD
'''


def write(folder: Path, *, name: str, version: int, word: str) -> None:
    (folder / "shelf_words.py").write_text(f"WORD = '{word}'\n")
    (folder / "shelf.py").write_text(SHELF.format(name=name, version=version))


async def said(client: Client, name: str) -> str:
    result = await client.call_tool("mcp_aql_read", {"operation": name})
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


async def test_an_edited_file_is_served_anew_over_http_and_both_eras_are_told(tmp_path: Path) -> None:
    write(tmp_path, name="get_old", version=1, word="first")
    ear = Ear()
    with serve_http("shelf:shelf", "--reload", cwd=tmp_path) as serving:
        async with (
            httpx2.AsyncClient() as http,
            Client(streamable_http_client(serving.url, http_client=http), mode="legacy", message_handler=ear) as legacy,
            Client(serving.url) as modern,
            modern.listen(tools_list_changed=True) as news,
        ):
            assert await names(legacy) == {"get_old"}
            assert await said(modern, "get_old") == '{"success":true,"data":"first"}'
            (tmp_path / "shelf.py").write_text("this is no Python")
            await anyio.to_thread.run_sync(serving.logged, "not reloaded, the version before stays")
            assert await said(modern, "get_old") == '{"success":true,"data":"first"}'
            write(tmp_path, name="get_new", version=2, word="second")
            with anyio.fail_after(PATIENCE):
                await anext(aiter(news))
            await ear.wait()
            assert await names(legacy) == await names(modern) == {"get_new"}
            assert await said(modern, "get_new") == '{"success":true,"data":"second"}'


async def test_an_edited_neighbour_is_read_anew_over_stdio(tmp_path: Path) -> None:
    write(tmp_path, name="get_old", version=1, word="first")
    ear = Ear()
    program = StdioServerParameters(
        command=HEADGATE, args=["serve", str(tmp_path / "shelf.py"), "--reload"], env=environment(), cwd="/"
    )
    async with Client(program, mode="legacy", message_handler=ear) as client:
        assert await said(client, "get_old") == '{"success":true,"data":"first"}'
        (tmp_path / "shelf_words.py").write_text("WORD = 'third'\n")
        await ear.wait()
        assert await said(client, "get_old") == '{"success":true,"data":"third"}'
