"""A page of the console that somebody looks at, and whatever a browser has to complain about meanwhile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Error, Page

__all__ = ["Watched", "watched"]

_STATUS = "the server responded with a status of"


@dataclass
class Watched:
    """One tab of one operator."""

    page: Page
    url: str
    """Where the console is."""
    complaints: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        """Open a page of the console."""
        await self.page.goto(f"{self.url}{path}")

    async def press(self, name: str) -> None:
        """Press the one button of that name."""
        await self.page.get_by_role("button", name=name, exact=True).click()

    async def laid_out(self) -> None:
        """Wait for the style sheet: the page that a press led to can be found, and measured, before that is here."""
        await self.page.wait_for_load_state("load")

    async def text(self, selector: str) -> str:
        """What can be read somewhere, signs that are not shown included."""
        return await self.page.locator(selector).inner_text()

    def note_message(self, message: ConsoleMessage) -> None:
        """Whatever Chromium reports as an error: violations of the content security policy are among them."""
        is_refusal = _STATUS in message.text  # which is what a page with a refusal has for a status
        if message.type in ("error", "warning") and not is_refusal:
            self.complaints.append(f"{message.type}: {message.text}")

    def note_error(self, error: Error) -> None:
        self.complaints.append(f"script: {error.message}")

    async def note_dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    async def check(self) -> None:
        """Nothing of what agents wrote has run, and the browser has nothing to complain about."""
        assert await self.page.evaluate("window.hacked") is None
        assert not self.complaints, self.complaints


@asynccontextmanager
async def watched(context: BrowserContext, url: str) -> AsyncIterator[Watched]:
    """A tab; as it is left, everything must have been in order."""
    page = await context.new_page()
    seen = Watched(page, url)
    page.on("console", seen.note_message)
    page.on("pageerror", seen.note_error)
    page.on("dialog", seen.note_dialog)
    yield seen
    await seen.check()
    await page.close()
