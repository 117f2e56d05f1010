"""What a caller writes is never SQL: the statements are a function of a request's shape, and the data is untouched."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.query.cursors import Cursors
from tests.databases import Server
from tests.sources.sql.bookshelf import Bookshelf, bookshelf
from tests.sources.sql.injections import CLASSICS

Asking = Callable[[Bookshelf, str], dict[str, Any]]

HARMLESS = ("VALIDATION_", "NOT_FOUND_", "CONFLICT_")

VALUES: dict[str, Asking] = {
    "eq": lambda shelf, text: shelf.ask("list_books", filter={"title": text}),
    "eq, written out": lambda shelf, text: shelf.ask("list_books", filter={"title": {"eq": text}}),
    "ne": lambda shelf, text: shelf.ask("list_books", filter={"code": {"ne": text}}),
    "gt": lambda shelf, text: shelf.ask("list_books", filter={"title": {"gt": text}}),
    "lte": lambda shelf, text: shelf.ask("list_books", filter={"code": {"lte": text}}),
    "in": lambda shelf, text: shelf.ask("list_books", filter={"title": {"in": [text, "b"]}}),
    "not_in": lambda shelf, text: shelf.ask("list_books", filter={"code": {"not_in": ["a", text]}}),
    "between": lambda shelf, text: shelf.ask("list_books", filter={"title": {"between": [text, text]}}),
    "contains": lambda shelf, text: shelf.ask("list_books", filter={"title": {"contains": text}}),
    "starts_with": lambda shelf, text: shelf.ask("list_books", filter={"code": {"starts_with": text}}),
    "ends_with": lambda shelf, text: shelf.ask("list_books", filter={"title": {"ends_with": text}}),
    "icontains": lambda shelf, text: shelf.ask("list_books", filter={"code": {"icontains": text}}),
    "over a relationship": lambda shelf, text: shelf.ask("list_books", filter={"author.mentor.name": text}),
    "inside JSON": lambda shelf, text: shelf.ask("list_books", filter={"details.b.c": {"contains": text}}),
    "JSON as a whole": lambda shelf, text: shelf.ask("list_books", filter={"details": text}),
    "deep inside": lambda shelf, text: shelf.ask("list_books", filter={"not": {"or": [{"title": text}, {"id": 1}]}}),
    "a summary's filter": lambda shelf, text: shelf.ask("count_books", filter={"title": text}),
    "a phrase": lambda shelf, text: shelf.ask("search_authors", query=f'"{_phrase(text)}"'),
    "a phrase of an index": lambda shelf, text: shelf.ask("search_books", query=f'"{_phrase(text)}"'),
    "a summary's label": lambda shelf, text: shelf.ask("list_books", aggregate={text: {"count": True}}),
    "a new item": lambda shelf, text: shelf.ask(
        "create_book", id=77, title=text, author_id=1, details={text: text}, code="z", dry_run=True
    ),
    "a change": lambda shelf, text: shelf.ask(
        "update_book", id=1, input={"title": text, "details": {"b": text}}, dry_run=True
    ),
    "a version": lambda shelf, text: shelf.ask("update_book", id=1, input={"title": "x"}, if_match=text, dry_run=True),
    "a version to delete": lambda shelf, text: shelf.ask("delete_book", id=2, if_match=text, dry_run=True),
}
"""Places in which a text is a value."""

NUMBERS: dict[str, Asking] = {
    "integer": lambda shelf, text: shelf.ask("list_books", filter={"id": text}),
    "decimal": lambda shelf, text: shelf.ask("list_books", filter={"price": {"gte": text}}),
    "key": lambda shelf, text: shelf.ask("get_book", id=text),
    "key of a relationship query": lambda shelf, text: shelf.ask(
        "query_relationships", root={"element_type": "book", "element_name": text}, direction="both"
    ),
    "page": lambda shelf, text: shelf.ask("list_books", first=text),
}
"""Places in which it would have to be a number."""

NAMES: dict[str, Asking] = {
    "filter": lambda shelf, text: shelf.ask("list_books", filter={text: "x"}),
    "filter over a relationship": lambda shelf, text: shelf.ask("list_books", filter={f"author.{text}": "x"}),
    "operator": lambda shelf, text: shelf.ask("list_books", filter={"title": {text: "x"}}),
    "sort": lambda shelf, text: shelf.ask("list_books", sort={"field": text}),
    "order": lambda shelf, text: shelf.ask("list_books", sort={"field": "title", "order": text}),
    "fields": lambda shelf, text: shelf.ask("list_books", fields=["id", text]),
    "preset": lambda shelf, text: shelf.ask("list_books", preset=text),
    "preset in fields": lambda shelf, text: shelf.ask("list_books", fields=text),
    "group_by": lambda shelf, text: shelf.ask("list_books", aggregate={"x": {"group_by": text, "count": True}}),
    "sum": lambda shelf, text: shelf.ask("list_books", aggregate={"x": {"sum": text}}),
    "function": lambda shelf, text: shelf.ask("list_books", aggregate={"x": {text: "price"}}),
    "relationship": lambda shelf, text: shelf.ask(
        "query_relationships",
        root={"element_type": "book", "element_name": "1"},
        direction="both",
        relationship=text,
    ),
    "type": lambda shelf, text: shelf.ask(
        "query_relationships", root={"element_type": text, "element_name": "1"}, direction="both"
    ),
    "cursor": lambda shelf, text: shelf.ask("list_books", first=2, after=text),
    "operation": lambda shelf, text: shelf.ask(f"list_{text}"),
    "parameter": lambda shelf, text: shelf.ask("list_books", **{f"x{text}": 1}),
    "field of an update": lambda shelf, text: shelf.ask("update_book", id=1, input={text: "x"}),
}
"""Places in which a text must be a name that is known."""


def _phrase(text: str) -> str:
    return text.replace('"', "") or "x"


@pytest.fixture(scope="module")
def shelf(server: Server) -> Iterator[Bookshelf]:
    with bookshelf(server) as made:
        before = made.digest()
        yield made
        assert made.digest() == before


def is_harmless(answer: dict[str, Any]) -> bool:
    return bool(answer["success"] or answer["error"]["code"].startswith(HARMLESS))


@pytest.mark.parametrize("place", VALUES)
def test_a_value_never_changes_a_statement(shelf: Bookshelf, place: str) -> None:
    ask = VALUES[place]
    ask(shelf, "plain")
    expected = list(shelf.statements)
    assert expected
    for text in CLASSICS:
        answer = ask(shelf, text)
        assert is_harmless(answer), (text, answer)
        assert shelf.statements in (expected, expected[: len(shelf.statements)]), text


@pytest.mark.parametrize("place", NUMBERS)
def test_what_is_no_number_is_refused_before_any_statement(shelf: Bookshelf, place: str) -> None:
    for text in CLASSICS:
        answer = NUMBERS[place](shelf, text)
        assert is_harmless(answer), (text, answer)
        assert not answer["success"], text
        assert shelf.statements == [], text


@pytest.mark.parametrize("place", NAMES)
def test_a_name_that_is_not_known_is_refused_before_any_statement(shelf: Bookshelf, place: str) -> None:
    for text in CLASSICS:
        answer = NAMES[place](shelf, text)
        assert not answer["success"], text
        assert answer["error"]["code"].startswith("VALIDATION_") or place == "operation", answer
        assert shelf.statements == [], text


def test_keys_inside_json_are_bound_to_the_statement(shelf: Bookshelf) -> None:
    expected: dict[int, list[str]] = {}
    for number in range(1, 30):
        shelf.ask("list_books", filter={".".join(["details", *["k"] * number]): "x"})
        expected[number] = list(shelf.statements)
    for text in CLASSICS:
        answer = shelf.ask("list_books", filter={f"details.{text}": "x"})
        assert is_harmless(answer), (text, answer)
        assert shelf.statements in ([], expected.get(text.count(".") + 1)), text
        answer = shelf.ask("list_books", fields=["id", f"details.{text}"])
        assert is_harmless(answer), (text, answer)


@pytest.mark.parametrize("operation", ["search_books", "search_authors"])
def test_words_are_never_the_syntax_of_a_search(shelf: Bookshelf, operation: str) -> None:
    known = []
    for count in range(1, 21):
        shelf.ask(operation, query=" ".join(f"w{number}" for number in range(count)))
        known.append(list(shelf.statements))
    for text in CLASSICS:
        answer = shelf.ask(operation, query=text)
        assert is_harmless(answer), (text, answer)
        assert shelf.statements in ([], *known), text


def test_words_that_are_syntax_elsewhere_are_searched_for(shelf: Bookshelf) -> None:
    found = shelf.ask("search_books", query="title: OR", fields=["id"])
    assert [item["id"] for item in found["data"]["items"]][:1] == [3]
    assert shelf.ask("search_books", query='"whale NOT house"')["data"]["items"] == []


TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.lists(
    st.sampled_from([*CLASSICS[:60], "a", " ", "'", '"', "\\", "%", ";", "--", "\x00", "\ud800"]), max_size=4
).map("".join)


@settings(max_examples=150)
@given(st.sampled_from(sorted(VALUES)), TEXTS)
def test_no_text_at_all_changes_a_statement(shelf: Bookshelf, place: str, text: str) -> None:
    VALUES[place](shelf, "plain")
    expected = list(shelf.statements)
    answer = VALUES[place](shelf, text)
    assert is_harmless(answer), answer
    assert shelf.statements == expected[: len(shelf.statements)]


@settings(max_examples=150)
@given(st.sampled_from(sorted({*NAMES} - {"operation", "parameter"})), TEXTS)
def test_no_text_at_all_is_taken_for_a_name(shelf: Bookshelf, place: str, text: str) -> None:
    answer = NAMES[place](shelf, text)
    assert is_harmless(answer), answer
    assert shelf.statements == []


# cursors


def cursor_of(shelf: Bookshelf, **params: Any) -> str:
    answer = shelf.ask("list_books", first=2, **params)
    cursor: str = answer["data"]["pageInfo"]["endCursor"]
    return cursor


def assert_refused(shelf: Bookshelf, cursor: str, **params: Any) -> None:
    answer = shelf.ask("list_books", first=2, after=cursor, **params)
    assert not answer["success"], cursor
    assert answer["error"]["code"] == "VALIDATION_INVALID_VALUE"
    assert shelf.statements == []


def test_a_cursor_with_any_character_changed_is_refused(shelf: Bookshelf) -> None:
    sort = {"field": "price", "order": "desc"}
    cursor = cursor_of(shelf, sort=sort)
    assert shelf.ask("list_books", first=2, after=cursor, sort=sort)["success"]
    for place, letter in enumerate(cursor):
        for other in "AQgw_-x=' é":
            if other != letter:
                assert_refused(shelf, cursor[:place] + other + cursor[place + 1 :], sort=sort)


def test_a_cursor_with_any_bit_changed_is_refused(shelf: Bookshelf) -> None:
    cursor = cursor_of(shelf)
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for place in range(len(raw) * 8):
        changed = bytearray(raw)
        changed[place // 8] ^= 1 << place % 8
        assert_refused(shelf, base64.urlsafe_b64encode(changed).rstrip(b"=").decode())


def test_a_cursor_that_is_cut_or_put_together_anew_is_refused(shelf: Bookshelf) -> None:
    one, other = cursor_of(shelf), cursor_of(shelf, filter={"id": {"gt": 1}})
    for length in range(len(one)):
        assert_refused(shelf, one[:length])
    first, second = (base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) for text in (one, other))
    assert first[16:] != second[16:]
    for raw in (first[:16] + second[16:], first[16:] + first[:16], second[:16], first[16:], first + first):
        assert_refused(shelf, base64.urlsafe_b64encode(raw).rstrip(b"=").decode())
    assert_refused(shelf, one + "=")
    assert_refused(shelf, one + "A")


def test_a_cursor_of_another_order_collection_or_key_is_refused(shelf: Bookshelf) -> None:
    cursor = cursor_of(shelf)
    assert_refused(shelf, cursor, sort={"field": "title"})
    assert_refused(shelf, cursor, sort={"field": "id", "order": "desc"})
    assert_refused(shelf, shelf.ask("list_authors", first=2)["data"]["pageInfo"]["endCursor"])
    reader = shelf.engine.adapter.collections.reader
    query = reader.read({"first": 2, "fields": ["id"]}, reader.resolver.catalog["books"], "standard").query
    assert query is not None
    assert reader.cursors.writer(query.listing)((2,)) == cursor
    assert_refused(shelf, Cursors(b"another key, as long as any").writer(query.listing)((2,)))
    assert_refused(shelf, reader.cursors.write_place("books", 2))
