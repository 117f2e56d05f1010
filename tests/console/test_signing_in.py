"""Signing in: a link counts once and soon, a session lives in a strict cookie, and the state keeps no secret of either.

Links and sessions are secrets of 256 bits. Nobody guesses one, however many tries there are, so that no try is counted.
"""

import re
from base64 import urlsafe_b64decode
from http.cookies import SimpleCookie
from typing import Any

import anyio
import httpx2
import pytest

from headgate.console.signing_in import find_operator, is_signed_in, sign_in, sign_out
from headgate.store.opening import open_store
from tests.console.desks import Browser, Desk, desk, dumped

pytestmark = pytest.mark.anyio

TOO_LATE = "This link was used already, or is too old."


def cookie_of(answer: httpx2.Response) -> tuple[str, Any]:
    """The one cookie that an answer sets."""
    [said] = answer.headers.get_list("set-cookie")
    [(name, morsel)] = SimpleCookie(said).items()
    return name, morsel


async def test_a_link_is_a_page_with_a_button_and_the_button_signs_in_once() -> None:
    async with desk() as at:
        secret = await at.link("ana")
        first, second = at.browser(), at.browser()
        for _ in range(3):
            page = await first.get(f"/sign-in/{secret}")
            assert page.status_code == 200
            assert f'action="/sign-in/{secret}"' in page.text, "who only looks does not use it up"
            assert "set-cookie" not in page.headers
        answer = await first.post(f"/sign-in/{secret}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert (await first.get("/")).status_code == 200
        late = await second.post(f"/sign-in/{secret}")
        assert late.status_code == 403
        assert TOO_LATE in late.text
        assert "set-cookie" not in late.headers
        assert [(one.event, one.caller, one.details) for one in await at.audit()] == [
            ("signed in", "ana", {"how": "link"})
        ]


async def test_of_many_who_use_a_link_at_once_one_is_signed_in() -> None:
    async with desk() as at:
        secret = await at.link()
        answers: list[int] = []

        async def use() -> None:
            answers.append((await at.browser().post(f"/sign-in/{secret}")).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(use)
        assert sorted(answers) == [303] + [403] * 19
        assert await at.store.count("console session") == 1
        assert await at.events() == ["signed in"]


async def test_who_finds_a_link_that_another_has_just_used_is_not_signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        secret = await at.link()

        async def too_late(*_: object) -> bool:
            return False

        monkeypatch.setattr(at.store, "remove", too_late)
        assert await sign_in(at.store, secret, at.clock) is None


@pytest.mark.parametrize(("seconds", "status"), [(599, 303), (600, 403), (86400, 403)])
async def test_a_link_counts_for_ten_minutes(seconds: float, status: int) -> None:
    async with desk() as at:
        secret = await at.link()
        at.clock.move(seconds)
        assert (await at.browser().post(f"/sign-in/{secret}")).status_code == status


@pytest.mark.parametrize("secret", ["x", "A" * 43, "%00", "%ED%A0%80", "a" * 10_000, "<script>"])
async def test_what_is_no_link_says_no_more_than_one_that_was_used(secret: str) -> None:
    async with desk() as at:
        before = await dumped(at.store)
        answer = await at.browser().post(f"/sign-in/{secret}")
        assert answer.status_code == 403
        assert TOO_LATE in answer.text
        page = await at.browser().get(f"/sign-in/{secret}")
        assert "<script>" not in page.text
        assert await dumped(at.store) == before


async def test_secrets_have_256_bits_and_no_two_are_alike() -> None:
    async with desk() as at:
        links = [await at.link() for _ in range(50)]
        cookies = [(await at.browser().signed_in(link)).cookie for link in links[:10]]
        found = [*links, *cookies]
        assert len(set(found)) == 60
        assert {len(urlsafe_b64decode(f"{one}=")) for one in found} == {32}


@pytest.mark.parametrize(
    ("url", "name", "is_secure"),
    [
        (None, "headgate_console_8787", False),
        ("https://console.example.org", "__Host-headgate_console", True),
        ("https://console.example.org:8443", "__Host-headgate_console", True),
    ],
)
async def test_the_cookie_is_for_this_console_alone(url: str | None, name: str, is_secure: bool) -> None:
    async with desk(url=url) as at:
        browser = at.browser()
        answer = await browser.post(f"/sign-in/{await at.link()}")
        found, cookie = cookie_of(answer)
        assert found == name
        assert cookie["httponly"] is True
        assert cookie["samesite"].lower() == "strict"
        assert cookie["path"] == "/"
        assert cookie["domain"] == ""
        assert bool(cookie["secure"]) is is_secure
        assert int(cookie["max-age"]) == 12 * 3600
        await browser.take_csrf()
        gone, taken = cookie_of(await browser.post("/sign-out"))
        assert gone == name
        assert (taken.value, taken["max-age"], bool(taken["secure"])) == ("", "0", is_secure), "or browsers keep it"


async def test_two_consoles_on_one_machine_keep_their_cookies_apart() -> None:
    async with desk() as here, desk() as there:
        browser = await here.operator()
        other = Browser(there.app)
        other.http.cookies = browser.http.cookies
        assert (await other.get("/")).status_code == 303


async def test_the_state_keeps_no_secret(tmp_path: Any) -> None:
    store = open_store(str(tmp_path / "state.db"))
    try:
        at = Desk(store)
        unused, link = await at.link(), await at.link()
        browser = await at.browser().signed_in(link)
        await browser.get("/operations/create_label")
        kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        kept += repr(await dumped(store)).encode() + (await at.told()).encode()
        assert b"ana" in kept, "this is where it would be"
        for secret in (unused, link, browser.cookie, browser.csrf):
            assert len(secret) >= 43
            assert secret.encode() not in kept
    finally:
        await store.close()


async def test_what_the_state_knows_of_a_link_or_a_session_signs_nobody_in() -> None:
    async with desk() as at:
        await at.link()
        browser = await at.operator()
        for kind in ("console link", "console session"):
            [record] = await at.store.list(kind)
            assert (await at.browser().post(f"/sign-in/{record.key}")).status_code == 403
            assert await find_operator(at.store, record.key, at.clock) is None
        [record] = await at.store.list("console session")
        assert (await browser.post("/audit", csrf=record.key)).status_code == 403


async def test_a_session_ends_after_half_a_day_however_busy_it_is() -> None:
    async with desk() as at:
        browser = await at.operator()
        operator = await find_operator(at.store, browser.cookie, at.clock)
        assert operator
        for _ in range(11):
            at.clock.move(3600)
            assert (await browser.get("/")).status_code == 200
        at.clock.move(3599)
        assert await is_signed_in(at.store, operator, at.clock)
        at.clock.move(1)
        assert not await is_signed_in(at.store, operator, at.clock)
        assert (await browser.get("/")).headers["location"] == "/sign-in"
        assert (await browser.post("/audit")).status_code == 401


async def test_signing_out_ends_one_session_and_is_written_down() -> None:
    async with desk() as at:
        here, there, bo = await at.operator("ana"), await at.operator("ana"), await at.operator("bo")
        cookie = here.cookie
        answer = await here.post("/sign-out")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
        assert list(here.http.cookies.values()) == []
        assert (await here.get("/")).status_code == 303
        assert [(await one.get("/")).status_code for one in (there, bo)] == [200, 200]
        entry = (await at.audit())[-1]
        assert (entry.event, entry.caller) == ("signed out", "ana")
        operator = await find_operator(at.store, cookie, at.clock)
        assert operator is None


async def test_who_signs_out_twice_does_so_once() -> None:
    async with desk() as at:
        browser = await at.operator()
        operator = await find_operator(at.store, browser.cookie, at.clock)
        assert operator
        await sign_out(at.store, operator, at.clock)
        await sign_out(at.store, operator, at.clock)
        assert await at.events() == ["signed in", "signed out"]
        assert not await is_signed_in(at.store, operator, at.clock)


@pytest.mark.parametrize(
    "name", ["<b>ana</b>", "a\u202ena", "ana\x00\x1b[2J", "ä" * 300, "", "['x', 'y']", '["x","y"]']
)
async def test_a_name_is_shown_as_it_is_and_steers_nothing(name: str) -> None:
    async with desk() as at:
        browser = await at.operator(name)
        page = (await browser.get("/")).text
        assert "<b>ana" not in page
        assert not re.search("[\u202e\x00\x1b]", page)
        assert (await at.audit())[0].caller == name


async def test_the_page_to_sign_in_offers_only_what_there_is() -> None:
    async with desk() as at:
        page = (await at.browser().get("/sign-in")).text
        assert "headgate console --link" in page
        assert "sign-in-with-oauth" not in page
        assert (await at.browser().post("/sign-in-with-oauth")).status_code == 404
        assert (await at.browser().get("/sign-in-callback?state=x&code=y")).status_code == 404
