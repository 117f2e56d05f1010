"""The engine alone: one request in, one envelope out, no transport."""

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any, Final

from benchmarks.books import ANSWER, REQUEST, get_book, library
from benchmarks.tables import Table
from benchmarks.timing import AsyncCall, Timing, repeat, take_turns
from headgate import Adapter, Engine, Limits, Session
from headgate.engine.encoding import encode
from headgate.engine.validation import validate
from headgate.protocol.requests import Request, decode
from headgate.protocol.results import Success

__all__ = ["dispatch"]

_PLAIN: Final = "one request"
_BATCH: Final = 10


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
