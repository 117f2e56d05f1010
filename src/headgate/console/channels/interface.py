"""What a channel is: a name, and a way to show a person a code for one challenge."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from headgate.protocol.visible import visible
from headgate.safety.loop.challenges import Challenge

__all__ = ["Channel", "ChannelError", "Notice"]

_LONGEST_HINT: Final = 1000
_LONGEST_FACTOR: Final = 300
_MOST_FACTORS: Final = 10


class ChannelError(Exception):
    """The person was not reached; the words are for the operator, and hold no code."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person is shown: a challenge, a code that meets it, and the command that takes the code."""

    challenge: Challenge
    code: str = field(repr=False)
    options: str = ""
    """What else the command needs, such as ``--state shop.db``."""

    @property
    def subject(self) -> str:
        """What it is about, in a line."""
        return f"headgate: agent '{visible(self.challenge.name)}' is {self._held}"

    @property
    def text(self) -> str:
        """All that a person needs to decide, and the code. Nothing in it that an agent wrote can begin a new line."""
        challenge = self.challenge
        because = "\n".join(f"  {line}" for line in self._factors())
        command = " ".join(filter(None, ("headgate verify", challenge.id, self.options)))
        return (
            f"Agent '{visible(challenge.name)}' is {self._held}. It is about to:\n\n"
            f"  {_short(challenge.hint, _LONGEST_HINT)}\n\n{visible(challenge.reason)}, because:\n{because}\n\n"
            f"If you want this, and only then, verify it until {_moment(challenge.expires_at)} with the code\n\n"
            f"  {self.code}\n\nin the console, or with\n\n  {command}\n\n"
            "Never give the code to the agent. It counts once; a wrong try makes it void.\n"
        )

    @property
    def _held(self) -> str:
        return "blocked" if self.challenge.blocks else "paused"

    def _factors(self) -> list[str]:
        factors = self.challenge.factors
        shown = [_short(factor, _LONGEST_FACTOR) for factor in factors[:_MOST_FACTORS]]
        return [*shown, f"and {len(factors) - len(shown)} more"] if len(factors) > len(shown) else shown


class Channel(Protocol):
    """One way to a person."""

    name: str

    async def show(self, notice: Notice) -> None:
        """Show the code to the person and to nobody else, or raise a ChannelError."""
        ...


def _short(text: str, longest: int) -> str:
    shown = visible(text)
    return shown if len(shown) <= longest else f"{shown[:longest]}… ({len(text)} characters)"


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
