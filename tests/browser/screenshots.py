"""Pictures of the console for the documentation: ``make screenshots``."""

import io
import sys
from collections import Counter
from math import dist
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import anyio
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.browsing import browsing
from tests.browser.consoles import Consoled
from tests.browser.finding import chromium
from tests.browser.scene import bookshop_console, office_console, play, work
from tests.support import ROOT

FOLDER = ROOT / "docs" / "screenshots"
WIDTHS = {"desktop": 1280, "phone": 390}
_COLOURS = 256
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
    _with_few_colours(Image.open(io.BytesIO(taken)).convert("RGB")).save(FOLDER / f"{name}.png", optimize=True)


def _with_few_colours(picture: Image.Image) -> Image.Image:
    """A third of the size: the colours that there are most of stay as they are, each other becomes the nearest one."""
    pixels = cast("tuple[tuple[int, int, int], ...]", picture.get_flattened_data())
    counted = [colour for colour, _ in Counter(pixels).most_common()]
    kept = counted[:_COLOURS]
    places = {colour: min(range(len(kept)), key=lambda place: dist(kept[place], colour)) for colour in counted}
    made = Image.frombytes("P", picture.size, bytes(places[pixel] for pixel in pixels))
    made.putpalette([part for colour in kept for part in colour])
    return made


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


async def _take_executions(program: str, folder: Path) -> None:
    with office_console(folder) as (served, clock):
        begun = await work(served, clock)
        async with browsing(program) as browser:
            for width in WIDTHS:
                context = await _signed_in(browser, served, width)
                page = await context.new_page()
                for name, path in (
                    ("executions", "/executions"),
                    ("execution", f"/execution?id={begun['execute_catalogue']}"),
                ):
                    await page.goto(served.url + path)
                    await _take(page, f"{name}-{width}")
                await context.close()


async def _take_the_rest(program: str, folder: Path) -> None:
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
    for taking in (_take_executions, _take_the_rest):
        with TemporaryDirectory() as folder:
            anyio.run(taking, found, Path(folder))
