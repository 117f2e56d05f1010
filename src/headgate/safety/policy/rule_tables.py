"""The rules of a policy file."""

from collections.abc import Mapping
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.decisions import Effect, Who
from headgate.safety.policy.condition_tables import read_affected_rows, read_when
from headgate.safety.policy.patterns import ANYTHING, NOT, Patterns
from headgate.safety.policy.rules import DEFAULT_RULE, Rule
from headgate.safety.policy.tables import (
    Mistake,
    Place,
    Table,
    flag,
    named,
    one_of,
    one_or_more,
    subtables,
    text,
)

__all__ = ["operation_patterns", "patterns", "read_rules"]

_KEYS: Final = (
    *("name", "decision", "operations", "categories", "sources", "callers", "when", "affected_rows"),
    *("confirm", "remember", "reason", "optional"),
)
_ONLY_CONFIRM: Final = ("confirm", "remember")
_SESSION: Final = "session"
_LONGEST_NAME: Final = 100
_ANONYMOUS: Final = "anonymous"


def read_rules(content: object, place: Place) -> tuple[Rule, ...]:
    """All rules, in the order of the file."""
    taken: dict[str, int] = {}
    return tuple(_rule(one, number, place, taken) for number, one in subtables(content, place, "rule"))


def _rule(content: object, number: int, place: Place, taken: dict[str, int]) -> Rule:
    here = place.below(_title(content, number))
    table = Table(content, here, _KEYS, ("name", "decision"))
    name = table.take("name", _rule_name, "")
    if name in taken:
        here.key("name").note(f"rule {taken[name]} has this name already: give each its own")
    elif name:
        taken[name] = number
    effect = table.take("decision", one_of(list(Effect)), None)
    for key in _ONLY_CONFIRM:
        if key in table and effect in (Effect.ALLOW, Effect.DENY):
            here.key(key).note(f'this is only for decision = "confirm", and here it is "{effect}"')
    return Rule(
        name=name,
        effect=effect or Effect.DENY,
        operations=table.take("operations", operation_patterns, ANYTHING),
        categories=table.take("categories", _categories, frozenset()),
        sources=table.take("sources", patterns, ANYTHING),
        callers=table.take("callers", _callers, ANYTHING),
        conditions=tuple(read_when(table)),
        affected_rows=tuple(read_affected_rows(table)),
        who=table.take("confirm", one_of(list(Who)), Who.CLIENT),
        remember=table.take("remember", one_of((_SESSION,)), "") == _SESSION,
        reason=table.take("reason", text, ""),
        optional=table.take("optional", flag, False),
    )


def _title(content: object, number: int) -> str:
    name = content.get("name") if isinstance(content, Mapping) else None
    return f"rule {number} ({named(name)})" if isinstance(name, str) and name else f"rule {number}"


def _rule_name(value: object) -> str:
    name = text(value)
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise Mistake(f"a name is one line of {_LONGEST_NAME} characters or fewer, for people and for the audit")
    if name == DEFAULT_RULE:
        raise Mistake("this is how the default itself is called: choose another name")
    return name


# patterns


def patterns(value: object) -> Patterns:
    """One pattern, or a list of them; a ``!`` before one takes out what it matches."""
    return Patterns(one_or_more(_pattern)(value))


def _pattern(value: object) -> str:
    pattern = text(value)
    body = pattern.removeprefix(NOT)
    if pattern != pattern.strip() or body != body.strip():
        raise Mistake(f"{named(pattern)} has a space before or after it, which no name has: take it out")
    if not body or body.startswith(NOT):
        raise Mistake(
            f"{named(pattern)} is no pattern: write one '!' and then the pattern to take out, such as '!delete_*'"
        )
    return pattern


def operation_patterns(value: object) -> Patterns:
    """Patterns over the names of operations."""
    return Patterns(one_or_more(_operation_pattern)(value))


def _operation_pattern(value: object) -> str:
    pattern = _pattern(value)
    body = pattern.removeprefix(NOT)
    allowed = body.replace("*", "").replace("?", "").replace("_", "")
    if allowed and not (allowed.isascii() and allowed.isalnum() and allowed == allowed.lower()):
        raise Mistake(
            f"{named(pattern)} can match no operation: their names are lower-case letters, digits and underscores, "
            "and a pattern may have '*' and '?'"
        )
    return pattern


def _callers(value: object) -> Patterns:
    return Patterns(one_or_more(_caller)(value))


def _caller(value: object) -> str:
    pattern = _pattern(value)
    body = pattern.removeprefix(NOT)
    kind, colon, rest = body.partition(":")
    if kind in ("scope", "client") and colon:
        if not rest or rest != rest.strip():
            raise Mistake(f"{named(pattern)} names nobody: write '{kind}:' and the name of a {kind} right after it")
    elif colon and (near := nearest(kind, ["scope", "client"], 1)):
        raise Mistake(f"{named(pattern)} is likely no name{did_you_mean([f'{near[0]}:{rest}'])}")
    elif _is_nearly_anonymous(body):
        raise Mistake(f"{named(pattern)} is likely no name{did_you_mean([_ANONYMOUS])}")
    return pattern


def _is_nearly_anonymous(name: str) -> bool:
    """Whether somebody meant callers without a name and misspelt it, so that the pattern would match nobody."""
    is_alike = name.isalpha() and abs(len(name) - len(_ANONYMOUS)) <= 1
    return is_alike and name != _ANONYMOUS and bool(nearest(name, [_ANONYMOUS], 1))


def _categories(value: object) -> frozenset[Category]:
    return frozenset(one_or_more(one_of(list(Category), any_case=True))(value))
