"""MCP from end to end: a host in front of headgate, servers behind it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from headgate.server.binding import mcp_server
from tests.server.processes import HEADGATE, environment
from tests.sources.mcp.opening import SERVER, heard_by, is_running, lines, opened, until

pytestmark = pytest.mark.anyio

HOSTS = pytest.mark.parametrize("host", ["legacy", "auto"], ids=["legacy host", "modern host"])
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
TOOL = "mcp_aql"
NAMES = ("one", "two", "three", "four", "five")


def request(operation: str, **params: object) -> dict[str, Any]:
    return {"operation": operation, "params": params}


def envelope_of(result: types.CallToolResult) -> Any:
    [first, *_] = result.content
    assert isinstance(first, types.TextContent)
    return json.loads(first.text)


@HOSTS
@ERAS
async def test_pictures_arrive_as_a_hosts_own_blocks(host: str, era: str) -> None:
    content = [
        {"type": "text", "text": "see"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png", "annotations": {"audience": ["user"]}},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "mimeType": "application/x", "blob": "AAAA"}},
        {"type": "audio", "data": "bGE=", "mimeType": "audio/wav", "_meta": {"x/y": 1}},
        {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
    ]
    given = json.dumps({"content": content, "structuredContent": {"n": 1}, "resultType": "complete"})
    async with opened(lines(ERA=era)) as server:
        gate = mcp_server(server.adapter, mode="single")
        async with Client(gate, mode=host) as client:
            result = await client.call_tool(TOOL, request("give", text=given))
        await gate.store.close()
    data = envelope_of(result)["data"]
    assert data["structured"] == {"n": 1}
    shown = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    for block, said in zip(content, data["content"], strict=True):
        if "attachment" in said:
            assert shown[said["attachment"]] == block
        else:
            assert said == block
    assert [said.get("attachment") for said in data["content"]] == [None, 1, 2, 3, None]
    assert len(shown) == 4


@HOSTS
@ERAS
async def test_a_host_that_leaves_a_call_ends_it_upstream(host: str, era: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(ERA=era, LOG=str(log))) as server:
        gate = mcp_server(server.adapter, mode="single")
        async with Client(gate, mode=host) as client:
            call = asyncio.create_task(client.call_tool(TOOL, request("hang")))
            await until(lambda: '"hang"' in log.read_text())
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await until(lambda: any(one.get("method") == "notifications/cancelled" for one in heard_by(log)))
        await gate.store.close()


@HOSTS
async def test_an_upstream_that_fails_is_an_error_of_one_call(host: str) -> None:
    async with opened(lines()) as server:
        gate = mcp_server(server.adapter, mode="single")
        async with Client(gate, mode=host) as client:
            result = await client.call_tool(TOOL, request("end"))
            assert result.is_error
            assert envelope_of(result)["error"]["code"] == "TRANSPORT_NETWORK_ERROR"
            result = await client.call_tool(TOOL, request("echo", value=1))
            assert envelope_of(result)["data"] == {"value": 1}
        await gate.store.close()


def five(folder: Path, **more: Any) -> Path:
    """A list of servers as hosts write it."""
    entry = {"command": sys.executable, "args": ["-S", SERVER]}
    servers: dict[str, Any] = {
        name: {**entry, "env": {"LOG": str(folder / f"{name}.log"), "API_KEY": f"s3cret-{name}"}} for name in NAMES
    }
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": {**servers, **more}}))
    return file


async def test_five_servers_in_one_command_and_a_kill_amid_a_call_concerns_one_of_them(tmp_path: Path) -> None:
    off = {"command": "no-such-program-here", "disabled": True}
    file = five(tmp_path, off=off, broken={"command": "no-such-program-here"})
    program = StdioServerParameters(command=HEADGATE, args=["serve", str(file), "--mode", "single"], env=environment())
    async with Client(program, mode="legacy") as client:

        async def call(operation: str, **params: object) -> Any:
            return envelope_of(await client.call_tool(TOOL, request(operation, **params)))

        async def are_ready() -> bool:
            pids = [await call(f"{name}_pid") for name in NAMES]
            return all(one["success"] for one in pids)

        await until(are_ready)
        pids = [int((await call(f"{name}_pid"))["data"]) for name in NAMES]
        assert len(set(pids)) == 5
        for name in NAMES:
            assert (await call(f"{name}_environment", name="API_KEY"))["data"] == "***"
        assert "s3cret" not in json.dumps(await call("introspect", query="adapter_info"))
        others = [asyncio.create_task(call(f"{name}_sleep", seconds=0.5)) for name in NAMES[1:]]
        hanging = asyncio.create_task(call("one_hang"))
        await until(lambda: '"hang"' in (tmp_path / "one.log").read_text())
        killed = time.monotonic()
        os.kill(pids[0], signal.SIGKILL)
        error = (await hanging)["error"]
        told = time.monotonic()
        again = await call("one_pid")
        back = time.monotonic()
        assert [one["data"] for one in await asyncio.gather(*others)] == ["awake"] * 4
        assert [int((await call(f"{name}_pid"))["data"]) for name in NAMES[1:]] == pids[1:]
    known, answered = told - killed, back - killed
    sys.stdout.write(f"\nits caller knew after {known:.3f} s, the next call was answered after {answered:.3f} s\n")
    assert error["code"] == "TRANSPORT_NETWORK_ERROR"
    assert again["success"]
    assert int(again["data"]) != pids[0]
    for pid in [int(again["data"]), *pids[1:]]:
        await until(lambda pid=pid: not is_running(pid))  # type: ignore[misc]


async def test_a_server_is_served_by_its_command_alone(tmp_path: Path) -> None:
    words = ["serve", "--mode", "single", "--", sys.executable, "-S", SERVER]
    program = StdioServerParameters(command=HEADGATE, args=words, env=environment())

    async def host(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"colour": params.message})

    async with Client(program, mode="legacy", elicitation_callback=host) as client:

        async def asked() -> Any:
            envelope = envelope_of(await client.call_tool(TOOL, request("ask", message="red")))
            return envelope.get("data")

        data = await until(asked)
        assert data["answers"] == [{"action": "accept", "content": {"colour": "red"}}]
        result = await client.call_tool(TOOL, request("get_picture", size=4))
        assert [block.type for block in result.content] == ["text", "image"]


def test_on_the_command_line_a_picture_stands_inside_the_data() -> None:
    words = [HEADGATE, "call", "get_picture", "size=4", "--json", "--", sys.executable, "-S", SERVER]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60, check=True)
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert json.loads(done.stdout) == {"success": True, "data": {"content": [picture]}}
