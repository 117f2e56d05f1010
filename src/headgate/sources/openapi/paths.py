"""The path of a request: a template, and the texts that take the place of its names."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import Invalid

__all__ = ["PathTemplate", "path_template"]

_NAME: Final = re.compile(r"\{([^{}/]+)\}")
_BETWEEN: Final = re.compile(r"[/\\]")
_ALLOWED: Final = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A path such as ``/pets/{petId}``, cut into its segments, each of texts and names by turns."""

    segments: tuple[tuple[str, ...], ...]
    query: tuple[tuple[str, str], ...] = ()
    """What the path says of its query itself, encoded."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, in their order."""
        return tuple(dict.fromkeys(part for segment in self.segments for part in segment[1::2]))

    def filled(self, text_of: Callable[[str], str]) -> str:
        """The path with the text of each name. No text can make a segment that leads elsewhere."""
        return "/".join(_filled(segment, text_of) for segment in self.segments)


def _filled(segment: tuple[str, ...], text_of: Callable[[str], str]) -> str:
    made = "".join(text_of(part) if place % 2 else part for place, part in enumerate(segment))
    if len(segment) > 1 and _leads_away(made):
        raise Invalid(segment[1], "it stands in a path, so it must not make a segment '.' or '..', or an empty one")
    return made


def _leads_away(made: str) -> bool:
    """Whether a server that decodes first would see another path."""
    return not made or not {".", ".."}.isdisjoint(_BETWEEN.split(unquote(made)))


def path_template(path: str) -> PathTemplate:
    """The template that a document has as a path. One that is no path of its own server is refused.

    What follows a '#' is never sent; documents have it where they describe one request in several ways.
    """
    path, _, query = path.partition("#")[0].partition("?")
    if not path.startswith("/"):
        raise AdapterError("a path must begin with '/'")
    if {".", ".."} & {unquote(part) for part in _BETWEEN.split(path)}:
        raise AdapterError("a path must not have the segments '.' and '..'")
    if "{" in query:
        raise AdapterError("a path must not hold names after a '?': write them as parameters")
    return PathTemplate(tuple(_cut(segment) for segment in path.split("/")), tuple(_pairs(query)))


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    for name, value in parse_qsl(query, keep_blank_values=True):
        yield quote(name, safe=""), quote(value, safe="")


def _cut(segment: str) -> tuple[str, ...]:
    parts = _NAME.split(segment)
    return tuple(part if place % 2 else quote(part, safe=_ALLOWED) for place, part in enumerate(parts))
