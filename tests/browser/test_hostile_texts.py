"""Whatever agents, adapters and others write: a real browser shows all of it, and runs none of it."""

import re
import time
from collections.abc import AsyncIterator, Iterable

import pytest
from playwright.async_api import expect

from headgate.safety.decisions import Who
from headgate.safety.grants import Binding, Purpose, new_grant
from headgate.store.opening import open_store
from tests.browser.asking import DEADLY, ask, blocked, report, start
from tests.browser.conftest import HOSTILE_CALLER, Look
from tests.browser.consoles import Consoled, agent_of
from tests.browser.market import HOSTILE_WORDS
from tests.browser.watching import Watched
from tests.spec.wires import Aql, Connections, data_of, error_of

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("browser")]

HIDDEN = re.compile("[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""Signs that turn a text around, or that nobody sees."""

BREAKING_OUT = {
    "a script": "<script>window.hacked = 1</script>",
    "an image": "<img src=x onerror='window.hacked = 1'>",
    "an attribute": '" onfocus="window.hacked = 1" autofocus tabindex="0',
    "the end of a text area": "</textarea></pre></title><svg onload='window.hacked = 1'>",
    "a style": "<style>body { display: none }</style><link rel=stylesheet href=//elsewhere.example/x.css>",
    "another page": "<meta http-equiv=refresh content='0;url=//elsewhere.example'><base href=//elsewhere.example>",
    "a form": "</form><form action=//elsewhere.example><button>Approve</button>",
    "a template": "{{ 7 * 7 }}{% raw %}${7 * 7}",
    "a link": "javascript:window.hacked=1",
    "turned around": "\u202egpj.nohtyp\u202c \u2067\u05d0\u2069 \u200b\u200d\ufeff\u00ad \U000e0041",
    "controls": "\x1b[2J\x07\x7f\r\n\t",
    "signs upon signs": "\U0001f4a9 Z\u0351\u036b\u0343\u036a\u0302\u036b" + "\u0301" * 50,
}
ALL = "\n".join(text for text in BREAKING_OUT.values())


async def everything(tab: Watched) -> str:
    """All text of a page that has come; an element is waited for, where a script would find an empty document."""
    return await tab.page.locator("html").text_content() or ""


async def look_around(tab: Watched, paths: Iterable[str]) -> None:
    """Open pages, each of which must be whole, and must have nothing in it that somebody has slipped in."""
    for path in paths:
        await tab.go(path)
        await expect(tab.page.get_by_role("button", name="Sign out")).to_be_visible()
        assert await tab.page.locator("script:not([src]), style, [style], base, iframe, object, embed").count() == 0
        assert await tab.page.locator("body img:not([src='/static/gate.svg']), body svg:not(.chart)").count() == 0
        assert await tab.page.locator("link[rel=stylesheet]").count() == 1
        assert await tab.page.locator("main form:not([action^='/'])").count() == 0
        assert await tab.page.locator("[onclick], [onerror], [onload], [onfocus]").count() == 0
        assert await tab.page.locator("a[href]:not([href^='/']):not([href^='#'])").count() == 0
        assert not HIDDEN.search(await everything(tab)), path
        await expect(tab.page).to_have_url(f"{tab.url}{path}")
        await tab.check()


async def test_hostile_arguments_are_shown_in_full_and_none_of_them_runs(look: Look, agent: Aql) -> None:
    given = {"id": 5, "input": {text: text for text in BREAKING_OUT.values()}}
    waits = await ask(agent, "update", "rename_item", **given)
    async with look() as tab:
        await look_around(tab, ("/", "/approvals", f"/approvals/{waits}", "/audit?rows=5"))
        await tab.go(f"/approvals/{waits}")
        arguments = await tab.page.locator(".arguments").text_content() or ""
        for shown in ("<script>window.hacked = 1</script>", "\\u202egpj.nohtyp\\u202c", "\\u200b", "\\u001b[2J"):
            assert shown in arguments
        await tab.page.get_by_text("Change the arguments").click()
        assert await tab.page.get_by_label("Arguments, as JSON").evaluate("box => JSON.parse(box.value)") == given
        await tab.press("Approve")
        await expect(tab.page.locator("#state")).to_have_text("approved by ana")


@pytest.fixture
async def hostile(served: Consoled, connections: Connections) -> AsyncIterator[Aql]:
    """The connection of somebody whose very name is hostile."""
    async with connections.open(agent_of(served, HOSTILE_CALLER)) as connected:
        yield connected


async def test_an_agent_with_a_hostile_name_is_shown_blocked_and_released(look: Look, hostile: Aql) -> None:
    name = f"{BREAKING_OUT['an image']}{BREAKING_OUT['an attribute']}\u202e\u200b"
    await start(hostile, name, ALL)
    assert (await report(hostile, name, f"{DEADLY}\n{ALL}"))["stopped"] is True
    async with look() as tab:
        await look_around(tab, ("/", "/agents", "/codes", "/audit?rows=5"))
        await tab.go("/agents")
        shown = tab.page.get_by_role("link", name="<img src=x onerror='window.hacked = 1'>")
        await expect(shown).to_contain_text('autofocus tabindex="0\\u202e\\u200b')
        await shown.click()
        await expect(tab.page.get_by_role("heading", level=1)).to_contain_text("\\u202e\\u200b")
        await tab.page.get_by_role("link", name="Verify it").click()
        await expect(tab.page.get_by_role("button", name="Show a code")).to_be_visible()
        assert not HIDDEN.search(await everything(tab))
        await tab.press("Show a code")
        await tab.page.get_by_label("this is the code").fill(await tab.text("#shown-code"))
        await tab.press("Verify")
        await expect(tab.page.locator("#state")).to_contain_text("verified")
        await tab.go("/agents")
        await shown.click()
        await tab.page.get_by_label("Why it must end").fill("enough")
        await tab.press("End the execution")
        await expect(tab.page.locator("#about")).to_contain_text("It executes nothing now.")


async def test_an_argument_of_a_megabyte_is_all_there_and_the_page_can_still_be_used(look: Look, agent: Aql) -> None:
    # each of these alone kept Chromium busy for minutes while it was laid out in one piece
    text = ALL + "word after word " * 40_000 + "\u05d0 a " * 80_000 + "\u0301" * 90_000 + "THE END\u202e"
    assert len(text) > 2**20
    waits = await ask(agent, "create", "create_notice", text=text)
    async with look(viewport={"width": 390, "height": 844}) as tab:
        await tab.go("/approvals")
        card = tab.page.locator("li", has=tab.page.locator(f"input[value={waits}]"))
        await card.get_by_text("All arguments").click()
        await expect(card.locator("pre")).to_contain_text("NOT ALL IS SHOWN")
        await card.get_by_role("link").click()
        arguments = await tab.page.locator(".arguments").text_content() or ""
        assert arguments.count("word after word ") == 40_000
        assert arguments.count("\u05d0 a ") == 80_000
        assert arguments.rstrip().endswith('THE END\\u202e"\n}')
        await tab.laid_out()
        assert await tab.page.evaluate("document.documentElement.scrollWidth") == 390
        await tab.page.get_by_text("Change the arguments").click()
        field = tab.page.get_by_label("Arguments, as JSON")
        assert await field.evaluate("box => JSON.parse(box.value).text") == text
        assert (await field.input_value()).isascii()  # or the browser would lay out all those letters in one piece
        await tab.press("Approve with these arguments")
        await expect(tab.page.locator("#state")).to_have_text("approved by ana")
        approved = tab.page.url.rpartition("/")[2]
    done = data_of(await agent.create("create_notice", text=text, confirmation_token=approved))
    assert done["pinned"] == len(text)


async def test_hostile_words_of_an_adapter_are_words(look: Look, agent: Aql) -> None:
    waits = await ask(agent, "update", "rename_item", id=6, input={"name": "Six"})
    async with look() as tab:
        await look_around(tab, ("/operations", "/operations/rename_item", "/operations/create_notice"))
        await tab.go(f"/approvals/{waits}")
        for part in (
            "<script>window.hacked = 'words'</script>",
            "\\u202egnihtyreve eteled",
            "{{ 7 * 7 }}",
            "<b onclick",
        ):
            await expect(tab.page.locator("#about")).to_contain_text(part)
        await tab.go("/operations/create_notice")
        await expect(tab.page.get_by_text("What it says.")).to_contain_text("</p><script>window.hacked = 'parameter'")


@pytest.fixture
async def foreign(served: Consoled) -> AsyncIterator[str]:
    """What another program has put into the state: an operation whose name no adapter of ours could have."""
    name = f"{BREAKING_OUT['a script']}{BREAKING_OUT['an attribute']}\u202edeliated\u202c"
    binding = Binding(adapter=ALL, operation=name, params_digest="", caller=f'["{ALL}", "x"]', policy="", session=None)
    now = time.time()
    grant, _ = new_grant(
        purpose=Purpose.CONFIRMATION,
        binding=binding,
        who=Who.PERSON,
        danger=ALL,
        message=ALL,
        reasons=(ALL, HOSTILE_WORDS),
        params={ALL: [ALL, {"a": ALL}]},
        issued_at=now,
        expires_at=now + 900,
    )
    store = open_store(served.state)
    await store.insert(grant.record(900))
    yield grant.approval_id
    await store.close()


async def test_an_operation_with_a_hostile_name_in_the_state_is_shown_and_refused(look: Look, foreign: str) -> None:
    async with look() as tab:
        await look_around(tab, ("/", "/approvals", f"/approvals/{foreign}"))
        await tab.go(f"/approvals/{foreign}")
        heading = tab.page.get_by_role("heading", level=1)
        await expect(heading).to_contain_text("<script>window.hacked = 1</script>")
        await expect(heading).to_contain_text("\\u202edeliated\\u202c")
        await tab.press("Refuse")
        await expect(tab.page.locator("#state")).to_have_text("refused by ana")


async def test_languages_that_are_written_to_the_left_stay_readable_and_turn_nothing_else(
    look: Look, agent: Aql
) -> None:
    name = "\u05e1\u05d5\u05db\u05df \u05d4\u05de\u05dc\u05d0\u05d9"  # Hebrew: the agent of the stock
    await blocked(agent, name, "\u0627\u062d\u0630\u0641 rm -rf /srv \u0643\u0644 \u0634\u064a\u0621")
    async with look() as tab:
        await tab.go("/codes")
        await tab.page.get_by_role("link", name=name).click()
        for part, direction in (("h1", "ltr"), ("dd.words", "rtl"), ("#state", "ltr"), ("body", "ltr")):
            await expect(tab.page.locator(part)).to_have_css("direction", direction)
        await expect(tab.page.locator("dd.words")).to_have_text(
            "\u0627\u062d\u0630\u0641 rm -rf /srv \u0643\u0644 \u0634\u064a\u0621"
        )
        await tab.go("/agents")
        await expect(tab.page.get_by_role("rowheader", name=name)).to_have_css("direction", "rtl")
    error_of(await agent.create("record_execution_step", element_name=name, next_action_hint="wait"))
