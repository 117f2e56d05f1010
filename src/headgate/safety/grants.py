"""Grants: the right to one call, once (Confirmation Tokens). Pure values and checks.

A grant is for one call: this operation of this adapter with these parameters, by this caller, in this session, under
this policy. A client gets its token at once. Where only a person may confirm, there is no token until a person has
approved, so none can leak; the client knows the approval's id alone.
"""

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final

from headgate.protocol.errors import AqlError, Denied, quoted
from headgate.protocol.times import timestamp
from headgate.safety.clock import rounded_up
from headgate.safety.decisions import Who
from headgate.store.records import Record

__all__ = [
    "APPROVAL",
    "GRANT",
    "Binding",
    "Grant",
    "Presented",
    "Purpose",
    "Refusal",
    "changed",
    "new_grant",
    "new_id",
    "refusal_of",
    "turned_down",
]

GRANT: Final = "grant"
"""The kind of record that grants are kept as."""

APPROVAL: Final = "appr_"
_LETTERS: Final = string.ascii_letters + string.digits
"""What an approval's id is made of: it is read out, typed, and said in messages."""
_ID_LENGTH: Final = 16
_SECRET_BYTES: Final = 32
_READABLE: Final = re.compile(r"[A-Za-z0-9_-]{8,80}\Z")


class Purpose(StrEnum):
    """What a token is good for; its value is the prefix of the token."""

    CONFIRMATION = "conf_"
    QUOTA = "quota_continue_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The one call that a grant is for. Without a session it counts in any."""

    adapter: str
    operation: str
    params_digest: str
    caller: str
    policy: str
    session: str | None

    def is_of(self, identity: str | None, session: str | None) -> bool:
        """Whether somebody is the one whom it is for, or cannot be told from them."""
        if identity is not None and identity == self.caller:
            return True
        if self.session is not None and session is not None:
            return session == self.session
        return identity is None and session is None and self.caller == "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The right to one call. Each of its times is set once and never changed."""

    id: str
    purpose: Purpose
    binding: Binding
    who: Who
    danger: str
    message: str
    reasons: tuple[str, ...]
    params: Mapping[str, object]
    issued_at: float
    expires_at: float
    cooldown_seconds: float = 0.0
    lifts: tuple[str, ...] = ()
    """The pauses that it ends, if it is for a quota."""
    secret_hash: str | None = None
    approved_at: float | None = None
    approved_by: str | None = None
    consumed_at: float | None = None
    revoked_at: float | None = None
    turned_down_by: str | None = None
    """The person who said no, if one did."""
    turned_down_because: str = ""
    replaced_by: str = ""
    """The id of the grant for another call that a person has approved in its place."""
    replaced_with: Mapping[str, object] | None = None
    """The parameters of that call."""
    agent: str = ""
    """The key of the agent in the safety loop for which a person is asked, if it is one."""
    version: int = 0

    @property
    def approval_id(self) -> str:
        """What a person calls it by."""
        return self.approval_of(self.id)

    @staticmethod
    def approval_of(grant_id: str) -> str:
        """What a person calls the grant of an id by."""
        return APPROVAL + grant_id

    @property
    def is_pending(self) -> bool:
        """Whether it waits for a person."""
        ends = (self.approved_at, self.consumed_at, self.revoked_at)
        return self.who is Who.PERSON and all(end is None for end in ends)

    @property
    def is_approved(self) -> bool:
        """Whether a person has said yes and nobody has taken it back."""
        return self.approved_at is not None and self.revoked_at is None

    @property
    def usable_at(self) -> float:
        """When its cooldown is over."""
        return (self.approved_at or self.issued_at) + self.cooldown_seconds

    def with_secret(self, **changes: Any) -> tuple["Grant", str]:
        """The grant with a new secret, of which it keeps only the hash, and the token that holds the secret."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        return replace(self, secret_hash=_hash(secret), **changes), f"{self.purpose}{self.id}{secret}"

    def record(self, keep_seconds: float) -> Record:
        """The grant as it is kept, some time beyond its end, so that a late use can be told from an unknown one."""
        value = asdict(self)
        version = value.pop("version")
        ends = [self.expires_at, self.consumed_at, self.revoked_at]
        end = min(end for end in ends if end is not None)
        return Record(GRANT, self.id, value, self.binding.adapter, end + keep_seconds, version)

    @classmethod
    def read(cls, record: Record) -> "Grant":
        """The grant that a record holds."""
        value: dict[str, Any] = dict(record.value)
        known = {field.name for field in fields(cls)}
        value = {name: value[name] for name in value if name in known}
        return cls(
            **{
                **value,
                "purpose": Purpose(value["purpose"]),
                "binding": Binding(**value["binding"]),
                "who": Who(value["who"]),
                "reasons": tuple(value["reasons"]),
                "lifts": tuple(value.get("lifts", ())),
                "version": record.version,
            }
        )


def new_id() -> str:
    """An id that no other grant has."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_ID_LENGTH))


def new_grant(**about: Any) -> tuple[Grant, str | None]:
    """A grant and its token; none yet if a person must approve first."""
    grant = Grant(id=new_id(), **about)
    return (grant, None) if grant.who is Who.PERSON else grant.with_secret()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()


_NO_SECRET: Final = _hash("")


@dataclass(frozen=True, slots=True)
class Presented:
    """What a caller shows: a token, or the id of an approval that a person has given."""

    text: str
    id: str
    secret: str | None
    purpose: Purpose

    @classmethod
    def read(cls, text: str, purpose: Purpose) -> "Presented":
        """What a text claims to be; one that is malformed simply names a grant that nobody has."""
        if not _READABLE.match(text):
            return cls(text, "", "", purpose)
        if text.startswith(APPROVAL):
            return cls(text, text.removeprefix(APPROVAL), None, purpose)
        rest = text.removeprefix(purpose)
        return cls(text, rest[:_ID_LENGTH], rest[_ID_LENGTH:], purpose)

    def opens(self, grant: Grant | None) -> bool:
        """Whether it proves the right to a grant; told in a time that says nothing of the secret, or of the grant."""
        known = (grant.secret_hash if grant else None) or _NO_SECRET
        is_secret = hmac.compare_digest(_hash(self.secret or ""), known)
        if grant is None or grant.purpose is not self.purpose:
            return False
        if self.secret is None:
            return grant.who is Who.PERSON
        return is_secret and known is not _NO_SECRET and self.text.startswith(self.purpose)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a token does not count."""

    code: str
    message: str
    details: Mapping[str, object]

    @property
    def error(self) -> AqlError:
        """The refusal as the caller sees it."""
        return AqlError(self.code, self.message, self.details)


def refusal_of(
    grant: Grant | None,
    presented: Presented,
    wanted: Binding,
    now: float,
    skew_seconds: float,
    who: Who = Who.CLIENT,
) -> Refusal | None:
    """Why a grant does not give the right to a call, or None if it does (Confirmation Tokens 4.1).

    ``who`` is who must have confirmed.

    A token that is unknown, misspelt, revoked, or somebody else's is answered in the same way, since whoever holds it
    must not learn which of these it is.
    """
    token = {"token": quoted(presented.text, "")[1:-1]}
    is_right = presented.opens(grant)
    if grant is not None and is_right and _is_callers(grant, wanted) and grant.turned_down_by is not None:
        error = turned_down(grant).error
        return Refusal(error.code, error.message, error.details or {})
    if grant is not None and is_right and _is_callers(grant, wanted) and grant.replaced_by:
        error = changed(grant).error
        return Refusal(error.code, error.message, error.details or {})
    if grant is None or not is_right or not _is_callers(grant, wanted) or grant.revoked_at is not None:
        return Refusal("TOKEN_INVALID", "The confirmation token is not valid: call without it to get another", token)
    times = {"expired_at": timestamp(grant.expires_at), "current_time": timestamp(now)}
    if grant.is_pending and now >= grant.expires_at:  # persons are asked by our own clock
        message = "Nobody approved this call in time, which is a refusal: call without the token to ask again"
        return Refusal("TOKEN_EXPIRED", message, token | times)
    if now > grant.expires_at + skew_seconds:
        message = "The confirmation token has expired: call without it to get another"
        return Refusal("TOKEN_EXPIRED", message, token | times)
    if grant.consumed_at is not None:
        used = {"consumed_at": timestamp(grant.consumed_at)}
        return Refusal("TOKEN_ALREADY_USED", "The confirmation token was already used: it counts once", token | used)
    return _not_for_this(grant, wanted, who, token) or _not_yet(grant, token, now)


def turned_down(grant: Grant) -> AqlError:
    """The answer to a call that a person does not want, and why not, if they said so."""
    because = {"because": grant.turned_down_because} if grant.turned_down_because else {}
    return Denied("a person turned this call down", **because)


def changed(grant: Grant) -> AqlError:
    """The answer to a call in whose place a person has approved another one."""
    approval = Grant.approval_of(grant.replaced_by)
    return AqlError(
        "CONFIRMATION_REQUIRED",
        f"A person has changed this call: send it with 'approved_params' and '{approval}' as confirmation_token",
        {"operation": grant.binding.operation, "approval_id": approval, "approved_params": grant.replaced_with},
    )


def _is_callers(grant: Grant, wanted: Binding) -> bool:
    bound = grant.binding
    return bound.caller == wanted.caller and bound.session in (None, wanted.session)


def _not_for_this(grant: Grant, wanted: Binding, who: Who, token: Mapping[str, object]) -> Refusal | None:
    """What differs between the call that was confirmed and this one."""
    bound = grant.binding
    differences = {
        "adapter": bound.adapter != wanted.adapter,
        "operation": bound.operation != wanted.operation,
        "parameters": bound.params_digest != wanted.params_digest,
        "policy": bound.policy != wanted.policy,
        "who must confirm": who is Who.PERSON and grant.who is not Who.PERSON,
    }
    found = [name for name, differs in differences.items() if differs]
    if not found:
        return None
    details = {"token_operation": bound.operation, "requested_operation": wanted.operation, "differs_in": found}
    message = f"The confirmation token was issued for another call: it differs in {' and '.join(found)}"
    return Refusal("TOKEN_SCOPE_MISMATCH", message, {**token, **details})


def _not_yet(grant: Grant, token: Mapping[str, object], now: float) -> Refusal | None:
    """Whether the call must still wait: for a person's approval, or for the end of the cooldown."""
    if grant.is_pending:
        details = {"operation": grant.binding.operation, "approval_id": grant.approval_id}
        message = f"This operation requires confirmation: '{grant.approval_id}' still waits for a person's approval"
        return Refusal("CONFIRMATION_REQUIRED", message, details)
    wait = grant.usable_at - now
    if wait > 0:
        message = f"The operation may run {grant.cooldown_seconds:g} seconds after its confirmation: wait, then repeat"
        return Refusal("RATE_LIMIT_EXCEEDED", message, {**token, "retry_after_seconds": rounded_up(wait)})
    return None
