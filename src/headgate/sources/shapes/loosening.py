"""What follows from a schema that was loosened, for those that say the opposite of it or count what fits.

``not`` of something that now takes more would take less, and of one of several nothing may fit twice. So whatever leads
to a loosened part is loosened too.
"""

from collections.abc import Container, Mapping
from typing import Final

from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import children_of, target_of, with_children

__all__ = ["LOOSE", "settled"]

LOOSE: Final = "·loose"
"""The mark of a schema that takes more than the one it was made from; no keyword is called so."""


def settled(schema: Schema, definitions: Mapping[str, Schema]) -> tuple[Schema, dict[str, Schema]]:
    """The schema and its definitions without the marks, and without what would take less because of them."""
    work = _Work(_loose_names(definitions))
    return work.settle(schema)[0], {name: work.settle(child)[0] for name, child in definitions.items()}


def _loose_names(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that are loose, or lead to one that is."""
    users: dict[str, list[str]] = {}
    loose: list[str] = []
    for name, schema in definitions.items():
        waiting = [schema]
        while waiting:
            here = waiting.pop()
            users.setdefault(target_of(here) or "", []).append(name)
            if LOOSE in here:
                loose.append(name)
            waiting += children_of(here)
    found: set[str] = set()
    while loose:
        name = loose.pop()
        if name not in found:
            found.add(name)
            loose += users.get(name, ())
    return frozenset(found)


class _Work:
    def __init__(self, loose: frozenset[str]) -> None:
        self._loose = loose

    def settle(self, schema: Schema) -> tuple[Schema, bool]:
        """One schema, and whether it takes more than it should."""
        loose_keys: set[str] = set()

        def settled_child(key: str, child: Schema) -> Schema:
            made, is_loose = self.settle(child)
            if is_loose:
                loose_keys.add(key)
            return made

        made = with_children(schema, settled_child)
        is_loose = made.pop(LOOSE, False) or target_of(schema) in self._loose or bool(loose_keys)
        _drop_opposites(made, loose_keys)
        return made, is_loose


def _drop_opposites(made: Schema, loose_keys: Container[str]) -> None:
    """Leave out the keywords that take less when what is inside them takes more."""
    if "not" in loose_keys:
        del made["not"]
    if "if" in loose_keys:  # the fields that its outcomes speak of are still spoken of
        outcomes = [made.pop(key) for key in ("then", "else") if key in made]
        made["allOf"] = [*made.get("allOf", ()), {"anyOf": [*outcomes, {}]}]
    if "contains" in loose_keys:
        made.pop("maxContains", None)
    if "oneOf" in loose_keys:
        made["allOf"] = [*made.get("allOf", ()), {"anyOf": made.pop("oneOf")}]
