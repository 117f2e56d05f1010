"""A library of authors, books and loans as collections, in the forms that an author may keep them in."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from headgate import Adapter, Engine
from headgate.query.collections import Computed, Relationship
from headgate.query.kinds import Kind
from tests.engine.asking import ask

__all__ = [
    "MENTOR",
    "WRITTEN_BY",
    "Author",
    "Binding",
    "Book",
    "Loan",
    "Tool",
    "answered",
    "engine",
    "library",
    "page",
    "some_authors",
    "some_books",
]


class Binding(StrEnum):
    """How a book is bound."""

    CLOTH = "cloth"
    PAPER = "paper"


@dataclass
class Author:
    """Somebody who writes."""

    id: int
    name: str
    country: str | None = None
    mentor_id: int | None = None


@dataclass
class Book:
    """What is written."""

    isbn: str
    title: str
    author_id: int
    price: Decimal
    published: date | None = None
    binding: Binding = Binding.PAPER
    tags: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


class Loan(BaseModel):
    """A book that is out."""

    loan_id: UUID
    isbn: Annotated[str, Field(description="The book")]
    state: Literal["open", "back"] = "open"
    days: Annotated[int, Field(ge=1, le=60)] = 14


class Tool(TypedDict):
    """What holds the library together."""

    name: str
    weight: NotRequired[float]
    colour: NotRequired[str | None]


def some_authors() -> list[Author]:
    return [Author(1, "Ibsen", "NO"), Author(2, "Austen", "GB"), Author(3, "Shaw", "IE", 1)]


def some_books() -> list[Book]:
    return [
        Book("1", "A Doll's House", 1, Decimal("9.50"), date(1879, 12, 21), Binding.CLOTH, ["play"], {"a": {"b": 1}}),
        Book("2", "Emma", 2, Decimal("12.00"), date(1815, 12, 23), details={"pages": 474, "signed": True}),
        Book("3", "Pygmalion", 3, Decimal("9.50")),
        Book("4", "Ghosts", 1, Decimal("3.00"), tags=["play", "classic"]),
    ]


WRITTEN_BY = Relationship(name="author", target="authors", local=("author_id",), remote=("id",), type="written_by")
BOOKS_OF = Relationship(
    name="books", target="books", local=("id",), remote=("author_id",), many=True, outgoing=False, type="written_by"
)
MENTOR = Relationship(name="mentor", target="authors", local=("mentor_id",), remote=("id",), type="taught_by")
PUPILS = Relationship(
    name="pupils", target="authors", local=("id",), remote=("mentor_id",), many=True, outgoing=False, type="taught_by"
)


def library(**more: Any) -> Adapter:
    """Authors and books; what is said of the books can be changed."""
    adapter = Adapter("library")
    adapter.collection(Author, key="id", items=some_authors(), relationships=[BOOKS_OF, MENTOR, PUPILS])
    said: dict[str, Any] = {
        "items": some_books(),
        "computed": [Computed(name="cheap", kind=Kind.BOOLEAN, function=lambda book: book.price < 10)],
        "relationships": [WRITTEN_BY],
    }
    adapter.collection(Book, key="isbn", **{**said, **more})
    return adapter


def engine(**more: Any) -> Engine:
    """A served library."""
    return Engine(library(**more))


async def answered(engine: Engine, operation: str, **params: Any) -> Any:
    """The data of a request that succeeds."""
    envelope = await ask(engine, operation, **params)
    assert envelope["success"], envelope["error"]
    return envelope["data"]


async def page(engine: Engine, operation: str, **params: Any) -> list[Any]:
    """The items of a list or search."""
    items: list[Any] = (await answered(engine, operation, **params))["items"]
    return items
