"""A shop with operations of every kind, for policies to rule."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from headgate import Adapter, Patch


@dataclass
class Address:
    country: str
    lines: list[str] = field(default_factory=list)
    verified: bool = True


@dataclass
class Item:
    sku: str
    price: float


@dataclass
class Book:
    isbn: str
    title: str
    price: float = 0.0


def build_shop() -> Adapter:
    """The adapter."""
    shop = Adapter("shop", "A shop")

    @shop.read
    async def get_order(number: int, view: str = "short") -> None:
        """One order."""

    @shop.delete
    async def delete_order(number: int, status: Literal["open", "closed"] = "open", reason: str | None = None) -> None:
        """Delete an order."""

    @shop.delete
    async def delete_draft(number: int) -> None:
        """Delete a draft."""

    @shop.create
    async def create_refund(
        number: int,
        amount: Decimal,
        address: Address | None = None,
        items: list[Item] | None = None,
        tags: list[str] | None = None,
        due: datetime | None = None,
        ticket: UUID | str | None = None,
        extra: Any = None,
        notify: bool = True,
    ) -> None:
        """Give money back."""

    @shop.update
    async def update_order(number: int, input: Patch[Item]) -> None:  # noqa: A002
        """Change an order."""

    @shop.execute
    async def purge_orders(before: date) -> None:
        """Remove all old orders for good."""

    shop.collection(Book, key="isbn", items=[Book("1", "One")])
    return shop
