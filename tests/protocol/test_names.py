"""Names: their grammar, the reserved ones and the canonical verbs (Spec 4.3, 8.5)."""

import pytest

from headgate import Category
from headgate.protocol.categories import is_destructive, is_read_only
from headgate.protocol.names import (
    CANONICAL_VERBS,
    RESERVED_OPERATIONS,
    SYNONYMS,
    camel_to_snake,
    canonical_verb,
    is_metadata,
    is_snake_case,
    resource_of,
    verb_of,
)


@pytest.mark.parametrize("name", ["a", "get_book", "a1", "a_", "x__y", "get_2_books"])
def test_snake_case_is_taken(name: str) -> None:
    assert is_snake_case(name)


@pytest.mark.parametrize("name", ["", "_a", "1a", "A", "getBook", "get-book", "get book", "é", "a\n", "gét", "a.b"])
def test_anything_else_is_not(name: str) -> None:
    assert not is_snake_case(name)


def test_the_seven_reserved_operations_are_those_of_the_specification() -> None:
    assert set(RESERVED_OPERATIONS) == {
        "introspect",
        "execute_agent",
        "record_execution_step",
        "complete_execution",
        "abort_execution",
        "confirm_operation",
        "verify_challenge",
    }


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("nextActionHint", "next_action_hint"),
        ("userID", "user_id"),
        ("HTTPServer", "http_server"),
        ("already_snake", "already_snake"),
        ("Title", "title"),
        ("page2Size", "page2_size"),
        ("a", "a"),
        ("", ""),
    ],
)
def test_camel_case_becomes_snake_case(camel: str, snake: str) -> None:
    assert camel_to_snake(camel) == snake


@pytest.mark.parametrize(("name", "metadata"), [("_meta", True), ("_", True), ("meta", False), ("", False)])
def test_metadata_starts_with_an_underscore(name: str, metadata: bool) -> None:
    assert is_metadata(name) is metadata


@pytest.mark.parametrize(
    ("operation", "verb", "resource"),
    [
        ("get_book", "get", "book"),
        ("list_big_books", "list", "big_books"),
        ("search", "search", "search"),
        ("get_", "get", "get"),
    ],
)
def test_an_operation_names_a_verb_and_a_resource(operation: str, verb: str, resource: str) -> None:
    assert (verb_of(operation), resource_of(operation)) == (verb, resource)


@pytest.mark.parametrize(
    ("operation", "category", "near"),
    [
        ("get_book", Category.READ, None),
        ("list_books", Category.READ, None),
        ("search_books", Category.READ, "list"),
        ("fetch_book", Category.READ, "get"),
        ("upload_file", Category.CREATE, "create"),
        ("rename_file", Category.UPDATE, "update"),
        ("purge_cache", Category.DELETE, "delete"),
        ("run_job", Category.EXECUTE, "execute"),
        ("stop_job", Category.EXECUTE, "cancel"),
        ("frobnicate", Category.CREATE, "create"),
        ("delete_book", Category.READ, "get"),
        ("fetch_book", Category.DELETE, "delete"),
    ],
)
def test_a_verb_that_is_not_canonical_has_a_canonical_one_near(
    operation: str, category: Category, near: str | None
) -> None:
    assert canonical_verb(operation, category) == near


def test_every_synonym_leads_to_a_canonical_verb_and_is_none_itself() -> None:
    canonical = {verb for verbs in CANONICAL_VERBS.values() for verb in verbs}
    assert set(SYNONYMS.values()) <= canonical
    assert canonical.isdisjoint(SYNONYMS)


@pytest.mark.parametrize(
    ("category", "read_only", "destructive"),
    [
        (Category.CREATE, False, False),
        (Category.READ, True, False),
        (Category.UPDATE, False, True),
        (Category.DELETE, False, True),
        (Category.EXECUTE, False, True),
    ],
)
def test_a_category_may_do_what_the_specification_says(category: Category, read_only: bool, destructive: bool) -> None:
    assert (category.read_only, category.destructive) == (read_only, destructive)
    assert category.meaning


def test_the_riskiest_category_decides_for_a_tool_with_several() -> None:
    assert is_read_only([Category.READ, Category.READ])
    assert not is_read_only([Category.READ, Category.CREATE])
    assert is_destructive([Category.READ, Category.DELETE])
    assert not is_destructive([Category.READ, Category.CREATE])
