"""What a server said before it ended, for whoever operates it."""

import logging
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from headgate.adapter.masking import scrubbed
from headgate.sources.words import clean

__all__ = ["LastWords"]

_LOG: Final = logging.getLogger("headgate.upstream")
_MOST_HEARD: Final = 40
_MOST_SHOWN: Final = 8
_MOST_TOLD: Final = 3
_TROUBLE: Final = re.compile(r"error\b|\bcannot\b|\bnot found\b|\bno such\b", re.IGNORECASE)


@dataclass
class LastWords:
    """What a server wrote to its standard error last, for the operator's log alone."""

    name: str
    secrets: frozenset[str] = frozenset()
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_HEARD))
    noise: str = ""
    """The beginning of the first line on its standard output that was no message."""
    status: int = 0
    """The HTTP status from 400 on that it answered with last, if it is no process."""

    def hear(self, line: bytes) -> None:
        """One line."""
        text = scrubbed(clean(line.decode("utf-8", "replace"), 300), self.secrets)
        if text:
            self.lines.append(text)
            _LOG.debug("%s: %s", self.name, text)

    def note(self, line: bytes) -> None:
        """A line among its messages that is none."""
        self.noise = self.noise or scrubbed(clean(line[:400].decode("utf-8", "replace"), 100), self.secrets)

    @property
    def telling(self) -> str:
        """What says most of why it ended: the last line that speaks of an error, or else the last few."""
        said = [line for line in self.lines if not line.startswith("at ")]
        return next((line for line in reversed(said) if _TROUBLE.search(line)), " / ".join(said[-_MOST_TOLD:]))

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in [*self.lines][-_MOST_SHOWN:])
