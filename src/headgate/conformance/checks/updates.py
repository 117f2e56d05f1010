"""Round-Trip Integrity: updates change what they name and keep the rest."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from headgate.conformance.journeys import Journey, journeys_of, updated
from headgate.conformance.likeness import lasting, same
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.survey import SeenOperation
from headgate.conformance.trips import CONTROL, INPUT, thing_in
from headgate.conformance.updating import Step
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_PLAIN: Final = frozenset({"string", "integer", "number", "boolean", "array", "null"})


@check(
    "updates.input-declared",
    "Every operation of UPDATE declares a required object 'input' for the fields to change.",
    section="specification 4.5",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Looks at the parameters that introspection shows; nothing is changed.",
    proves=(
        "spec-4.5-update-fields-in-input",
        "spec-4.5-update-identifiers-beside-input",
        "ops-4.5-update-fields-in-input",
    ),
)
async def input_declared(probe: Probe) -> AsyncIterator[Finding]:
    """What is changed stands apart from what says where."""
    for operation in probe.survey.of_category("UPDATE"):
        wrong = _undeclared(operation)
        yield broken(operation.name, wrong, _details(probe, operation)) if wrong else holds(operation.name)


def _details(probe: Probe, operation: SeenOperation) -> Any:
    return probe.survey.details_answers[operation.name]


def _undeclared(operation: SeenOperation) -> str:
    given = operation.parameter(INPUT)
    if given is None:
        told = ", ".join(f"'{one.name}'" for one in operation.parameters) or "none at all"
        return f"an operation of UPDATE takes the fields to change in an object 'input'; it declares {told}"
    if given.raw.get("required") is False:
        return "'input' is declared as optional; a request to change something must have it"
    if given.types and _PLAIN.issuperset(given.types):
        return f"'input' is declared as '{' | '.join(given.types)}'; expected an object"
    return ""


@check(
    "updates.applied",
    "A field that was updated has its new value.",
    section="specification 4.5.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Changes one plain field of what was made, and reads it again; needs --allow create,update,delete.",
    proves=("spec-4.5.1-merge-replaces-plain-fields", "spec-4.5-update-fields-in-input"),
)
async def applied(probe: Probe) -> AsyncIterator[Finding]:
    """What succeeded has happened."""

    def judge(journey: Journey) -> Iterator[Finding]:
        for step in journey.updates("change"):
            if not step.asked.succeeded:
                why = f"no update of it was taken: {step.asked.code}: {step.asked.message}"
                yield unseen(journey.update_name, why, step.asked)
            elif step.now is not None and same(step.given, step.now.get(step.field)):
                yield holds(journey.update_name, *step.exchanges)
            elif step.now is not None:
                words = f"'{step.field}' was set to {step.given!r} with success, and is read as"
                yield broken(journey.update_name, f"{words} {step.now.get(step.field)!r}", *step.exchanges)

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.preserve",
    "Fields and things that an update does not name keep their values.",
    section="specification 4.5.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Changes one plain field of what was made, and compares all others, and another thing that was there before; "
    "needs --allow create,update,delete.",
    proves=("spec-4.5.1-merge-keeps-absent-keys", "spec-4.5.2-null-is-the-removal"),
)
async def preserve(probe: Probe) -> AsyncIterator[Finding]:
    """Only what is named changes."""

    def judge(journey: Journey) -> Iterator[Finding]:
        for step in journey.updates("change"):
            if step.now is None:
                continue
            lost, elsewhere = _lost(journey, step), _lost_elsewhere(journey, step)
            if lost:
                words = (
                    f"only '{step.field}' was updated, but {', '.join(lost)} changed too; what is left out must stay"
                )
                yield broken(journey.update_name, words, *step.exchanges)
            elif elsewhere:
                words = f"one {journey.trip.resource} was updated, but {', '.join(elsewhere)} of another changed too"
                yield broken(journey.update_name, words, step.beside[-2], step.asked, step.beside[-1])
            else:
                yield holds(journey.update_name, *step.exchanges)

    async for finding in updated(probe, judge):
        yield finding


def _lost(journey: Journey, step: Step) -> list[str]:
    """The fields beside the changed one that do not have the values from before."""
    now = step.now or {}
    kept = {name for name in {*journey.sent, *journey.fields} if name not in CONTROL and lasting(name)}
    return [
        f"'{name}'" for name in sorted(kept & set(step.before)) if name != step.field and _moved(step.before, now, name)
    ]


def _lost_elsewhere(journey: Journey, step: Step) -> list[str]:
    """The fields of another thing that stayed between two readings, and were others after an update of this one."""
    things = [thing_in(one, journey.trip) for one in step.beside]
    if not things or None in things:
        return []
    first, before, after = (thing or {} for thing in things)
    names = sorted(name for name in {*journey.sent, step.field} & set(before) if name not in CONTROL and lasting(name))
    return [f"'{name}'" for name in names if first.get(name) == before[name] and _moved(before, after, name)]


def _moved(before: Mapping[str, Any], now: Mapping[str, Any], name: str) -> bool:
    return before[name] is not None and not same(before[name], now.get(name))


def _is_sound(journey: Journey) -> bool:
    """Whether plain updates are kept and lose nothing: otherwise nothing can be said of finer ones."""
    return not any(
        step.now is not None and (_lost(journey, step) or not same(step.given, step.now.get(step.field)))
        for step in journey.updates("change")
    )


@check(
    "updates.merge-objects",
    "An object inside 'input' is merged: its members that are left out stay.",
    section="specification 4.5.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Changes one member of an object with several, and looks at the others; needs --allow create,update,delete.",
    proves=(
        "spec-4.5.1-merge-recurses-into-objects",
        "spec-4.5.1-merge-keeps-absent-keys",
        "spec-4.5.1-merge-example-result-exact",
    ),
)
async def merge_objects(probe: Probe) -> AsyncIterator[Finding]:
    """Objects merge at every depth."""

    def judge(journey: Journey) -> Iterator[Finding]:
        steps = [step for step in journey.updates("object") if step.now is not None and _is_sound(journey)]
        for step in steps:
            before, given = step.before[step.field], step.given
            now = (step.now or {}).get(step.field)
            inner: Mapping[str, Any] = now if isinstance(now, Mapping) else {}
            named = set(given) if isinstance(given, Mapping) else set()
            lost = [name for name in before if name not in named and not same(before[name], inner.get(name))]
            if lost:
                words = f"of '{step.field}' only {_listed(named)} was updated, but {_listed(lost)} did not stay"
                yield broken(journey.update_name, f"{words}; objects are merged, not replaced", *step.exchanges)
            else:
                yield holds(journey.update_name, *step.exchanges)
        if not steps:
            yield unseen(journey.update_name, f"no object with several members was found in '{journey.trip.resource}'")

    async for finding in updated(probe, judge):
        yield finding


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))


@check(
    "updates.arrays-replaced",
    "A list inside 'input' takes the place of the whole list.",
    section="specification 4.5.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Sets a list of several elements to a list of one; needs --allow create,update,delete.",
    proves=("spec-4.5.1-merge-replaces-whole-arrays",),
)
async def arrays_replaced(probe: Probe) -> AsyncIterator[Finding]:
    """Lists are not merged."""

    def judge(journey: Journey) -> Iterator[Finding]:
        steps = [step for step in journey.updates("array") if step.now is not None]
        for step in steps:
            now = (step.now or {}).get(step.field)
            if same(step.given, now):
                yield holds(journey.update_name, *step.exchanges)
            elif isinstance(now, list) and now != step.before[step.field] and _holds_all(now, step.given):
                words = f"'{step.field}' was set to {step.given!r}, and is read as {now!r}"
                yield broken(journey.update_name, f"{words}; lists are replaced, not merged", *step.exchanges)
        if not steps:
            yield unseen(journey.update_name, f"no list that could be changed was found in '{journey.trip.resource}'")

    async for finding in updated(probe, judge):
        yield finding


def _holds_all(now: list[Any], given: object) -> bool:
    return isinstance(given, list) and all(any(same(one, other) for other in now) for one in given)


def _changes_nothing(journey: Journey) -> bool:
    """Whether updates are answered and not kept at all: then nothing can be said of what null does."""
    tried = [step for step in journey.updates("change") if step.now is not None]
    return any(not same(step.given, (step.now or {}).get(step.field)) for step in tried)


@check(
    "updates.null-removes",
    "A field set to null is removed.",
    section="specification 4.5.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Sets an optional field that has a value to null, and reads it again; needs --allow create,update,delete.",
    proves=("spec-4.5.1-merge-null-removes-field", "spec-4.5.2-null-is-the-removal"),
)
async def null_removes(probe: Probe) -> AsyncIterator[Finding]:
    """Null is how a field is removed."""

    def judge(journey: Journey) -> Iterator[Finding]:
        steps = [step for step in journey.updates("null") if step.now is not None and not _changes_nothing(journey)]
        for step in steps:
            now = (step.now or {}).get(step.field)
            if now is not None and same(step.before[step.field], now):
                words = f"'{step.field}' was set to null with success, and is still read as {now!r}"
                yield broken(journey.update_name, f"{words}; null removes a field", *step.exchanges)
            else:
                yield holds(journey.update_name, *step.exchanges)
        if not steps:
            yield unseen(journey.update_name, f"no field of a {journey.trip.resource} could be set to null")

    async for finding in updated(probe, judge):
        yield finding


@check(
    "updates.dry-run",
    "A dry run changes nothing.",
    section="operations 4.4.1",
    demand=Demand.SHOULD,
    area=Area.ROUND_TRIPS,
    level=2,
    how="Updates and deletes what was made with 'dry_run', where it is declared; needs --allow create,update,delete.",
    proves=("ops-4.4.1-dry-run-previews-mutations",),
)
async def dry_run(probe: Probe) -> AsyncIterator[Finding]:
    """A preview is no execution."""
    for journey in await journeys_of(probe):
        for step in journey.updates("dry-run"):
            if step.now is not None and same(step.given, step.now.get(step.field)):
                words = f"an update of '{step.field}' with 'dry_run' was carried out; expected a preview only"
                yield broken(journey.update_name, words, *step.exchanges)
            elif step.now is not None:
                yield holds(journey.update_name, *step.exchanges)
        if journey.dry_delete is None or not journey.dry_delete[0].succeeded or journey.trip.delete is None:
            continue
        name = journey.trip.delete.name
        if thing_in(journey.dry_delete[1], journey.trip) is None and journey.dry_delete[1].failed:
            yield broken(
                name, "a deletion with 'dry_run' was carried out; expected a preview only", *journey.dry_delete
            )
        else:
            yield holds(name, *journey.dry_delete)
