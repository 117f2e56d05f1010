"""Semantic Evaluation: whether operations are found by what people say."""

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.survey import INTROSPECT, SeenOperation
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_MOST: Final = 40
_AMONG: Final = 3
_SEARCH: Final = "search"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s|\n")
_EMPTY_WORDS: Final = frozenset(
    {
        *("a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "without", "and", "or", "not"),
        *("is", "are", "be", "it", "its", "this", "that", "these", "those", "all", "any", "one", "which", "what"),
        *("where", "when", "who", "how", "as", "into", "if", "than", "then", "them", "they", "their", "you", "your"),
    }
)


@check(
    "discoverability.search-finds",
    "Words that people use for an operation lead to it.",
    section="specification 7.1",
    demand=Demand.SHOULD,
    area=Area.SEMANTIC,
    level=2,
    how="Takes the words that the fixtures give for an operation, else those of the first sentence of its description. "
    "With a server that searches ('search' among the queries of 'introspect'), the operation is expected among the "
    "first three that are found. With any other, the words are counted in the names and descriptions of all "
    "operations, as somebody who reads the list would: it is a finding if none of the words of the fixtures occurs "
    "there, or three others have more of them; or if three others have all the words of a description.",
    proves=(),
)
async def search_finds(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody has to know an operation's name."""
    searches = _has_search(probe)
    for operation in spread(probe.operations, _MOST):
        for phrase in _phrases(probe, operation):
            finding = await (_searched(probe, operation, phrase) if searches else _read(probe, operation, phrase))
            if finding is not None:
                yield finding


def _has_search(probe: Probe) -> bool:
    """Whether ``introspect`` says that it searches."""
    introspect = probe.survey.operations.get(INTROSPECT)
    query = introspect.parameter("query") if introspect is not None else None
    if query is None:
        return False
    known = query.raw.get("enum")
    return _SEARCH in known if isinstance(known, list) else f"'{_SEARCH}'" in query.description


def _phrases(probe: Probe, operation: SeenOperation) -> tuple[str, ...]:
    given = probe.options.fixtures.words.get(operation.name)
    if given:
        return tuple(given)
    sentence = _SENTENCE.split(operation.description.strip())[0].replace(operation.name, " ")
    words = [word for word in re.findall(r"[^\W\d_]+", sentence) if word.lower() not in _EMPTY_WORDS]
    return (" ".join(words),) if words else ()


async def _searched(probe: Probe, operation: SeenOperation, phrase: str) -> Finding | None:
    exchange = await probe.introspect(_SEARCH, phrase)
    if not exchange.succeeded:
        return None
    found = _names_in(exchange)
    if operation.name in found[:_AMONG]:
        return holds(operation.name, exchange)
    instead = f"the first are {', '.join(map(repr, found[:_AMONG]))}" if found else "nothing is found"
    words = f"'{operation.name}' is not among the first {_AMONG} for '{phrase}': {instead}"
    return broken(operation.name, words, exchange)


def _names_in(exchange: Exchange) -> list[str]:
    """The operations that a search gave, in its order."""
    data = exchange.data
    if isinstance(data, Mapping):
        data = next((value for value in data.values() if isinstance(value, list)), [])
    entries = data if isinstance(data, list) else []
    names = [entry.get("name", entry.get("operation")) if isinstance(entry, Mapping) else entry for entry in entries]
    return [name for name in names if isinstance(name, str)]


async def _read(probe: Probe, operation: SeenOperation, phrase: str) -> Finding | None:
    """Whether the list of operations leads to one, as far as its words go."""
    wanted = _terms(phrase)
    texts = {one.name: _terms(f"{one.name} {one.description}") for one in probe.survey.operations.values()}
    fits = {name: len(wanted & terms) for name, terms in texts.items()}
    own = fits.pop(operation.name)
    fits.pop(INTROSPECT, None)
    given = operation.name in probe.options.fixtures.words
    words = (_not_led_to if given else _not_set_apart)(operation.name, phrase, own, fits)
    return broken(operation.name, words, probe.survey.operations_answer) if words else holds(operation.name)


def _not_led_to(name: str, phrase: str, own: int, others: Mapping[str, int]) -> str:
    """Why words that people use do not lead to an operation: others have more of them, or nothing has any."""
    better = sorted((one for one in others if others[one] > own), key=lambda one: -others[one])
    if not own and not better:
        return f"none of the words of '{phrase}' occurs in any name or description; those of '{name}' should have some"
    if not own:
        instead = f"they fit {_listed(better)}"
        return f"none of the words of '{phrase}' occurs in the name or the description of '{name}'; {instead}"
    return f"'{phrase}' fits {_listed(better)} better than '{name}'" if len(better) >= _AMONG else ""


def _not_set_apart(name: str, phrase: str, own: int, others: Mapping[str, int]) -> str:
    """Why a description does not tell its operation from the others."""
    as_good = [one for one in others if others[one] >= own]
    if len(as_good) < _AMONG:
        return ""
    return f"'{phrase}' fits {_listed(as_good)} as well as '{name}'; its description does not set it apart"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in list(names)[:_AMONG])


def _terms(text: str) -> frozenset[str]:
    """The words of a text in small letters, without the s of a plural."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return frozenset(word.removesuffix("s") for word in words if word not in _EMPTY_WORDS)
