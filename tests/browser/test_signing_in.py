"""Who gets into the console, and how, in a real browser."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import Look
from tests.browser.consoles import Consoled
from tests.browser.watching import watched

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]


async def test_a_link_signs_in_once_however_often_it_is_looked_at_until_one_signs_out_in_any_tab(
    browser: Browser, served: Consoled
) -> None:
    link = served.link("cy")
    async with await browser.new_context() as context, watched(context, served.url) as tab:
        for _ in range(2):  # as mail programs do, which must not use it up
            await tab.page.goto(link)
        await tab.press("Sign in")
        await expect(tab.page).to_have_url(f"{served.url}/")
        await expect(tab.page.locator(".who")).to_contain_text("cy")
        [cookie] = await context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")

        await tab.page.goto(link)
        await tab.press("Sign in")
        await expect(tab.page.get_by_role("alert")).to_contain_text("This link was used already, or is too old")

        await tab.go("/approvals")
        async with watched(context, served.url) as other:
            await other.go("/agents")
            await other.press("Sign out")
            await expect(other.page).to_have_url(f"{served.url}/sign-in")
        assert await context.cookies() == []
        await expect(tab.page.get_by_role("status")).to_have_text("You are no longer signed in: reload the page.")
        await tab.page.reload()
        await expect(tab.page).to_have_url(f"{served.url}/sign-in")
        await expect(tab.page.locator("pre")).to_have_text("headgate console --link")


async def test_a_foreign_page_that_leads_into_the_console_is_told_of_first(look: Look) -> None:
    async with look() as tab:
        await tab.page.route(
            "http://elsewhere.example/",
            lambda route: route.fulfill(
                content_type="text/html", body=f'<a href="{tab.url}/audit?event=signed+in&amp;rows=3">Look here</a>'
            ),
        )
        await tab.page.goto("http://elsewhere.example/")
        async with tab.page.expect_navigation() as going:
            await tab.page.get_by_role("link", name="Look here").click()
        answer = await going.value
        assert answer is not None
        assert answer.status == 403
        await expect(tab.page.locator("main")).to_contain_text("Another page has sent you here")
        assert await tab.page.locator("nav, table").count() == 0
        await tab.page.get_by_role("link", name="Go on to the console").click()
        await expect(tab.page.get_by_role("heading", name="Audit")).to_be_visible()
        await expect(tab.page.get_by_label("Event")).to_have_value("signed in")


async def test_a_foreign_page_cannot_have_a_form_sent_to_the_console(look: Look) -> None:
    async with look() as tab:
        await tab.page.route(
            "http://elsewhere.example/",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f'<form method="post" action="{tab.url}/sign-out"><button>Win a prize</button></form>',
            ),
        )
        await tab.page.goto("http://elsewhere.example/")
        await tab.press("Win a prize")
        await expect(tab.page.locator("body")).to_contain_text("This request comes from another page")
        await tab.go("/")
        await expect(tab.page.get_by_role("heading", name="Overview")).to_be_visible()
