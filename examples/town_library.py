"""A small town library, with every feature of an adapter in one file: ``headgate serve examples/town_library.py``.

Everything lives in memory and starts anew with each server.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import count
from typing import Annotated, Literal

import anyio

from headgate import (
    Adapter,
    Binary,
    Conflict,
    Context,
    Denied,
    Deprecated,
    Example,
    Invalid,
    NotFound,
    Param,
    Patch,
    require_match,
    with_etag,
)

__all__ = ["adapter", "library_adapter"]

Isbn = Annotated[
    str, Param(pattern=r"^\d{13}$", description="The ISBN: 13 digits, no dashes.", examples=["9780141439518"])
]
MemberId = Annotated[str, Param(pattern=r"^m\d+$", description="The member's number.", examples=["m1"])]
Pin = Annotated[str, Param(pattern=r"^\d{4}$", sensitive=True, description="The member's PIN.")]

FINE_PER_DAY = Decimal("0.20")
LOAN_DAYS = 21


class Shelf(StrEnum):
    """Where a book stands."""

    FICTION = "fiction"
    SCIENCE = "science"
    HISTORY = "history"


@dataclass(frozen=True)
class Author:
    """Who wrote a book."""

    name: str
    born: int | None = None


@dataclass(frozen=True)
class Book:
    """A book of the library."""

    isbn: Annotated[str, Param(pattern=r"^\d{13}$", read_only=True)]
    title: Annotated[str, Param(min_length=1, max_length=200)]
    author: Author
    shelf: Shelf = Shelf.FICTION
    copies: Annotated[int, Param(minimum=0, maximum=100, description="How many the library owns.")] = 1
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Member:
    """Somebody who may borrow."""

    member_id: str
    name: str
    joined: date


@dataclass(frozen=True)
class Loan:
    """A book in a member's hands."""

    loan_id: int
    isbn: str
    member_id: str
    due: date
    returned_at: datetime | None = None


@dataclass(frozen=True)
class Return:
    """What is noted when a book comes back."""

    returned_at: Annotated[datetime, Param(description="When the book came back.")]


@dataclass
class _Library:
    """Everything the library knows."""

    books: dict[str, Book] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)
    covers: dict[str, Binary] = field(default_factory=dict)
    loans: dict[int, Loan] = field(default_factory=dict)
    loan_ids: Iterator[int] = field(default_factory=lambda: count(1))

    def book(self, isbn: str) -> Book:
        if isbn not in self.books:
            raise NotFound("book", isbn)
        return self.books[isbn]

    def member(self, member_id: str) -> Member:
        if member_id not in self.members:
            raise NotFound("member", member_id)
        return self.members[member_id]

    def lent(self, isbn: str) -> int:
        return sum(loan.isbn == isbn and loan.returned_at is None for loan in self.loans.values())

    def check_pin(self, member_id: str, pin: str) -> None:
        self.member(member_id)
        if self.pins[member_id] != pin:
            raise Denied("the PIN is wrong")


def _stocked() -> _Library:
    books = (
        Book("9780141439518", "Pride and Prejudice", Author("Jane Austen", 1775), Shelf.FICTION, 2, ["classic"]),
        Book("9780553380163", "A Brief History of Time", Author("Stephen Hawking", 1942), Shelf.SCIENCE, 1),
        Book("9780140449136", "Crime and Punishment", Author("Fyodor Dostoevsky", 1821), Shelf.FICTION, 1, ["classic"]),
        Book("9780141036144", "Nineteen Eighty-Four", Author("George Orwell", 1903), Shelf.FICTION, 3),
        Book("9780241950432", "The Histories", Author("Herodotus"), Shelf.HISTORY, 1),
    )
    members = (Member("m1", "Ada", date(2024, 3, 1)), Member("m2", "Grace", date(2025, 9, 15)))
    return _Library(
        books={book.isbn: book for book in books},
        members={member.member_id: member for member in members},
        pins={"m1": "1815", "m2": "1906"},
    )


def library_adapter() -> Adapter:
    """A library with its stock of books, two members and no loans yet."""
    adapter = Adapter("library", "A small town library: books, members and loans", version="1.0.0")
    library = _stocked()
    _add_reading(adapter, library)
    _add_stock(adapter, library)
    _add_members(adapter, library)
    _add_loans(adapter, library)
    return adapter


def _add_reading(adapter: Adapter, library: _Library) -> None:
    @adapter.read
    async def list_books(
        shelf: Annotated[Shelf | None, Param(description="Only this shelf.")] = None,
        limit: Annotated[int, Param(minimum=1, maximum=100, description="How many to list.")] = 25,
    ) -> list[Book]:
        """List the books of the library, by title."""
        found = [book for book in library.books.values() if shelf in (None, book.shelf)]
        return sorted(found, key=lambda book: book.title)[:limit]

    @adapter.read(examples=[Example({"isbn": "9780141439518"}, "Get Pride and Prejudice")])
    async def get_book(isbn: Isbn) -> dict[str, object]:
        """Get one book by its ISBN, with its version in _etag."""
        return with_etag(library.book(isbn))

    @adapter.read(rationale="'list' has no words to match")
    async def search_books(
        query: Annotated[str, Param(min_length=1, description="Words of the title or the author's name.")],
    ) -> list[Book]:
        """Search for books by words of title or author; any word may match."""
        words = query.casefold().split()
        return [
            book
            for book in library.books.values()
            if any(word in f"{book.title} {book.author.name}".casefold() for word in words)
        ]

    @adapter.read
    async def get_cover(isbn: Isbn) -> dict[str, object]:
        """Get the picture of a book's cover."""
        library.book(isbn)
        if isbn not in library.covers:
            raise NotFound("cover", isbn)
        return {"isbn": isbn, "cover": library.covers[isbn]}


def _add_stock(adapter: Adapter, library: _Library) -> None:
    @adapter.create
    async def create_book(book: Book) -> Book:
        """Add a book to the library."""
        if book.isbn in library.books:
            raise Conflict("book", book.isbn)
        library.books[book.isbn] = book
        return book

    @adapter.update
    async def update_book(
        isbn: Isbn,
        input: Patch[Book],  # noqa: A002  (the name is the specification's)
        if_match: Annotated[str | None, Param(description="Only if the book still has this _etag.")] = None,
    ) -> dict[str, object]:
        """Change fields of a book; what is left out stays, null removes."""
        book = library.book(isbn)
        require_match(if_match, book, "book", isbn)
        changed = input.apply(book)
        if changed.copies < library.lent(isbn):
            raise Invalid("input.copies", f"{library.lent(isbn)} copies are lent out")
        library.books[isbn] = changed
        return with_etag(changed)

    @adapter.delete
    async def delete_book(isbn: Isbn) -> None:
        """Remove a book that nobody has borrowed."""
        library.book(isbn)
        if library.lent(isbn):
            raise Conflict("loan", isbn, "The book is lent out: it can be removed once it is returned")
        del library.books[isbn]

    @adapter.create(name="upload_cover", rationale="the picture is sent as binary data")
    async def upload_cover(isbn: Isbn, cover: Binary) -> dict[str, object]:
        """Store the picture of a book's cover."""
        library.book(isbn)
        library.covers[isbn] = cover
        return {"isbn": isbn, "bytes": len(cover.data)}

    @adapter.execute(rationale="an inventory is work that takes its time")
    async def execute_inventory(
        ctx: Context,
        pace: Annotated[Literal["fast", "careful"], Param(description="How long to look at each shelf.")] = "fast",
    ) -> dict[str, int]:
        """Count the copies on every shelf, with progress."""
        counts: dict[str, int] = {}
        for done, shelf in enumerate(Shelf):
            await ctx.progress(done, len(Shelf), f"counting {shelf.value}")
            await anyio.sleep(0.5 if pace == "careful" else 0)
            counts[shelf.value] = sum(book.copies for book in library.books.values() if book.shelf is shelf)
        return counts


def _add_members(adapter: Adapter, library: _Library) -> None:
    @adapter.read
    async def list_members() -> list[Member]:
        """List everybody who may borrow."""
        return list(library.members.values())

    @adapter.create
    async def create_member(
        name: Annotated[str, Param(min_length=1, max_length=100, description="The member's name.")], pin: Pin
    ) -> Member:
        """Enrol a new member."""
        member = Member(f"m{len(library.members) + 1}", name, datetime.now(UTC).date())
        library.members[member.member_id] = member
        library.pins[member.member_id] = pin
        return member

    @adapter.read(deprecated=Deprecated(replacement="list_members"))
    async def list_readers() -> list[Member]:
        """List everybody who may borrow."""
        return list(library.members.values())


def _add_loans(adapter: Adapter, library: _Library) -> None:
    @adapter.create(locks="isbn", examples=[Example({"isbn": "9780553380163", "member_id": "m1", "pin": "1815"})])
    async def create_loan(
        isbn: Isbn,
        member_id: MemberId,
        pin: Pin,
        ctx: Context,
        days: Annotated[int, Param(minimum=1, maximum=60, description="For how long.")] = LOAN_DAYS,
        weeks: Annotated[int | None, Param(minimum=1, maximum=8, deprecated=Deprecated(replacement="days"))] = None,
    ) -> Loan:
        """Lend a book to a member."""
        library.check_pin(member_id, pin)
        book = library.book(isbn)
        left = book.copies - library.lent(isbn)
        if left < 1:
            raise Conflict("loan", isbn, "Every copy of the book is lent out: try again once one is returned")
        due = datetime.now(UTC).date() + timedelta(days=weeks * 7 if weeks else days)
        loan = Loan(next(library.loan_ids), isbn, member_id, due)
        library.loans[loan.loan_id] = loan
        if left == 1:
            ctx.warn("LIBRARY_LAST_COPY_WARNING", "This was the last copy on the shelf", severity="low", isbn=isbn)
        return loan

    @adapter.read
    async def list_loans(
        member_id: Annotated[str | None, Param(pattern=r"^m\d+$", description="Only this member's.")] = None,
        due_before: Annotated[date | None, Param(description="Only those due before this day.")] = None,
    ) -> list[Loan]:
        """List the books that are lent out."""
        return [
            loan
            for loan in library.loans.values()
            if loan.returned_at is None
            if member_id in (None, loan.member_id)
            if due_before is None or loan.due < due_before
        ]

    @adapter.update(rationale="the loan is kept, with the time of its return", locks="loan_id")
    async def return_loan(
        loan_id: Annotated[int, Param(minimum=1, description="The loan.")],
        input: Return,  # noqa: A002  (the name is the specification's)
    ) -> dict[str, object]:
        """Note that a book is back. The answer has the fine, if it was late."""
        if loan_id not in library.loans:
            raise NotFound("loan", loan_id)
        if library.loans[loan_id].returned_at is not None:
            raise Conflict("return", loan_id, "The book is back already")
        loan = replace(library.loans[loan_id], returned_at=input.returned_at)
        library.loans[loan_id] = loan
        late = max(0, (input.returned_at.date() - loan.due).days)
        return {"loan": loan, "fine": late * FINE_PER_DAY}


adapter = library_adapter()
