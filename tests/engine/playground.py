"""An adapter with parameters of every kind, and requests that it accepts: the ground that any request is tried on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import typing_extensions
from pydantic import BaseModel, Field, field_validator

from headgate import Adapter, Binary, Context, Denied, Deprecated, NotFound, Param, Patch

__all__ = ["REQUESTS", "playground"]


class Genre(StrEnum):
    NOVEL = "novel"
    POEM = "poem"


class Author(BaseModel):
    name: Annotated[str, Param(min_length=1, max_length=50)]
    born: date | None = None
    mentor: Optional["Author"] = None


class Book(BaseModel):
    book_id: Annotated[str, Param(read_only=True)] = ""
    title: str
    author: Author | None = None
    genre: Genre = Genre.NOVEL
    price: Annotated[Decimal, Field(ge=0, lt=10_000)] = Decimal(0)
    tags: list[Annotated[str, Param(max_length=20)]] = []
    notes: dict[str, int] = {}
    cover: bytes = b""

    @field_validator("title")
    @classmethod
    def _check(cls, title: str) -> str:
        if title.startswith("!"):
            raise ValueError("internal words about titles")
        return title


class Card(BaseModel):
    kind: Literal["card"]
    number: Annotated[str, Param(pattern="^[0-9]{4}$", sensitive=True)]


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: Annotated[float, Param(minimum=0)]


@dataclass
class Point:
    x: float
    y: float = 0.0


class Options(typing_extensions.TypedDict, total=False):
    depth: typing_extensions.Required[int]
    names: list[str]


Numbers = typing_extensions.TypeAliasType("Numbers", "list[Numbers] | int")
SHELF = Book(title="Dune", author=Author(name="Frank"), notes={"a": 1}, tags=["sand"])


def playground() -> Adapter:  # noqa: C901  (a list of operations, not a way through them)
    """The adapter. Some of its handlers break on purpose, with words that nobody may see."""
    adapter = Adapter("playground", "Everything in one place")

    @adapter.read
    async def get_scalars(
        text: str,
        number: float = 0.5,
        whole: Annotated[int, Param(minimum=-5, maximum=10**18)] = 1,
        flag: bool = False,
        nothing: None = None,
        genre: Genre | None = None,
        size: Literal["Not Small", 1, True] = 1,
    ) -> list[object]:
        """Get scalars back.

        Args:
            text: What the text is at first sight.
        """
        return [text, number, whole, flag, nothing, genre, size]

    @adapter.read
    async def list_moments(
        when: datetime, day: date | None = None, key: UUID | None = None, price: Decimal = Decimal(1)
    ) -> dict[str, object]:
        """List moments."""
        return {"when": when, "day": day, "key": key, "price": price}

    @adapter.create
    async def create_book(book: Book, copies: Annotated[int, Field(gt=0, le=100)] = 1) -> Book:
        """Add a book."""
        if copies == 13:
            raise RuntimeError(f"/srv/library/books.py: {book!r}")
        return book

    @adapter.update
    async def update_book(book_id: str, input: Patch[Book], if_match: str | None = None) -> Book:  # noqa: A002
        """Change a book."""
        if book_id == "none":
            raise NotFound("book", book_id)
        return input.apply(SHELF)

    @adapter.update
    async def update_settings(input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002
        """Change the settings."""
        return input

    @adapter.delete
    async def delete_book(book_id: int, force: Annotated[bool, Param(deprecated=Deprecated("gone"))] = False) -> int:
        """Remove a book."""
        return book_id

    @adapter.execute
    def execute_payment(payment: Card | Cash, secret: Annotated[str, Param(sensitive=True)] = "") -> str:
        """Pay."""
        if isinstance(payment, Card):
            raise Denied(f"the card {payment.number} and {secret} are refused")
        raise KeyError(f"{payment!r} {secret}")

    @adapter.create
    async def create_file(file_content: Binary, thumb: bytes | None = None) -> dict[str, object]:
        """Keep a file."""
        return {"file_content": file_content, "thumb": thumb}

    @adapter.read
    async def search_shapes(
        ctx: Context,
        points: list[Point],
        options: Options | None = None,
        numbers: Numbers = 0,
        scores: Mapping[str, int] | None = None,
        pair: tuple[int, str] = (1, "a"),
        unique: set[int] = frozenset(),  # type: ignore[assignment]
        anything: Any = None,
    ) -> list[object]:
        """Search shapes."""
        ctx.warn("SHAPES_WARNING", "Only some shapes were searched")
        return [points, options, numbers, scores, pair, unique, anything]

    return adapter


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("get_scalars", {"text": "a", "number": 1, "whole": "123456789012345678", "genre": "poem", "size": "Not Small"}),
    ("get_scalars", {"text": "", "flag": True, "nothing": None}),
    (
        "list_moments",
        {
            "when": "2026-02-04T10:30:00Z",
            "day": "2026-02-04",
            "key": "123e4567-e89b-12d3-a456-426614174000",
            "price": "12.50",
        },
    ),
    (
        "create_book",
        {"book": {"title": "T", "author": {"name": "A", "mentor": {"name": "B"}}, "cover": "AAE=", "notes": {"n": 1}}},
    ),
    ("create_book", {"book": {"title": "T"}, "copies": 13}),
    ("update_book", {"book_id": "b1", "input": {"title": "U", "author": {"born": None}, "notes": {"a": None, "b": 2}}}),
    ("update_book", {"book_id": "none", "input": {}}),
    ("update_settings", {"input": {"theme": {"dark": True}}}),
    ("delete_book", {"book_id": 7, "force": True}),
    ("execute_payment", {"payment": {"kind": "card", "number": "1234"}, "secret": "K3Y-hunter"}),
    ("execute_payment", {"payment": {"kind": "cash", "amount": 5}}),
    ("create_file", {"file_content": "SGVsbG8=", "file_mime_type": "text/plain", "thumb": "AAE="}),
    (
        "search_shapes",
        {
            "points": [{"x": 1}, {"x": 2, "y": 3.5}],
            "options": {"depth": 1, "names": ["n"]},
            "numbers": [1, [2, []]],
            "scores": {"a": 1},
            "pair": [1, "b"],
            "unique": [1, 2],
            "anything": {"k": [None]},
        },
    ),
    ("introspect", {"query": "operations"}),
    ("introspect", {"query": "operations", "name": "create_book"}),
    ("introspect", {"query": "types", "name": "Book"}),
    ("introspect", {"query": "search", "name": "book", "first": 3}),
    ("introspect", {"query": "errors"}),
    ("introspect", {"query": "adapter_info"}),
]
"""Requests that reach a handler, to be sent as they are and spoilt in every way."""
