"""Long work of a bookshop's office, for pictures: each piece of it stops where the picture wants it."""

import asyncio
import time

from headgate import Adapter, Background, Context, Danger, DangerLevel, Unavailable

__all__ = ["office"]

office = Adapter("office", description="What the office of the bookshop has others do")
_SAFE = Danger(DangerLevel.SAFE)
_LONG = 3600.0


@office.execute(background=Background(timeout=7200, retries=2), danger=_SAFE)
async def execute_catalogue(ctx: Context, publisher: str, titles: int, after: int = 0) -> int:
    """Read a publisher's catalogue, title by title."""
    await ctx.progress(after, titles, f"The Salt Roads, {publisher}")
    await asyncio.sleep(_LONG)
    return titles


@office.execute(background=Background(concurrency=1, key="customer"), danger=_SAFE)
async def execute_import(ctx: Context, customer: str, orders: int) -> int:
    """Import a customer's orders, one customer after the other."""
    await ctx.progress(orders // 3, orders, f"Order {orders // 3 + 1} of {customer}")
    await asyncio.sleep(_LONG)
    return orders


@office.execute(background=True, danger=_SAFE)
async def execute_sales_report(ctx: Context, year: int) -> list[dict[str, object]]:
    """Add up what was sold in a year."""
    await ctx.progress(12, 12, "December")
    return [{"month": f"{year}-{month:02}", "books": year * month % 397 + 200} for month in range(1, 13)]


@office.execute(background=Background(retries=3, backoff=240.0), danger=_SAFE)
async def execute_newsletter(ctx: Context, subscribers: int) -> int:
    """Hand the newsletter to the mail service."""
    await ctx.progress(40, subscribers, "Batch 2")
    raise Unavailable("the mail service does not answer")


@office.execute(background=True, danger=_SAFE)
async def execute_invoices(ctx: Context, month: str) -> int:
    """Write the invoices of a month."""
    await ctx.progress(61, 240, f"Invoice 61 of {month}")
    raise Unavailable("the printer is out of paper")


@office.execute(background=Background(cleanup=0.2), danger=_SAFE)
def execute_backup(ctx: Context, to: str) -> str:
    """Copy everything to a tape, and listen to nobody meanwhile."""
    ctx.progress(None, None, f"Writing to {to}")
    time.sleep(_LONG)
    return to
