"""Entries of a review file that wait for somebody to confirm them."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import orjson

from headgate.adapter.origins import Origin
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.visible import visible
from headgate.sources.curation import Curation

__all__ = ["Proposal", "with_proposals"]

_HEAD: Final = (
    "# What operations are taken for. Correct what is wrong, and take the line 'confirmed' out:\n"
    "# until then an entry counts for nothing.\n"
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Proposal:
    """An operation that somebody should look at."""

    name: str
    origin: Origin


def with_proposals(text: str, proposals: Iterable[Proposal], where: str) -> tuple[str, int]:
    """A review file with an entry for each operation that has none, and how many were added.

    What stands in it stays, letter for letter. An AdapterError says why nothing can be added.
    """
    known = _curation(text, where)
    new = {one.origin.own_name: one for one in proposals if known.entry(one.name, one.origin.own_name) is None}
    if not new:
        return text, 0
    before = text or _HEAD
    made = before + ("\n" if before.endswith("\n") else "\n\n") + "\n".join(_entry(one) for one in new.values())
    _curation(made, where)
    return made, len(new)


def _curation(text: str, where: str) -> Curation:
    try:
        return Curation.of(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise AdapterError(f"{where}: no entries can be added to it: {error}") from None


def _entry(proposal: Proposal) -> str:
    return "".join(f"{line}\n" for line in _lines(proposal))


def _lines(proposal: Proposal) -> Iterator[str]:
    origin = proposal.origin
    yield f"[operations.{_key(origin.own_name)}]"
    for evidence in dict.fromkeys((*origin.category.evidence, *origin.danger.evidence)):
        yield f"# {visible(evidence)[:_LONGEST]}"
    yield f'category = "{origin.category.value.lower()}"'
    yield f'danger = "{origin.danger.value}"'
    yield "confirmed = false"


def _key(name: str) -> str:
    """A name as TOML writes a key; a text of JSON is one of TOML, but for two signs that JSON leaves as they are."""
    if _BARE.match(name):
        return name
    return orjson.dumps(name).decode().replace("\x7f", "\\u007f")
