"""What is made of the tables of real databases: SQLite, PostgreSQL and MariaDB."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, insert, select

from headgate.query.collections import Access, Collection, Field
from headgate.query.kinds import Kind
from headgate.sources.bookshop import schema as bookshop
from headgate.sources.sql.checks import rules_of
from headgate.sources.sql.literals import constant
from headgate.sources.sql.reflection import reflect
from headgate.sources.sql.schema import FullText, Schema
from headgate.sources.sql.settings import SqlSettings
from tests.databases import Database, Server


@contextmanager
def made(server: Server, *statements: str) -> Iterator[Engine]:
    with server.fresh() as database, database.connected() as engine:
        run(engine, *statements)
        yield engine


def run(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def reflected(server: Server, *statements: str, settings: SqlSettings | None = None) -> Schema:
    with made(server, *statements) as engine:
        return reflect(engine, settings or SqlSettings())


def fields(server: Server, *columns: str) -> dict[str, Field]:
    schema = reflected(server, f"CREATE TABLE things (id INTEGER PRIMARY KEY, {', '.join(columns)})")
    return {name: field for name, field in schema.catalog["things"].fields.items() if name != "id"}


def edges(collection: Collection) -> dict[str, tuple[str, bool, bool]]:
    return {one.name: (one.target, one.many, one.outgoing) for one in collection.relationships.values()}


# on every database

SHOP = (
    "CREATE TABLE authors (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL)",
    """CREATE TABLE books (
        id INTEGER PRIMARY KEY,
        title VARCHAR(200) NOT NULL,
        author_id INTEGER NOT NULL REFERENCES authors (id),
        editor_id INTEGER REFERENCES authors (id),
        sequel_to INTEGER REFERENCES books (id),
        format VARCHAR(10) NOT NULL DEFAULT 'paper' CHECK (format IN ('paper', 'audio')),
        rating INTEGER CHECK (rating BETWEEN 1 AND 5),
        price DECIMAL(10,2) NOT NULL DEFAULT 1.50 CHECK (price >= 0),
        pages INTEGER CHECK (pages > 0),
        version INTEGER NOT NULL DEFAULT 1,
        doubled DECIMAL(12,2) GENERATED ALWAYS AS (price * 2) STORED)""",
    "CREATE TABLE genres (id INTEGER PRIMARY KEY, label VARCHAR(50), parent_id INTEGER REFERENCES genres (id))",
    """CREATE TABLE book_genres (
        book_id INTEGER NOT NULL REFERENCES books (id), genre_id INTEGER NOT NULL REFERENCES genres (id),
        PRIMARY KEY (book_id, genre_id))""",
    """CREATE TABLE order_lines (
        order_id INTEGER NOT NULL, line INTEGER NOT NULL, book_id INTEGER NOT NULL REFERENCES books (id),
        PRIMARY KEY (order_id, line))""",
    """CREATE TABLE line_notes (
        id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, line_no INTEGER NOT NULL, body VARCHAR(200),
        FOREIGN KEY (order_id, line_no) REFERENCES order_lines (order_id, line))""",
    "CREATE TABLE covers (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL UNIQUE REFERENCES books (id))",
    "CREATE VIEW audio_books AS SELECT id, title FROM books WHERE format = 'audio'",
)


@pytest.fixture
def shop(database: Database) -> Schema:
    with database.connected() as engine:
        run(engine, *SHOP)
        return reflect(engine)


def test_tables_and_views_are_collections(shop: Schema) -> None:
    assert [*shop.tables] == [
        *("audio_books", "authors", "book_genres", "books", "covers", "genres", "line_notes", "order_lines")
    ]
    assert shop.notes == ()
    assert not shop.tables["audio_books"].writable
    assert shop.catalog["audio_books"].key == ()
    assert all(field.access is Access.NEVER for field in shop.catalog["audio_books"].fields.values())


def test_keys_may_have_several_fields_and_are_given_once(shop: Schema) -> None:
    assert shop.catalog["order_lines"].key == ("order_id", "line")
    assert shop.catalog["order_lines"].fields["line"].access is Access.ONCE
    assert shop.catalog["books"].key == ("id",)


def test_a_field_knows_its_bounds_and_choices(shop: Schema) -> None:
    book = shop.catalog["books"].fields
    assert book["format"].choices == ("paper", "audio")
    assert (book["rating"].minimum, book["rating"].maximum) == (1, 5)
    assert (book["price"].kind, book["price"].scale, book["price"].minimum) == (Kind.DECIMAL, 2, 0)
    assert book["pages"].minimum == 1
    assert book["title"].max_length == 200


def test_a_field_knows_its_default(shop: Schema) -> None:
    book = shop.catalog["books"].fields
    assert (book["format"].default, book["format"].optional) == ("paper", True)
    assert (book["price"].default, book["price"].optional) == ("1.50", True)
    assert (book["title"].default, book["title"].optional, book["title"].nullable) == (None, False, False)
    assert (book["rating"].optional, book["rating"].nullable) == (True, True)


def test_a_generated_column_is_only_read(shop: Schema) -> None:
    assert shop.catalog["books"].fields["doubled"].access is Access.NEVER


def test_a_version_is_counted_by_nobody_else(shop: Schema) -> None:
    assert shop.catalog["books"].version == "version"
    assert shop.catalog["books"].fields["version"].access is Access.NEVER
    assert shop.catalog["authors"].version is None


def test_references_are_named_by_their_columns(shop: Schema) -> None:
    assert edges(shop.catalog["books"]) == {
        "author": ("authors", False, True),
        "editor": ("authors", False, True),
        "sequel_to_book": ("books", False, True),
        "book_genres": ("book_genres", True, False),
        "books_by_sequel_to": ("books", True, False),
        "cover": ("covers", False, False),
        "order_lines": ("order_lines", True, False),
        "genres": ("genres", True, True),
    }


def test_two_references_from_one_table_are_told_apart(shop: Schema) -> None:
    assert [*edges(shop.catalog["authors"])] == ["books_by_author", "books_by_editor"]


def test_a_reference_to_the_same_table_leads_up_and_down(shop: Schema) -> None:
    found = edges(shop.catalog["genres"])
    assert found["parent"] == ("genres", False, True)
    assert found["children"] == ("genres", True, False)


def test_a_reference_of_several_columns_is_one_relationship(shop: Schema) -> None:
    line = shop.catalog["line_notes"].relationships["line"]
    assert (line.target, line.local, line.remote) == ("order_lines", ("order_id", "line_no"), ("order_id", "line"))


def test_a_join_table_joins_both_of_its_sides(shop: Schema) -> None:
    there = shop.catalog["books"].relationships["genres"]
    back = shop.catalog["genres"].relationships["books"]
    assert there.through is not None
    assert back.through is not None
    assert (there.through.near, there.through.far) == (("book_id",), ("genre_id",))
    assert (back.through.near, back.through.far) == (("genre_id",), ("book_id",))
    assert there.type == back.type
    assert [*shop.links] == ["book_genres"]
    assert shop.links["book_genres"] is shop.tables["book_genres"].table


def test_an_edge_has_one_type_of_its_own_from_both_ends(shop: Schema) -> None:
    ends: dict[str, list[str]] = {}
    for collection in shop.catalog:
        for one in collection.relationships.values():
            ends.setdefault(one.type, []).append(collection.name)
    assert all(len(names) == 2 for names in ends.values())
    assert {*ends} >= {"book_author", "book_genre", "book_genre_book", "genre_parent"}


def test_the_columns_of_all_fields_can_be_selected(database: Database) -> None:
    with database.connected() as engine:
        run(engine, *SHOP)
        with engine.connect() as connection:
            for mapped in reflect(engine).tables.values():
                assert connection.execute(select(*mapped.columns.values())).all() == []


def test_odd_names_become_right_ones(database: Database) -> None:
    with database.connected() as engine:
        quote = engine.dialect.identifier_preparer.quote_identifier
        columns = f"{quote('Имя')} VARCHAR(20), {quote('Unit Price')} INTEGER, {quote('select')} INTEGER"
        run(engine, f"CREATE TABLE {quote('Order Details')} ({quote('input')} INTEGER PRIMARY KEY, {columns})")
        mapped = reflect(engine).tables["order_details"]
    assert mapped.collection.singular == "order_detail"
    assert [*mapped.collection.fields] == ["input_value", "field_2", "unit_price", "select"]
    assert mapped.collection.fields["field_2"].description == "Имя"
    assert mapped.columns["unit_price"].name == "Unit Price"


def test_a_table_without_a_primary_key_is_known_by_what_is_unique(database: Database) -> None:
    with database.connected() as engine:
        run(
            engine,
            "CREATE TABLE a (x INTEGER NOT NULL, y INTEGER NOT NULL, code INTEGER NOT NULL UNIQUE, UNIQUE (x, y))",
            "CREATE TABLE b (x INTEGER UNIQUE, y INTEGER)",
        )
        schema = reflect(engine)
    known, unknown = (schema.tables[name] for name in sorted(schema.tables))
    assert (known.collection.key, known.writable) == (("code",), True)
    assert (unknown.collection.key, unknown.writable) == ((), False)
    assert schema.notes == ("b is only read: it has no primary key to know its rows by.",)


def test_a_column_that_looks_secret_is_kept_out_of_searches_and_noted(database: Database) -> None:
    with database.connected() as engine:
        run(engine, "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(9), password_hash VARCHAR(99))")
        schema = reflect(engine)
    assert schema.catalog["users"].fields["password_hash"].sensitive
    assert schema.catalog["users"].searchable == ("name",)
    assert schema.notes[0].startswith("users.password_hash looks secret but is shown")


def test_a_join_table_with_a_number_of_its_own_joins_too(database: Database) -> None:
    with database.connected() as engine:
        run(
            engine,
            "CREATE TABLE users (id INTEGER PRIMARY KEY)",
            """CREATE TABLE follows (
                id INTEGER PRIMARY KEY, follower_id INTEGER NOT NULL REFERENCES users (id),
                followed_id INTEGER NOT NULL REFERENCES users (id), UNIQUE (follower_id, followed_id))""",
        )
        users = reflect(engine).catalog["users"]
    assert {name for name, one in users.relationships.items() if one.through} == {"followed_users", "follower_users"}


# SQLite


def test_the_bookshop_is_reflected_with_its_index_of_words(sqlite: Server) -> None:
    with sqlite.fresh() as database, database.connected() as engine:
        with engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.executescript(bookshop.TABLES + bookshop.INDEXES + bookshop.VIEWS)
        schema = reflect(engine)
    assert {*schema.tables} >= {"authors", "books", "book_genres", "customers", "orders", "order_lines", "bestsellers"}
    assert not any("fts" in name for name in schema.tables)
    assert schema.tables["books"].full_text == FullText("books_fts", ("title", "summary"))
    assert schema.catalog["books"].searchable == ("title", "summary")
    assert schema.catalog["books"].fields["details"].kind is Kind.JSON
    assert schema.catalog["books"].fields["in_print"].default is True
    assert schema.tables["books"].exact_text
    assert not schema.tables["customers"].exact_text


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("DATE", Kind.DATE),
        ("datetime", Kind.DATETIME),
        ("TIMESTAMP", Kind.DATETIME),
        ("TIME", Kind.TIME),
        ("BOOLEAN", Kind.BOOLEAN),
        ("JSON", Kind.JSON),
        ("UUID", Kind.TEXT),
        ("DECIMAL(8, 3)", Kind.DECIMAL),
        ("BIGINT UNSIGNED", Kind.INTEGER),
        ("NVARCHAR(20)", Kind.TEXT),
        ("CLOB", Kind.TEXT),
        ("STRING", Kind.TEXT),
        ("BLOB", Kind.BYTES),
        ("DOUBLE PRECISION", Kind.NUMBER),
        ("FANTASY", Kind.NUMBER),
        ("", Kind.TEXT),
    ],
)
def test_sqlite_types_are_read_as_they_were_meant(sqlite: Server, declared: str, kind: Kind) -> None:
    assert fields(sqlite, f"x {declared}")["x"].kind is kind


def test_sqlite_columns_without_a_type_are_known_by_their_values(sqlite: Server) -> None:
    statements = (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d)",
        "INSERT INTO t VALUES (1, 1, 1.5, 'x', 1), (2, NULL, 2, 'y', 'mixed')",
        "CREATE VIEW totals AS SELECT count(*) AS n, sum(b) AS total FROM t",
    )
    schema = reflected(sqlite, *statements)
    found = {name: field.kind for name, field in schema.catalog["ts"].fields.items()}
    assert found == {"id": Kind.INTEGER, "a": Kind.INTEGER, "b": Kind.NUMBER, "c": Kind.TEXT, "d": Kind.TEXT}
    assert not schema.catalog["ts"].fields["d"].filterable
    assert schema.catalog["totals"].fields["n"].kind is Kind.INTEGER


def test_sqlite_integers_have_no_bounds_of_their_type(sqlite: Server) -> None:
    field = fields(sqlite, "x SMALLINT")["x"]
    assert (field.minimum, field.maximum) == (None, None)


def test_sqlite_numbers_rows_in_an_integer_primary_key_only(sqlite: Server) -> None:
    schema = reflected(sqlite, "CREATE TABLE a (id INTEGER PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
    assert schema.catalog["as"].fields["id"].optional
    assert not schema.catalog["bs"].fields["id"].optional
    assert not schema.catalog["bs"].fields["id"].nullable


def test_an_index_that_holds_its_own_texts_is_left_out(sqlite: Server) -> None:
    schema = reflected(
        sqlite,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, body TEXT)",
        "CREATE VIRTUAL TABLE own USING fts5(body)",
        "CREATE VIRTUAL TABLE nobody USING fts5(body, content='')",
        "CREATE VIRTUAL TABLE a_words USING fts5(body, id UNINDEXED, content=a, content_rowid=id, tokenize='porter')",
    )
    assert [*schema.tables] == ["as"]
    assert schema.tables["as"].full_text == FullText("a_words", ("body",))


def test_an_index_of_hidden_words_is_not_searched(sqlite: Server) -> None:
    settings = SqlSettings.of({"tables": {"a": {"fields": {"body": {"hidden": True}}}}})
    schema = reflected(
        sqlite,
        "CREATE TABLE a (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
        "CREATE VIRTUAL TABLE a_words USING fts5(title, body, content='a', content_rowid='id')",
        settings=settings,
    )
    assert schema.tables["as"].full_text is None
    assert schema.catalog["as"].searchable == ("title",)


def test_a_view_that_no_longer_works_does_not_keep_others_out(sqlite: Server) -> None:
    schema = reflected(
        sqlite,
        "CREATE TABLE books (id INTEGER PRIMARY KEY)",
        "CREATE TABLE gone (id INTEGER)",
        "CREATE VIEW broken AS SELECT * FROM gone",
        "DROP TABLE gone",
    )
    assert [*schema.tables] == ["books"]
    assert len(schema.notes) == 1
    assert schema.notes[0].startswith("broken is left out:")


def test_a_column_without_a_name_is_left_out_with_what_is_said_of_it(sqlite: Server) -> None:
    schema = reflected(
        sqlite,
        'CREATE TABLE imports ("" TEXT UNIQUE REFERENCES others (id), id INTEGER PRIMARY KEY, note TEXT UNIQUE)',
        'CREATE TABLE keys ("" TEXT PRIMARY KEY, note TEXT)',
        "CREATE TABLE others (id TEXT PRIMARY KEY)",
    )
    assert [*schema.catalog["imports"].fields] == ["id", "note"]
    assert schema.catalog["imports"].key == ("id",)
    assert schema.catalog["imports"].relationships == {}
    assert [*schema.catalog["keys"].fields] == ["note"]
    assert schema.catalog["keys"].key == ()
    assert [note for note in schema.notes if "without a name" in note] == [
        "imports: a column without a name is left out.",
        "keys: a column without a name is left out.",
    ]


def test_sqlite_tells_rows_by_their_numbers(sqlite: Server) -> None:
    schema = reflected(sqlite, "CREATE TABLE a (id INTEGER PRIMARY KEY)", "INSERT INTO a VALUES (1001), (1002), (1003)")
    assert schema.tables["as"].estimated_rows == 3


def test_sqlite_does_not_mind_the_case_of_references(sqlite: Server) -> None:
    schema = reflected(
        sqlite,
        "CREATE TABLE Authors (ID INTEGER PRIMARY KEY)",
        "CREATE TABLE books (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES AUTHORS)",
    )
    assert schema.catalog["books"].relationships["author"].remote == ("id",)


# PostgreSQL


def test_postgresql_types_have_their_kinds(postgresql: Server) -> None:
    with made(
        postgresql,
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN positive AS integer CHECK (VALUE > 0)",
        """CREATE TABLE things (
            id serial PRIMARY KEY, m mood NOT NULL DEFAULT 'ok', p positive, tags text[], small smallint, big bigint,
            f real, u uuid, at timestamptz, naive timestamp, j jsonb DEFAULT '{"a": 1}', b bytea, c char(2),
            iv interval, ip inet, r int4range, pt point)""",
    ) as engine:
        schema = reflect(engine)
    found = schema.catalog["things"].fields
    assert found["m"].choices == ("sad", "ok")
    assert (found["m"].kind, found["m"].default) == (Kind.TEXT, "ok")
    assert (found["p"].kind, found["p"].minimum) == (Kind.INTEGER, 1)
    assert (found["tags"].kind, found["tags"].item_kind) == (Kind.ARRAY, Kind.TEXT)
    assert (found["small"].minimum, found["small"].maximum) == (-32768, 32767)
    assert (found["big"].minimum, found["big"].maximum) == (None, None)
    kinds = {name: found[name].kind for name in ("f", "u", "at", "naive", "j", "b", "c")}
    assert [*kinds.values()] == [
        *(Kind.NUMBER, Kind.UUID, Kind.DATETIME, Kind.DATETIME, Kind.JSON, Kind.BYTES, Kind.TEXT)
    ]
    assert found["j"].default == {"a": 1}
    assert (found["id"].optional, found["id"].access) == (True, Access.ONCE)
    assert not any(found[name].filterable or found[name].sortable for name in ("iv", "ip", "r", "pt"))
    assert found["iv"].access is Access.ALWAYS
    assert found["pt"].access is Access.NEVER


def test_types_of_postgresql_alone_are_read_and_written_as_texts(postgresql: Server) -> None:
    columns = "iv interval, ip inet, r int4range, pt point"
    with made(postgresql, f"CREATE TABLE things (id integer PRIMARY KEY, {columns})") as engine:
        mapped = reflect(engine).tables["things"]
        values = {"iv": "1 day 02:00:00", "ip": "10.0.0.1/8", "r": "[1,5)"}
        with engine.begin() as connection:
            connection.execute(insert(mapped.table).values(id=1, **values))
            connection.exec_driver_sql("UPDATE things SET pt = point(1, 2)")
            row = connection.execute(select(*(mapped.columns[name] for name in ("iv", "ip", "r", "pt")))).one()
    assert tuple(row) == (*values.values(), "(1,2)")


def test_an_identity_that_is_always_generated_is_never_given(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        "CREATE TABLE a (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
        "CREATE TABLE b (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)",
    )
    assert schema.catalog["as"].fields["id"].access is Access.NEVER
    assert schema.catalog["bs"].fields["id"].access is Access.ONCE


def test_comments_are_descriptions(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        "CREATE TABLE authors (id integer PRIMARY KEY, name text)",
        "COMMENT ON TABLE authors IS 'Who writes.'",
        "COMMENT ON COLUMN authors.name IS 'As on the cover.'",
    )
    assert schema.catalog["authors"].description == "Who writes."
    assert schema.catalog["authors"].fields["name"].description == "As on the cover."


def test_a_vector_of_words_is_an_index_and_no_field(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        """CREATE TABLE books (id integer PRIMARY KEY, title text, summary text, isbn text, words tsvector
           GENERATED ALWAYS AS (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(summary, ''))) STORED)""",
        "CREATE TABLE notes (id integer PRIMARY KEY, body text, words tsvector)",
        """CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON notes FOR EACH ROW
           EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.german', body)""",
    )
    assert schema.tables["books"].full_text == FullText("words", ("title", "summary"), "english")
    assert schema.tables["notes"].full_text == FullText("words", ("body",), "german")
    assert "words" not in schema.catalog["books"].fields
    assert "words" in schema.tables["books"].table.c
    assert schema.catalog["books"].searchable == ("title", "summary")


def test_partitions_are_left_out_and_materialized_views_are_served(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        "CREATE TABLE days (id integer PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE days_kept (id integer PRIMARY KEY)",
        "CREATE TABLE days_old () INHERITS (days_kept)",
        "CREATE TABLE special_days (name text) INHERITS (days_kept)",
        "CREATE MATERIALIZED VIEW day_counts AS SELECT count(*) AS n FROM days",
    )
    assert [*schema.tables] == ["day_counts", "days", "days_kepts", "special_days"]
    assert not schema.tables["day_counts"].writable


def test_other_schemas_are_served_if_they_are_named(postgresql: Server) -> None:
    statements = (
        "CREATE SCHEMA sales",
        "CREATE TABLE books (id integer PRIMARY KEY)",
        "CREATE TABLE sales.books (id integer PRIMARY KEY, book_id integer REFERENCES public.books (id))",
    )
    assert [*reflected(postgresql, *statements).tables] == ["books"]
    schema = reflected(postgresql, *statements, settings=SqlSettings(schemas=("public", "sales")))
    assert [*schema.tables] == ["books", "sales_books"]
    assert schema.tables["sales_books"].table.schema == "sales"
    assert schema.catalog["sales_books"].relationships["book"].target == "books"


def test_a_table_that_may_not_be_read_is_left_out_with_a_note(postgresql: Server) -> None:
    with made(
        postgresql,
        "CREATE TABLE open (id integer PRIMARY KEY)",
        "CREATE TABLE looked_at (id integer PRIMARY KEY)",
        "CREATE TABLE closed (id integer PRIMARY KEY)",
        "CREATE ROLE guest_of_headgate",
        "GRANT ALL ON open TO guest_of_headgate",
        "GRANT SELECT ON looked_at TO guest_of_headgate",
    ) as engine:
        role = engine.execution_options(postgresql_readonly=False)
        with role.connect() as connection:
            connection.exec_driver_sql("SET ROLE guest_of_headgate")
            connection.commit()
        schema = reflect(role)
        run(engine, "RESET ROLE", "DROP OWNED BY guest_of_headgate", "DROP ROLE guest_of_headgate")
    assert {name: mapped.writable for name, mapped in schema.tables.items()} == {"looked_ats": False, "opens": True}
    assert schema.notes == ("closed is left out: the database does not allow its rows to be read.",)


def test_postgresql_compares_exactly_unless_a_collation_says_otherwise(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        "CREATE COLLATION own (locale = 'C')",
        "CREATE TABLE a (id integer PRIMARY KEY, name text)",
        'CREATE TABLE b (id integer PRIMARY KEY, name text COLLATE "own")',
    )
    assert schema.tables["as"].exact_text
    assert not schema.tables["bs"].exact_text


def test_postgresql_estimates_rows_once_they_were_counted(postgresql: Server) -> None:
    schema = reflected(
        postgresql,
        "CREATE TABLE a AS SELECT generate_series(1, 500) AS id",
        "ANALYZE a",
        "CREATE TABLE b (id integer)",
    )
    assert schema.tables["as"].estimated_rows == 500
    assert schema.tables["bs"].estimated_rows is None


# MariaDB


def test_mariadb_types_have_their_kinds(mariadb: Server) -> None:
    found = fields(
        mariadb,
        "flag TINYINT(1) DEFAULT 1",
        "tiny TINYINT UNSIGNED",
        "e ENUM('a', 'b')",
        "s SET('x', 'y')",
        "y YEAR",
        "j JSON",
        "u UUID",
        "b BINARY(16)",
        "t TIME",
        "d DATETIME(6)",
        "f DOUBLE",
        "g POINT",
    )
    assert {name: field.kind for name, field in found.items()} == {
        "flag": Kind.BOOLEAN,
        "tiny": Kind.INTEGER,
        "e": Kind.TEXT,
        "s": Kind.TEXT,
        "y": Kind.INTEGER,
        "j": Kind.JSON,
        "u": Kind.UUID,
        "b": Kind.BYTES,
        "t": Kind.TIME,
        "d": Kind.DATETIME,
        "f": Kind.NUMBER,
    }
    assert found["flag"].default is True
    assert found["e"].choices == ("a", "b")
    assert (found["tiny"].minimum, found["tiny"].maximum) == (0, 255)
    assert found["s"].description == "Any of x, y, with commas between them."


def test_mariadb_numbers_rows_and_compares_loosely(mariadb: Server) -> None:
    schema = reflected(
        mariadb, "CREATE TABLE books (id INT AUTO_INCREMENT PRIMARY KEY COMMENT 'A number.') COMMENT 'All of them.'"
    )
    book = schema.catalog["books"]
    assert (book.description, book.fields["id"].description) == ("All of them.", "A number.")
    assert book.fields["id"].optional
    assert not schema.tables["books"].exact_text


# defaults, in the words of three databases


@pytest.mark.parametrize(
    ("default", "kind", "value"),
    [
        ("'it''s'", Kind.TEXT, "it's"),
        ("'placed'::character varying", Kind.TEXT, "placed"),
        ("('a'::text)", Kind.TEXT, "a"),
        ("'-1'::integer", Kind.INTEGER, -1),
        ("((0))", Kind.INTEGER, 0),
        ("(1.50)::numeric(10,2)", Kind.DECIMAL, "1.50"),
        ("0.5", Kind.NUMBER, 0.5),
        ("true", Kind.BOOLEAN, True),
        ("'0'", Kind.BOOLEAN, False),
        ("'{\"a\": [1]}'::jsonb", Kind.JSON, {"a": [1]}),
        ("'2024-02-29'::date", Kind.DATE, "2024-02-29"),
        ("'nonsense'", Kind.DATE, None),
        ("'maybe'", Kind.BOOLEAN, None),
        ("NULL", Kind.TEXT, None),
        ("now()", Kind.DATETIME, None),
        ("CURRENT_TIMESTAMP", Kind.DATETIME, None),
        ("'a' || 'b'", Kind.TEXT, None),
        ("nextval('books_id_seq'::regclass)", Kind.INTEGER, None),
        ("'\\x00'::bytea", Kind.BYTES, None),
    ],
)
def test_a_default_is_told_if_it_is_a_constant(default: str, kind: Kind, value: object) -> None:
    assert constant(default, kind) == value


# checks, in the words of three databases


@pytest.mark.parametrize(
    "check",
    [
        "tier IN ('a', 'it''s')",
        "(tier = ANY (ARRAY['a'::text, 'it''s'::text]))",
        "((tier)::text = ANY ((ARRAY['a'::character varying, 'it''s'::character varying])::text[]))",
        "`tier` in ('a','it''s')",
        "tier IS NULL OR tier IN ('a', 'it''s')",
        "tier = 'a' OR tier = 'it''s'",
        "`tier` in (_utf8mb4'a',_utf8mb4'it''s')",
    ],
)
def test_choices_are_read_from_checks(check: str) -> None:
    assert [(rule.column, rule.choices) for rule in rules_of(check)] == [("tier", ("a", "it's"))]


@pytest.mark.parametrize(
    ("check", "low", "high"),
    [
        ("n BETWEEN -1 AND 5", -1, 5),
        ("((n >= '-1'::integer) AND (n <= 5))", -1, 5),
        ("n >= -1 AND n BETWEEN -3 AND 5", -3, 5),
        ("(n >= (0)::numeric)", 0, None),
        ("0 <= n", 0, None),
        ('"N" <= 9', None, 9),
    ],
)
def test_bounds_are_read_from_checks(check: str, low: int | None, high: int | None) -> None:
    rules = rules_of(check)
    assert {rule.column for rule in rules} == {"n"}
    assert next((rule.minimum.value for rule in rules[::-1] if rule.minimum), None) == low
    assert next((rule.maximum.value for rule in rules[::-1] if rule.maximum), None) == high


@pytest.mark.parametrize(
    "check",
    [
        "a < b",
        "a + 1 > 3",
        "a NOT IN (1, 2)",
        "NOT a IN (1, 2)",
        "lower(a) IN ('x')",
        "a > 0 OR b > 0",
        "a > 0 OR b > 0 AND a < 5",
        "a IN (SELECT 1)",
        "died IS NULL OR born IS NULL OR died > born",
        "a LIKE '%x%'",
        "CASE WHEN a > 3 THEN b > 1 END",
        "a <> 3",
        "((((",
        "",
        "'unclosed",
    ],
)
def test_what_is_not_understood_is_left_to_the_database(check: str) -> None:
    assert rules_of(check) == []
