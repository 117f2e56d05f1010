"""A client of any MCP-AQL server: ``python examples/client.py``, or with a URL or a command after it.

Without more it starts the town library, and does what somebody at its desk would do.
"""

import sys
from pathlib import Path

import anyio

from headgate import AqlFailure, ClientError, connect
from headgate.client.connections import Target
from headgate.client.questions import Question

LIBRARY = [
    str(Path(sys.executable).with_name("headgate")),
    "serve",
    f"{Path(__file__).with_name('town_library.py')}:adapter",
]


def target(words: list[str]) -> Target:
    """A URL, a command, or the town library."""
    return words[0] if len(words) == 1 and "://" in words[0] else words or LIBRARY


async def agree(question: Question) -> bool:
    """Say what is asked, and agree to it: a person would read it first."""
    print("asked:", question.message.splitlines()[0])
    return True


async def look_around(server: Target) -> None:
    """What every server of MCP-AQL can be asked."""
    async with connect(server) as aql:
        protocol = await aql.protocol()
        print(f"MCP-AQL {protocol.version}, {len(await aql.operations())} operations, {len(aql.oddities)} oddities")


async def at_the_desk(server: Target) -> None:
    """What the library can be asked."""
    async with connect(server, confirm=agree) as aql:
        print([operation.name for operation in await aql.search("lend a book", first=1)])
        async for book in aql.pages("list_books"):
            print(book["title"])
        loan = await aql.create("create_loan", isbn="9780553380163", member_id="m1", pin="1815")
        print("lent:", loan["isbn"], *(warning.message for warning in aql.warnings))
        batch = await aql.batch([("get_book", {"isbn": "9780141439518"}), ("get_book", {"isbn": "0000000000000"})])
        print(f"{batch.succeeded} found, {batch.failed} not:", batch.items[1].error)
        [book] = await aql.read("search_books", query="Herodotus")
        await aql.delete("delete_book", isbn=book["isbn"])
        print("deleted:", book["title"])
        try:
            await aql.create("create_loan", isbn="9780553380163", member_id="m1", pin="0000")
        except AqlFailure as failure:
            print(failure.code, failure.request)


async def main() -> None:
    """Look around, and at the library's own desk do more than that."""
    chosen = target(sys.argv[1:])
    await look_around(chosen)
    if chosen is LIBRARY:
        await at_the_desk(chosen)


if __name__ == "__main__":
    try:
        anyio.run(main)
    except ClientError as error:
        sys.exit(f"client: {error}")
