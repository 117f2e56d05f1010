"""What clients do: a dozen kinds of visits, each of which knows what it must be answered."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.soak.wires import Client, Session, modern

__all__ = ["VISITS", "Visitor", "tokens_file"]

_BOOKS = 3_000
_REVIEWS = 8_000
_WORDS = ("winter", "harbour", "garden", "river", "letters", "night", "summer", "glass")
_TOKENS = {"alice": "a-token-of-alice-for-the-soak", "bob": "a-token-of-bob-for-the-soak"}


@dataclass
class Visitor:
    """Somebody who comes again and again, by the same seed always in the same order."""

    port: int
    name: str
    seed: int
    client: Client = field(init=False)
    customer: int = field(init=False)
    elsewhere: int = 0
    """Requests that were sent by clients of its other connections."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  (nothing is secret here)
        self.customer = self.seed + 1
        self.client = Client(self.port, modern(**self.credentials))

    @property
    def credentials(self) -> dict[str, str]:
        """The header that says who this is."""
        return {"authorization": f"Bearer {_TOKENS[self.name]}"}

    @property
    def sent(self) -> int:
        """How many requests it has sent."""
        return self.client.sent + self.elsewhere

    async def once(self) -> str:
        """One visit, whichever comes; its name."""
        (visit,) = self.random.choices(list(VISITS), weights=list(VISITS.values()))
        try:
            await visit(self)
        except Exception as error:
            raise AssertionError(f"{visit.__name__.strip('_')}: {error!r}") from error
        return visit.__name__.strip("_")

    async def session(self) -> Session:
        """A session of the older era."""
        return await Session.opened(self.port, **self.credentials)

    def left(self, client: Client) -> None:
        """Count what another client has sent; it closes its connection."""
        client.line.leave()
        self.elsewhere += client.sent

    def book(self) -> int:
        """Any book."""
        return self.random.randint(1, _BOOKS)


def tokens_file() -> str:
    """The file of bearer tokens that the visitors' server is given."""
    return "".join(f'[tokens.{name}]\nsecret = "{secret}"\n' for name, secret in _TOKENS.items())


def _data(envelope: dict[str, Any]) -> Any:
    assert envelope["success"], envelope
    return envelope["data"]


def _code(envelope: dict[str, Any]) -> str:
    assert not envelope["success"], envelope
    return str(envelope["error"]["code"])


async def _read(visitor: Visitor) -> None:
    text = str(visitor.random.random())
    assert _data(await visitor.client.call("read", "get_echo", text=text)) == text
    book = visitor.book()
    assert _data(await visitor.client.call("read", "get_book", id=book, fields=["id", "title"]))["id"] == book


async def _page(visitor: Visitor) -> None:
    """Three pages of a filtered, sorted list."""
    asked: dict[str, Any] = {"first": 10, "sort": [{"field": "price"}, {"field": "title"}]}
    asked["filter"] = {"price": {"gte": visitor.random.randint(1, 20)}}
    seen: list[int] = []
    for _ in range(3):
        page = _data(await visitor.client.call("read", "list_books", **asked))
        seen += [item["id"] for item in page["items"]]
        asked["after"] = page["pageInfo"]["endCursor"]
    assert len(set(seen)) == 30


async def _search(visitor: Visitor) -> None:
    query = " ".join(visitor.random.sample(_WORDS, 2))
    assert "items" in _data(await visitor.client.call("read", "search_books", query=query, first=5))


async def _introspect(visitor: Visitor) -> None:
    for params in ({"query": "operations"}, {"query": "operations", "name": "get_book"}):
        assert _data(await visitor.client.call("read", "introspect", **params))
    _data(await visitor.client.call("read", "introspect", query="search", name=visitor.random.choice(_WORDS)))
    assert (await visitor.client.request("tools/list")).message["result"]["tools"]


async def _refused(visitor: Visitor) -> None:
    client = visitor.client
    assert _code(await client.call("read", "get_bok", id=1)) == "NOT_FOUND_OPERATION"
    assert _code(await client.call("read", "get_book")) == "VALIDATION_MISSING_PARAM"
    assert _code(await client.call("read", "get_book", id="one")) == "VALIDATION_INVALID_TYPE"
    assert _code(await client.call("read", "get_book", id=1, colour="red")) == "VALIDATION_UNKNOWN_PARAM"
    assert _code(await client.call("read", "delete_review", id=1)) == "VALIDATION_ENDPOINT_MISMATCH"
    assert _code(await client.call("read", "get_book", id=10**9)) == "NOT_FOUND_RESOURCE"


async def _batch(visitor: Visitor) -> None:
    items = [{"operation": "get_book", "params": {"id": visitor.book()}} for _ in range(5)]
    done = await visitor.client.call("read", "", operations=[*items, {"operation": "get_book"}])
    assert (done["summary"]["succeeded"], done["summary"]["failed"]) == (5, 1)


async def _dry_run(visitor: Visitor) -> None:
    review = visitor.random.randint(1, _REVIEWS)
    _data(await visitor.client.call("delete", "delete_review", id=review, dry_run=True))
    change: dict[str, Any] = {"input": {"rating": visitor.random.randint(1, 5)}, "dry_run": True}
    _data(await visitor.client.call("update", "update_review", id=review, **change))


async def _update(visitor: Visitor) -> None:
    """An update under the right version, and one under a version that is no more."""
    wanted = _review(visitor)
    already: dict[str, Any] = {"filter": {name: wanted[name] for name in ("book_id", "customer_id")}}
    if _data(await visitor.client.call("read", "list_reviews", **already))["items"]:
        return
    made = _data(await visitor.client.call("create", "create_review", **wanted))
    before = made["_etag"]
    changed = {"id": made["id"], "input": {"title": str(visitor.random.random())}}
    _data(await visitor.client.call("update", "update_review", **changed, if_match=before))
    stale = {**changed, "input": {"title": "late"}, "if_match": before}
    assert _code(await visitor.client.call("update", "update_review", **stale)).startswith("CONFLICT_")
    await _confirmed(visitor, made["id"])


def _review(visitor: Visitor) -> dict[str, Any]:
    """A review by a customer whom nobody else writes for; of each book, a customer has one at the most."""
    return {"book_id": visitor.book(), "customer_id": visitor.customer, "rating": 3}


async def _confirmed(visitor: Visitor, review: int) -> None:
    asked = await visitor.client.call("delete", "delete_review", id=review)
    assert _code(asked) == "CONFIRMATION_REQUIRED"
    confirmed = {"id": review, "confirmation_token": asked["error"]["details"]["confirmation_token"]}
    _data(await visitor.client.call("delete", "delete_review", **confirmed))
    assert _code(await visitor.client.call("delete", "delete_review", **confirmed)) == "TOKEN_ALREADY_USED"


async def _asked_in_vain(visitor: Visitor) -> None:
    """A confirmation that nobody gives."""
    review = visitor.random.randint(1, _REVIEWS)
    assert _code(await visitor.client.call("delete", "delete_review", id=review)) == "CONFIRMATION_REQUIRED"


async def _execution(visitor: Visitor) -> None:
    client, operation = visitor.client, visitor.random.choice(["execute_grind", "execute_grind_in_thread"])
    begun = _data(await client.call("execute", operation, milliseconds=60))
    waited = {"execution_id": begun["execution_id"], "wait_seconds": 20}
    ended = _data(await client.call("read", "get_execution", progress="p", **waited))
    assert ended["status"] == "completed", ended
    _data(await client.call("read", "get_execution_result", execution_id=begun["execution_id"]))


async def _cancelled(visitor: Visitor) -> None:
    begun = _data(await visitor.client.call("execute", "execute_grind", milliseconds=60_000))
    execution = {"execution_id": begun["execution_id"]}
    _data(await visitor.client.call("execute", "cancel_execution", **execution))
    ended = _data(await visitor.client.call("read", "get_execution", **execution, wait_seconds=20))
    assert ended["status"] == "cancelled", ended


async def _legacy(visitor: Visitor) -> None:
    """A session of the older era, from its first message to its end."""
    session = await visitor.session()
    assert (await session.request("tools/list")).message["result"]["tools"]
    for _ in range(3):
        book = visitor.book()
        assert _data(await session.call("read", "get_book", id=book))["id"] == book
    assert await session.end() == 200
    visitor.left(session)


async def _abandoned(visitor: Visitor) -> None:
    """A session that nobody ends."""
    session = await visitor.session()
    assert _data(await session.call("read", "get_echo", text="bye")) == "bye"
    visitor.left(session)


async def _gone(visitor: Visitor) -> None:
    """Clients of both eras who leave while their calls are in work."""
    session = await visitor.session()
    for client in (session, Client(visitor.port, modern(**visitor.credentials))):
        await client.begin("read", "get_late", milliseconds=300)
        await visitor.client.call("read", "get_echo", text="meanwhile")
        visitor.left(client)


async def _listened(visitor: Visitor) -> None:
    """Listeners of both eras who leave again."""
    session = await visitor.session()
    await session.line.send(b"", session.era.headers, "GET")
    assert (await session.line.head())[0] == 200
    visitor.left(session)
    listener = Client(visitor.port, modern(**visitor.credentials))
    asked = {"notifications": {"toolsListChanged": True}}
    await listener.line.send(*listener.era.write("subscriptions/listen", asked))
    assert (await listener.line.head())[0] == 200
    visitor.left(listener)


async def _stranger(visitor: Visitor) -> None:
    """Somebody with a wrong token, and somebody who sends no message."""
    stranger = Client(visitor.port, modern(authorization="Bearer nobody-knows-this-one"))
    assert (await stranger.request("tools/list")).status == 401
    visitor.left(stranger)
    answered = await visitor.client.line.ask(b"hello", visitor.client.era.headers)
    assert answered.status == 400


VISITS: dict[Callable[[Visitor], Awaitable[None]], int] = {
    _read: 30,
    _page: 12,
    _search: 8,
    _introspect: 6,
    _refused: 8,
    _batch: 6,
    _dry_run: 6,
    _update: 5,
    _asked_in_vain: 2,
    _execution: 4,
    _cancelled: 3,
    _legacy: 4,
    _abandoned: 2,
    _gone: 3,
    _listened: 2,
    _stranger: 3,
}
"""Each kind of visit, and how often it comes."""
