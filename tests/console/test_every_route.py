"""Every route of the console is closed to whoever has not signed in, and to every request that is not its own page's.

The routes are those of the application itself, so that a new one is tried as well.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from headgate.console.oauth import Provider
from headgate.protocol.lifecycle import State
from headgate.safety.loop.persons import show_code
from headgate.store.interface import StoreError
from tests.console.desks import Browser, Desk, desk, dumped
from tests.executions.books import brought

pytestmark = pytest.mark.anyio

PROVIDER = Provider(issuer="http://127.0.0.1:1", client_id="console", allowed=("*",))
"""Nobody listens there."""

TOLD = ("vandal", "stevedore", "caulker", "delete_label", "rm -rf", "appr_", "csrf", "exec_", "execute_audit")
"""Words of the state, none of which is in an answer that refuses."""


@dataclass
class Scene:
    """A desk where something waits, and somebody who has signed in."""

    desk: Desk
    browser: Browser
    approval: str
    challenge: str
    doubt: str
    running: str
    failed: str

    async def code(self) -> str:
        """A code that a person was shown."""
        code = await show_code(self.desk.store, self.challenge, "console", "ana", self.desk.clock)
        assert code
        return code


async def scene(at: Desk) -> Scene:
    at.console.closing.set()  # so that news end at once: where a door is open, a test fails, and does not wait for ever
    approval = await at.asked()
    await at.paused("stevedore")
    challenge = await at.stopped("vandal")
    doubt = await at.doubted("caulker")
    running = await brought(at.ledger, State.RUNNING, operation="execute_audit")
    failed = await brought(at.ledger, State.FAILED, operation="execute_audit")
    return Scene(at, await at.operator(), approval, challenge.id, doubt.id, running.id, failed.id)


@dataclass(frozen=True)
class Right:
    """How a route is asked rightly, and what is answered then."""

    path: str
    status: int
    form: Mapping[str, Any] = field(default_factory=dict)


RIGHT: Mapping[str, Callable[[Scene], Awaitable[Right]]] = {}


def right(route: str, status: int, path: str = "", **form: str) -> None:
    async def made(at: Scene) -> Right:
        filled = (path or route.split()[1]).format(there=at)
        said = {name: value.format(there=at) for name, value in form.items()}
        if "code" in form:
            said["code"] = await at.code()
        return Right(filled, status, said)

    assert isinstance(RIGHT, dict)
    RIGHT[route] = made


right("GET /sign-in", 200)
right("GET /sign-in/{secret}", 200, "/sign-in/guessed")
right("POST /sign-in/{secret}", 403, "/sign-in/guessed")
right("POST /sign-in-with-oauth", 502)
right("GET /sign-in-callback", 403)
right("GET /static/{name}", 200, "/static/console.css")
OPEN = set(RIGHT)
"""What somebody who has not signed in may ask for: nothing but the ways to do so."""

right("GET /", 200)
right("GET /approvals", 200)
right("POST /approvals", 200, id="{there.approval}")
right("GET /approvals/{id}", 200, "/approvals/{there.approval}")
right("POST /approvals/{id}/approve", 303, "/approvals/{there.approval}/approve")
right("POST /approvals/{id}/change", 303, "/approvals/{there.approval}/change", params='{{"number": 2}}')
right("POST /approvals/{id}/refuse", 303, "/approvals/{there.approval}/refuse", reason="no")
right("POST /approvals/{id}/token", 200, "/approvals/{there.approval}/token")
right("GET /codes", 200)
right("GET /codes/{id}", 200, "/codes/{there.challenge}")
right("POST /codes/{id}/show", 200, "/codes/{there.challenge}/show")
right("POST /codes/{id}/verify", 303, "/codes/{there.challenge}/verify", code="")
right("POST /codes/{id}/refuse", 303, "/codes/{there.doubt}/refuse", reason="no")
right("GET /agents", 200)
right("GET /agent", 200, "/agent?name=vandal")
right("POST /agent/override", 303, name="vandal", reason="known")
right("POST /agent/end", 303, name="stevedore", reason="enough")
right("GET /executions", 200)
right("GET /execution", 200, "/execution?id={there.running}")
right("POST /execution/cancel", 303, id="{there.running}")
right("POST /execution/retry", 303, id="{there.failed}")
right("GET /audit", 200)
right("POST /audit", 200)
right("GET /operations", 200)
right("GET /operations/{name}", 200, "/operations/create_label")
right("POST /operations/{name}", 200, "/operations/create_label", **{"param.text": "a", "param.count": "1"})
right("GET /live", 200)
right("POST /sign-out", 303)

CHANGING = {
    "POST /approvals",
    "POST /approvals/{id}/approve",
    "POST /approvals/{id}/change",
    "POST /approvals/{id}/refuse",
    "POST /approvals/{id}/token",
    "POST /codes/{id}/show",
    "POST /codes/{id}/verify",
    "POST /codes/{id}/refuse",
    "POST /agent/override",
    "POST /agent/end",
    "POST /execution/cancel",
    "POST /execution/retry",
    "POST /sign-out",
}
"""What changes the state when it is asked rightly. (A call that nothing guards leaves no trace in it.)"""

GUARDED = [name for name in RIGHT if name not in OPEN]
POSTS = [name for name in GUARDED if name.startswith("POST")]


def routes_of(at: Desk) -> list[Route]:
    return [route for route in at.app.routes if isinstance(route, Route)]


async def test_every_route_of_the_application_is_tried_here() -> None:
    async with desk(oauth=PROVIDER) as at:
        routes = routes_of(at)
        assert len(routes) == len(at.app.routes)
        assert {f"{method} {route.path}" for route in routes for method in route.methods or ()} == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
async def test_asked_rightly_it_answers_and_only_some_change_anything(name: str) -> None:
    async with desk(oauth=PROVIDER) as at:
        there = await scene(at)
        asked = await RIGHT[name](there)
        before = await dumped(at.store)
        if name.startswith("GET"):
            answer = await there.browser.get(asked.path)
        else:
            answer = await there.browser.post(asked.path, asked.form)
        assert answer.status_code == asked.status, answer.text
        assert (await dumped(at.store) != before) is (name in CHANGING)


async def test_what_anybody_may_see_tells_nothing() -> None:
    async with desk(oauth=PROVIDER) as at:
        there = await scene(at)
        for name in OPEN:
            asked = await RIGHT[name](there)
            anybody = at.browser()
            send = anybody.get if name.startswith("GET") else anybody.post
            answer = await send(asked.path)
            assert answer.status_code == asked.status
            assert [word for word in TOLD if word in answer.text and "static" not in name] == []
        for file in ("console.css", "console.js", "gate.svg"):
            answer = await at.browser().get(f"/static/{file}")
            assert answer.status_code == 200
            assert [word for word in ("vandal", "stevedore", "ana") if word in answer.text.split()] == []
        assert (await at.browser().get("/static/app.py")).status_code == 404
        assert (await at.browser().get("/static/..%2Fapp.py")).status_code == 404


@dataclass(frozen=True)
class Wrong:
    """One thing that is wrong with a request that is right otherwise."""

    status: int
    headers: Mapping[str, str | None] = field(default_factory=dict)
    csrf: str | None = None
    content: bytes | None = None
    names: tuple[str, ...] = tuple(GUARDED)


MULTIPART = (
    b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\nCSRF\r\n'
    b'--x\r\ncontent-disposition: form-data; name="id"; filename="a.txt"\r\n\r\nfile\r\n--x--\r\n'
)
EVERYWHERE = tuple(name for name in RIGHT if name != "GET /sign-in-callback")
"""What must come from the console's own pages. A browser comes back from the provider by nature."""

WRONG: Mapping[str, Wrong] = {
    # the form's own field
    "no CSRF token": Wrong(403, csrf="", names=tuple(POSTS)),
    "a CSRF token of the right length": Wrong(403, csrf="0" * 64, names=tuple(POSTS)),
    "a CSRF token that is no ASCII": Wrong(403, csrf="ü", names=tuple(POSTS)),
    # the page that it comes from
    "no origin": Wrong(403, {"origin": None}, names=tuple(name for name in RIGHT if name.startswith("POST"))),
    "a foreign origin": Wrong(403, {"origin": "https://evil.example"}, names=EVERYWHERE),
    "an origin that is null": Wrong(403, {"origin": "null"}, names=EVERYWHERE),
    "an origin on another port": Wrong(403, {"origin": "http://127.0.0.1:8788"}, names=EVERYWHERE),
    "an origin of another scheme": Wrong(403, {"origin": "https://127.0.0.1:8787"}, names=EVERYWHERE),
    "an origin under another name of this machine": Wrong(403, {"origin": "http://localhost:8787"}, names=EVERYWHERE),
    "an origin that begins like ours": Wrong(403, {"origin": "http://127.0.0.1:8787.evil.example"}, names=EVERYWHERE),
    "an origin with somebody before us": Wrong(403, {"origin": "http://a@127.0.0.1:8787"}, names=EVERYWHERE),
    "an origin that is no URL": Wrong(403, {"origin": "http://["}, names=EVERYWHERE),
    "an empty origin": Wrong(403, {"origin": ""}, names=EVERYWHERE),
    "another site": Wrong(403, {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"}, names=EVERYWHERE),
    "another page of the site": Wrong(403, {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"}, names=EVERYWHERE),
    "a link on another site": Wrong(
        403, {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, names=EVERYWHERE
    ),
    # the name that it is asked under
    "a foreign host": Wrong(421, {"host": "evil.example", "origin": "http://evil.example"}, names=tuple(RIGHT)),
    "a foreign host on our port": Wrong(421, {"host": "evil.example:8787"}, names=tuple(RIGHT)),
    "no host": Wrong(421, {"host": None}, names=tuple(RIGHT)),
    "an empty host": Wrong(421, {"host": ""}, names=tuple(RIGHT)),
    "another port": Wrong(421, {"host": "127.0.0.1:8788"}, names=tuple(RIGHT)),
    "no port": Wrong(421, {"host": "127.0.0.1"}, names=tuple(RIGHT)),
    "our host as part of another": Wrong(421, {"host": "127.0.0.1:8787.evil.example"}, names=tuple(RIGHT)),
    "the address of every machine": Wrong(421, {"host": "0.0.0.0:8787"}, names=tuple(RIGHT)),
    # the form
    "a form that is too large": Wrong(413, {"content_length": str(10 * 2**20 + 1)}, names=tuple(POSTS)),
    "a form of any size": Wrong(413, {"content_length": "9" * 5000}, names=tuple(POSTS)),
    "a size that is no number": Wrong(411, {"content_length": "²"}, names=tuple(POSTS)),
    "no size": Wrong(411, {"content_length": None, "transfer_encoding": "chunked"}, names=tuple(POSTS)),
    "a file": Wrong(415, {"content_type": "multipart/form-data; boundary=x"}, content=MULTIPART, names=tuple(POSTS)),
    "JSON": Wrong(415, {"content_type": "application/json"}, content=b'{"csrf": "CSRF"}', names=tuple(POSTS)),
    "plain text": Wrong(415, {"content_type": "text/plain"}, names=tuple(POSTS)),
    "no type": Wrong(415, {"content_type": None}, names=tuple(POSTS)),
    "too many fields": Wrong(413, content=b"csrf=CSRF" + b"&id=1" * 2000, names=tuple(POSTS)),
}


async def refused(there: Scene, name: str, wrong: Wrong) -> list[object]:
    """What is answered differently than it should be."""
    asked = await RIGHT[name](there)
    before = await dumped(there.desk.store)
    headers = dict(wrong.headers)
    if name.startswith("GET"):
        answer = await there.browser.get(asked.path, **headers)
    elif wrong.content is None:
        answer = await there.browser.post(asked.path, asked.form, csrf=wrong.csrf, **headers)
    else:
        body = wrong.content.replace(b"CSRF", there.browser.csrf.encode())
        kind = {"content_type": "application/x-www-form-urlencoded", "origin": there.browser.url}
        answer = await there.browser.send("POST", asked.path, body, {**kind, **headers})
    found: list[object] = [] if answer.status_code == wrong.status else [f"{name}: {answer.status_code}"]
    if await dumped(there.desk.store) != before:
        found.append(f"{name}: something has changed")
    return found + said_too_much(answer, asked.path)


def said_too_much(answer: httpx2.Response, path: str) -> list[object]:
    return [f"{path}: '{word}' is told" for word in TOLD if word in answer.text and word not in path]


@pytest.mark.parametrize("what", WRONG)
async def test_with_one_thing_wrong_it_is_refused_and_nothing_changes(what: str) -> None:
    async with desk(oauth=PROVIDER) as at:
        there = await scene(at)
        assert [one for name in WRONG[what].names for one in await refused(there, name, WRONG[what])] == []


Session = Callable[[Scene], Awaitable[None]]


async def _nobody(there: Scene) -> None:
    there.browser.http.cookies.clear()


async def _forged(there: Scene) -> None:
    there.browser.http.cookies.clear()
    there.browser.http.cookies.set(there.desk.place.cookie, "A" * 43)


async def _empty(there: Scene) -> None:
    there.browser.http.cookies.clear()
    there.browser.http.cookies.set(there.desk.place.cookie, "")


async def _the_key(there: Scene) -> None:
    """What the state knows of the session is no secret, and opens nothing."""
    [record] = await there.desk.store.list("console session")
    there.browser.http.cookies.clear()
    there.browser.http.cookies.set(there.desk.place.cookie, record.key)


async def _the_link(there: Scene) -> None:
    there.browser.http.cookies.clear()
    there.browser.http.cookies.set(there.desk.place.cookie, await there.desk.link())


async def _expired(there: Scene) -> None:
    there.desk.clock.move(12 * 3600)


async def _signed_out(there: Scene) -> None:
    kept = there.browser.cookie
    assert (await there.browser.post("/sign-out")).status_code == 303
    there.browser.http.cookies.set(there.desk.place.cookie, kept)


async def _under_another_name(there: Scene) -> None:
    kept = there.browser.cookie
    there.browser.http.cookies.clear()
    there.browser.http.cookies.set("headgate_console_8788", kept)


@pytest.mark.parametrize(
    "session", [_nobody, _forged, _empty, _the_key, _the_link, _expired, _signed_out, _under_another_name]
)
async def test_without_a_session_that_counts_every_other_route_is_closed(session: Session) -> None:
    async with desk(oauth=PROVIDER) as at:
        there = await scene(at)
        asked = {name: await RIGHT[name](there) for name in GUARDED}
        await session(there)
        before = await dumped(at.store)
        wrong: list[object] = []
        for name in GUARDED:
            path = asked[name].path
            if name.startswith("GET"):
                shown = await there.browser.get(path)
                assert (shown.status_code, shown.headers["location"], shown.text) == (303, "/sign-in", "")
                answer = await there.browser.get(path, accept="text/event-stream")
            else:
                answer = await there.browser.post(path, asked[name].form)
            wrong += [] if answer.status_code == 401 else [f"{name}: {answer.status_code}"]
            wrong += said_too_much(answer, path)
        assert wrong == []
        assert await dumped(at.store) == before


async def test_the_csrf_token_of_somebody_else_does_not_count() -> None:
    async with desk() as at:
        there = await scene(at)
        bo = await at.operator("bo")
        assert bo.csrf != there.browser.csrf
        again = await at.operator("ana")
        assert again.csrf not in (bo.csrf, there.browser.csrf), "each session has its own"
        everything = [await RIGHT[name](there) for name in POSTS]
        before = await dumped(at.store)
        for asked in everything:
            answer = await there.browser.post(asked.path, asked.form, csrf=bo.csrf)
            assert answer.status_code == 403
        assert await dumped(at.store) == before


@pytest.mark.parametrize("method", ["HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
async def test_another_method_than_a_route_has_is_refused(method: str) -> None:
    async with desk(oauth=PROVIDER) as at:
        there = await scene(at)
        methods: dict[str, set[str]] = {}
        for route in routes_of(at):
            methods.setdefault(route.path, set()).update(route.methods or ())
        for path, known in methods.items():
            if method in known:
                continue
            filled = path.format(id=there.approval, name="create_label", secret=await at.link())
            before = await dumped(at.store)
            answer = await there.browser.send(method, filled, None, {"origin": there.browser.url})
            assert answer.status_code == 405, filled
            assert answer.headers["allow"] == ", ".join(sorted(known))
            assert await dumped(at.store) == before


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/approvals/",
        "/sign-in/",
        "//evil.example/",
        "/%5Cevil.example",
        "/static/",
        "/agent/override/now",
        "/execution/cancel/now",
        "/.well-known/x",
        "/approvals/a/b/c",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_whatever_is_not_in_the_table_does_not_exist(path: str, method: str) -> None:
    async with desk() as at:
        for browser in (at.browser(), await at.operator()):
            answer = await browser.send(method, f"{browser.url}{path}", None, {"origin": browser.url})
            assert (answer.status_code, answer.text) == (404, "There is no such page.\n")
            assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/audit?event=denied&amp;rows=3", "/audit?event=denied&amp;amp;rows=3"),
        ("/approvals/appr_1", "/approvals/appr_1"),
        ("/operations/a%3Fb%23c%22%3E", "/operations/a%3Fb%23c%22%3E"),
        ("/codes/%5Cevil.example", "/codes/%5Cevil.example"),
    ],
)
async def test_a_link_on_another_page_leads_to_a_page_of_our_own_first(path: str, link: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        answer = await browser.get(path, sec_fetch_site="cross-site")
        assert answer.status_code == 403
        assert f'href="{link}">Go on to the console' in answer.text
        assert "<script" not in answer.text


async def test_browsers_that_do_not_tell_the_site_are_let_in_and_so_are_addresses_that_were_typed() -> None:
    async with desk() as at:
        browser = await at.operator()
        for site in (None, "none", "same-origin"):
            assert (await browser.get("/", sec_fetch_site=site)).status_code == 200
            assert (await browser.post("/audit", sec_fetch_site=site)).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "localhost:8787", "LOCALHOST:8787", "[::1]:8787"])
async def test_this_machine_is_known_by_all_of_its_names(host: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        assert (await browser.post("/audit", host=host, origin=f"http://{host}")).status_code == 200


async def test_a_page_that_breaks_says_so_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()

        async def broken(*_: object, **__: object) -> None:
            raise RuntimeError("the secret of the house")

        monkeypatch.setattr(at.store, "list", broken)
        answer = await browser.get("/approvals")
        assert (answer.status_code, answer.text) == (500, "This page is broken: the server's log says how.\n")


async def test_a_state_that_fails_is_told_to_operators_and_to_nobody_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk() as at:
        browser = await at.operator()

        async def fails(*_: object, **__: object) -> None:
            raise StoreError("The disk of the house is full")

        monkeypatch.setattr(at.store, "list", fails)
        answer = await browser.get("/approvals")
        assert (answer.status_code, answer.text) == (503, "The disk of the house is full.\n")
        monkeypatch.setattr(at.store, "find", fails)
        answer = await browser.get("/approvals")
        assert (answer.status_code, answer.text) == (503, "The state cannot be read now: the server's log says why.\n")
        assert "The disk of the house is full" in caplog.text
