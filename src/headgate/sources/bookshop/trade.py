"""Who buys in the bookshop, and what: customers, orders with their lines, and reviews."""

import unicodedata
from datetime import date, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from headgate.sources.bookshop import words
from headgate.sources.bookshop.catalogue import TODAY, Book, json_text, moment
from headgate.sources.bookshop.people import COUNTRIES, Country

__all__ = [
    "Customer",
    "Order",
    "OrderLine",
    "Review",
    "make_customers",
    "make_order_lines",
    "make_orders",
    "make_reviews",
]

CUSTOMERS: Final = 4_000
ORDERS: Final = 9_000
REVIEWS: Final = 8_000
OPENED: Final = date(2023, 1, 1)
"""The day from which orders are kept."""

_RECENT: Final = TODAY - timedelta(days=21)
_PLAIN: Final = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "ð": "d", "þ": "th", "ı": "i"})  # noqa: RUF001


class Customer(NamedTuple):
    """A row of customers."""

    id: int
    name: str
    email: str
    country: str
    city: str | None
    birthday: str | None
    tier: str | None
    is_active: bool
    preferences: str
    joined_at: str


class Order(NamedTuple):
    """A row of orders."""

    id: int
    customer_id: int
    status: str
    placed_at: str
    shipped_on: str | None
    shipping: float
    is_gift: bool
    note: str | None


class OrderLine(NamedTuple):
    """A row of order_lines, but for the amount, which the database reckons."""

    order_id: int
    line: int
    book_id: int
    quantity: int
    unit_price: float
    discount: int


class Review(NamedTuple):
    """A row of reviews."""

    id: int
    book_id: int
    customer_id: int
    rating: int
    title: str | None
    body: str | None
    is_verified: bool
    helpful: int
    created_at: str


def make_customers(rng: Random) -> list[Customer]:
    """Customers of every country; some share a name, none an address."""
    return [_customer(rng, number, rng.choice(COUNTRIES)) for number in range(1, CUSTOMERS + 1)]


def _customer(rng: Random, number: int, country: Country) -> Customer:
    given, family = rng.choice(country.given), rng.choice(country.family)
    birthday = date(1940, 1, 1) + timedelta(days=rng.randrange(24_000))
    return Customer(
        id=number,
        name=country.full_name(given, family),
        email=f"{_ascii(given) or 'reader'}.{number}@mail.example",
        country=country.name,
        city=None if rng.random() < 0.05 else rng.choice(country.cities),
        birthday=None if rng.random() < 0.3 else birthday.isoformat(),
        tier=rng.choices((None, "bronze", "silver", "gold"), (55, 25, 14, 6))[0],
        is_active=rng.random() < 0.92,
        preferences=json_text(_preferences(rng, country)),
        joined_at=moment(rng, date(2019, 1, 1) + timedelta(days=rng.randrange(2_400))),
    )


def _ascii(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.lower().translate(_PLAIN)).encode("ascii", "ignore").decode()
    return "".join(letter for letter in plain if letter.isalpha())


def _preferences(rng: Random, country: Country) -> dict[str, Any]:
    if rng.random() < 0.15:
        return {}
    return {
        "newsletter": rng.random() < 0.4,
        "genres": [name for name, _parent in rng.sample(words.GENRES, rng.randrange(4))],
        "contact": {"channel": rng.choice(("email", "post", "none")), "language": country.language},
    }


def make_orders(rng: Random, customers: list[Customer]) -> list[Order]:
    """Orders in the sequence of their time; few customers place many, many none, and December is busy."""
    placed = sorted(_placed(rng, _regular(rng, customers)) for _ in range(ORDERS))
    return [_order(rng, number, at, customer_id) for number, (at, customer_id) in enumerate(placed, 1)]


def _regular(rng: Random, customers: list[Customer]) -> Customer:
    return customers[int(len(customers) * rng.random() ** 1.8)]


def _placed(rng: Random, customer: Customer) -> tuple[str, int]:
    """When a customer orders: on a day after joining, often one before Christmas."""
    first = max(OPENED, date.fromisoformat(customer.joined_at[:10]) + timedelta(days=1))
    day = first + timedelta(days=rng.randrange((TODAY - first).days + 1))
    if day.month < 12 and rng.random() < 0.15:
        day = date(day.year, 12, rng.randrange(1, 24))
    return moment(rng, day), customer.id


def _order(rng: Random, number: int, placed_at: str, customer_id: int) -> Order:
    day = date.fromisoformat(placed_at[:10])
    if day > _RECENT:
        status = rng.choice(("placed", "paid", "paid", "shipped", "shipped", "cancelled"))
    else:
        status = rng.choices(("delivered", "cancelled", "shipped"), (92, 7, 1))[0]
    is_sent = status in ("shipped", "delivered")
    return Order(
        id=number,
        customer_id=customer_id,
        status=status,
        placed_at=placed_at,
        shipped_on=(day + timedelta(days=rng.randrange(6))).isoformat() if is_sent else None,
        shipping=rng.choice((0, 0, 3.9, 4.9, 9.5)),
        is_gift=rng.random() < (0.3 if day.month == 12 else 0.06),
        note=rng.choice(words.NOTES) if rng.random() < 0.08 else None,
    )


def make_order_lines(rng: Random, orders: list[Order], books: list[Book]) -> list[OrderLine]:
    """One to five different books in each order; a few books are wanted by everybody."""
    wanted = [book for book in books if book.published]
    rng.shuffle(wanted)
    rows = []
    for order in orders:
        chosen = {int(len(wanted) * rng.random() ** 1.7) for _ in range(rng.choice((1, 1, 2, 2, 2, 3, 5)))}
        rows += [_line(rng, order, line, wanted[place]) for line, place in enumerate(sorted(chosen), 1)]
    return rows


def _line(rng: Random, order: Order, line: int, book: Book) -> OrderLine:
    quantity = 1 if rng.random() < 0.85 else rng.randrange(2, 6)
    discount = 0 if rng.random() < 0.8 else rng.choice((5, 10, 15, 25))
    return OrderLine(order.id, line, book.id, quantity, book.price, discount)


def make_reviews(
    rng: Random, orders: list[Order], lines: list[OrderLine], customers: list[Customer], books: list[Book]
) -> list[Review]:
    """At most one review of a book by each customer; most by somebody who bought it, none before that."""
    placed = {order.id: order for order in orders if order.status == "delivered"}
    bought: dict[tuple[int, int], date] = {}
    for line in lines:
        if order := placed.get(line.order_id):
            bought.setdefault((line.book_id, order.customer_id), date.fromisoformat(order.placed_at[:10]))
    seen = dict(rng.sample(list(bought.items()), REVIEWS * 3 // 4))
    while len(seen) < REVIEWS:
        book, customer = rng.choice(books), _regular(rng, customers)
        since = max(OPENED, date.fromisoformat(customer.joined_at[:10]))
        seen.setdefault((book.id, customer.id), since)
    quality = [rng.gauss(3.8, 0.6) for _ in range(len(books) + 1)]
    times = sorted(
        (moment(rng, since + timedelta(days=rng.randrange((TODAY - since).days + 1))), pair)
        for pair, since in seen.items()
    )
    return [
        _review(rng, number, pair, quality[pair[0]], at, is_verified=pair in bought)
        for number, (at, pair) in enumerate(times, 1)
    ]


def _review(
    rng: Random, number: int, pair: tuple[int, int], quality: float, created_at: str, *, is_verified: bool
) -> Review:
    rating = min(5, max(1, round(rng.gauss(quality, 0.9))))
    return Review(
        id=number,
        book_id=pair[0],
        customer_id=pair[1],
        rating=rating,
        title=None if rng.random() < 0.2 else rng.choice(words.VERDICTS[rating]),
        body=None if rng.random() < 0.35 else " ".join(rng.sample(words.REMARKS, rng.choice((1, 1, 2)))),
        is_verified=is_verified,
        helpful=int(rng.expovariate(0.4)),
        created_at=created_at,
    )
