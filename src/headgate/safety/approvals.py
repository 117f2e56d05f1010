"""What a person does through a channel of their own: see what waits, approve it, or turn it down."""

from collections.abc import Mapping
from dataclasses import replace

from headgate.protocol.canonical import digest
from headgate.safety.auditing import APPROVED, REVOKED
from headgate.safety.clock import Clock
from headgate.safety.confirmations import KEPT_SECONDS, entry_of_grant, grants_of
from headgate.safety.grants import APPROVAL, GRANT, Grant, Purpose, new_id
from headgate.safety.loop.agents import RECORD_STEP
from headgate.store.interface import Store
from headgate.store.records import NEW

__all__ = ["approve", "approve_changed", "turn_down", "waiting"]


async def waiting(store: Store, now: float) -> list[Grant]:
    """All that waits for a person, the oldest first."""
    pending = (grant for grant in await grants_of(store) if grant.is_pending and grant.expires_at > now)
    return sorted(pending, key=lambda grant: grant.issued_at)


async def approve(store: Store, approval_id: str, by: str, clock: Clock) -> str | None:
    """Approve one call; its token, which is shown to the person alone, or None if nothing of that id waits."""
    grant = await _pending(store, approval_id, clock())
    if grant is None:
        return None
    now = clock()
    approved, token = grant.with_secret(approved_at=now, approved_by=by)
    done = await store.replace(approved.record(KEPT_SECONDS), [entry_of_grant(grant, APPROVED, now, by=by)])
    return token if done else None


async def approve_changed(
    store: Store, approval_id: str, params: Mapping[str, object], by: str, clock: Clock
) -> Grant | None:
    """Approve the same operation with other parameters in place of a call; None if no call of that id waits.

    What was asked for can never run; the caller is told which call it may send instead. The parameters must be as the
    operation takes them, and nothing in them may have to be hidden.
    """
    grant = await _pending(store, approval_id, clock())
    if grant is None or grant.purpose is not Purpose.CONFIRMATION or grant.binding.operation == RECORD_STEP:
        return None
    now, binding = clock(), replace(grant.binding, params_digest=digest(params))
    other = replace(
        grant,
        id=new_id(),
        binding=binding,
        message=f"Run {binding.operation} as a person has changed it?",
        params=params,
        secret_hash=None,
        approved_at=now,
        approved_by=by,
        version=NEW,
    )
    old = replace(grant, revoked_at=now, replaced_by=other.id, replaced_with=params)
    entries = [
        entry_of_grant(grant, REVOKED, now, by=by, replaced_by=other.id),
        entry_of_grant(other, APPROVED, now, by=by, replaces=grant.id),
    ]
    return other if await store.change([old.record(KEPT_SECONDS), other.record(KEPT_SECONDS)], entries) else None


async def turn_down(store: Store, approval_id: str, by: str, clock: Clock, reason: str = "") -> bool:
    """Turn one call down; False if nothing of that id waits."""
    grant = await _pending(store, approval_id, clock())
    if grant is None:
        return False
    now = clock()
    revoked = replace(grant, revoked_at=now, turned_down_by=by, turned_down_because=reason)
    why = {"reason": reason} if reason else {}
    return await store.replace(revoked.record(KEPT_SECONDS), [entry_of_grant(grant, REVOKED, now, by=by, **why)])


async def _pending(store: Store, approval_id: str, now: float) -> Grant | None:
    record = await store.find(GRANT, approval_id.removeprefix(APPROVAL))
    grant = Grant.read(record) if record else None
    return grant if grant and grant.is_pending and grant.expires_at > now else None
