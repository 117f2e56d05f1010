"""How requests may overlap (Spec 9.3.1)."""

from enum import StrEnum

__all__ = ["Concurrency"]


class Concurrency(StrEnum):
    """The four categories of the specification."""

    SERIALIZED = "serialized"
    READ_CONCURRENT = "read-concurrent"
    FULLY_CONCURRENT = "fully-concurrent"
    RESOURCE_LOCKED = "resource-locked"
