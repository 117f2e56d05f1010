"""The adapter of the README: ``headgate serve examples/library.py:library``."""

from dataclasses import dataclass
from typing import Annotated

from headgate import Adapter, NotFound, Param


@dataclass
class Book:
    isbn: str
    title: str


SHELF = {"9780141439518": Book("9780141439518", "Pride and Prejudice")}
library = Adapter("library", description="Books on a shelf")


@library.read
async def get_book(isbn: Annotated[str, Param(pattern=r"^\d{13}$", description="13 digits")]) -> Book:
    """Get one book by its ISBN."""
    if isbn not in SHELF:
        raise NotFound("book", isbn)
    return SHELF[isbn]
