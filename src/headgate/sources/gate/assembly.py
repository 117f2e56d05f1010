"""Several adapters as one: every operation under a name that tells it apart. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.adapter.adapter import Adapter
from headgate.adapter.collections.joining import JoinedCollections
from headgate.adapter.operations import Operation
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.protocol.profiles import CRUDE, Profile
from headgate.sources.naming import operation_names, snake

__all__ = ["Collision", "Piece", "assembled", "served_names"]

_LONGEST: Final = 64


class Collision(AdapterError):
    """Two sources have an operation of one name, and their prefixes do not tell them apart."""

    def __init__(self, first: str, second: str, operation: str) -> None:
        super().__init__(
            f"Sources '{first}' and '{second}' both have an operation '{operation}': set another prefix for '{second}'"
        )
        self.source = second


@dataclass(frozen=True, slots=True)
class Piece:
    """One source's share. ``prefix`` is what its operations' names begin with; None leaves it to the others' names."""

    source: str
    adapter: Adapter
    prefix: str | None = None


def assembled(name: str, pieces: Sequence[Piece]) -> Adapter:
    """One adapter of all pieces. A Collision names both sources of an operation that cannot be told apart."""
    whole = Adapter(name, _description(pieces), version=_version(pieces), profile=_profile(pieces))
    names = served_names(pieces)
    for piece in pieces:
        for operation in piece.adapter.operations.values():
            served = operation.as_part_of(piece.source, names[piece.source, operation.name])
            whole.add(_placed(served, whole.profile))
    prefixes = {piece.source: piece.prefix or "" for piece in pieces}
    collections = {piece.source: piece.adapter.collections for piece in pieces}
    scorers = (scorer for piece in pieces for scorer in piece.adapter.scorers)
    whole.put_together(JoinedCollections(collections, prefixes), scorers)
    return whole


def served_names(pieces: Sequence[Piece]) -> Mapping[tuple[str, str], str]:
    """The name of each operation by its source and its name there.

    A source with a prefix has it everywhere. One without keeps its names; where several have the same one, each of
    them is told apart by its source's name, whichever was there first.
    """
    wanted: dict[str, list[tuple[Piece, str]]] = defaultdict(list)
    for piece in pieces:
        for name in piece.adapter.operations:
            wanted[f"{piece.prefix}_{name}" if piece.prefix else name].append((piece, name))
    names: dict[tuple[str, str], str] = {}
    unclear: list[tuple[Piece, str]] = []
    holders: dict[str, str] = {}
    for served, claims in wanted.items():
        for piece, name in claims:
            if len(claims) > 1 and piece.prefix is None:
                unclear.append((piece, name))
                continue
            is_free = len(served) <= _LONGEST and served not in RESERVED_OPERATIONS
            chosen = served if is_free else operation_names([served])[served]
            if chosen in holders:
                raise Collision(holders[chosen], piece.source, chosen)
            holders[chosen] = piece.source
            names[piece.source, name] = chosen
    for piece, name in unclear:
        own = f"{snake(piece.source)}_{name}"
        chosen = operation_names([own], taken=holders)[own]
        holders[chosen] = piece.source
        names[piece.source, name] = chosen
    return names


def _placed(operation: Operation, profile: Profile) -> Operation:
    """An operation in the family of its category, where its author's profile is not the one that is served."""
    if operation.endpoint and profile.family(operation.endpoint) is None:
        vars(operation)["endpoint"] = None
    return operation


def _profile(pieces: Sequence[Piece]) -> Profile:
    profiles = [piece.adapter.profile for piece in pieces]
    return profiles[0] if profiles and all(one == profiles[0] for one in profiles) else CRUDE


def _description(pieces: Sequence[Piece]) -> str:
    if len(pieces) == 1:
        return pieces[0].adapter.description
    return f"Several sources: {', '.join(piece.source for piece in pieces)}" if pieces else ""


def _version(pieces: Sequence[Piece]) -> str:
    return pieces[0].adapter.version if len(pieces) == 1 else "0.1.0"
