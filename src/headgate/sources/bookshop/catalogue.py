"""What the bookshop has on its shelves: authors, publishers, genres and books."""

import json
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate, product
from random import Random
from typing import Any, Final, NamedTuple

from headgate.sources.bookshop import words
from headgate.sources.bookshop.people import CLASSICS, COUNTRIES, LANGUAGES, Country

__all__ = [
    "Author",
    "Book",
    "BookGenre",
    "Genre",
    "Publisher",
    "json_text",
    "make_authors",
    "make_book_genres",
    "make_books",
    "make_genres",
    "make_publishers",
    "moment",
]

AUTHORS: Final = 400
PUBLISHERS: Final = 40
BOOKS: Final = 3_000
TODAY: Final = date(2025, 12, 31)
"""The last day in the life of the bookshop."""

_FORMATS: Final = ("paperback", "hardcover", "ebook", "audiobook")
_FORMAT_PRICES: Final = {"paperback": 9, "hardcover": 19, "ebook": 5, "audiobook": 12}
_CENTS: Final = (0.99, 0.99, 0.90, 0.50, 0.00)


class Author(NamedTuple):
    """A row of authors."""

    id: int
    name: str
    country: str
    born: str | None
    died: str | None
    biography: str | None


class Publisher(NamedTuple):
    """A row of publishers."""

    id: int
    name: str
    country: str
    city: str
    founded: int | None
    website: str | None


class Genre(NamedTuple):
    """A row of genres."""

    id: int
    name: str
    parent_id: int | None


class Book(NamedTuple):
    """A row of books."""

    id: int
    isbn: str
    title: str
    summary: str | None
    author_id: int
    publisher_id: int | None
    sequel_to: int | None
    published: str | None
    language: str
    format: str
    pages: int | None
    price: float
    stock: int
    in_print: bool
    details: str
    added_at: str
    version: int


class BookGenre(NamedTuple):
    """A row of book_genres."""

    book_id: int
    genre_id: int


def json_text(value: Any) -> str:
    """A value as the JSON that a column holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def moment(rng: Random, day: date) -> str:
    """Some second of a day, in UTC."""
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=rng.randrange(86_400))).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )


def make_authors(rng: Random) -> list[Author]:
    """The authors of old, then invented ones of every country, each of another name."""
    authors = [
        Author(number, old.name, old.country, old.born, old.died, f"A classic of {old.country}.")
        for number, old in enumerate(CLASSICS, 1)
    ]
    names = [
        (country, country.full_name(given, family))
        for country in COUNTRIES
        for given, family in product(country.given, country.family)
    ]
    for country, name in rng.sample(names, AUTHORS - len(authors)):
        authors.append(_invented(rng, len(authors) + 1, name, country))
    return authors


def _invented(rng: Random, number: int, name: str, country: Country) -> Author:
    born = date(1920, 1, 1) + timedelta(days=rng.randrange(28_000))
    died = born + timedelta(days=rng.randrange(16_000, 34_000))
    city = rng.choice(country.cities)
    biography = f"Lives in {city} and writes before sunrise." if died > TODAY else f"Wrote in {city} until the last."
    return Author(
        number,
        name,
        country.name,
        None if rng.random() < 0.06 else born.isoformat(),
        None if died > TODAY else died.isoformat(),
        None if rng.random() < 0.3 else biography,
    )


def make_publishers(rng: Random) -> list[Publisher]:
    """Publishers of many countries."""
    names = [f"{head} {tail}" for head, tail in product(words.PUBLISHER_HEADS, words.PUBLISHER_TAILS)]
    return [_publisher(rng, number, name) for number, name in enumerate(rng.sample(names, PUBLISHERS), 1)]


def _publisher(rng: Random, number: int, name: str) -> Publisher:
    country = rng.choice(COUNTRIES)
    founded = None if rng.random() < 0.1 else rng.randrange(1840, 2016)
    website = None if rng.random() < 0.25 else f"https://publisher{number}.example"
    return Publisher(number, name, country.name, rng.choice(country.cities), founded, website)


def make_genres() -> list[Genre]:
    """The tree of genres."""
    numbers = {name: number for number, (name, _parent) in enumerate(words.GENRES, 1)}
    return [Genre(numbers[name], name, numbers[parent] if parent else None) for name, parent in words.GENRES]


def make_book_genres(rng: Random, books: list[Book], genres: list[Genre]) -> list[BookGenre]:
    """One to three genres for each book; Crime and its like are chosen more often than Cookery."""
    weights = list(accumulate(len(genres) - number for number in range(len(genres))))
    rows = []
    for book in books:
        chosen = rng.choices(genres, cum_weights=weights, k=rng.choice((1, 2, 2, 3, 3)))
        rows += [BookGenre(book.id, number) for number in sorted({genre.id for genre in chosen})]
    return rows


def make_books(rng: Random, authors: list[Author], publishers: list[Publisher]) -> list[Book]:
    """The books of old, then invented ones; some go on where another book of their author ends."""
    country_of = {country.name: country for country in COUNTRIES}
    books: list[Book] = []
    latest: dict[int, Book] = {}
    volumes: dict[int, int] = {}

    def add(author: Author, title: str, language: str) -> None:
        before = latest.get(author.id) if rng.random() < 0.14 else None
        number = len(books) + 1
        volumes[number] = volumes[before.id] + 1 if before else 1
        series = {"name": f"The {author.name} sequence", "volume": volumes[number]} if before else None
        book = _book(rng, number, author, title, language, rng.choice(publishers).id, before, series)
        books.append(book)
        latest[author.id] = book

    for author, classic in zip(authors, CLASSICS, strict=False):
        for title in classic.titles:
            add(author, title, LANGUAGES[author.country])
    invented = authors[len(CLASSICS) :]
    while len(books) < BOOKS:
        author = invented[int(len(invented) * rng.random() ** 1.6)]
        country = country_of[author.country]
        is_local = country.language in words.LOCAL_TITLES and rng.random() < 0.45
        title = _local_title(rng, country) if is_local else _english_title(rng, country)
        add(author, title, country.language if is_local else "en")
    return books


def _local_title(rng: Random, country: Country) -> str:
    heads, tails = words.LOCAL_TITLES[country.language]
    return (rng.choice(heads) + rng.choice(tails)).format(city=rng.choice(country.cities))


def _english_title(rng: Random, country: Country) -> str:
    parts = {kind: rng.choice(known) for kind, known in words.TITLE_PARTS.items()}
    return rng.choice(words.TITLE_FORMS).format(city=rng.choice(country.cities), **parts)


def _summary(rng: Random) -> str:
    parts = {kind: rng.choice(known).lower() for kind, known in words.TITLE_PARTS.items()}
    other = rng.choice(words.TITLE_PARTS["person"]).lower()
    city = rng.choice(rng.choice(COUNTRIES).cities)
    opening = rng.choice(words.OPENINGS).format(city=city, person2=other, **parts)
    return f"{opening} {rng.choice(words.TURNS)}"


def _book(
    rng: Random,
    number: int,
    author: Author,
    title: str,
    language: str,
    publisher_id: int,
    before: Book | None,
    series: dict[str, Any] | None,
) -> Book:
    form = rng.choices(_FORMATS, (50, 20, 20, 10))[0]
    published = _published(rng, author, before)
    pages = None if form == "audiobook" else rng.randrange(64, 640)
    is_out = published is not None
    return Book(
        id=number,
        isbn=_isbn(number),
        title=title,
        summary=None if rng.random() < 0.08 else _summary(rng),
        author_id=author.id,
        publisher_id=None if rng.random() < 0.04 else publisher_id,
        sequel_to=before.id if before else None,
        published=published.isoformat() if published else None,
        language=language,
        format=form,
        pages=pages,
        price=round(_FORMAT_PRICES[form] + rng.randrange(12) + rng.choice(_CENTS), 2),
        stock=0 if not is_out or rng.random() < 0.1 else rng.randrange(1, 120),
        in_print=is_out and rng.random() > 0.07,
        details=json_text(_details(rng, form, author, language, series)),
        added_at=moment(rng, date(2018, 1, 1) + timedelta(days=rng.randrange(1_800))),
        version=1 if rng.random() < 0.9 else rng.randrange(2, 6),
    )


def _isbn(number: int) -> str:
    """A right ISBN in a block that is given to nobody."""
    digits = f"9799{number * 7_919 % 100_000_000:08d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def _published(rng: Random, author: Author, before: Book | None) -> date | None:
    """When this edition came out: once its author was grown up, and after the book before it."""
    if rng.random() < 0.02:
        return None
    first = date(max(1960, int(author.born[:4]) + 21 if author.born else 1960), 1, 1)
    if before and before.published:
        first = max(first, date.fromisoformat(before.published))
    return first + timedelta(days=rng.randrange((TODAY - first).days + 1))


def _details(rng: Random, form: str, author: Author, language: str, series: dict[str, Any] | None) -> dict[str, Any]:
    details: dict[str, Any] = {
        "keywords": rng.sample(words.KEYWORDS, rng.randrange(4)),
        "edition": {"number": rng.choice((1, 1, 1, 2, 3)), "original_language": LANGUAGES[author.country]},
    }
    if form == "ebook":
        details["file"] = {"format": rng.choice(("epub", "pdf")), "size_kb": rng.randrange(300, 9_000)}
    elif form == "audiobook":
        details["audio"] = {"minutes": rng.randrange(90, 1_200), "chapters": rng.randrange(5, 60)}
    else:
        details["dimensions"] = {"width_mm": rng.choice((110, 129, 148)), "weight_g": rng.randrange(90, 1_100)}
    if rng.random() < 0.12:
        names = rng.sample(words.AWARDS, rng.choice((1, 1, 2)))
        details["awards"] = [{"name": name, "year": rng.randrange(1980, 2026)} for name in names]
    if LANGUAGES[author.country] != language:
        translator = rng.choice(COUNTRIES)
        details["edition"]["translator"] = translator.full_name(
            rng.choice(translator.given), rng.choice(translator.family)
        )
    return details | ({"series": series} if series else {})
