"""What headgate takes the tools for, beside what they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.adapter.adapter import Adapter
from headgate.adapter.origins import Origin
from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.curation import Curation
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.source import mcp_operations
from tests.upstreams.labels import LABELS, Label
from tests.upstreams.listings import Tools

__all__ = ["Row", "Score", "adapter_of", "rows_of", "score_of"]


@dataclass(frozen=True, slots=True)
class Row:
    """A tool, what it was taken for and why, and what it is."""

    server: str
    origin: Origin
    label: Label

    @property
    def category(self) -> Category:
        """What it was taken for."""
        return Category(self.origin.category.value)

    @property
    def danger(self) -> DangerLevel:
        """How dangerous it was taken for."""
        return DangerLevel(self.origin.danger.value)

    @property
    def category_is_right(self) -> bool:
        """Whether the category is one that can be defended."""
        return self.category in self.label.categories

    @property
    def danger_is_right(self) -> bool:
        """Whether the danger is one that can be defended."""
        return self.danger in self.label.dangers

    @property
    def is_played_down(self) -> bool:
        """Whether it is taken for less dangerous than anybody could say."""
        levels = list(DangerLevel)
        return levels.index(self.danger) < min(levels.index(level) for level in self.label.dangers)

    @property
    def is_changing_read(self) -> bool:
        """Whether something that changes state was taken for reading: what must never be."""
        return self.category is Category.READ and self.label.changes_something


@dataclass(frozen=True, slots=True)
class Score:
    """How often the classification is right."""

    tools: int
    category: int
    best_category: int
    danger: int
    played_down: int
    changing_reads: int
    for_review: int


def adapter_of(server: str, tools: Tools) -> Adapter:
    """The adapter that a server's tools become."""
    adapter = Adapter(server, version="0")
    for operation in mcp_operations(Capture(tuple(tools.values())), server, _never, Curation()):
        adapter.add(operation)
    return adapter


async def _never(*_: Any) -> object:
    raise AssertionError("nothing is called to classify")


def rows_of(server: str, tools: Tools, labels: Mapping[str, Label] | None = None) -> list[Row]:
    """The tools of a server, classified, beside their labels."""
    known = LABELS[server] if labels is None else labels
    origins = [operation.origin for operation in adapter_of(server, tools).operations.values()]
    return [Row(server, origin, known[origin.own_name]) for origin in origins if origin is not None]


def score_of(rows: Sequence[Row]) -> Score:
    """The score over some rows."""
    return Score(
        tools=len(rows),
        category=sum(row.category_is_right for row in rows),
        best_category=sum(row.category is row.label.categories[0] for row in rows),
        danger=sum(row.danger_is_right for row in rows),
        played_down=sum(row.is_played_down for row in rows),
        changing_reads=sum(row.is_changing_read for row in rows),
        for_review=sum(row.origin.needs_review for row in rows),
    )
