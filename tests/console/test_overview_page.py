"""The first page: what waits, what agents do, how the server fares, and the latest of the audit."""

import re

import pytest
from starlette.types import Message

from headgate import Session
from headgate.server.costs import Saving
from tests.console.desks import desk, text_of
from tests.safety.supervising import DEADLY, RISKY

pytestmark = pytest.mark.anyio


async def test_where_nothing_happens_it_says_so() -> None:
    async with desk() as at:
        text = text_of(await (await at.operator()).get("/"))
        for words in ("Nothing waits.", "No agent is executing.", "0 in the last hour", "nothing was asked yet"):
            assert words in text
        assert "signed in" in text


async def test_what_waits_and_who_works_stand_there() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        grant = await at.paused("waiter")
        await at.start("worker", session=Session())
        finisher = Session()
        await at.start("finisher", session=finisher)
        await at.call("complete_execution", {"element_name": "finisher", "summary": "done"}, session=finisher)
        challenge = await at.stopped("brute")
        page = await browser.get("/")
        for link in (f"/approvals/{approval}", f"/approvals/{grant.approval_id}", f"/codes/{challenge.id}"):
            assert f'href="{link}"' in page.text
        agents = text_of(page).partition("Agents at work")[2].partition("The last hour")[0]
        assert "brute" in agents
        assert "waiter" in agents
        assert "worker" in agents
        assert "finisher" not in agents, "who does nothing is not at work"
        assert DEADLY in text_of(page)
        assert RISKY in text_of(page)


async def test_requests_latency_and_decisions_are_drawn() -> None:
    async with desk() as at:
        browser = await at.operator()
        for _ in range(3):
            await at.call("get_nothing")
        await at.call("no_such_operation")
        await at.asked()
        text = text_of(await browser.get("/"))
        assert "5 in the last hour, 2 with an error" in text
        assert re.search(r"half within [\d.]+ ms, 95 % within [\d.]+ ms", text)
        assert "3 allowed, 1 to be confirmed, 0 denied" in text
        page = (await browser.get("/")).text
        assert page.count("<svg") == 3
        keys = re.findall(r'<li class="kind-(\w+)">([^<]*)</li>', page)
        requests, latency, decisions = keys[:2], keys[2:4], keys[4:]
        assert requests == [("good", "answered"), ("bad", "with an error")]
        assert latency == [("good", "half within"), ("wary", "95 % within")]
        assert decisions == [("good", "allowed"), ("wary", "to be confirmed"), ("bad", "denied")]
        assert "Tokens saved" not in text, "nobody knows"
        at.clock.move(3600)
        assert "0 in the last hour" in text_of(await browser.get("/"))


async def test_what_was_saved_is_told_where_it_is_known() -> None:
    async with desk() as at:
        browser = await at.operator()
        at.metrics.saving = Saving(discrete=12_345, served=345)
        await at.call("get_nothing")
        text = text_of(await browser.get("/"))
        assert "Tokens saved 1 session" in text
        assert "12,000" in text
        await at.call("get_nothing", session=Session())
        assert "2 sessions" in text_of(await browser.get("/"))


async def test_without_a_server_beside_it_there_are_no_figures() -> None:
    async with desk(has_engine=False) as at:
        page = await (await at.operator()).get("/")
        assert "Requests are counted where the console runs with a server" in text_of(page)
        assert "<svg" not in page.text


@pytest.mark.parametrize("query", [b"\xff\x80", b"a=\xff", b"%ff=%00", b"a[]=1&a[]=2", b"#", b"&&&==="])
async def test_an_odd_query_changes_nothing(query: bytes) -> None:
    async with desk() as at:
        cookie = f"{at.place.cookie}={(await at.operator()).cookie}".encode()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "query_string": query,
            "headers": [(b"host", b"127.0.0.1:8787"), (b"cookie", cookie)],
        }
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request"}

        await at.app(scope, receive, send)
        assert sent[0]["status"] == 200
