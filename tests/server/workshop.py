"""An adapter for what transports can get wrong: noise, size, time, state and identity."""

import os
import sys
from pathlib import Path
from typing import Any

import anyio

from headgate import Adapter, Context, Unavailable

workshop = Adapter("workshop", "A place to try transports in", version="3.2.1")


@workshop.read
async def get_echo(text: str) -> str:
    """The same text again."""
    return text


@workshop.read
async def get_number(number: int) -> int:
    """The same number again."""
    return number


@workshop.read
def get_blob(size: int) -> str:
    """A text of a given size."""
    return "x" * size


@workshop.read
async def get_noise() -> str:
    """Say something where nothing should be said."""
    print("printed")  # noqa: T201
    sys.stdout.write("written\n")
    sys.stdout.flush()
    os.write(1, b"straight to the descriptor\n")
    return sys.stdin.read()


@workshop.read
async def get_caller(ctx: Context) -> dict[str, object]:
    """Who calls."""
    caller = ctx.caller
    return {
        "subject": caller.subject,
        "client_id": caller.client_id,
        "scopes": sorted(caller.scopes),
        "label": caller.label,
    }


@workshop.execute
async def execute_note(text: str, ctx: Context) -> dict[str, Any]:
    """Keep a text in the session; the answer has those that were kept before."""
    notes = ctx.session.state.setdefault("notes", [])
    assert isinstance(notes, list)
    before = list(notes)
    notes.append(text)
    return {"before": before, "session": ctx.session.id}


@workshop.execute
async def execute_wait(folder: str, name: str, ctx: Context) -> str:
    """Say that it has begun by a file, and go on when another one is there."""
    place = Path(folder)
    (place / f"{name}.begun").touch()
    await ctx.progress(1, 2, "waiting")
    try:
        while not (place / f"{name}.go").exists():  # noqa: ASYNC110  (the other side is another process)
            await anyio.sleep(0.01)
    except anyio.get_cancelled_exc_class():
        (place / f"{name}.cancelled").touch()
        raise
    await ctx.progress(2, 2, "done")
    return f"{name} is done"


@workshop.execute
async def execute_steps(count: int, ctx: Context) -> int:
    """Report as many steps."""
    for step in range(1, count + 1):
        await ctx.progress(step, count, f"step {step}")
    return count


@workshop.execute
async def execute_fault() -> None:
    """Fail in a way that the caller cannot repair."""
    raise Unavailable("the workshop is closed")
