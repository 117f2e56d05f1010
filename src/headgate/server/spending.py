"""What a model reads and writes to get something done, in tokens: with one tool an operation, and behind headgate."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, islice
from typing import Any, Final

import orjson

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Session
from headgate.adapter.examples import examples_of
from headgate.adapter.introspecting import COMPACT, INTROSPECT
from headgate.adapter.operations import Operation
from headgate.protocol.profiles import Mode
from headgate.server.binding import McpServer
from headgate.server.costs import discrete_tool
from headgate.server.counting import Counter, compact
from headgate.server.settings import Settings

__all__ = ["DISCRETE", "Bill", "Spending", "Task", "bill_of"]

DISCRETE: Final = "discrete"
_MODES: Final = (Mode.SEMANTIC, Mode.SINGLE)
_SESSION_ID: Final = "sess_Zk3vQ8xW1nT5yB7c"
"""Introspection names the session, and a random one would not always cost the same."""
_ENVELOPE: Final = '{"success":true,"data":}'


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be done: words to search for, and the operations to be described and called."""

    words: str
    called: tuple[str, ...]
    may_be_confirmed: bool = False
    """Whether a call may have to be confirmed, which costs one more turn that is not counted."""
    is_followed: bool = False
    """Whether a call starts work that goes on after it, and is followed by calls that are not counted."""

    @property
    def described(self) -> list[str]:
        """The operations that are called, each once: they are described in one answer."""
        return list(dict.fromkeys(self.called))


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens of one way to serve. Discovery is nothing to discrete tools, which are all there from the beginning.

    ``steps`` are the texts of a task in their order, each a request with its answer; of the answers of calls, which are
    the same whatever the way, only what is put around them.
    """

    way: str
    tools: int
    listed: int
    every: int = 0
    """Listing all operations."""
    steps: tuple[int, ...] = ()
    discovery: int = 0
    """How many of the steps only find out what to call."""

    @property
    def task(self) -> int:
        """The whole task, each text once, as with a prompt cache."""
        return self.listed + sum(self.steps)

    @property
    def every_turn(self) -> int:
        """The whole task where every turn reads everything again: once a step, and once to say that it is done."""
        return sum(accumulate(self.steps, initial=self.listed))

    @property
    def search(self) -> int:
        """Finding operations by words."""
        return self.steps[0] if self.discovery else 0

    @property
    def detail(self) -> int:
        """Having the operations described that are called."""
        return self.steps[1] if self.discovery else 0

    @property
    def calls(self) -> int:
        """The calls, without what they need before them."""
        return sum(self.steps[self.discovery :])

    @property
    def before_calls(self) -> int:
        """All that is read and written before the first call."""
        return self.task - self.calls


@dataclass(frozen=True, slots=True)
class Bill:
    """What a source costs in each way."""

    operations: int
    is_exact: bool
    task: Task | None
    """None where there is nothing to call."""
    discrete: Spending
    semantic: Spending
    single: Spending

    @property
    def served(self) -> tuple[Spending, ...]:
        """The ways behind headgate."""
        return (self.semantic, self.single)

    @property
    def ways(self) -> tuple[Spending, ...]:
        """All of them, discrete tools first."""
        return (self.discrete, *self.served)


async def bill_of(
    adapter: Adapter,
    counter: Counter,
    *,
    calls: int,
    own_tools: Sequence[Mapping[str, Any]] | None = None,
    **settings: Any,
) -> Bill:
    """What an adapter costs. Only introspection is asked; no operation of the adapter is called.

    ``own_tools`` are those of the server that it wraps; else every operation is a tool of its own. Settings as in
    ``Settings``, but for the mode.
    """
    servers = {mode: McpServer(adapter, Settings.of(mode=mode, **settings)) for mode in _MODES}
    try:
        task = await _task(servers[Mode.SINGLE], calls)
        tools = [discrete_tool(one) for one in adapter.operations.values()] if own_tools is None else own_tools
        discrete = _discrete(adapter, tools, task, counter)
        served = {mode: await _served(mode, server, task, counter) for mode, server in servers.items()}
        return Bill(
            len(adapter.operations), counter.is_exact, task, discrete, served[Mode.SEMANTIC], served[Mode.SINGLE]
        )
    finally:
        for server in servers.values():
            await server.close()
            await server.store.close()


async def _task(server: McpServer, calls: int) -> Task | None:
    """A task that is typical: it turns on the operation of median size, and on what is found together with it.

    Of operations that are done with one call, where there are any: what a confirmation costs, or following long work,
    depends on more than the source.
    """
    adapter = server.engine.adapter
    plain = {name: one for name, one in adapter.operations.items() if not (_may_ask(server, one) or one.background)}
    operations = plain or adapter.operations
    if not operations:
        return None
    typical = _typical(list(operations.values()))
    words = typical.name.replace("_", " ")
    answer = orjson.loads(await _answer(server, _introspect(query="search", name=words)))
    names = (one["name"] for one in (answer.get("data") or {}).get("operations", ()))
    found = dict.fromkeys([typical.name, *(name for name in names if name in operations)])
    called = tuple(islice(cycle(found), calls))
    meant = [operations[name] for name in dict.fromkeys(called)]
    return Task(words, called, any(_may_ask(server, one) for one in meant), any(one.background for one in meant))


def _may_ask(server: McpServer, operation: Operation) -> bool:
    gatekeeper = server.engine.gatekeeper
    return gatekeeper is not None and gatekeeper.may_ask(operation.name)


def _typical(operations: Sequence[Operation]) -> Operation:
    sizes = {one.name: len(compact(discrete_tool(one))) for one in operations}
    middle = statistics.median_low(sizes.values())
    return next(one for one in operations if sizes[one.name] == middle)


def _discrete(adapter: Adapter, tools: Sequence[Mapping[str, Any]], task: Task | None, counter: Counter) -> Spending:
    called = [adapter.operations[name] for name in task.called] if task else []
    steps = tuple(counter.of(_tool_call(_own_name(one), _example(one))) for one in called)
    return Spending(DISCRETE, len(tools), counter.of_tools(tools), steps=steps)


async def _served(mode: Mode, server: McpServer, task: Task | None, counter: Counter) -> Spending:
    tools = server.listed_tools
    steps: list[int] = []
    if task:
        steps = [await _asked(server, one, counter) for one in (_search(task.words), _describe(task.described))]
        steps += [_called(server, server.engine.adapter.operations[name], counter) for name in task.called]
    every = await _asked(server, _introspect(query="operations", format=COMPACT), counter)
    return Spending(mode.value, len(tools), counter.of_tools(tools), every, tuple(steps), 2 if task else 0)


def _introspect(**params: object) -> dict[str, object]:
    return {"operation": INTROSPECT, "params": params}


def _search(words: str) -> dict[str, object]:
    return _introspect(query="search", name=words, format=COMPACT)


def _describe(names: Sequence[str]) -> dict[str, object]:
    return _introspect(query="operations", names=list(names), format=COMPACT)


async def _asked(server: McpServer, request: Mapping[str, object], counter: Counter) -> int:
    """A question to introspection and its real answer; whoever lists everything reads all of its pages."""
    tool = server.engine.options.exposure.tool_of(server.engine.introspector.operations[INTROSPECT])
    cost = 0
    for asked, answer in await _pages(server, dict(request)):
        cost += counter.of(_tool_call(tool, asked)) + counter.of_text(answer)
    return cost


async def _pages(server: McpServer, request: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    pages: list[tuple[dict[str, Any], str]] = []
    asked, missing = request, True
    while missing:
        answer = await _answer(server, asked)
        pages.append((asked, answer))
        after = orjson.loads(answer).get("data", {}).get("page", {}).get("after")
        missing = after is not None
        asked = {**request, "params": {**request["params"], "after": after}}
    return pages


async def _answer(server: McpServer, request: Mapping[str, object]) -> str:
    return (await server.engine.call(dict(request), session=Session(_SESSION_ID))).text


def _called(server: McpServer, operation: Operation, counter: Counter) -> int:
    """A call, and what is put around its answer."""
    request = {"operation": operation.name, "params": _example(operation)}
    tool = server.engine.options.exposure.tool_of(operation)
    return counter.of(_tool_call(tool, request)) + counter.of_text(_ENVELOPE)


def _tool_call(tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """What a model writes to call a tool."""
    return {"name": tool, "arguments": arguments}


def _own_name(operation: Operation) -> str:
    return operation.origin.own_name if operation.origin else operation.name


def _example(operation: Operation) -> Mapping[str, object]:
    examples = examples_of(operation)
    return examples[0].params if examples else {}
