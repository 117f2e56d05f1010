"""What an operator may choose, from code, the environment or the command line."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from headgate.adapter.adapter import Adapter
from headgate.adapter.exposure import Exposure
from headgate.adapter.operations import Operation
from headgate.engine.events import Listener
from headgate.engine.pipeline import Engine, EngineOptions
from headgate.executions.operations import execution_operations
from headgate.executions.service import Executions
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.autonomy import LoopMode
from headgate.protocol.concurrency import Concurrency
from headgate.protocol.danger import Trust
from headgate.protocol.limits import LIMIT_ROWS, LimitError, Limits
from headgate.protocol.profiles import PROFILES, Mode, Profile
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.loop.challenges import Announce, nobody
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.reading import PolicyError, policy_from, read_policy
from headgate.safety.policy.rules import Policy
from headgate.safety.trust import DEFAULT_TRUST
from headgate.server.messages import max_message_size
from headgate.server.sessions import IDLE_SECONDS, MOST_SESSIONS
from headgate.store.interface import Store, StoreError
from headgate.store.opening import open_store

if TYPE_CHECKING:
    from headgate.safety.loop.overseeing import Overseer
    from headgate.safety.loop.service import SafetyLoop

__all__ = ["SettingError", "Settings", "audit_key", "with_limits"]

_LOG: Final = logging.getLogger("headgate")
_SHORTEST_KEY: Final = 16
_ADDRESS: Final = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", re.IGNORECASE)
"""Without a name, a password or a question in it: hosts show it to their users."""
_NAME: Final = re.compile(r"[A-Za-z0-9-]{0,32}")

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


class SettingError(ValueError):
    """A setting that does not exist or cannot have this value; nothing starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an adapter is served. Words are accepted where a name is enough, such as ``mode="single"``."""

    mode: Mode = Mode.SEMANTIC
    profile: Profile | None = None
    prefix: str = ""
    strict: bool = True
    limits: Limits = field(default_factory=Limits)
    concurrency: Concurrency = Concurrency.RESOURCE_LOCKED
    max_concurrent_requests: int = 100
    index_tokens: int | None = None
    structured_content: bool = False
    cache_seconds: int = 60
    session_idle_seconds: int = IDLE_SECONDS
    """How long nobody has to use a session over HTTP for it to end."""
    max_sessions: int = MOST_SESSIONS
    """How many sessions of the legacy era may be open over HTTP; beyond, no new one is opened."""
    replica: str = ""
    """The name of this server among several behind one address: its sessions carry it, so that a proxy finds it."""
    listeners: tuple[Listener, ...] = ()
    trust: Trust | None = None
    """How far the adapter is trusted; else what the policy says, then the adapter's origin, then ``validated``."""
    trusts: Mapping[str, Trust] = field(default_factory=dict)
    """How far each source is trusted, where an adapter is put together from several."""
    policy: Policy = field(default_factory=Policy)
    state: str = "memory:"
    """Where tokens, counters and the audit are kept."""
    safety_loop: LoopMode | None = None
    """How far agents are supervised; else what the policy says, and without that there is no safety loop."""
    console_url: str | None = None
    """Where persons decide, for hosts that can open a page for their user."""
    announce: Announce | None = None
    """What tells persons of each challenge that waits to be verified."""

    @classmethod
    def of(cls, **given: Any) -> "Settings":
        """The settings out of keywords, with every mistake named."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise SettingError(f"There is no setting '{name}'{did_you_mean(nearest(name, known))}")
        readers: Mapping[str, Callable[[Any], Any]] = {
            "mode": _mode,
            "profile": _profile,
            "prefix": lambda value: _typed(str, value, "prefix must be a text"),
            "strict": lambda value: _typed(bool, value, "strict must be true or false"),
            "structured_content": lambda value: _typed(bool, value, "structured_content must be true or false"),
            "limits": _limits,
            "concurrency": lambda value: _choice(Concurrency, value, "concurrency"),
            "listeners": _listeners,
            "max_concurrent_requests": lambda value: _at_least(1, value, "max_concurrent_requests"),
            "index_tokens": lambda value: None if value is None else _at_least(0, value, "index_tokens"),
            "cache_seconds": lambda value: _at_least(0, value, "cache_seconds"),
            "session_idle_seconds": lambda value: _at_least(1, value, "session_idle_seconds"),
            "max_sessions": lambda value: _at_least(1, value, "max_sessions"),
            "replica": _replica,
            "trust": lambda value: None if value is None else _choice(Trust, value, "trust"),
            "policy": _policy,
            "state": lambda value: _typed(str, value, "state must be a URL"),
            "safety_loop": lambda value: None if value is None else _choice(LoopMode, value, "safety_loop"),
            "console_url": _console_url,
            "announce": _announce,
        }
        return cls(**{name: readers[name](value) if name in readers else value for name, value in given.items()})

    def store(self) -> Store:
        """Where state is kept."""
        try:
            return open_store(self.state, audit_key=audit_key())
        except StoreError as error:
            raise SettingError(str(error)) from None

    @property
    def http_options(self) -> dict[str, Any]:
        """What the SDK's transport over HTTP is told."""
        return {
            "max_request_body_size": max_message_size(self.limits),
            "session_idle_timeout": self.session_idle_seconds,
            "max_sessions": self.max_sessions,
        }

    @property
    def loop_mode(self) -> LoopMode | None:
        """How far agents are supervised; None if there is no safety loop."""
        return self.safety_loop or self.policy.autonomy.mode

    @property
    def supervises(self) -> bool:
        """Whether agents are held up, so that persons have something to verify."""
        return self.loop_mode is LoopMode.ENFORCING

    def supervising(self, mode: LoopMode) -> "Settings":
        """The same with a safety loop that goes this far."""
        return replace(self, safety_loop=mode)

    def loop(self, adapter: Adapter, store: Store) -> "SafetyLoop | None":
        """What supervises agents, if anything does."""
        autonomy = self.policy.autonomy
        mode = self.loop_mode
        if mode is None:
            return None
        from headgate.safety.autonomy.scoring import score  # noqa: PLC0415  (its words take a third of a second)
        from headgate.safety.loop.service import SafetyLoop  # noqa: PLC0415

        settings, scorer = replace(autonomy, mode=mode), adapter.scorer(score)
        return SafetyLoop(adapter.name, store, settings, scorer=scorer, announce=self.announce or nobody)

    def executions(self, adapter: Adapter, store: Store, *, takes_jobs: bool = False) -> Executions | None:
        """What runs the long work of an adapter, if it has any; a worker also takes it from the shared queue."""
        has_any = any(operation.background for operation in adapter.operations.values())
        return Executions(adapter.name, store, takes_jobs=takes_jobs) if has_any else None

    def gatekeeper(
        self,
        adapter: Adapter,
        store: Store,
        loop: "SafetyLoop | None" = None,
        executions: Executions | None = None,
    ) -> Gatekeeper:
        """What guards an adapter; a policy that does not fit it is refused, and what looks odd in it is logged."""
        followed = execution_operations(executions) if executions else {}
        overseer, startable = _supervision(loop) if loop else (None, {})
        operations = {**adapter.operations, **followed, **startable}
        trust = self.trust or self.policy.trust or adapter.trust or DEFAULT_TRUST
        self._check_policy(adapter, operations, trust)
        return Gatekeeper(
            adapter.name,
            operations,
            store,
            policy=self.policy,
            trust=trust,
            trusts=self.trusts,
            overseer=overseer,
        )

    def _check_policy(self, adapter: Adapter, operations: Mapping[str, Operation], trust: Trust) -> None:
        """Refuse a policy that does not fit; while sources are missing, it cannot be told whether it does."""
        if any(part.is_missing for part in adapter.parts()):
            return
        try:
            for warning in check_policy(self.policy, adapter.name, operations, trust=None if self.trusts else trust):
                _LOG.warning("%s: %s", self.policy.name or "policy", warning)
        except PolicyError as error:
            raise SettingError(str(error)) from None

    def engine(self, adapter: Adapter, store: Store, executions: Executions | None = None) -> Engine:
        """The engine that serves an adapter in this way; it goes on with executions that are there already."""
        executions = executions or self.executions(adapter, store)
        try:
            exposure = Exposure(self.mode, self.profile or adapter.profile, self.prefix)
        except AdapterError as error:
            raise SettingError(str(error)) from None
        options = EngineOptions(
            exposure=exposure,
            limits=self.limits,
            strict=self.strict,
            concurrency=self.concurrency,
            max_concurrent_requests=self.max_concurrent_requests,
        )
        loop = self.loop(adapter, store)
        gatekeeper = self.gatekeeper(adapter, store, loop, executions)
        return Engine(
            adapter, options, gatekeeper=gatekeeper, loop=loop, executions=executions, listeners=self.listeners
        )


def _supervision(loop: "SafetyLoop") -> "tuple[Overseer, Mapping[str, Operation]]":
    """What stands before the gate where agents are supervised, and the one operation of theirs that it guards."""
    from headgate.safety.loop.operations import startable  # noqa: PLC0415  (a server without a loop needs neither)
    from headgate.safety.loop.overseeing import Overseer  # noqa: PLC0415

    return Overseer(loop), startable(loop)


def _mode(value: object) -> Mode:
    return Mode.SEMANTIC if value == "crude" else _choice(Mode, value, "mode")


def _choice(kind: type[E], value: object, name: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise _unknown(name, str(value), [str(member.value) for member in kind]) from None


def _typed(kind: type[T], value: object, rule: str) -> T:
    if not isinstance(value, kind):
        raise SettingError(f"{rule}, not '{value}'")
    return value


def _limits(value: object) -> Limits:
    if isinstance(value, Mapping):
        return with_limits(Limits(), value)
    return _typed(Limits, value, "limits must be Limits or a dictionary")


def _listeners(value: object) -> tuple[Listener, ...]:
    given = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(map(callable, given)):
        raise SettingError(f"listeners must be a list of functions, not '{value}'")
    return given


def _policy(value: object) -> Policy:
    if isinstance(value, Policy):
        return value
    try:
        if isinstance(value, Mapping):
            return policy_from(value, "policy")
        if not isinstance(value, str | Path) or not str(value):
            raise SettingError(f"policy must be a table or the name of a file, not '{value}'")
        return read_policy(Path(value))
    except PolicyError as error:
        raise SettingError(str(error)) from None


def _console_url(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise SettingError(f"console_url must be an address such as 'http://127.0.0.1:8081', not '{value}'")
    return value.rstrip("/")


def _replica(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise SettingError(f"replica must be up to 32 letters, digits and dashes, such as 'b-2', not '{value}'")
    return value


def _announce(value: object) -> Any:
    if value is not None and not callable(value):
        raise SettingError(f"announce must be a function, not '{value}'")
    return value


def audit_key() -> bytes:
    """The key of the audit's digests, if the operator has set one: without it, nobody can write the chain anew."""
    key = os.environ.get("HEADGATE_AUDIT_KEY", "")
    if key and len(key.strip()) < _SHORTEST_KEY:
        raise SettingError(f"HEADGATE_AUDIT_KEY is too short: use {_SHORTEST_KEY} characters or more")
    return key.encode()


def _profile(value: Profile | str | None) -> Profile | None:
    if not isinstance(value, str):
        return None if value is None else _typed(Profile, value, "profile must be a name or a Profile")
    found = PROFILES.get(value)
    if found is None:
        raise _unknown("profile", value, list(PROFILES))
    return found


def _unknown(name: str, value: str, known: Iterable[str]) -> SettingError:
    words = list(known)
    return SettingError(
        f"'{value}' is not a value of {name}; known are {', '.join(words)}{did_you_mean(nearest(value, words, 1))}"
    )


def _at_least(least: int, value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise SettingError(f"{name} must be a whole number, {least} or more, not '{value}'")
    return value


def with_limits(limits: Limits, changes: Mapping[str, int]) -> Limits:
    """The limits with some changed, or a SettingError that names the allowed range."""
    for name, value in changes.items():
        if name not in LIMIT_ROWS:
            raise SettingError(f"There is no limit '{name}'{did_you_mean(nearest(name, list(LIMIT_ROWS), 1))}")
        _at_least(0, value, name)
    try:
        return replace(limits, **changes)
    except LimitError as error:
        raise SettingError(str(error)) from None
