"""Everything that a person must be able to decide works where scripts do not run."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from tests.browser.asking import ask, blocked, report
from tests.browser.conftest import Look
from tests.browser.watching import Watched
from tests.spec.wires import Aql, data_of, error_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


@pytest.fixture
async def plain(look: Look) -> AsyncIterator[Watched]:
    """A tab in which no script runs."""
    async with look(java_script_enabled=False) as tab:
        yield tab


async def test_a_person_approves_refuses_and_changes_what_is_asked(plain: Watched, agent: Aql) -> None:
    wanted, unwanted, other = [
        await ask(agent, "create", "create_notice", text=text) for text in ("Wanted", "Unwanted", "Other")
    ]
    await plain.go("/approvals")
    await plain.page.locator(f"a[href='/approvals/{wanted}']").click()
    await plain.press("Approve")
    await expect(plain.page.locator("#state")).to_have_text("approved by ana")
    await plain.go(f"/approvals/{unwanted}")
    await plain.page.get_by_label("Why not").fill("not now")
    await plain.press("Refuse")
    await expect(plain.page.locator("#state")).to_have_text("refused by ana: not now")
    await plain.go(f"/approvals/{other}")
    await plain.page.get_by_text("Change the arguments").click()
    await plain.page.get_by_label("Arguments, as JSON").fill('{"text": "Another"}')
    await plain.press("Approve with these arguments")
    await expect(plain.page.locator(".arguments")).to_contain_text('"text": "Another"')

    assert data_of(await agent.create("create_notice", text="Wanted", confirmation_token=wanted))["pinned"] == 6
    error_of(await agent.create("create_notice", text="Unwanted", confirmation_token=unwanted), "PERMISSION_DENIED")
    told = error_of(await agent.create("create_notice", text="Other", confirmation_token=other))
    assert told["details"]["approved_params"] == {"text": "Another"}


async def test_a_person_approves_several_at_once(plain: Watched, agent: Aql) -> None:
    waiting = [await ask(agent, "create", "create_notice", text=f"Plain {number}") for number in range(2)]
    await plain.go("/approvals")
    for one in waiting:
        await plain.page.locator(f"input[value={one}]").check()
    await plain.press("Approve those chosen")
    await expect(plain.page.get_by_role("alert")).to_have_text("2 approved.")


async def test_a_person_releases_an_agent_with_a_code(plain: Watched, agent: Aql, name: str) -> None:
    await blocked(agent, name)
    await plain.go("/codes")
    await plain.page.get_by_role("link", name=name).click()
    await plain.press("Show a code")
    await plain.page.get_by_label("this is the code").fill(await plain.text("#shown-code"))
    await plain.press("Verify")
    await expect(plain.page.locator("#state")).to_contain_text("verified")
    assert (await report(agent, name))["continue"] is True
