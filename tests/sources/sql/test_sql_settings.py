"""What the owner of a database may say of it, and what is said where it does not fit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from headgate.protocol.adapter_errors import AdapterError
from headgate.query.collections import Access, Collection
from headgate.query.kinds import Kind
from headgate.sources.sql.reflection import reflect
from headgate.sources.sql.schema import Schema
from headgate.sources.sql.settings import SqlSettings
from tests.databases import Server

TABLES = (
    "CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER)",
    """CREATE TABLE books (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, blurb TEXT, price DECIMAL(10,2) NOT NULL, internal_code TEXT,
        author_id INTEGER REFERENCES authors (id), translator INTEGER, rev INTEGER NOT NULL DEFAULT 1, log TEXT)""",
    "CREATE TABLE book_log (id INTEGER PRIMARY KEY, note TEXT)",
    "CREATE VIEW cheap_books AS SELECT id, title FROM books WHERE price < 5",
)
EVERYTHING = """
exclude = ["*_log"]
read_only = ["authors"]

[tables.authors]
name = "writers"

[tables.books]
name = "volumes"
singular = "volume"
description = "All that is on the shelves."
key = ["id"]
version = "rev"
search = ["title"]

[tables.books.fields.internal_code]
name = "code"
description = "How the warehouse calls it."
sensitive = true

[tables.books.fields.blurb]
hidden = true

[tables.books.fields.title]
read_only = true

[tables.books.fields.log]
append_only = true

[tables.books.computed.discounted]
sql = "price * 0.9"
type = "decimal"
description = "With ten percent off."
sortable = false

[tables.books.presets]
card = ["id", "title", "written_by.name", "translated_by", "_computed.discounted"]

[tables.books.relationships.written_by]
column = "author_id"
inverse = "works"
description = "Who wrote it."

[tables.books.relationships.translated_by]
columns = ["translator"]
target = "authors"

[tables.cheap_books]
key = "id"
"""


@pytest.fixture(scope="module")
def shop(sqlite: Server) -> Iterator[Engine]:
    with sqlite.fresh() as database, database.connected() as engine:
        with engine.begin() as connection:
            for table in TABLES:
                connection.exec_driver_sql(table)
        yield engine


@pytest.fixture
def served(shop: Engine, tmp_path: Path) -> Schema:
    path = tmp_path / "shop.toml"
    path.write_text(EVERYTHING)
    return reflect(shop, SqlSettings.read(path))


@pytest.fixture
def volumes(served: Schema) -> Collection:
    return served.catalog["volumes"]


def refusal(shop: Engine, toml: str, tmp_path: Path) -> str:
    path = tmp_path / "shop.toml"
    path.write_text(toml)
    with pytest.raises(AdapterError) as caught:
        reflect(shop, SqlSettings.read(path))
    return str(caught.value)


def test_tables_are_served_under_the_names_that_are_chosen(served: Schema) -> None:
    assert {one.name: one.singular for one in served.catalog} == {
        "volumes": "volume",
        "writers": "writer",
        "cheap_books": "cheap_book",
    }


def test_only_included_tables_are_served(shop: Engine) -> None:
    schema = reflect(shop, SqlSettings(include=("book*",), exclude=("book_log",)))
    assert [*schema.tables] == ["books"]
    assert "author" not in schema.catalog["books"].relationships


def test_a_table_can_be_kept_from_being_changed(served: Schema) -> None:
    assert not served.tables["writers"].writable
    assert served.tables["volumes"].writable


def test_a_field_has_the_name_and_the_words_of_the_settings(volumes: Collection, served: Schema) -> None:
    assert volumes.description == "All that is on the shelves."
    assert volumes.fields["code"].description == "How the warehouse calls it."
    assert volumes.fields["code"].sensitive
    assert served.tables["volumes"].columns["code"].name == "internal_code"


def test_a_hidden_column_is_no_field(volumes: Collection) -> None:
    assert "blurb" not in volumes.fields


def test_what_may_be_written_is_what_the_settings_leave(volumes: Collection) -> None:
    assert volumes.fields["title"].access is Access.NEVER
    assert volumes.fields["log"].access is Access.APPEND
    assert volumes.fields["rev"].access is Access.NEVER
    assert volumes.version == "rev"


def test_searches_look_where_the_settings_say(volumes: Collection) -> None:
    assert volumes.searchable == ("title",)


def test_a_computed_field_is_an_expression_of_the_database(volumes: Collection) -> None:
    computed = volumes.computed["discounted"]
    assert (computed.sql, computed.kind, computed.sortable) == ("price * 0.9", Kind.DECIMAL, False)


def test_presets_are_added_to_those_that_there_are(volumes: Collection) -> None:
    assert {"minimal", "standard", "full", "card"} == {*volumes.presets}


def test_a_relationship_is_renamed_at_both_ends(volumes: Collection, served: Schema) -> None:
    out, back = volumes.relationships["written_by"], served.catalog["writers"].relationships["works"]
    assert (out.target, out.local, out.remote, out.description) == ("writers", ("author_id",), ("id",), "Who wrote it.")
    assert (back.target, back.many, back.type) == ("volumes", True, out.type)


def test_a_relationship_can_be_declared_where_there_is_no_foreign_key(volumes: Collection, served: Schema) -> None:
    out = volumes.relationships["translated_by"]
    assert (out.target, out.local, out.remote) == ("writers", ("translator",), ("id",))
    assert served.catalog["writers"].relationships["volumes_by_translator"].type == out.type


def test_a_view_can_be_given_a_key(served: Schema) -> None:
    assert served.catalog["cheap_books"].key == ("id",)
    assert not served.tables["cheap_books"].writable


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("includes = ['books']", "settings: there is no setting 'includes'. Did you mean 'include'?"),
        ("include = 3", "include: this must be a list of texts."),
        ("include = ['books', 3]", "include[1]: this must be a text."),
        ("exclude = ['boks']", "exclude: there is no table 'boks'. Did you mean 'books'?"),
        ("tables = 1", "tables: this must be a table."),
        ("[tables.boks]", "tables: there is no table 'boks'. Did you mean 'books'?"),
        ("[tables.books]\nnam = 'x'", "tables.books: there is no setting 'nam'. Did you mean 'name'?"),
        ("[tables.books]\nname = 'My Books'", "tables.books.name: this must be snake_case"),
        ("[tables.books]\nname = 'authors'\n[tables.authors]\nname = 'authors'", "another table is named 'authors'"),
        ("[tables.books]\nkey = ['idd']", "tables.books.key: there is no column 'idd'. Did you mean 'id'?"),
        ("[tables.books]\nversion = 'revision'", "tables.books.version: there is no column 'revision'"),
        ("[tables.books]\nsearch = ['titel']", "tables.books.search: there is no column 'titel'"),
        ("[tables.books.fields.titel]", "tables.books.fields: there is no column 'titel'. Did you mean 'title'?"),
        ("[tables.books.fields.title]\nhidden = 'yes'", "tables.books.fields.title.hidden: this must be true or false"),
        (
            "[tables.books.fields.log]\nname = 'text'\n[tables.books.fields.blurb]\nname = 'text'",
            "tables.books.fields: two columns are named 'text'.",
        ),
        ("[tables.books.fields.log]\nname = 'not'", "tables.books.fields.log.name: 'not' has a meaning in filters"),
        ("[tables.books.fields.id]\nname = 'input'", "tables.books.fields.id.name: 'input' is a parameter beside keys"),
        ("[tables.books]\nsearch=['blurb']\n[tables.books.fields.blurb]\nhidden=true", "'blurb' is hidden"),
        ("[tables.books.fields.price]\nappend_only = true", "tables.books.fields.price.append_only: only texts and"),
        ("[tables.books.computed.x]\nsql = 'price'", "tables.books.computed.x: the setting 'type' is missing."),
        ("[tables.books.computed.x]\nsql='price'\ntype='decimale'", "no type 'decimale'. Did you mean 'decimal'?"),
        (
            "[tables.books.computed.x]\nsql='prize * 2'\ntype='decimal'",
            "tables.books.computed.x.sql: the database does",
        ),
        ("[tables.books.presets]\ncard = ['titel']", "tables.books.presets.card: there is no field 'titel'"),
        (
            "[tables.books.presets]\ncard = ['author.nam']",
            "there is no field 'author.nam'. Did you mean 'author.name' or",
        ),
        ("[tables.books.relationships.by]\ncolumn = 'titles'", "relationships.by.columns: there is no column 'titles'"),
        ("[tables.books.relationships.by]\ncolumn = 'title'", "by: no foreign key has these columns"),
        ("[tables.books.relationships.by]\ncolumn='title'\ntarget='autors'", "by.target: there is no table 'autors'"),
        ("[tables.books.relationships.title]\ncolumn = 'author_id'", "'title' is already a field"),
        ("[tables.books.relationships.by]\ncolumn='author_id'\ninverse='name'", "'name' names a field"),
        (
            "[tables.books.relationships.by]\ncolumns=['id', 'title']\ntarget='authors'",
            "there are 2 columns here and 1 in the target",
        ),
        ("[tables.books", "are no TOML"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_with_its_place(shop: Engine, toml: str, told: str, tmp_path: Path) -> None:
    assert told in refusal(shop, toml, tmp_path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be read"):
        SqlSettings.read(tmp_path / "nowhere.toml")


def test_patterns_may_match_nothing_yet(shop: Engine) -> None:
    assert len(reflect(shop, SqlSettings(exclude=("*_archive",))).tables) == 4


def test_a_table_in_which_nothing_can_be_created_is_noted(shop: Engine) -> None:
    settings = SqlSettings.of({"tables": {"books": {"fields": {"price": {"hidden": True}, "rev": {"hidden": True}}}}})
    told = "books: nothing can be created, because 'price' needs a value and takes none."
    assert reflect(shop, settings).notes == (told,)
