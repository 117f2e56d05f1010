"""The one function that every contender serves, and the one text that each must answer with."""

from typing import Final

import orjson

from headgate import Adapter

__all__ = ["ANSWER", "ARGUMENTS", "REQUEST", "answer", "get_book", "library"]

ARGUMENTS: Final[dict[str, object]] = {"isbn": "9780141439518", "copies": 2}
REQUEST: Final[dict[str, object]] = {"operation": "get_book", "params": ARGUMENTS}


async def get_book(isbn: str, copies: int = 1) -> dict[str, object]:
    """Get one book by its ISBN."""
    return {"isbn": isbn, "title": "Pride and Prejudice", "author": "Jane Austen", "copies": copies}


async def answer(isbn: str, copies: int = 1) -> str:
    """What a tool without headgate must do itself: the function's result in the same envelope."""
    return orjson.dumps({"success": True, "data": await get_book(isbn, copies)}).decode()


library: Final = Adapter("library", "Books on a shelf")
library.read(get_book)

ANSWER: Final = (
    '{"success":true,"data":{"isbn":"9780141439518","title":"Pride and Prejudice","author":"Jane Austen","copies":2}}'
)
