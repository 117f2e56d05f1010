"""Round trips, updates and what they rest on: each fault is found by the check meant for it, and by no other."""

from collections.abc import Mapping
from typing import Any

import pytest

from headgate.conformance.fixtures import Fixtures
from headgate.conformance.values import Outcome, Verdict
from tests.conformance.checks.notes import DRY, INPUT, KEY, Notes, Record, Wrong, complaints, parameter, report_on

pytestmark = pytest.mark.anyio


class ForgetsTheSummary(Notes):
    def create_note(self, params: Record) -> object:
        return super().create_note({name: value for name, value in params.items() if name != "summary"})


class ShortensTexts(Notes):
    def create_note(self, params: Record) -> object:
        return super().create_note({**params, "title": params["title"][:3]})


class LosesWhatIsMade(Notes):
    def create_note(self, params: Record) -> object:
        note = self._put(params)
        del self.notes[note["id"]]
        return note


class KeepsWhatIsDeleted(Notes):
    def delete_note(self, params: Record) -> object:
        if not params.get("dry_run"):
            self.confirm(params)
        return {"note_id": self.find(params)["id"]}


class CountsReaders(Notes):
    def get_note(self, params: Record) -> object:
        note = self.find(params)
        note["readers"] = note.get("readers", 0) + 1
        return self.shown(note)


class HasAnotherCodeForMissing(Notes):
    def find(self, params: Record) -> Record:
        if params["note_id"] not in self.notes:
            raise Wrong("INTERNAL_ERROR", "Internal error: 'nothing there'")
        return self.notes[params["note_id"]]


class TakesFieldsBesideTheKey(Notes):
    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "update_note": ("UPDATE", [KEY, parameter("title", "string")])}

    def update_note(self, params: Record) -> object:
        return super().update_note({"note_id": params["note_id"], "input": {"title": params["title"]}})


class DeclaresInputAs(Notes):
    def __init__(self, more: Mapping[str, object]) -> None:
        super().__init__()
        self.more = more

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "update_note": ("UPDATE", [KEY, {**INPUT, **self.more}, DRY])}


class KeepsNoUpdate(Notes):
    def update_note(self, params: Record) -> object:
        return super().update_note({**params, "dry_run": True})


class ReplacesTheNote(Notes):
    def merge(self, old: Record, given: Record) -> None:
        for name in {one["name"] for one in self.fields} - {"title"}:
            old.pop(name, None)
        super().merge(old, given)


class HasColours(Notes):
    """With fields of which every note has the same values, and these are the defaults."""

    fields = (
        *Notes.fields,
        parameter("colour", "string", enum=["white", "blue", "archived"], default="white"),
        parameter("stars", "integer", minimum=1, maximum=5, default=3),
    )

    def _put(self, fields: Record) -> Record:
        return super()._put({"colour": "white", "stars": 3, **fields})


class StoresOneColour(HasColours):
    def _put(self, fields: Record) -> Record:
        return super()._put({**fields, "colour": "white"})


class ResetsStars(HasColours):
    def update_note(self, params: Record) -> object:
        given = params.get("input")
        return super().update_note({**params, "input": {"stars": 3, **given}} if given else params)


class ChangesAllNotes(Notes):
    def update_note(self, params: Record) -> object:
        answer = super().update_note(params)
        for note in self.notes.values():
            note["summary"] = params["input"].get("summary", "short")
        return answer


class ReplacesObjects(Notes):
    def merge(self, old: Record, given: Record) -> None:
        for name, value in given.items():
            old[name] = value
        for name in [name for name in old if old[name] is None]:
            del old[name]


class JoinsLists(Notes):
    def merge(self, old: Record, given: Record) -> None:
        lists = {name: [*old.get(name, []), *value] for name, value in given.items() if isinstance(value, list)}
        super().merge(old, {**given, **lists})


class IgnoresNull(Notes):
    def merge(self, old: Record, given: Record) -> None:
        super().merge(old, {name: value for name, value in given.items() if value is not None})


class NeedsNoInput(Notes):
    def check_param(self, one: Record, params: Record) -> None:
        super().check_param({**one, "required": one["required"] and one["name"] != "input"}, params)

    def update_note(self, params: Record) -> object:
        return super().update_note({"input": {}, **params})


class TakesAnyInput(Notes):
    def check_param(self, one: Record, params: Record) -> None:
        if one["name"] != "input" or "input" not in params:
            super().check_param(one, params)

    def update_note(self, params: Record) -> object:
        return super().update_note({**params, "input": params["input"] if isinstance(params["input"], dict) else {}})


class IgnoresUnknownFields(Notes):
    def check_name(self, name: str, known: Mapping[str, Record]) -> None:
        if name in ("note_id", "author") or name in known:
            super().check_name(name, known)


class HasAnotherCodeForUnknownFields(Notes):
    def check_name(self, name: str, known: Mapping[str, Record]) -> None:
        try:
            super().check_name(name, known)
        except Wrong as error:
            if error.code == "VALIDATION_UNKNOWN_FIELD":
                raise Wrong("VALIDATION_INVALID_VALUE", str(error)) from None
            raise


class TakesTheKeyInside(Notes):
    def check_input(self, given: Record) -> None:
        super().check_input({name: value for name, value in given.items() if name != "note_id"})


class ChecksNoFields(Notes):
    def check_kind(self, name: str, value: object, kind: str) -> None:
        pass


class RunsDryUpdates(Notes):
    def update_note(self, params: Record) -> object:
        return super().update_note({**params, "dry_run": False})


class RunsDryDeletions(Notes):
    gated = False

    def delete_note(self, params: Record) -> object:
        return super().delete_note({**params, "dry_run": False})


class ChangesReadOnlyFields(Notes):
    def check_name(self, name: str, known: Mapping[str, Record]) -> None:
        if name != "author":
            super().check_name(name, known)


class HidesWhatIsReadOnly(Notes):
    def _put(self, fields: Record) -> Record:
        note = super()._put(fields)
        note["shelf_mark"] = "A1"
        return note

    def check_name(self, name: str, known: Mapping[str, Record]) -> None:
        if name == "shelf_mark":
            raise Wrong("VALIDATION_READ_ONLY_FIELD", "Field 'shelf_mark' is read-only")
        super().check_name(name, known)


async def test_the_notes_have_no_fault_and_leave_nothing_behind() -> None:
    notes = Notes()
    report = await report_on(notes)
    assert complaints(report) == ([], [])
    assert {one.check.id: one.reason for one in report.results if one.verdict is Verdict.SKIP} == {}
    assert list(notes.notes) == ["note_1", "note_2"]


MUSTS: list[tuple[Notes, str]] = [
    (ForgetsTheSummary(), "round-trips.create-read"),
    (ShortensTexts(), "round-trips.create-read"),
    (LosesWhatIsMade(), "round-trips.create-read"),
    (StoresOneColour(), "round-trips.create-read"),
    (ResetsStars(), "updates.preserve"),
    (ChangesAllNotes(), "updates.preserve"),
    (KeepsWhatIsDeleted(), "round-trips.delete-gone"),
    (CountsReaders(), "round-trips.read-changes-nothing"),
    (HasAnotherCodeForMissing(), "round-trips.missing-resource-code"),
    (TakesFieldsBesideTheKey(), "updates.input-declared"),
    (DeclaresInputAs({"required": False}), "updates.input-declared"),
    (DeclaresInputAs({"type": "string"}), "updates.input-declared"),
    (KeepsNoUpdate(), "updates.applied"),
    (ReplacesTheNote(), "updates.preserve"),
    (ReplacesObjects(), "updates.merge-objects"),
    (JoinsLists(), "updates.arrays-replaced"),
    (IgnoresNull(), "updates.null-removes"),
    (NeedsNoInput(), "updates.input-required"),
    (TakesAnyInput(), "updates.input-object"),
    (TakesTheKeyInside(), "updates.identifier-in-input"),
    (ChecksNoFields(), "updates.fields-validated"),
]


@pytest.mark.parametrize(("notes", "meant"), MUSTS, ids=lambda one: one if isinstance(one, str) else type(one).__name__)
async def test_a_fault_fails_the_check_meant_for_it_alone(notes: Notes, meant: str) -> None:
    failed, _warned = complaints(await report_on(notes))
    assert failed == [meant]


@pytest.mark.parametrize(
    ("notes", "meant"),
    [
        (IgnoresUnknownFields(), "updates.unknown-field"),
        (HasAnotherCodeForUnknownFields(), "updates.unknown-field"),
        (RunsDryUpdates(), "updates.dry-run"),
        (RunsDryDeletions(), "updates.dry-run"),
        (ChangesReadOnlyFields(), "constraints.read-only-enforced"),
        (HidesWhatIsReadOnly(), "constraints.read-only-documented"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
async def test_a_weakness_is_warned_of_by_the_check_meant_for_it_alone(notes: Notes, meant: str) -> None:
    assert complaints(await report_on(notes)) == ([], [meant])


# what may be otherwise


class Tidies(Notes):
    """Trims texts, sorts lists, gives numbers as texts and the note inside its name."""

    def _put(self, fields: Record) -> Record:
        return super()._put({**fields, "title": f" {fields['title'].upper()} ", "tags": sorted(fields.get("tags", []))})

    def shown(self, note: Record) -> Record:
        shown = super().shown(note)
        return {**shown, **({"pages": str(shown["pages"])} if "pages" in shown else {})}

    def get_note(self, params: Record) -> object:
        return {"note": super().get_note(params)}

    def create_note(self, params: Record) -> object:
        return {"note": super().create_note(params)}


class FallsBack(Notes):
    """What is removed has the value that stands for none."""

    def merge(self, old: Record, given: Record) -> None:
        super().merge(old, given)
        old.setdefault("summary", "short")


class CountsNotes(Notes):
    """Every note tells what changes without it: how many updates of any note there were."""

    def shown(self, note: Record) -> Record:
        versions = sum(one["version"] for one in self.notes.values())
        return {**super().shown(note), "changes_of_all": versions}


class TakesOnlyWhite(HasColours):
    """A value that is declared, and refused for reasons of its own."""

    def create_note(self, params: Record) -> object:
        if params.get("colour", "white") != "white":
            raise Wrong("VALIDATION_INVALID_VALUE", "White, for now")
        return super().create_note(params)


class MarksWhatIsDeleted(Notes):
    def delete_note(self, params: Record) -> object:
        if not params.get("dry_run"):
            self.confirm(params)
            self.find(params)["deleted_at"] = "2026-01-01T00:00:00Z"
        return {"note_id": self.find(params)["id"]}


class KeepsSecrets(Notes):
    fields = (*Notes.fields, parameter("pin", "string", sensitive=True))

    def shown(self, note: Record) -> Record:
        return {name: value for name, value in super().shown(note).items() if name != "pin"}


class OnlyAddsTags(JoinsLists):
    fields = tuple(
        {**one, "description": "Append-only: new tags are added"} if one["name"] == "tags" else one
        for one in Notes.fields
    )


class TakesWrongTypes(Notes):
    """No type is looked at anywhere: that is the matter of the checks of parameters."""

    def check_param(self, one: Record, params: Record) -> None:
        if one["name"] not in params:
            super().check_param(one, params)

    def check_kind(self, name: str, value: object, kind: str) -> None:
        pass

    def find(self, params: Record) -> Record:
        return super().find({"note_id": str(params["note_id"])})

    def update_note(self, params: Record) -> object:
        return super().update_note({**params, "input": params["input"] if isinstance(params["input"], dict) else {}})


class CannotMakeNotes(Notes):
    def create_note(self, params: Record) -> object:
        raise Wrong("PERMISSION_DENIED", "Permission denied: 'closed'")


class TellsNoIdentifier(Notes):
    def create_note(self, params: Record) -> object:
        self._put(params)
        return {"done": True}


class RefusesUpdates(Notes):
    def update_note(self, params: Record) -> object:
        raise Wrong("PERMISSION_DENIED", "Permission denied: 'closed'")


class IsUnknownToItself(Notes):
    """Nothing of it can be read."""

    def find(self, params: Record) -> Record:
        raise Wrong("PERMISSION_DENIED", "Permission denied: 'closed'")


@pytest.mark.parametrize(
    "notes",
    [
        Tidies(),
        FallsBack(),
        HasColours(),
        CountsNotes(),
        TakesOnlyWhite(),
        MarksWhatIsDeleted(),
        KeepsSecrets(),
        OnlyAddsTags(),
        TakesWrongTypes(),
        CannotMakeNotes(),
        TellsNoIdentifier(),
        RefusesUpdates(),
        IsUnknownToItself(),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_what_is_only_different_or_cannot_be_seen_fails_nothing(notes: Notes) -> None:
    failed, _warned = complaints(await report_on(notes))
    assert failed == []


async def test_nothing_is_made_without_permission_and_the_reason_is_told() -> None:
    notes = Notes()
    report = await report_on(notes, allowed=frozenset())
    reasons = {one.check.id: one.reason for one in report.results if one.verdict is Verdict.SKIP}
    assert complaints(report) == ([], [])
    assert "--allow create,update,delete" in reasons["round-trips.create-read"]
    assert "--allow create,update,delete" in reasons["updates.preserve"]
    assert "updates.input-declared" not in reasons
    assert "round-trips.read-changes-nothing" not in reasons
    assert "round-trips.missing-resource-code" not in reasons
    assert len(notes.notes) == 2


async def test_what_may_not_be_deleted_is_left_and_told() -> None:
    notes = Notes()
    report = await report_on(notes, allowed=frozenset({"CREATE"}))
    told = {one.check.id: one for one in report.results}
    left = [one.words for one in told["round-trips.create-read"].findings if one.outcome is Outcome.UNSEEN]
    assert left == ["the note {'note_id': 'note_3'} was made for this and is still there"]
    assert told["round-trips.create-read"].verdict is Verdict.PASS
    assert "--allow delete" in told["round-trips.delete-gone"].reason
    assert "--allow create,update,delete" in told["updates.applied"].reason


class GivesNullForMissing(Notes):
    def get_note(self, params: Record) -> object:
        return super().get_note(params) if params["note_id"] in self.notes else None


class GivesNullInsideForMissing(GivesNullForMissing):
    def get_note(self, params: Record) -> object:
        return {"note": super().get_note(params)}


@pytest.mark.parametrize(
    "notes", [GivesNullForMissing(), GivesNullInsideForMissing()], ids=lambda one: type(one).__name__
)
async def test_null_for_what_does_not_exist_is_told_and_fails_nothing(notes: Notes) -> None:
    report = await report_on(notes)
    told = next(one for one in report.results if one.check.id == "round-trips.missing-resource-code")
    assert (complaints(report)[0], told.verdict) == ([], Verdict.SKIP)
    assert "was answered with success and null" in told.reason
    assert {one.outcome for one in told.findings} == {Outcome.UNSEEN}
    assert len(told.findings) == 2  # one that was deleted, and one that never was


async def test_why_nothing_could_be_made_is_told() -> None:
    report = await report_on(CannotMakeNotes())
    reason = next(one.reason for one in report.results if one.check.id == "round-trips.create-read")
    assert "'create_note' made nothing (PERMISSION_DENIED" in reason


async def test_fixtures_say_what_a_thing_is_made_with() -> None:
    notes = Notes()
    given: dict[str, Any] = {"title": "Given", "pages": 12}
    report = await report_on(notes, fixtures=Fixtures(operations={"create_note": given}))
    assert complaints(report) == ([], [])
