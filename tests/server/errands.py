"""An adapter with long work, for what connections do to it: each errand goes on until a file says that it may end."""

from pathlib import Path
from typing import Any

import anyio

from headgate import Adapter, Background, Context, NotFound, Unavailable
from tests.server.processes import until

ERRANDS = "tests.server.errands:errands"


async def run_errand(folder: str, name: str, ctx: Context) -> str:
    """Say that it has begun by a file, and go on when another one is there."""
    place = Path(folder)
    (place / f"{name}.begun").touch()
    await ctx.progress(1, 4, f"{name} is under way")
    try:
        while not (place / f"{name}.go").exists():  # noqa: ASYNC110  (the other side may be another process)
            await anyio.sleep(0.01)
    except anyio.get_cancelled_exc_class():
        (place / f"{name}.cancelled").touch()
        raise
    return f"{name} is done"


def make_errands() -> Adapter:
    """An adapter of its own for each server in this process."""
    adapter = Adapter("errands", "Errands that take their time")

    @adapter.execute(background=True)
    async def execute_errand(folder: str, name: str, ctx: Context) -> str:
        """Run an errand."""
        return await run_errand(folder, name, ctx)

    @adapter.execute(background=Background(session="cancel"))
    async def execute_bound_errand(folder: str, name: str, ctx: Context) -> str:
        """Run an errand that is cancelled with its session."""
        return await run_errand(folder, name, ctx)

    @adapter.execute(background=Background(session="fail"))
    async def execute_failing_errand(folder: str, name: str, ctx: Context) -> str:
        """Run an errand that fails with its session."""
        return await run_errand(folder, name, ctx)

    @adapter.execute(background=Background(interrupted="resume"))
    async def execute_resumed_errand(folder: str, name: str, ctx: Context) -> str:
        """Run an errand that is run again when it was interrupted."""
        return await run_errand(folder, name, ctx)

    @adapter.execute(background=True)
    async def execute_count(count: int) -> list[int]:
        """Count from zero."""
        return list(range(count))

    @adapter.execute(background=True)
    async def execute_fault(*, repairable: bool) -> None:
        """Fail, in a way that the caller can repair or not."""
        if repairable:
            raise NotFound("errand", "lost")
        raise Unavailable("the shop is closed")

    @adapter.read
    def get_steps(count: int, ctx: Context) -> int:
        """Report as many steps from a thread."""
        for step in range(1, count + 1):
            ctx.progress(step, count, f"step {step}")
        return count

    return adapter


errands = make_errands()


class Place:
    """Where errands say that they have begun, and hear that they may end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def params(self, name: str) -> dict[str, Any]:
        """What an errand of this name is started with."""
        return {"folder": str(self.folder), "name": name}

    def go(self, name: str) -> None:
        """Let it end."""
        (self.folder / f"{name}.go").touch()

    def has(self, name: str, what: str) -> bool:
        """Whether it has ``begun``, or was ``cancelled``."""
        return (self.folder / f"{name}.{what}").exists()

    async def come(self, name: str, what: str) -> None:
        """Wait for that, while others have their turn."""
        await anyio.to_thread.run_sync(until, lambda: self.has(name, what), f"{name}.{what}")
