"""Whether a policy fits an adapter: what it names must exist, and what it says should change something."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.danger import Danger, Trust
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.danger import classify
from headgate.safety.policy.condition_checks import clashes, oddities, rows_are_unknown
from headgate.safety.policy.limits import Measure
from headgate.safety.policy.patterns import NOT, Patterns, fits
from headgate.safety.policy.reading import PolicyError
from headgate.safety.policy.rule_checks import Idleness
from headgate.safety.policy.rules import Policy, Rule
from headgate.safety.policy.tables import Place, named

__all__ = ["check_policy"]

_INTROSPECT: Final = "introspect"
_SAFE_SKEW: Final = 60
_SHOWN: Final = 10


def check_policy(
    policy: Policy, adapter_name: str, operations: Mapping[str, Operation], *, trust: Trust | None = None
) -> list[str]:
    """What looks odd in a policy for an adapter. A PolicyError has everything in it that cannot be right.

    ``trust`` is the adapter's, where it is not the one that the policy says.
    """
    check = _Check(policy, adapter_name, operations, trust or policy.trust)
    check.run()
    for source, part in policy.parts:
        own = {name: one for name, one in operations.items() if one.source == source}
        if own:
            check.take(source, _Check(part, source, own, None))
    if check.mistakes:
        raise PolicyError(policy.name or "policy", check.mistakes)
    return check.warnings


class _Check:
    """One policy and one adapter, and what was found so far."""

    def __init__(self, policy: Policy, adapter: str, operations: Mapping[str, Operation], trust: Trust | None) -> None:
        self.policy = policy
        self.adapter = adapter
        self.operations = [one for name, one in operations.items() if name != _INTROSPECT]
        self.names = [name for one in self.operations for name in one.known_as]
        self.sources = list(dict.fromkeys(one.source or adapter for one in self.operations)) or [adapter]
        self.trust = trust
        self.mistakes: list[str] = []
        self.warnings: list[str] = []

    def run(self) -> None:
        """Look at everything."""
        matched = [self._matched(rule) for rule in self.policy.rules]
        for place, rule in enumerate(self.policy.rules):
            self._check_rule(rule, _title(place, rule), matched[place])
        for place, why in Idleness(self.policy, matched, self.trust).found():
            self._odd(_title(place, self.policy.rules[place]), why)
        self._check_danger()
        self._tell_what_is_eased()
        self._check_limits()
        skew = self.policy.confirmation.clock_skew_seconds
        if skew > _SAFE_SKEW:
            self._odd("confirmation, key 'clock_skew_seconds'", f"{skew:g} is a lot: better set the clocks right")

    def take(self, source: str, part: "_Check") -> None:
        """Look at a source's own policy, too."""
        part.run()
        self.mistakes += (f"policy of source {named(source)}: {one}" for one in part.mistakes)
        self.warnings += (f"policy of source {named(source)}: {one}" for one in part.warnings)

    def _wrong(self, words: str, *sentences: str) -> None:
        Place(words, self.mistakes).note(*sentences)

    def _odd(self, words: str, *sentences: str) -> None:
        Place(words, self.warnings).note(*sentences)

    def _tell_what_is_eased(self) -> None:
        """Rules only restrict; what makes an operation count as less dangerous must not go unseen."""
        eased = [
            f"'{one.name}' ({classify(one).level})"
            for one in self.operations
            if (declared := self.policy.declared_danger(one)) and declared.level.rank < classify(one).level.rank
        ]
        if eased:
            more = f" and {len(eased) - _SHOWN} more" if len(eased) > _SHOWN else ""
            self._odd("danger", f"these count as less dangerous than usual: {', '.join(eased[:_SHOWN])}{more}")

    # rules

    def _matched(self, rule: Rule) -> list[Operation]:
        return [one for one in self.operations if rule.concerns(one, one.source or self.adapter)]

    def _check_rule(self, rule: Rule, title: str, matched: Sequence[Operation]) -> None:
        if not any(rule.sources.match(source) for source in self.sources):
            near = did_you_mean([one for one in self.sources if nearest(one, rule.sources.wanted, 1)][:1])
            this = f"this adapter, '{self.adapter}'" if len(self.sources) == 1 else "any source here"
            self._odd(f"{title}, key 'sources'", f"it is not for {this}{near}")
            return
        if not rule.optional:
            self._check_patterns(rule.operations, f"{title}, key 'operations'")
        if not matched:
            if not rule.optional and not self._is_mistaken(title):
                self._wrong(title, f"it matches no operation{_of_categories(rule)}: correct it, or add optional = true")
            return
        for condition in rule.conditions:
            here = f"{title}, key 'when', parameter {named(condition.path)}"
            self._wrong(here, *clashes(condition, matched))
            self._odd(here, *oddities(condition, matched))
        self._odd(f"{title}, key 'affected_rows'", *rows_are_unknown(rule, matched))

    def _is_mistaken(self, title: str) -> bool:
        return any(one.startswith(f"{title},") for one in self.mistakes)

    def _check_patterns(self, patterns: Patterns, words: str) -> None:
        """Each pattern must match something by itself: one that matches nothing is a slip."""
        for pattern in patterns.given:
            body = pattern.removeprefix(NOT)
            if not any(fits(name, body) for name in self.names):
                self._wrong(words, self._no_match(body))

    def _no_match(self, body: str) -> str:
        if body == _INTROSPECT:
            return "introspection is open in every case, so there is nothing to rule: leave it out"
        if "*" in body or "?" in body:
            return f"no operation fits {named(body)}: correct it or leave it out{_few(self.names)}"
        return f"there is no operation {named(body)}{did_you_mean(nearest(body, self.names, 1)) or _few(self.names)}"

    # danger

    def _check_danger(self) -> None:
        taken: dict[str, str] = {}
        for patterns, danger in self.policy.danger:
            title = f"danger {named(patterns.given[0])}"
            self._check_patterns(patterns, title)
            meant = [one for one in self.operations if patterns.match(*one.known_as)]
            counts = [one for one in meant if one.name not in taken]
            if meant and not counts:
                first = taken[meant[0].name]
                self._odd(title, f"it changes nothing: {first} stands before it and matches all of it")
            self._check_message(danger, counts, title)
            taken.update((one.name, title) for one in counts)

    def _check_message(self, danger: Danger, operations: Iterable[Operation], title: str) -> None:
        for name in danger.named_parameters:
            lacking = [one for one in operations if one.parameter(name) is None]
            if lacking:
                known = [parameter.name for one in lacking for parameter in one.parameters]
                self._wrong(
                    f"{title}, key 'confirmation_message'",
                    f"'{{{name}}}' is no parameter of {_listed(one.name for one in lacking)}"
                    f"{did_you_mean(nearest(name, list(dict.fromkeys(known)), 1))}",
                )

    # limits

    def _check_limits(self) -> None:
        for number, limit in enumerate(self.policy.api_limits, 1):
            self._check_patterns(limit.operations, f"api_limit {number}, key 'endpoint'")
            self._check_selection(limit.concerns, f"api_limit {number}")
        for number, quota in enumerate(self.policy.quotas, 1):
            self._check_patterns(quota.operations, f"quota {number}, key 'operations'")
            self._check_selection(_by_name(quota.operations), f"quota {number}")
            counted = [one for one in self.operations if quota.operations.match(*one.known_as)]
            if quota.measure is Measure.COST and not any(map(self.policy.price, counted)):
                self._odd(f"quota {number}", "none of its operations has a price, so it counts nothing")
        for number, price in enumerate(self.policy.prices, 1):
            self._check_patterns(price.operations, f"cost, price {number}, key 'operations'")
            self._check_selection(_by_name(price.operations), f"cost, price {number}")

    def _check_selection(self, concerns: Callable[[Operation], bool], title: str) -> None:
        if not any(map(concerns, self.operations)) and not self._is_mistaken(title):
            self._wrong(title, "it matches no operation: correct it or leave it out")


def _by_name(patterns: Patterns) -> Callable[[Operation], bool]:
    return lambda operation: patterns.match(*operation.known_as)


def _title(place: int, rule: Rule) -> str:
    return f"rule {place + 1} ({named(rule.name)})"


def _of_categories(rule: Rule) -> str:
    return f" in {_listed(sorted(rule.categories))}" if rule.categories else ""


def _few(names: Sequence[str]) -> str:
    return f"; there are {_listed(names)}"


def _listed(names: Iterable[str]) -> str:
    given = list(names)
    return ", ".join(given[:_SHOWN]) + (" …" if len(given) > _SHOWN else "")
