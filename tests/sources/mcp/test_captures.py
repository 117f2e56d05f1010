"""What servers offer, as it is remembered from one start to the next, and how changes of it are noticed."""

import asyncio
import json
from pathlib import Path

import pytest

from headgate.sources.curation import Choice, Curation
from headgate.sources.mcp.captures import Capture, Captures, captures_folder
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import McpSource
from tests.sources.mcp.opening import heard_by, lines, next_version, opened, until

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
TOOL = {"name": "get_a", "inputSchema": {"type": "object"}}


def tools_in(file: Path, *names: str) -> None:
    file.write_text(json.dumps([{**TOOL, "name": name} for name in names]))


def starts(log: Path) -> int:
    return sum(message["method"] == "initialize" for message in heard_by(log))


@pytest.fixture
def captures(tmp_path: Path) -> Captures:
    return Captures(tmp_path / "captures")


async def test_a_server_that_is_known_is_started_by_its_first_call(tmp_path: Path, captures: Captures) -> None:
    log = tmp_path / "log"
    spec = lines(LOG=str(log))
    async with opened(spec, captures=captures) as server:
        first = dict(server.adapter.operations)
        assert starts(log) == 1
    async with opened(spec, captures=captures) as server:
        assert list(server.adapter.operations) == list(first)
        assert server.adapter.version == "1.2.3"
        assert not server.source.is_up
        assert starts(log) == 1
        assert await server.data("echo", value=1) == {"value": 1}
        assert starts(log) == 2
        assert await server.data("echo", value=2) == {"value": 2}
        assert starts(log) == 2


async def test_many_first_calls_start_one_process(tmp_path: Path, captures: Captures) -> None:
    log = tmp_path / "log"
    spec = lines(LOG=str(log))
    async with opened(spec, captures=captures):
        pass
    async with opened(spec, captures=captures) as server:
        done = await asyncio.gather(*(server.data("echo", value=number) for number in range(20)))
    assert done == [{"value": number} for number in range(20)]
    assert starts(log) == 2


async def test_tools_that_have_changed_since_are_noticed_at_the_first_call(tmp_path: Path, captures: Captures) -> None:
    tools = tmp_path / "tools.json"
    tools_in(tools, "get_a", "get_b")
    spec = lines(TOOLS=str(tools))
    async with opened(spec, captures=captures):
        pass
    tools_in(tools, "get_a", "get_c")
    async with opened(spec, captures=captures) as server:
        assert list(server.adapter.operations) == ["get_a", "get_b"]
        assert await server.data("get_a") == {}
        adapter = await next_version(server.source)
        assert list(adapter.operations) == ["get_a", "get_c"]
    async with opened(spec, captures=captures) as server:
        assert list(server.adapter.operations) == ["get_a", "get_c"]


async def test_a_known_server_that_cannot_be_started_any_more_says_so_at_once(captures: Captures) -> None:
    spec = McpSpec(name="odd", command="no-such-program-here")
    captures.keep(spec, Capture(({**TOOL},)))
    async with opened(spec, captures=captures) as server:
        async with asyncio.timeout(10):
            error = await server.error("get_a")
    assert error["code"] == "TRANSPORT_CONNECTION_REFUSED"
    assert "there is no 'no-such-program-here' here" in error["message"]
    assert error["details"]["retry_after_seconds"] >= 1


async def test_what_is_kept_is_exactly_what_was_listed(tmp_path: Path, captures: Captures) -> None:
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 2**70}}, "x-odd": [None, 1.5]}
    tools.write_text(json.dumps([{"name": "get_n", "inputSchema": schema, "_meta": {"a": 1}}]))
    spec = lines(TOOLS=str(tools))
    async with opened(spec, captures=captures) as server:
        live = server.source.capture
    assert captures.find(spec) == live
    assert live is not None
    assert live.tools == ({"name": "get_n", "inputSchema": schema, "_meta": {"a": 1}},)
    async with opened(spec, captures=captures) as server:
        await server.data("get_n")
        await until(lambda: server.source.is_up)
        assert server.source._news is None, "the same tools are no news"


BROKEN = {
    "nothing": b"",
    "half of it": b'{"version": 1, "tools": [',
    "no object": b"[]",
    "another version": b'{"version": 99, "tools": []}',
    "no tools": b'{"version": 1}',
    "tools that are none": b'{"version": 1, "tools": "get_a"}',
    "no text": b"\xff\xfe\x00",
    "levels without end": b"[" * 100_000,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
async def test_a_file_that_cannot_be_read_is_as_if_not_there(captures: Captures, content: bytes) -> None:
    spec = lines()
    async with opened(spec, captures=captures) as server:
        known = server.source.capture
    [file] = captures.folder.iterdir()
    file.write_bytes(content)
    assert captures.find(spec) is None
    async with opened(spec, captures=captures) as server:
        assert server.source.capture == known
    assert captures.find(spec) == known


def test_what_else_a_file_says_wrongly_is_left_out(captures: Captures) -> None:
    captures.folder.mkdir()
    captures.keep(lines(), Capture((TOOL,)))
    [file] = captures.folder.iterdir()
    file.write_text(json.dumps({"version": 1, "tools": [TOOL, 7], "server": "x"}))
    assert captures.find(lines()) == Capture((TOOL,))


def test_a_file_that_is_too_large_is_not_read(captures: Captures, monkeypatch: pytest.MonkeyPatch) -> None:
    captures.keep(lines(), Capture((TOOL,)))
    monkeypatch.setattr("headgate.sources.mcp.captures._LARGEST", 10)
    assert captures.find(lines()) is None


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    captures = Captures(blocked / "captures")
    captures.keep(lines(), Capture((TOOL,)))
    assert captures.find(lines()) is None


def test_each_way_to_a_server_is_remembered_by_itself_and_no_secret_is_in_a_name(captures: Captures) -> None:
    specs = [
        lines(),
        lines(API_KEY="s3cret"),
        McpSpec(name="lines", command="x", args=("s3cret",)),
        McpSpec(name="lines", command="x", cwd="/s3cret"),
        McpSpec(name="lines", url="https://example.org/s3cret", transport="http"),
        McpSpec(name="lines", url="https://example.org/s3cret", headers={"k": "s3cret"}, transport="http"),
    ]
    for number, spec in enumerate(specs):
        captures.keep(spec, Capture(({**TOOL, "name": f"get_{number}"},)))
    files = list(captures.folder.iterdir())
    assert len(files) == len(specs)
    assert not any("s3cret" in file.name or b"s3cret" in file.read_bytes() for file in files)
    for number, spec in enumerate(specs):
        found = captures.find(spec)
        assert found is not None
        assert found.tools[0]["name"] == f"get_{number}"
    assert captures.folder.stat().st_mode & 0o077 == 0


def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert captures_folder() == tmp_path / "headgate" / "captures"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert captures_folder() == tmp_path / ".cache" / "headgate" / "captures"


# changes while it runs


@ERAS
async def test_tools_that_come_and_go_are_told_of(era: str) -> None:
    async with opened(lines(ERA=era)) as server:
        before = list(server.adapter.operations)
        await server.data("list_more", names=["get_new"])
        adapter = await next_version(server.source)
        assert list(adapter.operations) == [*before, "get_new"]
        await server.data("list_more", names=[])
        assert list((await next_version(server.source)).operations) == []


@ERAS
async def test_a_flood_of_news_is_one_look(tmp_path: Path, era: str) -> None:
    log = tmp_path / "log"
    async with opened(lines(ERA=era, LOG=str(log))) as server:
        await server.data("list_more", names=["get_new"], times=500)
        assert "get_new" in (await next_version(server.source)).operations
        looks = sum(message["method"] == "tools/list" for message in heard_by(log))
    assert looks <= 4


async def test_news_that_nobody_has_fetched_gives_way_to_the_latest() -> None:
    async with opened(lines()) as server:
        await server.data("list_more", names=["get_one"])
        await until(
            lambda: (
                len(server.source.capture.tools if server.source.capture else ()) == len(server.adapter.operations) + 1
            )
        )
        await server.data("list_more", names=["get_two"])
        await until(
            lambda: (
                len(server.source.capture.tools if server.source.capture else ()) == len(server.adapter.operations) + 2
            )
        )
        assert list((await next_version(server.source)).operations)[-2:] == ["get_one", "get_two"]


async def test_news_without_a_change_are_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server:
        await server.data("show_line", line='{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n' + ANSWER)
        await until(lambda: sum(message["method"] == "tools/list" for message in heard_by(log)) == 2)
        await server.data("echo", value=1)
        assert server.source._news is None


ANSWER = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[]}}'


async def test_changes_that_cannot_be_used_leave_things_as_they_were(caplog: pytest.LogCaptureFixture) -> None:
    curation = Curation(operations={"echo": Choice(name="repeat")})
    async with opened(lines(), curation=curation) as server:
        await server.data("list_more", names=["repeat"])
        await until(lambda: "cannot be used" in caplog.text)
        assert server.source._news is None
        assert await server.data("repeat", value=1) == {"value": 1}


async def test_whoever_follows_changes_is_let_go_when_the_source_is_closed() -> None:
    source = McpSource(lines())
    await source.open()

    async def follow() -> list[object]:
        return [adapter async for adapter in source.changes()]

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    await source.close()
    async with asyncio.timeout(10):
        assert await following == []
