"""Search over operations: words to names, ranked by BM25 over name, description and parameters."""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.names import SYNONYMS, singular

__all__ = ["SearchIndex"]

_WORD: Final = re.compile(r"[^\W_]+")
_K1: Final = 1.2
_B: Final = 0.75
_NAME_WEIGHT: Final = 4
_SYNONYM_WEIGHT: Final = 0.5
_STOP_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "by",
        "for",
        "from",
        "how",
        "i",
        "in",
        "is",
        "it",
        "my",
        "of",
        "on",
        "or",
        "the",
        "this",
        "to",
        "with",
    ]
)


class SearchIndex:
    """An inverted index, built once; a query touches only the operations that share a word with it."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for position, operation in enumerate(self._operations):
            counts = Counter(_words_of(operation))
            lengths.append(counts.total())
            for word, count in counts.items():
                self._postings[word].append((position, count))
        average = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._norms = [_K1 * (1 - _B + _B * length / average) for length in lengths]

    def search(self, text: str, most: int) -> list[Operation]:
        """The operations that match best, at most so many; any word may match."""
        scores: dict[int, float] = defaultdict(float)
        for word, weight in _query(text).items():
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._operations) - len(postings) + 0.5) / (len(postings) + 0.5))
            for position, count in postings:
                scores[position] += weight * rarity * count * (_K1 + 1) / (count + self._norms[position])
        best = heapq.nsmallest(most, scores.items(), key=lambda item: (-item[1], item[0]))
        return [self._operations[position] for position, _ in best]


def _query(text: str) -> dict[str, float]:
    """The words of a query, with the canonical verb beside each of its synonyms."""
    words: dict[str, float] = {}
    for word in _words(text):
        words[word] = 1.0
        if word in SYNONYMS:
            words.setdefault(SYNONYMS[word], _SYNONYM_WEIGHT)
    return words


def _words_of(operation: Operation) -> Iterator[str]:
    for word in _words(operation.name):
        yield from [word] * _NAME_WEIGHT
    yield from _words(f"{operation.source} {operation.group}")
    yield from _words(operation.description or operation.summary)
    for parameter in operation.parameters:
        yield from _words(parameter.name)
        yield from _words(parameter.description)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold().replace("_", " ")):
        if word not in _STOP_WORDS:
            yield singular(word)
