"""Search over operations: the right one first, also among ten thousand."""

from typing import Any

import pytest

from headgate import Category, Operation, Parameter
from headgate.adapter.search import SearchIndex
from headgate.protocol.names import category_of_verb, verb_of


async def nothing(**_: Any) -> None:
    """Do nothing."""


def made(name: str, summary: str, *parameters: str) -> Operation:
    declared = tuple(Parameter(parameter, {"type": "string"}) for parameter in parameters)
    category = category_of_verb(verb_of(name)) or Category.READ
    return Operation(name, category, nothing, declared, summary)


LIBRARY = [
    made("list_books", "List the books of a shelf.", "shelf"),
    made("get_book", "Get one book by its number.", "book_id"),
    made("create_book", "Add a book.", "title"),
    made("delete_book", "Remove a book for good.", "book_id"),
    made("list_loans", "Who has borrowed what.", "reader"),
    made("execute_inventory", "Count everything in the house.", "shelf"),
    made("get_opening_hours", "When the library is open."),
]


def found(words: str, most: int = 10) -> list[str]:
    return [operation.name for operation in SearchIndex(LIBRARY).search(words, most)]


@pytest.mark.parametrize(
    ("words", "best"),
    [
        pytest.param("list books", "list_books", id="the name"),
        pytest.param("list_books", "list_books", id="the name as it is written"),
        pytest.param("LIST BOOKS", "list_books", id="in capitals"),
        pytest.param("all books on a shelf", "list_books", id="words of the description"),
        pytest.param("remove a book", "delete_book", id="a synonym of the verb"),
        pytest.param("add book", "create_book", id="another synonym"),
        pytest.param("borrowed", "list_loans", id="only in the description"),
        pytest.param("reader", "list_loans", id="only a parameter"),
        pytest.param("opening hours", "get_opening_hours", id="a rare word counts more"),
        pytest.param("run inventory", "execute_inventory", id="the canonical verb"),
    ],
)
def test_the_best_match_comes_first(words: str, best: str) -> None:
    assert found(words)[0] == best


def test_any_word_may_match_and_the_singular_finds_the_plural() -> None:
    assert set(found("book")) == {"list_books", "get_book", "create_book", "delete_book"}


@pytest.mark.parametrize("words", ["", "   ", "zeppelin", "the of a", "?!"], ids=repr)
def test_words_that_match_nothing_find_nothing(words: str) -> None:
    assert found(words) == []


def test_no_more_are_found_than_wanted_and_the_order_stays() -> None:
    everything = found("book shelf list")
    assert found("book shelf list", 2) == everything[:2]
    assert found("book shelf list", 0) == []


def test_an_operation_that_shares_no_word_is_not_found() -> None:
    assert "get_opening_hours" not in found("book")


def test_equal_matches_keep_the_order_of_the_adapter() -> None:
    twins = [made(f"get_twin_{letter}", "A twin.") for letter in "abc"]
    assert [operation.name for operation in SearchIndex(twins).search("twin", 5)] == [twin.name for twin in twins]


@pytest.mark.parametrize(
    ("word", "name"), [("city", "list_cities"), ("status", "get_status"), ("class", "get_class"), ("gas", "get_gas")]
)
def test_plurals_meet_their_singular_and_other_endings_stay(word: str, name: str) -> None:
    index = SearchIndex([made(name, "x"), made("get_other", "y")])
    assert [operation.name for operation in index.search(word, 5)] == [name]


def test_an_index_of_nothing_finds_nothing() -> None:
    assert SearchIndex([]).search("book", 5) == []
    assert SearchIndex([made("is", "the")]).search("book", 5) == []


def test_one_of_ten_thousand_is_found() -> None:
    many = [
        made(f"get_item_{number}", f"Get the item with the number {number}.", "item_id") for number in range(10_000)
    ]
    needle = made("calibrate_telescope", "Point the telescope to a known star.", "star_name")
    index = SearchIndex([*many[:5000], needle, *many[5000:]])
    for words in ("telescope", "known star", "point to star", "calibrate"):
        assert index.search(words, 3)[0] is needle
    assert index.search("item 777", 1)[0].name == "get_item_777"


@pytest.mark.parametrize("words", ["branch", "branches", "policy", "policies"])
def test_one_and_many_find_each_other(words: str) -> None:
    index = SearchIndex([*LIBRARY, made("list_branches", "All of them."), made("get_policy", "One of them.")])
    assert index.search(words, 1)[0].name == ("list_branches" if words.startswith("branch") else "get_policy")
