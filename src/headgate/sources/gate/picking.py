"""A source of which its operator serves a part, perhaps under other words."""

import logging
from collections.abc import AsyncIterator
from typing import Final

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import Operation
from headgate.safety.policy.rules import Policy
from headgate.sources.curation import Curation, curated
from headgate.sources.source import Source

__all__ = ["Picked", "picked"]

_LOG: Final = logging.getLogger("headgate")


class Picked:
    """Another source, with what a curation picks, renames and describes of it."""

    def __init__(self, source: Source, curation: Curation) -> None:
        self._source = source
        self._curation = curation

    @property
    def name(self) -> str:
        """What the source is called."""
        return self._source.name

    @property
    def policy(self) -> Policy | None:
        """What the source demands of itself."""
        found = getattr(self._source, "policy", None)
        return found if isinstance(found, Policy) else None

    async def open(self) -> Adapter:
        """What is picked of what it offers now."""
        return picked(await self._source.open(), self._curation)

    async def changes(self) -> AsyncIterator[Adapter]:
        """What is picked of each of its versions."""
        async for adapter in self._source.changes():
            yield picked(adapter, self._curation)

    async def close(self) -> None:
        """Close the source."""
        await self._source.close()


def picked(adapter: Adapter, curation: Curation) -> Adapter:
    """What a curation picks of an adapter. It has the operations' categories as they are: they follow from code."""
    made = Adapter(
        adapter.name, adapter.description, version=adapter.version, profile=adapter.profile, trust=adapter.trust
    )
    known: list[str] = []
    for operation in adapter.operations.values():
        own = operation.origin.own_name if operation.origin else operation.name
        known += [operation.name, own]
        if curation.picks(operation.name, own):
            made.add(_worded(operation, own, curation))
    for entry in curation.unused(known):
        _LOG.warning("'%s': %s", adapter.name, entry)
    made.put_together(adapter.collections, adapter.scorers)
    made.on_close(adapter.close)
    return made


def _worded(operation: Operation, own: str, curation: Curation) -> Operation:
    choice = curation.choice(operation.name, own)
    if choice is None:
        return operation
    if choice.category not in (None, operation.category):
        _LOG.warning("'%s' stays %s: its category follows from its code", operation.name, operation.category)
    return curated(operation, choice)
