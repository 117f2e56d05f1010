"""The rules that a bundle is judged by, one function a rule: each gives what fails and what is only warned of.

They mean what the rules of the specification's own runner mean, so that both come to the same verdicts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.evidence.bundle import Bundle
from headgate.conformance.evidence.readings import (
    MISSING,
    at_path,
    compact,
    holds_true,
    same_json,
    same_scalar,
    text_of,
)
from headgate.conformance.evidence.shapes import Shape, complaints
from headgate.conformance.reports.shortening import cut
from headgate.conformance.survey import entries
from headgate.conformance.values import Verdict

__all__ = [
    "Seen",
    "batches_supported",
    "both_modes",
    "constraints_disclosed",
    "constraints_enforced",
    "created_is_read",
    "defaults_observable",
    "details_valid",
    "errors_actionable",
    "errors_leak_nothing",
    "errors_well_formed",
    "fields_selectable",
    "names_snake_case",
    "operations_listed",
    "parameters_complete",
    "required_enforced",
    "types_listed",
    "unknown_handled",
    "updates_preserve",
]

_SPACE: Final = r"[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_LEAKS: Final = re.compile(
    "|".join(
        (
            r"typeerror|referenceerror|syntaxerror",
            rf"at{_SPACE}+(?!{_SPACE}).",
            r"/src/|/node_modules/",
            r"\.[tj]s:[0-9]",
        )
    ),
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
"""What gives the inside of an implementation away; the second means a line of a trace, and also hits other words."""
_MESSAGE: Final = 200
_SNAKE_CASE: Final = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a rule has against a bundle."""

    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What it amounts to."""
        if self.failures:
            return Verdict.FAIL
        return Verdict.WARN if self.warnings else Verdict.PASS

    @property
    def words(self) -> str:
        """All of it in one line."""
        return "; ".join((*self.failures, *self.warnings))


def _failing(failures: Iterable[str]) -> Seen:
    return Seen(tuple(failures))


# introspection


def operations_listed(bundle: Bundle) -> Seen:
    """The list of operations was answered, in its form."""
    return _answered(bundle.introspection.get("operations_list"), Shape.OPERATIONS)


def types_listed(bundle: Bundle) -> Seen:
    """The list of types was answered, in its form."""
    return _answered(bundle.introspection.get("types_list"), Shape.TYPES)


def _answered(answer: object, shape: str) -> Seen:
    if not isinstance(answer, Mapping) or answer.get("success") is not True:
        return Seen((f"there is no answer with the list of {shape}",))
    if "data" not in answer:
        return Seen(("the answer has no data",))
    return _failing(complaints(shape, answer["data"]))


def details_valid(bundle: Bundle) -> Seen:
    """The details of every operation have their form."""
    return _failing(
        f"'{_name(detail)}': {'; '.join(wrong)}"
        for detail in bundle.operation_details
        if (wrong := complaints(Shape.OPERATION, detail))
    )


def parameters_complete(bundle: Bundle) -> Seen:
    """What is accepted is documented, and what is documented was seen to be accepted."""
    hidden: list[str] = []
    unseen: list[str] = []
    for detail in bundle.operation_details:
        if complaints(Shape.OPERATION, detail):
            continue
        documented = [one["name"] for one in detail["parameters"]]
        accepted = bundle.accepted_parameters.get(detail["name"]) or []
        hidden += (f"{detail['name']}.{text_of(name)}" for name in accepted if name not in documented)
        unseen += (f"{detail['name']}.{name}" for name in dict.fromkeys(documented) if name not in accepted)
    return Seen(_told("accepted, but not documented", hidden), _told("documented, but not seen accepted", unseen))


def _told(what: str, names: list[str]) -> tuple[str, ...]:
    return (f"{what}: {', '.join(names)}",) if names else ()


# parameters


def required_enforced(bundle: Bundle) -> Seen:
    """For each required parameter there is a case without it, which failed and names it."""
    cases = bundle.parameter_cases("missing_required")
    by_name = {_name(detail): detail for detail in bundle.operation_details}
    lacking = [
        f"{name}.{text_of(parameter)}"
        for name, detail in by_name.items()
        for parameter in _required(detail)
        if not _named_as_missing(cases, detail.get("name", MISSING), parameter)
    ]
    return Seen(_told("no refusal that names the parameter was seen without", lacking))


def _required(detail: Mapping[str, Any]) -> Iterator[object]:
    for parameter in entries(detail.get("parameters")):
        if holds_true(parameter.get("required", MISSING)):
            yield parameter.get("name", MISSING)


def _named_as_missing(cases: list[Mapping[str, Any]], operation: object, parameter: object) -> bool:
    """Only the first case counts."""
    for case in cases:
        if (case.get("operation", MISSING), case.get("parameter", MISSING)) == (operation, parameter):
            return at_path(case, "response.success") is False and text_of(parameter) in _message(case)
    return False


def unknown_handled(bundle: Bundle) -> Seen:
    """An unknown parameter is refused by name, or at least warned of."""
    silent = [
        f"{_said(case, 'operation')}.{_said(case, 'parameter')}"
        for case in bundle.parameter_cases("unknown_parameter")
        if not _is_spoken_of(case)
    ]
    return Seen(_told("nothing was said of the unknown parameters", silent))


def _is_spoken_of(case: Mapping[str, Any]) -> bool:
    success, message = at_path(case, "response.success"), _message(case)
    if success is True:
        warnings = at_path(case, "response.warnings")
        return isinstance(warnings, list) and bool(warnings)
    return success is False and bool(message) and text_of(case.get("parameter", MISSING)) in message


def defaults_observable(bundle: Bundle) -> Seen:
    """Where a default shows in an answer, it is the documented one."""
    failures = []
    for case in bundle.parameter_cases("optional_defaults"):
        expected = case.get("expected_value", MISSING)
        seen = at_path(case.get("response", MISSING), case.get("expected_value_path", MISSING))
        if not same_scalar(seen, expected):
            what = f"{_said(case, 'operation')}.{_said(case, 'parameter')}"
            failures.append(f"{what}: {_shown(expected)} expected, {_shown(seen)} seen")
    return _failing(failures)


def names_snake_case(bundle: Bundle) -> Seen:
    """Documented parameters are named in snake_case."""
    wrong = [
        f"{_name(detail)}.{name}"
        for detail in bundle.operation_details
        for parameter in entries(detail.get("parameters"))
        if not _SNAKE_CASE.fullmatch(name := text_of(parameter.get("name", MISSING)))
    ]
    return Seen(_told("not in snake_case", wrong))


# errors


def errors_well_formed(bundle: Bundle) -> Seen:
    """Every answer to a wrong request has the form of an envelope."""
    return _failing(
        f"'{_said(case, 'name')}': {'; '.join(wrong)}"
        for case in bundle.cases("error_tests")
        if (wrong := _malformed(case))
    )


def errors_leak_nothing(bundle: Bundle) -> Seen:
    """No message tells of the inside."""
    return _failing(
        f"'{_said(case, 'name')}' says '{cut(message, _MESSAGE)}': '{leak[0]}' reads like the inside of a program"
        for case in _well_formed(bundle)
        if (leak := _LEAKS.search(message := _message(case)))
    )


def errors_actionable(bundle: Bundle) -> Seen:
    """Each message names what it must."""
    warnings = []
    for case in _well_formed(bundle):
        lacking = [text_of(one) for one in _list(case, "must_mention") if text_of(one) not in _message(case)]
        if lacking:
            warnings.append(f"'{_said(case, 'name')}' does not mention {', '.join(lacking)}")
    return Seen((), tuple(warnings))


def _well_formed(bundle: Bundle) -> Iterator[Mapping[str, Any]]:
    return (case for case in bundle.cases("error_tests") if not _malformed(case))


def _malformed(case: Mapping[str, Any]) -> list[str]:
    return complaints(Shape.ENVELOPE, case["response"]) if "response" in case else ["there is no answer"]


# round trips


def created_is_read(bundle: Bundle) -> Seen:
    """What was submitted is read again."""
    return _failing(_changed(bundle.cases("round_trip_tests"), "expected_fields"))


def updates_preserve(bundle: Bundle) -> Seen:
    """What an update does not speak of stays."""
    return _failing(_changed(bundle.cases("update_preservation_tests"), "preserved_fields"))


def _changed(cases: list[Mapping[str, Any]], key: str) -> Iterator[str]:
    for case in cases:
        fields = case.get(key)
        for path, expected in fields.items() if isinstance(fields, Mapping) else ():
            seen = at_path(case.get("read_response", MISSING), path)
            if not same_json(seen, expected):
                yield f"'{_said(case, 'name')}': '{path}' is {_shown(seen)}, {_shown(expected)} expected"


# level 2


def both_modes(bundle: Bundle) -> Seen:
    """It was seen with the CRUDE endpoints, and with a single one."""
    return _failing(
        f"it was not seen in the mode '{mode}'" for mode in ("crude", "single") if mode not in bundle.endpoint_modes
    )


def fields_selectable(bundle: Bundle) -> Seen:
    """Fields can be selected."""
    return _capable(bundle, "field_selection")


def batches_supported(bundle: Bundle) -> Seen:
    """Batches are supported, and one was answered in the right form."""
    flag = _capable(bundle, "batch_operations").failures
    if not holds_true(bundle.content.get("batch_example", MISSING)):
        return Seen((*flag, "there is no answer to a batch"))
    return Seen((*flag, *complaints(Shape.ENVELOPE, bundle.content["batch_example"])))


def _capable(bundle: Bundle, name: str) -> Seen:
    has_it = holds_true(bundle.capabilities.get(name, MISSING))
    return Seen() if has_it else Seen((f"the capability '{name}' is missing",))


def constraints_enforced(bundle: Bundle) -> Seen:
    """What breaks a constraint is refused with a structured error."""
    return _failing(f"'{_said(case, 'name')}' was not refused" for case in _unenforced(bundle, enforced=False))


def constraints_disclosed(bundle: Bundle) -> Seen:
    """What is enforced is documented."""
    hidden = (case for case in _unenforced(bundle, enforced=True) if case.get("documented") is not True)
    return Seen((), tuple(f"'{_said(case, 'name')}' is enforced, but not documented" for case in hidden))


def _unenforced(bundle: Bundle, *, enforced: bool) -> Iterator[Mapping[str, Any]]:
    for case in bundle.cases("constraint_tests"):
        message = at_path(case, "response.error.message")
        if (at_path(case, "response.success") is False and isinstance(message, str)) is enforced:
            yield case


# what cases say


def _message(case: Mapping[str, Any]) -> str:
    message = at_path(case, "response.error.message")
    return message if isinstance(message, str) else ""


def _name(detail: Mapping[str, Any]) -> str:
    return _said(detail, "name")


def _said(case: Mapping[str, Any], key: str) -> str:
    return text_of(case.get(key, MISSING))


def _list(case: Mapping[str, Any], key: str) -> list[Any]:
    value = case.get(key)
    return value if isinstance(value, list) else []


def _shown(value: object) -> str:
    return "nothing" if value is MISSING else compact(value)
