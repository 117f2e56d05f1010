"""Operations are tried and the audit is read in a real browser."""

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.asking import ask
from tests.browser.conftest import Look
from tests.browser.consoles import Consoled
from tests.browser.watching import Watched
from tests.cli.states import tamper
from tests.spec.wires import Aql

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


async def answer_in(tab: Watched, heading: str) -> dict[str, object]:
    """The answer that the page shows under a heading."""
    await expect(tab.page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    answer = json.loads(await tab.text("pre.answer"))
    assert isinstance(answer, dict)
    return answer


async def test_an_operation_is_found_and_tried_with_a_form_made_for_it(look: Look) -> None:
    async with look() as tab:
        await tab.go("/operations")
        await expect(tab.page.get_by_role("row", name="list_items")).to_contain_text("READ")
        await tab.page.get_by_label("Search").fill("count")
        await tab.press("Find")
        await tab.page.get_by_role("link", name="execute_count").click()
        await tab.press("Send")
        assert await answer_in(tab, "Answer") == {"success": True, "data": 99}


async def test_a_form_takes_every_kind_of_parameter_and_says_what_is_wrong(look: Look) -> None:
    async with look() as tab:
        await tab.go("/operations/create_notice")
        await tab.page.get_by_label("text").fill("Fresh fish")
        await tab.page.get_by_label("urgent").select_option("true")
        await tab.page.get_by_label("dry_run").select_option("true")
        await tab.press("Send")
        answer = await answer_in(tab, "Answer")
        assert answer["data"]["would_run"]["params"] == {"text": "Fresh fish", "urgent": True}  # type: ignore[index]
        await expect(tab.page.get_by_label("text")).to_have_value("Fresh fish")

        await tab.go("/operations/update_item")
        await tab.page.get_by_label("id").fill("one")
        await tab.page.get_by_label("input").fill('{"price": 3}')
        await tab.press("Send")
        await expect(tab.page.get_by_role("alert")).to_have_text("'id' must be a number.")
        await expect(tab.page.get_by_label("input")).to_have_value('{"price": 3}')


async def test_an_operator_confirms_a_deletion_of_their_own(look: Look) -> None:
    async with look() as tab:
        await tab.go("/operations/delete_item")
        await tab.page.get_by_label("id").fill("90")
        await tab.press("Send")
        asked = await answer_in(tab, "Error")
        assert asked["error"]["code"] == "CONFIRMATION_REQUIRED"  # type: ignore[index]
        await expect(tab.page.get_by_text("Send it again with this token to confirm.")).to_be_visible()
        await tab.press("Send")
        assert (await answer_in(tab, "Answer"))["data"] == {"deleted": True, "id": 90}


async def test_an_operator_asks_for_what_a_person_must_approve_approves_and_sends_it_again(look: Look) -> None:
    async with look() as tab:
        await tab.go("/operations/create_notice")
        await tab.page.get_by_label("text").fill("By myself")
        await tab.press("Send")
        await answer_in(tab, "Error")
        deciding = tab.page.get_by_role("link", name="Decide about it first")
        path = await deciding.get_attribute("href")
        async with look("bo") as bo:
            await bo.go(str(path))
            await bo.press("Approve")
            await expect(bo.page.locator("#state")).to_contain_text("approved by bo")
        await tab.press("Send")
        assert (await answer_in(tab, "Answer"))["data"] == {"pinned": 9, "urgent": False, "colour": "white"}


async def test_the_audit_is_filtered_and_a_filter_that_means_nothing_is_explained(look: Look, agent: Aql) -> None:
    await ask(agent, "create", "create_notice", text="To be found")
    async with look() as tab:
        await tab.go("/audit")
        await tab.page.get_by_label("Event").fill("issued")
        await tab.page.get_by_label("Operation").fill("create_*")
        await tab.page.get_by_role("spinbutton", name="Rows").fill("1")
        await tab.press("Show")
        await expect(tab.page.locator("tbody tr")).to_have_count(1)
        await tab.page.locator("tbody summary").click()
        await expect(tab.page.locator("tbody pre")).to_contain_text("To be found")
        await tab.page.get_by_label("Event").fill("isued")
        await tab.press("Show")
        await expect(tab.page.get_by_role("alert")).to_contain_text("there is no event 'isued'")
        await tab.page.get_by_label("Event").fill("")
        await tab.page.get_by_label("Operation").fill("no_such_operation")
        await tab.press("Show")
        await expect(tab.page.locator("tbody")).to_have_text("No rows.")


async def test_the_chain_is_checked_and_a_row_that_was_changed_is_named(look: Look, served: Consoled) -> None:
    async with look() as tab:
        await tab.go("/audit")
        await tab.press("Check the chain")
        await expect(tab.page.get_by_role("alert")).to_contain_text("The chain is whole, up to row")
        tamper(Path(served.state), "UPDATE audit_rows SET entry = entry || ' ' WHERE number = 2")
        await tab.press("Check the chain")
        await expect(tab.page.get_by_role("alert")).to_contain_text("Row 2 is wrong")
        tamper(Path(served.state), "UPDATE audit_rows SET entry = rtrim(entry) WHERE number = 2")
