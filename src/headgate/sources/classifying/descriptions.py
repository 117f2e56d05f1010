"""What the words of a tool say of it. Whoever writes them may lie, so that alone they never make a READ."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.classifying.values import Doubt, Evidence, Risk, Witness
from headgate.sources.classifying.verbs import FORMS, VERBS, Strength, Verb

__all__ = ["evidence_of_description", "evidence_of_title", "first_verb"]

_LONGEST: Final = 20_000
"""Characters that are read; a description that is longer gets no credit for what it says."""

_FIRST: Final = 0.5
_LOOSE: Final = 0.3
_JOINED: Final = 0.4
_LATER: Final = 0.3
_PHRASE: Final = 0.3
_DANGER: Final = 0.6
_WORDS_BEFORE: Final = 10
_OBJECT: Final = 6

_SENTENCE: Final = re.compile(r"[.!?;:](?=\s|\Z)|\n")
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LEADING: Final = frozenset({"that", "to", "for", "which", "you", "will", "it", "tool", "can", "also", "this"})
_ADVERBS: Final = frozenset({"also", "automatically", "then", "immediately", "safely", "simply", "directly"})
_ACTORS: Final = frozenset({"it", "tool"})
_JOINING: Final = frozenset({"and", "or", "then", "also"})
_ARTICLES: Final = frozenset({"a", "an", "the"})
_HEADINGS: Final = frozenset({"list", "view"})
"""What a heading ends with that begins with a noun, not a verb: 'Backups List'."""

_NEGATED: Final = re.compile(
    r"\b(?:(?:does|do|will|would|did|can)(?: not|n't)|doesn't|don't|won't|cannot|can't|never|without|no|not|nothing is)"
    r" (?:\w+ ){0,3}?(?:modif\w+|chang\w+|delet\w+|remov\w+|overwrit\w+|execut\w+|writ\w+|creat\w+|updat\w+|destr\w+"
    r"|side effects?|mutat\w+|alter\w*|affect\w*|data loss)(?:,? (?:and|or|nor) \w+)*",
    re.IGNORECASE,
)
_READ_ONLY: Final = re.compile(r"\bread[- ]only\b|\bnon-?destructive\b", re.IGNORECASE)
_GRAVE: Final = re.compile(
    r"\b(?:irreversibl\w+|(?:cannot|can't|can not|never) be (?:undone|reversed|recovered)|not reversible"
    r"|overwrit(?:e|es|ing)|permanently (?:delete|remove|erase)s?|(?:loses?|loss of|lose) (?:all )?(?:data|changes)"
    r"|data loss|destructive)\b",
    re.IGNORECASE,
)
_ARBITRARY: Final = re.compile(
    r"\b(?:execut|run|evaluat)\w*(?: \w+)? (?:arbitrary|any|shell|terminal|bash|system|python|javascript|js)\b",
    re.IGNORECASE,
)
_TAKING: Final = re.compile(
    r"\b(?:consum(?:e|es|ing)|dequeu\w+|acknowledg\w+|pub/?sub|pending (?:\S+ )?messages"
    r"|marks? (?:\w+ ){1,3}as read)\b",
    re.IGNORECASE,
)
_SAYINGS: Final = re.compile(r"\b(?:start here|drag[ -]and[ -]drop)\b", re.IGNORECASE)
"""What has a verb in it and means no such thing."""

_LOOKING: Final = frozenset({"search", "searches", "query", "lookup", "scan", "analysis", "calculation", "comparison"})
_LIGHT: Final = frozenset({"perform", "performs"})
"""Verbs whose meaning is what follows them: 'performs a search'."""

_INSTRUCTION: Final = re.compile(
    r"ignore (?:all |any )?(?:the )?(?:previous|prior|above|earlier|other)"
    r"|\b(?:classif|categori[sz])\w* (?:\w+ ){0,3}?as\b"
    r"|\btreat (?:\w+ ){1,3}?as (?:safe|read|harmless)|\b(?:tool|operation|function|it) is (?:\w+ )?(?:safe|harmless)\b"
    r"|\b(?:without|no|skip|bypass\w*|don't ask for|do not ask for) (?:\w+ )?(?:confirmation|approval|review)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention|ask|alert) (?:\w+ ){0,3}?user"
    r"|</?(?:important|system|secret|admin)>|system prompt"
    r"|\bcategory\W{1,3}read\b|\bdanger\w*\W{1,3}(?:level\W{1,3})?safe\b",
    re.IGNORECASE,
)


def evidence_of_title(title: str) -> Iterator[Evidence]:
    """What a title says against READ; for it, a title says nothing that a name would not."""
    verb = _leading_verb(_words(_bounded(title)), near=True)
    if verb and verb.category is not Category.READ and verb.strength is Strength.FIRM:
        yield Evidence(Witness.DESCRIPTION, verb.category, _PHRASE, f"the title says '{verb.word}'")


def evidence_of_description(description: str) -> Iterator[Evidence | Risk | Doubt]:
    """What the sentences of a description speak for, and whether they try to steer whoever reads them."""
    text = _bounded(description)
    doubts = list(_doubts(description, text))
    yield from doubts
    plain = _SAYINGS.sub(" ", _NEGATED.sub(" ", text))
    found = [*_of_sentences(plain), *_of_phrases(text, plain)]
    for one in found:
        if isinstance(one, Risk) or one.speaks_of_change or not doubts:
            yield one


def first_verb(description: str) -> Verb | None:
    """The verb that a description begins with; 'A list of …' lists, whatever that is there for."""
    sentences = (words for one in _SENTENCE.split(_bounded(description)) if (words := _words(one)))
    words = next(sentences, [])
    if words[1:2] == ["list"] and words[0] in _ARTICLES:
        return VERBS["list"]
    is_heading = len(words) > 1 and words[-1] in _HEADINGS and _ARTICLES.isdisjoint(words)
    return None if is_heading else _leading_verb(words)


def _bounded(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:_LONGEST]).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _doubts(whole: str, text: str) -> Iterator[Doubt]:
    if len(whole) > _LONGEST:
        yield Doubt("its description is too long to be read")
    if _INSTRUCTION.search(text):
        yield Doubt("its description tells its reader how to judge it")


def _of_sentences(text: str) -> Iterator[Evidence | Risk]:
    sentences = [words for one in _SENTENCE.split(text) if (words := _words(one))]
    if not sentences:
        return
    verb = _leading_verb(sentences[0])
    if verb:
        yield from _said(verb, _FIRST if verb.strength is not Strength.LOOSE else _LOOSE)
        yield from (one for other in _joined(sentences[0]) for one in _said(other, _JOINED))
    for words in sentences[1:]:
        yield from (one for other in _acting(words) for one in _said(other, _LATER))


def _said(verb: Verb, weight: float) -> Iterator[Evidence | Risk]:
    weight = min(weight, _PHRASE) if verb.strength is Strength.FAINT else weight
    yield Evidence(Witness.DESCRIPTION, verb.category, weight, f"'{verb.word}'")
    if verb.category is Category.DELETE and verb.strength is Strength.FIRM:
        yield Risk(Witness.DESCRIPTION, DangerLevel.DESTRUCTIVE, _DANGER, f"'{verb.word}'")


def _words(sentence: str) -> list[str]:
    return _WORD.findall(sentence.lower())


def _leading_verb(words: Sequence[str], *, near: bool = False) -> Verb | None:
    """The verb that a sentence begins with, or that follows words such as 'this tool' and 'allows you to'."""
    start = [*words[: 1 if near else _WORDS_BEFORE]]
    for place, word in enumerate(start):
        if word in FORMS and (place == 0 or start[place - 1] in _LEADING | _ADVERBS):
            is_looking = word in _LIGHT and not _LOOKING.isdisjoint(words[place : place + _OBJECT])
            return VERBS["query"] if is_looking else FORMS[word]
    return None


def _joined(words: Sequence[str]) -> Iterator[Verb]:
    """The firm verbs that stand beside the first one: 'create or update', 'gets it and deletes it'.

    Two plain ones deep in a sentence are the names of things: 'get view and edit restrictions'.
    """
    for place, (before, word) in enumerate(pairwise(words)):
        verb = FORMS.get(word)
        if before not in _JOINING or verb is None or verb.strength is not Strength.FIRM or not place:
            continue
        names_things = word == verb.word and place > 1 and words[place - 1] in VERBS
        if verb.category is not Category.READ and not names_things:
            yield verb


def _acting(words: Sequence[str]) -> Iterator[Verb]:
    """Who changes something in a later sentence, told by its form: 'Also deletes …', 'It changes …'."""
    for place, word in enumerate(words):
        verb = FORMS.get(word)
        if verb is None or verb.category is Category.READ or word == verb.word or word.endswith("ing"):
            continue
        before = words[place - 1] if place else ""
        is_told = not place or before in _LEADING | _ADVERBS | _JOINING
        if before in _ACTORS or (is_told and verb.strength is Strength.FIRM):
            yield verb


def _of_phrases(text: str, plain: str) -> Iterator[Evidence | Risk]:
    """What some turns of phrase say. They are told in our words: nothing of a foreign text is repeated."""
    if _NEGATED.search(text) or _READ_ONLY.search(text):
        yield Evidence(Witness.DESCRIPTION, Category.READ, _PHRASE, "it says to change nothing")
    if _GRAVE.search(_READ_ONLY.sub(" ", plain)):
        yield Evidence(Witness.DESCRIPTION, None, _PHRASE, "it cannot be undone")
        yield Risk(Witness.DESCRIPTION, DangerLevel.DESTRUCTIVE, _DANGER, "it cannot be undone")
    if _TAKING.search(plain):
        yield Evidence(Witness.DESCRIPTION, None, _PHRASE, "messages are taken, not only read")
    if _ARBITRARY.search(plain):
        yield Evidence(Witness.DESCRIPTION, Category.EXECUTE, _JOINED, "it speaks of arbitrary code or commands")
        yield Risk(Witness.DESCRIPTION, DangerLevel.DESTRUCTIVE, _DANGER, "it speaks of arbitrary code or commands")
