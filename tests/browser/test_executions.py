"""Long work is followed, stopped and begun anew by a person in a real browser."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.asking import begin
from tests.browser.conftest import Look
from tests.browser.test_hostile_texts import ALL, look_around
from tests.browser.watching import Watched
from tests.spec.wires import Aql, data_of

_TOLD_OF_PROGRESS = """() => {
    const real = ask;
    let asked = 0;
    ask = () => { asked += 1; };
    news.dispatchEvent(new Event("moved"));
    ask = real;
    return asked;
}"""
"""How often a page asks for itself anew when it hears that something has got on, and nothing else."""

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


async def state_of(agent: Aql, execution: str) -> str:
    """What the agent that has started it is told."""
    return str(data_of(await agent.read("get_execution", execution_id=execution, wait_seconds=20))["status"])


def row_of(tab: Watched, execution: str) -> Locator:
    return tab.page.locator("tr", has=tab.page.locator(f"a[href='/execution?id={execution}']"))


async def test_a_bar_moves_by_itself_and_in_the_end_the_result_is_there(look: Look, agent: Aql, name: str) -> None:
    execution = await begin(agent, "execute_harvest", field=name, rows=2)
    async with look() as several, look() as one:
        await several.go("/executions")
        await one.go(f"/execution?id={execution}")
        shown = (several, row_of(several, execution)), (one, one.page.locator("#progress"))
        for tab, progress in shown:
            bar = progress.get_by_role("progressbar", name="Progress of execute_harvest")
            await expect(bar).to_have_js_property("value", 0)
            await tab.page.evaluate("window.same = true")
            assert await tab.page.evaluate(_TOLD_OF_PROGRESS) == 1
        data_of(await agent.execute("execute_row", field=name))
        for _, progress in shown:
            await expect(progress).to_contain_text("50 %")
            await expect(progress).to_contain_text(f"Row 2 of {name}")
            await expect(progress.get_by_role("progressbar")).to_have_js_property("value", 50)
        data_of(await agent.execute("execute_row", field=name))
        await expect(one.page.locator("#state")).to_contain_text("completed")
        await expect(one.page.locator(".result")).to_contain_text("Basket 2")
        await expect(one.page.get_by_role("button", name="Cancel it")).to_be_hidden()
        await expect(row_of(several, execution)).to_contain_text("completed")
        assert await one.page.evaluate(_TOLD_OF_PROGRESS) == 0, "there is no bar any more that could move"
        for tab, _ in shown:
            assert await tab.page.evaluate("window.same") is True


async def test_a_person_cancels_what_runs_and_it_stops(look: Look, agent: Aql, name: str) -> None:
    execution = await begin(agent, "execute_harvest", field=name)
    async with look() as tab:
        await tab.go("/executions?show=unfinished")
        await row_of(tab, execution).get_by_role("link").click()
        await expect(tab.page.locator("#state")).to_contain_text("running")
        await tab.press("Cancel it")
        assert await state_of(agent, execution) == "cancelled"
        await expect(tab.page.locator("#state")).to_contain_text("cancelled")
        await expect(tab.page.locator("#about")).to_contain_text("by ana")
        await expect(tab.page.locator("#decide")).to_contain_text("It has ended, and stays as it is.")
        assert await tab.page.locator("#decide button").count() == 0


async def test_what_failed_with_hostile_words_is_shown_as_it_is_and_retried(look: Look, agent: Aql, name: str) -> None:
    await begin(agent, "execute_harvest", field=name, rows=1)  # a server that works on something looks more often
    execution = await begin(agent, "execute_sale", words=ALL)
    assert await state_of(agent, execution) == "failed"
    async with look() as tab:
        path = f"/execution?id={execution}"
        await look_around(tab, ("/", "/executions", path))
        await expect(tab.page.locator("#error")).to_contain_text("<script>window.hacked = 1</script>")
        await tab.press("Retry it")
        assert await state_of(agent, execution) == "completed"
        await expect(tab.page.locator("#state")).to_contain_text("completed")
        await expect(tab.page.locator(".result")).to_contain_text("<script>window.hacked = 1</script>")
        await look_around(tab, ("/executions", path))
    data_of(await agent.execute("execute_row", field=name))
