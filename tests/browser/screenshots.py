"""Pictures of the console for the documentation: ``make screenshots``."""

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.browsing import browsing, chromium
from tests.browser.consoles import Consoled
from tests.browser.scene import bookshop_console, play
from tests.support import ROOT

FOLDER = ROOT / "docs" / "screenshots"
WIDTHS = {"desktop": 1280, "phone": 390}
_HEIGHTS = {"desktop": 800, "phone": 844}


async def _signed_in(browser: Browser, served: Consoled, width: str, scheme: str = "light") -> BrowserContext:
    context = await browser.new_context(
        viewport={"width": WIDTHS[width], "height": _HEIGHTS[width]},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = await context.new_page()
    await page.goto(served.link())
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Overview").wait_for()
    await page.close()
    return context


async def _take(page: Page, name: str) -> None:
    taken = await page.screenshot(full_page=True, animations="disabled")
    few = Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(FOLDER / f"{name}.png", optimize=True)


async def _tour(page: Page, url: str, asked: dict[str, str], width: str) -> None:
    for name, path in (
        ("overview", "/"),
        ("approvals", "/approvals"),
        ("approval", f"/approvals/{asked['price']}"),
        ("agent", "/agent?name=newsletter"),
        ("audit", "/audit?rows=20"),
        ("operation", "/operations/update_book"),
    ):
        await page.goto(url + path)
        await _take(page, f"{name}-{width}")
    await page.goto(f"{url}/codes")
    await page.get_by_role("link", name="catalogue").click()
    await page.get_by_role("button", name="Show a code").click()
    await page.locator("#shown-code").wait_for()
    await _take(page, f"code-{width}")


async def _main(program: str, folder: Path) -> None:
    with bookshop_console(folder) as (served, clock):
        asked = await play(served, clock)
        async with browsing(program) as browser:
            for width in WIDTHS:
                context = await _signed_in(browser, served, width)
                await _tour(await context.new_page(), served.url, asked, width)
                await context.close()
            context = await _signed_in(browser, served, "desktop", "dark")
            page = await context.new_page()
            await page.goto(served.url)
            await _take(page, "overview-dark-desktop")
            await context.close()


if __name__ == "__main__":
    found = chromium()
    if found is None:
        sys.exit("there is no chromium here")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        anyio.run(_main, found, Path(folder))
