"""What a fault of the museum is."""

from dataclasses import dataclass

__all__ = ["Defect"]


@dataclass(frozen=True, slots=True)
class Defect:
    """One way to break the specification."""

    id: str
    sentence: str
    section: str
    check: str
    """The id of the check that is meant to find it."""
