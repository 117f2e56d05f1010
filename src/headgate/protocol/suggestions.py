"""The nearest known names to one that is not known."""

from collections.abc import Iterable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

__all__ = ["did_you_mean", "nearest"]

_LONGEST_SENSIBLE = 80


def nearest(name: str, known: Sequence[str], most: int = 3) -> list[str]:
    """The known names that a person may have meant, the best first; none if nothing is near."""
    if len(name) > _LONGEST_SENSIBLE:
        return []
    wanted = name.lower()
    found = process.extract(wanted, known, scorer=JaroWinkler.similarity, score_cutoff=0.8, limit=most * 3)
    ranked = sorted((DamerauLevenshtein.distance(wanted, candidate), candidate) for candidate, _, _ in found)
    return [candidate for distance, candidate in ranked if distance <= max(3, len(wanted) // 2)][:most]


def did_you_mean(names: Iterable[str]) -> str:
    """The question to add to a message, or nothing."""
    quoted = [f"'{name}'" for name in names]
    return f". Did you mean {' or '.join(quoted)}?" if quoted else ""
