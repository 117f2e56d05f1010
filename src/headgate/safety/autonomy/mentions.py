"""What a text only speaks of: whoever looks something up names dangerous things without doing them."""

import re
from typing import Final

from headgate.safety.autonomy.lexicon import KINDS, SHELL, TRYING, WORDS, Form

__all__ = ["without_assurances", "without_mentions", "without_quotes"]

_MEANS: Final = "".join(
    rf"(?<!\b{word} )"
    for word in ("by", "via", "do", "run", "using", "execute", "perform", "click", "press", "hit", "tap")
)
_QUOTED: Final = re.compile(rf"{_MEANS}(?:\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w))")
"""What is quoted, and is not the means by which something is done."""
_QUOTES: Final = frozenset("\"'“«")
_TICKED: Final = re.compile(rf"{_MEANS}`[^`]*`")
_BEGINS: Final = (
    "how|what|why|about|titled|entitled|named|which|where|when|sobre|como|uber|wie|warum|comment|pourquoi|whether"
)
_ENDS: Final = r"\bby\b|[,:;(){}\[\]•→⇒—–]|\s[-/]\s|->|=>|\b\d\s?\)|$"
"""Where one goes on to something else: at a sign, or where it is said by what means."""
_SPOKEN_OF: Final = re.compile(rf"\b(?:{_BEGINS})\b.*?(?={_ENDS})|(?:关于|について|에 대한).*", re.DOTALL)
_DOING: Final = "|".join(
    sorted(
        word
        for word, sense in WORDS.items()
        if word.endswith("ing") and sense.form is not Form.TOLD and sense.kind.score >= KINDS["remove"].score
    )
)
_COMES_OF: Final = rf"\b(?:if|when|once|after|as|while|upon)\s+(?:(?:we|you|i)|{_DOING})\b"
_TRIED: Final = re.compile(
    rf"(?!{_COMES_OF}|\bwhether\s+(?:{_DOING})\b)\b(?:{_BEGINS})\b.*?(?={_ENDS}|{_COMES_OF})", re.DOTALL
)
"""The same where one looks at what comes of doing something: then it has to be done."""
_NAMED: Final = re.compile(
    r"\b(?:calls?|callers?|uses?|usages?|references?|occurrences?|definitions?|implementations?)\s+(?:to|of)\s+[\w.]+(?:\(\))?"
)
"""Where a name is used."""
_READ_ONLY: Final = re.compile(r"\bread.only\b")
_NOT_DONE: Final = re.compile(
    r"\b(?<!not )(?:without|not|never|before)\s+(\w+ing)\s+(?:anything|any\s+\w+|it|them)\b(?:\s+(?:yet|else|for now))?"
)
_KEPT_AS_IT_IS: Final = frozenset(("changing", "modifying", "touching", "altering", "editing", "writing"))
_GRAVE: Final = 40


def without_mentions(action: str, verb: str) -> str:
    """An action that only looks at something, without what it only speaks of: quotations, and what is explained.

    ``verb`` is the word for looking.
    """
    plain = without_quotes(_READ_ONLY.sub(" ", action))
    plain = _NAMED.sub(" … ", plain if verb in SHELL or "`" not in plain else _TICKED.sub(" … ", plain))
    return (_TRIED if verb in TRYING else _SPOKEN_OF).sub(" … ", plain)


def without_quotes(text: str) -> str:
    """A text without what it quotes."""
    return text if _QUOTES.isdisjoint(text) else _QUOTED.sub(" … ", text)


def without_assurances(text: str) -> str:
    """A text without what it says is not done: "not sending it yet". That something is not kept is no such thing."""
    return _NOT_DONE.sub(_left_of, text)


def _left_of(found: re.Match[str]) -> str:
    verb = found[1]
    sense = WORDS.get(verb)
    is_before = found[0].startswith("before")
    is_done = sense is not None and sense.kind.score >= _GRAVE and not is_before
    return " " if is_done or verb in _KEPT_AS_IT_IS else found[0]
