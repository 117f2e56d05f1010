"""Challenges: a code that only a person sees, for one agent, once, and not for long (Spec 8.8). Pure values.

A code is made when a person's channel is about to show it, and is nowhere else: what is kept of it is a salted hash.
"""

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeAlias

from headgate.store.records import Record

__all__ = ["CHALLENGE", "Announce", "Challenge", "new_challenge", "nobody"]

CHALLENGE: Final = "challenge"
"""The kind of record that challenges are kept as."""

_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No letter or digit that could be taken for another."""
_GROUPS: Final = 7
_GROUP: Final = 4
"""28 of 30 letters: 137 bits."""
_SALT_BYTES: Final = 16
_MOST_CODES: Final = 20
_KEPT_SECONDS: Final = 86400.0
_KEPT_BLOCKING_SECONDS: Final = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A code that was shown: where, when, and what it can be recognised by."""

    channel: str
    at: float
    salt: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """What must be verified before an agent may go on."""

    id: str
    agent: str
    name: str
    execution: str
    hint: str
    digest: str
    """Of the hint: what the agent may do once this is met."""
    tier: str
    reason: str
    factors: tuple[str, ...]
    blocks: bool
    """Whether the agent is blocked meanwhile, or only paused."""
    made_at: float
    expires_at: float
    codes: tuple[Shown, ...] = ()
    failures: int = 0
    verified_at: float | None = None
    verified_by: str = ""
    closed_at: float | None = None
    """When it was given up: the agent was released otherwise, or there is a newer challenge."""
    refused_by: str = ""
    refused_because: str = ""
    version: int = 0

    def is_open(self, now: float) -> bool:
        """Whether a code may still be shown and given."""
        return self.verified_at is None and self.closed_at is None and now < self.expires_at

    def renewed(self, now: float) -> "Challenge":
        """The challenge with as much time as it had at first; no code that was shown before counts."""
        return replace(self, made_at=now, expires_at=now + self.expires_at - self.made_at, codes=())

    def with_code(self, channel: str, now: float) -> tuple["Challenge", str]:
        """The challenge with one more code that opens it, and the code as a person reads it."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(_GROUPS * _GROUP))
        salt = secrets.token_hex(_SALT_BYTES)
        shown = Shown(channel, now, salt, _hash(salt, code))
        grouped = "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
        return replace(self, codes=(*self.codes, shown)[-_MOST_CODES:]), grouped

    def opens(self, given: str) -> bool:
        """Whether a code is one of those shown; told in a time that says nothing of how near it is."""
        code = "".join(given.split()).replace("-", "").upper()
        matches = [hmac.compare_digest(_hash(one.salt, code), one.hash) for one in self.codes]
        return any(matches)

    def failed(self) -> "Challenge":
        """After a wrong try: no code that was shown counts any more."""
        return replace(self, codes=(), failures=self.failures + 1)

    def record(self) -> Record:
        """The challenge as it is kept beyond its end, so that what became of it can be told, and a block be lifted."""
        value = asdict(self)
        version = value.pop("version")
        kept = _KEPT_BLOCKING_SECONDS if self.blocks else _KEPT_SECONDS
        return Record(CHALLENGE, self.id, value, self.agent, self.expires_at + kept, version)

    @classmethod
    def read(cls, record: Record) -> "Challenge":
        """The challenge that a record holds."""
        value: Mapping[str, Any] = record.value
        codes = tuple(Shown(**code) for code in value["codes"])
        return cls(**{**value, "factors": tuple(value["factors"]), "codes": codes, "version": record.version})


def new_challenge(**about: Any) -> Challenge:
    """A challenge under an id that nobody can guess."""
    return Challenge(id=str(uuid.uuid4()), **about)


Announce: TypeAlias = Callable[[Challenge], Awaitable[None]]
"""Tells persons, through channels of their own, that something waits to be verified."""


async def nobody(_challenge: Challenge) -> None:
    """Whoever looks will find it."""


def _hash(salt: str, code: str) -> str:
    return hashlib.sha256(f"{salt}:{code}".encode(errors="surrogateescape")).hexdigest()
