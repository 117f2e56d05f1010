"""A small shop to ask: its collections as plain values, and a reader, an evaluator and a shaper put together."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.query.answers import Shaper, summaries_answer
from headgate.query.backends import Fetched
from headgate.query.collections import Catalog, Collection, Computed, Field, Relationship
from headgate.query.cursors import Cursors
from headgate.query.kinds import Kind
from headgate.query.memory import Item, list_items, summarize_items
from headgate.query.paging import QueryOptions
from headgate.query.paths import Resolver
from headgate.query.reading import Asked, Reader
from tests.engine.asking import leaks

__all__ = ["AUTHORS", "BOOKS", "KINDS", "LOG", "Shop", "fields", "one_of_each", "refusal", "shop"]

KEY = b"a key of sixteen bytes or more"


def fields(**kinds: Field | Kind) -> dict[str, Field]:
    """Fields by name: a kind alone stands for a plain field of it."""
    return {name: one if isinstance(one, Field) else Field(name=name, kind=one) for name, one in kinds.items()}


AUTHORS = Collection(
    "authors",
    "author",
    fields(
        id=Kind.INTEGER,
        name=Kind.TEXT,
        country=Field(name="country", kind=Kind.TEXT, nullable=True),
        notes=Field(name="notes", kind=Kind.JSON, nullable=True),
        mentor_id=Field(name="mentor_id", kind=Kind.INTEGER, nullable=True),
    ),
    ("id",),
    {
        "mentor": Relationship(name="mentor", target="authors", local=("mentor_id",), remote=("id",), type="mentors"),
        "books": Relationship(
            name="books",
            target="books",
            local=("id",),
            remote=("author_id",),
            many=True,
            outgoing=False,
            type="book_author",
        ),
    },
    {"initial": Computed(name="initial", kind=Kind.TEXT, function=lambda author: author["name"][:1])},
)
BOOKS = Collection(
    "books",
    "book",
    fields(
        isbn=Kind.TEXT,
        title=Kind.TEXT,
        author_id=Field(name="author_id", kind=Kind.INTEGER, nullable=True),
        price=Kind.DECIMAL,
        published=Field(name="published", kind=Kind.DATE, nullable=True),
        state=Field(name="state", kind=Kind.TEXT, nullable=True, choices=("new", "used")),
        in_stock=Kind.BOOLEAN,
        tags=Field(name="tags", kind=Kind.ARRAY, item_kind=Kind.TEXT),
        details=Field(name="details", kind=Kind.JSON, nullable=True),
        cover=Field(name="cover", kind=Kind.BYTES, nullable=True),
        secret=Field(name="secret", kind=Kind.TEXT, nullable=True, filterable=False, sortable=False),
    ),
    ("isbn",),
    {
        "author": Relationship(
            name="author", target="authors", local=("author_id",), remote=("id",), type="book_author"
        ),
        "shelf": Relationship(name="shelf", target="shelves", local=("isbn",), remote=("isbn",)),
    },
    {
        "cheap": Computed(name="cheap", kind=Kind.BOOLEAN, function=lambda book: book["price"] < 10),
        "length": Computed(name="length", kind=Kind.INTEGER, function=lambda book: len(book["title"])),
        "hidden": Computed(
            name="hidden", kind=Kind.INTEGER, function=lambda _book: 1, filterable=False, sortable=False
        ),
    },
    {"short": ("title", "author", "_computed.cheap"), "deep": ("title", "author.mentor.name")},
    searchable=("title",),
)
LOG = Collection("log", "log_line", fields(line=Kind.TEXT, level=Kind.INTEGER))
"""A collection without a key."""

KINDS = Collection(
    "samples",
    "sample",
    {
        "id": Field(name="id", kind=Kind.INTEGER),
        **{
            kind.name.lower(): Field(name=kind.name.lower(), kind=kind, nullable=True, item_kind=Kind.TEXT)
            for kind in Kind
        },
    },
    ("id",),
)
"""A collection with a field of every kind, named after it."""


def one_of_each() -> dict[Kind, Any]:
    """A value of every kind, as it is held inside."""
    return {
        Kind.TEXT: "Ærø",
        Kind.INTEGER: 2**62,
        Kind.NUMBER: 1.5,
        Kind.DECIMAL: Decimal("12.50"),
        Kind.BOOLEAN: True,
        Kind.DATE: date(2024, 2, 29),
        Kind.TIME: time(10, 30, 15),
        Kind.DATETIME: datetime(2024, 2, 29, 10, 30, tzinfo=UTC),
        Kind.UUID: "123e4567-e89b-12d3-a456-426614174000",
        Kind.BYTES: b"\x00\xff",
        Kind.JSON: {"a": [1, None]},
        Kind.ARRAY: ["a", "b"],
    }


def author(id: int, name: str, **more: Any) -> Item:  # noqa: A002
    return {"id": id, "name": name, "country": None, "notes": None, "mentor_id": None, **more}


def book(isbn: str, title: str, **more: Any) -> Item:
    plain: Item = dict.fromkeys(BOOKS.fields)
    return {**plain, "isbn": isbn, "title": title, "price": Decimal(5), "in_stock": True, "tags": [], **more}


STOCK: Mapping[str, Sequence[Item]] = {
    "authors": [
        author(1, "Ibsen", country="NO", notes={"born": {"year": 1828, "town": "Skien"}}),
        author(2, "Austen", country="GB"),
        author(3, "Shaw", country="IE", mentor_id=1),
        author(4, "Anonymous"),
    ],
    "books": [
        book(
            "1",
            "A Doll's House",
            author_id=1,
            price=Decimal("9.50"),
            published=date(1879, 12, 21),
            state="used",
            tags=["play", "classic"],
            details={"pages": 88, "size": {"width": 11.5}, "print": "cloth"},
        ),
        book(
            "2",
            "Emma",
            author_id=2,
            price=Decimal("12.00"),
            published=date(1815, 12, 23),
            state="new",
            tags=["novel"],
            details={"pages": 474, "print": None, "signed": True},
            in_stock=False,
        ),
        book(
            "3",
            "Pygmalion",
            author_id=3,
            price=Decimal("9.50"),
            published=date(1913, 10, 16),
            details={"pages": "many"},
        ),
        book("4", "Beowulf", price=Decimal("20.25"), state="used", tags=["classic"]),
        book("5", "Ghosts", author_id=1, price=Decimal("3.00"), details={}, in_stock=False),
    ],
    "log": [{"line": text, "level": level} for level, text in enumerate(["a", "b", "a", "c"])],
}


class Shop:
    """Answers what is asked of collections whose items are given."""

    def __init__(
        self, *collections: Collection, items: Mapping[str, Sequence[Item]], options: QueryOptions | None = None
    ) -> None:
        self.catalog = Catalog({one.name: one for one in collections})
        self.cursors = Cursors(KEY)
        self.options = options or QueryOptions()
        self.reader = Reader(Resolver(self.catalog), self.cursors, self.options)
        self.shaper = Shaper(self.cursors)
        self.held = items

    def read(self, name: str = "books", /, **params: Any) -> Asked:
        """What is asked for."""
        return self.reader.read(params, self.catalog[name], "standard")

    def page(self, name: str = "books", /, **params: Any) -> dict[str, Any]:
        """The page that is answered."""
        query = self.read(name, **params).query
        assert query is not None
        size, offset = query.window.size, query.window.offset
        rows, total = list_items(query.listing, query.values, self.held.__getitem__, size + 1, offset)
        return self.shaper.page(query, Fetched(rows, total=total))

    def shown(self, name: str = "books", /, **params: Any) -> list[Any]:
        """The items that are answered."""
        items: list[Any] = self.page(name, **params)["items"]
        return items

    def keys(self, name: str = "books", /, **params: Any) -> list[Any]:
        """The keys of the items that are answered, in their order."""
        (key,) = self.catalog[name].key
        return [item[key] for item in self.shown(name, **{"fields": [key], **params})]

    def sums(self, name: str = "books", /, **params: Any) -> dict[str, Any]:
        """The summaries that are answered."""
        asked = self.read(name, **params).summaries
        assert asked is not None
        groups = summarize_items(asked.shape, asked.values, self.held.__getitem__, self.options.max_groups)
        return summaries_answer(asked, groups)[0]


def shop(options: QueryOptions | None = None) -> Shop:
    """The shop with its stock."""
    return Shop(AUTHORS, BOOKS, LOG, items=STOCK, options=options)


def refusal(work: Callable[[], object]) -> ErrorDetail:
    """The error with which something is refused, which is written for people."""
    with pytest.raises(AqlError) as caught:
        work()
    error = caught.value.error
    assert leaks(error.message) == []
    return error
