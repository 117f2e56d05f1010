"""A client reaches a server by whatever leads to it, in both eras, and finds its tools whatever they are called."""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server import Server

from headgate import Adapter, Engine, ServerError, connect, mcp_server
from headgate.client.connections import Target, place_of
from headgate.client.errors import ConnectionLost, NoAnswer, NotAql, NotFoundFailure, RequestRefused, Unreachable
from headgate.client.wires import Command, Era, InProcess, Url
from headgate.protocol.profiles import PROFILES
from tests.client.shops import Toy, details, shop
from tests.conformance.servers import toy_server
from tests.server.processes import HEADGATE, LIBRARY, environment, serve_http

pytestmark = pytest.mark.anyio

BOOK = "9780141439518"
ERAS: tuple[Era, ...] = ("modern", "legacy")
TOKEN = "a-token-for-tests-only"  # noqa: S105


async def seen(target: Target, **options: Any) -> tuple[object, int]:
    async with connect(target, **options) as aql:
        return await aql.read("get_order", order_id=7), len(await aql.operations())


async def test_an_adapter_an_engine_a_server_and_a_place_are_reached_alike() -> None:
    server = mcp_server(shop())
    targets: list[Target] = [shop(), server, InProcess(mcp_server(shop()))]
    answers = [await seen(target) for target in targets]
    assert answers == [answers[0]] * 3
    assert answers[0][0] == {"order_id": 7}
    data, count = await seen(Engine(shop()))
    assert (data, count > 5) == ({"order_id": 7}, True)


@pytest.mark.parametrize("era", ["modern", "legacy", "auto"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": "single"},
        {"mode": "all"},
        {"mode": "all", "prefix": "city_"},
        {"mode": "semantic", "prefix": "city_", "profile": "discover"},
    ],
    ids=str,
)
async def test_every_mode_profile_and_prefix_is_spoken_to(era: Era, settings: Mapping[str, str]) -> None:
    chosen = dict(settings)
    if chosen.get("profile"):
        chosen["profile"] = next(name for name in PROFILES if name != "crude")
    async with connect(mcp_server(shop(), **chosen), era=era) as aql:
        assert await aql.read("get_order", order_id=7) == {"order_id": 7}
        assert await aql.create("create_note", text="hi") == "a note of hi"
        assert await aql.update("update_note", note_id=1, input={"a": "b"}) == {"a": "b"}
        assert await aql.execute("execute_reminder", to="Ana") == "Ana is reminded"
        assert await aql.call("execute_reminder", to="Ana") == "Ana is reminded"
        assert aql.endpoints.mode == settings.get("mode", "semantic")
        assert aql.oddities == ()


@pytest.mark.parametrize("era", ERAS)
async def test_a_command_is_started_and_spoken_to(era: Era) -> None:
    words = [HEADGATE, "serve", LIBRARY, "--mode", "single"]
    async with connect(words, env=environment(), era=era) as aql:
        book = await aql.read("get_book", isbn=BOOK)
    assert book["title"] == "Pride and Prejudice"


async def test_a_url_is_spoken_to_in_both_eras() -> None:
    with serve_http(LIBRARY, "--prefix", "city_", env={"HEADGATE_TOKEN": TOKEN}) as serving:
        for era in ERAS:
            async with connect(serving.url, token=TOKEN, era=era) as aql:
                assert (await aql.call("get_book", isbn=BOOK))["title"] == "Pride and Prejudice"
                with pytest.raises(NotFoundFailure):
                    await aql.read("get_book", isbn="0000000000000")
        with pytest.raises(Unreachable, match=f"Cannot talk to {serving.url}"):
            async with connect(serving.url):
                pass


async def test_a_server_of_another_kind_is_said_to_be_one() -> None:
    with pytest.raises(NotAql, match=r"no tool of MCP-AQL.*its tools: 'hammer', 'nail'"):
        async with connect(toy_server(lambda _tool, _arguments: "hi", ("hammer", "nail"))):
            pass


async def test_a_server_in_this_process_that_lists_no_tools_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="Cannot talk to 'mute': "):
        async with connect(Server("mute")):
            pass


async def test_a_command_that_is_not_there_is_said_to_be_unreachable() -> None:
    with pytest.raises(Unreachable, match="Cannot talk to 'headgate-is-not-here'"):
        async with connect(["headgate-is-not-here"]):
            pass


async def test_a_command_that_speaks_no_mcp_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        async with connect([sys.executable, "-c", "print('hello')"]):
            pass


@pytest.mark.parametrize(("target", "words"), [("shop.db", "is no http\\(s\\) URL"), ([], "has no words")])
async def test_what_is_no_target_is_refused(target: str | list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        place_of(target)


async def test_a_token_is_a_header_and_headers_go_before_it() -> None:
    assert place_of("http://x/mcp", token="t") == Url("http://x/mcp", {"Authorization": "Bearer t"})  # noqa: S106
    own = {"Authorization": "Basic x"}
    assert place_of("http://x/mcp", token="t", headers=own) == Url("http://x/mcp", own)  # noqa: S106
    assert place_of(["a", "b"], cwd="/") == Command(("a", "b"), {}, "/")


def odd_server(misbehave: Any) -> Server[Any]:
    async def answer(_tool: str, arguments: Any) -> object:
        if arguments["operation"] == "introspect":
            return {"success": True, "data": {"operation": details("get_order")}}
        return await misbehave()

    return toy_server(answer, ("mcp_aql",))


async def test_silence_is_an_error_of_its_own() -> None:
    async with connect(odd_server(anyio.sleep_forever), seconds=0.2) as aql:
        with pytest.raises(NoAnswer, match=r"The server gave no answer within 0.2 seconds\."):
            await aql.call("get_order")


async def test_silence_of_an_engine_is_the_same() -> None:
    adapter = Adapter("slow")

    @adapter.read
    async def get_answer() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    async with connect(Engine(adapter), seconds=0.2) as aql:
        with pytest.raises(NoAnswer):
            await aql.call("get_answer")


async def test_an_error_of_json_rpc_is_one_of_the_server() -> None:
    async def broken() -> object:
        raise RuntimeError("no")

    async with connect(odd_server(broken)) as aql:
        with pytest.raises(ServerError) as raised:
            await aql.call("get_order")
    assert isinstance(raised.value, RequestRefused)


async def test_a_connection_that_is_over_says_so() -> None:
    toy = Toy([details("get_order")], {"get_order": lambda _params: 1})
    async with connect(toy.server()) as aql:
        assert await aql.call("get_order") == 1
        aql._line.wire.lose("it fell over")  # type: ignore[attr-defined]
        with pytest.raises(ConnectionLost, match=r"The connection is over: it fell over\."):
            await aql.call("get_order")


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    cause = KeyError("first")
    several = ExceptionGroup("both", [ValueError("one"), TypeError("two")])
    several.__cause__ = cause
    with pytest.raises(ExceptionGroup) as raised:
        async with connect(shop()):
            raise several
    assert raised.value is several
    assert several.__cause__ is cause


async def test_an_answer_without_a_text_is_none() -> None:
    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="mcp_aql", input_schema={"type": "object"})])

    async def call_tool(_ctx: Any, _params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[])

    async with connect(Server("empty", on_list_tools=list_tools, on_call_tool=call_tool)) as aql:
        with pytest.raises(
            NotAql, match="The tool 'mcp_aql' does not answer as MCP-AQL demands: its answer has no text"
        ):
            await aql.read("get_order")
        with pytest.raises(NotAql, match="None of the server's tools answers 'introspect'"):
            await aql.operations()
