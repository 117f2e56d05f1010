"""Whatever an agent, an author or an operator writes is shown as it is: escaped, visible, and without any power.

Each text below is put wherever somebody can put one, and then every page is looked at.
"""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from headgate import Background, Caller, Danger, DangerLevel, Session
from headgate.engine.encoding import encode
from headgate.executions.results import cut
from headgate.executions.values import About
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.results import Notice
from headgate.safety.approvals import turn_down
from headgate.safety.asks import identity
from headgate.store.executions import Progress
from headgate.store.interface import Store
from tests.console.desks import PERSON, Browser, Desk, stall
from tests.executions.books import found, named, running
from tests.safety.guarding import code_of

pytestmark = pytest.mark.anyio

HOSTILE = {
    "markup": '<script>alert(1)</script><img src=x onerror="alert(1)">',
    "an end of everything": "</title></textarea></pre></script></style></svg><b>loud</b>",
    "an attribute": '" onfocus=alert(1) autofocus=\' x="',
    "a template": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    "an entity": "&lt;b&gt; &amp;amp; &#x202e;",
    "right to left": "\u202egnihtyreve eteled\u202c \u2066x\u2069 \u200f\u061c",
    "what nobody sees": "a\u200bb\u2060c\ufeffd\u00ade\u180ef\U000e0041",
    "steering": "\x1b[2J\x1b]8;;http://evil.example\x07click\r\nrow\tcell\x7f\x85\u2028",
    "marks upon marks": "Z\u0336\u0335\u0337" * 200,
    "a megabyte": "x" * 1_000_000,
    "a megabyte of what nobody sees": "\u202e" * 300_000,
}
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


class Elements(HTMLParser):
    """The elements and attributes of a page, as a browser makes them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src", "action", "data-live"):
                self.addresses.append(value or "")
        if tag == "script":
            self.scripts.append(dict(attrs).get("src") or "inline")


def has_power(page: str) -> list[str]:
    """What in a page does something that no page of the console should do."""
    found = Elements()
    found.feed(page)
    wrong = [f"<{tag}>" for tag in found.tags & {"b", "iframe", "object", "embed", "base", "style"}]
    wrong += [name for name in found.attributes if name.startswith("on") or name in ("style", "srcdoc", "autofocus")]
    wrong += [script for script in found.scripts if script != "/static/console.js"]
    wrong += [one for one in found.addresses if not re.match(r"(/(?!/)|#|$)", one)]
    return wrong + [f"unseen {ord(sign):x}" for sign in set(UNSEEN.findall(page))]


def test_what_looks_for_power_finds_it() -> None:
    assert has_power('<p onclick="x"><b>y</b><script>z</script><a href="//evil.example">\u202e') == [
        "<b>",
        "onclick",
        "inline",
        "//evil.example",
        "unseen 202e",
    ]


def _short(text: str, longest: int) -> str:
    return text[:longest]


async def fill(at: Desk, text: str) -> list[str]:
    """Put a text wherever one can be put; the pages on which it may be."""
    caller = Caller(subject=_short(text, 1000), client_id=_short(text, 1000))
    name = f"n{_short(text, 150)}"
    approval = await at.asked("delete_account", {"name": text}, caller=caller)
    at.clock.move(1)
    refused = await at.asked("delete_account", {"name": f"{text[:100]}!"}, caller=caller)
    await turn_down(at.store, refused, _short(text, 500), at.clock, _short(text, 500))
    hint, session = _short(text, 9_000), Session()
    await at.start(name, task=hint, session=session, caller=caller)
    said = {"step_description": hint, "findings": hint}
    await at.report(f"read {hint}", name=name, session=session, caller=caller, **said)
    await at.report(f"rm -rf / {hint}", name=name, session=session, caller=caller, **said)
    challenge = await at.challenge()
    assert code_of(await at.call("get_nothing", {_short(text, 50): text[:1000]}, caller=caller))
    return [
        "/",
        "/approvals",
        f"/approvals/{approval}",
        f"/approvals/{refused}",
        "/codes",
        f"/codes/{challenge.id}",
        "/agents",
        f"/agent?name={quote(name)}",
        "/audit",
        "/operations",
        "/operations/delete_account",
    ]


async def executed(at: Desk, text: str) -> list[str]:
    """Put a text wherever long work can put one, past everything that checks it; the pages on which it may be."""
    about = About(
        caller=Caller(subject=text[:1000], label=text[:1000]),
        request_id=text[:100],
        background=Background(retries=1),
        session_id="",
        shown={text[:200]: [text, {"a": text}]},
    )
    words: dict[str, Any] = {
        "adapter": text[:1000],
        "operation": f"execute_{text[:1000]}",
        "owner": identity(about.caller),
        "about": about.text(),
        "worker": text[:100],
    }
    await at.ledger.beat(named(text[:100], place=f"{text[:100]} x", pid=7))
    error = ErrorDetail(text[:1000], text, {text[:1000]: [text]})
    progress = Progress(1, 3, text)
    made = [await running(at.ledger, **words) for _ in range(6)]
    await at.ledger.note([(one.run, progress) for one in made])
    await at.ledger.again(made[1], error, at.clock() + 60)
    await at.ledger.fail(await found(at.ledger, made[2]), error)
    notice = Notice(text[:1000], text)
    await at.ledger.complete(made[3], cut({text: [text]}, encode, (notice,)))
    await at.ledger.complete(made[4], cut([text] * 30, encode))
    await at.ledger.ask_to_stop(made[5].id, identity(about.caller))
    await at.ledger.stuck(made[5].run)
    return ["/executions", "/executions?show=unfinished", *(f"/execution?id={one.id}" for one in made)]


async def typed(browser: Browser, text: str, challenge: str, approval: str) -> list[httpx2.Response]:
    """Type a text into every form."""
    words = quote(text[:500])
    label = {"param.text": text, "param.count": "1"}
    return [
        await browser.post(f"/codes/{challenge}/verify", {"code": text}),
        await browser.post("/agent/override", {"name": text[:10_000], "reason": text[:500]}),
        await browser.post("/agent/end", {"name": text[:10_000], "reason": text[:500]}),
        await browser.post("/approvals", {"id": text}),
        await browser.post("/execution/cancel", {"id": text}),
        await browser.post("/execution/retry", {"id": text}),
        await browser.get(f"/execution?id={words}"),
        await browser.get(f"/executions?show={words}&before={words}"),
        await browser.post(f"/approvals/{approval}/change", {"params": text}),
        await browser.post("/operations/create_label", {**label, "param.count": text}),
        await browser.post("/operations/create_label", {**label, "token": text}),
        await browser.get(f"/audit?event={words}&operation={words}&since={words}&rows={words}"),
        await browser.get(f"/operations?search={words}"),
    ]


@pytest.mark.parametrize("what", HOSTILE)
async def test_it_has_no_power_on_any_page(store: Store, what: str) -> None:
    text = HOSTILE[what]
    adapter = stall([])

    def delete_word(word: str) -> str:
        return word

    delete_word.__doc__ = f"Forget a word. {text[:2000]}"
    question = f"Really? {text[:2000]}".replace("{", "(").replace("}", ")")  # braces would name parameters
    adapter.delete(danger=Danger(DangerLevel.DESTRUCTIVE, (text[:2000],), question))(delete_word)
    at = Desk(store, PERSON, adapter=adapter)
    browser = await at.operator(text[:200])
    warned = await at.asked("delete_word", {"word": text})
    long = await executed(at, text)
    for path in [*await fill(at, text), *long, f"/approvals/{warned}", "/operations/delete_word"]:
        page = await browser.get(path)
        assert page.status_code == 200, path
        assert has_power(page.text) == [], path


@pytest.mark.parametrize("what", HOSTILE)
async def test_it_has_no_power_when_it_is_typed_into_a_form(store: Store, what: str) -> None:
    text = HOSTILE[what][:100_000]
    at = Desk(store, PERSON)
    browser = await at.operator()
    approval, challenge = await at.asked(), await at.stopped()
    for answer in await typed(browser, text, challenge.id, approval):
        assert answer.status_code in (200, 303, 404, 409, 422), answer.url
        # What somebody has typed stays in the field just as it was typed, for it is theirs.
        rest = re.sub(r'(<textarea[^>]*>.*?</textarea>|value="[^"]*")', "", answer.text, flags=re.DOTALL)
        assert has_power(rest) == [], answer.url
        assert [one for one in has_power(answer.text) if not one.startswith("unseen")] == [], answer.url
