"""How texts are counted in tokens: exactly where o200k is installed, else by the estimate for descriptions."""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.protocol.tokens import estimate

__all__ = ["Counter", "compact", "exact_counter", "installed_counter"]


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
    return Counter(lambda text: len(encoding.encode_ordinary(text)), is_exact=True)


def installed_counter() -> Counter:
    """The best that there is here."""
    try:
        return exact_counter()
    except ImportError:
        return Counter(estimate, is_exact=False)
