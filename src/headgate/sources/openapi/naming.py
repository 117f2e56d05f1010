"""Names of operations: as their document calls them, or after what they do to which resource."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.protocol.names import singular
from headgate.sources.naming import operation_names, snake

__all__ = ["Spot", "name_spots"]

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}
_LEFT_OUT: Final = frozenset({"api", "rest"})


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the paths of a document: a method on a path, perhaps with an id."""

    method: str
    path: str
    operation_id: str = ""

    @property
    def maps_to(self) -> str:
        """The request as people write it, such as ``GET /pets/{petId}``."""
        return f"{self.method} {self.path}"

    @property
    def own_name(self) -> str:
        """What the document calls it."""
        return self.operation_id or self.maps_to


def name_spots(spots: Sequence[Spot]) -> Mapping[Spot, str]:
    """For each place the name of its operation: unique, stable, and 64 characters or fewer."""
    wanted = {spot: spot.operation_id or _derived(spot) for spot in spots}
    counts = Counter(snake(name) for name in wanted.values())
    own: dict[Spot, str] = {}
    taken: set[str] = set()
    for spot in sorted(spots, key=lambda one: (one.path, one.method)):
        name = wanted[spot]
        if counts[snake(name)] > 1 and snake(name) in taken:
            name = f"{name} {spot.maps_to}"
        taken.add(snake(name))
        own[spot] = name
    names = operation_names([own[spot] for spot in spots])
    return {spot: names[own[spot]] for spot in spots}


def _derived(spot: Spot) -> str:
    """A verb for the method, and the words of the path: ``GET /pets/{petId}`` is ``get_pet``."""
    parts = [part for part in spot.path.split("/") if part]
    fixed = [snake(part) for part in parts if not part.startswith("{")]
    words = [word for word in fixed if word not in _LEFT_OUT and not _is_version(word)] or fixed or ["root"]
    is_item = bool(parts) and parts[-1].startswith("{")
    verb = _VERBS.get(spot.method, "get" if is_item or spot.method != "GET" else "list")
    if spot.method == "POST" and is_item:
        verb = "execute"
    if is_item or spot.method in ("POST", "PUT", "PATCH"):
        words = [*words[:-1], singular(words[-1])]
    return "_".join([verb, *words])


def _is_version(word: str) -> bool:
    return word[:1] == "v" and word[1:].replace("_", "").isdigit()
