"""The risk of an action, read from its description: what is done, to what, to how much of it, and by which commands.

Only what is known to be harmless passes as such: an action in which no verb is known waits for a person.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from headgate.protocol.autonomy import Risk
from headgate.safety.autonomy.actions import split, unknown_order
from headgate.safety.autonomy.executed import executed, tried
from headgate.safety.autonomy.hidden import as_written, decoded, spellings
from headgate.safety.autonomy.lexicon import (
    ANY,
    ARTICLES,
    CAUSING,
    DETERMINERS,
    FILLERS,
    FOREIGN,
    KINDS,
    LEADS,
    LOCAL,
    LOOKING,
    RAW,
    RULES,
    SAFE,
    SCOPES,
    TARGETS,
    WORDS,
    WRITING,
    Form,
    Kind,
    Rule,
)
from headgate.safety.autonomy.mentions import without_assurances, without_mentions, without_quotes
from headgate.safety.autonomy.needs import Index
from headgate.safety.autonomy.texts import lined

__all__ = ["score"]

_UNKNOWN: Final = 40
_WHERE_IT_BEGINS: Final = 6
"""Within how many words a verb must come for the action to be known by it."""
_SHARE_OF_MAKING: Final = 0.6
_HIDDEN: Final = 10
_DEEPEST: Final = 3
_MOST_EXECUTED: Final = 40
"""How deep commands in commands are read, and how many at each depth."""
_MOST_FACTORS: Final = 6
_ASKED: Final = re.compile(r"(?:is|are|was|were|does|did|has) (?:the|there|it|any|this|that|all|our)\b")
_TOKENS: Final = re.compile(r"[^\W_]+")
_COMMAND: Final = re.compile(r"\S+\s+(?:-{1,2}\w|(?:\.{0,2}|~)/\w)")
"""A command with an option or a path."""
_FILE: Final = re.compile(r"(?<!\w)\w+(?=\.\w)")
_SENTENCE: Final = re.compile(rf"(?<![\w/.-])(?!(?:re)?run)([^\W_]+)\s+(?:{'|'.join(sorted(DETERMINERS))})\b")
"""A word with what it is done to: in a command, no argument looks like that."""
_LOOK, _MAKE, _REMOVE = (KINDS[name] for name in ("look", "make", "remove"))


_STRANGE: Final = Risk(_UNKNOWN, ("It is not known what this does: no verb in it is known",))
_RUNS: Final = Risk(45, ("It runs something of which it is not known what it does",))
_RUNS_MUCH: Final = Risk(64, ("It runs more than can be read",))


@dataclass(frozen=True, slots=True)
class _Verb:
    kind: Kind
    told: bool
    at: int
    place: int
    word: str
    leads: bool = True
    """Whether it stands where a verb does: by it, it is known what is done."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The risk of one reading of a text, and whether it is known at all what it says."""

    risk: Risk
    is_known: bool


@lru_cache(maxsize=512)
def score(hint: str) -> Risk:
    """The risk of the worst action in a hint, in whichever way it may be read.

    A reading in which something is not understood counts only if there is none in which all of it is.
    """
    text = lined(hint)
    written = [_read(one) for one in as_written(text)]
    spelt = [_read(one) for one in spellings(text)[len(written) :]]
    known = [one.risk for one in (*written, *spelt) if one.is_known]
    plain = _worst(known or [one.risk for one in written])
    across = [] if text == hint else [_read(one).risk for one in spellings(hint)]
    inside = [_read(one).risk for found in decoded(hint) for one in as_written(found)]
    apparent = _worst([*(one.risk for one in written), *across])
    hidden = [risk for risk in (plain, *inside) if risk.score > max(apparent.score, _UNKNOWN)]
    if not hidden:
        return _worst([plain, *(risk for risk in across if risk.score > _UNKNOWN)])
    worst = _worst(hidden)
    return Risk(min(100, worst.score + _HIDDEN), (*worst.factors, "It is written so that it does not show"))


def _worst(risks: list[Risk]) -> Risk:
    return max(risks, key=lambda risk: risk.score)


def _read(text: str, depth: int = 0) -> _Read:
    """One reading: the risk of its gravest action."""
    inner = [*_inner(text, depth)]
    text = without_assurances(text)
    parts = [_Part(one) for one in split(text)]
    whole = _masked(text, parts)
    by_rules = [*_by_rules(whole), *(_by_rules(text, RAW) if whole != text else ())]
    if len(parts) > 1:  # some rules hold only where an action begins
        by_rules += [risk for part in parts for risk in _by_rules(part.acts)]
    begins = any(part.begins for part in parts)
    by_words = [_by_words(part, begins=begins) for part in parts]
    risks = [*by_rules, *by_words, *inner]
    worst = _worst(risks)
    others = (factor for risk in risks if risk is not worst and risk.score > _UNKNOWN for factor in risk.factors)
    told = Risk(worst.score, tuple(dict.fromkeys((*worst.factors, *others)))[:_MOST_FACTORS])
    return _Read(told, is_known=worst.score > _UNKNOWN or _STRANGE not in by_words)


def _inner(text: str, depth: int) -> Iterator[Risk]:
    """The risks of the commands that a text runs inside of others. One that is not known waits for a person."""
    found = dict.fromkeys(executed(text))
    if found and (depth == _DEEPEST or len(found) > _MOST_EXECUTED):
        yield _RUNS_MUCH
        return
    for one in found:
        read = _read(one, depth + 1)
        yield read.risk if read.is_known else _RUNS
    yield from (risk for one in tried(text) for risk in _by_rules(one))


def _masked(text: str, parts: list["_Part"]) -> str:
    """A text without what its parts only speak of; then each is taken to flow into the next, which is the graver."""
    return text if all(part.acts == part.text for part in parts) else " | ".join(part.acts for part in parts)


def _by_rules(part: str, rules: Index[Rule] = ANY) -> Iterator[Risk]:
    for rule in rules.fitting(part):
        found = rule.pattern.search(part)
        if found:
            yield Risk(rule.score, (f"'{_short(found[0])}': {rule.why}",))


def _by_words(part: "_Part", *, begins: bool) -> Risk:
    done = _done(part.verbs)
    is_strange = not begins or bool(part.scopes) or not part.text.isascii() or _is_order(part.text)
    if not part.begins and is_strange and (done is None or done.kind in (_LOOK, _MAKE)):
        return _STRANGE
    if done is None:
        return Risk(_LOOK.score, (f"'{_short(part.text)}' belongs to another action",))
    return _weighed(part, done)


def _is_order(text: str) -> bool:
    """Whether something is done by a word that is not known: a command with an option, or a word with an object."""
    return _COMMAND.match(text) is not None or unknown_order(text, 0)


def _done(verbs: tuple[_Verb, ...]) -> _Verb | None:
    """The gravest verb of what is done; where one only looks or writes, what is told of does not count."""
    spares = bool(verbs) and verbs[0].kind in (_LOOK, _MAKE)
    counted = [verb for verb in verbs if not (spares and verb.told)]
    return max(counted, key=lambda verb: verb.kind.score, default=None)


def _weighed(part: "_Part", verb: _Verb) -> Risk:
    kind, targets = verb.kind, part.targets
    does = f"'{verb.word}' {kind.does}"
    if kind is _LOOK:
        secret = [one for one in targets if one.looking]
        graver = max((one.looking for one in secret), default=0)
        return Risk(kind.score + graver, (does, *(f"It concerns {one.name}" for one in secret)))
    if kind is _MAKE:
        targets = tuple(one for one in targets if one.looking or one in part.outside)
    graver = max((one.weight for one in targets), default=0) + sum(one.weight for one in part.scopes)
    share = _SHARE_OF_MAKING if kind is _MAKE else 1.0
    factors = (does, *(f"It concerns {one.name}" for one in (*targets, *part.scopes)))
    return Risk(min(100, kind.score + round(share * graver)), factors)


class _Part:
    """One action in a text, with what its words mean. ``acts`` is the text without what it only speaks of."""

    def __init__(self, text: str) -> None:
        self.text = self.acts = text
        verbs = _verbs(text)
        looks = _ASKED.match(text) or LOOKING.search(text)
        if looks and not any(verb.at < looks.start() for verb in verbs):
            verbs = (_said(looks[0], _LOOK), *(verb for verb in verbs if verb.at >= looks.end()))
        safe = _safe(text)
        if not safe and verbs and (verbs[0].kind is _LOOK or WRITING.match(text)):
            masked = without_mentions(text, verbs[0].word)
            if masked != text and verbs[0].word in masked:
                self.acts, verbs = masked, (verbs[0], *_verbs(masked))
                safe = _safe(masked)
        if safe:
            kind = _LOOK if SAFE.match(self.acts) else _MAKE
            verbs = (_said(text, kind), *(verb for verb in verbs if verb.at >= safe.end()))
            self.acts = self.acts[safe.end() :]
        tokens = _TOKENS.findall(self.acts or text)
        self.verbs = verbs
        self.begins = safe is not None or any(verb.leads and verb.place < _WHERE_IT_BEGINS for verb in verbs)
        """Whether it is known what is done: there is a verb where the sentence begins."""
        self.targets = tuple(dict.fromkeys(one for one, _, _ in TARGETS.found(self.acts or text, tokens)))
        plain = _TOKENS.findall(_FILE.sub(" ", self.acts))
        self.scopes = tuple(dict.fromkeys(one for one, _, _ in SCOPES.found(self.acts, plain)))
        self.outside = frozenset(one for one, _, _ in TARGETS.found(self.acts, plain))
        """What it is done to, but for words that are only in the name of a file."""


def _said(text: str, kind: Kind) -> _Verb:
    return _Verb(kind, told=False, at=0, place=0, word=_short(text))


def _safe(text: str) -> re.Match[str] | None:
    """What of a text changes nothing of others, if nothing in it is a sentence that says otherwise."""
    safe = SAFE.match(text) or LOCAL.match(text)
    if safe is None or any(rule.pattern.search(safe[0]) for rule in RULES if rule.always):
        return None
    words = (WORDS.get(one) for one in _SENTENCE.findall(without_quotes(safe[0])))
    return None if any(sense is not None and sense.kind.score >= _UNKNOWN for sense in words) else safe


def _verbs(text: str) -> tuple[_Verb, ...]:
    """The words that say what is done, in their order."""
    found = [*_TOKENS.finditer(text)]
    tokens = [one[0] for one in found]
    verbs = [*_english(text, found, tokens)]
    foreign = [*FOREIGN.found(text, tokens)]
    if foreign:
        starts = [one.start() for one, token in zip(found, tokens, strict=True) if token not in FILLERS]
        for kind, word, number in foreign:
            at = text.find(word) if number is None else found[number].start()
            verbs.append(_Verb(kind, told=False, at=at, place=bisect_left(starts, at), word=word))
    return tuple(sorted(verbs, key=lambda verb: verb.at))


def _english(text: str, found: list[re.Match[str]], tokens: list[str]) -> Iterator[_Verb]:
    place, first, before = 0, "", ""
    for index, token in enumerate(tokens):
        sense = WORDS.get(token)
        if sense is not None and (sense.form is not Form.FIRST or (not first and place < 2) or before in LEADS):
            match, is_last = found[index], index == len(tokens) - 1
            after = "" if is_last else tokens[index + 1]
            is_noun = first != "" and before not in LEADS and _is_noun(text, match, before, after)
            ends = is_last and first in CAUSING
            told = is_noun or (sense.form is Form.TOLD and not ends)
            leads = place == 0 or before in LEADS or text[max(0, match.start() - 1)] == "."
            yield _Verb(sense.kind, told=told, at=match.start(), place=place, word=token, leads=leads)
            first = first or token
        place += not (token in FILLERS or token.endswith("ly"))
        before = token


def _is_noun(text: str, match: re.Match[str], before: str, after: str) -> bool:
    """Whether a word only names something: after an article, or inside a name such as purge_cache."""
    joined = text[max(0, match.start() - 1) : match.start()].replace("(", "") + text[match.end() : match.end() + 1]
    return before in ARTICLES or (after not in DETERMINERS and any(sign in joined for sign in "_-/("))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
