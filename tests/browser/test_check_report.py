"""The page that ``headgate check --format html`` writes, in a real browser: for everybody, and deaf to servers."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser

from headgate.conformance.reports.html import html_of
from headgate.conformance.reports.reproducing import Way
from headgate.conformance.reports.shown import shown_of
from tests.browser.axe import complaints, install
from tests.conformance.reports.made import HOSTILE, a_report

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 390])
async def test_the_report_can_be_read_by_everybody_and_runs_nothing(
    scheme: Literal["light", "dark"], width: int, browser: Browser, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    page.write_text(html_of(shown_of(a_report(name=f"shop {HOSTILE}"), Way.of("http://127.0.0.1:3000/mcp"))))
    context = await browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    try:
        await install(context)
        tab = await context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("dialog", lambda dialog: asked.append(dialog.message))
        await tab.goto(page.as_uri())
        await tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert await complaints(tab) == []
        assert await tab.evaluate("document.documentElement.scrollWidth") <= width
        assert asked == [page.as_uri()]
    finally:
        await context.close()
