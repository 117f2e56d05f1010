"""The bookshop's tables, indexes and views, in the SQL of SQLite."""

from typing import Final

__all__ = ["INDEXES", "SCHEMA_VERSION", "TABLES", "VIEWS"]

SCHEMA_VERSION: Final = 1
"""Counted up whenever a table or its content changes: a file of another version is left alone."""


TABLES: Final = """
CREATE TABLE authors (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,
    country   TEXT NOT NULL,
    born      DATE,
    died      DATE,
    biography TEXT,
    CHECK (died IS NULL OR born IS NULL OR died > born)
);
CREATE TABLE publishers (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    city    TEXT NOT NULL,
    founded INTEGER CHECK (founded BETWEEN 1450 AND 2100),
    website TEXT
);
CREATE TABLE genres (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    parent_id INTEGER REFERENCES genres (id) ON DELETE SET NULL
);
CREATE TABLE books (
    id           INTEGER PRIMARY KEY,
    isbn         CHAR(13) NOT NULL UNIQUE CHECK (length(isbn) = 13),
    title        VARCHAR(200) NOT NULL CHECK (length(title) > 0),
    summary      TEXT,
    author_id    INTEGER NOT NULL REFERENCES authors (id) ON DELETE RESTRICT,
    publisher_id INTEGER REFERENCES publishers (id) ON DELETE SET NULL,
    sequel_to    INTEGER REFERENCES books (id) ON DELETE SET NULL,
    published    DATE,
    language     CHAR(2) NOT NULL DEFAULT 'en',
    format       TEXT NOT NULL DEFAULT 'paperback' CHECK (format IN ('hardcover', 'paperback', 'ebook', 'audiobook')),
    pages        INTEGER CHECK (pages > 0),
    price        DECIMAL(10,2) NOT NULL CHECK (price >= 0),
    stock        INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0),
    in_print     BOOLEAN NOT NULL DEFAULT 1 CHECK (in_print IN (0, 1)),
    details      JSON NOT NULL DEFAULT '{}' CHECK (json_valid(details)),
    added_at     TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    version      INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE book_genres (
    book_id  INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE,
    genre_id INTEGER NOT NULL REFERENCES genres (id) ON DELETE CASCADE,
    PRIMARY KEY (book_id, genre_id)
) WITHOUT ROWID;
CREATE TABLE customers (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    email       TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (email LIKE '%_@_%'),
    country     TEXT NOT NULL,
    city        TEXT,
    birthday    DATE,
    tier        TEXT CHECK (tier IN ('bronze', 'silver', 'gold')),
    is_active   BOOLEAN NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
    preferences JSON NOT NULL DEFAULT '{}' CHECK (json_valid(preferences)),
    joined_at   TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE RESTRICT,
    status      TEXT NOT NULL DEFAULT 'placed'
                CHECK (status IN ('placed', 'paid', 'shipped', 'delivered', 'cancelled')),
    placed_at   TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    shipped_on  DATE,
    shipping    DECIMAL(10,2) NOT NULL DEFAULT 0 CHECK (shipping >= 0),
    is_gift     BOOLEAN NOT NULL DEFAULT 0 CHECK (is_gift IN (0, 1)),
    note        TEXT
);
CREATE TABLE order_lines (
    order_id   INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    line       INTEGER NOT NULL CHECK (line >= 1),
    book_id    INTEGER NOT NULL REFERENCES books (id) ON DELETE RESTRICT,
    quantity   INTEGER NOT NULL DEFAULT 1 CHECK (quantity BETWEEN 1 AND 99),
    unit_price DECIMAL(10,2) NOT NULL CHECK (unit_price >= 0),
    discount   INTEGER NOT NULL DEFAULT 0 CHECK (discount BETWEEN 0 AND 50),
    amount     DECIMAL(10,2) GENERATED ALWAYS AS (round(quantity * unit_price * (100 - discount) / 100.0, 2)) STORED,
    PRIMARY KEY (order_id, line)
);
CREATE TABLE reviews (
    id          INTEGER PRIMARY KEY,
    book_id     INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    rating      INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    title       TEXT,
    body        TEXT,
    is_verified BOOLEAN NOT NULL DEFAULT 0 CHECK (is_verified IN (0, 1)),
    helpful     INTEGER NOT NULL DEFAULT 0 CHECK (helpful >= 0),
    created_at  TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    UNIQUE (book_id, customer_id)
);
"""

INDEXES: Final = """
CREATE INDEX authors_by_country ON authors (country);
CREATE INDEX genres_by_parent ON genres (parent_id);
CREATE INDEX books_by_author ON books (author_id);
CREATE INDEX books_by_publisher ON books (publisher_id);
CREATE INDEX books_by_sequel ON books (sequel_to);
CREATE INDEX books_by_published ON books (published);
CREATE INDEX books_by_price ON books (price);
CREATE INDEX book_genres_by_genre ON book_genres (genre_id);
CREATE INDEX customers_by_country ON customers (country);
CREATE INDEX orders_by_customer ON orders (customer_id, placed_at);
CREATE INDEX orders_by_time ON orders (placed_at);
CREATE INDEX orders_by_status ON orders (status);
CREATE INDEX order_lines_by_book ON order_lines (book_id);
CREATE INDEX reviews_by_customer ON reviews (customer_id);
CREATE INDEX reviews_by_time ON reviews (created_at);

CREATE VIRTUAL TABLE books_fts USING fts5(title, summary, content='books', content_rowid='id');
INSERT INTO books_fts (books_fts) VALUES ('rebuild');
CREATE TRIGGER books_fts_insert AFTER INSERT ON books BEGIN
    INSERT INTO books_fts (rowid, title, summary) VALUES (new.id, new.title, new.summary);
END;
CREATE TRIGGER books_fts_delete AFTER DELETE ON books BEGIN
    INSERT INTO books_fts (books_fts, rowid, title, summary) VALUES ('delete', old.id, old.title, old.summary);
END;
CREATE TRIGGER books_fts_update AFTER UPDATE ON books BEGIN
    INSERT INTO books_fts (books_fts, rowid, title, summary) VALUES ('delete', old.id, old.title, old.summary);
    INSERT INTO books_fts (rowid, title, summary) VALUES (new.id, new.title, new.summary);
END;
"""

VIEWS: Final = """
CREATE VIEW bestsellers AS
SELECT books.id AS book_id, books.title AS title, authors.name AS author,
       sum(order_lines.quantity) AS copies, round(sum(order_lines.amount), 2) AS revenue
FROM order_lines
JOIN orders ON orders.id = order_lines.order_id AND orders.status <> 'cancelled'
JOIN books ON books.id = order_lines.book_id
JOIN authors ON authors.id = books.author_id
GROUP BY books.id;

CREATE VIEW monthly_sales AS
SELECT substr(orders.placed_at, 1, 7) AS month, count(DISTINCT orders.id) AS orders,
       sum(order_lines.quantity) AS copies, round(sum(order_lines.amount), 2) AS revenue
FROM orders
JOIN order_lines ON order_lines.order_id = orders.id
WHERE orders.status <> 'cancelled'
GROUP BY month;
"""
