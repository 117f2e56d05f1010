"""English words for one and for many, as tables and collections are named."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["plural", "singular"]

_ALIKE: Final = frozenset(
    {
        "aircraft",
        "cattle",
        "chassis",
        "content",
        "data",
        "deer",
        "dna",
        "equipment",
        "evidence",
        "feedback",
        "fish",
        "furniture",
        "gear",
        "hardware",
        "headquarters",
        "information",
        "jeans",
        "luggage",
        "media",
        "metadata",
        "money",
        "moose",
        "music",
        "news",
        "offspring",
        "police",
        "research",
        "rice",
        "salmon",
        "series",
        "sheep",
        "shrimp",
        "software",
        "species",
        "staff",
        "swine",
        "traffic",
        "training",
        "trousers",
        "weather",
    }
)
"""Words that are the same for one and for many, or that nobody counts."""

_NO_NOUNS: Final = frozenset(
    {"active", "all", "archived", "combined", "current", "detailed", "extended", "latest", "qry", "recent", "today"}
)
"""What the names of views end in that has no plural, such as order_details_extended."""

_IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "alumnus": "alumni",
        "appendix": "appendices",
        "axis": "axes",
        "bacterium": "bacteria",
        "brownie": "brownies",
        "cache": "caches",
        "calf": "calves",
        "calorie": "calories",
        "child": "children",
        "cookie": "cookies",
        "corpus": "corpora",
        "criterion": "criteria",
        "curriculum": "curricula",
        "die": "dice",
        "echo": "echoes",
        "elf": "elves",
        "excuse": "excuses",
        "foot": "feet",
        "fuse": "fuses",
        "goose": "geese",
        "half": "halves",
        "headache": "headaches",
        "hero": "heroes",
        "index": "indices",
        "knife": "knives",
        "leaf": "leaves",
        "life": "lives",
        "loaf": "loaves",
        "louse": "lice",
        "man": "men",
        "matrix": "matrices",
        "mouse": "mice",
        "movie": "movies",
        "niche": "niches",
        "ox": "oxen",
        "person": "people",
        "phenomenon": "phenomena",
        "pie": "pies",
        "potato": "potatoes",
        "quiz": "quizzes",
        "radius": "radii",
        "scarf": "scarves",
        "self": "selves",
        "selfie": "selfies",
        "shelf": "shelves",
        "shoe": "shoes",
        "stimulus": "stimuli",
        "thief": "thieves",
        "tie": "ties",
        "toe": "toes",
        "tomato": "tomatoes",
        "tooth": "teeth",
        "use": "uses",
        "vertex": "vertices",
        "veto": "vetoes",
        "wife": "wives",
        "wolf": "wolves",
        "woman": "women",
        "zombie": "zombies",
    }
)
_ALSO: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{word + "s": word for word in ("api", "cpu", "emoji", "gpu", "guru", "kpi", "menu", "sku", "taxi", "wiki")},
        "persons": "person",
        "uris": "uri",
    }
)
"""Other plurals that are in use, and those whose endings deceive."""

_COMPOUNDS: Final = ("person", "child", "woman", "man", "life", "shelf", "foot", "tooth")
"""Words that others end in: salesperson, bookshelf."""

_NO_COMPOUNDS: Final = frozenset({"abdomen", "acumen", "german", "human", "omen", "regimen", "roman", "specimen"})
_ENDS_IN_S: Final = frozenset(
    {
        "alias",
        "always",
        "atlas",
        "bias",
        "canvas",
        "chaos",
        "christmas",
        "cosmos",
        "ethos",
        "gas",
        "kudos",
        "lens",
        "texas",
        "thermos",
    }
)
"""Words for one that end as those for many do, beyond those in -ss, -us and -is."""

_MANY: Final = (
    ("sis", "ses"),
    *((f"{vowel}y", f"{vowel}ys") for vowel in "aeiou"),
    ("y", "ies"),
    *((ending, f"{ending}es") for ending in ("s", "x", "z", "ch", "sh")),
    ("", "s"),
)
_ONE: Final = (
    *((ending, ending) for ending in ("ss", "us", "is")),
    *((f"{ending}es", f"{ending}is") for ending in ("lys", "rys", "thes", "cris", "gnos", "oas")),
    *((f"{word}es", word) for word in sorted(_ENDS_IN_S)),
    *((f"{ending}s", ending) for ending in ("ouse", "ause")),
    *((f"{ending}es", ending) for ending in ("ss", "us", "ch", "sh", "x", "zz")),
    ("ies", "y"),
    ("s", ""),
)
"""Endings for many and for one, in the order in which they are tried."""

_SHORTEST_PLURAL: Final = 3
_SINGULARS: Final[Mapping[str, str]] = MappingProxyType({**{many: one for one, many in _IRREGULAR.items()}, **_ALSO})
_NOUN: Final = re.compile(
    r"(?P<before>.*?)(?P<noun>[a-z]+)(?P<after>[0-9_]*(?:(?<=_)(?:above|below|by|for|from|in|of|on|per|to|with)_.+)?)\Z"
)


def plural(name: str) -> str:
    """The words for many, of a snake_case name that stands for one: ``order_detail``, ``bill_of_materials``."""
    return _with_noun(name, _many)


def singular(name: str) -> str:
    """The words for one, of a snake_case name. One that already stands for one is left as it is."""
    return _with_noun(name, _one)


def _with_noun(name: str, change: Callable[[str], str]) -> str:
    """The noun is the last word, or the one before a preposition. Numbers after it are left alone: ``orders_2024``."""
    match = _NOUN.match(name)
    return match["before"] + change(match["noun"]) + match["after"] if match else name


def _many(word: str) -> str:
    if word in _ALIKE | _NO_NOUNS:
        return word
    return _IRREGULAR.get(word) or _compound(word, _COMPOUND_MANY) or _by_ending(word, _MANY)


def _one(word: str) -> str:
    if word in _ALIKE | _NO_NOUNS or word in _ENDS_IN_S or len(word) < _SHORTEST_PLURAL:
        return word
    return _SINGULARS.get(word) or _compound(word, _COMPOUND_ONE) or _by_ending(word, _ONE)


_COMPOUND_MANY: Final = tuple((one, _IRREGULAR[one]) for one in _COMPOUNDS)
_COMPOUND_ONE: Final = tuple((_IRREGULAR[one], one) for one in _COMPOUNDS)


def _compound(word: str, endings: tuple[tuple[str, str], ...]) -> str | None:
    changed = None if word in _NO_COMPOUNDS else _by_ending(word, endings)
    return changed if changed != word else None


def _by_ending(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    return next((word.removesuffix(end) + instead for end, instead in endings if word.endswith(end)), word)
