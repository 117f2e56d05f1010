"""What a server declares of a tool in its annotations. It is a claim as any other, and may be a lie."""

from collections.abc import Iterator
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.classifying.values import Evidence, Hints, Risk, Witness

__all__ = ["evidence_of_hints"]

_SAID: Final = 0.75
_IMPLIED: Final = 0.3
_BY_DEFAULT: Final = 0.5


def evidence_of_hints(hints: Hints) -> Iterator[Evidence | Risk]:
    """What annotations speak for. Where there are none, MCP's defaults for them mean nothing."""
    if hints.read_only is True:
        yield Evidence(Witness.ANNOTATION, Category.READ, _SAID, "readOnlyHint is true")
    elif hints.read_only is False:
        yield Evidence(Witness.ANNOTATION, None, _SAID, "readOnlyHint is false")
    if hints.destructive:
        yield Evidence(Witness.ANNOTATION, None, _IMPLIED, "destructiveHint is true")
        yield Risk(Witness.ANNOTATION, DangerLevel.DESTRUCTIVE, 0.9, "destructiveHint is true", declared=True)
    elif hints.destructive is None and hints.given and not hints.read_only:
        words = "its annotations leave open whether it destroys something"
        yield Risk(Witness.ANNOTATION, DangerLevel.DESTRUCTIVE, _BY_DEFAULT, words)
