"""What words and commands say of an action, read from ``words.toml`` and ``commands.toml`` beside this module."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from headgate.safety.autonomy.needs import Index, needs_of
from headgate.safety.autonomy.vocabulary import Vocabulary

__all__ = [
    "ANY",
    "ARTICLES",
    "CAUSING",
    "DETERMINERS",
    "FILLERS",
    "FOREIGN",
    "FUNCTION",
    "KINDS",
    "LEADS",
    "LOCAL",
    "LOOKING",
    "NO_VERBS",
    "RAW",
    "RULES",
    "SAFE",
    "SCOPES",
    "SHELL",
    "TARGETS",
    "TRYING",
    "UNLIKE",
    "WORDS",
    "WRITING",
    "Form",
    "Kind",
    "Rule",
    "compiled",
]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is done, and how grave that is before anything is known of what it is done to."""

    name: str
    score: int
    does: str


class Form(StrEnum):
    """How a verb stands in its sentence."""

    DONE = "done"
    TOLD = "told"
    """as something that is only spoken of"""
    FIRST = "first"
    """as a verb only if the action begins with it"""


@dataclass(frozen=True, slots=True)
class Sense:
    """What one written word says."""

    kind: Kind
    form: Form


@dataclass(frozen=True, slots=True)
class Weighed:
    """What something is done to, or how much of it, and how much graver that makes an action."""

    name: str
    weight: int
    looking: int = 0
    """How much graver it makes it only to look."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that tells the risk of an action by itself."""

    score: int
    why: str
    pattern: re.Pattern[str]
    always: bool = False
    """Whether it counts even where nothing is changed."""
    raw: bool = False
    """Whether it counts even in quotes."""
    needs: tuple[str, ...] = ()
    """Of these one must be in a text for it to fit."""

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> "Rule":
        """A rule as it is written in the file."""
        pattern = compiled([said])
        always, raw = (said.get(name, False) for name in ("always", "raw"))
        return cls(said["score"], said["why"], pattern, always, raw, needs_of(pattern.pattern))


def compiled(said: Iterable[Mapping[str, Any]]) -> re.Pattern[str]:
    """What any of several patterns finds. One that is none is named with what it is for."""
    patterns = [*said]
    for one in patterns:
        try:
            re.compile(one["pattern"])
        except re.error as problem:
            raise ValueError(f"The pattern for '{one['why']}' is none: {problem}") from problem
    return re.compile("|".join(one["pattern"] for one in patterns))


def _data(name: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


def _forms(verb: str) -> Iterator[tuple[str, Form]]:
    """A verb as something done, and as something told of."""
    last, stem = verb[-1], verb.removesuffix("e")
    is_short = len(verb) > 2 and last in "bdgklmnprtz" and verb[-2] in "aeiou" and verb[-3] not in "aeiou"
    stems = (stem, stem + last) if is_short else (stem,)
    for done in (verb, f"{verb}s", f"{verb}es", *(f"{one}ing" for one in stems)):
        yield done, Form.DONE
    for told in (f"{one}ed" for one in stems):
        yield told, Form.TOLD
    if last == "y":
        yield f"{verb[:-1]}ies", Form.DONE
        yield f"{verb[:-1]}ied", Form.TOLD


def _senses(kind: Kind, verbs: Mapping[str, str]) -> Iterator[tuple[str, Sense]]:
    for verb in verbs.get("first", "").split():
        for word, form in _forms(verb):
            yield word, Sense(kind, Form.FIRST if form is Form.DONE else form)
    for verb in verbs.get("english", "").split():
        again = (f"re{verb}",) if verbs.get("again") else ()
        yield from ((word, Sense(kind, form)) for one in (verb, *again) for word, form in _forms(one))
    for noun in verbs.get("told", "").split():
        yield from ((word, Sense(kind, Form.TOLD)) for word in (noun, f"{noun}s"))


def _gravest(senses: Iterator[tuple[str, Sense]]) -> Mapping[str, Sense]:
    """Each word with one sense: the gravest that it has."""
    known: dict[str, Sense] = {}
    for word, sense in senses:
        if word not in known or sense.kind.score >= known[word].kind.score:
            known[word] = sense
    return MappingProxyType(known)


_WORDS: Final = _data("words.toml")
_COMMANDS: Final = _data("commands.toml")

KINDS: Final = MappingProxyType(
    {name: Kind(name, verbs["score"], verbs["does"]) for name, verbs in _WORDS["verbs"].items()}
)
"""All that can be done, by name."""

WORDS: Final = _gravest(pair for name, verbs in _WORDS["verbs"].items() for pair in _senses(KINDS[name], verbs))
"""Every English word that says what is done."""

FOREIGN: Final = Vocabulary(
    (word, KINDS[name]) for name, verbs in _WORDS["verbs"].items() for word in verbs.get("other", "").split()
)
"""Words of other languages that say what is done."""

TARGETS: Final = Vocabulary(
    (word, Weighed(one["name"], one["weight"], one.get("looking", 0)))
    for one in _WORDS["targets"]
    for word in one["words"].split()
)
"""Words for what something is done to."""

SCOPES: Final = Vocabulary(
    (word, Weighed(one["name"], one["weight"])) for one in _WORDS["scopes"] for word in one["words"].split()
)
"""Words for how much of it, and how."""

FILLERS, LEADS, ARTICLES, DETERMINERS, FUNCTION, CAUSING, UNLIKE, SHELL, NO_VERBS = (
    frozenset(_WORDS["small"][name].split())
    for name in ("fillers", "leads", "articles", "determiners", "function", "causing", "unlike", "shell", "no_verbs")
)
"""Words before which the action has not begun, after which another one begins, after which a word is a noun, that stand
after a verb, that are never one, that have something done ("get it deleted"), that are no slip of a grave one, that are
commands, and that only end as verbs do."""

TRYING: Final = frozenset(form for verb in _WORDS["small"]["trying"].split() for form, _ in _forms(verb))
"""Words for looking at what comes of something."""

LOOKING, WRITING = (re.compile(_COMMANDS["phrases"][name]) for name in ("looking", "writing"))
"""Turns of phrase that mean looking, whatever verb is in them; and that mean writing a text, whatever that is about."""

RULES: Final = tuple(map(Rule.read, _COMMANDS["rules"]))
"""What tells the risk of an action by itself."""

ANY: Final = Index((rule, rule.needs) for rule in RULES)
RAW: Final = Index((rule, rule.needs) for rule in RULES if rule.raw)
"""All of them, and those that count even in quotes, to be found by what is in a text: few have to be searched for."""

SAFE: Final = compiled(_COMMANDS["safe"])
"""What changes nothing: tests and checks, and commands that only look."""

LOCAL: Final = compiled(_COMMANDS["local"])
"""What changes nothing but one's own working copy."""
