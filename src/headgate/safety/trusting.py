"""The trust in an adapter as it is on record: who raised or lowered it, when and why (Trust Levels 3, 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.protocol.danger import Trust
from headgate.protocol.times import timestamp
from headgate.safety.auditing import TRUST
from headgate.safety.trust import DEFAULT_TRUST, refused_change
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.records import Record

__all__ = ["TrustError", "Trusted", "change_trust", "effective_trust", "recorded_trust"]

_KIND: Final = "trust"


class TrustError(ValueError):
    """Trust cannot change in this way; the words say why."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """An adapter's trust and how it came about, the latest change last."""

    level: Trust
    history: Sequence[Mapping[str, Any]]


async def recorded_trust(store: Store, adapter: str) -> Trusted | None:
    """What is on record of an adapter, if anything is."""
    record = await store.find(_KIND, adapter)
    return _read(record) if record else None


def _read(record: Record) -> Trusted:
    value: Mapping[str, Any] = record.value
    return Trusted(Trust(value["level"]), value["history"])


async def effective_trust(store: Store, adapter: str, asked: Trust | None, origin: Trust | None, now: float) -> Trust:
    """The trust that counts: what an operator asks for, else what is on record, else what the origin says.

    An operator may ask for anything; that it is not what is on record is told in the audit.
    """
    recorded = await recorded_trust(store, adapter)
    known = recorded.level if recorded else origin or DEFAULT_TRUST
    if asked is None or asked is known:
        return known
    change = {"from": known.value, "to": asked.value, "by": "configuration"}
    await store.append([Entry(at=now, event=TRUST, adapter=adapter, details=change)])
    return asked


async def change_trust(
    store: Store, adapter: str, new: Trust, *, by: str, reason: str, now: float, before: Trust
) -> Trusted:
    """Raise trust by one level, or lower it; ``before`` is what counts if nothing is on record yet."""
    record = await store.find(_KIND, adapter)
    old = _read(record) if record else Trusted(before, [])
    refused = refused_change(old.level, new)
    if refused:
        raise TrustError(f"The trust in '{adapter}' cannot become {new}: {refused}.")
    change = {"from": old.level.value, "to": new.value, "at": timestamp(now), "by": by, "reason": reason}
    history = [*old.history, change]
    value = {"level": new.value, "history": history}
    entry = Entry(at=now, event=TRUST, adapter=adapter, caller=by, details=change)
    done = (
        await store.insert(Record(_KIND, adapter, value), [entry])
        if record is None
        else await store.replace(record.having(**value), [entry])
    )
    if not done:
        raise TrustError(f"The trust in '{adapter}' was changed by somebody else meanwhile: look again.")
    return Trusted(new, history)
