"""Specification 2.3: what lives as long as a connection, and who the caller is."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from headgate import Adapter, Context, Session, mcp_server
from headgate.engine.events import Event, Received
from tests.spec.conftest import Connect, ConnectTo, Serve
from tests.spec.servers import http_server
from tests.spec.wires import Aql, Connections, Envelope, Era, Wire, connected, data_of, envelope_in, error_of

pytestmark = pytest.mark.anyio


async def session_id(aql: Aql) -> str:
    protocol = (await aql.introspect("operations"))["_protocol"]
    assert isinstance(protocol["session_id"], str)
    return protocol["session_id"]


def warning_codes(envelope: Envelope) -> list[str]:
    assert envelope["success"]
    return [warning["code"] for warning in envelope.get("warnings", [])]


@pytest.mark.proves("spec-2.3.5-own-session-id-generated", "spec-2.3.5-session-id-in-protocol-metadata")
async def test_each_session_has_an_id_that_the_server_made(connect: Connect, wire: Wire) -> None:
    async with connect() as first, connect() as second:
        ids = [await session_id(first), await session_id(second)]
        assert all(ids)
        assert len(set(ids)) == 2
        if wire.keeps_sessions:
            assert await session_id(first) == ids[0]


@pytest.mark.parametrize("ending", ["orderly", "dropped"])
@pytest.mark.proves(
    "spec-2.3.3-state-invalidated-on-any-end",
    "spec-2.3.3-warning-deduplication-ends-with-session",
    "spec-2.3.3-introspection-cache-ends-with-session",
    "intro-7.3-introspection-cache-ends-with-session",
)
async def test_nothing_of_a_session_is_left_for_a_client_that_reconnects_at_once(
    connect: Connect, wire: Wire, ending: str
) -> None:
    async with connect() as before:
        old_id = await session_id(before)
        assert warning_codes(await before.read("list_papers")) == ["DEPRECATION_WARNING"]
        if wire.keeps_sessions:
            assert warning_codes(await before.read("list_papers")) == []
        if ending == "dropped":
            before.drop()
    async with connect() as after:
        assert await session_id(after) != old_id
        assert warning_codes(await after.read("list_papers")) == ["DEPRECATION_WARNING"]


@pytest.mark.parametrize("ending", ["orderly", "dropped"])
@pytest.mark.proves("spec-2.3.3-state-invalidated-on-any-end")
async def test_what_a_handler_kept_for_a_session_is_gone_with_it(serve: Serve, ending: str) -> None:
    kept: list[Session] = []
    adapter = Adapter("memory")

    @adapter.execute
    async def execute_keeping(ctx: Context) -> None:
        """Keep something for the session."""
        ctx.session.state["seen"] = "abc"
        kept.append(ctx.session)

    async with serve(adapter) as session:
        data_of(await session.execute("execute_keeping"))
        assert kept[0].state == {"seen": "abc"}
        if ending == "dropped":
            session.drop()
    assert kept[0].state == {}
    assert kept[0].ended


@pytest.mark.proves(
    "spec-2.3.3-introspection-cache-ends-with-session",
    "intro-7.3-introspection-cache-ends-with-session",
)
async def test_a_new_session_learns_what_changed_while_nobody_was_connected(connect_to: ConnectTo) -> None:
    server = mcp_server(adapter_with("get_old"))
    async with connect_to(server) as before:
        assert "get_old" in await before.operation_names()
    await server.replace(adapter_with("get_new"))
    async with connect_to(server) as after:
        assert set(await after.operation_names()) == {"get_new", "introspect"}


def adapter_with(name: str) -> Adapter:
    adapter = Adapter("changing")

    @adapter.read(name=name)
    async def get_something() -> None:
        """Something."""

    return adapter


META = {"session_id": "sess_forged", "requestId": "label-7", "user": "root", "scopes": ["vault:read"]}


@pytest.mark.proves("spec-2.3.5-client-meta-only-labels", "spec-4.6.1-underscore-metadata-not-refused")
async def test_what_a_client_says_of_itself_does_not_change_the_answer(aql: Aql, key: str) -> None:
    request: dict[str, Any] = {"operation": "get_text", "params": {"text": key}}
    plain = await aql.call("mcp_aql_read", request)
    assert await aql.call("mcp_aql_read", {**request, "_meta": META, "_request_id": "label-7"}) == plain
    assert await aql.call("mcp_aql_read", {"operation": "get_text", "params": {"text": key, "_meta": META}}) == plain
    assert await aql.call("mcp_aql_read", request, meta={"example.org/label": "label-7"}) == plain


@pytest.mark.proves("spec-2.3.5-client-meta-only-labels")
async def test_what_a_client_says_of_itself_reaches_the_log_as_a_label(serve: Serve) -> None:
    heard: list[Event] = []
    async with serve(listeners=[heard.append]) as aql:
        await aql.call(
            "mcp_aql_read", {"operation": "get_nothing", "_meta": {"user": "root"}, "_request_id": "label-7"}
        )
    received = [event for event in heard if isinstance(event, Received)]
    assert [event.labels for event in received] == [{"_meta": {"user": "root"}, "_request_id": "label-7"}]
    assert all(not event.caller.authenticated for event in heard)


@pytest.mark.proves("spec-2.3.5-client-meta-never-identity")
async def test_a_session_claimed_by_a_client_is_not_the_session_it_gets(connect: Connect, wire: Wire) -> None:
    async with connect() as victim, connect() as forger:
        theirs = await session_id(victim)
        await victim.read("list_papers")
        claim = {"session_id": theirs, "sessionId": theirs, "user": "root"}
        request = {"operation": "get_session", "_meta": claim, "_session_id": theirs}
        seen = data_of(await forger.call("mcp_aql_read", request, meta={"example.org/session": theirs}))
        assert seen["session_id"] != theirs
        assert seen["subject"] is None
        assert seen["client_id"] is None
        assert seen["scopes"] == []
        answer = await forger.call("mcp_aql_read", {"operation": "list_papers", "_meta": claim})
        assert warning_codes(answer) == ["DEPRECATION_WARNING"]


SECRETS = {"ada": "the-token-of-ada-0", "bob": "the-token-of-bob-0"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over HTTP that knows two callers by their tokens."""
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.toml"
    tokens.write_text("".join(f'[tokens.{name}]\nsecret = "{secret}"\n' for name, secret in SECRETS.items()))
    with http_server("--tokens", str(tokens)) as url:
        yield url


@pytest.mark.proves("spec-2.3.5-client-meta-never-identity", "spec-2.3.5-own-session-id-generated")
async def test_over_http_a_caller_is_who_its_token_says_whatever_it_says_itself(
    guarded: str, connections: Connections, era: Era
) -> None:
    async def who_is(name: str, **claims: object) -> dict[str, Any]:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {SECRETS[name]}"}) as http:
            transport = streamable_http_client(guarded, http_client=http)
            async with connections.open(connected(transport, Wire("http", era))) as aql:
                seen = data_of(await aql.call("mcp_aql_read", {"operation": "get_session", **claims}))
                assert isinstance(seen, dict)
                return seen

    ada = await who_is("ada")
    assert (ada["subject"], ada["authenticated"]) == ("ada", True)
    bob = await who_is("bob", _meta={"subject": "ada", "session_id": ada["session_id"]}, _session_id=ada["session_id"])
    assert (bob["subject"], bob["authenticated"]) == ("bob", True)
    assert bob["session_id"] != ada["session_id"]


@pytest.mark.proves("spec-2.3.5-session-id-in-audit-log")
async def test_every_record_of_what_happened_carries_the_session(serve: Serve) -> None:
    heard: list[Event] = []
    async with serve(listeners=[heard.append]) as aql:
        own = await session_id(aql)
        await aql.read("get_nothing")
        await aql.read("no_such_operation")
        await aql.execute("execute_fault", kind="arithmetic")
        await aql.batch("read", {"operation": "get_nothing"}, {"operation": "get_vault", "params": {"key": "k"}})
        await aql.call("mcp_aql_read", {"operations": []})
    kinds = {type(event).__name__ for event in heard}
    assert kinds == {"Received", "Validated", "Decided", "Executed", "Refused", "Failed", "Answered"}
    assert {event.session_id for event in heard} == {own}


FAILURES: dict[str, tuple[str, Any]] = {
    "validation": ("mcp_aql_read", {"operation": "get_note"}),
    "routing": ("mcp_aql_delete", {"operation": "get_note", "params": {"note_id": "n"}}),
    "unknown": ("mcp_aql_read", {"operation": "get_unheard_of"}),
    "missing": ("mcp_aql_read", {"operation": "get_note", "params": {"note_id": "never"}}),
    "denied": ("mcp_aql_read", {"operation": "get_vault", "params": {"key": "k"}}),
    "broken": ("mcp_aql_execute", {"operation": "execute_fault", "params": {"kind": "lookup"}}),
    "malformed": ("mcp_aql_read", {"params": {}}),
    "introspection": ("mcp_aql_read", {"operation": "introspect"}),
    "batch": ("mcp_aql_read", {"operations": []}),
    "no-object": ("mcp_aql_read", ["get_note"]),
}


@pytest.mark.parametrize(("tool", "request_"), FAILURES.values(), ids=FAILURES)
@pytest.mark.proves("spec-2.3.5-session-id-in-errors")
async def test_a_failure_carries_the_session(aql: Aql, wire: Wire, tool: str, request_: Any) -> None:
    result = await aql.result(tool, request_)
    error_of(envelope_in(result))
    assert result.meta is not None
    carried = result.meta["headgate/sessionId"]
    assert carried.startswith("sess_")
    if wire.keeps_sessions:
        assert carried == await session_id(aql)
