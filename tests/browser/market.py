"""What is served while a browser looks on: a market stall, with words that an author should not have written."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

from headgate import Adapter, AqlError, Background, Context, Danger, DangerLevel

__all__ = ["HOSTILE_WORDS", "market"]

HOSTILE_WORDS = (
    "</title></p><script>window.hacked = 'words'</script><img src=x onerror=\"window.hacked = 'words'\"> "
    "\u202egnihtyreve eteled\u202c \u200bzero\u200bwidth"
)
"""Markup, a text that reads backwards, and signs that nobody sees."""

market = Adapter("market <b onclick=\"window.hacked = 'adapter'\">", description=HOSTILE_WORDS)
"""An adapter's name is free; those of operations and parameters are snake_case, and cannot hold anything hostile."""


@dataclass
class Item:
    """Something on the stall."""

    id: int
    name: str
    price: float
    note: str = ""


_ITEMS = {number: Item(number, f"Item {number}", 10.0 + number) for number in range(1, 100)}


@market.update(
    danger=Danger(DangerLevel.DESTRUCTIVE, (HOSTILE_WORDS, "{{ 7 * 7 }}"), f"Rename {{id}}? {HOSTILE_WORDS}")
)
def rename_item(id: int, input: dict[str, str]) -> str:  # noqa: A002  (as the protocol names it)
    """Give an item another name."""
    _ITEMS[id].name = input["name"]
    return _ITEMS[id].name


@market.create
def create_notice(text: str, urgent: bool = False, colour: str = "white") -> dict[str, object]:
    """Pin a notice to the stall.

    Args:
        text: What it says. </p><script>window.hacked = 'parameter'</script>
        urgent: Whether everybody must read it.
        colour: Of the paper.
    """
    return {"pinned": len(text), "urgent": urgent, "colour": colour}


@market.execute(danger=Danger(DangerLevel.SAFE))
def execute_count() -> int:
    """Count the items. </td><script>window.hacked = 'summary'</script>"""
    return len(_ITEMS)


# what takes long, and goes on as it is told

_SAFE = Danger(DangerLevel.SAFE)
_goes: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))


@market.execute(background=True, danger=_SAFE)
async def execute_harvest(ctx: Context, field: str, rows: int = 4) -> list[str]:
    """Bring in what a field bears, a row each time that somebody says so."""
    for row in range(rows):
        await ctx.progress(row, rows, f"Row {row + 1} of {field}")
        await _goes[field].acquire()
    return [f"Basket {row + 1}" for row in range(rows)]


@market.execute(background=Background(cleanup=0.1), danger=_SAFE)
async def execute_nap(ctx: Context, field: str) -> str:
    """Sleep on a field, whoever calls, until somebody says so."""
    await ctx.progress(message=f"Asleep on {field}")
    while True:
        try:
            await _goes[field].acquire()
        except asyncio.CancelledError:
            continue
        return "Well rested"


@market.execute(background=True, danger=_SAFE)
async def execute_sale(ctx: Context, words: str) -> dict[str, str]:
    """Sell what nobody wants the first time."""
    await ctx.progress(1, 3, words)
    if ctx.attempt == 1:
        raise AqlError("CONFLICT_NO_BUYER", words, {"words": words})
    return {words: words}


@market.execute(danger=_SAFE)
async def execute_row(field: str) -> str:
    """Have what waits on a field go on."""
    _goes[field].release()
    return field


market.collection(Item, key="id", items=_ITEMS)
