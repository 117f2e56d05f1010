"""Round-Trip Integrity: updates that are not what they should be are refused, and nothing else is."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

from headgate.conformance.journeys import Journey, updated
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.updating import Step
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_UNKNOWN: Final = "VALIDATION_UNKNOWN_FIELD"
_ELSE: Final = ("PERMISSION_", "RATE_LIMIT_", "CONFIRMATION_", "INTERNAL_", "NOT_FOUND_", "CONFLICT_", "TOKEN_")
"""Answers that say nothing of how a request was looked at."""


def _took_wrong(journey: Journey) -> bool:
    """Whether this server takes wrong types everywhere, which is not a matter of updates."""
    tried = [step for step in journey.updates("unstrict") if step.field]
    return not all(step.asked.failed and not step.asked.code.startswith(_ELSE) for step in tried)


def _took_nothing(journey: Journey) -> bool:
    """Whether this server answers although required parameters are absent, which is not a matter of updates."""
    return any(step.asked.succeeded for step in journey.updates("unstrict") if not step.field)


def _refusals(journey: Journey, kind: str, what: Callable[[Step], str]) -> Iterator[Finding]:
    """All steps of a kind must have been refused; of those that were otherwise impossible nothing is said."""
    for step in journey.updates(kind):
        if step.asked.succeeded:
            yield broken(journey.update_name, what(step), *step.exchanges)
        elif step.asked.failed and not step.asked.code.startswith(_ELSE):
            yield holds(journey.update_name, *step.exchanges)


@check(
    "updates.input-required",
    "An update without 'input' is refused.",
    section="specification 4.5.3",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Updates what was made without 'input'; needs --allow create,update,delete.",
    proves=("spec-4.5.3-missing-input-refused",),
)
async def input_required(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing to change is a mistake."""

    def judge(journey: Journey) -> Iterator[Finding]:
        if not _took_nothing(journey):
            words = "an update without 'input' was answered with success; expected VALIDATION_MISSING_PARAM"
            yield from _refusals(journey, "missing", lambda _step: words)

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.input-object",
    "An 'input' that is no object is refused.",
    section="specification 4.5.3",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Sends a number, a text, a list and null as 'input'; needs --allow create,update,delete.",
    proves=("spec-4.5.3-input-must-be-object",),
)
async def input_object(probe: Probe) -> AsyncIterator[Finding]:
    """Fields to change are an object."""

    def judge(journey: Journey) -> Iterator[Finding]:
        if not _took_wrong(journey):
            yield from _refusals(
                journey,
                "no-object",
                lambda step: f"an update whose 'input' is {step.given!r} was answered with success; expected a refusal",
            )

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.unknown-field",
    "A field in 'input' that the resource does not have is refused with VALIDATION_UNKNOWN_FIELD.",
    section="specification 4.5.3",
    demand=Demand.SHOULD,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Updates a field with a name that nobody has; needs --allow create,update,delete.",
    proves=("spec-4.5.3-unknown-input-fields-rejected",),
)
async def unknown_field(probe: Probe) -> AsyncIterator[Finding]:
    """A misspelt field is told."""

    def judge(journey: Journey) -> Iterator[Finding]:
        for step in journey.updates("unknown"):
            if step.asked.code == _UNKNOWN:
                yield holds(journey.update_name, step.asked)
            elif step.asked.succeeded or (step.asked.code and not step.asked.code.startswith(_ELSE)):
                was = "with success" if step.asked.succeeded else f"with {step.asked.code}"
                words = f"the unknown field '{step.field}' in 'input' was answered {was}; expected {_UNKNOWN}"
                yield broken(journey.update_name, words, step.asked)

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.identifier-in-input",
    "An identifier inside 'input' is refused.",
    section="specification 4.5.3",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Puts the thing's own identifier into 'input' beside a field that may be changed; "
    "needs --allow create,update,delete.",
    proves=("spec-4.5.3-identifiers-inside-input-rejected", "spec-4.5-update-identifiers-beside-input"),
)
async def identifier_in_input(probe: Probe) -> AsyncIterator[Finding]:
    """What says where stands beside what is changed."""

    def judge(journey: Journey) -> Iterator[Finding]:
        yield from _refusals(
            journey,
            "identifier",
            lambda step: f"the identifier '{step.field}' inside 'input' was taken; it may only stand beside 'input'",
        )

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.fields-validated",
    "A field in 'input' of a wrong type is refused.",
    section="specification 4.5.3",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Sets a plain field to an object; needs --allow create,update,delete.",
    proves=("spec-4.5.3-input-fields-schema-validated",),
)
async def fields_validated(probe: Probe) -> AsyncIterator[Finding]:
    """Fields are looked at as parameters are."""

    def judge(journey: Journey) -> Iterator[Finding]:
        if not _took_wrong(journey):
            yield from _refusals(
                journey,
                "misfit",
                lambda step: (
                    f"'{step.field}' in 'input' was set to an object with success, although it is declared as "
                    f"'{' | '.join(journey.fields[step.field].types)}'; expected a refusal"
                ),
            )

    async for finding in updated(probe, judge):
        yield finding
