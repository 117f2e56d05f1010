"""What a task costs a model: as discrete tools, in semantic mode and as a single tool."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from headgate import Adapter, Category, Operation, Parameter, mcp_server
from headgate.protocol.tokens import estimate
from headgate.server.costs import discrete_tool
from headgate.server.counting import Counter, exact_counter, installed_counter
from headgate.server.spending import Bill, Spending, bill_of
from tests.server.github import github, many

pytestmark = pytest.mark.anyio

COUNTER = exact_counter()
LETTERS = Counter(len, is_exact=False)
"""Counts letters, so that what is counted can be seen."""


async def billed(adapter: Adapter, calls: int = 3, counter: Counter = COUNTER, **more: Any) -> Bill:
    return await bill_of(adapter, counter, calls=calls, **more)


async def nothing(**_params: object) -> None:
    raise AssertionError("no operation may be called")


def forbidden(**words: str) -> Adapter:
    """An adapter that fails as soon as anything of it is called."""
    adapter = Adapter("forbidden")
    for name, summary in words.items():
        parameter = Parameter("key", {"type": "string", "examples": ["abc"]})
        adapter.add(Operation(name, Category.READ, nothing, (parameter,), summary))
    return adapter


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


async def text_of(client: Client, operation: str, params: dict[str, Any]) -> str:
    answer = await client.call_tool("mcp_aql", {"operation": operation, "params": params})
    return str(getattr(answer.content[0], "text", ""))


async def test_a_task_is_what_really_crosses() -> None:
    """Every text is asked for again here, over MCP, and counted letter by letter."""
    adapter = forbidden(get_book="Get a book", get_loan="Get a loan", get_x="Get")
    bill = await billed(adapter, calls=2, counter=LETTERS)
    task = bill.task
    assert task is not None
    search = {"query": "search", "name": task.words, "format": "compact"}
    describe = {"query": "operations", "names": list(dict.fromkeys(task.called)), "format": "compact"}
    async with Client(mcp_server(adapter, mode="single")) as client:
        listed = (await client.list_tools()).tools
        asked = [("introspect", params, await text_of(client, "introspect", params)) for params in (search, describe)]
        asked += [(name, {"key": "abc"}, '{"success":true,"data":}') for name in task.called]
    texts = [
        compact({"name": "mcp_aql", "arguments": {"operation": name, "params": params}}) + answer
        for name, params, answer in asked
    ]
    tools = compact([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed])
    assert bill.single.listed == len(tools)
    assert bill.single.steps == tuple(map(len, texts))
    assert bill.single.task == len(tools) + sum(map(len, texts))


async def test_a_discrete_task_is_the_tools_and_the_calls() -> None:
    adapter = forbidden(get_book="Get a book", get_loan="Get a loan")
    bill = await billed(adapter, calls=3, counter=LETTERS)
    assert bill.task is not None
    calls = [compact({"name": name, "arguments": {"key": "abc"}}) for name in bill.task.called]
    tools = compact([discrete_tool(one) for one in adapter.operations.values()])
    assert bill.discrete == Spending("discrete", 2, len(tools), steps=tuple(map(len, calls)))


async def test_a_task_turns_on_the_operation_of_median_size_and_on_what_is_found_with_it() -> None:
    bill = await billed(forbidden(get_a="A", get_tall_tree="A tall tree", get_tree="A tree", get_b="B" * 900), calls=2)
    assert bill.task is not None
    assert (bill.task.words, bill.task.called) == ("get tree", ("get_tree", "get_tall_tree"))


async def test_a_task_is_of_operations_that_are_done_with_one_call_where_there_are_any() -> None:
    adapter = forbidden(get_book="Get a book")
    for name in ("delete_book", "delete_loan", "delete_shelf"):
        adapter.add(Operation(name, Category.DELETE, nothing, (), "Delete a book"))
    bill = await billed(adapter)
    assert bill.task is not None
    assert bill.task.described == ["get_book"]
    assert not bill.task.may_be_confirmed


async def test_where_all_calls_may_be_confirmed_the_task_says_so() -> None:
    adapter = Adapter("destroying")
    adapter.add(Operation("delete_book", Category.DELETE, nothing, (), "Delete a book"))
    bill = await billed(adapter)
    assert bill.task is not None
    assert (bill.task.may_be_confirmed, bill.task.is_followed) == (True, False)


async def test_where_less_is_found_than_is_called_the_same_is_called_again() -> None:
    bill = await billed(forbidden(get_book="Get a book"), calls=3)
    assert bill.task is not None
    assert bill.task.called == ("get_book",) * 3


async def test_large_sources_are_cheaper_behind_headgate_and_small_ones_are_not() -> None:
    large, small = await billed(github()), await billed(forbidden(get_book="Get a book"))
    assert large.single.task < large.semantic.task < large.discrete.task
    assert small.discrete.task < small.single.task


async def test_what_a_server_lists_itself_is_counted_as_it_lists_it() -> None:
    tools = [{"name": "getBook", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}]
    bill = await billed(forbidden(get_book="Get a book"), counter=LETTERS, own_tools=tools)
    assert (bill.discrete.tools, bill.discrete.listed) == (1, len(compact(tools)))


async def test_all_pages_of_a_long_list_are_read() -> None:
    adapter = many(1200)
    bill = await billed(adapter, counter=LETTERS)
    assert bill.single.every > sum(len(name) for name in adapter.operations)
    async with Client(mcp_server(adapter, mode="single")) as client:
        params: dict[str, Any] = {"query": "operations", "format": "compact"}
        pages = [await text_of(client, "introspect", params)]
        for _ in range(2):
            after = json.loads(pages[-1])["data"]["page"]["after"]
            pages.append(await text_of(client, "introspect", {**params, "after": after}))
    assert json.loads(pages[-1])["data"]["operations"], "there are three pages"
    requests = 3 * len(compact({"name": "mcp_aql", "arguments": {"operation": "introspect", "params": params}}))
    assert bill.single.every >= sum(map(len, pages)) + requests


async def test_the_same_source_always_costs_the_same() -> None:
    assert await billed(github()) == await billed(github())


async def test_settings_that_change_the_tools_change_what_they_cost() -> None:
    assert (await billed(github(), index_tokens=50)).semantic.listed < (await billed(github())).semantic.listed


async def test_a_source_without_operations_has_no_task() -> None:
    bill = await billed(Adapter("empty"))
    assert (bill.task, bill.operations, bill.discrete.tools, bill.discrete.steps) == (None, 0, 0, ())
    assert bill.single.task == bill.single.listed
    assert (bill.single.search, bill.single.detail, bill.single.calls) == (0, 0, 0)


async def test_an_operation_without_an_example_is_called_with_nothing() -> None:
    adapter = Adapter("odd")
    never = Parameter("key", {"type": "string", "pattern": "^a$", "minLength": 2})
    adapter.add(Operation("get_odd", Category.READ, nothing, (never,), "Get what cannot be"))
    bill = await billed(adapter, calls=1, counter=LETTERS)
    assert bill.discrete.steps == (len(compact({"name": "get_odd", "arguments": {}})),)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), max_size=20))
def test_without_a_cache_every_turn_reads_all_before_it(listed: int, steps: list[int]) -> None:
    spending = Spending("single", 1, listed, steps=tuple(steps))
    turns = [listed + sum(steps[:turn]) for turn in range(len(steps) + 1)]
    assert spending.every_turn == sum(turns)
    assert spending.task == turns[-1]


def test_the_parts_of_a_task_add_up() -> None:
    spending = Spending("single", 1, 100, 999, (10, 20, 3, 4), 2)
    assert (spending.search, spending.detail, spending.calls, spending.before_calls) == (10, 20, 7, 130)
    assert spending.before_calls + spending.calls == spending.task


def test_a_discrete_tool_brings_the_schemas_that_its_parameters_need_and_no_others() -> None:
    operation = Operation(
        "get_book",
        Category.READ,
        nothing,
        (Parameter("key", {"anyOf": [{"$ref": "#/$defs/Key"}, {"type": "null"}]}),),
        "Get a book",
        definitions={
            "Key": {
                "type": "object",
                "properties": {"more": {"$ref": "#/$defs/Key"}, "kind": {"$ref": "#/$defs/Kind"}},
            },
            "Kind": {"type": "string"},
            "Book": {"type": "object"},
        },
        returns={"$ref": "#/$defs/Book"},
    )
    assert set(discrete_tool(operation)["inputSchema"]["$defs"]) == {"Key", "Kind"}


def test_o200k_is_counted_as_its_makers_do() -> None:
    """From the vocabulary: two words with the space before the second; a mark of the end is plain text here."""
    assert COUNTER.of_text("hello world") == 2
    assert COUNTER.of_text("<|endoftext|>") > 1
    assert COUNTER.is_exact


def test_without_the_extra_the_estimate_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "bpe_openai", None)
    counter = installed_counter()
    assert not counter.is_exact
    assert counter.of({"a": "hello world"}) == estimate('{"a":"hello world"}')
    with pytest.raises(ImportError):
        exact_counter()


def test_with_the_extra_counts_are_exact() -> None:
    assert installed_counter().is_exact
