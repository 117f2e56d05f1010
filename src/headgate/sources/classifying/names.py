"""What the name of a tool says: the verb that acts, wherever it stands."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.protocol.names import camel_to_snake
from headgate.safety.danger import PATTERNS
from headgate.sources.classifying.values import Evidence, Risk, Witness
from headgate.sources.classifying.verbs import (
    BEGINNINGS,
    IDIOMS,
    NOUNS,
    READING_NOUNS,
    STRONG,
    VERBS,
    Strength,
    Verb,
)

__all__ = ["evidence_of_name", "words_of"]

_LONGEST: Final = 256
"""Characters of a name that are read; no honest one is longer."""

_WORD: Final = re.compile(r"[^\W_]+")
_JOINING: Final = frozenset({"and", "or", "then", "n"})
_WEIGHTS: Final = {Strength.FIRM: 0.8, Strength.LOOSE: 0.6, Strength.MILD: 0.5, Strength.FAINT: 0.3}
_NOUN: Final = 0.4
_BEHIND: Final = 0.4
_AMONG: Final = 0.3
_PATTERN: Final = 0.9
_WARNING: Final = frozenset({"unsafe", "dangerously", "dangerous"})
_ENDINGS: Final = re.compile(r"(r|rs|d|s|able|ions?|ment|al)\Z")
"""What makes something else of a verb that a word begins with: ``updated``, ``executor``."""


def words_of(name: str) -> list[str]:
    """The words of a name in any spelling: ``createIssue``, ``issue.create``, ``API-post-page``."""
    plain = unicodedata.normalize("NFKC", name[:_LONGEST])
    return _WORD.findall(camel_to_snake(plain))


def evidence_of_name(name: str) -> Iterator[Evidence | Risk]:
    """What the verbs of a name speak for, and how dangerous such names are (Danger Levels 5)."""
    words = words_of(name)
    yield from _patterns(words)
    yield from (Risk(Witness.NAME, DangerLevel.DANGEROUS, _PATTERN, f"'{one}'") for one in words if one in _WARNING)
    if len(name) > _LONGEST:
        yield Evidence(Witness.NAME, None, _BEHIND, "it is too long to be a name")
    tokens = list(_without_idioms(words))
    for joins, clause in groupby(tokens, _JOINING.__contains__):
        if not joins:
            yield from _of_clause(list(clause))
    yield from _joined(tokens)


def _patterns(words: Sequence[str]) -> Iterator[Risk]:
    """The patterns of the whole name hold as they are; behind a namespace, such as ``mysql_``, they have it asked."""
    for start in range(len(words)):
        name = "_".join(words[start:])
        for level in (DangerLevel.DANGEROUS, DangerLevel.FORBIDDEN):
            pattern = next((one for one in PATTERNS[level] if fnmatchcase(name, one)), None)
            if pattern:
                held = level if start == 0 else DangerLevel.DESTRUCTIVE
                yield Risk(Witness.NAME, held, _PATTERN, f"'{pattern}'")


def _without_idioms(words: Sequence[str]) -> Iterator[str]:
    """The words, with those that mean something else together put as what they mean."""
    place = 0
    while place < len(words):
        length = next((size for size in (3, 2) if tuple(words[place : place + size]) in IDIOMS), 1)
        meant = IDIOMS.get(tuple(words[place : place + length])) if length > 1 else words[place]
        if meant:
            yield meant
        place += length


def _of_clause(tokens: Sequence[str]) -> Iterator[Evidence | Risk]:
    verbs = [(place, VERBS[token]) for place, token in enumerate(tokens) if _is_verb(token, place, len(tokens))]
    firm = next(((place, verb) for place, verb in verbs if verb.strength is Strength.FIRM), None)
    yield from _hidden(tokens)
    if firm:
        yield from _told(firm[1])
        yield from _beside(firm[0], verbs, is_last=firm[0] == len(tokens) - 1)
    elif verbs:
        for _, verb in verbs:
            yield from _told(verb)
    else:
        noun = next((token for token in reversed(tokens) if token in READING_NOUNS), None)
        if noun:
            yield Evidence(Witness.NAME, Category.READ, _NOUN, f"'{noun}'")


def _joined(tokens: Sequence[str]) -> Iterator[Evidence]:
    """What is joined to a verb is a verb as well, and one that nobody knows may do anything: ``read_and_burn``."""
    for verb, joining, other in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if joining in _JOINING and verb in VERBS and other not in VERBS:
            yield Evidence(Witness.NAME, None, _AMONG, "a verb that is not known")


def _is_verb(token: str, place: int, length: int) -> bool:
    """Some verbs are nouns where they end a name that has more words."""
    return token in VERBS and not (token in NOUNS and 0 < place == length - 1)


def _told(verb: Verb) -> Iterator[Evidence | Risk]:
    yield Evidence(Witness.NAME, verb.category, _WEIGHTS[verb.strength], f"'{verb.word}'")
    if verb.level is not DangerLevel.SAFE:
        yield Risk(Witness.NAME, verb.level, _WEIGHTS[verb.strength], f"'{verb.word}'")


def _beside(acting: int, verbs: Sequence[tuple[int, Verb]], *, is_last: bool) -> Iterator[Evidence]:
    """What other verbs say beside the one that acts: mostly they are nouns there, as in ``get_commit``."""
    for place, verb in verbs:
        if place == acting or verb.category is Category.READ:
            continue
        if place == 0 and not is_last:
            yield Evidence(Witness.NAME, verb.category, _BEHIND, f"'{verb.word}' before it")
        elif place > acting and verb.word in STRONG:
            yield Evidence(Witness.NAME, verb.category, _BEHIND, f"'{verb.word}' behind it")
        elif place > acting and verb.strength is Strength.FIRM:
            yield Evidence(Witness.NAME, verb.category, _AMONG, f"'{verb.word}' behind it")


def _hidden(tokens: Sequence[str]) -> Iterator[Evidence]:
    """Verbs that begin a word which is written in one with others."""
    for token in tokens:
        found = next((one for one in BEGINNINGS if token.startswith(one) and token != one), None)
        if found and not _ENDINGS.match(token.removeprefix(found)):
            yield Evidence(Witness.NAME, VERBS[found].category, _WEIGHTS[Strength.LOOSE], f"'{found}' in a longer word")
