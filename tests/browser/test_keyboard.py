"""The console with a keyboard alone, in a real browser."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.asking import ask
from tests.browser.conftest import Look
from tests.browser.consoles import Consoled
from tests.browser.watching import Watched, watched
from tests.spec.wires import Aql, data_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]

_FOCUSED = """() => {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const place = one.getBoundingClientRect();
    return {
        name: (one.getAttribute("href") ?? one.innerText ?? "").trim(),
        ring: style.outlineStyle === "solid" ? parseFloat(style.outlineWidth) : 0,
        seen: place.width > 0 && place.left >= 0 && place.top >= 0 && place.bottom <= innerHeight,
    };
}"""


async def tab_to(tab: Watched, name: str, most: int = 60) -> None:
    """Press Tab until something has the focus, which can be seen wherever it is."""
    await tab.laid_out()
    seen = []
    for _ in range(most):
        await tab.page.keyboard.press("Tab")
        focused = await tab.page.evaluate(_FOCUSED)
        assert focused["ring"] >= 2, focused
        assert focused["seen"], focused
        if focused["name"] == name:
            return
        seen.append(focused["name"])
    pytest.fail(f"Tab does not lead to {name}, only to {seen}")


async def test_a_person_signs_in_finds_what_waits_and_approves_it_without_a_mouse(
    browser: Browser, served: Consoled, agent: Aql
) -> None:
    waits = await ask(agent, "create", "create_notice", text="By keyboard")
    async with await browser.new_context() as context, watched(context, served.url) as tab:
        await tab.page.goto(served.link("ed"))
        await tab_to(tab, "Sign in")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("heading", name="Overview")).to_be_visible()
        await tab_to(tab, "/approvals")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("heading", name="Approvals")).to_be_visible()
        await tab_to(tab, f"/approvals/{waits}", most=400)
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("#state")).to_have_text("waits")
        await tab_to(tab, "Approve")
        await tab.page.keyboard.press("Space")
        await expect(tab.page.locator("#state")).to_have_text("approved by ed")
    assert data_of(await agent.create("create_notice", text="By keyboard", confirmation_token=waits))["pinned"] == 11


async def test_the_first_link_leads_past_the_navigation(look: Look) -> None:
    async with look() as tab:
        await tab.go("/audit")
        await tab_to(tab, "#content", most=1)
        await expect(tab.page.get_by_role("link", name="To the content")).to_be_in_viewport()
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("main")).to_be_focused()
        await tab.page.keyboard.press("Tab")
        await expect(tab.page.get_by_label("Event")).to_be_focused()
