"""Results of any size: cut into pieces that a database holds with ease, and read by page."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from headgate.executions.values import Outcome
from headgate.protocol.errors import AqlError
from headgate.protocol.results import Notice
from headgate.store import executions as rows
from headgate.store.executions import Execution, Piece
from headgate.store.interface import Store

__all__ = ["LARGEST", "PAGE", "Cut", "Page", "cut", "read_page"]

LARGEST: Final = 256 * 1024 * 1024
"""Characters of JSON that a result may have."""

PAGE: Final = 128 * 1024
"""Characters of JSON that a piece or a page has at most: however they are written, the smallest limit holds them."""


class Cut(NamedTuple):
    """A result in pieces, and what it looks like as a whole."""

    pieces: list[Piece]
    outcome: Outcome


class Page(NamedTuple):
    """Some of a result: items or a value as JSON, or a part of a text that is JSON when it is whole."""

    content: str
    is_text: bool = False
    start: int = 0
    returned: int = 0
    total: int = 0

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.returned == self.total


def cut(data: Any, encode: Callable[[object], bytes], warnings: tuple[Notice, ...] = ()) -> Cut:
    """A result in pieces. A list is cut between its items, all else as one JSON text. An AqlError if too large."""
    if type(data) in (list, tuple):
        items = [encode(item).decode() for item in data]
        if all(len(item) <= PAGE for item in items):
            made = list(_grouped(items))
            size = sum(len(piece.content) for piece in made)
            return _checked(Cut(made, Outcome(size=size, pieces=len(made), items=len(items), warnings=warnings)))
    text = encode(data).decode()
    made = [Piece(at, text[at : at + PAGE]) for at in range(0, len(text), PAGE)]
    return _checked(Cut(made, Outcome(size=len(text), pieces=len(made), warnings=warnings)))


def _checked(made: Cut) -> Cut:
    if made.outcome.size > LARGEST:
        raise AqlError(
            "VALIDATION_PAYLOAD_TOO_LARGE",
            f"The result has {made.outcome.size} characters of JSON, and {LARGEST} are kept",
            {
                "limit_type": "result_size",
                "limit_value": LARGEST,
                "actual_value": made.outcome.size,
                "unit": "characters",
            },
        )
    return made


def _grouped(items: Iterable[str]) -> Iterator[Piece]:
    """Items joined by commas, as many as a piece holds."""
    first, held, size = 0, list[str](), 0
    for number, item in enumerate(items):
        if held and size + len(item) > PAGE:
            yield Piece(first, ",".join(held))
            first, held, size = number, [], 0
        held.append(item)
        size += len(item) + 1
    if held:
        yield Piece(first, ",".join(held))


async def read_page(store: Store, execution: Execution, after: int, first: int) -> Page:
    """What stands in a result after so many items, or characters of its text."""
    outcome = Outcome.read(execution.outcome or "")
    if outcome.items is not None:
        return await _items(store, execution.id, outcome.items, after, first)
    if outcome.pieces <= 1:
        [piece] = await _pieces(store, execution.id, 0, 0)
        return Page(piece.content)
    number = after // PAGE
    [piece] = await _pieces(store, execution.id, number, number)
    content = piece.content[after - number * PAGE :]
    return Page(content, True, after, len(content), outcome.size)


async def _items(store: Store, execution_id: str, total: int, after: int, first: int) -> Page:
    """As many items as were asked for, and fit."""
    number = await store.transact(lambda transaction: rows.piece_with(transaction, execution_id, after), writes=False)
    taken: list[str] = []
    size = 0
    while len(taken) < first and after + len(taken) < total and size < PAGE:
        [piece] = await _pieces(store, execution_id, number, number)
        skipped = max(0, after + len(taken) - piece.first)
        for item in _split(piece.content)[skipped : skipped + first - len(taken)]:
            if taken and size + len(item) > PAGE:
                return _page(taken, after, total)
            taken.append(item)
            size += len(item)
        number += 1
    return _page(taken, after, total)


def _page(taken: Sequence[str], after: int, total: int) -> Page:
    return Page(f"[{','.join(taken)}]", False, after, len(taken), total)


def _split(content: str) -> list[str]:
    """The items of a piece, each as JSON."""
    return [orjson.dumps(item).decode() for item in orjson.loads(f"[{content}]")]


async def _pieces(store: Store, execution_id: str, low: int, high: int) -> list[Piece]:
    return await store.transact(lambda transaction: rows.pieces(transaction, execution_id, low, high), writes=False)
