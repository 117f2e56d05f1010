"""Limits and quotas: use is counted before a call runs, by all processes that share a store (Rate Limiting 4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from headgate.adapter.context import Caller
from headgate.adapter.operations import Operation
from headgate.protocol.canonical import canonical
from headgate.protocol.errors import AqlError, retry_in
from headgate.protocol.results import Notice
from headgate.protocol.times import timestamp
from headgate.protocol.tokens import estimate
from headgate.safety.asks import Ask, identity
from headgate.safety.auditing import APPROVED, entry_of
from headgate.safety.clock import Clock, rounded_up
from headgate.safety.confirmations import Confirmations, about_grant
from headgate.safety.decisions import Who
from headgate.safety.grants import Grant, Purpose
from headgate.safety.policy.limits import WINDOWS, ApiLimit, Measure, Quota
from headgate.safety.policy.rules import Policy
from headgate.store.audit import Entry
from headgate.store.interface import Store
from headgate.store.records import Record
from headgate.store.windows import Charge, Used

__all__ = ["Meter"]

_CONTINUED: Final = "continued"
_NEARLY: Final = 0.9
_Metered: TypeAlias = ApiLimit | Quota


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts the use of one adapter against what its policy grants."""

    policy: Policy
    adapter: str
    store: Store
    confirmations: Confirmations
    clock: Clock

    def concerns(self, operation: Operation) -> bool:
        """Whether calls of an operation are counted by anything."""
        return any(limit.concerns(operation) for limit in self.policy.all_api_limits) or any(
            quota.concerns(operation) for quota in self.policy.all_quotas
        )

    async def admit(self, ask: Ask) -> tuple[Notice, ...]:
        """Count a call, or raise why there is no room for it; what the caller should know of quotas that run out."""
        limits = [limit for limit in self.policy.all_api_limits if limit.concerns(ask.operation)]
        quotas = [quota for quota in self.policy.all_quotas if quota.concerns(ask.operation)]
        if ask.quota_token is not None:
            await self._go_on(ask, quotas)
        continued: set[Quota] = set()
        while True:
            now = self.clock()
            charges = [self._limit_charge(limit) for limit in limits]
            charges += [self._quota_charge(quota, ask, beyond_pause=quota in continued) for quota in quotas]
            used = await self.store.charge(charges, now)
            metered: list[_Metered] = [*limits, *quotas]
            full = [(one, held) for one, held in zip(metered, used, strict=True) if held.retry_after is not None]
            paused = self._only_paused(full, ask)
            if not full:
                return tuple(self._warnings(quotas, used[len(limits) :]))
            if paused is None or not await self._is_continued(paused, ask.caller, now):
                raise await self._refusal(ask, full, now)
            continued.add(paused)

    async def refusal_ahead(self, ask: Ask) -> AqlError | None:
        """Why a call could not run now, whatever is confirmed; nothing is counted."""
        limits = [limit for limit in self.policy.all_api_limits if limit.concerns(ask.operation)]
        quotas = [quota for quota in self.policy.all_quotas if quota.concerns(ask.operation)]
        charges = [self._limit_charge(limit) for limit in limits]
        charges += [self._quota_charge(quota, ask, beyond_pause=True) for quota in quotas]
        now = self.clock()
        metered: list[_Metered] = [*limits, *quotas]
        used = await self.store.used(charges, now)
        full = [(one, held) for one, held in zip(metered, used, strict=True) if held.retry_after is not None]
        return await self._refusal(ask, full, now) if full else None

    def _only_paused(self, full: Sequence[tuple[_Metered, Used]], ask: Ask) -> Quota | None:
        """The first quota that is only paused, if nothing else stands in the way."""
        if not all(self._is_paused(one, held, ask) for one, held in full):
            return None
        return next((one for one, _ in full if isinstance(one, Quota)), None)

    def _is_paused(self, one: _Metered, held: Used, ask: Ask) -> bool:
        """Whether what is full is a quota that a confirmation would lift."""
        return isinstance(one, Quota) and not _is_exhausted(one, held, self._amount(one, ask))

    def _limit_charge(self, limit: ApiLimit) -> Charge:
        return Charge(f"{self.adapter}:limit:{limit.key}", WINDOWS[limit.window], 1, limit.limit)

    def _quota_charge(self, quota: Quota, ask: Ask, *, beyond_pause: bool = False) -> Charge:
        stops = [quota.hard_stop, None if beyond_pause else quota.pause]
        limit = min((stop for stop in stops if stop is not None), default=None)
        return Charge(self._key(quota, ask.caller), WINDOWS[quota.window], self._amount(quota, ask), limit)

    def _key(self, quota: Quota, caller: Caller) -> str:
        whose = identity(caller) if quota.per_caller else "*"
        return f"{self.adapter}:quota:{quota.key}:{whose}"

    def _amount(self, quota: Quota, ask: Ask) -> int:
        match quota.measure:
            case Measure.REQUESTS:
                return 1
            case Measure.COST:
                return self.policy.price(ask.operation)
            case _:
                return estimate(ask.operation.name) + estimate(canonical(ask.params).decode())

    # going on beyond a pause

    async def _go_on(self, ask: Ask, quotas: Iterable[Quota]) -> None:
        """Use a token: it lifts the pauses that it was given for, each for as long as its window lasts."""
        used = await self.confirmations.redeem(
            ask, ask.quota_token or "", Purpose.QUOTA, lambda grant: [self._used(ask, grant)]
        )
        now = self.clock()
        for quota in quotas:
            key = self._key(quota, ask.caller)
            if key in used.lifts:
                await self.store.remove(_CONTINUED, key)
                await self.store.insert(Record(_CONTINUED, key, {}, self.adapter, now + WINDOWS[quota.window]))

    def _used(self, ask: Ask, grant: Grant) -> Entry:
        return entry_of(ask, APPROVED, self.clock(), self.adapter, details=about_grant(grant))

    async def _is_continued(self, quota: Quota, caller: Caller, now: float) -> bool:
        record = await self.store.find(_CONTINUED, self._key(quota, caller))
        return record is not None and (record.expires_at or 0) > now

    # what the caller is told

    async def _refusal(self, ask: Ask, full: Sequence[tuple[_Metered, Used]], now: float) -> AqlError:
        paused = [one for one, held in full if self._is_paused(one, held, ask)]
        others = [pair for pair in full if pair[0] not in paused]
        one, held = max(others or full, key=lambda pair: pair[1].retry_after or 0)
        wait = held.retry_after or 0.0
        resets = {} if wait == float("inf") else {"resets_at": timestamp(now + wait)}
        if isinstance(one, ApiLimit):
            seconds = rounded_up(wait)
            details = {
                "limit": one.limit,
                "remaining": max(0, one.limit - held.amount),
                "window": one.window,
                **resets,
                "retry_after_seconds": seconds,
            }
            said = f"API rate limit exceeded: {one.limit} in a {one.window}; {retry_in(seconds)}"
            return AqlError("RATE_LIMIT_EXCEEDED", said, details)
        figures: dict[str, object] = {"metric": one.metric, "current": one.shown(held.amount)}
        if one.currency:
            figures["currency"] = one.currency
        stop = {} if one.hard_stop is None else {"hard_stop_threshold": one.shown(one.hard_stop)}
        if _is_exhausted(one, held, self._amount(one, ask)):
            return AqlError(
                "RATE_LIMIT_QUOTA_EXHAUSTED", f"Quota exhausted: {one.metric}", {**figures, **stop, **resets}
            )
        message = f"Quota pause threshold reached: {one.metric}"
        quotas = [quota for quota in paused if isinstance(quota, Quota)]
        who = Who.PERSON if any(quota.who is Who.PERSON for quota in quotas) else Who.CLIENT
        lifts = tuple(self._key(quota, ask.caller) for quota in quotas)
        pause = {"pause_threshold": one.shown(one.pause or 0)}
        return await self.confirmations.pause(ask, who, message, lifts, {**figures, **pause, **stop, **resets})

    def _warnings(self, quotas: Sequence[Quota], used: Sequence[Used]) -> Iterable[Notice]:
        for quota, held in zip(quotas, used, strict=True):
            if held.amount >= quota.warn:
                end = quota.hard_stop or quota.pause
                share = {} if quota.pause is None else {"pause_threshold": quota.shown(quota.pause)}
                details = {
                    "metric": quota.metric,
                    "current": quota.shown(held.amount),
                    "warn_threshold": quota.shown(quota.warn),
                    **share,
                }
                nearly = end is not None and held.amount > end * _NEARLY
                message = f"Approaching quota limit: {quota.metric}"
                yield Notice("RATE_LIMIT_QUOTA_WARNING", message, details, "high" if nearly else "medium")

    async def settle(self, ask: Ask, answer: bytes) -> None:
        """Count what is only known now: the tokens of the answer."""
        tokens = [
            quota
            for quota in self.policy.all_quotas
            if quota.measure is Measure.TOKENS and quota.concerns(ask.operation)
        ]
        if tokens:
            amount = estimate(answer.decode(errors="replace"))
            charges = [Charge(self._key(quota, ask.caller), WINDOWS[quota.window], amount) for quota in tokens]
            await self.store.charge(charges, self.clock())

    async def status(self, caller: Caller) -> dict[str, object]:
        """Current figures of every limit and quota, for ``introspect {query: "quota_status"}``."""
        now = self.clock()
        limits, quotas = self.policy.all_api_limits, self.policy.all_quotas
        charges = [self._limit_charge(limit) for limit in limits]
        charges += [Charge(self._key(quota, caller), WINDOWS[quota.window], 1) for quota in quotas]
        used = await self.store.used(charges, now)
        return {
            "api_limits": [_limit_status(one, held, now) for one, held in zip(limits, used, strict=False)],
            "quotas": [
                await self._quota_status(quota, held, caller, now)
                for quota, held in zip(quotas, used[len(limits) :], strict=True)
            ],
        }

    async def _quota_status(self, quota: Quota, held: Used, caller: Caller, now: float) -> dict[str, object]:
        thresholds = {"warn": quota.warn, "pause": quota.pause, "hard_stop": quota.hard_stop}
        status = _status(quota, held.amount)
        if status == "paused" and await self._is_continued(quota, caller, now):
            status = "warn"
        return {
            "metric": quota.metric,
            "current": quota.shown(held.amount),
            **{name: quota.shown(amount) for name, amount in thresholds.items() if amount is not None},
            **({"currency": quota.currency} if quota.currency else {}),
            "operations": list(quota.operations.given) or ["*"],
            **({"source": quota.source} if quota.source else {}),
            "per": "caller" if quota.per_caller else "adapter",
            "status": status,
        }


def _is_exhausted(quota: Quota, held: Used, amount: int) -> bool:
    return quota.hard_stop is not None and held.amount + amount > quota.hard_stop


def _status(quota: Quota, amount: int) -> str:
    if quota.hard_stop is not None and amount >= quota.hard_stop:
        return "exhausted"
    if quota.pause is not None and amount >= quota.pause:
        return "paused"
    return "warn" if amount >= quota.warn else "ok"


def _limit_status(limit: ApiLimit, held: Used, now: float) -> dict[str, object]:
    resets = {} if held.retry_after is None else {"resets_at": timestamp(now + held.retry_after)}
    return {
        "scope": limit.scope,
        **({"endpoint": list(limit.operations.given)} if limit.operations.given else {}),
        **({"category": limit.category.value} if limit.category else {}),
        **({"source": limit.source} if limit.source else {}),
        "limit": limit.limit,
        "remaining": max(0, limit.limit - held.amount),
        "window": limit.window,
        **resets,
    }
