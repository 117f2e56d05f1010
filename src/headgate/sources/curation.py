"""What an operator says of a source's operations: which are served, as what, under which names and words.

One form for every source, in a file of its own or in ``headgate.toml``; see ``docs/review.md``.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from headgate.adapter.operations import Operation
from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.names import is_snake_case
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.danger import classify
from headgate.safety.policy.patterns import fits
from headgate.safety.policy.reading import PolicyError, read_toml
from headgate.safety.policy.tables import (
    Mistake,
    Place,
    Table,
    flag,
    kind_of,
    named,
    number,
    one_of,
    text,
    texts,
)
from headgate.sources.naming import HELD_OPERATIONS
from headgate.sources.words import first_sentence

__all__ = ["CHOSEN", "Choice", "Curation", "curated", "origin_of", "read_curation"]

CHOSEN: Final = "chosen by the operator"
"""What speaks for a value that an operator has said."""

_KEYS: Final = ("include", "exclude", "operations")
_CHOICE_KEYS: Final = ("name", "category", "danger", "description", "group", "hide", "confirmed")
_DANGER_KEYS: Final = ("level", "reasons", "confirmation_message", "cooldown_seconds", "requires_reauth")
_LONGEST_NAME: Final = 64
_LONGEST_GROUP: Final = 64
_LONGEST_COOLDOWN: Final = 10**9
_WIDEST: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is said of one operation; None where the source's own word stands."""

    name: str | None = None
    category: Category | None = None
    danger: Danger | None = None
    description: str | None = None
    group: str | None = None
    hide: bool = False
    confirmed: bool = True
    """Whether somebody stands by it; what is only proposed counts for nothing yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """What is said of a source. Operations are meant by their own names or by headgate's."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    operations: Mapping[str, Choice] = field(default_factory=dict)
    shared: bool = False
    """Whether it speaks of several sources, so that each need not know all of it."""

    @classmethod
    def of(cls, table: Mapping[str, object], where: str) -> "Curation":
        """What a table says. An AdapterError has a line for each mistake in it, beginning with ``where``."""
        mistakes: list[str] = []
        made = _read(table, Place("", mistakes)) if table else cls()
        if mistakes:
            raise AdapterError("\n".join(f"{where}: {one}" for one in mistakes))
        return made

    def picks(self, name: str, own_name: str) -> bool:
        """Whether an operation is served: what is excluded or hidden is not, whatever is included."""
        choice = self.choice(name, own_name)
        if choice is not None and choice.hide:
            return False
        if _fits_any((name, own_name), self.exclude):
            return False
        return not self.include or _fits_any((name, own_name), self.include)

    def choice(self, name: str, own_name: str) -> Choice | None:
        """What is said of one operation, if anything is."""
        found = self.entry(name, own_name)
        return found if found is not None and found.confirmed else None

    def entry(self, name: str, own_name: str) -> Choice | None:
        """The same, and also what is not confirmed yet."""
        return self.operations.get(name) or self.operations.get(own_name)

    def unused(self, known_names: Collection[str]) -> list[str]:
        """A sentence for each entry and pattern that means nothing, with the nearest name."""
        known = list(dict.fromkeys(known_names))
        if self.shared:
            return []
        return [
            *(_meaningless("entry", key, known) for key in self.operations if key not in known),
            *(
                _meaningless(f"pattern of '{key}'", pattern, known)
                for key, patterns in (("include", self.include), ("exclude", self.exclude))
                for pattern in patterns
                if not any(fits(name, pattern) for name in known)
            ),
        ]


def read_curation(path: Path | str) -> Curation:
    """What a TOML file says. An AdapterError has a line for each mistake in it."""
    try:
        return Curation.of(read_toml(path), str(path))
    except PolicyError as error:
        raise AdapterError("\n".join(error.mistakes)) from None


def _fits_any(names: tuple[str, str], patterns: tuple[str, ...]) -> bool:
    return any(fits(name, pattern) for name in names for pattern in patterns)


def _meaningless(what: str, name: str, known: list[str]) -> str:
    hint = did_you_mean(nearest(name, known, 1)) if _WIDEST not in name else ""
    return f"no operation is meant by the {what} {named(name)}{hint or '.'}"


# reading


def _read(content: Mapping[str, object], place: Place) -> Curation:
    table = Table(content, place, _KEYS)
    return Curation(
        include=table.take("include", texts, ()),
        exclude=table.take("exclude", texts, ()),
        operations=table.part("operations", _operations, {}),
    )


def _operations(content: object, place: Place) -> Mapping[str, Choice]:
    if not isinstance(content, Mapping):
        place.key("operations").note(f"this must be a table of operations, not {kind_of(content)}")
        return {}
    choices = {str(name): _choice(said, place.below(f"operation {named(name)}")) for name, said in content.items()}
    for name, first, second in _doubled(choices):
        words = f"operation {named(first)} is to have this name as well: give each its own"
        place.below(f"operation {named(second)}").key("name").note(f"'{name}': {words}")
    return choices


def _doubled(choices: Mapping[str, Choice]) -> Iterator[tuple[str, str, str]]:
    """Names that two operations are to have."""
    taken: dict[str, str] = {}
    for key, choice in choices.items():
        if choice.name is not None and not choice.hide:
            if choice.name in taken:
                yield choice.name, taken[choice.name], key
            taken.setdefault(choice.name, key)


def _choice(content: object, place: Place) -> Choice:
    table = Table(content, place, _CHOICE_KEYS)
    return Choice(
        name=table.take("name", _name, None),
        category=table.take("category", one_of(list(Category), any_case=True), None),
        danger=_danger(table),
        description=table.take("description", text, None),
        group=table.take("group", _group, None),
        hide=table.take("hide", flag, False),
        confirmed=table.take("confirmed", flag, True),
    )


def _name(value: object) -> str:
    name = text(value)
    if not is_snake_case(name) or len(name) > _LONGEST_NAME:
        raise Mistake(
            f"{named(name)} is no name of an operation: write lower-case letters, digits and underscores, starting "
            f"with a letter, {_LONGEST_NAME} characters or fewer"
        )
    if name in HELD_OPERATIONS:
        raise Mistake(f"{named(name)} is a name of the protocol itself: choose another")
    return name


def _group(value: object) -> str:
    group = text(value).strip()
    if not group.isprintable() or len(group) > _LONGEST_GROUP:
        raise Mistake(f"a group is one line of {_LONGEST_GROUP} characters or fewer")
    return group


def _danger(table: Table) -> Danger | None:
    """A level, or a table as in a policy."""
    if not isinstance(table.value("danger"), Mapping):
        level = table.take("danger", one_of(list(DangerLevel)), None)
        return None if level is None else Danger(level)
    inner = Table(table.value("danger"), table.place.key("danger"), _DANGER_KEYS, ("level",))
    return Danger(
        inner.take("level", one_of(list(DangerLevel)), DangerLevel.FORBIDDEN),
        inner.take("reasons", texts, ()),
        inner.take("confirmation_message", text, ""),
        inner.take("cooldown_seconds", _cooldown, 0.0),
        inner.take("requires_reauth", flag, False),
    )


def _cooldown(value: object) -> float:
    seconds = number(0, _LONGEST_COOLDOWN)(value)
    try:
        Danger(DangerLevel.SAFE, cooldown_seconds=seconds)  # which knows how long one may be
    except AdapterError as error:
        raise Mistake(str(error)) from None
    return seconds


# applying


def curated(operation: Operation, choice: Choice) -> Operation:
    """The operation as an operator wants it. Its category is its source's to apply, since its form depends on it."""
    description = operation.description if choice.description is None else choice.description
    summary = operation.summary if choice.description is None else first_sentence(choice.description)
    return replace(
        operation,
        name=choice.name or operation.name,
        summary=summary,
        description=description,
        danger=choice.danger or operation.danger,
        group=operation.group if choice.group is None else choice.group,
        origin=_origin(operation, choice),
        checked=True,
    )


def _origin(operation: Operation, choice: Choice) -> Origin:
    """Where it comes from, with what the operator has said of it in place of what was told."""
    known = origin_of(operation)
    is_applied = choice.category is operation.category
    return replace(
        known,
        category=_override(operation.category.value) if is_applied else known.category,
        danger=_override(choice.danger.level.value) if choice.danger else known.danger,
        needs_review=known.needs_review and not is_applied,
    )


def _override(value: str) -> Inferred:
    return Inferred(value, 1.0, Provenance.OVERRIDE, (CHOSEN,))


def origin_of(operation: Operation) -> Origin:
    """Where an operation comes from; an author's own is what its author says."""
    if operation.origin is not None:
        return operation.origin
    told = classify(operation)
    declared = Provenance.DIRECT if operation.danger else Provenance.NORMALIZED
    return Origin(
        own_name=operation.name,
        maps_to=f"CALL {operation.name}",
        category=Inferred(operation.category.value, 1.0, Provenance.DIRECT, ("declared by its author",)),
        danger=Inferred(told.level.value, 1.0, declared, told.danger.reasons),
    )
