"""What a bundle of evidence amounts to: every rule in its category, and a report like the specification's runner's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from headgate.conformance.evidence import rules
from headgate.conformance.evidence.bundle import Bundle, BundleError
from headgate.conformance.evidence.rules import Seen
from headgate.conformance.evidence.transcripts import Tier, judge_case
from headgate.conformance.values import Area, Verdict
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["CATEGORIES", "BundleReport", "Category", "CategoryResult", "Rule", "RuleResult", "judge_bundle"]

_MISSED: Final = 1
_WARNED: Final = 2


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule, or a case, and what became of it."""

    name: str
    result: Verdict
    detail: str

    def wire(self) -> dict[str, Any]:
        """As it stands in a report."""
        return {"name": self.name, "result": self.result.value, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a bundle must show."""

    name: str
    judge: Callable[[Bundle], Seen]
    fine: str
    """What is said if nothing is wrong."""

    def applied(self, bundle: Bundle) -> RuleResult:
        """What becomes of it."""
        seen = self.judge(bundle)
        return RuleResult(self.name, seen.verdict, seen.words or self.fine)


Judging: TypeAlias = Callable[[Bundle, Tier], Iterable[RuleResult]]


@dataclass(frozen=True, slots=True)
class Category:
    """Rules that belong together."""

    name: str
    required: bool
    """Whether level 1 depends on it; else a failure is only a warning."""
    level: int
    judge: Judging


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """A category and what became of it."""

    name: str
    required: bool
    tests: tuple[RuleResult, ...]

    @property
    def result(self) -> Verdict:
        """What its rules amount to."""
        found = {test.result for test in self.tests}
        if Verdict.FAIL in found:
            return Verdict.FAIL if self.required else Verdict.WARN
        if Verdict.WARN in found:
            return Verdict.WARN
        return Verdict.PASS if found - {Verdict.SKIP} else Verdict.SKIP

    def wire(self) -> dict[str, Any]:
        """As it stands in a report."""
        return {
            "name": self.name,
            "required": self.required,
            "result": self.result.value,
            "tests": [test.wire() for test in self.tests],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """What a bundle amounts to."""

    implementation: str
    version: str
    spec_version: str
    level: int
    """The level that was asked for."""
    judged: tuple[CategoryResult, ...]
    """All categories of that level."""
    category: str | None = None
    """The only one to be shown, if one was chosen."""

    @property
    def categories(self) -> tuple[CategoryResult, ...]:
        """Those that are shown."""
        return tuple(one for one in self.judged if self.category in (None, one.name))

    @property
    def reached(self) -> int:
        """The level that all of it proves: the one asked for, or none at all."""
        return 0 if _missed(self.judged) else self.level

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many rules came to each verdict, in all categories."""
        found = [test.result for one in self.judged for test in one.tests]
        return {verdict: found.count(verdict) for verdict in Verdict}

    @property
    def exit_code(self) -> int:
        """0: nothing to say against what is shown; 1: a required category failed; 2: another is not all fine."""
        if _missed(self.categories):
            return _MISSED
        loose = any(one.result in (Verdict.WARN, Verdict.FAIL) for one in self.categories if not one.required)
        return _WARNED if loose else 0

    def wire(self) -> dict[str, Any]:
        """The report as JSON, with the members that the specification's runner gives it."""
        counts = self.counts
        return {
            "implementation": self.implementation,
            "version": self.version,
            "specVersion": self.spec_version,
            "requestedLevel": self.level,
            "conformanceLevel": self.reached,
            "summary": {
                "total": sum(counts.values()),
                "passed": counts[Verdict.PASS],
                "warned": counts[Verdict.WARN],
                "failed": counts[Verdict.FAIL],
                "skipped": counts[Verdict.SKIP],
            },
            "categories": [one.wire() for one in self.categories],
            "exitCode": self.exit_code,
        }


def _missed(results: Iterable[CategoryResult]) -> bool:
    return any(one.required and one.result is Verdict.FAIL for one in results)


def _by(*applied: Rule) -> Judging:
    return lambda bundle, _tier: [rule.applied(bundle) for rule in applied]


def _conversations(bundle: Bundle, tier: Tier) -> list[RuleResult]:
    """Each conversation is judged by itself."""
    if tier == "1":
        return [RuleResult("Semantic evaluation skipped", Verdict.SKIP, "tier 1 does not look at meaning")]
    judged = map(judge_case, bundle.cases("semantic_tests"))
    return [RuleResult(one.name, one.verdict, one.words) for one in judged]


CATEGORIES: Final = (
    Category(
        Area.INTROSPECTION.value,
        required=True,
        level=1,
        judge=_by(
            Rule("Operations query is implemented", rules.operations_listed, "the list of operations has its form"),
            Rule("Types query is implemented", rules.types_listed, "the list of types has its form"),
            Rule("Operation detail payloads validate", rules.details_valid, "all details have their form"),
            Rule(
                "Introspection completeness matches accepted parameters",
                rules.parameters_complete,
                "what is accepted is documented, and the other way round",
            ),
        ),
    ),
    Category(
        Area.PARAMETERS.value,
        required=True,
        level=1,
        judge=_by(
            Rule("Required parameters are enforced", rules.required_enforced, "without it each is refused and named"),
            Rule("Unknown parameters are handled explicitly", rules.unknown_handled, "none was passed over in silence"),
            Rule("Documented defaults are observable", rules.defaults_observable, "defaults are as documented"),
            Rule("Canonical parameter names use snake_case", rules.names_snake_case, "all names are in snake_case"),
        ),
    ),
    Category(
        Area.ERRORS.value,
        required=True,
        level=1,
        judge=_by(
            Rule(
                "Error responses match the discriminated union schema",
                rules.errors_well_formed,
                "all errors have the form of an envelope",
            ),
            Rule(
                "Error messages do not leak implementation internals",
                rules.errors_leak_nothing,
                "no message tells of the inside",
            ),
            Rule("Error messages remain actionable", rules.errors_actionable, "all messages name what is concerned"),
        ),
    ),
    Category(
        Area.ROUND_TRIPS.value,
        required=True,
        level=1,
        judge=_by(
            Rule("Create-read cycles preserve submitted fields", rules.created_is_read, "what was submitted was read"),
            Rule("Updates preserve non-targeted fields", rules.updates_preserve, "everything else has stayed"),
        ),
    ),
    Category(
        Area.LEVEL_2.value,
        required=False,
        level=2,
        judge=_by(
            Rule("Both endpoint modes are documented", rules.both_modes, "it was seen in both modes"),
            Rule("Field selection is supported", rules.fields_selectable, "fields can be selected"),
            Rule("Batch operations are supported", rules.batches_supported, "a batch was answered in its form"),
        ),
    ),
    Category(
        Area.CONSTRAINTS.value,
        required=False,
        level=2,
        judge=_by(
            Rule(
                "Constraints are enforced with structured errors",
                rules.constraints_enforced,
                "what breaks a constraint was refused",
            ),
            Rule(
                "Constraints are disclosed in introspection guidance",
                rules.constraints_disclosed,
                "what is enforced is documented",
            ),
        ),
    ),
    Category(Area.SEMANTIC.value, required=False, level=2, judge=_conversations),
)
"""All rules, in the order of reports."""


def judge_bundle(
    content: object, level: int = 1, tier: Tier = "both", category: str | None = None, *, where: str = "the bundle"
) -> BundleReport:
    """Judge what a bundle holds; BundleError if it is none, or if there is no such category."""
    known = [one.name for one in CATEGORIES]
    if category is not None and category not in known:
        hint = did_you_mean(nearest(category, known, 1)) or f"; there are {', '.join(known)}"
        raise BundleError(f"there is no category '{category}'{hint}")
    bundle = Bundle.of(content, where)
    return BundleReport(
        implementation=str(bundle.content["implementation"]),
        version=str(bundle.content["version"]),
        spec_version=str(bundle.content["spec_version"]),
        level=level,
        judged=tuple(
            CategoryResult(one.name, one.required, tuple(one.judge(bundle, tier)))
            for one in CATEGORIES
            if one.level <= level
        ),
        category=category,
    )
