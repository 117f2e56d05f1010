"""Open pages stay up to date by themselves, and take nothing from whoever works with them."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.asking import ask, blocked, report, start
from tests.browser.conftest import Look
from tests.spec.wires import Aql, data_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


async def test_what_waits_appears_and_goes_without_a_reload(look: Look, agent: Aql) -> None:
    async with look("ana") as ana, look("bo") as bo:
        for tab in (ana, bo):
            await tab.go("/approvals")
            await tab.page.evaluate("window.same = true")
        waits = await ask(agent, "create", "create_notice", text="New here")
        for tab in (ana, bo):
            await expect(tab.page.locator(f"input[value={waits}]")).to_be_visible()
            await expect(tab.page.locator("nav")).to_contain_text(re.compile(r"Approvals \d+ waiting"))
            await expect(tab.page).to_have_title(re.compile(r"\(\d+\) Approvals"))
        await ana.page.locator(f"input[value={waits}]").check()
        await ana.press("Refuse those chosen")
        await expect(bo.page.locator(f"input[value={waits}]")).to_be_hidden()
        assert await bo.page.evaluate("window.same") is True


async def test_what_somebody_types_has_chosen_or_opened_stays_as_a_page_changes(look: Look, agent: Aql) -> None:
    first = await ask(agent, "create", "create_notice", text="One")
    async with look() as several, look() as one:
        await several.go("/approvals")
        await several.page.locator(f"input[value={first}]").check()
        card = several.page.locator("li", has=several.page.locator(f"input[value={first}]"))
        await card.get_by_text("All arguments").click()
        await one.go(f"/approvals/{first}")
        await one.page.get_by_label("Why not").fill("half a sen")

        second = await ask(agent, "create", "create_notice", text="Two")
        await expect(several.page.locator(f"input[value={second}]")).not_to_be_checked()
        await expect(several.page.locator(f"input[value={first}]")).to_be_checked()
        await expect(card.locator("pre")).to_be_visible()
        await expect(several.page.locator("details[open]")).to_have_count(1)
        assert await several.page.evaluate("document.activeElement.textContent") == "All arguments"
        await expect(one.page.locator("nav")).to_contain_text(re.compile(r"Approvals \d+"))
        await expect(one.page.get_by_label("Why not")).to_have_value("half a sen")
        await expect(one.page.get_by_label("Why not")).to_be_focused()
        await one.page.keyboard.type("tence")
        await one.press("Refuse")
        await expect(one.page.locator("#state")).to_have_text("refused by ana: half a sentence")


async def test_an_opened_row_of_the_audit_stays_the_one_that_is_open(look: Look, agent: Aql) -> None:
    await ask(agent, "create", "create_notice", text="Row by row")
    async with look() as tab:
        await tab.go("/audit?event=issued")
        number = await tab.page.locator("tbody .number").first.inner_text()
        row = tab.page.get_by_role("row", name=re.compile(rf"^{number}\b"))
        await row.locator("summary").click()
        await ask(agent, "create", "create_notice", text="And one more")
        await expect(tab.page.locator("tbody .number").first).not_to_have_text(number)
        await expect(row.locator("pre")).to_contain_text("Row by row")
        await expect(tab.page.locator("details[open]")).to_have_count(1)


async def test_the_overview_shows_agents_and_draws_requests_as_they_come(look: Look, agent: Aql, name: str) -> None:
    async with look() as tab:
        await tab.go("/")
        requests = tab.page.locator("figure", has_text="Requests")
        counted = re.compile(r"(\d+) in the last hour")
        before = counted.search(await requests.inner_text())
        assert before
        await blocked(agent, name)
        for _ in range(5):
            await agent.read("list_items", first=1)  # which a blocked agent is refused
        await expect(tab.page.locator("#agents")).to_contain_text(name)
        await expect(tab.page.locator("#waits")).to_contain_text(f"Verify {name}")
        more = int(before.group(1)) + 7
        await expect(requests).to_contain_text(f"{more} in the last hour")
        for title in ("Requests", "Latency", "Decisions"):
            figure = tab.page.locator("figure", has_text=title)
            assert await figure.locator("svg rect, svg polyline").count() > 0
            assert await figure.locator("svg").get_attribute("aria-label")
        await expect(tab.page.locator("figure", has_text="Tokens saved")).to_contain_text("instead of")


async def test_the_list_of_agents_tells_what_has_become_of_each(look: Look, agent: Aql, name: str) -> None:
    await start(agent, name)
    async with look() as tab:
        await tab.go("/agents")
        await expect(tab.page.get_by_role("row", name=name)).to_contain_text("executing")
        await report(agent, name)
        data_of(await agent.execute("complete_execution", element_name=name))
        await expect(tab.page.get_by_role("row", name=name)).to_contain_text("idle")
