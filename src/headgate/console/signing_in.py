"""Signing in: a link that counts once, printed where only the operator sees it; then a session in a strict cookie.

Of both secrets the state keeps only a hash, so neither follows from anything that is stored.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from headgate.safety.auditing import SIGNED_IN, SIGNED_OUT
from headgate.safety.clock import Clock
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.records import Record

__all__ = [
    "SESSION_SECONDS",
    "Operator",
    "find_operator",
    "is_signed_in",
    "new_link_secret",
    "sign_in",
    "sign_out",
    "start",
]

LINK: Final = "console link"
SESSION: Final = "console session"
"""The kinds of records that links and sessions are kept as."""

_LINK_SECONDS: Final = 600.0
SESSION_SECONDS: Final = 12 * 3600.0
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Operator:
    """Somebody who has signed in, and the token that every form of theirs must carry."""

    name: str
    csrf: str
    session: str
    """The key of the session, which is no secret."""


async def new_link_secret(store: Store, name: str, clock: Clock) -> str:
    """The secret of a link with which somebody of that name may sign in, once and soon."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    await store.insert(Record(LINK, _hash(secret), {"name": name}, None, clock() + _LINK_SECONDS))
    return secret


async def sign_in(store: Store, secret: str, clock: Clock) -> str | None:
    """Use a link up; the secret of the session that begins, or None if the link does not count (any more)."""
    key, now = _hash(secret), clock()
    record = await store.find(LINK, key)
    if record is None or record.expires_at is None or record.expires_at <= now:
        return None
    if not await store.remove(LINK, key):
        return None  # another request was faster
    return await start(store, str(record.value["name"]), "link", clock)


async def start(store: Store, name: str, how: str, clock: Clock) -> str:
    """Begin a session of somebody who has proved who they are; its secret, for their cookie alone."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    value = {"name": name, "how": how}
    entry = _entry(SIGNED_IN, name, clock(), how=how)
    await store.insert(Record(SESSION, _hash(secret), value, None, clock() + SESSION_SECONDS), [entry])
    return secret


async def find_operator(store: Store, secret: str, clock: Clock) -> Operator | None:
    """Whose session a cookie is, if it is one."""
    key = _hash(secret)
    record = await store.find(SESSION, key)
    if record is None or record.expires_at is None or record.expires_at <= clock():
        return None
    return Operator(str(record.value["name"]), _hash(f"form {secret}"), key)


async def is_signed_in(store: Store, operator: Operator, clock: Clock) -> bool:
    """Whether somebody's session still counts."""
    record = await store.find(SESSION, operator.session)
    return record is not None and record.expires_at is not None and record.expires_at > clock()


async def sign_out(store: Store, operator: Operator, clock: Clock) -> None:
    """End a session."""
    if await store.remove(SESSION, operator.session):
        await store.append([_entry(SIGNED_OUT, operator.name, clock())])


def _entry(event: str, name: str, at: float, **details: object) -> Entry:
    return Entry(at=at, event=event, adapter="", caller=name, details=details)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()
