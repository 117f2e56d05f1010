"""Filters: fields, operators and combinations become conditions, and each mistake has words of its own."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from headgate.query.reading import Reader
from headgate.query.shapes import All, Any_, Comparison, Not, is_remembered
from tests.query.shop import Shop, refusal, shop

HELD = [
    pytest.param({}, "12345", id="nothing is asked"),
    pytest.param({"author_id": 1}, "15", id="a value is an equality"),
    pytest.param({"author_id": None}, "4", id="null is no value"),
    pytest.param({"author_id": 1, "in_stock": True}, "1", id="all entries together"),
    pytest.param({"price": {"gte": "9.50", "lt": 20}}, "123", id="several operators of one field"),
    pytest.param({"or": [{"isbn": "1"}, {"title": "Emma"}]}, "12", id="one of several"),
    pytest.param({"and": [{"author_id": 1}, {"price": {"lt": 5}}]}, "5", id="each of several"),
    pytest.param({"not": {"author_id": 1}}, "234", id="the opposite keeps what has no value"),
    pytest.param({"not": {"author_id": 1, "in_stock": True}}, "2345", id="the opposite of all together"),
    pytest.param({"not": {"not": {"author_id": None}}}, "4", id="the opposite of the opposite"),
    pytest.param({"or": [{"and": [{"in_stock": False}, {"author_id": 1}]}, {"isbn": "4"}]}, "45", id="nested"),
    pytest.param({"isbn": {"in": ["1", "2"]}, "or": [{"isbn": "2"}, {"isbn": "3"}]}, "2", id="beside a field"),
    pytest.param({"and": []}, "12345", id="each of none"),
    pytest.param({"or": []}, "", id="one of none"),
    pytest.param({"not": {}}, "", id="the opposite of everything"),
    pytest.param({"not": {"or": []}}, "12345", id="the opposite of one of none"),
    pytest.param({"and": [{}, {"isbn": "1"}]}, "1", id="an empty filter in a list"),
    pytest.param({"state": {"in": ["new", None]}}, "235", id="null in a list"),
    pytest.param({"state": {"not_in": ["new", None]}}, "14", id="null in a list that is excluded"),
    pytest.param({"state": {"not_in": ["new"]}}, "1345", id="what has no value is not in a list"),
    pytest.param({"author.country": "NO"}, "15", id="over a relationship"),
    pytest.param({"author.country": {"ne": "NO"}}, "234", id="a relationship that leads nowhere is not equal"),
    pytest.param({"author.mentor.name": "Ibsen"}, "3", id="over two relationships"),
    pytest.param({"author.name": None}, "4", id="a relationship that leads nowhere is null"),
    pytest.param({"author.mentor_id": {"is_null": False}}, "3", id="a value over a relationship is there"),
    pytest.param({"author.notes.born.year": {"lt": 1900}}, "15", id="into the JSON of another collection"),
    pytest.param({"details.pages": {"gt": 88}}, "2", id="a number inside JSON is no text"),
    pytest.param({"details.pages": {"gt": "l"}}, "3", id="a text inside JSON is no number"),
    pytest.param({"details.pages": {"ne": 88}}, "2345", id="another type inside JSON is not equal"),
    pytest.param({"details.pages": None}, "45", id="a key that is missing inside JSON is null"),
    pytest.param({"details.print": {"is_null": True}}, "2345", id="null inside JSON is null"),
    pytest.param({"details.size.width": {"between": [11, 12]}}, "1", id="deep inside JSON"),
    pytest.param({"details.pages.deeper": {"is_null": True}}, "12345", id="nothing lies inside a number"),
    pytest.param({"details.signed": True}, "2", id="a yes inside JSON"),
    pytest.param({"details.pages": {"in": [88, 474.0]}}, "12", id="a list of numbers inside JSON"),
    pytest.param({"details.print": {"icontains": "CLO"}}, "1", id="part of a text inside JSON"),
    pytest.param({"details": {"is_null": True}}, "4", id="no JSON at all"),
    pytest.param({"tags": {"contains": "classic"}}, "14", id="an item of an array"),
    pytest.param({"tags": None}, "", id="an empty array is a value"),
    pytest.param({"_computed.cheap": True}, "135", id="a computed field"),
    pytest.param({"_computed.length": {"gt": 8}}, "13", id="the order of a computed field"),
    pytest.param({"author._computed.initial": "I"}, "15", id="a computed field over a relationship"),
    pytest.param({"state": {"starts_with": "us"}}, "14", id="a part of a choice is no choice"),
]


@pytest.mark.parametrize(("asked", "expected"), HELD)
def test_a_filter_finds(asked: dict[str, Any], expected: str) -> None:
    assert shop().keys(filter=asked) == list(expected)


def test_the_values_stand_apart_from_the_shape_in_the_order_of_their_places() -> None:
    asked = {"isbn": "1", "or": [{"price": {"between": [1, 2]}}, {"not": {"state": {"in": ["new", None]}}}]}
    query = shop().read(filter=asked).query
    assert query is not None
    match query.listing.condition:
        case All((Comparison(slot=0), Any_((Comparison(slot=1, count=2), Not(Any_((inner, Comparison()))))))):
            assert isinstance(inner, Comparison)
            assert (inner.slot, inner.count) == (3, 1)
        case other:
            pytest.fail(f"the shape is another one: {other}")
    assert query.values == ("1", 1, 2, "new")


def test_filters_that_differ_in_values_alone_have_the_same_shape() -> None:
    made = shop()
    one, other = (made.read(filter={"isbn": value, "price": {"gt": value}}).query for value in ("1", "2"))
    assert one is not None
    assert other is not None
    assert one.listing == other.listing
    assert hash(one.listing) == hash(other.listing)


AGAIN = [
    pytest.param({"author_id": 1}, {"author_id": 2}, "2", id="another value"),
    pytest.param({"author_id": 1}, {"author_id": None}, "4", id="null in place of a value"),
    pytest.param({"author_id": None}, {"author_id": 1}, "15", id="a value in place of null"),
    pytest.param({"in_stock": True}, {"in_stock": False}, "25", id="no in place of yes"),
    pytest.param(
        {"author_id": {"is_null": True}}, {"author_id": {"is_null": False}}, "1235", id="the opposite of a flag"
    ),
    pytest.param(
        {"state": {"is_null": False}, "in_stock": False, "isbn": "1"},
        {"state": {"is_null": False}, "in_stock": False, "isbn": "2"},
        "2",
        id="a flag before a value like it",
    ),
    pytest.param(
        {"isbn": {"in": ["1", "2"]}, "title": {"ne": "Emma"}},
        {"isbn": {"in": ["2", "1"]}, "title": {"ne": "A Doll's House"}},
        "2",
        id="values in their places",
    ),
    pytest.param({"isbn": {"in": ["1", "2"]}}, {"isbn": {"in": ["1", "2", "3"]}}, "123", id="a longer list"),
    pytest.param({"state": {"in": ["new", None]}}, {"state": {"in": [None, "used"]}}, "1345", id="null elsewhere"),
    pytest.param({"details.pages": {"gt": 88}}, {"details.pages": {"gt": "l"}}, "3", id="another type inside JSON"),
    pytest.param({"and": [{"isbn": "1"}]}, {"or": [{"isbn": "1"}, {"isbn": "2"}]}, "12", id="another combination"),
]


@pytest.mark.parametrize(("first", "then", "expected"), AGAIN)
def test_a_filter_means_the_same_after_others_of_nearly_its_form(
    first: dict[str, Any], then: dict[str, Any], expected: str
) -> None:
    made = shop()
    made.keys(filter=first)
    assert made.keys(filter=then) == list(expected)
    assert made.keys(filter=then) == list(expected)
    assert made.keys(filter=first) == shop().keys(filter=first)


def test_filters_of_known_forms_are_read_like_new_ones() -> None:
    made = shop()
    chance = random.Random(20)  # noqa: S311  (the same filters in every run)
    for _ in range(2000):
        asked = any_filter(chance, 3)
        known, new = made.read(filter=asked).query, fresh(made).read(filter=asked).query
        assert known is not None
        assert new is not None
        assert known.listing.condition == new.listing.condition
        assert known.values == new.values


def any_filter(chance: random.Random, depth: int) -> dict[str, Any]:
    """A filter of one to three entries, with few values, so that the same ones stand in different places."""
    asked: dict[str, Any] = {}
    for _ in range(chance.randint(1, 3)):
        if depth and chance.random() < 0.3:
            combiner = chance.choice(["and", "or", "not"])
            inner = [any_filter(chance, depth - 1) for _ in range(chance.randint(1, 2))]
            asked[combiner] = inner[0] if combiner == "not" else inner
        else:
            name, one = chance.choice(ENTRIES)
            asked[name] = one(chance)
    return asked


ENTRIES: list[tuple[str, Callable[[random.Random], Any]]] = [
    ("isbn", lambda chance: chance.choice(["1", "2", None])),
    ("title", lambda chance: {chance.choice(["eq", "ne", "contains"]): chance.choice(["1", "2"])}),
    ("author_id", lambda chance: {"in": [chance.choice([1, 2, "1", None]) for _ in range(chance.randint(1, 3))]}),
    ("author_id", lambda chance: {"is_null": chance.choice([True, False])}),
    ("price", lambda chance: {"between": [chance.choice([1, 1.5, "1"]), chance.choice([2, "2.50"])]}),
    ("state", lambda chance: {"not_in": [chance.choice(["new", "used", None])]}),
    ("in_stock", lambda chance: chance.choice([True, False])),
    ("details.pages", lambda chance: {"gt": chance.choice([1, 1.5, "1"])}),
    ("details.signed", lambda chance: chance.choice([True, False, 1, "1"])),
]


def fresh(made: Shop) -> Shop:
    """The same shop, which was asked nothing yet and knows the same paths."""
    other = shop()
    other.reader = Reader(made.reader.resolver, made.cursors, made.options)
    return other


def kept(made: Shop) -> int:
    """How much is remembered of requests."""
    reader = made.reader
    return len(reader._filters._known) + len(reader._listings) + len(reader._pages._seeking)


LARGE: dict[str, Any] = {
    "comparisons": {"or": [{"isbn": "1"}] * 250},
    "groups": {"or": [{"and": []}] * 250},
    "objects that say nothing": {"or": [{}] * 250},
    "values": {"isbn": {"in": [str(number) for number in range(250)]}},
    "opposites": {"or": [{"not": {"isbn": {"ne": "1"}}}] * 90},
}


@pytest.mark.parametrize("asked", LARGE.values(), ids=LARGE)
def test_of_large_filters_nothing_is_kept_since_there_is_no_end_of_them(asked: dict[str, Any]) -> None:
    made = shop()
    query = made.read(filter={"isbn": "1"}).query
    assert query is not None
    assert is_remembered(query.listing)
    cursor = made.page(first=1)["pageInfo"]["endCursor"]
    before = kept(made)
    query = made.read(filter=asked, first=2, after=cursor).query
    assert query is not None
    assert not is_remembered(query.listing)
    assert kept(made) == before


def test_a_mistake_in_a_filter_of_a_known_form_is_told_where_it_stands() -> None:
    made = shop()
    made.keys(filter={"state": {"in": ["new", "used"]}, "published": {"gt": "1815-01-01"}})
    choice = {"state": {"in": ["new", "old"]}, "published": {"gt": "1815-01-01"}}
    error = refusal(lambda: made.keys(filter=choice))
    assert "'old' is none of the values of 'state'" in error.message
    value = {"state": {"in": ["new", "used"]}, "published": {"gt": "1815"}}
    error = refusal(lambda: made.keys(filter=value))
    assert error.message == refusal(lambda: shop().keys(filter=value)).message


def test_long_lists_are_read_each_for_itself() -> None:
    made = shop()
    assert made.keys(filter={"isbn": {"in": [*"12", *map(str, range(100, 200))]}}) == ["1", "2"]
    assert made.keys(filter={"isbn": {"in": [*"13", *map(str, range(100, 200))]}}) == ["1", "3"]


def nested(depth: int) -> dict[str, Any]:
    return {"not": nested(depth - 1)} if depth else {"isbn": "1"}


REFUSED = [
    pytest.param({"titel": "x"}, "VALIDATION_UNKNOWN_FIELD", "filter",
                 "Unknown field 'titel' in 'filter'. Did you mean 'title'", id="an unknown field"),
    pytest.param({"or": [{}, {"titel": "x"}]}, "VALIDATION_UNKNOWN_FIELD", "filter.or[1]",
                 "Unknown field 'titel' in 'filter.or[1]'", id="an unknown field inside a list"),
    pytest.param({"price": {"gtt": 1}}, "VALIDATION_UNKNOWN_FIELD", "filter.price",
                 "Unknown operator 'gtt' in 'filter.price'. Did you mean 'gt'", id="an unknown operator"),
    pytest.param({"price": {"$gt": 1}}, "VALIDATION_UNKNOWN_FIELD", "filter.price",
                 "Unknown operator '$gt' in 'filter.price'", id="an operator of another language"),
    pytest.param({"details": {"pages": 1}}, "VALIDATION_UNKNOWN_FIELD", "filter.details",
                 "Unknown operator 'pages'", id="a nested object in place of a path"),
    pytest.param({"price": {}}, "VALIDATION_INVALID_VALUE", "filter.price",
                 "name an operator", id="no operator at all"),
    pytest.param({"price": {"contains": "1"}}, "VALIDATION_INVALID_VALUE", "filter.price",
                 "'contains' does not apply to decimal", id="an operator of another kind"),
    pytest.param({"tags": "classic"}, "VALIDATION_INVALID_VALUE", "filter.tags",
                 "'eq' does not apply to array. Use one of: contains, is_null", id="an array that equals a value"),
    pytest.param({"secret": "x"}, "VALIDATION_INVALID_VALUE", "filter",
                 "'secret' cannot be filtered by. Use one of: isbn, title", id="a field that is kept back"),
    pytest.param({"_computed.hidden": 1}, "VALIDATION_INVALID_VALUE", "filter",
                 "'_computed.hidden' cannot be filtered by", id="a computed field that is kept back"),
    pytest.param({"author_id": "x"}, "VALIDATION_INVALID_VALUE", "filter.author_id",
                 "'x' is no integer", id="a text that is no integer"),
    pytest.param({"author_id": True}, "VALIDATION_INVALID_TYPE", "filter.author_id",
                 "Parameter 'filter.author_id' expected 'integer', got 'boolean'", id="a yes in place of an integer"),
    pytest.param({"author_id": 1.5}, "VALIDATION_INVALID_TYPE", "filter.author_id",
                 "expected 'integer', got 'number'", id="a fraction in place of an integer"),
    pytest.param({"author_id": [1]}, "VALIDATION_INVALID_TYPE", "filter.author_id",
                 "expected 'integer', got 'array'", id="a list in place of a value"),
    pytest.param({"title": 5}, "VALIDATION_INVALID_TYPE", "filter.title",
                 "expected 'string', got 'integer'", id="a number in place of a text"),
    pytest.param({"published": "1815"}, "VALIDATION_INVALID_VALUE", "filter.published",
                 "'1815' is no date", id="a text that is no date"),
    pytest.param({"published": {"gt": "look at me"}}, "VALIDATION_INVALID_VALUE", "filter.published.gt",
                 "the text is no date", id="a text that is better not repeated"),
    pytest.param({"state": "old"}, "VALIDATION_INVALID_VALUE", "filter.state",
                 "'old' is none of the values of 'state'. Use one of: new, used", id="a value that is no choice"),
    pytest.param({"state": {"in": ["new", "old"]}}, "VALIDATION_INVALID_VALUE", "filter.state.in",
                 "'old' is none of the values of 'state'", id="a list with a value that is no choice"),
    pytest.param({"price": {"in": 5}}, "VALIDATION_INVALID_TYPE", "filter.price.in",
                 "expected 'array', got 'integer'", id="a value in place of a list"),
    pytest.param({"price": {"between": [1]}}, "VALIDATION_INVALID_VALUE", "filter.price.between",
                 "'between' takes two values, the lowest and the highest", id="one bound"),
    pytest.param({"price": {"between": [1, None]}}, "VALIDATION_INVALID_TYPE", "filter.price.between",
                 "expected 'decimal', got 'null'", id="a bound that is null"),
    pytest.param({"price": {"between": "1,2"}}, "VALIDATION_INVALID_TYPE", "filter.price.between",
                 "expected 'array', got 'string'", id="bounds in one text"),
    pytest.param({"price": {"is_null": "true"}}, "VALIDATION_INVALID_TYPE", "filter.price.is_null",
                 "expected 'boolean', got 'string'", id="a text in place of a yes"),
    pytest.param({"price": {"is_null": None}}, "VALIDATION_INVALID_TYPE", "filter.price.is_null",
                 "expected 'boolean', got 'null'", id="null in place of a yes"),
    pytest.param({"tags": {"contains": 5}}, "VALIDATION_INVALID_TYPE", "filter.tags.contains",
                 "expected 'string', got 'integer'", id="an item of another kind"),
    pytest.param({"details.pages": [1]}, "VALIDATION_INVALID_VALUE", "filter.details.pages",
                 "'details.pages' lies inside JSON", id="a list inside JSON"),
    pytest.param({"details.pages": {"in": [1, "x"]}}, "VALIDATION_INVALID_VALUE", "filter.details.pages.in",
                 "all of one type", id="several types inside JSON"),
    pytest.param({"details.pages": {"gt": True}}, "VALIDATION_INVALID_VALUE", "filter.details.pages.gt",
                 "which 'gt' must be able to compare", id="the order of a yes inside JSON"),
    pytest.param({"details.pages": {"icontains": 5}}, "VALIDATION_INVALID_VALUE", "filter.details.pages.icontains",
                 "which 'icontains' must be able to compare", id="part of a number inside JSON"),
    pytest.param({"details.look at me": {"gtt": 1}}, "VALIDATION_UNKNOWN_FIELD", "filter",
                 "Unknown operator 'gtt' in 'filter'", id="a key that is better not repeated"),
    pytest.param({"and": {"isbn": "1"}}, "VALIDATION_INVALID_TYPE", "filter.and",
                 "expected 'array', got 'object'", id="an object in place of a list of filters"),
    pytest.param({"or": ["isbn"]}, "VALIDATION_INVALID_TYPE", "filter.or[0]",
                 "expected 'object', got 'string'", id="a text in place of a filter"),
    pytest.param({"not": [{"isbn": "1"}]}, "VALIDATION_INVALID_TYPE", "filter.not",
                 "expected 'object', got 'array'", id="a list in place of a filter"),
    pytest.param(nested(21), "VALIDATION_INVALID_VALUE", "filter" + ".not" * 21,
                 "nested deeper than 20 levels", id="a filter that is too deep"),
    pytest.param({"or": [{"isbn": "1"}] * 501}, "VALIDATION_INVALID_VALUE", "filter",
                 "holds more than 500 comparisons", id="a filter that is too large"),
    pytest.param({"or": [{}] * 500}, "VALIDATION_INVALID_VALUE", "filter",
                 "holds more than 500 groups of comparisons", id="many objects that say nothing"),
    pytest.param({"or": [{"and": []}] * 500}, "VALIDATION_INVALID_VALUE", "filter",
                 "holds more than 500 groups of comparisons", id="many groups of nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "code", "where", "words"), REFUSED)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(
    asked: dict[str, Any], code: str, where: str, words: str
) -> None:
    error = refusal(lambda: shop().read(filter=asked))
    assert error.code == code
    assert error.details is not None
    assert error.details["param_name"] == where
    assert words in error.message


def test_the_limits_of_depth_and_size_are_allowed_themselves() -> None:
    assert shop().keys(filter=nested(20)) == ["1"]
    assert shop().keys(filter={"or": [{"isbn": "1"}] * 500}) == ["1"]
    assert shop().keys(filter={"and": [{"isbn": {"ne": "1"}}] * 500}) == ["2", "3", "4", "5"]
