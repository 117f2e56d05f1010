"""The client that waits: the same calls, for scripts and notebooks, also where an event loop runs already."""

import pytest

from headgate import connect_sync, mcp_server
from headgate.client.errors import ConfirmationRequired, ConnectionLost, ExecutionCancelled, NotFoundFailure, Paused
from headgate.client.questions import Question
from tests.client.shops import shop
from tests.client.test_supervision import FREE, READING, RISKY


def test_everything_can_be_asked_without_async() -> None:
    with connect_sync(shop(), confirm=lambda question: isinstance(question, Question)) as aql:
        assert aql.read("get_order", order_id=1) == {"order_id": 1}
        assert aql.call("get_order", {"order_id": 2}) == {"order_id": 2}
        assert aql.create("create_note", text="hi") == "a note of hi"
        assert aql.update("update_note", note_id=1, input={"a": "b"}) == {"a": "b"}
        assert aql.delete("delete_order", order_id=1) == "gone"
        assert aql.execute("execute_reminder", to="Ana") == "Ana is reminded"
        assert aql.result("get_old_order", {"order_id": 1}).warnings == aql.warnings
        assert list(aql.pages("list_orders", first=4)) == list(range(1, 11))
        assert [item.data for item in aql.batch([("get_order", {"order_id": 1})]).items] == [{"order_id": 1}]
        assert {one.name for one in aql.operations()} >= {"get_order", "introspect"}
        assert aql.operation("nonsense") is None
        assert {one.name for one in aql.types()} >= {"OperationResult"}
        assert aql.type("Nonsense") is None
        assert aql.protocol().mode == "semantic"
        assert aql.search("reminder")[0].name == "execute_reminder"
        aql.refresh()
        assert aql.oddities == ()
        with pytest.raises(NotFoundFailure):
            aql.call("get_order", order_id=999)


def test_pages_can_be_left_in_the_middle() -> None:
    with connect_sync(shop()) as aql:
        for number in aql.pages("list_orders", first=2):
            if number == 3:
                break
        assert number == 3


def test_a_halted_batch_goes_on() -> None:
    with connect_sync(shop()) as aql:
        batch = aql.batch([("delete_order", {"order_id": 1})])
        assert batch.halted_at is not None
        assert isinstance(batch.halted_at.error, ConfirmationRequired)
        assert [item.data for item in aql.continue_with(batch, batch.halted_at.error.token or "").items] == ["gone"]


def test_long_work_is_waited_for_and_cancelled() -> None:
    heard: list[tuple[object, ...]] = []
    with connect_sync(shop()) as aql:
        assert aql.run("execute_count", to=3, progress=lambda *far: heard.append(far)) == [0, 1, 2]
        run = aql.start("execute_forever")
        assert (run.status, run.state["execution_id"]) == ("pending", run.id)
        again = aql.execution(run.id)
        assert again.refresh()["execution_id"] == run.id
        run.cancel()
        with pytest.raises(ExecutionCancelled):
            again.wait()


def test_an_agent_is_supervised() -> None:
    with connect_sync(mcp_server(shop(), policy=FREE)) as aql, aql.supervised("clerk", task="Tidy up") as run:
        assert run.step(READING, outcome="success").goes_on
        assert run.resume().goes_on
        assert run.call("get_order", order_id=1) == {"order_id": 1}
        assert run.act(READING, lambda word: word, "read") == "read"
        with pytest.raises(Paused):
            run.act(RISKY, lambda: None)


@pytest.mark.anyio
async def test_it_works_where_an_event_loop_runs_already() -> None:
    with connect_sync(shop()) as aql:
        assert aql.read("get_order", order_id=1) == {"order_id": 1}


def test_a_client_whose_block_is_over_says_so() -> None:
    with connect_sync(shop()) as aql:
        pass
    with pytest.raises(ConnectionLost, match="its block is over"):
        aql.operations()
