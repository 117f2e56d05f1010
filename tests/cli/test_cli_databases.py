"""Databases and the demo on the command line: what they offer, what is refused, and in which words."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.commands import Done, Shell
from tests.databases import Database, Server
from tests.server.processes import LIBRARY, serve_http
from tests.server.requests import modern

TABLES = """
CREATE TABLE authors (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL);
CREATE TABLE books (
    id INTEGER PRIMARY KEY, title VARCHAR(80) NOT NULL, author_id INTEGER NOT NULL REFERENCES authors (id),
    status VARCHAR(10) NOT NULL CHECK (status IN ('new', 'used')), password_hash VARCHAR(80)
);
CREATE TABLE notes (line VARCHAR(80));
INSERT INTO authors VALUES (1, 'Jane Austen');
INSERT INTO books VALUES (1, 'Emma', 1, 'new', NULL);
"""
ADVICE = "hide it with 'hidden = true' under [tables.books.fields.password_hash]."
NOTES = [
    f"headgate: books.password_hash looks secret but is shown: {ADVICE}",
    "headgate: notes is only read: it has no primary key to know its rows by.",
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of SQLite."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    return path


@pytest.fixture
def served(database: Database) -> Database:
    """The same tables on each of the servers in turn."""
    with database.connected() as engine, engine.begin() as connection:
        for statement in filter(str.strip, TABLES.split(";\n")):
            connection.exec_driver_sql(statement)
    return database


def renamed(path: Path) -> Path:
    """The same file under a name that no text has."""
    return path.rename(os.fsdecode(bytes(path.parent) + b"/shop\xff.db"))


def names(done: Done) -> list[str]:
    """The operations that ``ops`` has listed in a pipe."""
    assert done.code == 0, done.err
    return [line.split("\t")[0] for line in done.out.splitlines()]


WRITING = ("create_", "update_", "delete_")


def test_a_database_is_listed_and_called_like_any_source(shell: Shell, served: Database) -> None:
    listed = names(shell("ops", "-s", served.url))
    assert {"list_books", "get_book", "search_books", "count_books", "query_relationships"} <= {*listed}
    assert {"create_book", "update_book", "delete_book"} <= {*listed}
    assert not any(name.endswith("_note") for name in listed)
    fields = 'fields=["title","author.name"]'
    page = shell("call", "list_books", 'filter={"author.name":"Jane Austen"}', fields, "-s", served.url)
    assert json.loads(page.out)["items"] == [{"title": "Emma", "author": {"name": "Jane Austen"}}]
    created = shell("call", "create_book", "id=2", "title=1984", "author_id=1", "status=used", "-s", served.url)
    assert json.loads(created.out)["title"] == "1984"
    assert json.loads(shell("call", "count_books", "-s", served.url).out) == {"count": 2}


def test_what_is_read_only_has_nothing_that_writes(shell: Shell, served: Database) -> None:
    listed = names(shell("ops", "-s", served.url, "--read-only"))
    assert "list_books" in listed
    assert not any(name.startswith(WRITING) for name in listed)
    assert names(shell("ops", "-s", served.url, env={"HEADGATE_READ_ONLY": "true"})) == listed
    done = shell("call", "delete_book", "id=1", "--read-only", "-s", served.url)
    assert (done.code, "NOT_FOUND_OPERATION" in done.err) == (1, True)


def test_a_file_is_served_over_http_read_only(shop: Path) -> None:
    with serve_http(str(shop), "--read-only") as serving:
        assert modern(serving.port).call("count_books").envelope["data"] == {"count": 1}
        assert "'shop' with " in serving.logged("operations behind")
        assert serving.logged("operations behind").endswith("behind mcp_aql_read")
        assert serving.stop() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always texts")
@pytest.mark.parametrize("words", [("ops", "-s"), ("tokens",), ("review",)], ids=lambda words: words[0])
def test_a_file_whose_name_is_no_utf_8_is_a_source(shell: Shell, shop: Path, words: tuple[str, ...]) -> None:
    odd = renamed(shop)
    done = shell(*words, str(odd), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always texts")
def test_a_file_whose_name_is_no_utf_8_is_served_under_a_name_that_is(shop: Path) -> None:
    with serve_http(str(renamed(shop))) as serving:
        assert modern(serving.port).call("count_books").envelope["data"] == {"count": 1}
        assert "'shop\ufffd' with " in serving.logged("operations behind")
        assert serving.stop() == 0


def test_postgresql_is_served_over_http(postgresql: Server) -> None:
    with postgresql.fresh() as database:
        with database.connected() as engine, engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE books (id integer PRIMARY KEY, title text NOT NULL)")
        with serve_http(database.url) as serving:
            session = modern(serving.port)
            made = session.call("create_book", {"id": 1, "title": "Emma"}, tool="mcp_aql_create").envelope
            assert made["data"]["title"] == "Emma"
            assert session.call("count_books").envelope["data"] == {"count": 1}
            assert serving.stop() == 0


def test_notes_about_a_source_are_told_where_it_is_looked_at(shell: Shell, shop: Path) -> None:
    assert sorted(shell("ops", "-s", str(shop)).err.splitlines()) == NOTES
    assert shell("call", "count_books", "-s", str(shop)).err == ""


WRONG = {
    "missing file": ("none.db", "There is no file '{here}/none.db'; name a file of SQLite, or a URL such as"),
    "no database": ("text.db", "text.db"),
    "no tables": ("empty.db", "'empty.db' has no tables that can be served."),
    "URL that cannot be read": ("postgresql://a:b@c:port/d", "The URL of the database cannot be read; write it as"),
    "nobody there": ("postgresql://127.0.0.1:1/shop", "Cannot connect to postgresql://127.0.0.1:1/shop: "),
    "kind": ("nosql://127.0.0.1/shop", "'nosql' is no kind of database that is known here; sqlite, postgresql"),
    "driver": ("postgresql+asyncpg://h/d", "write 'postgresql://' without the driver"),
    "memory": ("sqlite://", "A database in memory is empty; name a file of SQLite"),
}


@pytest.mark.parametrize("command", ["serve", "call", "ops"])
@pytest.mark.parametrize(("source", "message"), WRONG.values(), ids=WRONG)
def test_a_database_that_cannot_be_opened_is_one_line(
    shell: Shell, tmp_path: Path, command: str, source: str, message: str
) -> None:
    (tmp_path / "text.db").write_text("not a database at all")
    (tmp_path / "empty.db").touch()
    words = {"serve": (source,), "call": ("list_books", "-s", source), "ops": ("-s", source)}[command]
    done = shell(command, *words, cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("headgate: ")
    assert done.err.count("\n") == 1
    assert message.format(here=tmp_path) in done.err


def test_a_password_is_not_repeated(shell: Shell) -> None:
    done = shell("ops", "-s", "postgresql://alice:hunter22@127.0.0.1:1/shop")
    assert (done.code, "hunter22" in done.err) == (3, False)


@pytest.mark.parametrize("options", [("--read-only",), ("--tables", "tables.toml")], ids=["read only", "tables"])
@pytest.mark.parametrize("command", ["serve", "call", "ops"])
def test_options_of_databases_are_refused_elsewhere(shell: Shell, command: str, options: tuple[str, ...]) -> None:
    words = {"serve": (LIBRARY,), "call": ("list_books", "-s", LIBRARY), "ops": ("-s", LIBRARY)}[command]
    done = shell(command, *words, *options)
    assert (done.code, done.out) == (2, "")
    told = "--read-only, --tables and --statement-timeout are for databases: this source is none"
    assert done.err == f"headgate: {told}\n"


def test_they_are_refused_for_a_running_server_too(shell: Shell) -> None:
    done = shell("ops", "-s", "http://127.0.0.1:1/mcp", "--read-only")
    assert (done.code, "are for databases" in done.err) == (2, True)


@pytest.mark.parametrize("seconds", ["0", "-1"])
def test_a_statement_needs_some_time(shell: Shell, shop: Path, seconds: str) -> None:
    done = shell("ops", "-s", str(shop), env={"HEADGATE_STATEMENT_TIMEOUT": seconds})
    assert (done.code, done.out) == (2, "")
    assert done.err == f"headgate: --statement-timeout must be more than 0 seconds, not {seconds}\n"
    assert shell("ops", "-s", str(shop), "--statement-timeout", "0").code == 2


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf"])
def test_a_statement_takes_a_number_of_seconds(shell: Shell, shop: Path, seconds: str) -> None:
    done = shell("ops", "-s", str(shop), f"--statement-timeout={seconds}")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"headgate: --statement-timeout must be a number of seconds, not {seconds}\n"


def test_a_statement_is_stopped_after_its_time(shell: Shell, shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.executescript(ENDLESS)
    done = shell("call", "count_endless_numbers", "-s", str(shop), "--statement-timeout", "0.05")
    assert (done.code, done.err.startswith("headgate: TRANSPORT_TIMEOUT: ")) == (1, True), done.err


ENDLESS = """
CREATE VIEW endless_numbers AS
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers;
"""


SETTINGS = """
exclude = ["notes"]
read_only = ["authors"]

[tables.books]
name = "titles"
fields.password_hash = {hidden = true}
presets.card = ["title", "author.name"]
"""


def test_the_settings_file_decides_what_is_served(shell: Shell, shop: Path) -> None:
    (shop.parent / "tables.toml").write_text(SETTINGS)
    words = ("-s", "shop.db", "--tables", "tables.toml")
    done = shell("ops", *words, cwd=shop.parent)
    assert done.err == ""
    assert {"list_titles", "create_title", "list_authors"} <= {*names(done)}
    assert not {"create_author", "list_notes", "list_books"} & {*names(done)}
    page = shell("call", "list_titles", "preset=card", *words, cwd=shop.parent)
    assert json.loads(page.out)["items"] == [{"title": "Emma", "author": {"name": "Jane Austen"}}]
    assert "password_hash" not in shell("call", "get_title", "id=1", *words, cwd=shop.parent).out


WRONG_SETTINGS = {
    "setting": ("inclde = ['books']", "there is no setting 'inclde'. Did you mean 'include'?"),
    "table": ("[tables.boks]", "tables: there is no table 'boks'. Did you mean 'books'?"),
    "setting of a table": (
        "[tables.books]\nnmae = 'x'",
        "tables.books: there is no setting 'nmae'. Did you mean 'name'?",
    ),
    "column": ("[tables.books]\nkey = 'idd'", "tables.books.key: there is no column 'idd'. Did you mean 'id'?"),
    "value": ("[tables.books.fields.title]\nhidden = 'yes'", "tables.books.fields.title.hidden: this must be true or"),
    "TOML": ("[tables", "are no TOML: "),
}


@pytest.mark.parametrize(("content", "message"), WRONG_SETTINGS.values(), ids=WRONG_SETTINGS)
def test_a_wrong_setting_is_named_with_the_nearest_right_one(
    shell: Shell, shop: Path, content: str, message: str
) -> None:
    (shop.parent / "tables.toml").write_text(content)
    done = shell("ops", "-s", "shop.db", "--tables", "tables.toml", cwd=shop.parent)
    assert done.out == ""
    assert done.code in (2, 3)
    assert done.err.count("\n") == 1
    assert message in done.err


def test_a_settings_file_that_is_not_there_is_named(shell: Shell, shop: Path) -> None:
    done = shell("ops", "-s", str(shop), "--tables", "none.toml")
    assert (done.code, done.err) == (2, "headgate: The settings 'none.toml' cannot be read.\n")


def test_a_database_cannot_be_reloaded(shell: Shell, shop: Path) -> None:
    done = shell("serve", str(shop), "--reload")
    assert (done.code, done.err) == (2, "headgate: --reload needs a source that is a Python module or file\n")


# the text index


def test_an_index_is_shown_made_and_used(shell: Shell, shop: Path) -> None:
    words = ("index", "books", "-s", str(shop), "--fields", "title")
    shown = shell(*words, "--dry-run")
    assert (shown.code, shown.out.startswith("CREATE VIRTUAL TABLE books_fts USING fts5(title, ")) == (0, True)
    refused = shell(*words)
    assert (refused.code, refused.out, "nothing was changed" in refused.err) == (1, shown.out, True)
    made = shell(*words, "--yes")
    assert (made.code, made.out) == (0, shown.out)
    shell("call", "update_book", "id=1", 'input={"title":"Persuasion"}', "-s", str(shop))
    found = shell("call", "search_books", "query=persuasion", "-s", str(shop))
    assert json.loads(found.out)["items"] == [{"id": 1, "title": "Persuasion"}]
    again = shell(*words, "--yes")
    assert (again.code, "has a text index already" in again.err) == (3, True)


WRONG_INDEX = {
    "collection": (("boks", "-s", "shop.db"), "There is no collection 'boks'. Did you mean 'books'?"),
    "field": (("books", "-s", "shop.db", "--fields", "titel"), "'books' has no field 'titel'. Did you mean 'title'?"),
    "source": (("books", "-s", LIBRARY), "--source must be a database: its URL, or a file of SQLite"),
}


@pytest.mark.parametrize(("words", "message"), WRONG_INDEX.values(), ids=WRONG_INDEX)
def test_an_index_of_nothing_is_refused(shell: Shell, shop: Path, words: tuple[str, ...], message: str) -> None:
    done = shell("index", *words, cwd=shop.parent)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


# the demo


def test_without_a_source_the_demo_answers_and_keeps_what_is_changed(shell: Shell, tmp_path: Path) -> None:
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    listed = names(shell("ops", env=own))
    assert {"list_books", "list_bestsellers", "query_relationships"} <= {*listed}
    before = json.loads(shell("call", "get_book", "id=1", 'fields=["stock"]', env=own).out)
    wanted = before["stock"] + 1
    shell("call", "update_book", "id=1", f'input={{"stock":{wanted}}}', env=own)
    assert json.loads(shell("call", "get_book", "id=1", 'fields=["stock"]', env=own).out)["stock"] == wanted
    assert [file.suffix for file in (tmp_path / "headgate").iterdir()] == [".db"]


def test_the_demo_can_be_served_read_only(shell: Shell) -> None:
    assert not any(name.startswith(WRITING) for name in names(shell("ops", "--read-only")))
