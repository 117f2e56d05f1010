"""Constraint Documentation: what may not be changed is said, and what is said is so."""

from collections.abc import AsyncIterator

from headgate.conformance.journeys import journeys_of
from headgate.conformance.likeness import same
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.survey import SeenOperation
from headgate.conformance.trips import INPUT
from headgate.conformance.updating import Step
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_READ_ONLY = "VALIDATION_READ_ONLY_FIELD"


@check(
    "constraints.read-only-enforced",
    "A field that is documented as read-only cannot be updated.",
    section="introspection 8.2.2",
    demand=Demand.SHOULD,
    area=Area.CONSTRAINTS,
    level=2,
    how="Updates fields whose description says 'read-only'; needs --allow create,update,delete.",
    proves=("intro-8.2.2-read-only-fields-documented",),
)
async def read_only_enforced(probe: Probe) -> AsyncIterator[Finding]:
    """What is documented holds."""
    for journey in await journeys_of(probe):
        for step in journey.steps.get("read-only", ()):
            subject = f"{journey.trip.resource}.{step.field}"
            if step.asked.succeeded:
                yield broken(subject, _carried_out(step), *step.exchanges)
            elif step.asked.failed:
                yield holds(subject, *step.exchanges)


def _carried_out(step: Step) -> str:
    changed = step.now is not None and same(step.given, step.now.get(step.field))
    became = "and it has changed" if changed else "although nothing came of it"
    return f"'{step.field}' is documented as read-only, but an update of it was answered with success, {became}"


@check(
    "constraints.read-only-documented",
    "A field that cannot be updated is documented as read-only.",
    section="introspection 8.2.2",
    demand=Demand.SHOULD,
    area=Area.CONSTRAINTS,
    level=2,
    how=f"Updates fields that the server fills in itself; where that is answered with {_READ_ONLY}, looks whether "
    "introspection says so; needs --allow create,update,delete.",
    proves=("intro-8.2.2-read-only-fields-documented",),
)
async def read_only_documented(probe: Probe) -> AsyncIterator[Finding]:
    """What holds is documented."""
    for journey in await journeys_of(probe):
        update = journey.trip.update
        for step in journey.steps.get("read-only", ()):
            if step.asked.code == _READ_ONLY:
                yield holds(f"{journey.trip.resource}.{step.field}", step.asked)
        for step in journey.steps.get("undocumented", ()):
            subject = f"{journey.trip.resource}.{step.field}"
            if step.asked.code != _READ_ONLY or update is None:
                yield unseen(subject, f"'{step.field}' is not refused as read-only", step.asked)
            elif _mentions(update, step.field):
                yield holds(subject, step.asked)
            else:
                words = f"'{step.field}' is refused as read-only, and introspection does not say so"
                yield broken(subject, words, step.asked)


def _mentions(update: SeenOperation, field: str) -> bool:
    """Whether an update says in words which fields it takes, or that this one is read-only."""
    given = update.parameter(INPUT)
    words = f"{update.description} {given.description if given is not None else ''}".lower()
    return "fields:" in words or (field.lower() in words and "read-only" in words.replace(" only", "-only"))
