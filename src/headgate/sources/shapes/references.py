"""Where references of a schema lead: by pointer, anchor or identifier, always inside the document."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

__all__ = ["References", "Target"]

_MOST_PARTS: Final = 500_000
_LONGEST_INDEX: Final = 9


class Target(NamedTuple):
    """What a reference leads to, the resource that it stands in, and the name of the place there."""

    schema: object
    resource: Mapping[str, Any]
    place: str


class References:
    """The references of one document. Nothing is ever fetched."""

    def __init__(self, root: object) -> None:
        self.root: Mapping[str, Any] = root if isinstance(root, Mapping) else {}

    def resource_of(self, schema: Mapping[str, Any], around: Mapping[str, Any]) -> Mapping[str, Any]:
        """The resource that references inside a schema start from: itself if it is one, or the one around it."""
        return schema if _identifier(schema) else around

    def target(self, reference: str, resource: Mapping[str, Any]) -> Target | None:
        """What a reference leads to, or None if that is nowhere in the document."""
        try:
            address, fragment = urldefrag(reference)
            homes = self._homes(address, resource)
        except ValueError:  # an address that is none
            return None
        place = unquote(fragment)
        for home in homes:
            found = _under(home, place) if place.startswith("/") or not place else self._anchors.get(place)
            if found is not None:
                return Target(found, home, place)
        return None

    def _homes(self, address: str, resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The resources that may be meant: an identifier that is only for show must not hide the document."""
        if not address:
            yield resource
            yield self.root
        for full in (urljoin(_identifier(resource) or _identifier(self.root), address), address):
            if full in self._resources:
                yield self._resources[full]

    @cached_property
    def _resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Every schema with an identifier, by that as it is written and in full."""
        base = _identifier(self.root)
        found: dict[str, Mapping[str, Any]] = {}
        for schema in self._parts:
            own = _identifier(schema)
            if own:
                found.setdefault(own, schema)
                found.setdefault(urljoin(base, own), schema)
        return found

    @cached_property
    def _anchors(self) -> Mapping[str, object]:
        found: dict[str, object] = {}
        for schema in self._parts:
            for name in _anchors_of(schema):
                found.setdefault(name, schema)
        return found

    @cached_property
    def has_unevaluated(self) -> bool:
        """Whether anything depends on which fields others speak of."""
        return any("unevaluatedProperties" in schema for schema in self._parts)

    @cached_property
    def _parts(self) -> list[Mapping[str, Any]]:
        """All objects of the document, as far as it is of a sane size."""
        found: list[Mapping[str, Any]] = []
        waiting: list[object] = [self.root]
        while waiting and len(found) < _MOST_PARTS:
            here = waiting.pop()
            if isinstance(here, Mapping):
                found.append(here)
                waiting += here.values()
            elif isinstance(here, list):
                waiting += here
        return found


def _identifier(schema: Mapping[str, Any]) -> str:
    """What a schema is called from outside, without a fragment."""
    own = schema.get("$id")
    return own.partition("#")[0] if isinstance(own, str) else ""


def _anchors_of(schema: Mapping[str, Any]) -> Iterator[str]:
    for key in ("$anchor", "$dynamicAnchor"):
        if isinstance(schema.get(key), str):
            yield schema[key]
    for key in ("$id", "id"):  # where drafts 4 to 7 have their anchors
        own = schema.get(key)
        if isinstance(own, str) and own.startswith("#"):
            yield own[1:]


def _under(root: object, pointer: str) -> object:
    """What a JSON pointer leads to, or None."""
    here = root
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping) and key in here:
            here = here[key]
        elif isinstance(here, list) and _is_index(key) and int(key) < len(here):
            here = here[int(key)]
        else:
            return None
    return here


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) <= _LONGEST_INDEX
