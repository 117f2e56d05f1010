"""What channels show: a challenge, and a code for it."""

from typing import Any

from headgate.console.channels.interface import Notice
from headgate.safety.loop.challenges import Challenge, new_challenge

__all__ = ["CODE", "HOSTILE", "NOON", "SPELT", "notice"]

NOON = 1_782_907_200.0
"""2026-07-01 at noon, UTC."""
CODE = "W6E5-PNH3-6ASY-DMCS-ZVWT-5QPP-RSBC"

HOSTILE = "x\r\nBcc: evil@example.org\n\n<b>\x1b[2J\u202e\u2028'\"`$(id)\\\ud800 <https://evil.example|verify>"
"""Whatever an agent may call itself, or say that it will do."""
SPELT = (
    r"x\r\nBcc: evil@example.org\n\n<b>\u001b[2J\u202e\u2028" + "'\"`$(id)\\" + r"\ud800 <https://evil.example|verify>"
)
"""The same as a person may see it."""


def notice(*, options: str = "", seconds: float = 300.0, **about: Any) -> Notice:
    """A notice; what a test does not care about is settled here."""
    plain: dict[str, Any] = {
        "agent": "bot",
        "name": "bot",
        "execution": "exec_1",
        "hint": "rm -rf /srv/data",
        "digest": "0" * 64,
        "tier": "danger_zone",
        "reason": "Action denied by a pattern",
        "factors": ("The action matches the deny pattern 'rm -rf*'",),
        "blocks": True,
        "made_at": NOON,
        "expires_at": NOON + seconds,
    }
    challenge: Challenge = new_challenge(**(plain | about))
    return Notice(challenge, CODE, options)
