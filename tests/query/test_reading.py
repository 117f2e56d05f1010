"""What is asked beside the filter: words, order, fields, summaries; and what is wrong with it."""

from typing import Any

import pytest

from headgate.query.shapes import RANK
from tests.query.shop import refusal, shop

# words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("emma", "2", id="one word in any case"),
        pytest.param("emma GHOSTS", "25", id="any of several words"),
        pytest.param("house doll", "1", id="words that stand in one item"),
        pytest.param("a ghosts emma", "12345", id="part of a word"),
        pytest.param('"doll\'s house"', "1", id="a phrase"),
        pytest.param('"house doll\'s"', "", id="a phrase in another order"),
        pytest.param("  emma  emma ", "2", id="a word twice"),
        pytest.param("%", "", id="no pattern of a database"),
    ],
)
def test_a_text_query_finds_what_holds_any_of_its_words(words: str, expected: str) -> None:
    assert sorted(shop().keys(query=words)) == [key for key in expected if _holds(key, words)]


def _holds(key: str, words: str) -> bool:
    """Only titles with one of the letters, for the one case that looks for parts."""
    return words != "a ghosts emma" or key in "1235"


def test_the_best_matches_come_first_and_equal_ones_by_their_key() -> None:
    assert shop().keys(query="house emma doll ghosts") == ["1", "2", "5"]


def test_a_sort_takes_the_place_of_the_ranking() -> None:
    asked = {"query": "house emma doll ghosts", "sort": {"field": "title", "order": "desc"}}
    assert shop().keys(**asked) == ["5", "2", "1"]
    query = shop().read(**asked).query
    assert query is not None
    assert all(key.path is not RANK for key in query.listing.order)


def test_words_and_a_filter_both_hold() -> None:
    assert shop().keys(query="emma ghosts", filter={"author_id": 1}) == ["5"]


@pytest.mark.parametrize(
    ("name", "words", "code", "told"),
    [
        pytest.param("books", "", "VALIDATION_INVALID_VALUE", "holds no word to search for", id="no word"),
        pytest.param("books", ' "" \t', "VALIDATION_INVALID_VALUE", "holds no word", id="an empty phrase"),
        pytest.param("books", 5, "VALIDATION_INVALID_TYPE", "expected 'string', got 'integer'", id="a number"),
        pytest.param(
            "books",
            " ".join(map(str, range(21))),
            "VALIDATION_INVALID_VALUE",
            "holds 21 words; 20 are allowed",
            id="too many words",
        ),
        pytest.param(
            "authors", "x", "VALIDATION_INVALID_VALUE", "'authors' have no texts to search", id="nothing to search"
        ),
    ],
)
def test_a_text_query_that_cannot_be_answered_is_refused(name: str, words: object, code: str, told: str) -> None:
    error = refusal(lambda: shop().read(name, query=words))
    assert (error.code, (error.details or {})["param_name"]) == (code, "query")
    assert told in error.message


# order


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        pytest.param(None, "12345", id="by the key unless said"),
        pytest.param([], "12345", id="by the key if nothing is said"),
        pytest.param({"field": "title"}, "14253", id="upwards unless said"),
        pytest.param({"field": "title", "order": "desc"}, "35241", id="downwards"),
        pytest.param({"field": "isbn", "order": "desc"}, "54321", id="by the key downwards"),
        pytest.param({"field": "price"}, "51324", id="equal ones by the key"),
        pytest.param({"field": "price", "order": "desc"}, "42315", id="equal ones by the key downwards too"),
        pytest.param({"field": "published"}, "45213", id="what has no value first"),
        pytest.param({"field": "published", "order": "desc"}, "31254", id="what has no value last"),
        pytest.param([{"field": "in_stock"}, {"field": "price", "order": "desc"}], "25431", id="by several fields"),
        pytest.param({"field": "author.name", "order": "desc"}, "35124", id="over a relationship"),
        pytest.param({"field": "_computed.length"}, "25431", id="by a computed field"),
    ],
)
def test_items_are_put_in_order(sort: object, expected: str) -> None:
    assert shop().keys(sort=sort) == list(expected)


def test_texts_are_ordered_by_their_characters_and_not_by_a_language() -> None:
    names = shop().shown("authors", sort={"field": "country"}, fields=["country"])
    assert [item["country"] for item in names] == [None, "GB", "IE", "NO"]


SORTS = [
    pytest.param({"field": "titel"}, "VALIDATION_UNKNOWN_FIELD", "sort", "Did you mean 'title'", id="an unknown field"),
    pytest.param(
        [{"field": "title"}, {"field": "x"}], "VALIDATION_UNKNOWN_FIELD", "sort[1]", "in 'sort[1]'", id="in a list"
    ),
    pytest.param("titel", "VALIDATION_UNKNOWN_FIELD", "sort", "Did you mean 'title'?", id="a text"),
    pytest.param(7, "VALIDATION_INVALID_TYPE", "sort", "expected 'object', got 'integer'", id="a number"),
    pytest.param({"field": 5}, "VALIDATION_INVALID_TYPE", "sort.field", "expected 'string'", id="a number as field"),
    pytest.param({"order": "asc"}, "VALIDATION_INVALID_TYPE", "sort.field", "got 'null'", id="no field"),
    pytest.param(
        {"field": "title", "order": "down"},
        "VALIDATION_INVALID_VALUE",
        "sort.order",
        "'down' is no order. Use one of: asc, desc",
        id="an unknown order",
    ),
    pytest.param(
        {"field": "title", "dir": "asc"}, "VALIDATION_UNKNOWN_FIELD", "sort", "Unknown key 'dir'", id="an unknown key"
    ),
    pytest.param(
        {"field": "tags"},
        "VALIDATION_INVALID_VALUE",
        "sort",
        "'tags' cannot be sorted by. Use one of: isbn, title",
        id="an array",
    ),
    pytest.param({"field": "details"}, "VALIDATION_INVALID_VALUE", "sort", "cannot be sorted by", id="JSON"),
    pytest.param({"field": "details.pages"}, "VALIDATION_INVALID_VALUE", "sort", "cannot be sorted", id="inside JSON"),
    pytest.param({"field": "secret"}, "VALIDATION_INVALID_VALUE", "sort", "cannot be sorted", id="what is kept back"),
    pytest.param({"field": ["x"]}, "VALIDATION_INVALID_TYPE", "sort.field", "got 'array'", id="a list as field"),
]


@pytest.mark.parametrize(("sort", "code", "where", "told"), SORTS)
def test_an_order_that_cannot_be_is_refused(sort: object, code: str, where: str, told: str) -> None:
    error = refusal(lambda: shop().read(sort=sort))
    assert (error.code, (error.details or {})["param_name"]) == (code, where)
    assert told in error.message


# fields


def first(**params: Any) -> Any:
    return shop().shown(filter={"isbn": "1"}, **params)[0]


def test_a_list_shows_the_standard_fields_unless_said() -> None:
    assert set(first()) == {
        "isbn", "title", "author_id", "price", "published", "state", "in_stock", "tags", "secret"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        pytest.param({"fields": "minimal"}, {"isbn", "title"}, id="the key and a name"),
        pytest.param({"preset": "minimal"}, {"isbn", "title"}, id="by the old parameter"),
        pytest.param({"fields": ["price"]}, {"price"}, id="a list alone"),
        pytest.param({"fields": ["price", "price"]}, {"price"}, id="a name twice"),
        pytest.param({"fields": ["price"], "preset": "minimal"}, {"isbn", "title", "price"}, id="a list extends"),
        pytest.param({"fields": "short"}, {"title", "author", "_computed"}, id="the author's own preset"),
        pytest.param({"fields": '["price"]'}, {"price"}, id="a list sent as text"),
    ],
)
def test_fields_are_selected(asked: dict[str, Any], names: set[str]) -> None:
    assert set(first(**asked)) == names


def test_full_shows_every_field() -> None:
    made = shop()
    assert list(first(fields="full")) == list(made.catalog["books"].fields)


def test_what_was_selected_before_changes_nothing() -> None:
    made = shop()
    selections: list[tuple[dict[str, Any], set[str]]] = [
        ({"fields": ["price"]}, {"price"}),
        ({"fields": ["price"], "preset": "minimal"}, {"isbn", "title", "price"}),
        ({"fields": ["price"]}, {"price"}),
        ({"preset": "minimal"}, {"isbn", "title"}),
    ]
    for asked, names in selections:
        assert set(made.shown(first=1, **asked)[0]) == names


FIELDS = [
    pytest.param({"fields": "smal"}, "VALIDATION_UNKNOWN_FIELD", "fields", "Unknown preset 'smal'", id="a preset"),
    pytest.param(
        {"preset": "minmal"}, "VALIDATION_UNKNOWN_FIELD", "preset", "Did you mean 'minimal'", id="the old parameter"
    ),
    pytest.param({"preset": ""}, "VALIDATION_UNKNOWN_FIELD", "preset", "Unknown preset", id="an empty preset"),
    pytest.param({"preset": 5}, "VALIDATION_INVALID_TYPE", "preset", "expected 'string'", id="a preset by number"),
    pytest.param({"fields": ["titel"]}, "VALIDATION_UNKNOWN_FIELD", "fields", "Did you mean 'title'", id="a field"),
    pytest.param({"fields": ["title", 5]}, "VALIDATION_INVALID_TYPE", "fields[1]", "got 'integer'", id="a number"),
    pytest.param({"fields": [["title"]]}, "VALIDATION_INVALID_TYPE", "fields[0]", "got 'array'", id="a list inside"),
    pytest.param({"fields": 5}, "VALIDATION_INVALID_TYPE", "fields", "'string | array'", id="no list at all"),
    pytest.param(
        {"fields": ["author.books"]}, "VALIDATION_INVALID_VALUE", "fields", "leads to many books", id="many items"
    ),
    pytest.param({"fields": ["title"] * 501}, "VALIDATION_INVALID_VALUE", "fields", "500 are allowed", id="too many"),
    pytest.param({"fields": ["shelf"]}, "VALIDATION_UNKNOWN_FIELD", "fields", "'shelf'", id="a missing collection"),
]


@pytest.mark.parametrize(("asked", "code", "where", "told"), FIELDS)
def test_a_selection_that_cannot_be_is_refused(asked: dict[str, Any], code: str, where: str, told: str) -> None:
    error = refusal(lambda: shop().read(**asked))
    assert (error.code, (error.details or {})["param_name"]) == (code, where)
    assert told in error.message


# summaries


def test_with_summaries_the_items_are_left_out_unless_asked_for() -> None:
    total = {"total": {"count": True}}
    assert shop().read(aggregate=total).query is None
    assert shop().read(aggregate=total, first=5, fields="minimal").query is None
    assert shop().read(aggregate=total, include_items=False).query is None
    both = shop().read(aggregate=total, include_items=True)
    assert both.query is not None
    assert both.summaries is not None


def test_without_summaries_items_are_given_whatever_is_said_of_them() -> None:
    assert shop().read(include_items=False).query is not None


AGGREGATES = [
    pytest.param({}, "VALIDATION_INVALID_VALUE", "aggregate", "names no summary", id="none"),
    pytest.param({"a": 5}, "VALIDATION_INVALID_TYPE", "aggregate.a", "expected 'object'", id="a number"),
    pytest.param({"a": {}}, "VALIDATION_INVALID_VALUE", "aggregate.a", "'a' needs a function", id="no function"),
    pytest.param({"a": {"count": False}}, "VALIDATION_INVALID_VALUE", "aggregate.a", "needs a function", id="no count"),
    pytest.param(
        {"a": {"group_by": "state"}},
        "VALIDATION_INVALID_VALUE",
        "aggregate.a",
        "'group_by' needs a function. Use one of: count, sum, avg, min, max",
        id="groups of nothing",
    ),
    pytest.param(
        {"a": {"count": "isbn"}}, "VALIDATION_INVALID_TYPE", "aggregate.a.count", "expected 'boolean'", id="a count of"
    ),
    pytest.param(
        {"a": {"median": "price"}},
        "VALIDATION_UNKNOWN_FIELD",
        "aggregate.a",
        "Unknown function 'median'",
        id="an unknown function",
    ),
    pytest.param({"a": {"sum": 5}}, "VALIDATION_INVALID_TYPE", "aggregate.a.sum", "'string'", id="a sum of a number"),
    pytest.param(
        {"a": {"sum": "prise"}}, "VALIDATION_UNKNOWN_FIELD", "aggregate.a.sum", "Did you mean 'price'", id="a field"
    ),
    pytest.param(
        {"a": {"sum": "title"}},
        "VALIDATION_INVALID_VALUE",
        "aggregate.a.sum",
        "'title' has no sum. Use one of: author_id, price, _computed.length",
        id="the sum of texts",
    ),
    pytest.param(
        {"a": {"avg": "published"}}, "VALIDATION_INVALID_VALUE", "aggregate.a.avg", "has no avg", id="the mean of days"
    ),
    pytest.param(
        {"a": {"max": "in_stock"}},
        "VALIDATION_INVALID_VALUE",
        "aggregate.a.max",
        "'in_stock' has no max. Use one of: isbn, title, author_id, price, published, state, _computed.length",
        id="the most of yes and no",
    ),
    pytest.param(
        {"a": {"min": "secret"}}, "VALIDATION_INVALID_VALUE", "aggregate.a.min", "has no min", id="what is kept back"
    ),
    pytest.param(
        {"a": {"max": "details.pages"}}, "VALIDATION_INVALID_VALUE", "aggregate.a.max", "has no max", id="inside JSON"
    ),
    pytest.param(
        {"a": {"group_by": "tags", "count": True}},
        "VALIDATION_INVALID_VALUE",
        "aggregate.a.group_by",
        "'tags' cannot be grouped by. Use one of: isbn",
        id="groups by an array",
    ),
    pytest.param(
        {"a": {"group_by": "details.pages", "count": True}},
        "VALIDATION_INVALID_VALUE",
        "aggregate.a.group_by",
        "cannot be grouped by",
        id="groups by what lies inside JSON",
    ),
    pytest.param({"x" * 101: {"count": True}}, "VALIDATION_INVALID_VALUE", "aggregate", "label", id="a long label"),
    pytest.param({"look at me": 5}, "VALIDATION_INVALID_TYPE", "aggregate", "'object'", id="a label not to repeat"),
    pytest.param(
        {str(n): {"count": True} for n in range(51)},
        "VALIDATION_INVALID_VALUE",
        "aggregate",
        "names more than 50 summaries",
        id="too many",
    ),
]


@pytest.mark.parametrize(("aggregate", "code", "where", "told"), AGGREGATES)
def test_a_summary_that_cannot_be_is_refused(aggregate: dict[str, Any], code: str, where: str, told: str) -> None:
    error = refusal(lambda: shop().read(aggregate=aggregate))
    assert (error.code, (error.details or {})["param_name"]) == (code, where)
    assert told in error.message


@pytest.mark.parametrize(
    "wrong",
    [{"sort": {"field": "x"}}, {"fields": ["x"]}, {"preset": "x"}, {"first": 1, "last": 1}, {"first": 1, "after": "x"}],
    ids=" and ".join,
)
def test_what_is_wrong_about_the_items_is_told_also_when_only_summaries_are_asked_for(wrong: dict[str, Any]) -> None:
    refusal(lambda: shop().read(aggregate={"total": {"count": True}}, **wrong))
