"""What is known of a foreign tool, what speaks for what, and what is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.adapter.parameters import Schema
from headgate.protocol.categories import Category
from headgate.protocol.danger import DEFAULT_LEVELS, Danger, DangerLevel

__all__ = ["RISK", "Classified", "Doubt", "Evidence", "Facts", "Hints", "Risk", "Witness", "usual_danger"]

RISK: Final[Mapping[Category, int]] = MappingProxyType(
    {Category.READ: 0, Category.CREATE: 1, Category.UPDATE: 2, Category.EXECUTE: 3, Category.DELETE: 4}
)
"""Which category is the riskier one to be wrong about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a server declares of a tool; None where it does not say."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    @property
    def given(self) -> bool:
        """Whether the server says anything at all."""
        return any(one is not None for one in (self.read_only, self.destructive, self.idempotent, self.open_world))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that a source tells of one of its tools."""

    name: str
    title: str = ""
    description: str = ""
    schema: Schema = field(default_factory=dict)
    hints: Hints = Hints()


def usual_danger(category: Category) -> Inferred:
    """What the category alone says of danger (Danger Levels 3.3)."""
    level = DEFAULT_LEVELS[category]
    return Inferred(level.value, 0.0, Provenance.HEURISTIC, (f"category: {category} is {level}",))


class Witness(StrEnum):
    """Who says something of a tool. Two that agree are worth more than one that says it twice."""

    ANNOTATION = "annotation"
    NAME = "name"
    SCHEMA = "schema"
    DESCRIPTION = "description"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Evidence:
    """That a tool belongs to a category, or, without one, that it changes something, whatever that is."""

    witness: Witness
    category: Category | None
    weight: float
    words: str

    @property
    def speaks_of_change(self) -> bool:
        """Whether it speaks against READ."""
        return self.category is not Category.READ

    @property
    def sentence(self) -> str:
        """As people read it."""
        return f"{self.witness}: {self.words}"


@dataclass(frozen=True, slots=True)
class Risk:
    """That a tool, if it changes anything, is as dangerous as this or more."""

    witness: Witness
    level: DangerLevel
    confidence: float
    words: str
    declared: bool = False
    """Whether the server itself says so in its annotations."""

    @property
    def sentence(self) -> str:
        """As people read it."""
        return f"{self.witness}: {self.words}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a person should look at a tool, whatever else is known of it."""

    words: str


@dataclass(frozen=True, slots=True)
class Classified:
    """What a tool is taken for, how sure that is, and why a person should look at it."""

    category: Inferred
    danger: Inferred
    needs_review: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def kind(self) -> Category:
        """The category itself."""
        return Category(self.category.value)

    @property
    def level(self) -> DangerLevel:
        """The level of danger itself."""
        return DangerLevel(self.danger.value)

    @property
    def declared(self) -> Danger:
        """The danger as an operation declares it, with what speaks for it as reasons."""
        return Danger(self.level, () if self.level is DangerLevel.SAFE else self.danger.evidence)

    def chosen(self, category: Category) -> "Classified":
        """The same with the category that an operator says; danger follows where only the category spoke for it."""
        words = ("chosen by the operator",)
        if self.danger.evidence == usual_danger(self.kind).evidence:
            danger = replace(usual_danger(category), confidence=1.0)
        else:
            danger = self.danger
        return Classified(Inferred(category.value, 1.0, Provenance.OVERRIDE, words), danger)

    def origin(self, own_name: str, maps_to: str) -> Origin:
        """Where the operation comes from that is made of the tool."""
        return Origin(
            own_name=own_name,
            maps_to=maps_to,
            category=self.category,
            danger=self.danger,
            needs_review=self.needs_review,
        )
