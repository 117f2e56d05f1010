"""Operations 4.4.1, 6.4, 7.5, specification 2.3.3: what is dangerous is marked, tried, and confirmed."""

from typing import Any

import pytest

from headgate import mcp_server
from tests.spec.conftest import Connect, ConnectTo, Serve
from tests.spec.wires import Aql, Envelope, Wire, data_of, error_of
from tests.spec.world import world
from tests.support import schema_errors

pytestmark = pytest.mark.anyio

CONFIRM = "CONFIRMATION_REQUIRED"


def create(key: str) -> dict[str, Any]:
    return {"operation": "create_note", "params": {"note_id": key, "title": "One"}}


def delete(key: str, **more: Any) -> dict[str, Any]:
    return {"operation": "delete_note", "params": {"note_id": key, **more}}


def token_in(error: dict[str, Any]) -> str:
    token: str = error["details"]["confirmation_token"]
    return token


@pytest.mark.proves("ops-6.4-consequential-operations-marked-dangerous")
async def test_operations_with_grave_consequences_are_marked_as_dangerous(aql: Aql) -> None:
    rows = {row["name"]: row for row in (await aql.introspect("danger"))["operations"]}
    marked = {name for name, row in rows.items() if row["dangerous"]}
    assert "delete_note" in marked
    assert marked.isdisjoint({"create_note", "get_note", "list_notes", "update_note"})
    assert rows["delete_note"]["level"] == "destructive"
    assert rows["delete_note"]["decision"] == "confirm"
    assert rows["get_note"]["level"] == "safe"
    details = await aql.operation("delete_note")
    assert "destructive" in details["description"]
    assert "confirmation_token" in {parameter["name"] for parameter in details["parameters"]}
    assert (await aql.introspect("operations"))["_protocol"]["capabilities"]["dangerous_operations"] is True


@pytest.mark.proves("ops-4.4.1-dry-run-previews-mutations")
async def test_every_operation_that_changes_something_can_be_tried_first(aql: Aql, key: str) -> None:
    listed = (await aql.introspect("operations"))["operations"]
    for name in (one["name"] for one in listed if one["semantic_category"] != "READ"):
        shown = {parameter["name"]: parameter for parameter in (await aql.operation(name))["parameters"]}
        assert shown["dry_run"]["type"] == "boolean", name
    tried = data_of(await aql.create("create_note", note_id=key, title="One", dry_run=True))
    assert tried["dry_run"] is True
    assert tried["would_run"] == {"operation": "create_note", "params": {"note_id": key, "title": "One"}}
    data_of(await aql.delete("delete_note", note_id=key, dry_run=True))  # needs no confirmation
    assert await aql.runs(key) == []
    error_of(await aql.create("create_note", note_id=key, dry_run=True), "VALIDATION_MISSING_PARAM")


async def halted(aql: Aql, key: str) -> Envelope:
    """A batch in whose middle something must be confirmed."""
    answer = await aql.batch("any", create(f"{key}-a"), delete(f"{key}-a"), create(f"{key}-b"), create(f"{key}-c"))
    assert schema_errors(answer, "batch-operation") == []
    return answer


@pytest.mark.proves(
    "ops-7.5.2-confirmation-halts-batch",
    "ops-7.5.2-operations-before-halt-complete",
    "ops-7.5.2-halted-operation-gives-token",
    "ops-7.5.5-halt-is-not-failure",
    "ops-7.5.5-halted-and-pending-counted",
    "ops-7.5.4-skip-and-continue-not-default",
)
async def test_a_batch_halts_where_a_confirmation_is_needed(serve: Serve, key: str) -> None:
    async with serve(mode="single") as aql:
        answer = await halted(aql, key)
        assert answer["success"] is True
        assert [item["index"] for item in answer["results"]] == [0]
        assert answer["results"][0]["result"]["data"]["note_id"] == f"{key}-a"
        stopped = answer["halted_at"]
        assert (stopped["index"], stopped["operation"]) == (1, "delete_note")
        assert stopped["result"]["success"] is False
        assert stopped["result"]["error"]["code"] == CONFIRM
        details = stopped["result"]["error"]["details"]
        assert details["confirmation_token"].startswith("conf_")
        assert details["expires_at"].endswith("Z")
        assert answer["summary"] == {"total": 4, "succeeded": 1, "failed": 0, "halted": 1, "pending": 2}
        assert await aql.runs(f"{key}-a") == ["create_note"]
        assert await aql.runs(f"{key}-b") == []


@pytest.mark.proves("ops-7.5.2-halted-answer-allows-continuation")
async def test_a_halted_batch_goes_on_with_the_token_and_what_is_pending(serve: Serve, key: str) -> None:
    async with serve(mode="single") as aql:
        answer = await halted(aql, key)
        pending = answer["pending_operations"]
        assert [item["index"] for item in pending] == [2, 3]
        rest = [{name: item[name] for name in ("operation", "params")} for item in pending]
        token = token_in(answer["halted_at"]["result"]["error"])
        again = await aql.batch("any", delete(f"{key}-a", confirmation_token=token), *rest)
        assert again["summary"] == {"total": 3, "succeeded": 3, "failed": 0}
        assert await aql.runs(f"{key}-a") == ["create_note", "delete_note"]
        assert await aql.runs(f"{key}-c") == ["create_note"]


@pytest.mark.proves("ops-7.5.4-skip-and-continue-not-default")
async def test_a_gated_operation_is_skipped_only_if_the_operator_says_so(serve: Serve, key: str) -> None:
    async with serve(mode="single", policy={"confirmation": {"batches": "skip"}}) as aql:
        answer = await halted(aql, key)
        assert "halted_at" not in answer
        assert [item["index"] for item in answer["results"]] == [0, 1, 2, 3]
        skipped = answer["results"][1]
        assert skipped["status"] == "pending_confirmation"
        assert skipped["result"]["error"]["code"] == CONFIRM
        assert answer["summary"] == {"total": 4, "succeeded": 3, "failed": 0, "pending_confirmation": 1}
        token = token_in(skipped["result"]["error"])
        data_of(await aql.delete("delete_note", note_id=f"{key}-a", confirmation_token=token))


@pytest.mark.parametrize("ending", ["orderly", "dropped"])
@pytest.mark.proves("spec-2.3.3-confirmation-tokens-end-with-session", "spec-2.3.3-state-invalidated-on-any-end")
async def test_a_token_of_one_session_is_refused_in_the_next(
    connect: Connect, wire: Wire, key: str, ending: str
) -> None:
    async with connect() as before:
        data_of(await before.create("create_note", note_id=key, title="One"))
        token = token_in(error_of(await before.delete("delete_note", note_id=key), CONFIRM))
        if ending == "dropped":
            before.drop()
    async with connect() as after:
        answer = await after.delete("delete_note", note_id=key, confirmation_token=token)
        if wire.keeps_sessions:
            error_of(answer, "TOKEN_INVALID")
            if wire.transport != "stdio":  # where each session has a server of its own
                assert data_of(await after.read("get_note", note_id=key))["title"] == "One"
        elif wire.transport == "http":  # each request stands alone, so the token itself is all the state there is
            assert data_of(answer) == {"note_id": key}


@pytest.mark.proves("spec-2.3.3-confirmation-tokens-end-with-session")
async def test_a_token_outlives_its_session_if_the_operator_says_so(connect_to: ConnectTo, key: str) -> None:
    server = mcp_server(world, policy={"confirmation": {"outlive_session": True}})
    async with connect_to(server) as before:
        data_of(await before.create("create_note", note_id=key, title="One"))
        token = token_in(error_of(await before.delete("delete_note", note_id=key), CONFIRM))
    async with connect_to(server) as after:
        data_of(await after.delete("delete_note", note_id=key, confirmation_token=token))


@pytest.mark.proves("spec-2.3.3-confirmation-tokens-end-with-session")
async def test_a_session_claimed_by_the_client_gives_no_right_to_its_tokens(
    connect: Connect, wire: Wire, key: str
) -> None:
    if not wire.keeps_sessions:
        pytest.skip("there are no sessions to claim")
    async with connect() as owner, connect() as thief:
        claimed = (await owner.introspect("operations"))["_protocol"]["session_id"]
        token = token_in(error_of(await owner.delete("delete_note", note_id=key), CONFIRM))
        request = {**delete(key, confirmation_token=token), "_meta": {"session_id": claimed}, "_session_id": claimed}
        error_of(await thief.call(thief.tool("delete"), request, {"session_id": claimed}), "TOKEN_INVALID")
        assert await thief.runs(key) == []
