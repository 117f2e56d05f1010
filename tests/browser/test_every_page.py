"""Every page of the console: in light and dark, on a desk and on a phone, for eyes, ears and keyboards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.async_api import ViewportSize, expect

from tests.browser.asking import GRAVE, RISKY, ask, begin, blocked, report, start
from tests.browser.axe import complaints, install
from tests.browser.conftest import Desks, Look
from tests.browser.consoles import Consoled, agent_of
from tests.browser.watching import Watched
from tests.spec.wires import Connections, data_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]

DESK, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)


@dataclass(frozen=True)
class Stage:
    """What there is to be seen."""

    waits: str
    """An update that waits, which tells what would change."""
    step: str
    """A step of an agent that waits."""
    refused: str
    """What was refused."""
    stuck: str
    """An execution that does not stop."""
    failed: str
    """An execution that has failed."""


@pytest.fixture(scope="module")
async def stage(
    served: Consoled, connections: Connections, desks: Desks, callers: Iterator[str]
) -> AsyncIterator[Stage]:
    """Something of everything that pages show."""
    async with (
        connections.open(agent_of(served, next(callers))) as agent,
        connections.open(agent_of(served, next(callers))) as other,
        connections.open(agent_of(served, next(callers))) as hand,
    ):
        waits = await ask(agent, "update", "update_item", id=50, input={"price": 3.5, "note": "a note " * 30})
        refused = await ask(agent, "create", "create_notice", text="Refused " * 100)
        await start(agent, "page-paused", "Send the list to whoever wants it")
        await report(agent, "page-paused", "read the list of items")
        await report(agent, "page-paused", RISKY, step_description="Read 99 items", outcome="success")
        await start(agent, "page-grave", "Lower the prices")
        await report(agent, "page-grave", GRAVE)
        await start(agent, "page-idle")
        data_of(await agent.execute("complete_execution", element_name="page-idle"))
        await blocked(other, "page-blocked")
        await begin(hand, "execute_harvest", field="page-field", rows=1)
        stuck = await begin(hand, "execute_nap", field="page-bed")
        failed = await begin(hand, "execute_sale", words="Nobody wants it " * 20)
        data_of(await hand.execute("cancel_execution", execution_id=stuck))
        async with desks.look(served) as tab:
            await tab.go(f"/execution?id={stuck}")
            await expect(tab.page.get_by_role("heading", name="It does not stop")).to_be_visible()
            await tab.go("/approvals")
            step = await tab.page.get_by_role("link", name="Next step of page-paused").get_attribute("href")
            await tab.go(f"/approvals/{refused}")
            await tab.page.get_by_label("Why not").fill("it is too long")
            await tab.press("Refuse")
        yield Stage(waits, str(step).rpartition("/")[2], refused, stuck, failed)
        for field in ("page-bed", "page-field"):  # or the server would wait for them in the end
            data_of(await hand.execute("execute_row", field=field))


Way = Callable[[Watched, Stage], Awaitable[None]]
PAGES: dict[str, Way] = {}


def page(way: Way) -> Way:
    """A way to a page, after which it is named."""
    PAGES[way.__name__.strip("_").replace("_", " ")] = way
    return way


def at(name: str, path: str) -> None:
    """A page that is opened by its address."""
    PAGES[name] = lambda tab, stage: tab.go(path.format(stage=stage))


at("the way in", "/sign-in/not-any-secret")
at("the overview", "/")
at("all approvals", "/approvals")
at("a step of an agent", "/approvals/{stage.step}")
at("what was refused", "/approvals/{stage.refused}")
at("all codes", "/codes")
at("all agents", "/agents")
at("an agent that is blocked", "/agent?name=page-blocked")
at("an agent that is paused", "/agent?name=page-paused")
at("an agent that does nothing", "/agent?name=page-idle")
at("all executions", "/executions")
at("an execution that is stuck", "/execution?id={stage.stuck}")
at("an execution that has failed", "/execution?id={stage.failed}")
at("the audit with a mistake in its filter", "/audit?event=nothing")
at("all operations", "/operations")
at("nothing", "/approvals/appr_none")


@page
async def _the_way_from_another_page(tab: Watched, _stage: Stage) -> None:
    await tab.page.route(
        "http://elsewhere.example/",
        lambda route: route.fulfill(content_type="text/html", body=f'<a href="{tab.url}/audit">Look</a>'),
    )
    await tab.page.goto("http://elsewhere.example/")
    await tab.page.get_by_role("link", name="Look").click()
    await expect(tab.page.get_by_role("link", name="Go on to the console")).to_be_visible()


@page
async def _a_link_that_was_used(tab: Watched, _stage: Stage) -> None:
    await tab.go("/sign-in/not-any-secret")
    await tab.press("Sign in")


@page
async def _a_call_that_waits(tab: Watched, stage: Stage) -> None:
    await tab.go(f"/approvals/{stage.waits}")
    await tab.page.get_by_text("Change the arguments").click()


@page
async def _a_call_that_was_changed_wrongly(tab: Watched, stage: Stage) -> None:
    await tab.go(f"/approvals/{stage.waits}")
    await tab.page.get_by_text("Change the arguments").click()
    await tab.page.get_by_label("Arguments, as JSON").fill("{")
    await tab.press("Approve with these arguments")


@page
async def _a_token(tab: Watched, stage: Stage) -> None:
    await tab.go(f"/approvals/{stage.waits}")
    await tab.press("Show a token for another client")


@page
async def _a_code(tab: Watched, _stage: Stage) -> None:
    await tab.go("/codes")
    await tab.page.get_by_role("link", name="page-blocked").click()
    await tab.press("Show a code")


@page
async def _a_grave_step(tab: Watched, _stage: Stage) -> None:
    await tab.go("/codes")
    await tab.page.get_by_role("link", name="page-grave").click()
    await expect(tab.page.get_by_role("button", name="Refuse")).to_be_visible()


@page
async def _the_audit(tab: Watched, _stage: Stage) -> None:
    await tab.go("/audit?rows=8")
    await tab.press("Check the chain")
    await tab.page.locator("tbody summary").first.click()


@page
async def _an_operation(tab: Watched, _stage: Stage) -> None:
    await tab.go("/operations/update_item")
    await tab.page.get_by_label("id").fill("7")
    await tab.page.get_by_label("input").fill('{"price": 3}')
    await tab.press("Send")


@pytest.fixture(scope="module")
async def tourist(served: Consoled, desks: Desks) -> AsyncIterator[Watched]:
    """One tab for all pages, with the means to examine them."""
    async with desks.look(served, viewport=DESK) as tab:
        await install(tab.page.context)
        yield tab


@pytest.mark.parametrize("way", PAGES.values(), ids=PAGES)
async def test_a_page_is_for_everybody(tourist: Watched, stage: Stage, way: Way) -> None:
    page = tourist.page
    await page.set_viewport_size(DESK)
    await page.emulate_media(color_scheme="light")
    await way(tourist, stage)
    await tourist.laid_out()
    assert await page.locator("h1").count() == 1
    assert await page.locator("script:not([src]), style, [style], [onclick]").count() == 0
    assert await complaints(page) == []
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.emulate_media(color_scheme="dark")
    await expect(page.locator("body")).not_to_have_css("background-color", light)
    assert await complaints(page) == []
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert await complaints(page) == []
    for link in await page.locator("nav a").all():
        box = await link.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    await tourist.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_letters_of_a_drawing_are_as_dark_as_those_around_it(
    look: Look, scheme: Literal["light", "dark"]
) -> None:
    async with look(color_scheme=scheme) as tab:
        await tab.go("/")
        colour = await tab.page.locator("figcaption").first.evaluate("one => getComputedStyle(one).color")
        for letters in await tab.page.locator("svg text").all():
            await expect(letters).to_have_css("fill", colour)
