"""Signing in with a provider: whoever it proves to be somebody that the operator has named, and nobody else."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from headgate.console.oauth import Provider
from headgate.server.settings import SettingError
from tests.console.desks import Browser, Desk, desk, dumped, text_of
from tests.console.providers import CLIENT, OpenId, openid
from tests.server.authority import SigningKey

pytestmark = pytest.mark.anyio

ANA = {"email": "ana@example.org", "email_verified": True}
NOT_OURS = "This sign-in was not begun here, or is used up: begin again."
NOT_VERIFIED = "What the provider says of you cannot be verified."
NOT_SAID = "The provider did not say who you are: begin again."
NOT_REACHED = "The provider cannot be reached: use a link instead, or try again."
NOT_ALLOWED = "You are not among those who may sign in here."


@pytest.fixture(scope="module")
def running() -> Iterator[OpenId]:
    with openid() as made:
        yield made


@pytest.fixture
def provider(running: OpenId) -> OpenId:
    running.begin(**ANA)
    return running


@dataclass
class Trip:
    """A browser on its way to the provider and back."""

    desk: Desk
    browser: Browser

    async def go(self) -> str:
        """Where the console sends the browser."""
        answer = await self.browser.post("/sign-in-with-oauth")
        assert answer.status_code == 200, answer.text
        found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', answer.text)
        assert found
        return unescape(found[1])

    async def sign_in_there(self, url: str) -> str:
        """What the provider sends the browser back to, as a path of the console."""
        async with httpx2.AsyncClient(verify=False) as http:
            answer = await http.get(url)
        assert answer.status_code == 302
        there = answer.headers["location"]
        assert there.startswith(f"{self.desk.place.url}/sign-in-callback?")
        return str(there.removeprefix(self.desk.place.url))

    async def back(self, path: str) -> httpx2.Response:
        """Come back, which a browser does from another site."""
        return await self.browser.get(path, sec_fetch_site="cross-site", referer="https://login.example/")

    async def whole(self) -> httpx2.Response:
        """All the way."""
        return await self.back(await self.sign_in_there(await self.go()))


@asynccontextmanager
async def trip(
    provider: OpenId, *allowed: str, url: str | None = None, secret: str | None = None
) -> AsyncIterator[Trip]:
    provider.secret = secret
    named = Provider(issuer=provider.url, client_id=CLIENT, client_secret=secret, allowed=allowed or ("*@example.org",))
    async with desk(oauth=named, url=url) as at:
        yield Trip(at, at.browser())


async def was_refused(on: Trip, answer: httpx2.Response, words: str, status: int = 403) -> None:
    assert answer.status_code == status, answer.text
    assert words in text_of(answer)
    assert on.desk.place.cookie not in answer.headers.get("set-cookie", "")
    assert await on.desk.store.count("console session") == 0
    assert await on.desk.events() == []


@pytest.mark.parametrize("url", [None, "https://console.example.org"])
@pytest.mark.parametrize("secret", [None, "the console's own secret"])
async def test_whom_the_provider_proves_is_signed_in(provider: OpenId, url: str | None, secret: str | None) -> None:
    async with trip(provider, url=url, secret=secret) as on:
        assert 'action="/sign-in-with-oauth"' in (await on.browser.get("/sign-in")).text
        answer = await on.whole()
        assert answer.status_code == 200, answer.text
        assert 'http-equiv="refresh" content="0; url=/"' in answer.text, "no redirect: it would be the other site's"
        await on.browser.take_csrf()
        assert "ana@example.org" in (await on.browser.get("/")).text
        assert (await on.browser.post("/audit")).status_code == 200
        [entry] = await on.desk.audit()
        assert (entry.event, entry.caller, entry.details) == ("signed in", "ana@example.org", {"how": "oauth"})
        assert [name for name in on.browser.http.cookies if "oauth" in name] == [], "what it left with is used up"


async def test_the_way_there_carries_nothing_that_the_way_back_needs(provider: OpenId) -> None:
    async with trip(provider) as on:
        url = await on.go()
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["prompt"] == "login", "what the provider's address says is kept"
        assert asked["redirect_uri"] == f"{on.desk.place.url}/sign-in-callback"
        secret = on.browser.cookie
        kept = repr(await dumped(on.desk.store))
        assert secret not in url
        assert secret not in kept
        assert len(set(asked.values())) == len(asked)
        assert len(secret) >= 43


async def test_the_cookie_for_the_way_is_lax_and_short(provider: OpenId) -> None:
    async with trip(provider, url="https://console.example.org") as on:
        said = (await on.browser.post("/sign-in-with-oauth")).headers["set-cookie"].lower()
        assert said.startswith("__host-headgate_console_oauth=")
        assert {"httponly", "secure", "samesite=lax", "path=/", "max-age=600"} <= set(said.split("; "))


Tampering = Callable[[Trip, str], Awaitable[str]]


async def _other_state(_on: Trip, path: str) -> str:
    return re.sub("state=[^&]+", f"state={'0' * 64}", path)


async def _no_state(_on: Trip, path: str) -> str:
    return re.sub("&state=[^&]+", "", path)


async def _odd_state(_on: Trip, path: str) -> str:
    return re.sub("state=[^&]+", "state=%C3%BC%ED%A0%80%00", path)


async def _no_cookie(on: Trip, path: str) -> str:
    on.browser.http.cookies.clear()
    return path


async def _other_cookie(on: Trip, path: str) -> str:
    [name] = on.browser.http.cookies
    on.browser.http.cookies.clear()
    on.browser.http.cookies.set(name, "A" * 43)
    return path


async def _another_browser(on: Trip, path: str) -> str:
    """Somebody lures a person into a session of their own: the cookie is the person's, the rest is not."""
    person = Trip(on.desk, on.desk.browser())
    await person.go()
    on.browser = person.browser
    return path


async def _too_late(on: Trip, path: str) -> str:
    on.desk.clock.move(600)
    return path


async def _replayed(on: Trip, path: str) -> str:
    cookies = dict(on.browser.http.cookies)
    first = await on.back(re.sub("code=[^&]+", "code=", path))
    assert first.status_code == 403
    on.browser.http.cookies.update(cookies)
    return path


@pytest.mark.parametrize(
    ("tampering", "words"),
    [
        (_other_state, NOT_OURS),
        (_no_state, NOT_OURS),
        (_odd_state, NOT_OURS),
        (_no_cookie, NOT_OURS),
        (_other_cookie, NOT_OURS),
        (_another_browser, NOT_OURS),
        (_replayed, NOT_OURS),
        (_too_late, "This sign-in took too long: begin again."),
    ],
)
async def test_who_has_not_left_from_here_does_not_come_back(
    provider: OpenId, tampering: Tampering, words: str
) -> None:
    async with trip(provider) as on:
        path = await on.sign_in_there(await on.go())
        answer = await on.back(await tampering(on, path))
        await was_refused(on, answer, words)
        assert provider.used == [], "the provider was not even asked"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("error=access_denied&error_description=<b>", "The provider has not signed you in: begin again."),
        ("code=", "The provider has not signed you in: begin again."),
        ("code=another", NOT_SAID),
        ("code=%00%C3%BC", NOT_SAID),
    ],
)
async def test_a_code_that_the_provider_did_not_give_is_none(provider: OpenId, query: str, words: str) -> None:
    async with trip(provider) as on:
        path = await on.sign_in_there(await on.go())
        state = parse_qs(urlsplit(path).query)["state"][0]
        answer = await on.back(f"/sign-in-callback?{query}&state={state}")
        await was_refused(on, answer, words)
        assert "<b>" not in answer.text


async def test_coming_back_counts_once(provider: OpenId) -> None:
    async with trip(provider) as on:
        path = await on.sign_in_there(await on.go())
        cookies = dict(on.browser.http.cookies)
        assert (await on.back(path)).status_code == 200
        thief = on.desk.browser()
        thief.http.cookies.update(cookies)
        answer = await thief.get(path)
        assert answer.status_code == 403
        assert NOT_OURS in text_of(answer)
        assert await on.desk.store.count("console session") == 1


async def test_a_code_of_somebody_else_does_not_fit(provider: OpenId) -> None:
    """PKCE: the code belongs to whoever began, even if state and cookie are right."""
    async with trip(provider) as on:
        mallory = Trip(on.desk, on.desk.browser())
        stolen = parse_qs(urlsplit(await mallory.sign_in_there(await mallory.go())).query)["code"][0]
        path = await on.sign_in_there(await on.go())
        answer = await on.back(re.sub("code=[^&]+", f"code={stolen}", path))
        await was_refused(on, answer, NOT_SAID)


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": "ü"},
        {"nonce": 7},
        {"aud": "another-client"},
        {"aud": None},
        {"aud": ["another-client"]},
        {"iss": "https://login.example"},
        {"iss": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "soon"},
    ],
    ids=str,
)
async def test_what_is_not_meant_for_this_sign_in_is_not_believed(provider: OpenId, claims: dict[str, Any]) -> None:
    provider.person |= claims
    async with trip(provider) as on:
        await was_refused(on, await on.whole(), NOT_VERIFIED)


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
async def test_what_somebody_else_has_signed_is_not_believed(provider: OpenId, algorithm: str) -> None:
    provider.key = SigningKey.make("ec-1", algorithm)
    async with trip(provider) as on:
        await was_refused(on, await on.whole(), NOT_VERIFIED)


@pytest.mark.parametrize(
    ("allowed", "person", "name"),
    [
        (("*@example.org",), ANA, "ana@example.org"),
        (("bo@example.org", "ana@example.org"), ANA, "ana@example.org"),
        (("u-1",), {}, "u-1"),
        (("u-*",), ANA, "u-1"),
        (("*",), {}, "u-1"),
        (("u-1", "*@example.org"), ANA, "ana@example.org"),
        (("*@example.org",), {"email": "ana@example.com", "email_verified": True}, None),
        (("*@example.org",), {"email": "ana@example.org.evil.example", "email_verified": True}, None),
        (("ana@example.org",), {"email": "Ana@example.org", "email_verified": True}, None),
        (("*@example.org",), {"email": "ana@example.org"}, None),
        (("*@example.org",), {"email": "ana@example.org", "email_verified": False}, None),
        (("*@example.org",), {"email": "ana@example.org", "email_verified": "true"}, None),
        (("*@example.org",), {"email": ["ana@example.org"], "email_verified": True}, None),
        (("*@example.org",), {"email": "", "email_verified": True}, None),
        (("*@example.org",), {}, None),
        (("*@example.org",), {"sub": "mallory@example.org"}, None),
        (("ana@example.org",), {"sub": "ana@example.org", "email": "m@evil.example", "email_verified": True}, None),
        (("u-2",), ANA, None),
        (("u-1",), {"sub": "u-1\n"}, None),
        (("*",), {"sub": None}, None),
        (("*",), {"sub": ""}, None),
    ],
    ids=str,
)
async def test_only_who_was_named_is_let_in_and_an_address_must_be_proved(
    allowed: tuple[str, ...], person: dict[str, Any], name: str | None
) -> None:
    made = Provider(issuer="https://login.example", client_id=CLIENT, allowed=allowed)
    claims = {"sub": "u-1", **person}
    assert made.admits({key: value for key, value in claims.items() if value is not None}) == name


async def test_who_was_not_named_is_told_so(provider: OpenId) -> None:
    async with trip(provider, "bo@example.org") as on:
        await was_refused(on, await on.whole(), NOT_ALLOWED)


async def test_a_hostile_name_is_shown_and_steers_nothing(provider: OpenId) -> None:
    provider.person = {"sub": '<script>alert(1)</script>\u202e\x00"@'}
    async with trip(provider, "*") as on:
        assert (await on.whole()).status_code == 200
        page = (await on.browser.get("/")).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\u0000&#34;@" in page


async def _down(_request: Request) -> Response:
    return Response("out of order", 500)


async def _no_json(_request: Request) -> Response:
    return Response(b"\xff\xfe<html>")


async def _a_list(_request: Request) -> Response:
    return JSONResponse([1, 2])


async def _a_number(_request: Request) -> Response:
    return JSONResponse({"id_token": 7})


async def _nothing(_request: Request) -> Response:
    return JSONResponse({})


async def _elsewhere(_request: Request) -> Response:
    return RedirectResponse("https://evil.example/token", 307)


async def _an_error(_request: Request) -> Response:
    return JSONResponse({"error": "<script>", "id_token": "x"}, 400)


@pytest.mark.parametrize("page", [_down, _no_json, _a_list, _a_number, _nothing, _elsewhere, _an_error])
async def test_a_provider_that_answers_anything_else_signs_nobody_in(
    provider: OpenId, page: Callable[[Request], Awaitable[Response]]
) -> None:
    provider.answers("/token", page)
    async with trip(provider) as on:
        await was_refused(on, await on.whole(), NOT_SAID)


async def _junk(_request: Request) -> Response:
    return JSONResponse({"id_token": "a.b.c"})


async def test_a_token_that_is_none_is_not_believed(provider: OpenId) -> None:
    provider.answers("/token", _junk)
    async with trip(provider) as on:
        await was_refused(on, await on.whole(), NOT_VERIFIED)


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"issuer": "https://login.example"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://login.example/plain"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "//evil.example"},
        {"authorization_endpoint": 7},
    ],
    ids=str,
)
async def test_a_provider_that_does_not_say_where_to_go_sends_nobody_anywhere(
    provider: OpenId, metadata: dict[str, Any]
) -> None:
    [said] = provider.authority.metadata.values()
    said.update(metadata) if metadata else said.clear()
    async with trip(provider) as on:
        answer = await on.browser.post("/sign-in-with-oauth")
        await was_refused(on, answer, NOT_REACHED, 502)
        assert "set-cookie" not in answer.headers
        assert await on.desk.store.count("console oauth") == 0


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1/token", "http://127.0.0.1:port/token", "http://evil.example/"]
)
async def test_a_provider_that_is_gone_by_then_signs_nobody_in(provider: OpenId, endpoint: str) -> None:
    async with trip(provider) as on:
        path = await on.sign_in_there(await on.go())
        [said] = provider.authority.metadata.values()
        said["token_endpoint"] = endpoint
        await was_refused(on, await on.back(path), "The provider")


async def test_an_address_with_markup_is_escaped(provider: OpenId) -> None:
    [said] = provider.authority.metadata.values()
    said["authorization_endpoint"] = f'{provider.url}/authorize?a="><script>'
    async with trip(provider) as on:
        answer = await on.browser.post("/sign-in-with-oauth")
        assert '"><script>' not in answer.text


async def test_where_a_browser_goes_is_never_said_by_the_request(provider: OpenId) -> None:
    async with trip(provider) as on:
        path = await on.sign_in_there(await on.go())
        answer = await on.back(f"{path}&next=https://evil.example&redirect_uri=https://evil.example&url=//evil.example")
        assert answer.status_code == 200
        assert "evil" not in answer.text
        secret = await on.desk.link()
        answer = await on.browser.post(f"/sign-in/{secret}?next=https://evil.example", {"next": "https://evil.example"})
        assert answer.headers["location"] == "/"


async def test_a_provider_without_anybody_who_may_sign_in_is_a_mistake() -> None:
    with pytest.raises(SettingError, match="--console-allow must name who may sign in"):
        Provider(issuer="https://login.example", client_id=CLIENT)


async def test_the_secret_of_the_console_is_not_shown() -> None:
    hush = "0123456789"
    made = Provider(issuer="https://login.example", client_id=CLIENT, client_secret=hush, allowed=("*",))
    assert hush not in repr(made)
