"""A server, agents that call it, and operators who look at it in a real browser."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import anyio
import pytest
from playwright.async_api import Browser, expect

from tests.browser.asking import POLICY
from tests.browser.browsing import browsing
from tests.browser.consoles import Consoled, agent_of, serve_console
from tests.browser.finding import chromium
from tests.browser.watching import Watched, watched
from tests.spec.wires import Aql, Connections

Look: TypeAlias = Callable[..., AbstractAsyncContextManager[Watched]]
"""Opens a tab: ``async with look("bo", color_scheme="dark") as tab``."""

MARKET = f"{Path(__file__).with_name('market.py')}:market"
HOSTILE_CALLER = "<img src=x onerror=\"window.hacked = 'caller'\"> \u202erellac\u202c"
CALLERS = (*(f"caller {number}" for number in range(100)), HOSTILE_CALLER)
_MILLISECONDS = 30_000


@pytest.fixture(scope="session")
def program() -> str:
    """The browser's program. Where checks must be complete, one that is missing is a failure."""
    found = chromium()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("there is no Chromium: .ci/run installs it")
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


@pytest.fixture(scope="session")
async def browser(program: str, anyio_backend: str) -> AsyncIterator[Browser]:
    expect.set_options(timeout=_MILLISECONDS)
    async with browsing(program) as opened:
        yield opened


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoled]:
    """The market, whose agents need persons for most of what they want."""
    large = ("--max-request-size", "4194304", "--max-string-length", "2097152")
    with serve_console(tmp_path_factory.mktemp("market"), MARKET, POLICY, *large, callers=CALLERS) as serving:
        yield serving


@pytest.fixture(scope="session")
async def connections(anyio_backend: str) -> AsyncIterator[Connections]:
    async with anyio.create_task_group() as tasks:
        opened = Connections(tasks)
        yield opened
        await opened.close()


@pytest.fixture(scope="session")
def callers() -> Iterator[str]:
    """Names of callers, each for one test, so that an agent which is blocked in one holds up none in another."""
    return iter(CALLERS)


@pytest.fixture
async def agent(served: Consoled, connections: Connections, callers: Iterator[str]) -> AsyncIterator[Aql]:
    """An agent's connection to the market, as somebody who does nothing else."""
    async with connections.open(agent_of(served, next(callers))) as connected:
        yield connected


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"bot-{uuid4().hex[:8]}"


class Desks:
    """Operators who have signed in, each once and by a link, and their profiles."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._cookies: dict[tuple[str, str], Any] = {}

    @asynccontextmanager
    async def look(self, served: Consoled, by: str = "ana", **options: Any) -> AsyncIterator[Watched]:
        """A tab of somebody who has signed in."""
        if (served.url, by) not in self._cookies:
            self._cookies[served.url, by] = await self._signed_in(served, by)
        context = await self._browser.new_context(storage_state=self._cookies[served.url, by], **options)
        async with context, watched(context, served.url) as tab:
            yield tab

    async def _signed_in(self, served: Consoled, by: str) -> Any:
        async with await self._browser.new_context() as context, watched(context, served.url) as tab:
            await tab.page.goto(served.link(by))
            await tab.press("Sign in")
            await expect(tab.page.get_by_role("heading", name="Overview")).to_be_visible()
            return await context.storage_state()


@pytest.fixture(scope="session")
async def desks(browser: Browser) -> Desks:
    return Desks(browser)


@pytest.fixture
def look(desks: Desks, served: Consoled) -> Look:
    """Opens tabs of the market's console."""

    def looking(by: str = "ana", **options: Any) -> AbstractAsyncContextManager[Watched]:
        return desks.look(served, by, **options)

    return looking
