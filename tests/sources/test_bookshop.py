"""The bookshop's file: the same everywhere, sound, and built once however many programs start together."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headgate.sources import bookshop
from headgate.sources.bookshop import bookshop_file, build_bookshop
from tests.server.processes import environment

TABLES = ["authors", "publishers", "genres", "books", "book_genres", "customers", "orders", "order_lines", "reviews"]
VIEWS = ["bestsellers", "monthly_sales"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bookshop") / "shop.db"
    build_bookshop(path)
    return path


@pytest.fixture
def shop(built: Path) -> Iterator[sqlite3.Connection]:
    """The bookshop, to be changed at will: nothing is kept."""
    with closing(sqlite3.connect(built, isolation_level=None)) as database:
        database.executescript("PRAGMA foreign_keys = ON; BEGIN;")
        yield database
        database.execute("ROLLBACK")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user's caches, still empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def one(database: sqlite3.Connection, query: str, *values: object) -> Any:
    return database.execute(query, values).fetchone()[0]


def content(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as database:
        return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in [*TABLES, *VIEWS]}  # noqa: S608


def test_two_builds_have_the_same_content(built: Path, tmp_path: Path) -> None:
    build_bookshop(tmp_path / "again.db")
    assert content(tmp_path / "again.db") == content(built)


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        *(("authors", 400), ("publishers", 40), ("genres", 20), ("books", 3_000), ("book_genres", 6_000)),
        *(("customers", 4_000), ("orders", 9_000), ("order_lines", 20_000), ("reviews", 8_000)),
    ],
)
def test_there_is_enough_to_look_for(shop: sqlite3.Connection, table: str, rows: int) -> None:
    assert one(shop, f"SELECT count(*) FROM {table}") == pytest.approx(rows, rel=0.1)  # noqa: S608


def test_every_reference_leads_somewhere_and_the_file_is_sound(shop: sqlite3.Connection) -> None:
    assert shop.execute("PRAGMA foreign_key_check").fetchall() == []
    assert one(shop, "PRAGMA integrity_check") == "ok"


WRONG = {
    "an unknown status": "UPDATE orders SET status = 'lost' WHERE id = 1",
    "an unknown format": "UPDATE books SET format = 'scroll' WHERE id = 1",
    "an unknown tier": "UPDATE customers SET tier = 'tin' WHERE id = 1",
    "six stars": "UPDATE reviews SET rating = 6 WHERE id = 1",
    "a negative price": "UPDATE books SET price = -1 WHERE id = 1",
    "a short ISBN": "UPDATE books SET isbn = '123' WHERE id = 1",
    "an ISBN that is taken": "UPDATE books SET isbn = (SELECT isbn FROM books WHERE id = 2) WHERE id = 1",
    "an address that is taken": "UPDATE customers SET email = (SELECT upper(email) FROM customers WHERE id = 2)",
    "no JSON": "UPDATE books SET details = '{' WHERE id = 1",
    "neither true nor false": "UPDATE books SET in_print = 2 WHERE id = 1",
    "no author": "UPDATE books SET author_id = 9999 WHERE id = 1",
    "a death before birth": "UPDATE authors SET died = '1700-01-01' WHERE id = 1",
    "a customer with orders": "DELETE FROM customers WHERE id IN (SELECT customer_id FROM orders)",
    "a second review": "INSERT INTO reviews (book_id, customer_id, rating) SELECT book_id, customer_id, 1 FROM reviews",
    "a hundred copies": "UPDATE order_lines SET quantity = 100 WHERE order_id = 1",
    "an amount of one's own": "UPDATE order_lines SET amount = 1 WHERE order_id = 1",
}


@pytest.mark.parametrize("statement", WRONG.values(), ids=WRONG)
def test_a_row_that_breaks_a_rule_is_refused(shop: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match=r"constraint failed|generated column"):
        shop.execute(statement)


def test_a_new_book_needs_only_what_has_no_default(shop: sqlite3.Connection) -> None:
    shop.execute("INSERT INTO books (isbn, title, author_id, price) VALUES ('9799999999999', 'New', 1, 9.5)")
    row = shop.execute("SELECT format, stock, in_print, details, version, added_at FROM books WHERE title = 'New'")
    *defaults, added_at = row.fetchone()
    assert defaults == ["paperback", 0, 1, "{}", 1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", added_at)


def test_what_is_found_by_words_follows_the_books(shop: sqlite3.Connection) -> None:
    found = "SELECT count(*) FROM books_fts WHERE books_fts MATCH ?"
    assert one(shop, found, "zanzibar") == 0
    shop.execute("UPDATE books SET summary = 'By dhow to Zanzibar' WHERE id = 1000")
    assert one(shop, found, "zanzibar") == 1
    shop.execute("INSERT INTO books (isbn, title, author_id, price) VALUES ('9799999999999', 'Zanzibar', 1, 9.5)")
    assert one(shop, found, "zanzibar") == 2
    shop.execute("DELETE FROM books WHERE title = 'Zanzibar'")
    assert one(shop, found, "zanzibar") == 1
    shop.execute("INSERT INTO books_fts (books_fts, rank) VALUES ('integrity-check', 1)")


def test_every_isbn_has_the_right_last_digit(shop: sqlite3.Connection) -> None:
    for (isbn,) in shop.execute("SELECT isbn FROM books"):
        assert sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(isbn)) % 10 == 0


def test_time_runs_forward(shop: sqlite3.Connection) -> None:
    pairs = (
        "SELECT o.placed_at, c.joined_at FROM orders o JOIN customers c ON c.id = o.customer_id",
        "SELECT shipped_on, substr(placed_at, 1, 10) FROM orders",
        "SELECT b.published, a.born FROM books b JOIN authors a ON a.id = b.author_id",
        "SELECT b.published, f.published FROM books b JOIN books f ON f.id = b.sequel_to",
    )
    for query in pairs:
        known = [(later, earlier) for later, earlier in shop.execute(query) if later and earlier]
        assert known
        assert [pair for pair in known if pair[0] < pair[1]] == []


def test_amounts_and_views_agree_with_the_lines(shop: sqlite3.Connection) -> None:
    amounts = shop.execute("SELECT quantity, unit_price, discount, amount FROM order_lines").fetchall()
    assert [row for row in amounts if abs(row[0] * row[1] * (100 - row[2]) / 100 - row[3]) > 0.00501] == []
    sold = """SELECT sum(quantity) FROM order_lines JOIN orders ON orders.id = order_id WHERE status <> 'cancelled'"""
    assert one(shop, "SELECT sum(copies) FROM bestsellers") == one(shop, sold)
    assert one(shop, "SELECT sum(copies) FROM monthly_sales") == one(shop, sold)


def test_questions_have_interesting_answers(shop: sqlite3.Connection) -> None:
    norwegian = shop.execute(
        "SELECT b.price, avg(r.rating) FROM books b JOIN authors a ON a.id = b.author_id AND a.country = 'Norway'"
        " LEFT JOIN reviews r ON r.book_id = b.id GROUP BY b.id"
    ).fetchall()
    assert len(norwegian) > 50
    assert len({price for price, _rating in norwegian}) < len(norwegian), "there are ties"
    assert {rating is None for _price, rating in norwegian} == {True, False}
    titles = "".join(title for (title,) in shop.execute("SELECT title FROM books"))
    assert set("øéß図書館") - set(titles) == set()
    assert one(shop, "SELECT count(DISTINCT country) FROM customers") >= 20
    nested = [json.loads(text) for (text,) in shop.execute("SELECT details FROM books")]
    assert any(details.get("series", {}).get("volume", 0) >= 3 for details in nested)
    assert one(shop, "SELECT count(*) FROM genres WHERE parent_id IN (SELECT id FROM genres WHERE parent_id)") > 0


def test_the_file_is_built_once_and_keeps_what_was_changed(cache: Path) -> None:
    path = bookshop_file()
    assert path.is_relative_to(cache)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM reviews")
    assert bookshop_file() == path
    assert content(path)["reviews"] == []
    assert [file.name for file in path.parent.iterdir()] == [path.name], "nothing else is left behind"


def test_the_name_of_the_file_carries_its_version(cache: Path) -> None:
    path = bookshop_file()
    with closing(sqlite3.connect(path)) as database:
        assert f"-{one(database, 'PRAGMA user_version')}." in path.name


def test_programs_that_start_together_find_one_whole_file(cache: Path, built: Path) -> None:
    script = """
from contextlib import closing
import sqlite3
from headgate.sources.bookshop import bookshop_file
path = bookshop_file()
with closing(sqlite3.connect(path, timeout=60)) as shop, shop:
    shop.execute("UPDATE books SET version = version + 1 WHERE id = 1")
    print(path, shop.execute("PRAGMA quick_check").fetchone()[0])
"""
    command = [sys.executable, "-c", script]
    env = environment({"XDG_CACHE_HOME": str(cache)})
    started = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {process.communicate(timeout=60)[0] for process in started}
    assert said == {f"{bookshop_file()} ok\n"}
    path = bookshop_file()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert content(path)["books"][0][-1] == content(built)["books"][0][-1] + 4, "nobody's change was lost"


def test_no_change_of_a_faster_program_is_lost(cache: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cache / "shop.db"

    def slow(made: Path) -> None:
        made.write_bytes(built.read_bytes())
        path.write_text("the faster program's")

    monkeypatch.setattr(bookshop, "_write", slow)
    build_bookshop(path)
    assert path.read_text() == "the faster program's"


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(made: Path) -> None:
        made.write_text("half of it")
        raise OSError("no space left")

    monkeypatch.setattr(bookshop, "_write", full)
    with pytest.raises(OSError, match="no space"):
        build_bookshop(tmp_path / "shop.db")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    build_bookshop(tmp_path / "shop.db")
    assert len(content(tmp_path / "shop.db")["genres"]) == 20


CLOSED = """
from headgate.sources.bookshop import bookshop_file
path = bookshop_file()
assert path.is_file() and path == bookshop_file()
print(path)
"""


@pytest.mark.parametrize("where", ["a file", "below a file", "no possible name"])
def test_where_the_cache_is_closed_a_temporary_file_serves(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    closed = {"a file": "file", "below a file": "file/deep", "no possible name": "x" * 300}[where]
    env = environment({"XDG_CACHE_HOME": str(tmp_path / closed), "TMPDIR": str(tmp_path / "temporary")})
    done = subprocess.run([sys.executable, "-c", CLOSED], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "temporary")
    assert list((tmp_path / "temporary").iterdir()) == [], "it is gone with the process"


PLATFORMS = {
    "Linux": ("linux", {}, ".cache/headgate"),
    "a relative folder": ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/headgate"),
    "macOS": ("darwin", {}, "Library/Caches/headgate"),
    "Windows": ("win32", {}, "AppData/Local/headgate/Cache"),
    "Windows with a word of its own": ("win32", {"LOCALAPPDATA": "/local"}, "/local/headgate/Cache"),
}


@pytest.mark.parametrize(("platform", "variables", "folder"), PLATFORMS.values(), ids=PLATFORMS)
def test_the_cache_is_where_the_platform_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variables: dict[str, str], folder: str
) -> None:
    monkeypatch.setattr("os.environ", {"HOME": str(tmp_path), **variables})
    monkeypatch.setattr(sys, "platform", platform)
    assert bookshop._cache_folder() == tmp_path / folder
