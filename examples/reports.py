"""Long work: reports that take their time, an import for each customer in turn, and numbers crunched in a process."""

import asyncio
import math
from typing import Annotated

from headgate import Adapter, Background, Context, Param, Unavailable

reports = Adapter("reports", description="Reports that take their time")

Year = Annotated[int, Param(minimum=2000, maximum=2100)]


@reports.execute(background=True)
async def execute_yearly_report(year: Year, ctx: Context) -> dict[str, int]:
    """Make the report of a year.

    Returns:
        How much was sold in each month.
    """
    sold: dict[str, int] = {}
    for month in range(1, 13):
        await ctx.progress(month - 1, 12, f"month {month} of {year}")
        await asyncio.sleep(0.2)  # the real work
        sold[f"{year}-{month:02}"] = year * month % 97
    return sold


@reports.execute(background=Background(key="customer", concurrency=3, retries=3, interrupted="resume", timeout=600))
async def execute_import(customer: str, rows: Annotated[int, Param(minimum=1)], ctx: Context) -> list[str]:
    """Import a customer's orders: one import of a customer at a time, three in all; it may be run again."""
    done: list[str] = []
    try:
        for row in range(rows):
            await ctx.progress(row, rows)
            await asyncio.sleep(0.01)
            if ctx.attempt == 1 and row == 3:
                raise Unavailable("the order system does not answer")
            done.append(f"{customer}-{row}")
    except asyncio.CancelledError:
        done.clear()  # time to clean up: close files, undo what is half done
        raise
    return done


@reports.execute(background=Background(process=True, cleanup=2))
def execute_factorial(number: Annotated[int, Param(minimum=0, maximum=1_000_000)], ctx: Context) -> int:
    """Count the digits of a factorial, in a process of its own: the server stays as quick as ever."""
    logarithm = 0.0
    for factor in range(2, number + 1):
        if factor % 1000 == 0:
            ctx.progress(factor, number)
        logarithm += math.log10(factor)
    return int(logarithm) + 1
