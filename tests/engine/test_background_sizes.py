"""Small results of long work are encoded at once, large ones elsewhere: nobody sees a difference, and nobody waits."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from headgate import Adapter
from tests.engine.working import works

pytestmark = pytest.mark.anyio

LETTERS = "é" * 5000


@pytest.mark.parametrize(
    "given",
    [
        *(None, True, -1.5, 7, "short", LETTERS, 2**53 - 1),
        *({}, {"a": 1, "b": None}, {"a": {"b": [1]}}, {str(number): number for number in range(50)}),
        *([], [1, "two"], list(range(50)), [LETTERS, LETTERS], [[1], [2]]),
    ],
    ids=lambda given: str(given)[:12],
)
async def test_a_result_of_any_size_comes_back_as_it_was_given(given: Any) -> None:
    adapter = Adapter("scales")

    @adapter.execute(background=True)
    async def execute_weighing() -> Any:
        """Weigh something."""
        return given

    async with works(adapter) as shop:
        found = await shop.result(await shop.start("execute_weighing"))
        assert found["result"] == given


async def test_what_takes_long_to_encode_holds_nobody_up() -> None:
    adapter = Adapter("scales")
    encoding = threading.Event()
    answered = threading.Event()

    class Heavy(BaseModel):
        weight: int

        def model_dump(self, **_options: Any) -> dict[str, Any]:
            encoding.set()
            assert answered.wait(30)
            return {"weight": self.weight}

    @adapter.execute(background=True)
    async def execute_weighing() -> Any:
        """Weigh something."""
        return {"heavy": Heavy(weight=7)}

    @adapter.read
    async def get_scale() -> str:
        """Get the scale."""
        return "brass"

    async with works(adapter) as shop:
        execution_id = await shop.start("execute_weighing")
        await asyncio.to_thread(encoding.wait, 30)
        assert await shop.call("get_scale") == "brass"
        answered.set()
        assert (await shop.result(execution_id))["result"] == {"heavy": {"weight": 7}}
