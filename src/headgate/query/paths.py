"""From the dotted paths that callers write to fields: over to-one relationships, and into JSON."""

import re
from collections.abc import Iterator
from typing import Final

from headgate.query.caches import keep
from headgate.query.collections import COMPUTED, Catalog, Collection, Relationship
from headgate.query.kinds import Kind
from headgate.query.refusals import not_allowed, unknown_name
from headgate.query.shapes import Path

__all__ = ["Resolver"]

_KEY: Final = re.compile(r"[^\"\\\x00-\x1f]{1,100}\Z")
_LONGEST: Final = 500
_MOST_HOPS: Final = 5


class Resolver:
    """Knows the fields that can be reached from each collection. The same text always gives the same path."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._paths: dict[tuple[Collection, str], Path] = {}

    def path(self, collection: Collection, text: str, where: str) -> Path:
        """The path that a text names, or an error that says what is near and what is valid."""
        found = self._paths.get((collection, text))
        if found is None:
            found = keep(self._paths, (collection, text), self._resolve(collection, text, where))
        return found

    def _resolve(self, start: Collection, text: str, where: str) -> Path:
        parts = text.split(".") if len(text) <= _LONGEST else []
        hops: list[Relationship] = []
        here = start
        for place, part in enumerate(parts):
            rest = tuple(parts[place + 1 :])
            if part in here.fields:
                return self._inside(Path(text, here, here.fields[part], tuple(hops), False, rest), where)
            if part == COMPUTED and len(rest) == 1 and rest[0] in here.computed:
                return Path(text, here, here.computed_fields[rest[0]], tuple(hops), True)
            relationship = here.relationships.get(part)
            target = self.catalog.get(relationship.target) if relationship else None
            if relationship is None or target is None or len(hops) == _MOST_HOPS:
                break
            if relationship.many:
                raise not_allowed(
                    where,
                    text,
                    f"leads to many {relationship.target}: list those and filter them by their {start.singular}, "
                    "or use query_relationships",
                )
            hops.append(relationship)
            here = target
        raise unknown_name(where, "field", text, self.names(start))

    @staticmethod
    def _inside(path: Path, where: str) -> Path:
        if path.keys and path.field.kind is not Kind.JSON:
            raise not_allowed(
                where, path.text, f"has nothing inside '{path.field.name}', which is {path.field.kind.word}"
            )
        for key in path.keys:
            if not _KEY.match(key):
                raise not_allowed(where, path.text, "names a key which is empty, too long, or has quotes in it")
        return path

    def names(self, collection: Collection) -> list[str]:
        """The fields of a collection, its computed fields, and those one step away."""
        return list(self._names(collection))

    def _names(self, collection: Collection) -> Iterator[str]:
        yield from collection.fields
        yield from (f"{COMPUTED}.{name}" for name in collection.computed)
        for name, relationship in collection.relationships.items():
            target = self.catalog.get(relationship.target)
            if target is not None and not relationship.many:
                yield from (f"{name}.{one}" for one in target.fields)
