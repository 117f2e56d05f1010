"""Small adapters, and sources that do as they are told."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from headgate.adapter.adapter import Adapter
from headgate.adapter.functions import TRYING
from headgate.adapter.operations import Operation
from headgate.protocol.categories import Category
from headgate.sources.gate.specs import SourceKind, SourceSpec

__all__ = ["Told", "adapter", "operation", "spec"]


def operation(name: str, category: Category = Category.READ, *, said: object = None, **more: Any) -> Operation:
    """An operation that answers with its own name, or what it is told."""

    async def answer(**_values: object) -> object:
        return name if said is None else said

    trying = () if category is Category.READ else (TRYING,)
    return Operation(
        name,
        category,
        answer,
        parameters=(*more.pop("parameters", ()), *trying),
        summary=more.pop("summary", f"What {name} is for."),
        tries_nothing=bool(trying),
        **more,
    )


def adapter(name: str, *operations: str | Operation, **more: Any) -> Adapter:
    """An adapter of these operations; those that are only named read, or delete if they say so."""
    made = Adapter(name, **more)
    for one in operations:
        if isinstance(one, str):
            deletes = one.startswith(("delete", "drop"))
            one = operation(one, Category.DELETE if deletes else Category.READ, said=f"{name}: {one}")  # noqa: PLW2901
        made.add(one)
    return made


def spec(name: str, **more: Any) -> SourceSpec:
    return SourceSpec(name=name, kind=more.pop("kind", SourceKind.MODULE), **more)


@dataclass
class Told:
    """A source that opens, fails and changes when a test says so."""

    name: str
    answers: list[Callable[[], Adapter]] = field(default_factory=list)
    """What ``open`` does each time; the last one stays."""
    held: anyio.Event | None = None
    """What it waits for before it opens."""
    opened: int = 0
    closed: bool = False
    news: list[Adapter | Exception] = field(default_factory=list)
    has_news: anyio.Event = field(default_factory=anyio.Event)

    async def open(self) -> Adapter:
        self.opened += 1
        if self.held is not None:
            await self.held.wait()
        answer = self.answers[min(self.opened, len(self.answers)) - 1]
        return answer()

    async def changes(self) -> AsyncIterator[Adapter]:
        while True:
            await self.has_news.wait()
            self.has_news = anyio.Event()
            while self.news:
                one = self.news.pop(0)
                if isinstance(one, Exception):
                    raise one
                yield one

    def tell(self, *news: Adapter | Exception) -> None:
        """Have it change."""
        self.news += news
        self.has_news.set()

    async def close(self) -> None:
        self.closed = True
