"""Resources are found and things are made whatever the operations call them: no form of ours is wanted."""

import anyio
import pytest

from headgate.conformance.fixtures import Fixtures
from headgate.conformance.journeys import journeys_of
from headgate.conformance.probe import Options, opened_probe
from headgate.conformance.trips import make, trips_of
from headgate.conformance.values import Verdict
from tests.conformance.checks.notes import (
    ALLOWED,
    DRY,
    INPUT,
    KEY,
    TOKEN,
    Notes,
    Record,
    Wrong,
    complaints,
    opener_of_notes,
    parameter,
    report_on,
)

pytestmark = pytest.mark.anyio


class CallsTheKeyOtherwise(Notes):
    """The same identifier is 'id' to one operation and 'note_id' to the others."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "get_note": ("READ", [{**KEY, "name": "id"}])}

    def get_note(self, params: Record) -> object:
        return super().get_note({"note_id": params["id"]})


class SpeaksWithOtherVerbs(Notes):
    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        names = {"create_note": "add_note", "update_note": "edit_note", "delete_note": "remove_note"}
        return {names.get(name, name): one for name, one in super().operations.items()}

    def add_note(self, params: Record) -> object:
        return super().create_note(params)

    def edit_note(self, params: Record) -> object:
        return super().update_note(params)

    def remove_note(self, params: Record) -> object:
        return super().delete_note(params)


class WrapsTheNote(Notes):
    """A new note stands in one object."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "create_note": ("CREATE", [parameter("note", "Note", required=True)])}

    def create_note(self, params: Record) -> object:
        own = {name: value for name, value in params["note"].items() if name not in ("id", "author")}
        return super().create_note(own)


class AnswersWithABareIdentifier(Notes):
    def create_note(self, params: Record) -> object:
        return self._put(params)["id"]


class ChoosesNoIdentifier(Notes):
    """Who makes a note names it; a name that is taken is refused."""

    fields = (parameter("note_id", "string", required=True), *Notes.fields)

    def create_note(self, params: Record) -> object:
        if params["note_id"] in self.notes:
            raise Wrong("CONFLICT_ALREADY_EXISTS", "There is one")
        note = self._put({name: value for name, value in params.items() if name != "note_id"})
        note["id"] = note["note_id"] = params["note_id"]
        self.notes[note["id"]] = note
        del self.notes[f"note_{self.made}"]
        return {"created": True}

    def check_name(self, name: str, known: object) -> None:
        super().check_name(name, {one["name"]: one for one in self.fields if one["name"] != "note_id"})


class NumbersItsNotes(Notes):
    """Numbers as identifiers, given by whoever makes a note, and a folder that must exist."""

    fields = (
        parameter("number", "integer", required=True),
        parameter("folder_id", "string", required=True),
        *Notes.fields,
    )

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        key = parameter("number", "integer", required=True)
        return {
            **super().operations,
            "list_folders": ("READ", []),
            "get_note": ("READ", [key]),
            "update_note": ("UPDATE", [key, INPUT, DRY]),
            "delete_note": ("DELETE", [key, DRY, TOKEN]),
        }

    def _put(self, fields: Record) -> Record:
        note = super()._put({"number": self.made, "folder_id": "f7", **fields})
        self.notes[str(note["number"])] = self.notes.pop(note["id"])
        note["id"] = str(note["number"])
        return note

    def list_folders(self, _params: Record) -> object:
        return {"items": [{"id": "f7"}]}

    def find(self, params: Record) -> Record:
        return super().find({"note_id": str(params["number"])})

    def create_note(self, params: Record) -> object:
        if params["folder_id"] != "f7":
            raise Wrong("NOT_FOUND_RESOURCE", "Resource 'folder' not found")
        if str(params["number"]) in self.notes:
            raise Wrong("CONFLICT_ALREADY_EXISTS", "There is one")
        return super().create_note(params)

    def check_name(self, name: str, known: object) -> None:
        super().check_name(name, {one["name"]: one for one in self.fields if one["name"] != "number"})


class TakesOnlyWhatItNeeds(Notes):
    def create_note(self, params: Record) -> object:
        if set(params) != {"title"}:
            raise Wrong("VALIDATION_INVALID_VALUE", "Only a title, please")
        return super().create_note(params)


@pytest.mark.parametrize(
    "notes",
    [
        CallsTheKeyOtherwise(),
        SpeaksWithOtherVerbs(),
        WrapsTheNote(),
        AnswersWithABareIdentifier(),
        ChoosesNoIdentifier(),
        NumbersItsNotes(),
        TakesOnlyWhatItNeeds(),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_a_thing_of_any_form_goes_all_the_way_and_is_taken_away(notes: Notes) -> None:
    before = set(notes.notes)
    report = await report_on(notes)
    verdicts = {one.check.id: one.verdict for one in report.results}
    assert complaints(report) == ([], [])
    assert verdicts["round-trips.create-read"] is Verdict.PASS
    assert verdicts["round-trips.delete-gone"] is Verdict.PASS
    assert verdicts["updates.applied"] is Verdict.PASS
    assert set(notes.notes) == before


class HasOperationsOfOthers(Notes):
    """Names that look alike, but do not belong together."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        other = [parameter("folder", "string", required=True), parameter("place", "string", required=True)]
        return {**super().operations, "delete_note": ("DELETE", other), "get_status": ("READ", [])}


class KeepsFoldersToItself(Notes):
    """Beside notes there are folders, which can be read and not made."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        key = parameter("name", "string", required=True)
        return {**super().operations, "create_folder": ("CREATE", [key]), "get_folder": ("READ", [key])}

    def create_folder(self, _params: Record) -> object:
        raise Wrong("PERMISSION_DENIED", "Permission denied: 'closed'")

    def get_folder(self, params: Record) -> object:
        raise Wrong("NOT_FOUND_RESOURCE", f"Resource 'folder' not found: '{params['name']}'")


async def test_a_resource_that_cannot_be_made_does_not_keep_others_from_being_seen() -> None:
    report = await report_on(KeepsFoldersToItself())
    told = {one.check.id: one for one in report.results}["round-trips.create-read"]
    assert complaints(report) == ([], [])
    assert told.verdict is Verdict.PASS
    assert "'create_folder' made nothing" in told.reason


async def test_only_operations_that_find_the_same_thing_belong_together() -> None:
    async with opened_probe(opener_of_notes(HasOperationsOfOthers()), Options(allowed=ALLOWED)) as probe:
        (trip,) = trips_of(probe)
        assert (trip.resource, trip.keys, trip.delete) == ("note", ("note_id",), None)
        assert trip.create is not None
        assert trip.update is not None


class Renames(Notes):
    """Operations of other names, each for one of those there are."""

    def __init__(self, **names: str) -> None:
        super().__init__()
        self.names = names

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {self.names.get(name, name): one for name, one in super().operations.items()}

    def __getattr__(self, name: str) -> object:
        meant = {new: old for old, new in self.__dict__.get("names", {}).items()}
        return getattr(self, meant[name]) if name in meant else super().__getattribute__(name)


@pytest.mark.parametrize(
    "names",
    [
        {"get_note": "get_note_by_id"},
        {"get_note": "fetch_note_details"},
        {"get_note": "get_notes"},
        {"create_note": "add_note_to_board"},
        {"create_note": "add_note_to_board", "delete_note": "remove_note_from_board"},
        {"create_note": "create_new_note", "update_note": "edit_existing_note"},
        {"create_note": "create_notes", "update_note": "update_note_by_id", "delete_note": "delete_a_note"},
        {"create_note": "create_board_note", "update_note": "update_note_fields"},
    ],
    ids=lambda names: "-".join(names.values()),
)
async def test_operations_that_are_called_nearly_after_a_thing_belong_to_it(names: dict[str, str]) -> None:
    report = await report_on(Renames(**names))
    verdicts = {one.check.id: one.verdict for one in report.results}
    assert complaints(report) == ([], [])
    assert verdicts["round-trips.create-read"] is Verdict.PASS
    assert verdicts["round-trips.delete-gone"] is Verdict.PASS
    assert verdicts["updates.applied"] is Verdict.PASS


@pytest.mark.parametrize(
    ("names", "silent"),
    [
        ({"create_note": "compose"}, ("round-trips.create-read", "round-trips.delete-gone", "updates.applied")),
        ({"get_note": "open"}, ("round-trips.create-read", "round-trips.delete-gone", "updates.applied")),
        ({"update_note": "amend"}, ("updates.applied", "updates.preserve")),
        ({"delete_note": "burn"}, ("round-trips.delete-gone",)),
        ({"delete_note": "remove_note_from_board"}, ("round-trips.delete-gone",)),
    ],
    ids=lambda one: "-".join(one.values()) if isinstance(one, dict) else "",
)
async def test_operations_that_cannot_be_related_are_told(names: dict[str, str], silent: tuple[str, ...]) -> None:
    report = await report_on(Renames(**names))
    told = {one.check.id: one for one in report.results}
    assert complaints(report) == ([], [])
    for name in silent:
        assert told[name].verdict is Verdict.SKIP
        assert "could not find out which operations create, read and delete the same thing" in told[name].reason


class HasComments(Notes):
    """What belongs to a note is no note, whatever its operations are called."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        text = parameter("text", "string", required=True)
        own = {name: one for name, one in super().operations.items() if one[0] == "READ"}
        return {
            **own,
            "find_notes": ("READ", [parameter("query", "string", required=True)]),
            "create_note_comment": ("CREATE", [KEY, text]),
            "add_comment_to_note": ("CREATE", [KEY, text]),
            "add_note_to_board": ("CREATE", [KEY]),
            "delete_note_comments": ("DELETE", [KEY]),
        }


async def test_what_belongs_to_a_thing_or_only_moves_it_is_not_taken_for_it() -> None:
    async with opened_probe(opener_of_notes(HasComments()), Options(allowed=ALLOWED)) as probe:
        found = {trip.resource: (trip.create, trip.update, trip.delete) for trip in trips_of(probe)}
        assert found == {"note": (None, None, None), "notes": (None, None, None)}


class CallsThem(Notes):
    """The same with another word for a note, and further operations."""

    def __init__(self, word: str, more: Record | None = None) -> None:
        super().__init__()
        self.word = word
        self.more = more or {}

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {name.replace("note", self.word): one for name, one in super().operations.items()} | self.more

    def __getattr__(self, name: str) -> object:
        return getattr(self, name.replace(self.word, "note")) if self.word in name else super().__getattribute__(name)


@pytest.mark.parametrize("word", ["task", "job", "run", "status", "agent", "execution"])
async def test_a_name_alone_does_not_make_things_move_by_themselves(word: str) -> None:
    report = await report_on(CallsThem(word))
    verdicts = {one.check.id: one.verdict for one in report.results}
    assert complaints(report) == ([], [])
    assert verdicts["round-trips.create-read"] is Verdict.PASS
    assert verdicts["updates.preserve"] is Verdict.PASS


@pytest.mark.parametrize("starts", ["start_task", "run_tasks", "cancel_task"])
async def test_what_an_operation_starts_or_stops_moves_by_itself_and_that_is_told(starts: str) -> None:
    notes = CallsThem("task", {starts: ("EXECUTE", [KEY])})
    report = await report_on(notes)
    told = {one.check.id: one for one in report.results}["round-trips.create-read"]
    assert (complaints(report), told.verdict) == (([], []), Verdict.SKIP)
    assert "a task may change by itself" in told.reason


@pytest.mark.parametrize("name", ["execute_note_export", "publish_note"])
async def test_work_that_is_done_with_a_thing_does_not_make_it_move(name: str) -> None:
    async with opened_probe(opener_of_notes(CallsThem("note", {name: ("EXECUTE", [KEY])})), Options()) as probe:
        (trip,) = trips_of(probe)
        assert not trip.moves


async def test_what_nobody_can_make_may_be_a_view_of_something_that_moves() -> None:
    views: Record = {"get_job": ("READ", [KEY]), "get_job_status": ("READ", [KEY]), "get_folder": ("READ", [KEY])}
    async with opened_probe(opener_of_notes(CallsThem("note", views)), Options()) as probe:
        assert [trip.resource for trip in trips_of(probe) if trip.moves] == ["job", "job_status"]


async def test_what_fixtures_give_is_tried_as_it_is_in_the_end() -> None:
    class KnowsOneTitle(Notes):
        def create_note(self, params: Record) -> object:
            if params["title"] != "Known":
                raise Wrong("VALIDATION_INVALID_VALUE", "Nobody knows this title")
            return super().create_note(params)

    fixtures = Fixtures(operations={"create_note": {"title": "Known"}})
    options = Options(allowed=ALLOWED, fixtures=fixtures)
    async with opened_probe(opener_of_notes(KnowsOneTitle()), options) as probe:
        made = await make(probe, trips_of(probe)[0], probe.seed)
        assert made.params == {"title": "Known"}
        assert made.sure


async def test_what_was_made_is_taken_away_even_if_the_check_is_broken_off() -> None:
    class BreaksOff(Notes):
        def update_note(self, params: Record) -> object:
            scope.cancel()
            return super().update_note(params)

    notes = BreaksOff()
    async with opened_probe(opener_of_notes(notes), Options(allowed=ALLOWED)) as probe:
        with anyio.CancelScope() as scope:
            await journeys_of(probe)
        assert scope.cancelled_caught
        assert sorted(notes.notes) == ["note_1", "note_2"]
