"""The engine alone: one request in, one envelope out, no transport; and what others call so."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import orjson
from pydantic import ValidationError, validate_call

from benchmarks.aims import Aim
from benchmarks.books import ANSWER, ARGUMENTS, REQUEST, answer, get_book, library
from benchmarks.graphql import BOOK_QUERY, HAS_STRAWBERRY, book_schema, execute, quiet
from benchmarks.servers import fastmcp
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, repeat, take_turns
from headgate import Adapter, Engine, Limits, Session
from headgate.engine.encoding import encode
from headgate.engine.validation import validate
from headgate.protocol.requests import Request, decode
from headgate.protocol.results import Success

__all__ = ["beside_peers", "dispatch"]

_PLAIN: Final = "one request"
_BATCH: Final = 10

_HEADGATE: Final = "headgate"
_STRAWBERRY: Final = "strawberry"
_CACHED: Final = "strawberry, cached"
_FASTMCP: Final = "FastMCP"
_FLOOR: Final = "pydantic alone"
_PEERS: Final = (_STRAWBERRY, _CACHED, _FASTMCP, _FLOOR)
_MOST_OF_FASTMCP: Final = 0.4
_IN_A_ROW: Final = 10
_WRONG: Final[dict[str, object]] = {"isbn": 9780141439518, "copies": 2}


async def dispatch(rounds: int) -> tuple[Table, Timing]:
    """The table of the engine, and the timing of the plain dispatch."""
    calls = _calls()
    reply = await Engine(library).call(REQUEST, endpoint="read")
    if reply.text != ANSWER:
        raise RuntimeError(f"the engine answers {reply.text}")
    await take_turns(calls, rounds=2, calls=50)
    timings = await take_turns(calls, rounds=rounds, calls=50)
    whole = [(name, timing.median, timing.p95) for name, timing in timings.items()]
    plain = timings[_PLAIN]
    parts = list(_parts(rounds))
    rest = plain.median - sum(median for _, median, _ in parts)
    rows = (whole[0], *parts, ("- route, gate, turns, reply: the rest", rest, None), *whole[1:])
    return Table("Engine alone (µs)", ("", "median", "p95"), rows), plain


def _calls() -> dict[str, AsyncCall]:
    engine, heard = Engine(library), Engine(library, listeners=[lambda _event: None])
    session = Session()
    wrong = {"operation": "get_book", "params": {"isbn": 9780141439518, "copy": 2}}
    batch = {"operations": [REQUEST] * _BATCH}
    ask = partial(engine.call, endpoint="read", session=session)
    return {
        _PLAIN: lambda: ask(REQUEST),
        "one request, with a listener": lambda: heard.call(REQUEST, endpoint="read", session=session),
        "one refusal: a wrong type and an unknown name": lambda: ask(wrong),
        f"one batch of {_BATCH}": lambda: ask(batch),
        "one request to a function that is not async": _in_a_thread(session),
    }


def _in_a_thread(session: Session) -> AsyncCall:
    adapter = Adapter("shelf")

    @adapter.read(name="get_book")
    def get_book_blocking(isbn: str, copies: int = 1) -> dict[str, object]:
        """Get one book by its ISBN."""
        return {"isbn": isbn, "title": "Pride and Prejudice", "author": "Jane Austen", "copies": copies}

    engine = Engine(adapter)
    return lambda: engine.call(REQUEST, endpoint="read", session=session)


def _parts(blocks: int) -> Iterator[tuple[str, float, float]]:
    """The stages that stand alone as functions."""
    limits = Limits()
    operation = library.operations["get_book"]
    request = decode(REQUEST, limits)
    if not isinstance(request, Request):
        raise TypeError("one request, not a batch")
    data = _drive(get_book("9780141439518", 2))
    stages = {
        "- decode: limits, encoding, shape": lambda: decode(REQUEST, limits),
        "- validate: schema, defaults, types": lambda: validate(operation, request.params, limits, strict=True),
        "- run: the function itself": lambda: _drive(get_book("9780141439518", 2)),
        "- encode: the envelope as JSON": lambda: encode(Success(data).wire()),
    }
    for name, stage in stages.items():
        timing = repeat(stage, blocks=blocks)
        yield name, timing.median, timing.p95


def _drive(coroutine: Coroutine[Any, Any, object]) -> object:
    """Run a coroutine that awaits nothing, without a loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the coroutine waits")


# beside peers


async def beside_peers(rounds: int) -> tuple[Table, list[Aim]]:
    """The same call, and the same refusal, as others make them in process."""
    answered = await _raced(await _checked(ARGUMENTS, lambda text: text == ANSWER), rounds)
    refused = await _raced(await _checked(_WRONG, lambda text: "isbn" in text and ANSWER not in text), rounds)
    rows = (_beside("one call, answered", answered), _beside("one call, refused: a wrong type", refused))
    columns = ("", "headgate (µs)", *(f"/ {name}" for name in _PEERS))
    aims = [
        Aim(f"dispatch, {what}: {_HEADGATE} / {_FASTMCP}", one[_HEADGATE].against(one[_FASTMCP]), _MOST_OF_FASTMCP)
        for what, one in (("answered", answered), ("refused", refused))
        if _FASTMCP in one
    ]
    return Table("Dispatch beside peers: one call in process", columns, rows), aims


async def _raced(calls: Mapping[str, AsyncCall], rounds: int) -> dict[str, Timing]:
    """Some calls of each in a row: none of them finds the processor's caches full of another's."""
    await take_turns(calls, rounds=2, calls=_IN_A_ROW)
    return await take_turns(calls, rounds=rounds, calls=_IN_A_ROW)


def _beside(what: str, timings: Mapping[str, Timing]) -> tuple[Cell, ...]:
    ours = timings[_HEADGATE]
    return what, ours.median, *(ours.against(timings[name]) if name in timings else None for name in _PEERS)


async def _checked(arguments: dict[str, object], is_right: Callable[[str], bool]) -> dict[str, AsyncCall]:
    """Each contender's call, after one that proves that it answers as it should."""
    contenders = _contenders(arguments)
    quiet()
    for name, call in contenders.items():
        text = await call()
        if not is_right(text):
            raise RuntimeError(f"{name} answers {text}")
    return dict(contenders)


def _contenders(arguments: dict[str, object]) -> dict[str, Callable[[], Coroutine[Any, Any, str]]]:
    """A call gives JSON text, or the words of the refusal."""
    engine, session = Engine(library), Session()
    request = {**REQUEST, "params": arguments}
    checked = validate_call(answer)

    async def ours() -> str:
        return (await engine.call(request, endpoint="read", session=session)).text

    async def alone() -> str:
        try:
            return await checked(**arguments)  # type: ignore[arg-type]  # one of them is wrong on purpose
        except ValidationError as wrong:
            return _told(wrong)

    calls = {_HEADGATE: ours, _FLOOR: alone}
    if HAS_STRAWBERRY:
        plain, cached = book_schema(cached=False), book_schema(cached=True)
        calls[_STRAWBERRY] = lambda: execute(plain, BOOK_QUERY, arguments)
        calls[_CACHED] = lambda: execute(cached, BOOK_QUERY, arguments)
    if find_spec("fastmcp") is not None:
        calls[_FASTMCP] = partial(_call_tool, fastmcp(), arguments)
    return calls


async def _call_tool(server: Any, arguments: dict[str, object]) -> str:
    """What FastMCP calls a tool with when there is no client; a refusal is raised."""
    try:
        text: str = (await server.call_tool("get_book", arguments)).content[0].text
    except import_module("fastmcp.exceptions").ValidationError as wrong:
        return _told(wrong)
    return text


def _told(wrong: Exception) -> str:
    return orjson.dumps({"success": False, "error": str(wrong)}).decode()
