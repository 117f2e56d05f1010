"""The single actions in a hint that names several: the worst of them counts."""

import re
from typing import Final

__all__ = ["split"]

_BETWEEN: Final = re.compile(
    r"(?:\s*(?:;|&&|\|\||\||\n)\s*)"
    r"|(?:[,.]?\s+(?:and then|and also|and|then|after that|afterwards|followed by|before|while|und dann|und|dann|"
    r"et puis|et|puis|y luego|y|luego|e poi|e depois|и потом|и затем|и|затем|然后|并且|そして)\s+)"
    r"|(?:[.!?]\s+)"
    r"|(?:\s*(?:然后|并且|そして|、|；|。)\s*)"
)


def split(text: str) -> tuple[str, ...]:
    """The actions in a folded text, in their order; the text itself if it holds nothing but signs between them."""
    parts = (one.strip() for one in _BETWEEN.split(text))
    return tuple(dict.fromkeys(part for part in parts if part)) or (text,)
