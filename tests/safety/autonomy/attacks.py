"""Hints of a hostile or careless agent that must wait for a person, by what they try: ``attacks.tsv``."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Attack", "attacks"]


@dataclass(frozen=True, slots=True)
class Attack:
    """One hint, and what it tries."""

    family: str
    hint: str


@cache
def attacks() -> tuple[Attack, ...]:
    """All of them."""
    lines = Path(__file__).with_name("attacks.tsv").read_text("utf-8").splitlines()[1:]
    pairs = (line.split("\t", 1) for line in lines)
    return tuple(Attack(family, json.loads(hint)) for family, hint in pairs)
