"""How texts are counted in tokens: exactly where o200k is installed, else by the estimate for descriptions."""

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson

from headgate.protocol.tokens import estimate

__all__ = ["Counter", "compact", "exact_counter", "installed_counter", "pieces"]

_MOST_AT_ONCE: Final = 40_000
"""So many characters are never more tokens than the package counts at once, which are 200,000."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of what a model reads."""

    of_text: Callable[[str], int]
    is_exact: bool

    def of(self, value: object) -> int:
        """The tokens of a value as compact JSON."""
        return self.of_text(compact(value))

    def of_tools(self, tools: Iterable[Mapping[str, Any]]) -> int:
        """The tokens of the whole array that ``tools/list`` answers with."""
        return self.of(list(tools))


def compact(value: object) -> str:
    """A value as JSON without spaces; numbers of any length too, which foreign schemas may have."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:
        return json.dumps(value, default=str, separators=(",", ":"))


def exact_counter() -> Counter:
    """Counts with o200k. Without its package, an ImportError."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the package opens its data in a way that Python is leaving
        import bpe_openai  # type: ignore[import-untyped]  # noqa: PLC0415  (optional, and two seconds)

        encoding = bpe_openai.get_encoding("o200k_base")
    return Counter(
        lambda text: sum(len(encoding.encode_ordinary(piece)) for piece in pieces(text, _MOST_AT_ONCE)), is_exact=True
    )


def pieces(text: str, most: int) -> Iterator[str]:
    """A text in pieces of so many characters at the most, which have as many tokens together as the whole.

    o200k first cuts a text into words, and none goes on from a letter or digit to a sign or space, but for an
    apostrophe. Only a single word that is longer than a piece is cut where it should not be.
    """
    return (found.group() for found in _piece(most).finditer(text))


@lru_cache(maxsize=4)
def _piece(most: int) -> re.Pattern[str]:
    return re.compile(rf"(?s:.{{1,{most}}})(?<=[A-Za-z0-9])(?=[ -&(-/:-@\[-`{{-~])|(?s:.{{1,{most}}})")


def installed_counter() -> Counter:
    """The best that there is here."""
    try:
        return exact_counter()
    except ImportError:
        return Counter(estimate, is_exact=False)
