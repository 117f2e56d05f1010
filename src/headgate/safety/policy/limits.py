"""How much there may be of something: limits of an API, quotas, and what calls cost (Rate Limiting 2, 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.categories import Category
from headgate.safety.decisions import Who
from headgate.safety.policy.patterns import ANYTHING, Patterns

__all__ = ["MICRO", "WINDOWS", "ApiLimit", "Measure", "Price", "Quota", "price_of"]

WINDOWS: Final[Mapping[str, float]] = {
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86400.0,
    "month": 30 * 86400.0,
}
"""The length of a window in seconds. A month is any 30 days."""

MICRO: Final = 1_000_000
"""Costs are counted in millionths, so that sums are exact."""


class Measure(StrEnum):
    """What a quota counts."""

    REQUESTS = "requests"
    TOKENS = "tokens"
    COST = "cost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimit:
    """How many calls a window may hold: of everything, of operations by name, or of one category."""

    limit: int
    window: str
    operations: Patterns = ANYTHING
    category: Category | None = None
    source: str = ""
    """The one source that it is for."""

    def concerns(self, operation: Operation) -> bool:
        """Whether calls of an operation count."""
        is_from = self.source in ("", operation.source)
        return is_from and self.category in (None, operation.category) and self.operations.match(*operation.known_as)

    @property
    def scope(self) -> str:
        """What it covers, in the words of the specification."""
        return "category" if self.category else "endpoint" if self.operations.given else "global"

    @property
    def key(self) -> str:
        """What tells its counter from others."""
        covered = self.category or ",".join(self.operations.given) or "*"
        return f"{_of(self.source)}{self.scope}:{covered}:{self.window}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much of something a window may hold before there is a warning, a pause, and an end.

    Amounts are in millionths where they are costs.
    """

    measure: Measure
    window: str
    warn: int
    pause: int | None = None
    hard_stop: int | None = None
    operations: Patterns = ANYTHING
    per_caller: bool = False
    currency: str = ""
    who: Who = Who.CLIENT
    source: str = ""
    """The one source that it is for."""

    def concerns(self, operation: Operation) -> bool:
        """Whether calls of an operation count."""
        return self.source in ("", operation.source) and self.operations.match(*operation.known_as)

    @property
    def metric(self) -> str:
        """Its name, such as ``requests_per_hour``."""
        return f"{self.measure}_per_{self.window}"

    def shown(self, amount: int) -> float | int:
        """An amount as people write it."""
        return amount / MICRO if self.measure is Measure.COST else amount

    @property
    def key(self) -> str:
        """What tells its counter from others."""
        return f"{_of(self.source)}{self.metric}:{','.join(self.operations.given) or '*'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one call of some operations costs, in millionths."""

    operations: Patterns
    cost: int


def price_of(prices: tuple[Price, ...], *names: str) -> int:
    """What a call costs: by the last price that matches, so that a special one follows the general."""
    return next((price.cost for price in reversed(prices) if price.operations.match(*names)), 0)


def _of(source: str) -> str:
    return f"source:{source}:" if source else ""
