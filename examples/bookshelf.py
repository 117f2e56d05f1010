"""Two collections of Python objects. Serve them with: headgate serve examples/bookshelf.py:shelf"""

import asyncio
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from headgate import Adapter, Computed, Denied, Engine, Kind, Param, Relationship
from headgate.client.targets import local


@dataclass
class Author:
    """Somebody who wrote a book."""

    id: int
    name: str
    country: str | None = None


@dataclass
class Book:
    """A book on the shelf."""

    isbn: Annotated[str, Param(pattern=r"^\d{13}$", description="13 digits")]
    title: str
    author_id: int
    price: Decimal
    published: date | None = None
    format: Literal["hardcover", "paperback"] = "paperback"
    tags: list[str] = field(default_factory=list)
    revision: int = 1


authors = [Author(1, "Jane Austen", "England"), Author(2, "Knut Hamsun", "Norway")]
books = {
    "9780141439518": Book("9780141439518", "Pride and Prejudice", 1, Decimal("9.99"), date(2003, 4, 29)),
    "9780141439587": Book("9780141439587", "Emma", 1, Decimal("8.49"), tags=["school"]),
    "9780374525293": Book("9780374525293", "Hunger", 2, Decimal("14.00"), format="hardcover"),
}

shelf = Adapter("shelf", "Books and who wrote them")


@shelf.delete
async def delete_book(isbn: str) -> None:
    """Delete a book, which this shelf never does."""
    raise Denied(f"book {isbn} stays on the shelf")


shelf.collection(
    Author,
    key="id",
    items=authors,
    leave_out=["update", "delete"],
    relationships=[
        Relationship(
            name="books",
            target="books",
            local=("id",),
            remote=("author_id",),
            many=True,
            outgoing=False,
            type="book_author",
        )
    ],
)
shelf.collection(
    Book,
    key="isbn",
    items=books,
    version="revision",
    append_only=["tags"],
    search=["title"],
    computed=[
        Computed(
            name="is_cheap", kind=Kind.BOOLEAN, description="Under ten", function=lambda book: book.price < Decimal(10)
        )
    ],
    presets={"card": ["title", "author.name", "_computed.is_cheap"]},
    relationships=[Relationship(name="author", target="authors", local=("author_id",), remote=("id",))],
)


async def main() -> None:
    """Ask a few questions of the shelf, in process."""
    target = local(Engine(shelf))
    cheap = await target.call("list_books", {"filter": {"author.country": "England"}, "preset": "card"})
    print(*(f"{item['title']}, {item['author']['name']}" for item in cheap["data"]["items"]), sep="\n")
    changed = await target.call(
        "update_book", {"isbn": "9780141439587", "input": {"tags": ["gift"]}, "if_match": '"1"'}
    )
    print(changed["data"]["tags"], changed["data"]["_etag"])
    summary = await target.call("list_books", {"aggregate": {"by_format": {"group_by": "format", "sum": "price"}}})
    print(summary["data"]["aggregations"])
    print((await target.call("delete_book", {"isbn": "9780141439587"}))["error"]["code"])


if __name__ == "__main__":
    asyncio.run(main())
