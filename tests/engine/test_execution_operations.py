"""The five operations that follow long work: what they answer, to whom, and what the gate says to them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest

from headgate import Adapter, AdapterError, Background, Caller, Context, Engine, Param, Session, Unavailable
from headgate.adapter.operations import Operation
from headgate.executions.operations import COLLECTION
from headgate.executions.results import PAGE
from headgate.protocol.categories import Category
from headgate.sources.sql.source import sql_adapter
from headgate.store.opening import open_store
from tests.engine.asking import leaks
from tests.engine.working import Works, works
from tests.safety.guarding import code_of, codes_of

pytestmark = pytest.mark.anyio

ANN, BOB = Caller("ann", "host"), Caller("bob", "host")
FIVE = ("get_execution", "list_executions", "get_execution_result", "cancel_execution", "retry_execution")


class Errands:
    """Errands that succeed, fail until they are allowed, or wait."""

    def __init__(self) -> None:
        self.adapter = Adapter("errands")
        self.ran: list[str] = []
        self.may_succeed = False
        self.waiting = asyncio.Event()
        self.go = asyncio.Event()

        @self.adapter.execute(background=True)
        async def execute_errand(ctx: Context, place: str = "bank") -> str:
            """Run an errand."""
            self.ran.append(place)
            await ctx.progress(1, 2, f"on the way to the {place}")
            if not self.may_succeed:
                raise Unavailable(f"the {place} is closed")
            return place

        @self.adapter.execute(background=Background(retry=False))
        async def execute_once() -> None:
            """Run an errand that cannot be run again."""
            raise Unavailable("too late")

        @self.adapter.execute(background=True)
        async def execute_secret(pin: Annotated[str, Param(sensitive=True)]) -> None:
            """Run an errand that nobody may know of."""
            raise Unavailable("not now")

        @self.adapter.execute(background=True)
        async def execute_waiting(ctx: Context) -> str:
            """Wait at the counter."""
            self.waiting.set()
            await self.go.wait()
            return "served"

        @self.adapter.execute(background=True)
        async def execute_list(count: int, width: int = 1) -> list[str]:
            """Make a list."""
            return [f"{number:0{width}}" for number in range(count)]

        @self.adapter.execute(background=True)
        async def execute_text(size: int) -> str:
            """Make a text."""
            return "é" * size


@pytest.fixture
async def errands() -> Errands:
    return Errands()


@pytest.fixture
async def made(errands: Errands) -> AsyncIterator[Works]:
    async with works(errands.adapter) as found:
        yield found


# get_execution


async def test_an_unknown_execution_is_not_found(made: Works) -> None:
    for name in FIVE:
        if name != "list_executions":
            error = await made.error(name, execution_id="exec_unheard_of")
            assert error["code"] == "NOT_FOUND_RESOURCE"
            assert error["details"] == {"resource_type": "execution", "resource_id": "exec_unheard_of"}


async def test_a_state_is_given_at_once_unless_somebody_wants_to_wait(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_waiting")
    await errands.waiting.wait()
    assert (await made.state(execution_id))["status"] == "running"
    assert (await made.state(execution_id, wait_seconds=0.01))["status"] == "running"
    waiting = asyncio.create_task(made.ended(execution_id))
    await asyncio.sleep(0)
    errands.go.set()
    assert (await waiting)["status"] == "completed"


@pytest.mark.parametrize(("seconds", "code"), [(-1, "VALIDATION_OUT_OF_RANGE"), (61, "VALIDATION_OUT_OF_RANGE")])
async def test_nobody_waits_for_ever(made: Works, seconds: float, code: str) -> None:
    assert await made.code("get_execution", execution_id="exec_1", wait_seconds=seconds) == code


async def test_what_another_process_works_on_is_awaited_too(errands: Errands) -> None:
    """Where a host has nothing to do with an execution, the store is looked at from time to time."""
    store = open_store("memory:")
    working, asking = Works(errands.adapter, store), Works(errands.adapter, store)
    execution_id = await working.start("execute_waiting")
    await errands.waiting.wait()
    waiting = asyncio.create_task(asking.ended(execution_id))
    await asyncio.sleep(0)
    errands.go.set()
    assert (await waiting)["status"] == "completed"
    assert (await asking.result(execution_id))["result"] == "served"
    for one in (working, asking):
        await one.executions.close()
    await store.close()


# get_execution_result


async def test_a_result_that_is_not_there_is_a_conflict_that_says_what_to_do(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_waiting")
    await errands.waiting.wait()
    error = await made.error("get_execution_result", execution_id=execution_id)
    assert error["code"] == "CONFLICT_EXECUTION_STATE"
    words = "there is no result yet. Ask again, or wait with 'wait_seconds'"
    assert error["message"] == f"The execution is running: {words}"
    assert error["details"] == {"execution_id": execution_id, "status": "running"}
    await made.cancel(execution_id)
    await made.ended(execution_id)
    error = await made.error("get_execution_result", execution_id=execution_id)
    assert error["message"] == "The execution is cancelled: there is no result"
    assert leaks(error["message"]) == []


async def read_all(made: Works, execution_id: str, first: int) -> tuple[list[Any], list[dict[str, Any]]]:
    """Everything in a result, page by page, and what was told of each page."""
    parts: list[Any] = []
    pages: list[dict[str, Any]] = []
    after = None
    while True:
        more: dict[str, Any] = {"first": first, **({"after": after} if after else {})}
        found = await made.result(execution_id, **more)
        parts.append(found["result"])
        page = found.get("page")
        if page is None:
            return parts, pages
        pages.append(page)
        if not page["has_next"]:
            return parts, pages
        after = page["after"]


async def test_a_short_list_comes_whole(made: Works) -> None:
    found = await made.result(await made.start("execute_list", count=100))
    assert found["result"] == [str(number) for number in range(100)]
    assert "page" not in found


async def test_a_long_list_comes_in_pages(made: Works) -> None:
    execution_id = await made.start("execute_list", count=250)
    parts, pages = await read_all(made, execution_id, 100)
    assert [len(part) for part in parts] == [100, 100, 50]
    assert [item for part in parts for item in part] == [str(number) for number in range(250)]
    assert pages[0] == {"of": "items", "returned": 100, "total": 250, "has_next": True, "after": "100"}
    assert pages[-1] == {"of": "items", "returned": 50, "total": 250, "has_next": False}


async def test_a_page_of_wide_items_has_fewer_than_asked_for_and_none_is_lost(made: Works) -> None:
    execution_id = await made.start("execute_list", count=20, width=PAGE // 4)
    parts, pages = await read_all(made, execution_id, 1000)
    assert max(page["returned"] for page in pages) < 20
    assert [item[-2:] for part in parts for item in part] == [f"{number:02}" for number in range(20)]


async def test_a_large_text_comes_in_parts_of_its_json(made: Works) -> None:
    execution_id = await made.start("execute_text", size=2 * PAGE)
    parts, pages = await read_all(made, execution_id, 1)
    assert "".join(parts) == f'"{"é" * 2 * PAGE}"'
    assert [page["of"] for page in pages] == ["text"] * 3


async def test_what_is_beyond_the_end_of_a_result_is_refused(made: Works) -> None:
    listed = await made.start("execute_list", count=3)
    text = await made.start("execute_text", size=3)
    await made.ended(listed)
    await made.ended(text)
    for execution_id, after in ((listed, "3"), (text, "100")):
        error = await made.error("get_execution_result", execution_id=execution_id, after=after)
        assert (error["code"], error["details"]["param_name"]) == ("VALIDATION_INVALID_VALUE", "after")
    assert await made.code("get_execution_result", execution_id=listed, after="x") == "VALIDATION_PATTERN_MISMATCH"
    assert await made.code("get_execution_result", execution_id=listed, first=0) == "VALIDATION_OUT_OF_RANGE"
    assert (await made.result(listed, after="2"))["result"] == ["2"]
    assert (await made.result(listed, after=None))["result"] == ["0", "1", "2"]


# list_executions


async def some(errands: Errands, made: Works) -> dict[str, str]:
    """Executions in several states."""
    ids = {"failed": await made.start("execute_errand", place="bank")}
    await made.ended(ids["failed"])
    errands.may_succeed = True
    ids["completed"] = await made.start("execute_errand", place="shop")
    await made.ended(ids["completed"])
    ids["running"] = await made.start("execute_waiting")
    await errands.waiting.wait()
    return ids


async def names(made: Works, ids: dict[str, str], **params: Any) -> list[str]:
    found = await made.call("list_executions", **params)
    by_id = {execution_id: name for name, execution_id in ids.items()}
    return [by_id[item["execution_id"]] for item in found["items"]]


async def test_executions_are_listed_filtered_sorted_and_paged(errands: Errands, made: Works) -> None:
    ids = await some(errands, made)
    assert await names(made, ids) == ["running", "completed", "failed"], "the newest first"
    assert await names(made, ids, sort={"field": "created_at", "order": "asc"}) == ["failed", "completed", "running"]
    assert await names(made, ids, filter={"status": "running"}) == ["running"]
    assert await names(made, ids, filter={"operation": "execute_errand"}) == ["completed", "failed"]
    assert await names(made, ids, filter={"error_code": {"is_null": False}}) == ["failed"]
    assert await names(made, ids, filter={"finished_at": {"is_null": True}}) == ["running"]
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    assert await names(made, ids, filter={"created_at": {"gt": soon}}) == []
    first = await made.call("list_executions", first=2)
    assert [item["execution_id"] for item in first["items"]] == [ids["running"], ids["completed"]]
    cursor = first["pageInfo"]["endCursor"] if "pageInfo" in first else first["page_info"]["end_cursor"]
    assert await names(made, ids, first=2, after=cursor) == ["failed"]


async def test_an_item_of_the_list_tells_what_the_state_tells(errands: Errands, made: Works) -> None:
    ids = await some(errands, made)
    items = {item["execution_id"]: item for item in (await made.call("list_executions"))["items"]}
    failed = await made.state(ids["failed"])
    item = items[ids["failed"]]
    for name in ("created_at", "started_at", "finished_at"):
        assert datetime.fromisoformat(item.pop(name)) == datetime.fromisoformat(failed[name])
    assert item == {
        "execution_id": ids["failed"],
        "operation": "execute_errand",
        "status": "failed",
        "state": "failed",
        "percentage": 50,
        "message": "on the way to the bank",
        "attempt": 1,
        "error_code": "INTERNAL_ERROR",
    }
    assert items[ids["running"]]["finished_at"] is None
    [small, *_] = (await made.call("list_executions", fields="minimal"))["items"]
    assert set(small) == {"execution_id", "operation", "status"}
    [full] = (await made.call("list_executions", fields=["error"], filter={"status": "failed"}))["items"]
    assert full["error"] == failed["error"]


async def test_executions_are_summed_up(errands: Errands, made: Works) -> None:
    await some(errands, made)
    asked = {"all": {"count": True}, "by_status": {"group_by": "status", "count": True}, "most": {"max": "percentage"}}
    found = await made.call("list_executions", aggregate=asked)
    assert found["aggregations"] == {
        "all": 3,
        "by_status": {"running": 1, "completed": 1, "failed": 1},
        "most": 50,
    }


async def test_a_field_that_executions_do_not_have_is_refused_with_the_nearest(made: Works) -> None:
    error = await made.error("list_executions", filter={"statu": "running"})
    assert error["code"].startswith("VALIDATION_")
    assert "status" in error["message"]


# who may see what


async def test_nobody_else_sees_an_execution_or_can_do_anything_about_it(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand", caller=ANN)
    await made.ended(execution_id, caller=ANN)
    for stranger in (BOB, Caller(), Caller("ann", "other")):
        for name in FIVE:
            if name != "list_executions":
                error = await made.error(name, execution_id=execution_id, caller=stranger)
                assert error["code"] == "NOT_FOUND_RESOURCE", (stranger, name)
        assert (await made.call("list_executions", caller=stranger))["items"] == []
    assert len((await made.call("list_executions", caller=ANN))["items"]) == 1
    assert errands.ran == ["bank"]


async def test_another_adapter_on_the_same_store_does_not_see_it(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand")
    await made.ended(execution_id)
    other = Adapter("other")

    @other.execute(background=True)
    async def execute_other() -> None:
        """Do something else."""

    neighbour = Works(other, made.store)
    assert await neighbour.code("get_execution", execution_id=execution_id) == "NOT_FOUND_RESOURCE"
    assert (await neighbour.call("list_executions"))["items"] == []
    await neighbour.executions.close()


# retry_execution


async def test_what_has_failed_is_run_again_with_the_same_parameters(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand", place="shop")
    failed = await made.ended(execution_id)
    errands.may_succeed = True
    again = await made.call("retry_execution", execution_id=execution_id)
    assert (again["status"], again["state"]) == ("running", "retrying")
    assert not again.keys() & {"error", "last_error", "finished_at", "progress"}
    assert again["created_at"] == failed["created_at"]
    found = await made.result(execution_id)
    assert (found["result"], found["attempt"]) == ("shop", 2)
    assert errands.ran == ["shop", "shop"]


async def test_what_is_retried_waits_for_its_turn_like_any_other() -> None:
    adapter = Adapter("one")
    go, begun = asyncio.Event(), asyncio.Event()

    @adapter.execute(background=Background(concurrency=1))
    async def execute_turn(fails: bool = False) -> None:
        """Take a turn."""
        if fails:
            raise Unavailable("no")
        begun.set()
        await go.wait()

    async with works(adapter) as made:
        failed = await made.start("execute_turn", fails=True)
        await made.ended(failed)
        first = await made.start("execute_turn")
        await begun.wait()
        state = await made.call("retry_execution", execution_id=failed)
        assert state["state"] == "retrying"
        assert (await made.state(failed)).get("attempt") is None, "it has not begun"
        go.set()
        await made.ended(first)
        assert (await made.ended(failed))["attempt"] == 2


REFUSED = {
    "execute_once": "and 'execute_once' does not allow a retry: start it anew",
    "execute_secret": "and its parameters had secrets in them, which are not kept: start it anew",
}


@pytest.mark.parametrize("operation", REFUSED)
async def test_what_may_not_be_retried_is_refused_and_says_so_beforehand(made: Works, operation: str) -> None:
    params: dict[str, Any] = {"pin": "1234"} if operation == "execute_secret" else {}
    execution_id = await made.start(operation, **params)
    await made.ended(execution_id)
    error = await made.error("retry_execution", execution_id=execution_id)
    assert error["code"] == "CONFLICT_EXECUTION_STATE"
    assert error["message"] == f"The execution is failed, {REFUSED[operation]}"
    details = await made.call("introspect", query="operations", name=operation)
    assert details["operation"]["lifecycle"]["supports_retry"] is False
    assert (await made.state(execution_id))["status"] == "failed"


async def test_what_has_ended_cannot_be_cancelled(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand")
    await made.ended(execution_id)
    error = await made.error("cancel_execution", execution_id=execution_id)
    assert error["code"] == "CONFLICT_EXECUTION_STATE"
    assert error["message"] == "The execution is failed: it has ended, and cannot be cancelled any more"
    assert leaks(error["message"]) == []


async def test_only_what_has_failed_is_retried(errands: Errands, made: Works) -> None:
    errands.may_succeed = True
    execution_id = await made.start("execute_errand")
    await made.ended(execution_id)
    error = await made.error("retry_execution", execution_id=execution_id)
    assert error["message"] == "The execution is completed, and only a failed one can be retried"
    assert leaks(error["message"]) == []


async def test_of_two_that_retry_at_once_one_succeeds(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand")
    await made.ended(execution_id)
    errands.may_succeed = True
    arguments = {"operation": "retry_execution", "params": {"execution_id": execution_id}}
    answers = await asyncio.gather(made.ask(arguments), made.ask(arguments))
    assert sorted(code_of(one) for one in answers) == ["", "CONFLICT_EXECUTION_STATE"]
    await made.ended(execution_id)
    assert errands.ran == ["bank", "bank"]


async def test_cancelling_and_retrying_can_be_tried(errands: Errands, made: Works) -> None:
    execution_id = await made.start("execute_errand")
    await made.ended(execution_id)
    for name in ("cancel_execution", "retry_execution"):
        tried = await made.call(name, execution_id=execution_id, dry_run=True)
        assert tried["would_run"] == {"operation": name, "params": {"execution_id": execution_id}}
    assert (await made.state(execution_id))["status"] == "failed"
    assert errands.ran == ["bank"]


# the gate


def ruled(decision: str, operation: str = "execute_errand", **more: Any) -> dict[str, Any]:
    return {"rule": [{"name": "careful", "decision": decision, "operations": operation, **more}]}


async def failing(made: Works, token: str | None = None) -> str:
    arguments: dict[str, Any] = {"operation": "execute_errand", "params": {"place": "bank"}}
    envelope = await made.ask({**arguments, **({"_confirmation": token} if token else {})}, session=SESSION)
    assert envelope["success"], envelope
    execution_id = str(envelope["data"]["execution_id"])
    await made.ended(execution_id)
    return execution_id


SESSION = Session()


async def test_a_retry_must_be_confirmed_where_the_operation_must(errands: Errands) -> None:
    async with works(errands.adapter, ruled("confirm")) as made:
        asked = await made.ask({"operation": "execute_errand", "params": {"place": "bank"}}, session=SESSION)
        execution_id = await failing(made, asked["error"]["details"]["confirmation_token"])
        errands.may_succeed = True
        retry = {"operation": "retry_execution", "params": {"execution_id": execution_id}}
        asked = await made.ask(retry, session=SESSION)
        assert code_of(asked) == "CONFIRMATION_REQUIRED"
        assert asked["error"]["details"]["operation"] == "execute_errand"
        assert (await made.state(execution_id))["status"] == "failed"
        wrong = await made.ask({**retry, "_confirmation": "conf_" + "x" * 59}, session=SESSION)
        assert code_of(wrong) == "TOKEN_INVALID"
        token = asked["error"]["details"]["confirmation_token"]
        params = {**retry["params"], "confirmation_token": token}  # type: ignore[dict-item]
        again = await made.ask({"operation": "retry_execution", "params": params}, session=SESSION)
        assert again["success"]
        assert (await made.ended(execution_id))["status"] == "completed"
        used = await made.ask({**retry, "_confirmation": token}, session=SESSION)
        assert code_of(used) == "CONFLICT_EXECUTION_STATE"
        details = (await made.call("introspect", query="operations", name="retry_execution"))["operation"]
        assert "confirmation_token" in {one["name"] for one in details["parameters"]}


async def test_a_token_for_other_parameters_does_not_confirm_a_retry(errands: Errands) -> None:
    async with works(errands.adapter, ruled("confirm", when={"place": "bank"})) as made:
        free = await made.start("execute_errand", place="shop")
        await made.ended(free)
        assert await made.code("retry_execution", execution_id=free) == "", "the rule is about the bank"
        asked = await made.ask({"operation": "execute_errand", "params": {"place": "bank"}}, session=SESSION)
        token = asked["error"]["details"]["confirmation_token"]
        await made.ended(free)
        retry = {"operation": "retry_execution", "params": {"execution_id": free}, "_confirmation": token}
        assert code_of(await made.ask(retry, session=SESSION)) == "TOKEN_SCOPE_MISMATCH"


async def test_a_retry_is_refused_where_the_operation_is_by_now(errands: Errands) -> None:
    store = open_store("memory:")
    before = Works(errands.adapter, store)
    execution_id = await failing(before)
    after = Works(errands.adapter, store, policy=ruled("deny"))
    assert await after.code("retry_execution", execution_id=execution_id) == "PERMISSION_DENIED"
    assert await after.code("retry_execution", execution_id=execution_id, dry_run=True) == "PERMISSION_DENIED"
    assert errands.ran == ["bank"]
    for one in (before, after):
        await one.executions.close()
    await store.close()


@pytest.mark.parametrize("operation", ["cancel_execution", "retry_execution", "get_execution_result"])
async def test_rules_reach_the_operations_of_executions_too(errands: Errands, operation: str) -> None:
    async with works(errands.adapter, ruled("deny", operation)) as made:
        execution_id = await failing(made)
        assert await made.code(operation, execution_id=execution_id) == "PERMISSION_DENIED"
        assert errands.ran == ["bank"]


async def test_a_rule_may_want_a_retry_confirmed_that_the_first_start_was_not(errands: Errands) -> None:
    async with works(errands.adapter, ruled("confirm", "retry_execution")) as made:
        execution_id = await failing(made)
        retry = {"operation": "retry_execution", "params": {"execution_id": execution_id}}
        asked = await made.ask(retry, session=SESSION)
        assert code_of(asked) == "CONFIRMATION_REQUIRED"
        token = asked["error"]["details"]["confirmation_token"]
        assert (await made.ask({**retry, "_confirmation": token}, session=SESSION))["success"]
        await made.ended(execution_id)
        assert errands.ran == ["bank", "bank"]


async def test_who_may_retry_is_not_who_may_start(errands: Errands) -> None:
    policy = {"default": "deny", "rule": [{"name": "few", "decision": "allow", "operations": "*_execution*"}]}
    store = open_store("memory:")
    before, after = Works(errands.adapter, store), Works(errands.adapter, store, policy=policy)
    execution_id = await failing(before)
    assert await after.code("retry_execution", execution_id=execution_id) == "PERMISSION_DENIED"
    assert (await after.state(execution_id))["status"] == "failed"
    for one in (before, after):
        await one.executions.close()
    await store.close()


async def test_what_an_operation_was_may_be_gone_by_the_time_of_a_retry(errands: Errands) -> None:
    store = open_store("memory:")
    before = Works(errands.adapter, store)
    execution_id = await failing(before)
    slim = Adapter("errands")
    slim.add(errands.adapter.operations["execute_once"])
    after = Works(slim, store)
    assert await after.code("retry_execution", execution_id=execution_id) == "NOT_FOUND_OPERATION"
    for one in (before, after):
        await one.executions.close()
    await store.close()


async def test_work_whose_operation_is_gone_by_the_time_of_its_turn_fails(errands: Errands) -> None:
    adapter = Adapter("turns")
    go, begun = asyncio.Event(), asyncio.Event()

    @adapter.execute(background=Background(concurrency=1))
    async def execute_turn() -> None:
        """Take a turn."""
        begun.set()
        await go.wait()

    other = Adapter("turns")

    @other.execute(background=True)
    async def execute_other() -> None:
        """Do something else."""

    async with works(adapter) as made:
        first = await made.start("execute_turn")
        await begun.wait()
        second = await made.start("execute_turn")
        Engine(other, executions=made.executions)  # as a server does that takes a new version of its adapter
        go.set()
        assert (await made.ended(first))["status"] == "completed"
        error = (await made.ended(second))["error"]
        assert error["code"] == "NOT_FOUND_OPERATION"


# the audit


async def test_the_audit_tells_of_the_start_and_the_end_of_dangerous_work(errands: Errands) -> None:
    policy = {"danger": {"execute_errand": {"level": "destructive"}}, "trust": "certified"}
    async with works(errands.adapter, policy) as made:
        execution_id = await failing(made)
        first = await made.audit()
        errands.may_succeed = True
        await made.call("retry_execution", execution_id=execution_id)
        await made.ended(execution_id)
        again = (await made.audit())[len(first) :]
        for entries, code, status in ((first, "INTERNAL_ERROR", "failed"), (again, "", "completed")):
            assert [one.event for one in entries[:2]] == ["proposed", "executed"]
            rest = {one.event: one for one in entries[2:]}
            assert set(rest) == {"returned", "ended"}, "in any order: nobody waits for the end"
            assert {one.operation for one in entries} == {"execute_errand"}
            assert (rest["returned"].code, rest["ended"].code) == ("", code)
            assert rest["ended"].details == {"execution_id": execution_id, "status": status}
        assert {one.request_id for one in first} == {first[0].request_id}


async def test_the_audit_tells_nothing_of_harmless_work(errands: Errands, made: Works) -> None:
    await failing(made)
    assert await made.audit() == []


# what is refused beforehand


@pytest.mark.parametrize("name", FIVE)
def test_an_adapter_with_long_work_cannot_have_an_operation_of_such_a_name(name: str) -> None:
    adapter = Adapter("clash")

    async def nothing(**_: object) -> None:
        """Do nothing."""

    category = Category.EXECUTE if name.startswith(("cancel", "retry")) else Category.READ
    adapter.add(Operation(name, category, nothing, summary="One's own"))
    adapter.execute(background=True, name="execute_work")(nothing_at_all)
    with pytest.raises(AdapterError, match=rf"There is an operation '{name}' already: .* Rename yours\."):
        Engine(adapter)


async def nothing_at_all() -> None:
    """Do nothing."""


async def test_long_work_cannot_be_part_of_a_transaction(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "bank.db")
    connection.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT NOT NULL)")
    connection.close()
    adapter = sql_adapter(tmp_path / "bank.db", name="bank")
    ran: list[str] = []

    @adapter.execute(background=True)
    async def execute_report() -> None:
        """Make a report."""
        ran.append("report")
        raise Unavailable("no paper")

    async with works(adapter) as made:
        failed = await made.start("execute_report")
        await made.ended(failed)
        create = {"operation": "create_account", "params": {"owner": "ann"}}
        for last in (
            {"operation": "execute_report"},
            {"operation": "retry_execution", "params": {"execution_id": failed}},
        ):
            envelope = await made.ask({"operations": [create, last], "transaction": True})
            assert codes_of(envelope) == ["CONFLICT_ROLLED_BACK", "VALIDATION_INVALID_VALUE"]
            message = envelope["results"][1]["result"]["error"]["message"]
            assert "cannot be part of a transaction" in message
            assert leaks(message) == []
        assert ran == ["report"]
        assert (await made.call("list_accounts"))["items"] == []
        assert (await made.state(failed))["status"] == "failed"
    await adapter.close()


# what introspection tells


async def test_introspection_tells_of_long_work(made: Works) -> None:
    told = await made.call("introspect", query="operations")
    assert told["_protocol"]["capabilities"]["executions"] is True
    where = {one["name"]: one["semantic_category"] for one in told["operations"]}
    assert {name: where[name] for name in FIVE} == {
        "get_execution": "READ",
        "list_executions": "READ",
        "get_execution_result": "READ",
        "cancel_execution": "EXECUTE",
        "retry_execution": "EXECUTE",
    }
    details = (await made.call("introspect", query="operations", name="execute_errand"))["operation"]
    assert "answers at once with an execution_id" in details["description"]
    assert details["lifecycle"]["progress_reporting"] is True
    states = (await made.call("introspect", query="executions"))["states"]
    assert [row["state"] for row in states] == details["lifecycle"]["states"]


async def test_the_fields_of_executions_are_told_by_their_own_operation(made: Works) -> None:
    details = (await made.call("introspect", query="operations", name="list_executions"))["operation"]
    assert {"filter", "sort", "first", "after", "fields", "aggregate"} <= {one["name"] for one in details["parameters"]}
    assert [name for name in COLLECTION.fields if f"{name} (" not in details["description"]] == []
    assert "the newest first" in details["description"]
