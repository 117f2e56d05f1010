"""The single actions in a hint that names several: the worst of them counts."""

import re
from collections.abc import Iterator
from typing import Final

from headgate.safety.autonomy.lexicon import DETERMINERS, FUNCTION, KINDS, NO_VERBS, WORDS, Form

__all__ = ["split", "unknown_order"]

_BETWEEN: Final = re.compile(
    r"(?:\s*(?:;|&&|\|\||\||(?<=\s)&(?=\s))\s*)"
    r"|(?:[,.]?\s+(?:and then|and also|and|then|after that|afterwards|followed by|before|while|und dann|und|dann|"
    r"et puis|et|puis|y luego|y|luego|e poi|e depois|и потом|и затем|и|затем|然后|并且|そして)\s+)"
    r"|(?:[.!?]\s+)"
    r"|(?:\s*(?:然后|并且|そして|、|；|。)\s*)"
)
_SIGNS: Final = re.compile(r"\s*(?:[,:(){}\[\]•→⇒—–]|\s[-/]{1,2}\s|->|=>|\b\d\s?\))\s*")
_VERBAL: Final = re.compile(r"(?:[^\W_]{2,}(?:ate|ify|ise|ize|yse|yze))\s+[^\W_]")
_TOKEN: Final = re.compile(r"([^\W_]+)(?![\w(/-])(?:\s+([^\W_]+))?")


def split(text: str) -> tuple[str, ...]:
    """The actions in a folded text, in their order; the text itself if it holds nothing but signs between them."""
    parts = (one.strip() for part in _BETWEEN.split(text) for one in _clauses(part))
    return tuple(dict.fromkeys(part for part in parts if part)) or (text,)


def _clauses(part: str) -> Iterator[str]:
    """A part at each sign after which something is done: "which are old, delete them"."""
    kept = 0
    for sign in _SIGNS.finditer(part):
        if _is_action(part, sign.end()):
            yield part[kept : sign.start()]
            kept = sign.end()
    yield part[kept:]


def _is_action(part: str, at: int) -> bool:
    """Whether a verb of more than looking stands there; a word that may be another thing needs what it is done to."""
    found = _TOKEN.match(part, at)
    sense = WORDS.get(found[1]) if found else None
    if found is None or sense is None:
        return unknown_order(part, at)
    if sense.kind is KINDS["look"] or sense.form is Form.TOLD:
        return False
    return sense.form is Form.DONE or found[2] in DETERMINERS


def unknown_order(text: str, at: int) -> bool:
    """Whether a word that is not known stands there with what something is done to: then it is a verb, "scuttle it".

    So is one that ends as verbs do and has another word after it: "obliviate customers".
    """
    found = _TOKEN.match(text, at)
    if found is None or found[1] in FUNCTION or found[1] in WORDS:
        return False
    return found[2] in DETERMINERS or (_VERBAL.match(text, at) is not None and found[1] not in NO_VERBS)
