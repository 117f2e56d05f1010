"""What a channel is: a name, and a way to show a person a code for one challenge."""

from typing import Protocol

from headgate.protocol.times import timestamp
from headgate.protocol.visible import visible
from headgate.safety.loop.challenges import Challenge

__all__ = ["Channel", "ChannelError", "subject_of", "text_of"]

_LONGEST_HINT = 1000


class ChannelError(Exception):
    """The person was not reached; the words are for the operator, and hold no code."""


class Channel(Protocol):
    """One way to a person."""

    name: str

    async def show(self, challenge: Challenge, code: str) -> None:
        """Show the code to the person and to nobody else, or raise a ChannelError."""
        ...


def subject_of(challenge: Challenge) -> str:
    """What it is about, in a line."""
    held = "blocked" if challenge.blocks else "paused"
    return f"headgate: agent '{visible(challenge.name)}' is {held}"


def text_of(challenge: Challenge, code: str) -> str:
    """All that a person needs to decide, and the code."""
    hint = visible(challenge.hint)
    shown = hint if len(hint) <= _LONGEST_HINT else f"{hint[:_LONGEST_HINT]}… ({len(hint)} characters)"
    because = "\n".join(f"  {visible(factor)}" for factor in challenge.factors)
    return (
        f"Agent '{visible(challenge.name)}' is {'blocked' if challenge.blocks else 'paused'}. It is about to:\n\n"
        f"  {shown}\n\n{visible(challenge.reason)}, because:\n{because}\n\n"
        f"If you want this, and only then, verify it with this code, until {timestamp(challenge.expires_at)}:\n\n"
        f"  {code}\n\n"
        f"headgate verify {challenge.id}\n\n"
        "Never give the code to the agent. It counts once; a wrong try makes it void.\n"
    )
