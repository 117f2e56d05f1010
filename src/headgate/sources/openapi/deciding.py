"""What kind of operation a request is: its method says it, unless its name says something riskier."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from headgate.adapter.origins import Inferred, Provenance
from headgate.adapter.parameters import Schema
from headgate.protocol.categories import Category
from headgate.protocol.danger import DEFAULT_LEVELS, DangerLevel
from headgate.sources.classification import Classified, Facts, classified
from headgate.sources.classifying.descriptions import first_verb
from headgate.sources.classifying.names import evidence_of_name, words_of
from headgate.sources.classifying.values import RISK, Evidence, Witness
from headgate.sources.classifying.verbs import NOUNS, VERBS, Strength, Verb

__all__ = ["Request", "decided"]

_BY_METHOD: Final[Mapping[str, Category]] = {
    **dict.fromkeys(("GET", "HEAD", "OPTIONS"), Category.READ),
    **dict.fromkeys(("PUT", "PATCH"), Category.UPDATE),
    "DELETE": Category.DELETE,
}
_METHODS_SURE: Final = 0.9
_CONTRADICTED: Final = 0.5
_BY_PATH: Final = 0.6
_LOUD: Final = 0.8
"""How much a word of the name must say to count against the method."""
_READ_BY_GET: Final = frozenset({"download", "export"})
"""Words that change something elsewhere, such as a file on a disk, and nothing where an HTTP server is only asked."""
_SAID_TWICE: Final = frozenset({"POST", "PUT", "PATCH"})
"""Methods that say nothing more when they are the first word of a name too."""
_NAMESPACE: Final = re.compile(r".*[/.:]")
_SEARCHES: Final = frozenset({"search", "query", "lookup", "find", "filter", "count"})
_READ_ENOUGH: Final = 0.8


@dataclass(frozen=True, slots=True)
class Request:
    """What is known of a request before it is decided."""

    method: str
    path: str
    own_name: str
    description: str = ""
    schema: Schema = field(default_factory=dict)
    """What it takes, as the properties of one object."""

    @property
    def last_words(self) -> frozenset[str]:
        """The words of the last part of the path that is no parameter."""
        return frozenset(self.last)

    @property
    def last(self) -> tuple[str, ...]:
        """The same words as they stand there."""
        fixed = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return tuple(words_of(fixed[-1])) if fixed else ()

    @property
    def is_action(self) -> bool:
        """Whether the path ends with something done to one resource, as in ``/orders/{id}/confirm``."""
        *before, last = self.path.rstrip("/").split("/")
        return bool(before) and before[-1].endswith("}") and not last.endswith(("}", "s"))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name, without what stands before the last slash, dot or colon, and without its method."""
        found = words_of(_NAMESPACE.sub("", self.own_name)) or words_of(self.own_name)
        is_method = found[:1] == [self.method.lower()] and self.method in _SAID_TWICE and len(found) > 1
        return tuple(found[1:] if is_method else found)

    @property
    def names_one(self) -> bool:
        """Whether the path ends with what tells one resource from others."""
        return self.path.rstrip("/").endswith("}")


def decided(request: Request, *, has_changes: bool) -> Classified:
    """Category and danger of a request. ``has_changes`` says whether there is anything that an UPDATE would change."""
    named = classified(Facts(name="_".join(request.words), description=request.description))
    found = _by_method(request, named) if request.method in _BY_METHOD else _posted(request, named)
    if found.kind is Category.UPDATE and not has_changes:
        inner = Inferred(
            Category.EXECUTE.value,
            found.category.confidence,
            Provenance.NORMALIZED,
            (*found.category.evidence, "it takes nothing to change"),
        )
        found = replace(found, category=inner)
    return _running(_with_danger(found, named), request)


def _running(found: Classified, request: Request) -> Classified:
    """What takes commands or code to be run is dangerous, whatever it is called; a person should look at it."""
    if found.kind is Category.READ:
        return found
    told = classified(Facts(name="_".join(request.words), description=request.description, schema=request.schema))
    runs = any(one.startswith(f"{Witness.SCHEMA}:") for one in told.danger.evidence)
    if not runs or told.level.rank < DangerLevel.DANGEROUS.rank or told.level.rank <= found.level.rank:
        return found
    return replace(found, danger=told.danger, needs_review=True, reasons=(*found.reasons, *told.danger.evidence))


def _by_method(request: Request, named: Classified) -> Classified:
    category = _BY_METHOD[request.method]
    evidence = (f"method: {request.method}",)
    said = [*_loud(request.words), *(_quiet(request) if category is Category.READ else ())]
    riskier = [one for one in said if one.category and RISK[one.category] > RISK[category]]
    if riskier and (category is Category.READ or any(one.category is Category.DELETE for one in riskier)):
        worst = max(riskier, key=lambda one: RISK[one.category or category])
        words = (*evidence, worst.sentence)
        inferred = Inferred(str(worst.category), _CONTRADICTED, Provenance.HEURISTIC, words)
        reason = f"the method {request.method} says {category}, the {worst.witness} says {worst.category}"
        return Classified(inferred, named.danger, True, (reason,))
    return Classified(Inferred(category.value, _METHODS_SURE, Provenance.NORMALIZED, evidence), named.danger)


def _loud(words: tuple[str, ...]) -> Iterator[Evidence]:
    """What the first word of a name says, and unless that reads, the last if it removes or runs something."""
    first = [] if _READ_BY_GET.issuperset(words[:1]) else list(_said(words[:1]))
    yield from first
    if not any(one.category is Category.READ for one in first):
        yield from (one for one in _said(words[1:][-1:]) if one.category in (Category.DELETE, Category.EXECUTE))


def _quiet(request: Request) -> Iterator[Evidence]:
    """What speaks of a change where a method says that there is none, unless something else says that it reads.

    A description is believed whatever the name is; most verbs that end a path or begin a name are nouns as well.
    """
    told = first_verb(request.description)
    if told is not None and told.word not in _READ_BY_GET and told.category is not Category.READ:
        yield Evidence(Witness.DESCRIPTION, told.category, _CONTRADICTED, f"'{told.word}'")
    elif told is not None or _names_reading(request.words):
        return
    for witness, verb in ((Witness.NAME, _verb(request.words[:1])), (Witness.PATH, _verb(request.last))):
        if verb is not None and verb.category is not Category.READ:
            yield Evidence(witness, verb.category, _CONTRADICTED, f"'{verb.word}'")


def _names_reading(words: tuple[str, ...]) -> bool:
    """Whether a name begins or ends with what reads: ``getLock``, ``loadBalancers_list``."""
    found = [verb for verb in (_verb(words[:1]), _verb(words[-1:])) if verb is not None]
    return any(verb.category is Category.READ and verb.strength is Strength.FIRM for verb in found)


def _verb(words: tuple[str, ...]) -> Verb | None:
    """The verb that one word is, if it is hardly ever a noun or a file that is fetched."""
    word = words[0] if len(words) == 1 else ""
    return None if word in NOUNS | _READ_BY_GET else VERBS.get(word)


def _said(word: tuple[str, ...]) -> Iterator[Evidence]:
    for one in evidence_of_name("_".join(word)):
        if isinstance(one, Evidence) and one.weight >= _LOUD:
            yield one


def _posted(request: Request, named: Classified) -> Classified:
    """A POST may be anything; READ only where name and path both say that it is a search."""
    told = named.category
    if named.kind is Category.READ:
        is_search = bool(_SEARCHES & request.last_words) and told.confidence >= _READ_ENOUGH
        kind = Category.READ if is_search else Category.EXECUTE
        words = (*told.evidence, f"path: {'it ends like a search' if is_search else 'a POST may change something'}")
        return replace(
            named,
            category=Inferred(kind.value, told.confidence if is_search else _CONTRADICTED, told.provenance, words),
            needs_review=True,
        )
    if told.confidence < _BY_PATH or not told.evidence:
        acts = request.names_one or request.is_action or (named.kind is Category.EXECUTE and told.confidence > 0)
        kind = Category.EXECUTE if acts else Category.CREATE
        words = ("method: POST", "path: it ends with one resource" if acts else "path: it ends with a collection")
        return replace(named, category=Inferred(kind.value, _BY_PATH, Provenance.HEURISTIC, words))
    return replace(named, category=replace(told, evidence=("method: POST", *told.evidence)))


def _with_danger(found: Classified, named: Classified) -> Classified:
    """The danger of the category, or the name's where that is graver."""
    usual = DEFAULT_LEVELS[found.kind]
    is_graver = found.kind is not Category.READ and DangerLevel(named.danger.value).rank > usual.rank
    usually = Inferred(usual.value, found.category.confidence, Provenance.NORMALIZED, (f"category: {found.kind}",))
    return replace(found, danger=named.danger if is_graver else usually)
