"""Batches: each request has its own end, halts are told, and what is confirmed goes on."""

from typing import Any

import pytest

from headgate import connect, mcp_server
from headgate.client.batches import Wanted, batch_of
from headgate.client.errors import AqlFailure, ConfirmationRequired, NotFoundFailure, ValidationFailure
from headgate.client.questions import Question
from headgate.client.requests import Request
from tests.client.shops import Toy, details, shop

pytestmark = pytest.mark.anyio

ORDERS: list[Wanted] = [
    ("get_order", {"order_id": 1}),
    ("delete_order", {"order_id": 2}),
    ("get_order", {"order_id": 3}),
]


@pytest.mark.parametrize("mode", ["single", "semantic", "all"])
async def test_each_request_has_its_own_result_and_nothing_is_raised(mode: str) -> None:
    wanted: list[Wanted] = [
        ("get_order", {"order_id": 1}),
        {"operation": "get_order", "params": {"order_id": 999}},
        ("create_note", {"text": "hi"}),
        "list_orders",
    ]
    async with connect(mcp_server(shop(), mode=mode)) as aql:
        batch = await aql.batch(wanted)
    assert [item.index for item in batch] == [0, 1, 2, 3]
    assert (len(batch), batch[2].data) == (4, "a note of hi")
    assert (batch.succeeded, batch.failed, batch.halted_at, batch.pending) == (3, 1, None, ())
    assert [item.data for item in batch.items if item.ok][:2] == [{"order_id": 1}, "a note of hi"]
    with pytest.raises(NotFoundFailure):
        _ = batch.items[1].data


@pytest.mark.parametrize("mode", ["single", "semantic"])
async def test_a_batch_halts_where_something_must_be_confirmed_and_goes_on_with_its_token(mode: str) -> None:
    done: list[str] = []
    async with connect(mcp_server(shop(done), mode=mode)) as aql:
        batch = await aql.batch(ORDERS)
        assert [item.data for item in batch.items] == [{"order_id": 1}]
        assert batch.halted_at is not None
        failure = batch.halted_at.error
        assert isinstance(failure, ConfirmationRequired)
        assert (batch.halted_at.index, [one.operation for one in batch.pending]) == (1, ["get_order"])
        assert done == []
        whole = await aql.continue_with(batch, failure.token or "")
        assert await aql.continue_with(whole, "conf_of_nothing") is whole
    assert done == ["delete 2"]
    assert [item.data for item in whole.items] == [{"order_id": 1}, "gone", {"order_id": 3}]
    assert [item.index for item in whole.items] == [0, 1, 2]


@pytest.mark.parametrize("mode", ["single", "semantic"])
@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_somebody_who_can_be_asked_is_asked_and_the_batch_goes_on(mode: str, era: Any) -> None:
    done: list[str] = []
    asked: list[Question] = []

    def agree(question: Question) -> bool:
        asked.append(question)
        return True

    async with connect(mcp_server(shop(done), mode=mode), confirm=agree, era=era) as aql:
        batch = await aql.batch(ORDERS)
    assert (len(asked), done) == (1, ["delete 2"])
    assert [item.data for item in batch.items] == [{"order_id": 1}, "gone", {"order_id": 3}]


async def test_what_is_not_confirmed_is_not_done() -> None:
    done: list[str] = []
    toy = mcp_server(shop(done), mode="single")
    async with connect(toy, confirm=lambda _question: False) as aql:
        batch = await aql.batch(ORDERS)
    assert done == []
    assert not batch.items[1].ok


async def test_a_transaction_goes_to_one_tool() -> None:
    toy = Toy(
        [details("get_x"), details("delete_x", "DELETE")], {"batch": lambda arguments: {"results": [], **arguments}}
    )
    async with connect(toy.server("mcp_aql_read", "mcp_aql_delete")) as aql:
        with pytest.raises(ValidationFailure, match="belong to several") as failed:
            await aql.batch(["get_x", "delete_x"], transaction=True)
        assert not failed.value.sent
        await aql.batch(["get_x", "get_x"], transaction=True)
    assert toy.sent[-1]["transaction"] is True


async def test_a_batch_that_is_refused_as_a_whole_is_raised() -> None:
    error = {"success": False, "error": {"code": "VALIDATION_INVALID_TYPE", "message": "no batches here"}}
    async with connect(Toy([details("get_x")], {"batch": lambda _arguments: error}).server()) as aql:
        with pytest.raises(ValidationFailure, match="no batches here"):
            await aql.batch(["get_x"])


async def test_nothing_is_a_batch_without_a_request() -> None:
    toy = Toy([], {})
    async with connect(toy.server()) as aql:
        assert (await aql.batch([])).items == ()
    assert toy.requests == []


X, Y = Request("x"), Request("y")


def test_a_result_that_is_missing_or_of_another_form_is_a_failure_of_its_own() -> None:
    batch = batch_of({"success": True, "results": [{"index": 1, "result": "what?"}]}, [X, Y])
    assert [(item.request, type(item.error)) for item in batch.items] == [(X, AqlFailure), (Y, AqlFailure)]


def test_results_without_an_index_are_taken_in_their_order() -> None:
    told = [{"result": {"success": True, "data": 1}}, {"success": True, "data": 2}]
    assert [item.data for item in batch_of({"results": told}, [X, Y]).items] == [1, 2]


def test_a_halt_without_an_index_is_one_of_the_first() -> None:
    batch = batch_of({"results": [], "halted_at": {"operation": "x"}}, [X, Y])
    assert (batch.items, batch.pending) == ((), (Y,))
    assert batch.halted_at is not None
    assert not batch.halted_at.ok
