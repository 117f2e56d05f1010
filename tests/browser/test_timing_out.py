"""A server on which nothing has happened yet; then what nobody decides in time is refused, while somebody looks on."""

from collections.abc import Iterator

import pytest
from playwright.async_api import expect

from tests.browser.asking import GRAVE, POLICY, RISKY, ask, report, start
from tests.browser.axe import complaints, install
from tests.browser.clocks import Clock
from tests.browser.conftest import CALLERS, MARKET, Desks
from tests.browser.consoles import Consoled, agent_of, serve_console
from tests.spec.wires import Connections, error_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]

OVER = "refused: nobody approved in time"


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    return Clock(tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[Consoled]:
    """The market on a server whose clock is set from here."""
    with serve_console(tmp_path_factory.mktemp("dated"), MARKET, POLICY, callers=CALLERS, env=clock.env) as serving:
        yield serving


async def test_pages_have_something_to_say_even_if_nothing_has_happened_yet(desks: Desks, dated: Consoled) -> None:
    async with desks.look(dated, viewport={"width": 390, "height": 844}) as tab:
        await install(tab.page.context)
        for path, words in (
            ("/", "Nothing waits."),
            ("/approvals", "Nothing waits for a person."),
            ("/codes", "No agent waits to be verified."),
            ("/agents", "No agent has worked under the safety loop yet."),
            ("/executions", "Nothing has run in the background yet."),
            ("/audit?event=verified", "No rows."),
        ):
            await tab.go(path)
            await expect(tab.page.locator("main")).to_contain_text(words)
            assert await complaints(tab.page) == []
            assert await tab.page.evaluate("document.documentElement.scrollWidth") == 390


async def test_what_nobody_approves_in_time_is_refused_on_every_open_page(
    desks: Desks, dated: Consoled, clock: Clock, connections: Connections
) -> None:
    async with (
        connections.open(agent_of(dated, "caller 1")) as agent,
        connections.open(agent_of(dated, "caller 2")) as other,
        connections.open(agent_of(dated, "caller 3")) as third,
        desks.look(dated) as call,
        desks.look(dated) as step,
        desks.look(dated) as code,
        desks.look(dated) as all_of_them,
        desks.look(dated, java_script_enabled=False) as late,
    ):
        waits = await ask(agent, "create", "create_notice", text="Soon")
        await start(other, "slow")
        assert (await report(other, "slow", RISKY))["continue"] is False
        await start(third, "halted")
        assert (await report(third, "halted", GRAVE))["continue"] is False
        await call.go(f"/approvals/{waits}")
        await late.go(f"/approvals/{waits}")
        await step.go("/approvals")
        await step.page.get_by_role("link", name="Next step of slow").click()
        await code.go("/codes")
        await code.page.get_by_role("link", name="halted").click()
        await all_of_them.go("/")
        await expect(all_of_them.page.locator("#waits li")).to_have_count(3)
        await expect(all_of_them.page).to_have_title("(3) Overview · headgate")
        for tab in (call, step):
            await expect(tab.page.locator("#state")).to_have_text("waits")
            await expect(tab.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()

        clock.set(800)
        await call.page.reload()
        await expect(call.page.locator("#state")).to_have_text("waits")
        clock.set(901)
        for tab in (call, step):
            await expect(tab.page.locator("#state")).to_have_text(OVER)
            await expect(tab.page.get_by_role("button", name="Approve", exact=True)).to_be_hidden()
        await expect(code.page.locator("#state")).to_contain_text("expired")
        await expect(code.page.get_by_role("button", name="Show a code")).to_be_hidden()
        await expect(all_of_them.page.locator("#waits")).to_contain_text("Nothing waits.")
        await expect(all_of_them.page.get_by_role("status")).to_have_text("Nothing waits any more.")
        await expect(all_of_them.page).to_have_title("Overview · headgate")

        await late.press("Approve")
        await expect(late.page.get_by_role("alert")).to_have_text("It waits no longer, so nothing was approved.")
        await expect(late.page.locator("#state")).to_have_text(OVER)
        clock.set(940)  # beyond the half minute by which clocks may differ
        error_of(await agent.create("create_notice", text="Soon", confirmation_token=waits), "TOKEN_EXPIRED")
        told = await report(other, "slow")
        assert "Nobody approved in time" in str(told["notifications"])
