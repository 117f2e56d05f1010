"""Collections: what operations that list, search and query declare."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Final

from headgate.conformance.listing import Listing, collection_operations, listings, page_in, with_items
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_SHARED: Final = (
    *("fields", "filter", "sort", "aggregate", "include_items", "first", "after", "last", "before"),
    *("limit", "offset", "page", "page_size", "query"),
)
_PAGING: Final = ("first", "last", "limit", "offset", "page", "page_size")
_NEXT: Final = {"pageInfo": ("after",), "pagination": ("offset", "page")}
_WORDS_FOR: Final = {
    "filter": r"filter",
    "sort": r"sort|order",
    "paging": r"\bpag(e|es|ed|ing|ination)\b|all at once",
    "fields": r"\bfield|select",
}
"""How a description mentions what an operation lacks."""
_ALL_WORDS: Final = re.compile(r"\b(?i:all|every|each) (of the |of its )?(words?|terms?)\b|\bAND\b")
_NONSENSE: Final = "zqxjvkwp"
_LEAST_WORDS: Final = 4


def _named(probe: Probe, prefix: str) -> list[SeenOperation]:
    return [one for one in collection_operations(probe) if one.name.startswith(prefix)]


def _told(probe: Probe, operation: SeenOperation) -> list[Exchange]:
    """Where an operation was introspected."""
    answer = probe.survey.details_answers.get(operation.name)
    return [] if answer is None else [answer]


@check(
    "collections.search-takes-query",
    "What is named 'search_…' takes its words in 'query'.",
    section="collection querying 2.1",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Looks at the parameters of every READ operation whose name begins with 'search_'.",
    proves=(
        "ops-4.2-text-search-uses-query",
        "cq-2.1-search-uses-query",
        "cq-3-search-uses-query",
    ),
)
async def search_takes_query(probe: Probe) -> AsyncIterator[Finding]:
    """One name for what is searched for."""
    for operation in _named(probe, "search_"):
        if operation.parameter("query") is None:
            words = f"'{operation.name}' has no parameter 'query' for the words to search for"
            yield broken(operation.name, words, *_told(probe, operation))
        else:
            yield holds(operation.name)


@check(
    "collections.list-needs-no-query",
    "What is named 'list_…' works without words to search for.",
    section="collection querying 2.1",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Looks whether an operation whose name begins with 'list_' requires a parameter 'query'.",
    proves=("cq-2.1-list-does-not-require-query",),
)
async def list_needs_no_query(probe: Probe) -> AsyncIterator[Finding]:
    """A collection can be enumerated."""
    for operation in _named(probe, "list_"):
        query = operation.parameter("query")
        if query is not None and query.required:
            words = f"'{operation.name}' requires 'query'; what lists should not"
            yield broken(operation.name, words, *_told(probe, operation))
        else:
            yield holds(operation.name)


@check(
    "collections.grammar-documented",
    "What is named 'query_…' and takes a 'query' says how one is written.",
    section="collection querying 2.1, 4.2",
    demand=Demand.MUST,
    area=Area.COLLECTIONS,
    level=2,
    how="Looks whether 'query' has a type, whether the descriptions of the operation and of 'query' say more than "
    "their names, and whether an example shows one.",
    proves=(
        "cq-2.1-query-grammar-documented",
        "cq-4.2-grammar-summarized",
        "cq-4.2-input-type-in-introspection",
        "cq-3-query-grammar-documented",
        "cq-6-query-grammar-summarized",
    ),
)
async def grammar_documented(probe: Probe) -> AsyncIterator[Finding]:
    """A grammar that nobody tells cannot be used."""
    for operation in _named(probe, "query_"):
        query = operation.parameter("query")
        if query is None:
            continue
        words = _undocumented(operation, query)
        if words:
            yield broken(operation.name, f"'{operation.name}': {words}", *_told(probe, operation))
        else:
            yield holds(operation.name)


def _undocumented(operation: SeenOperation, query: SeenParameter) -> str:
    if not query.types:
        return "the type of 'query' is not told"
    if len(_content(f"{operation.description} {query.description}", operation.name)) < _LEAST_WORDS:
        return "neither its description nor that of 'query' tells how a query is written"
    if not any("query" in example for example in operation.examples):
        return "no example shows a 'query'"
    return ""


def _content(text: str, name: str) -> set[str]:
    """The words of a description beyond the operation's name."""
    return set(re.findall(r"\w{2,}", text.lower())) - set(name.lower().split("_")) - {"query"}


@check(
    "collections.style-documented",
    "Where an answer says that more follows, introspection has the parameters to get it.",
    section="collection querying 2.6",
    demand=Demand.MUST,
    area=Area.COLLECTIONS,
    level=2,
    how="Looks at 'pageInfo' and 'pagination' in answers of collections: with 'pageInfo', 'after' is expected among "
    "the declared parameters; with 'pagination', 'offset' or 'page'.",
    proves=(
        "cq-2.6-style-documented",
        "cq-6-paging-style-told",
    ),
)
async def style_documented(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody has to guess how to go on."""
    for listing in await listings(probe):
        for place, names in _NEXT.items():
            if not isinstance(_beside(listing, place), Mapping):
                continue
            if any(listing.takes(name) for name in names):
                yield holds(listing.name, listing.page.exchange)
            elif listing.page.more is True:
                words = f"'{listing.name}' answers with '{place}' and has more items, but declares no {_or(names)}"
                yield broken(listing.name, words, listing.page.exchange)


def _beside(listing: Listing, place: str) -> object:
    return listing.page.page_info if place == "pageInfo" else listing.page.pagination


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


@check(
    "collections.shared-parameters-alike",
    "A parameter that several collections share has the same type and default in all of them.",
    section="operations 4.4.4",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Compares the declarations of 'fields', 'filter', 'sort', 'first' and the like between the operations whose "
    "names begin with 'list_', 'search_' and 'query_'.",
    proves=(
        "ops-4.4.4-shared-types-identical",
        "ops-4.4.4-shared-defaults-consistent",
        "ops-4.4.5-shared-parameters-expanded-inline",
        "cq-1-shared-parameter-shapes",
    ),
)
async def shared_parameters_alike(probe: Probe) -> AsyncIterator[Finding]:
    """What was learnt of one operation serves for the next."""
    operations = collection_operations(probe)
    for name in _SHARED:
        having = [(one, declared) for one in operations if (declared := _shared(one, name)) is not None]
        if len(having) < 2:
            continue
        first, like = having[0]
        odd = next(((one, declared) for one, declared in having if _form(declared) != _form(like)), None)
        if odd is None:
            yield holds(name)
        else:
            words = f"'{name}' is {_said(like)} in '{first.name}' and {_said(odd[1])} in '{odd[0].name}'"
            yield broken(f"{odd[0].name}.{name}", words, *_told(probe, first), *_told(probe, odd[0]))


def _shared(operation: SeenOperation, name: str) -> SeenParameter | None:
    """A parameter that is meant to be the same everywhere: a query of a grammar of its own is not."""
    if name == "query" and operation.name.startswith("query_"):
        return None
    return operation.parameter(name)


def _form(parameter: SeenParameter) -> tuple[frozenset[str], Any]:
    return frozenset(parameter.types), parameter.raw.get("default")


def _said(parameter: SeenParameter) -> str:
    default = parameter.raw.get("default")
    told = f"'{' | '.join(parameter.types) or 'of no type'}'"
    return told if default is None else f"{told} with the default '{default}'"


@check(
    "collections.capabilities",
    "Collections can be filtered, sorted, paged and cut down to some fields, or say that they cannot.",
    section="collection querying 3",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Looks at the parameters of operations whose names begin with 'list_' and 'search_' (of 'query_', at paging "
    "and fields); what is missing may be mentioned in the description instead.",
    proves=(
        "cq-3-list-supports-filter",
        "cq-3-list-supports-sort",
        "cq-3-list-supports-pagination",
        "cq-3-list-supports-fields",
        "cq-3-omissions-explicit",
        "cq-3-search-supports-controls",
        "cq-3-query-supports-controls",
        "cq-5-partial-support-explicit",
    ),
)
async def capabilities(probe: Probe) -> AsyncIterator[Finding]:
    """What an agent expects of a collection is there."""
    for operation in collection_operations(probe):
        lacking = list(_lacking(operation))
        if lacking:
            words = f"'{operation.name}' has no {_or(lacking)} parameter, and its description does not say so"
            yield broken(operation.name, words.replace("'paging'", "paging"), *_told(probe, operation))
        else:
            yield holds(operation.name)


def _lacking(operation: SeenOperation) -> Iterator[str]:
    wanted = ("paging", "fields") if operation.name.startswith("query_") else tuple(_WORDS_FOR)
    for name in wanted:
        names = _PAGING if name == "paging" else (name,)
        is_there = any(operation.parameter(one) is not None for one in names)
        if not is_there and not re.search(_WORDS_FOR[name], operation.description, re.IGNORECASE):
            yield name


@check(
    "collections.any-word-matches",
    "Of several words that are searched for, any may match, unless it is documented otherwise.",
    section="collection querying 4.1",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Searches for a word that finds something, together with one that finds nothing.",
    proves=("cq-4.1-multi-word-consistent", "cq-4.1-or-semantics"),
)
async def any_word_matches(probe: Probe) -> AsyncIterator[Finding]:
    """A word too many does not empty the answer."""
    for listing in with_items(await listings(probe), 1):
        word = listing.params.get("query")
        query = listing.operation.parameter("query")
        if not isinstance(word, str) or query is None or not listing.name.startswith("search_"):
            continue
        if _ALL_WORDS.search(f"{listing.operation.description} {query.description}"):
            continue
        exchange = await probe.call(listing.operation, {**listing.few(3), "query": f"{word} {_NONSENSE}"})
        page = page_in(exchange)
        if page is not None and not page.items:
            words = f"'{listing.name}' finds something for '{word}' and nothing for '{word} {_NONSENSE}'"
            yield broken(listing.name, words, listing.page.exchange, exchange)
        elif page is not None:
            yield holds(listing.name, exchange)
