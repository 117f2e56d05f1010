"""The town library of the examples: every operation works, every example is valid, and it shows every feature."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client

from examples.town_library import library_adapter
from headgate import Engine, mcp_server
from headgate.engine.events import Event, Validated
from headgate.sources.modules import load_adapter
from tests.server.processes import LIBRARY

pytestmark = pytest.mark.anyio

PRIDE, TIME, CRIME = "9780141439518", "9780553380163", "9780140449136"
NEW = "9780000000002"


class Library:
    """A library that is asked as an agent would ask."""

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self.engine = Engine(library_adapter(), listeners=[self.heard.append])

    async def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        reply = await self.engine.call({"operation": operation, "params": params})
        envelope = json.loads(reply.text)
        assert isinstance(envelope, dict)
        return envelope

    async def get(self, operation: str, **params: Any) -> Any:
        envelope = await self.ask(operation, **params)
        assert envelope["success"], envelope
        return envelope["data"]

    async def refused(self, operation: str, **params: Any) -> tuple[str, str]:
        envelope = await self.ask(operation, **params)
        assert not envelope["success"], envelope
        return envelope["error"]["code"], envelope["error"]["message"]


@pytest.fixture
def library() -> Library:
    return Library()


async def operations(library: Library) -> list[str]:
    return [operation["name"] for operation in (await library.get("introspect", query="operations"))["operations"]]


async def test_books_are_listed_by_title_shelf_and_number(library: Library) -> None:
    titles = [book["title"] for book in await library.get("list_books")]
    assert titles == sorted(titles)
    assert len(titles) == 5
    assert [book["isbn"] for book in await library.get("list_books", shelf="science")] == [TIME]
    assert len(await library.get("list_books", limit=2)) == 2
    assert await library.refused("list_books", shelf="sceince") == (
        "VALIDATION_INVALID_ENUM",
        "Parameter 'shelf' must be one of: 'fiction', 'science', 'history'. Did you mean 'science'?",
    )


async def test_a_book_is_found(library: Library) -> None:
    book = await library.get("get_book", isbn=PRIDE)
    assert (book["title"], book["author"]) == ("Pride and Prejudice", {"name": "Jane Austen", "born": 1775})
    assert [found["isbn"] for found in await library.get("search_books", query="AUSTEN hawking")] == [PRIDE, TIME]
    assert (await library.refused("get_book", isbn=NEW))[0] == "NOT_FOUND_RESOURCE"


async def test_a_book_is_added_changed_and_removed(library: Library) -> None:
    book = {"isbn": NEW, "title": "New", "author": {"name": "Nobody"}}
    assert (await library.get("create_book", book=book))["copies"] == 1
    assert (await library.refused("create_book", book=book))[0] == "CONFLICT_ALREADY_EXISTS"
    etag = (await library.get("get_book", isbn=NEW))["_etag"]
    changed = await library.get(
        "update_book", isbn=NEW, input={"author": {"born": 1900}, "tags": ["odd"]}, if_match=etag
    )
    assert (changed["author"], changed["tags"]) == ({"name": "Nobody", "born": 1900}, ["odd"])
    stale = await library.refused("update_book", isbn=NEW, input={"title": "Newer"}, if_match=etag)
    assert stale[0] == "CONFLICT_VERSION_MISMATCH"
    assert (await library.refused("update_book", isbn=NEW, input={"isbn": PRIDE}))[0] == "VALIDATION_UNKNOWN_FIELD"
    assert await library.get("delete_book", isbn=NEW) is None
    assert (await library.refused("delete_book", isbn=NEW))[0] == "NOT_FOUND_RESOURCE"


async def test_a_cover_is_kept_as_it_was_sent(library: Library) -> None:
    picture = base64.b64encode(b"\x89PNG\r\n").decode()
    sent = {"isbn": PRIDE, "cover": picture, "cover_encoding": "base64", "cover_mime_type": "image/png"}
    assert (await library.refused("get_cover", isbn=PRIDE))[0] == "NOT_FOUND_RESOURCE"
    assert await library.get("upload_cover", **sent) == {"isbn": PRIDE, "bytes": 6}
    assert await library.get("get_cover", isbn=PRIDE) == sent


async def test_a_member_is_enrolled_and_the_pin_stays_secret(library: Library) -> None:
    member = await library.get("create_member", name="Edsger", pin="1930")
    assert member["member_id"] == "m3"
    assert [found["name"] for found in await library.get("list_members")] == ["Ada", "Grace", "Edsger"]
    shown = [event.params for event in library.heard if isinstance(event, Validated)]
    assert "1930" not in str(shown)


async def test_a_book_is_lent_and_returned(library: Library) -> None:
    lent = await library.ask("create_loan", isbn=TIME, member_id="m1", pin="1815", days=1)
    assert lent["warnings"][0]["code"] == "LIBRARY_LAST_COPY_WARNING"
    loan = lent["data"]
    assert (await library.refused("create_loan", isbn=TIME, member_id="m2", pin="1906"))[0] == "CONFLICT_ALREADY_EXISTS"
    assert [found["loan_id"] for found in await library.get("list_loans", member_id="m1")] == [loan["loan_id"]]
    assert await library.get("list_loans", member_id="m2") == []
    assert await library.get("list_loans", due_before="2000-01-01") == []
    assert (await library.refused("delete_book", isbn=TIME))[0] == "CONFLICT_ALREADY_EXISTS"
    fewer = await library.refused("update_book", isbn=TIME, input={"copies": 0})
    assert fewer[0] == "VALIDATION_INVALID_VALUE"
    back = await library.get("return_loan", loan_id=loan["loan_id"], input={"returned_at": "2100-01-01T10:00:00Z"})
    assert float(back["fine"]) > 0
    assert await library.get("list_loans") == []
    again = await library.refused("return_loan", loan_id=loan["loan_id"], input={"returned_at": "2100-01-01T10:00:00Z"})
    assert again == ("CONFLICT_ALREADY_EXISTS", "The book is back already")
    assert (await library.refused("return_loan", loan_id=99, input={"returned_at": "2100-01-01T10:00:00Z"}))[0] == (
        "NOT_FOUND_RESOURCE"
    )


async def test_lending_needs_the_right_pin_of_a_member(library: Library) -> None:
    assert (await library.refused("create_loan", isbn=TIME, member_id="m1", pin="0000"))[0] == "PERMISSION_DENIED"
    assert (await library.refused("create_loan", isbn=TIME, member_id="m9", pin="0000"))[0] == "NOT_FOUND_RESOURCE"
    assert (await library.refused("create_loan", isbn=NEW, member_id="m1", pin="1815"))[0] == "NOT_FOUND_RESOURCE"


async def test_what_will_go_is_said_once(library: Library) -> None:
    assert (await library.ask("list_readers"))["warnings"][0]["details"]["replacement"] == "list_members"
    lent = await library.ask("create_loan", isbn=PRIDE, member_id="m1", pin="1815", weeks=2)
    assert lent["warnings"][0]["details"]["deprecated_item"] == "create_loan.weeks"


async def test_an_inventory_reports_its_progress() -> None:
    steps: list[str | None] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        steps.append(f"{progress} of {total}: {message}")

    async with Client(mcp_server(library_adapter())) as client:
        request = {"operation": "execute_inventory", "params": {"pace": "fast"}}
        result = await client.call_tool("mcp_aql_execute", request, progress_callback=progressed)
    assert result.content[0].model_dump()["text"] == '{"success":true,"data":{"fiction":6,"science":1,"history":1}}'
    assert steps == ["0 of 3: counting fiction", "1 of 3: counting science", "2 of 3: counting history"]


async def test_there_is_no_operation_that_these_tests_do_not_use(library: Library) -> None:
    used = "list_books get_book search_books get_cover create_book update_book delete_book upload_cover "
    used += "execute_inventory list_members create_member list_readers create_loan list_loans return_loan introspect"
    assert set(await operations(library)) == set(used.split())


def is_sound(envelope: Mapping[str, Any]) -> bool:
    """Whether a request was right, even if there is nothing of that name."""
    return bool(envelope["success"]) or not envelope["error"]["code"].startswith(("VALIDATION_", "INTERNAL_"))


async def test_every_example_in_introspection_is_valid(library: Library) -> None:
    tried = 0
    for name in await operations(library):
        details = (await library.get("introspect", query="operations", name=name))["operation"]
        assert details["examples"], f"{name} has no example"
        for example in details["examples"]:
            request = example["request"]
            envelope = await Library().ask(request["operation"], **request.get("params", {}))
            assert is_sound(envelope), (request, envelope)
            tried += 1
    assert tried >= 16


async def test_it_shows_every_feature_there_is(library: Library) -> None:
    protocol = (await library.get("introspect", query="operations"))["_protocol"]
    assert protocol["supports_etag"] is True
    categories = {operation.category for operation in library.engine.adapter.operations.values()}
    assert len(categories) == 5
    features = library.engine.adapter.operations.values()
    assert any(operation.deprecated for operation in features)
    assert any(operation.deprecated_parameters for operation in features)
    assert any(operation.has_secrets for operation in features)
    assert any(operation.rationale for operation in features)
    assert any(operation.context_parameter for operation in features)


async def test_each_library_starts_anew() -> None:
    first, second = Library(), Library()
    await first.get("delete_book", isbn=PRIDE)
    assert len(await second.get("list_books")) == 5


def test_it_is_served_by_the_name_of_its_file_alone() -> None:
    assert load_adapter(LIBRARY.removesuffix(":adapter")).name == "library"
