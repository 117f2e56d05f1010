"""The dotted paths of callers: to fields, over relationships, into JSON, to computed fields, and nowhere."""

import pytest

from headgate.query.collections import Collection, Field, Relationship
from headgate.query.kinds import Kind
from headgate.query.shapes import Path
from tests.query.shop import AUTHORS, BOOKS, Shop, fields, refusal, shop


def path(text: str, name: str = "books") -> Path:
    made = shop()
    return made.reader.resolver.path(made.catalog[name], text, "fields")


def test_a_name_leads_to_a_field() -> None:
    found = path("title")
    assert (found.collection, found.field, found.hops, found.keys) == (BOOKS, BOOKS.fields["title"], (), ())
    assert found.nullable is False


def test_dots_lead_over_relationships_to_the_field_of_another_collection() -> None:
    found = path("author.mentor.name")
    assert (found.collection, found.field.name) == (AUTHORS, "name")
    assert [hop.name for hop in found.hops] == ["author", "mentor"]
    assert found.nullable, "a relationship may lead nowhere"


def test_dots_lead_into_json_also_of_another_collection() -> None:
    found = path("author.notes.born.year")
    assert (found.field.name, found.keys) == ("notes", ("born", "year"))
    assert [hop.name for hop in found.hops] == ["author"]


@pytest.mark.parametrize("key", ["two words", "Ærø", "1", "it's", "a-b", "x" * 100], ids=lambda key: key[:9])
def test_a_key_inside_json_may_be_any_plain_text(key: str) -> None:
    assert path(f"details.{key}").keys == (key,)


def test_a_computed_field_is_found_here_and_over_a_relationship() -> None:
    assert path("_computed.cheap").computed
    over = path("author._computed.initial")
    assert (over.computed, over.field.name, over.collection) == (True, "initial", AUTHORS)


def test_the_same_text_gives_the_same_path() -> None:
    made = shop()
    resolver, books = made.reader.resolver, made.catalog["books"]
    assert resolver.path(books, "author.name", "a") is resolver.path(books, "author.name", "b")
    assert resolver.path(made.catalog["authors"], "name", "a") is not resolver.path(books, "author.name", "a")


UNKNOWN = [
    pytest.param("titel", ["title"], id="a misspelt field"),
    pytest.param("author.nane", ["author.name"], id="a misspelt field of another collection"),
    pytest.param("_computed.cheep", ["_computed.cheap"], id="a misspelt computed field"),
    pytest.param("nothing_like_it", [], id="a name that nothing is near to"),
    pytest.param("author", [], id="a relationship where a field is wanted"),
    pytest.param("_computed", [], id="computed fields in general"),
    pytest.param("_computed.cheap.more", [], id="what lies inside a computed field"),
    pytest.param("author.", [], id="a path that ends with a dot"),
    pytest.param(".title", [], id="a path that begins with a dot"),
    pytest.param("", [], id="nothing"),
    pytest.param("shelf.isbn", [], id="a relationship to a collection that is not there"),
    pytest.param("author." + "mentor." * 5 + "name", [], id="more steps than are allowed"),
    pytest.param("x" * 501, [], id="a text that is too long"),
    pytest.param("title\nat home", [], id="a text that sounds like a trace"),
]


@pytest.mark.parametrize(("text", "near"), UNKNOWN)
def test_an_unknown_name_is_answered_with_the_nearest_and_the_valid_ones(text: str, near: list[str]) -> None:
    error = refusal(lambda: path(text))
    assert error.code == "VALIDATION_UNKNOWN_FIELD"
    assert error.details is not None
    assert error.details["param_name"] == "fields"
    assert error.details["unknown_fields"] == [text[:200]]
    valid = error.details["valid_fields"]
    assert isinstance(valid, list)
    assert {"title", "_computed.cheap", "author.name"} <= set(valid)
    assert not [name for name in valid if name.startswith("shelf.")]
    suggestions = error.details["suggestions"]
    assert isinstance(suggestions, list)
    assert set(near) <= set(suggestions)
    for name in near:
        assert f"'{name}'" in error.message
    assert "Valid: isbn, title" in error.message


def test_a_path_of_five_steps_is_allowed() -> None:
    assert len(path("author." + "mentor." * 4 + "name").hops) == 5


def test_a_message_shows_only_so_many_names_and_the_details_all() -> None:
    wide = Collection("wide", "one", {f"f{n}": Field(name=f"f{n}", kind=Kind.TEXT) for n in range(30)}, ("f0",))
    error = refusal(lambda: Shop(wide, items={}).read("wide", sort={"field": "nothing"}))
    assert error.message.endswith("f19 and 10 more")
    assert error.details is not None
    assert error.details["valid_fields"] == list(wide.fields)


@pytest.mark.parametrize("text", ["books", "books.title"], ids=["the relationship", "a field behind it"])
def test_a_relationship_to_many_is_refused_with_advice(text: str) -> None:
    error = refusal(lambda: path(text, "authors"))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert error.details == {"param_name": "fields"}
    assert (
        "leads to many books: list those and filter them by their author, or use query_relationships" in error.message
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("title.length", "has nothing inside 'title', which is string", id="inside a text"),
        pytest.param("author.name.first", "has nothing inside 'name', which is string", id="inside a text elsewhere"),
        pytest.param("tags.0", "has nothing inside 'tags', which is array", id="inside an array"),
        pytest.param("details..a", "a key which is empty, too long, or has quotes in it", id="an empty key"),
        pytest.param('details.a"b', "a key which is empty, too long, or has quotes in it", id="a quote"),
        pytest.param("details.a\\b", "a key which is empty, too long, or has quotes in it", id="a backslash"),
        pytest.param("details.a\x00b", "a key which is empty, too long, or has quotes in it", id="a zero byte"),
        pytest.param("details." + "x" * 101, "a key which is empty, too long, or has quotes in it", id="a long key"),
    ],
)
def test_what_cannot_be_looked_into_is_refused(text: str, rule: str) -> None:
    error = refusal(lambda: path(text))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert rule in error.message
    assert error.details == {"param_name": "fields"}


def test_a_field_hides_nothing_of_the_same_name_in_json() -> None:
    made = Collection("things", "thing", fields(id=Kind.INTEGER, id_2=Kind.JSON), ("id",))
    found = Shop(made, items={}).reader.resolver.path(made, "id_2.id", "fields")
    assert (found.field.name, found.keys) == ("id_2", ("id",))


def test_a_relationship_within_one_collection_can_be_followed() -> None:
    tree = Collection(
        "nodes",
        "node",
        fields(id=Kind.INTEGER, parent_id=Kind.INTEGER),
        ("id",),
        {"parent": Relationship(name="parent", target="nodes", local=("parent_id",), remote=("id",))},
    )
    assert Shop(tree, items={}).reader.resolver.path(tree, "parent.parent.id", "fields").text == "parent.parent.id"
