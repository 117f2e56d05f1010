"""Servers that mean harm: each is refused or contained, with a clear word, in time, and without harm to the others."""

import asyncio
import json
import logging
import resource
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds
from headgate.sources.mcp import processes, upstream
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import McpSource
from tests.engine.asking import leaks
from tests.sources.mcp.opening import Opened, lines, opened

pytestmark = pytest.mark.anyio

SERVER = str(Path(__file__).with_name("hostile_server.py"))
SECRET = "s3cret-s3cret-s3cret"  # noqa: S105
SHORT = 2.0


def hostile(does: str = "", *, timeout: float | None = 20.0, log: Path | None = None) -> McpSpec:
    """How a server is started that does this."""
    env = {"DOES": does, "TOKEN": SECRET, **({"LOG": str(log)} if log else {})}
    return McpSpec(name="hostile", command=sys.executable, args=("-S", SERVER), env=env, timeout=timeout)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not start or end by itself is ended soon."""
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.1)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server has little time to say what it offers."""
    monkeypatch.setattr(upstream, "_START_SECONDS", SHORT)


def memory() -> int:
    """The most memory that this process has ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@asynccontextmanager
async def neighbour() -> AsyncIterator[Opened]:
    """An honest server, which must answer before, amid and after whatever another one does."""
    async with opened(lines("honest")) as server:
        assert await server.data("echo", value=1) == {"value": 1}
        yield server
        assert await server.data("echo", value=2) == {"value": 2}


async def why_not(spec: McpSpec, bounds: Bounds | None = None) -> str:
    """Why a server cannot be opened, told while another one is served."""
    source = McpSource(spec, bounds=bounds)
    async with neighbour() as honest:
        try:
            opening = asyncio.create_task(source.open())
            assert await honest.data("echo", value="amid") == {"value": "amid"}
            with pytest.raises(AdapterError) as refusal:
                await opening
        finally:
            await source.close()
    assert leaks(str(refusal.value)) == []
    assert SECRET not in str(refusal.value)
    return str(refusal.value)


# what it lists


async def test_words_and_names_are_shown_without_what_nobody_sees_and_name_nothing_of_ours() -> None:
    async with opened(hostile("words")) as server:
        [name] = server.adapter.operations
        assert name.isascii()
        assert name.replace("_", "").isalnum()
        assert len(name) <= 64
        details = await server.data("introspect", query="operations", name=name)
        shown = json.dumps([details, server.adapter.description, server.adapter.version], ensure_ascii=False)
        assert not any(letter in shown for letter in ("\x1b", "\\u001b", "\u202e", "\u200b"))
        parameter = server.adapter.operations[name].parameters[0]
        assert await server.data(name, **{parameter.name: "x"}) == "fine"


async def test_a_tool_that_is_too_large_is_left_out_and_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    before = memory()
    async with neighbour(), opened(hostile("large")) as server:
        assert list(server.adapter.operations) == ["get_small"]
        assert await server.data("get_small") == "fine"
    assert "'get_large' of MCP server 'hostile' is left out: the tool is described in more than 1 MB" in caplog.text
    assert "'get_wide' of MCP server 'hostile' is left out" in caplog.text
    assert memory() - before < 500_000_000


async def test_schemas_that_lead_back_to_themselves_or_double_are_no_harm() -> None:
    async with opened(hostile("rings")) as server:
        for name in ("get_ring", "get_twice", "get_small"):
            assert await server.data(name) == "fine"
            assert (await server.data("introspect", query="operations", name=name))["operation"]["name"] == name
        assert await server.data("get_twice", a={"deep": {"deep": 1}}) == "fine"


async def test_thousands_of_tools_do_not_hold_up_the_others() -> None:
    async with neighbour() as honest:
        source = McpSource(hostile("many"))
        try:
            opening = asyncio.create_task(source.open())
            answered = 0
            while not opening.done():
                await honest.data("echo", value=answered)
                answered += 1
            assert len((await opening).operations) >= 5000
            assert answered > 10
        finally:
            await source.close()


async def test_names_that_are_listed_twice_or_are_none_hide_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(hostile("twice")) as server:
        names = list(server.adapter.operations)
        assert len(names) == 3
        assert "get_a" in names
        assert all(name.startswith("get_a") for name in names)
    assert "lists the tool 'get_a' twice" in caplog.text
    assert "lists a tool without a name" in caplog.text


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("pages", "in pages without end"),
        ("same page", "in pages without end"),
        ("odd page", "in pages without end"),
        ("no list", "no list of tools"),
        ("exit", "it ended"),
        ("garbage", "something else than messages"),
        ("endless line", "more than 16 MB"),
        ("lists of lists", "lists and objects"),
        ("other version", "an unknown version of MCP"),
    ],
)
async def test_what_is_no_list_of_tools_is_refused_with_a_reason(does: str, words: str) -> None:
    before = memory()
    assert words in await why_not(hostile(does))
    assert memory() - before < 700_000_000


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("does", ["silence", "drip", "early flood"])
async def test_a_server_that_does_not_say_what_it_offers_in_time_is_given_up(does: str) -> None:
    assert f"did not list its tools within {SHORT:g} seconds" in await why_not(hostile(does))


async def test_instructions_without_end_are_cut() -> None:
    async with opened(hostile("instructions")) as server:
        assert len(server.adapter.description) <= 300
        assert "\x1b" not in server.adapter.description


# how it answers


@asynccontextmanager
async def attacked(does: str, **options: Any) -> AsyncIterator[tuple[Opened, Opened]]:
    """A hostile server and an honest one."""
    async with neighbour() as honest, opened(hostile(does, **options)) as server:
        yield server, honest


async def meanwhile(honest: Opened, call: Awaitable[Any]) -> Any:
    """What a call gives, while another server is called as well."""
    task = asyncio.ensure_future(call)
    await honest.data("echo", value="meanwhile")
    return await task


async def test_answers_to_questions_that_nobody_asked_answer_nothing() -> None:
    async with attacked("", timeout=0.5) as (server, honest):
        error = await meanwhile(honest, server.error("get_a", does="wrong_ids"))
        assert error["code"] == "TRANSPORT_TIMEOUT"
        assert await server.data("get_a") == "fine"


@pytest.mark.parametrize(
    ("does", "words"), [("end", "it ended"), ("huge", "more than 16 MB"), ("dense", "500000 lists and objects")]
)
async def test_a_server_that_breaks_off_amid_its_answer_is_started_again(does: str, words: str) -> None:
    before = memory()
    async with attacked("") as (server, honest):
        error = await meanwhile(honest, server.error("get_a", does=does))
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        assert words in error["message"]
        assert leaks(error["message"]) == []
        assert await server.data("get_a") == "fine"
    assert memory() - before < 300_000_000


async def test_an_answer_that_comes_letter_by_letter_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.sources.mcp.links._PING_SECONDS", 0.2)
    async with attacked("", timeout=0.5) as (server, honest):
        error = await meanwhile(honest, server.error("get_a", does="drip"))
        assert error["code"] == "TRANSPORT_TIMEOUT"
        assert (await server.call("get_a"))["success"] or await server.data("get_a") == "fine"


async def test_a_flood_of_errors_is_heard_in_part(caplog: pytest.LogCaptureFixture) -> None:
    before = memory()
    async with attacked("") as (server, honest):
        assert await meanwhile(honest, server.data("get_a", does="errors")) == "fine"
    assert memory() - before < 100_000_000
    assert len(caplog.text) < 1_000_000


@pytest.mark.parametrize("does", ["trace", "error"])
async def test_traces_and_secrets_of_a_failure_stay_out_of_the_message(
    does: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "headgate")
    async with attacked("") as (server, honest):
        error = await meanwhile(honest, server.error("get_a", does=does))
    assert leaks(error["message"]) == []
    assert SECRET not in json.dumps(error)
    assert SECRET not in caplog.text


async def test_an_answer_of_another_shape_than_was_promised_is_given_as_it_is() -> None:
    async with attacked("") as (server, _):
        found = await server.data("get_a", does="other_schema")
    assert found["structured"] == {"y": [1]}


async def test_links_are_shown_and_not_followed() -> None:
    async with attacked("") as (server, _):
        [link] = (await server.data("get_a", does="links"))["content"]
    assert link["uri"] == "file:///etc/passwd"
    assert link.keys() == {"type", "uri", "name"}


# what it asks and tells


async def test_a_server_gets_no_model_no_folders_and_no_users_word_unasked(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with attacked("", log=log) as (server, honest):
        assert await meanwhile(honest, server.data("get_a", does="ask")) == "fine"
        await server.data("get_a")
    said = {one["id"]: one for one in map(json.loads, log.read_text().splitlines()) if "method" not in one}
    assert "result" in said["q-ping"]
    assert said["q-elicitation/create"]["result"] == {"action": "cancel"}
    for method in ("sampling/createMessage", "roots/list", "files/delete"):
        assert "error" in said[f"q-{method}"]


async def test_a_server_that_asks_and_never_listens_is_ended() -> None:
    before = memory()
    async with attacked("") as (server, honest):
        error = await meanwhile(honest, server.error("get_a", does="ask_for_ever"))
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        assert "questions in one go" in error["message"]
        assert await server.data("get_a") == "fine"
    assert memory() - before < 300_000_000


@pytest.mark.parametrize("does", ["news", "progress"])
async def test_a_flood_of_news_holds_nobody_up(does: str) -> None:
    before = memory()
    async with attacked("", timeout=60.0) as (server, honest):
        assert await meanwhile(honest, server.data("get_a", does=does)) == "fine"
    assert memory() - before < 200_000_000


async def test_nothing_is_called_that_nobody_has_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(hostile("words", log=log)) as server:
        await server.data("introspect", query="operations")
        await server.data("introspect", query="search", name="red bold back")
    assert not log.exists()


# over HTTP

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(script: Script) -> AsyncIterator[McpSpec]:
    """A server over HTTP that answers every connection by this script."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await script(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield McpSpec(name="hostile", url=f"http://127.0.0.1:{port}/mcp", transport="http")
    finally:
        server.close()


async def head(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


def saying(status: str, *headers: str, body: bytes = b"", times: int = 1, pause: float | None = None) -> Script:
    """Answers with this head, and this body so many times; 0 is for ever."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())
        count = 0
        while count < times or times == 0:
            writer.write(body)
            await writer.drain()
            await asyncio.sleep(pause or 0)
            count += 1

    return script


async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


JSON = "content-type: application/json"
EVENTS = "content-type: text/event-stream"
METADATA = "location: http://169.254.169.254/latest/meta-data"

REFUSED = [
    ("metadata", saying("307 Temporary Redirect", METADATA), "redirects to another origin"),
    (
        "another port",
        saying("307 Temporary Redirect", "location: http://127.0.0.1:1/mcp"),
        "redirects to another origin",
    ),
    ("file", saying("302 Found", "location: file:///etc/passwd"), "redirects to another origin"),
    ("compressed", saying("200 OK", JSON, "content-encoding: gzip", body=b"x"), "compresses"),
    ("endless body", saying("200 OK", JSON, body=b"x" * 100_000, times=0), ""),
    ("endless event", saying("200 OK", EVENTS, body=b"data: " + b"x" * 100_000, times=0), ""),
    ("no HTTP", saying("not HTTP at all"), ""),
    ("garbage", saying("200 OK", JSON, "content-length: 3", body=b"???"), ""),
    ("a page", saying("200 OK", "content-type: text/html", "content-length: 4", body=b"<p>!"), ""),
]


@pytest.mark.parametrize(("script", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_a_server_over_http_that_is_none_is_refused_with_a_reason(
    script: Script, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "_START_SECONDS", 10.0)
    before = memory()
    async with listening(script) as spec:
        refusal = await why_not(spec, Bounds(total_seconds=SHORT, max_response_bytes=1_000_000))
    assert words in refusal
    assert refusal.startswith("MCP server 'hostile': ")
    assert memory() - before < 100_000_000


@pytest.mark.parametrize("kind", [JSON, EVENTS])
async def test_lists_in_lists_over_http_are_not_read_to_their_end(kind: str) -> None:
    before = memory()
    start = b'data: {"jsonrpc": "2.0", "id": 0, "result": {"a": [' if kind == EVENTS else b"["
    async with listening(saying("200 OK", kind, body=start + b"[]," * 2_000_000 + b"[]]}}\n\n")) as spec:
        assert (await why_not(spec)).startswith("MCP server 'hostile': ")
    assert memory() - before < 150_000_000


SLOW = [
    ("silence", never),
    ("head", saying("200 OK", body=b"x: y\r\n", times=0, pause=0.05)),
    ("body", saying("200 OK", JSON, body=b" ", times=0, pause=0.05)),
    ("events", saying("200 OK", EVENTS, body=b": still here\n\n", times=0, pause=0.05)),
    (
        "other events",
        saying("200 OK", EVENTS, body=b'data: {"jsonrpc": "2.0", "id": 99, "result": {}}\n\n', times=0, pause=0.05),
    ),
]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("script", [row[1] for row in SLOW], ids=[row[0] for row in SLOW])
async def test_a_server_over_http_that_takes_for_ever_is_given_up(script: Script) -> None:
    async with listening(script) as spec, asyncio.timeout(30):
        refusal = await why_not(spec, Bounds(total_seconds=1.0))
    assert refusal.startswith("MCP server 'hostile': ")
