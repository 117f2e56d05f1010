"""Where an operation of a foreign source comes from, and how sure it is what is said of it (Discovery Bundle)."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Inferred", "Origin", "Provenance"]


class Provenance(StrEnum):
    """How a value came about."""

    DIRECT = "direct_source_metadata"
    NORMALIZED = "deterministic_normalization"
    HEURISTIC = "heuristic_classification"
    OVERRIDE = "manual_override"


@dataclass(frozen=True, slots=True)
class Inferred:
    """A value that the source did not say in these words, with what speaks for it."""

    value: str
    confidence: float
    provenance: Provenance
    evidence: tuple[str, ...] = ()

    def wire(self) -> dict[str, object]:
        """As exports and introspection show it."""
        return {
            "value": self.value,
            "confidence": self.confidence,
            "provenance": self.provenance.value,
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What an operation is called where it comes from, and how its category and danger were told.

    ``maps_to`` is the request that it becomes there, such as ``TOOL create_issue`` or ``POST /issues``.
    """

    own_name: str
    maps_to: str
    category: Inferred
    danger: Inferred
    needs_review: bool = False

    def wire(self) -> dict[str, object]:
        """As introspection shows it."""
        return {
            "own_name": self.own_name,
            "maps_to": self.maps_to,
            "category": self.category.wire(),
            "danger": self.danger.wire(),
            **({"needs_review": True} if self.needs_review else {}),
        }
