"""Media types: what kind of body each stands for, and which one of several is taken."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

__all__ = ["Kind", "kind_of", "preferred"]


class Kind(StrEnum):
    """The kinds of bodies, the ones that are the easiest to give first."""

    JSON = "json"
    FORM = "form"
    MULTIPART = "multipart"
    TEXT = "text"
    BINARY = "binary"


_TEXTS: Final = frozenset({"application/xml", "application/yaml", "application/x-yaml", "application/graphql"})
_RANKS: Final = {kind: rank * 10 for rank, kind in enumerate(Kind)}
_UNLIKE_A_RESOURCE: Final = "application/json-patch+json"


def kind_of(media: str) -> Kind:
    """The kind of body that a media type stands for."""
    name = _bare(media)
    if name in ("*/*", "application/*", "text/json") or name == "application/json" or name.endswith("+json"):
        return Kind.JSON
    if name == "application/x-www-form-urlencoded":
        return Kind.FORM
    if name.startswith("multipart/"):
        return Kind.MULTIPART
    if name.startswith("text/") or name in _TEXTS or name.endswith(("+xml", "+yaml")):
        return Kind.TEXT
    return Kind.BINARY


def preferred(offered: Iterable[str], method: str) -> str:
    """The media type to send: JSON if it can be, and for a PATCH the one in which a field left out stays as it is."""
    return min(offered, key=lambda media: (_rank(_bare(media), method), media))


def _rank(name: str, method: str) -> int:
    rank = _RANKS[kind_of(name)]
    if name == "application/merge-patch+json":
        return rank if method == "PATCH" else rank + 2
    if name == "application/json":
        return rank + 1
    if name == _UNLIKE_A_RESOURCE:
        return rank + 5
    return rank + (4 if "*" in name else 3)


def _bare(media: str) -> str:
    return media.partition(";")[0].strip().lower()
