"""An agent that is held up is released by a person in a real browser, and by nobody else."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.asking import GRAVE, HARMLESS, RISKY, blocked, report, start
from tests.browser.conftest import Look
from tests.spec.wires import Aql, data_of, error_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]

CODE = re.compile(r"[2-9A-HJKMNP-Z]{4}(-[2-9A-HJKMNP-Z]{4}){6}")


async def test_a_blocked_agent_goes_on_once_a_person_has_read_and_typed_the_code(
    look: Look, agent: Aql, name: str
) -> None:
    await blocked(agent, name)
    async with look() as tab:
        await tab.go("/codes")
        await tab.page.get_by_role("link", name=name).click()
        await expect(tab.page.locator("#state")).to_have_text("the agent is blocked")
        await expect(tab.page.locator("dl")).to_contain_text("rm -rf /srv/market")
        challenge = tab.page.url.rpartition("/")[2]
        await tab.press("Show a code")
        code = await tab.text("#shown-code")
        assert CODE.fullmatch(code)

        own = await agent.create("verify_challenge", challenge_id=challenge, code=code)
        assert error_of(own)["code"] == "PERMISSION_DENIED"
        error_of(await agent.create("record_execution_step", element_name=name, next_action_hint=HARMLESS))

        await tab.page.get_by_label("this is the code").fill(f" {code.replace('-', ' ').lower()} ")
        await tab.press("Verify")
        await expect(tab.page.locator("#state")).to_contain_text("by console:ana")
        assert await tab.page.get_by_role("button", name=re.compile("Verify|Show")).count() == 0
    assert (await report(agent, name))["continue"] is True


async def test_a_wrong_code_is_told_and_makes_the_shown_one_void(look: Look, agent: Aql, name: str) -> None:
    await blocked(agent, name)
    async with look() as tab:
        await tab.go("/codes")
        await tab.page.get_by_role("link", name=name).click()
        await tab.press("Show a code")
        code = await tab.text("#shown-code")
        for typed, tries in (("AAAA-BBBB", 1), (code, 2)):
            await tab.page.get_by_label("this is the code").fill(typed)
            await tab.press("Verify")
            await expect(tab.page.get_by_role("alert")).to_be_visible()
            await expect(tab.page.locator("#about")).to_contain_text(f"Wrong tries\n{tries}", use_inner_text=True)
            await expect(tab.page.locator("#state")).to_have_text("the agent is blocked")
    error_of(await agent.create("record_execution_step", element_name=name, next_action_hint=HARMLESS))


async def test_a_grave_step_waits_for_a_code_and_another_operator_sees_that_it_was_verified(
    look: Look, agent: Aql, name: str
) -> None:
    await start(agent, name, "Lower the prices")
    assert (await report(agent, name, GRAVE))["continue"] is False
    async with look("ana") as ana, look("bo") as bo:
        for tab in (ana, bo):
            await tab.go("/codes")
            await tab.page.get_by_role("link", name=name).click()
            await expect(tab.page.locator("#state")).to_have_text("the agent is paused")
        await ana.press("Show a code")
        await ana.page.get_by_label("this is the code").fill(await ana.text("#shown-code"))
        await ana.press("Verify")
        await expect(bo.page.locator("#state")).to_contain_text("verified")
        await expect(bo.page.get_by_role("button", name="Show a code")).to_be_hidden()
    assert (await report(agent, name, GRAVE))["continue"] is True


async def test_a_grave_step_is_refused_in_place_of_verified(look: Look, agent: Aql, name: str) -> None:
    await start(agent, name)
    assert (await report(agent, name, GRAVE))["continue"] is False
    async with look() as tab:
        await tab.go("/codes")
        await tab.page.get_by_role("link", name=name).click()
        await tab.page.get_by_label("Why not, for the agent").fill("prices stay")
        await tab.press("Refuse")
        await expect(tab.page.locator("#state")).to_contain_text("by ana: prices stay")
        assert await tab.page.get_by_role("button", name="Show a code").count() == 0
    directive = await report(agent, name, GRAVE)
    assert directive["continue"] is False
    assert "prices stay" in str(directive["notifications"])


async def test_a_step_that_was_refused_is_told_with_the_reason(look: Look, agent: Aql, name: str) -> None:
    await start(agent, name)
    assert (await report(agent, name, RISKY))["continue"] is False
    async with look() as tab:
        await tab.go(f"/agent?name={name}")
        await tab.page.get_by_role("link", name="Decide").click()
        await expect(tab.page.get_by_role("heading", level=1)).to_have_text(f"Next step of {name}")
        assert await tab.page.get_by_text("Change the arguments").count() == 0
        await tab.page.get_by_label("Why not").fill("they have had enough of it")
        await tab.press("Refuse")
        await expect(tab.page.locator("#state")).to_contain_text("refused by ana: they have had enough of it")
    directive = await report(agent, name, RISKY)
    assert directive["continue"] is False
    assert "they have had enough of it" in str(directive["notifications"])


async def test_what_an_agent_does_can_be_followed_step_by_step(look: Look, agent: Aql, name: str) -> None:
    await start(agent, name, "Count what there is")
    await report(agent, name)
    async with look() as tab:
        await tab.go("/agents")
        row = tab.page.get_by_role("row", name=name)
        await expect(row).to_contain_text("executing")
        await row.get_by_role("link").click()
        await expect(tab.page.locator("#about")).to_contain_text("Count what there is")
        await expect(tab.page.locator(".steps > li")).to_have_count(1)

        await report(agent, name, RISKY, step_description="Read 99 items", outcome="success")
        await expect(tab.page.locator(".steps > li")).to_have_count(2)
        last = tab.page.locator(".steps > li").first
        for words in ("2.", RISKY, "confirm", "Paused", "risk 56 of 100", "Read 99 items (success)", "'send' sends"):
            await expect(last).to_contain_text(words)
        await expect(tab.page.locator("#state")).to_have_text("paused")
        await tab.page.get_by_label("Why it must end").fill("it is late")
        await tab.press("End the execution")
        await expect(tab.page.locator("#about")).to_contain_text("It executes nothing now.")
        await tab.page.get_by_role("link", name="What it has done").click()
        await expect(tab.page.locator("tbody tr").first).to_contain_text("agent aborted")
    error_of(await agent.create("record_execution_step", element_name=name, next_action_hint=HARMLESS))


async def test_an_administrator_lifts_a_block_and_must_say_why(look: Look, agent: Aql, name: str) -> None:
    await blocked(agent, name)
    async with look() as tab:
        await tab.go(f"/agent?name={name}")
        await expect(tab.page.get_by_role("heading", name="Blocked")).to_be_visible()
        await tab.press("Override the block")
        assert await tab.page.get_by_label("lift the block").evaluate("field => field.validity.valueMissing")
        await tab.page.get_by_label("lift the block").fill("   ")
        await tab.press("Override the block")
        await expect(tab.page.get_by_role("alert")).to_contain_text("nothing was changed")
        await tab.page.get_by_label("lift the block").fill("it is a test machine")
        await tab.press("Override the block")
        await expect(tab.page.locator("#state")).to_have_text("executing")
        await tab.go(f"/audit?agent={name}&event=block+overridden")
        await tab.page.locator("tbody summary").first.click()
        await expect(tab.page.locator("tbody pre").first).to_contain_text('"reason": "it is a test machine"')
    assert (await report(agent, name))["continue"] is True
    data_of(await agent.execute("complete_execution", element_name=name))
