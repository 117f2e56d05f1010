"""The program that runs in valgrind and has its own calls counted: ``python -m benchmarks.instructions.program``."""

import gc
import itertools
import time

time.perf_counter = itertools.repeat(0.0).__next__  # nothing counts as slow, although valgrind is

import asyncio  # noqa: E402  (what is imported from here on has the clock that stands still)

from benchmarks.instructions.comparing import REFERENCE  # noqa: E402
from benchmarks.instructions.paths import counted, opened_paths  # noqa: E402
from benchmarks.instructions.reference import reference  # noqa: E402
from benchmarks.instructions.valgrind import Callgrind  # noqa: E402


async def main() -> None:
    """Each path twice: the first time uncounted, until Python and the caches are warm."""
    callgrind = Callgrind()
    async with opened_paths() as paths:
        for one in paths.values():
            await counted(one)
        reference()
        gc.collect()
        gc.freeze()
        gc.disable()
        callgrind.start()
        callgrind.zero()
        reference()
        callgrind.dump(f"{REFERENCE}:1")
        for name, one in paths.items():
            callgrind.zero()
            await counted(one)
            callgrind.dump(f"{name}:{one.calls}")
        callgrind.stop()


if __name__ == "__main__":
    asyncio.run(main())
