"""From ``fields`` to the paths that an answer shows, and to the columns that must be fetched for them."""

from collections.abc import Iterator, Sequence
from typing import Final

from headgate.protocol.errors import Invalid
from headgate.protocol.requests import parse_stringified
from headgate.query.caches import keep
from headgate.query.collections import COMPUTED, MINIMAL, Collection
from headgate.query.paths import Resolver
from headgate.query.refusals import unknown_name, wrong_type
from headgate.query.shapes import Path, SortKey

__all__ = ["Selector"]


_MOST_FIELDS: Final = 500
"""Names in one list; each way of selecting is compiled, which costs more the more there are."""


class Selector:
    """Reads field selections. The same selection always gives the same paths."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._selections: dict[tuple[Collection, object, object, str], tuple[Path, ...]] = {}

    def selection(self, collection: Collection, fields: object, preset: object, default: str) -> tuple[Path, ...]:
        """The paths that an answer shows. A list extends the preset if both are given."""
        key = (collection, tuple(fields) if isinstance(fields, list) else fields, preset, default)
        try:
            found = self._selections.get(key)
        except TypeError:  # a list inside the list: refused below
            found = None
        if found is None:
            found = tuple(dict.fromkeys(self._selected(collection, fields, preset, default)))
            keep(self._selections, key, found)
        return found

    def _selected(self, collection: Collection, fields: object, preset: object, default: str) -> Iterator[Path]:
        parsed = parse_stringified(fields)
        fields = fields if parsed is None else parsed
        if isinstance(fields, list | tuple) and not fields:
            raise Invalid("fields", "name a field or several, or leave it out")
        if isinstance(fields, str):
            yield from self._preset(collection, fields, "fields")
        if preset is not None or fields is None:
            yield from self._preset(collection, default if preset is None else preset, "preset")
        if isinstance(fields, list | tuple):
            if len(fields) > _MOST_FIELDS:
                raise Invalid("fields", f"names {len(fields):,} fields; {_MOST_FIELDS} are allowed")
            for place, name in enumerate(fields):
                if not isinstance(name, str):
                    raise wrong_type(f"fields[{place}]", "string", name)
                yield from self._field(collection, name)
        elif fields is not None and not isinstance(fields, str):
            raise wrong_type("fields", "string | array", fields)

    def _preset(self, collection: Collection, name: object, where: str) -> Iterator[Path]:
        if not isinstance(name, str):
            raise wrong_type(where, "string", name)
        if name not in collection.presets and where == "fields" and self._is_field(collection, name):
            yield from self._field(collection, name)
            return
        if name not in collection.presets:
            raise unknown_name(where, "preset", name, list(collection.presets))
        for field in collection.presets[name]:
            yield from self._field(collection, field)

    @staticmethod
    def _is_field(collection: Collection, name: str) -> bool:
        """Whether a text that is no preset is the one field that is wanted."""
        return name.partition(".")[0] in (*collection.fields, *collection.relationships, COMPUTED)

    def _field(self, collection: Collection, name: str) -> Iterator[Path]:
        """A path; a relationship alone stands for what is essential of its item."""
        start, _, last = name.rpartition(".")
        owner = self._owner(collection, start)
        target = self._one_step(owner, last)
        if target is None:
            yield self.resolver.path(collection, name, "fields")
            return
        for field in target.presets[MINIMAL]:
            yield self.resolver.path(collection, f"{name}.{field}", "fields")

    def _owner(self, collection: Collection, start: str) -> Collection | None:
        here: Collection | None = collection
        for hop in start.split(".") if start else ():
            here = self._one_step(here, hop)
        return here

    def _one_step(self, here: Collection | None, name: str) -> Collection | None:
        """Where a to-one relationship leads, if it is one."""
        relationship = here.relationships.get(name) if here else None
        return None if relationship is None or relationship.many else self.resolver.catalog.get(relationship.target)

    def columns(
        self, selection: tuple[Path, ...], order: Sequence[SortKey], collection: Collection
    ) -> tuple[Path, ...]:
        """What must be fetched: what is shown, what cursors are made of, and what Python functions compute from."""
        extra = [key.path for key in order]
        for path in selection:
            if _in_python(path):
                prefix = path.text.removesuffix(f"{COMPUTED}.{path.field.name}")
                extra += [self.resolver.path(collection, prefix + name, "fields") for name in path.collection.fields]
            extra += self._presences(path, collection)
            if path.keys:
                extra.append(self.whole(path, collection))
        shown = [path for path in selection if not path.keys and not _in_python(path)]
        return tuple(dict.fromkeys((*shown, *extra)))

    def whole(self, path: Path, collection: Collection) -> Path:
        """The field in which a path inside JSON lies."""
        return self.resolver.path(collection, path.text.removesuffix("." + ".".join(path.keys)), "fields")

    def _presences(self, path: Path, collection: Collection) -> Iterator[Path]:
        """The paths that tell, for each of a path's hops, whether the item it leads to is there at all."""
        steps = ""
        for hop in path.hops:
            steps += f"{hop.name}."
            yield self.resolver.path(collection, steps + hop.remote[0], "fields")


def _in_python(path: Path) -> bool:
    """Whether a path names what a Python function computes, which no backend can fetch."""
    return path.computed and path.collection.computed[path.field.name].function is not None
