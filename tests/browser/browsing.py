"""The real browser, as far as this machine has one."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

__all__ = ["browsing"]


@asynccontextmanager
async def browsing(program: str) -> AsyncIterator[Browser]:
    """The browser, for as long as it is needed."""
    flags = ["--disable-dev-shm-usage"]  # which containers have little of
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # or it refuses to start
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield browser
        finally:
            await browser.close()
