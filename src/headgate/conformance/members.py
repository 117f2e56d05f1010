"""What stands in the answers of a server: every member of every object in them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from headgate.conformance.choosing import spread
from headgate.conformance.listing import listings
from headgate.conformance.moments import is_named_like_one, looks_like_one
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import valid_params
from headgate.conformance.survey import INTROSPECT
from headgate.conformance.values import Exchange

__all__ = ["Member", "members_of", "moments_of"]

_MOST_READ: Final = 20


class Member(NamedTuple):
    """A member of an object somewhere in an answer."""

    exchange: Exchange
    name: str
    value: Any
    beside: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """Where it was seen."""
        return f"{self.exchange.operation}: {self.name}"


async def members_of(probe: Probe) -> list[Member]:
    """All members in the answers that READ operations gave, of a spread of them that is asked once more if need be."""
    if "members" not in probe.memory:
        await listings(probe)
        seen = {exchange.operation for exchange in probe.ledger if exchange.succeeded}
        for operation in spread([one for one in probe.readable if one.name not in seen], _MOST_READ):
            try:
                await probe.call(operation, await valid_params(probe, operation))
            except CannotBeSeen:
                continue
        told = [one for one in probe.ledger if one.succeeded and one.operation not in ("", INTROSPECT)]
        answers = [one for one in told if _is_real(one)]
        probe.memory["members"] = [member for one in answers for member in _in(one, one.data)]
    found: list[Member] = probe.memory["members"]
    return found


def _is_real(exchange: Exchange) -> bool:
    """Whether an answer is no trial, which shows what the request brought."""
    arguments = exchange.arguments if isinstance(exchange.arguments, Mapping) else {}
    params = arguments.get("params")
    return not (isinstance(params, Mapping) and params.get("dry_run"))


def _in(exchange: Exchange, data: object) -> Iterator[Member]:
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            yield from (Member(exchange, str(name), held, value) for name, held in value.items())
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _declared_dates(probe: Probe) -> frozenset[str]:
    """The names that some operation declares as a date or a time where it takes them."""
    parameters = [parameter for operation in probe.operations for parameter in operation.parameters]
    return frozenset(one.name for one in parameters if one.raw.get("format") in ("date", "date-time"))


def moments_of(probe: Probe, members: list[Member]) -> list[Member]:
    """The members that hold dates and times."""
    declared = _declared_dates(probe)
    texts = [one for one in members if isinstance(one.value, str | int)]
    return [one for one in texts if (is_named_like_one(one.name) or one.name in declared) and looks_like_one(one.value)]
