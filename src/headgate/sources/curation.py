"""What an operator says of the operations of a source: which are offered, and as what."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from headgate.adapter.operations import Operation
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger

__all__ = ["Choice", "Curation", "curated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is said of one operation; what is left out stays as the source has it."""

    name: str | None = None
    category: Category | None = None
    danger: Danger | None = None
    description: str | None = None
    group: str | None = None
    hide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """What is said of a source's operations."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    operations: Mapping[str, Choice] = field(default_factory=dict)

    def picks(self, name: str, own_name: str) -> bool:
        """Whether an operation is offered."""
        names = (name, own_name)
        is_in = not self.include or any(fnmatchcase(one, pattern) for one in names for pattern in self.include)
        is_out = any(fnmatchcase(one, pattern) for one in names for pattern in self.exclude)
        choice = self.choice(name, own_name)
        return is_in and not is_out and not (choice is not None and choice.hide)

    def choice(self, name: str, own_name: str) -> Choice | None:
        """What is said of one operation."""
        return self.operations.get(name) or self.operations.get(own_name)


def curated(operation: Operation, choice: Choice) -> Operation:
    """The operation as the operator wants it, except for its category, which shapes it."""
    return replace(
        operation,
        name=choice.name or operation.name,
        danger=choice.danger or operation.danger,
        summary=choice.description or operation.summary,
        description=choice.description or operation.description,
        group=choice.group or operation.group,
        checked=True,
    )
