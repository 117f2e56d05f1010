"""What an agent is told with its next directive (Spec 8.7.3).

Nothing of this is kept but what is told once. The rest follows from what holds agents up, so it is told for as long as
it is true, and no longer.
"""

from headgate.protocol.autonomy import Notification, NotificationType
from headgate.safety.grants import Grant
from headgate.safety.loop.agents import RECORD_STEP, Block, Pause, named

__all__ = ["error", "of_block", "of_grant", "of_pause", "status"]


def of_grant(grant: Grant, now: float) -> Notification:
    """What became of an operation that was put before a person."""
    operation, approval = grant.binding.operation, grant.approval_id
    if grant.is_pending and grant.expires_at > now:
        return Notification(
            type=NotificationType.PERMISSION_PENDING,
            message=f"'{operation}' waits for a person's approval: '{approval}'",
            at=grant.issued_at,
            operation=operation,
            reason="; ".join(grant.reasons),
            level=grant.danger,
        )
    if grant.is_approved:
        said = f"'{operation}' was approved: call it again with confirmation_token '{approval}'"
        return status(said, grant.approved_at or now)
    if grant.replaced_by:
        said = f"A person has changed '{operation}': call it as before to learn which call is approved"
        return status(said, grant.revoked_at or now)
    if grant.turned_down_by is not None:
        return status(f"A person refused '{operation}'", grant.revoked_at or now, grant.turned_down_because)
    return status(f"Nobody approved '{operation}' in time", grant.expires_at)


def of_pause(pause: Pause) -> Notification:
    """That an agent is paused, and what it waits for."""
    how = "verifies" if pause.challenge_id else "confirms"
    return Notification(
        type=NotificationType.AUTONOMY_PAUSE,
        message=f"{pause.reason}: wait until a person {how} '{pause.waits_for}'",
        at=pause.at,
        operation=RECORD_STEP,
        reason="; ".join(pause.factors),
        verification_id=pause.challenge_id,
    )


def of_block(name: str, block: Block) -> Notification:
    """That an agent is blocked, and what would release it."""
    return Notification(
        type=NotificationType.DANGER_ZONE,
        message=f"Agent {named(name)} is blocked until a person verifies '{block.challenge_id}'",
        at=block.at,
        reason=block.reason,
        verification_id=block.challenge_id,
    )


def status(message: str, at: float, reason: str = "") -> Notification:
    """Something that is good to know."""
    return Notification(type=NotificationType.STATUS, message=message, at=at, reason=reason)


def error(message: str, at: float, verification_id: str = "") -> Notification:
    """Something that went wrong."""
    return Notification(type=NotificationType.ERROR, message=message, at=at, verification_id=verification_id)
