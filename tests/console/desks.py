"""A console in process, over agents that are supervised, and the browsers of persons at it."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import httpx2

from headgate import Adapter, Caller, Engine, Param, Session
from headgate.console.app import console_app
from headgate.console.console import Console
from headgate.console.doors import Doors
from headgate.console.metrics import Metrics
from headgate.console.oauth import SignInWithOAuth
from headgate.console.serving import Place
from headgate.console.signing_in import new_link_secret
from headgate.executions.ledger import Ledger
from headgate.executions.service import Executions
from headgate.safety.approvals import waiting
from headgate.safety.grants import Grant
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges
from headgate.server.addresses import Address
from headgate.store.drivers.base import Transaction
from headgate.store.interface import Store
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import HASTY
from tests.safety.guarding import Clock
from tests.safety.supervising import DEADLY, GRAVE, RISKY, Supervised

__all__ = ["PERSON", "URL", "Browser", "Desk", "desk", "dumped", "stall", "text_of"]

PERSON = '[autonomy]\nmode = "enforcing"\nstart = "free"\n[confirmation]\nby = "person"\nrefusals_per_minute = 1000\n'
"""Agents are supervised, and what destroys something waits for a person."""

URL = "http://127.0.0.1:8787"


@dataclass
class Item:
    """Something on the stall."""

    id: int
    name: str
    price: float
    note: str = ""


def stall(done: list[object], name: str = "stall") -> Adapter:
    """An adapter with parameters of every kind, with something that can be tried, and with something hidden."""
    adapter = Adapter(name, "A market stall")

    @adapter.create
    def create_label(
        text: str,
        count: int,
        share: float = 0.5,
        urgent: bool = False,
        colour: Literal["red", "green"] = "red",
        size: Annotated[int, Param(enum=[1, 2, 3])] = 1,
        tags: list[str] | None = None,
        note: str | None = None,
        extra: Any = None,
    ) -> dict[str, object]:
        """Print a label.

        Args:
            text: What stands on it.
        """
        told = {"text": text, "count": count, "share": share, "urgent": urgent, "colour": colour, "size": size}
        done.append({**told, "tags": tags, "note": note, "extra": extra})
        return {"printed": count}

    @adapter.delete
    def delete_label(number: int) -> str:
        """Tear a label off."""
        done.append(f"delete {number}")
        return "gone"

    @adapter.delete
    def delete_account(name: str, password: Annotated[str, Param(sensitive=True)] = "") -> str:
        """Close an account."""
        done.append(f"close {name}")
        return "closed"

    @adapter.delete
    def delete_old(before: str, dry_run: bool = False) -> dict[str, object]:
        """Throw away what is older."""
        if before == "never":
            raise ValueError(before)
        if not dry_run:
            done.append(f"old {before}")
        return {"affected": 7, "names": ["a", "b"]}

    @adapter.read
    def get_nothing() -> None:
        """Nothing at all."""

    adapter.collection(Item, key="id", items={number: Item(number, f"Item {number}", 10.0) for number in (1, 2, 3)})
    return adapter


async def dumped(store: SqlStore) -> list[tuple[object, ...]]:
    """Everything that is kept: each record, each use that was counted, each execution, and the end of the audit."""
    tables = ("records", "uses", "audit_ends", "executions", "execution_pieces")

    def read(transaction: Transaction) -> list[tuple[object, ...]]:
        asked = [f"SELECT * FROM headgate.{table} ORDER BY 1, 2" for table in tables]  # noqa: S608
        return [tuple(row) for sql in asked for row in transaction.rows(sql)]

    return await store._run(read, writes=False)


class Browser:
    """Somebody's browser: it keeps cookies, says where a form comes from, and sends the hidden field of a page.

    Every answer that it ever gets is guarded, or the test fails.
    """

    def __init__(self, app: Any, url: str = URL) -> None:
        self.url = url
        self.csrf = ""
        self.http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app, raise_app_exceptions=False),
            base_url=url,
            headers={"accept": "text/html", "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"},
            event_hooks={"response": [_is_guarded]},
        )

    async def get(self, path: str, **headers: str | None) -> httpx2.Response:
        """Look at a page; a header that is None is left out."""
        return await self.send("GET", path, None, headers)

    async def post(
        self, path: str, form: Mapping[str, Any] | None = None, *, csrf: str | None = None, **headers: str | None
    ) -> httpx2.Response:
        """Send a form of the console's own, with the hidden field unless it is said to be empty."""
        token = self.csrf if csrf is None else csrf
        fields = [("csrf", token)] if token else []
        for name, value in (form or {}).items():
            fields += [(name, one) for one in (value if isinstance(value, list) else [value])]
        body = urlencode(fields).encode()
        own = {"origin": self.url, "content_type": "application/x-www-form-urlencoded"}
        return await self.send("POST", path, body, {**own, **headers})

    async def send(
        self, method: str, path: str, content: bytes | None = None, headers: Mapping[str, str | None] | None = None
    ) -> httpx2.Response:
        """Send anything at all."""
        request = self.http.build_request(method, path, content=content)
        request.headers.encoding = "latin-1"  # as servers read them
        for name, value in (headers or {}).items():
            key = name.replace("_", "-")
            if value is None:
                request.headers.pop(key, None)
            else:
                request.headers[key] = value
        return await self.http.send(request)

    async def signed_in(self, secret: str) -> "Browser":
        """Sign in with a link, as a person does."""
        answer = await self.post(f"/sign-in/{secret}")
        assert answer.status_code == 303, answer.text
        await self.take_csrf()
        return self

    async def take_csrf(self) -> None:
        """Read what the forms of a page carry."""
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', (await self.get("/")).text)
        assert found
        self.csrf = found[1]

    @property
    def cookie(self) -> str:
        """The secret that it keeps."""
        [value] = self.http.cookies.values()
        return str(value)


async def _is_guarded(answer: httpx2.Response) -> None:
    """No other page can run something in an answer, frame it, read it or keep it."""
    headers = answer.headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert all(policy[f"{kind}-src"] == "'self'" for kind in ("script", "style", "img", "connect"))
    assert policy["form-action"] == "'self'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


class Desk(Supervised):
    """Supervised agents and the console where persons decide about them."""

    store: SqlStore

    def __init__(
        self,
        store: Store,
        rules: str = PERSON,
        *,
        adapter: Adapter | None = None,
        has_engine: bool = True,
        url: str | None = None,
        oauth: Any = None,
        clock: Clock | None = None,
        **more: Any,
    ) -> None:
        self.made: list[object] = []
        clock, offered = clock or Clock(), adapter or stall(self.made)
        works = any(operation.background for operation in offered.operations.values())
        self.executions = Executions(offered.name, store, pace=HASTY, clock=clock) if works else None
        super().__init__(store, rules, adapter=offered, clock=clock, executions=self.executions, **more)
        self.ledger = Ledger(store, clock=self.clock)
        self.metrics = Metrics(clock=self.clock)
        self.engine = Engine(
            self.adapter,
            gatekeeper=self.gatekeeper,
            loop=self.loop,
            executions=self.executions,
            listeners=[self.metrics],
        )
        self.place = Place.of(Address("127.0.0.1", 8787), url)
        self.console = Console(
            store, lambda: self.engine if has_engine else None, self.metrics if has_engine else None, self.clock
        )
        is_secure = self.place.url.startswith("https:")
        self.doors = Doors(store, self.place.hosts, is_secure, self.clock, self.place.cookie)
        signs_in = SignInWithOAuth(oauth, store, self.place.url, self.clock) if oauth else None
        self.app = console_app(self.console, self.doors, signs_in)

    def browser(self, url: str | None = None) -> Browser:
        """A browser that has not signed in."""
        return Browser(self.app, url or self.place.url)

    async def link(self, name: str = "ana") -> str:
        """The secret of a link."""
        return await new_link_secret(self.store, name, self.clock)

    async def operator(self, name: str = "ana") -> Browser:
        """The browser of somebody who has signed in."""
        return await self.browser().signed_in(await self.link(name))

    # what waits

    async def asked(self, operation: str = "delete_label", params: object = None, **more: Any) -> str:
        """The id of what now waits for a person."""
        return await self.approval(operation, {"number": 1} if params is None else params, **more)

    async def grant(self, approval: str) -> Grant:
        """What waits under an id."""
        [found] = [one for one in await waiting(self.store, self.clock()) if one.approval_id == approval]
        return found

    async def paused(self, name: str = "bot") -> Grant:
        """An agent that waits for a confirmation."""
        await self.start(name)
        await self.step(RISKY, name=name)
        found = [one for one in await waiting(self.store, self.clock()) if one.agent]
        return found[-1]

    async def doubted(self, name: str = "careful") -> Challenge:
        """An agent that is paused until somebody verifies, whose client can be told from all others."""
        who = {"session": Session(), "caller": Caller(subject=f"host of {name}")}
        await self.start(name, **who)
        directive = await self.step(GRAVE, name=name, **who)
        assert not directive["continue"]
        [found] = [one for one in await challenges(self.store, self.clock()) if one.name == name]
        return found

    async def stopped(self, name: str = "brute", hint: str = DEADLY) -> Challenge:
        """An agent that is blocked, whose client can be told from all others."""
        who = {"session": Session(), "caller": Caller(subject=f"host of {name}")}
        await self.start(name, **who)
        return await self.blocked(hint, name=name, **who)


@asynccontextmanager
async def desk(rules: str = PERSON, **more: Any) -> AsyncIterator[Desk]:
    """A desk on a store that ends with the test."""
    store = open_store("memory:")
    made = Desk(store, rules, **more)
    try:
        yield made
    finally:
        if made.executions is not None:
            await made.executions.close()
        await store.close()


def text_of(answer: httpx2.Response) -> str:
    """What a person reads of a page: without markup, and on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())
