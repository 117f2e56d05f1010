"""From what is known of a foreign tool to its category and its danger, with how sure that is and why.

Four witnesses are heard: the server's annotations, the name, the description and the parameters. What they say is
weighed by tables (``classifying/``), and two that agree are surer than one, as chances combine:

| confidence | what it stands for |
|---|---|
| 1.0 | an operator says so: ``manual_override`` |
| 0.95 | an annotation and a verb of the name agree; more agreement counts no higher than 0.97 |
| 0.9 | the name and the description agree |
| 0.8 | a verb of the name alone, such as ``create`` |
| 0.75 | an annotation alone |
| 0.7 | two weak ones agree; less is not enough for READ |
| 0.5 | a description alone; it never counts for more |
| below | witnesses contradict each other, or say nothing |

READ is chosen only if it is clear and nothing speaks against it. Else the riskiest category with enough behind it is
taken, and EXECUTE where there is none; the danger is the highest that anything speaks for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from headgate.adapter.origins import Inferred, Provenance
from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.classifying.annotations import evidence_of_hints
from headgate.sources.classifying.descriptions import evidence_of_description, evidence_of_title
from headgate.sources.classifying.names import evidence_of_name
from headgate.sources.classifying.schemas import evidence_of_schema
from headgate.sources.classifying.values import (
    RISK,
    Classified,
    Doubt,
    Evidence,
    Facts,
    Hints,
    Risk,
    Witness,
    usual_danger,
)

__all__ = ["Classified", "Facts", "Hints", "classified"]

_ENOUGH_TO_READ: Final = 0.7
_AGAINST_READ: Final = 0.2
_ENOUGH: Final[Mapping[Category, float]] = {
    Category.CREATE: 0.55,
    Category.UPDATE: 0.55,
    Category.EXECUTE: 0.55,
    Category.DELETE: 0.4,
}
"""What must speak for a category; less for DELETE, which is the worst to miss."""

_SHOWING: Final = frozenset({Witness.NAME, Witness.SCHEMA})
_SHOWN: Final = 0.35
"""What the name or the parameters must say of reading; a faint verb is less, since what it makes is often kept."""

_WORTH_A_GUESS: Final = 0.3
_CLAIMED: Final = 0.5
_SURE: Final = 0.6
_SUREST: Final = 0.97
_LONGEST_EVIDENCE: Final = 6
_BY_WORDS: Final = 0.5
"""The most that a description can do for READ."""


def classified(facts: Facts) -> Classified:
    """What a tool is taken for. It never fails, whatever the facts are."""
    found = list(_heard(facts))
    scales = _Scales(tuple(one for one in found if isinstance(one, Evidence)))
    category = scales.category()
    risks = [one for one in found if isinstance(one, Risk)]
    reasons = [one.words for one in found if isinstance(one, Doubt)] + list(
        _contradictions(scales, category, facts.hints)
    )
    inferred = scales.inferred(category)
    is_additive = category is Category.CREATE and scales.is_named(category)
    danger = _danger(category, inferred, risks, is_additive=is_additive)
    return Classified(inferred, danger, bool(reasons), tuple(dict.fromkeys(reasons)))


def _heard(facts: Facts) -> Iterator[Evidence | Risk | Doubt]:
    yield from evidence_of_hints(facts.hints)
    yield from evidence_of_name(facts.name)
    yield from evidence_of_schema(facts)
    yield from evidence_of_description(facts.description)
    yield from evidence_of_title(facts.title)


@dataclass(frozen=True, slots=True)
class _Scales:
    """All evidence, weighed."""

    evidence: tuple[Evidence, ...]

    def support(self, category: Category) -> float:
        """How much speaks for a category: each witness counts once, with the most that it says."""
        said = [one for one in self.evidence if one.category is category]
        return _together(_capped(one) if category is Category.READ else one.weight for one in _loudest(said))

    def is_named(self, category: Category) -> bool:
        """Whether the name itself says so, firmly enough to stand alone."""
        return any(
            one.witness is Witness.NAME and one.category is category and one.weight >= _SURE for one in self.evidence
        )

    @property
    def against_reading(self) -> float:
        """The most that speaks of change."""
        return max((one.weight for one in self.evidence if one.speaks_of_change), default=0.0)

    @property
    def is_reading_clear(self) -> bool:
        """Whether a tool may be taken to change nothing: its name or its parameters must say so too, not faintly."""
        shown = any(
            one.category is Category.READ and one.witness in _SHOWING and one.weight >= _SHOWN for one in self.evidence
        )
        return shown and self.support(Category.READ) >= _ENOUGH_TO_READ and self.against_reading < _AGAINST_READ

    def category(self) -> Category:
        """The riskiest that has enough behind it."""
        if self.is_reading_clear:
            return Category.READ
        return self._riskiest(_ENOUGH) or self._riskiest(dict.fromkeys(_ENOUGH, _WORTH_A_GUESS)) or Category.EXECUTE

    def _riskiest(self, enough: Mapping[Category, float]) -> Category | None:
        told = [category for category, least in enough.items() if self.support(category) >= least]
        return max(told, key=RISK.__getitem__, default=None)

    def inferred(self, category: Category) -> Inferred:
        """The category with what speaks for it, and how sure it is beside what speaks otherwise."""
        support = self.support(category)
        other = self.against_reading if category is Category.READ else self.support(Category.READ)
        contradicted = other if other >= _CLAIMED else 0.0
        says_so = any(one.witness is Witness.ANNOTATION and one.category is category for one in self.evidence)
        return Inferred(
            category.value,
            round(min(_SUREST, self._agreeing(category, support)) * (1 - contradicted), 2),
            Provenance.DIRECT if says_so else Provenance.HEURISTIC,
            _sentences(self.evidence, category) or ("nothing is said of it",),
        )

    def _agreeing(self, category: Category, support: float) -> float:
        """An annotation that something changes makes any kind of change surer."""
        changing = [one for one in self.evidence if one.category is None and one.witness is Witness.ANNOTATION]
        if category is Category.READ or not support or not changing:
            return support
        return _together([support, max(one.weight for one in changing)])


def _loudest(said: Iterable[Evidence]) -> Iterable[Evidence]:
    loudest: dict[Witness, Evidence] = {}
    for one in said:
        if one.weight > (loudest[one.witness].weight if one.witness in loudest else 0):
            loudest[one.witness] = one
    return loudest.values()


def _capped(one: Evidence) -> float:
    return min(one.weight, _BY_WORDS) if one.witness is Witness.DESCRIPTION else one.weight


def _together(weights: Iterable[float]) -> float:
    """How sure it is that not all of some are wrong."""
    wrong = 1.0
    for weight in weights:
        wrong *= 1 - weight
    return round(1 - wrong, 4)


def _sentences(evidence: Sequence[Evidence], category: Category) -> tuple[str, ...]:
    """What speaks for a category first, then what speaks otherwise."""
    heard = sorted((one for one in evidence if one.weight), key=lambda one: (one.category is not category, -one.weight))
    return tuple(dict.fromkeys(f"{one.sentence} ({_meaning(one)})" for one in heard))[:_LONGEST_EVIDENCE]


def _meaning(one: Evidence) -> str:
    return one.category.value if one.category else "changes something"


def _contradictions(scales: _Scales, category: Category, hints: Hints) -> Iterator[str]:
    """Why a person should look: witnesses that disagree, or too little to go by."""
    reading = scales.support(Category.READ)
    if category is Category.READ:
        return
    if reading >= _CLAIMED:
        yield "it is said to read, and to change something"
    if max(map(scales.support, _ENOUGH)) < _SURE:
        yield "too little is said of it"
    if category is Category.DELETE and hints.destructive is False:
        yield "it is declared to destroy nothing, and speaks of removing"
    rivals = [one for one in _ENOUGH if one is not category and scales.support(one) >= _SURE]
    if category is Category.DELETE and rivals and scales.support(category) < _SURE:
        yield f"it may also be {' or '.join(rivals)}"


def _danger(category: Category, inferred: Inferred, risks: Sequence[Risk], *, is_additive: bool) -> Inferred:
    """The highest level that anything speaks for; what reads is safe, whatever its words say."""
    usual = usual_danger(category)
    lowest = DangerLevel(usual.value).rank
    raising = [one for one in risks if one.level.rank > lowest and _counts(one, category, is_additive=is_additive)]
    if not raising:
        return replace(usual, confidence=inferred.confidence, provenance=inferred.provenance)
    level = max((one.level for one in raising), key=lambda one: one.rank)
    deciding = [one for one in raising if one.level is level]
    declared = any(one.declared for one in deciding)
    return Inferred(
        level.value,
        round(min(_SUREST, _together(one.confidence for one in deciding)), 2),
        Provenance.DIRECT if declared else Provenance.HEURISTIC,
        tuple(dict.fromkeys(one.sentence for one in deciding))[:_LONGEST_EVIDENCE],
    )


def _counts(risk: Risk, category: Category, *, is_additive: bool) -> bool:
    """A name's pattern counts in every case, the rest only for what changes something.

    That annotations leave it open is too little to call the making of something new destructive.
    """
    if category is Category.READ:
        return risk.witness is Witness.NAME and risk.level.rank > DangerLevel.DESTRUCTIVE.rank
    return risk.declared or risk.witness is not Witness.ANNOTATION or not is_additive
