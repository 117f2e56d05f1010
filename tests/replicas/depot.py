"""What the replicas serve beside tables: work that ends when a file appears, and entries that may be deleted."""

import asyncio
import os
from pathlib import Path

from headgate import Adapter, Context

__all__ = ["DEPOT", "FOLDER", "depot"]

DEPOT = "tests.replicas.depot:depot"
FOLDER = "DEPOT_FOLDER"
"""The variable that names the folder of files."""

depot = Adapter("depot", "A depot")


@depot.read
async def get_limited(key: str) -> str:
    """Give a key back; a policy limits how often."""
    return key


@depot.read
async def get_late(milliseconds: int) -> int:
    """Answer late."""
    await asyncio.sleep(milliseconds / 1000)
    return milliseconds


@depot.delete
async def delete_entry(key: str) -> str:
    """Delete an entry."""
    return key


@depot.execute(background=True)
async def execute_delivery(gate: str, ctx: Context) -> str:
    """Deliver, as soon as the gate is open."""
    await ctx.progress(1, 2, "loaded")
    while not (Path(os.environ[FOLDER]) / gate).exists():  # noqa: ASYNC110  (another process opens it)
        await asyncio.sleep(0.02)
    return gate
