"""A person decides in a real browser, and an agent over MCP is told so."""

import pytest
from playwright.async_api import expect

from tests.browser.asking import ask
from tests.browser.conftest import Look
from tests.browser.watching import Watched
from tests.spec.wires import Aql, data_of, error_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


async def state_of(tab: Watched, words: str) -> None:
    """Wait until the page says what became of what was asked."""
    await expect(tab.page.locator("#state")).to_contain_text(words)


async def test_an_agent_may_do_what_a_person_has_approved_and_only_once(look: Look, agent: Aql) -> None:
    params = {"id": 1, "input": {"price": 2.5}}
    waits = await ask(agent, "update", "update_item", **params)
    error_of(await agent.update("update_item", **params, confirmation_token=waits), "CONFIRMATION_REQUIRED")
    async with look() as tab:
        await tab.go("/")
        await tab.page.locator(f"a[href='/approvals/{waits}']").click()
        await tab.press("Approve")
        await expect(tab.page).to_have_url(f"{tab.url}/approvals/{waits}")
        await state_of(tab, "approved by ana")
        assert await tab.page.get_by_role("button", name="Approve").count() == 0
        assert data_of(await agent.update("update_item", **params, confirmation_token=waits))["price"] == 2.5
        await state_of(tab, "approved by ana, and used")
    error_of(await agent.update("update_item", **params, confirmation_token=waits), "TOKEN_ALREADY_USED")


async def test_a_person_sees_the_arguments_in_full_and_what_would_change(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "update", "update_item", id=2, input={"price": 1.25, "note": "for friends"})
    async with look() as tab:
        await tab.go(f"/approvals/{waits}")
        arguments = await tab.text(".arguments")
        assert all(part in arguments for part in ('"id": 2', '"price": 1.25', '"note": "for friends"'))
        rows = await tab.page.locator(".changes tbody tr").all_inner_texts()
        assert [row.split() for row in rows] == [["price", "12.0", "1.25"], ["note", '""', '"for', 'friends"']]


async def test_a_person_changes_the_arguments_and_only_the_changed_call_runs(look: Look, agent: Aql) -> None:
    asked, meant = {"id": 3, "input": {"price": 0.01}}, {"id": 3, "input": {"price": 8.5}}
    waits = await ask(agent, "update", "update_item", **asked)
    async with look() as tab:
        await tab.go(f"/approvals/{waits}")
        await tab.page.get_by_text("Change the arguments").click()
        await tab.page.get_by_label("Arguments, as JSON").fill('{"id": 3, "input": {"price": "much"}}')
        await tab.press("Approve with these arguments")
        await expect(tab.page.get_by_role("alert")).to_contain_text("Nothing was approved.")
        await state_of(tab, "waits")
        await expect(tab.page.get_by_label("Arguments, as JSON")).to_have_value('{"id": 3, "input": {"price": "much"}}')

        await tab.page.get_by_label("Arguments, as JSON").fill('{"id": 3, "input": {"price": 8.5}}')
        await tab.press("Approve with these arguments")
        await state_of(tab, "approved by ana")
        assert '"price": 8.5' in await tab.text(".arguments")
        other = tab.page.url.rpartition("/")[2]
        assert other != waits
        await tab.go(f"/approvals/{waits}")
        await state_of(tab, f"changed: {other} was approved in its place")

    told = error_of(await agent.update("update_item", **asked, confirmation_token=waits), "CONFIRMATION_REQUIRED")
    assert told["details"]["approved_params"] == meant
    assert told["details"]["approval_id"] == other
    error_of(await agent.update("update_item", **asked, confirmation_token=other), "TOKEN_SCOPE_MISMATCH")
    error_of(await agent.update("update_item", **asked), "CONFIRMATION_REQUIRED")
    assert data_of(await agent.update("update_item", **meant, confirmation_token=other))["price"] == 8.5


async def test_an_agent_is_told_why_a_person_has_refused(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "create", "create_notice", text="Closed for ever")
    async with look() as tab:
        await tab.go(f"/approvals/{waits}")
        await tab.page.get_by_label("Why not, for the caller").fill("we are open <b>tomorrow</b>")
        await tab.press("Refuse")
        await state_of(tab, "refused by ana: we are open <b>tomorrow</b>")
    for token in ({"confirmation_token": waits}, {}):
        told = error_of(await agent.create("create_notice", text="Closed for ever", **token), "PERMISSION_DENIED")
        assert told["details"]["because"] == "we are open <b>tomorrow</b>"


@pytest.mark.parametrize(
    ("button", "said", "state"),
    [
        ("Approve those chosen", "2 approved.", "approved by ana"),
        ("Refuse those chosen", "2 refused.", "refused by ana"),
    ],
    ids=["approved", "refused"],
)
async def test_several_are_decided_at_once_and_the_others_still_wait(
    look: Look, agent: Aql, button: str, said: str, state: str
) -> None:
    waiting = [await ask(agent, "create", "create_notice", text=f"{button} {number}") for number in range(3)]
    async with look() as tab:
        await tab.go("/approvals")
        await tab.press(button)
        await expect(tab.page.get_by_role("alert")).to_contain_text("Nothing was chosen")
        for one in waiting[:2]:
            await tab.page.locator(f"input[value={one}]").check()
        await tab.press(button)
        await expect(tab.page.get_by_role("alert")).to_have_text(said)
        await expect(tab.page.locator(f"input[value={waiting[2]}]")).to_be_visible()
        assert await tab.page.locator(f"input[value={waiting[0]}]").count() == 0
        for one, became in zip(waiting, (state, state, "waits"), strict=True):
            await tab.go(f"/approvals/{one}")
            await state_of(tab, became)


async def test_two_operators_see_what_the_other_decides_and_a_late_click_is_told_so(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "create", "create_notice", text="For two")
    async with look("ana") as ana, look("bo") as bo, look("bo", java_script_enabled=False) as late:
        for tab in (ana, bo, late):
            await tab.go(f"/approvals/{waits}")
        await bo.page.get_by_label("Why not").fill("I was about to say")
        await ana.press("Approve")
        await state_of(bo, "approved by ana")
        await expect(bo.page.get_by_label("Why not")).to_have_value("I was about to say")
        await bo.press("Refuse")
        await late.press("Approve")
        for tab, word in ((bo, "refused"), (late, "approved")):
            await expect(tab.page.get_by_role("alert")).to_have_text(f"It waits no longer, so nothing was {word}.")
            await state_of(tab, "approved by ana")
    assert data_of(await agent.create("create_notice", text="For two", confirmation_token=waits))["pinned"] == 7


async def test_what_another_has_decided_is_no_longer_offered(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "create", "create_notice", text="Only once")
    async with look("ana") as ana, look("bo") as bo:
        await bo.go(f"/approvals/{waits}")
        await expect(bo.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
        await ana.go(f"/approvals/{waits}")
        await ana.press("Refuse")
        await state_of(bo, "refused by ana")
        await expect(bo.page.get_by_role("button", name="Approve", exact=True)).to_be_hidden()


async def test_another_client_confirms_with_the_token_that_a_person_sees(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "create", "create_notice", text="With a token")
    async with look() as tab:
        await tab.go(f"/approvals/{waits}")
        await tab.press("Show a token for another client")
        token = await tab.text("#shown-token")
        refused = await agent.execute("confirm_operation", approval_id=waits, token=token)
        assert error_of(refused)["code"] == "PERMISSION_DENIED"
        await tab.go(f"/approvals/{waits}")
        await state_of(tab, "waits")
        assert await tab.page.locator("#shown-token").count() == 0
