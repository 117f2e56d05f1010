"""The five semantic categories of operations and what each may do (Spec 6.1, 8.1)."""

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["Category", "is_destructive", "is_read_only"]


class Category(StrEnum):
    """The effect of an operation on stored state (Spec 9.1)."""

    CREATE = "CREATE"
    READ = "READ"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    EXECUTE = "EXECUTE"

    @property
    def read_only(self) -> bool:
        """Whether operations of this category leave everything as it was."""
        return self is Category.READ

    @property
    def destructive(self) -> bool:
        """Whether operations of this category may overwrite or remove something."""
        return self in _DESTRUCTIVE

    @property
    def meaning(self) -> str:
        """The category in a few words, for people and models."""
        return _MEANING[self]


_DESTRUCTIVE = frozenset({Category.UPDATE, Category.DELETE, Category.EXECUTE})
_MEANING = {
    Category.CREATE: "Additive operations",
    Category.READ: "Query operations",
    Category.UPDATE: "Modification operations",
    Category.DELETE: "Removal operations",
    Category.EXECUTE: "Runtime lifecycle operations",
}


def is_read_only(categories: Iterable[Category]) -> bool:
    """Whether a tool with operations of all these categories can change nothing."""
    return all(category.read_only for category in categories)


def is_destructive(categories: Iterable[Category]) -> bool:
    """Whether a tool with operations of all these categories can overwrite or remove: the riskiest decides."""
    return any(category.destructive for category in categories)
