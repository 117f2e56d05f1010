"""A program that has nothing of headgate, of which every count is a multiple.

What another build of Python does with more or fewer instructions, it does so here too.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["reference"]

_ROUNDS: Final = 200


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    number: int

    def wire(self) -> dict[str, Any]:
        return {"name": self.name, "number": self.number, "is_even": self.number % 2 == 0}


class _Odd(Exception):
    pass


def reference() -> int:
    """What interpreted programs do: calls, attributes, dictionaries, texts, exceptions, JSON."""
    total = 0
    for number in range(_ROUNDS):
        items = [_Item(f"item {number} {place}", number + place) for place in range(5)]
        found = {item.name: item for item in items}
        for item in found.values():
            try:
                total += _half(item)
            except _Odd:
                total += len(json.loads(json.dumps(item.wire())))
    return total


def _half(item: _Item) -> int:
    if item.number % 2:
        raise _Odd
    return item.number // 2
