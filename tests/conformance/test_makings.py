"""What makes things is tried with faults too, where whatever it makes wrongly can be deleted again."""

from typing import Any

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.values import CheckResult, Verdict
from tests.conformance.checks.notes import ALLOWED, Notes, Record, Wrong, opener_of_notes
from tests.conformance.servers import result_of

pytestmark = pytest.mark.anyio

CHECKS = {check.id: check for check in ALL_CHECKS}
TYPES, RULES = "parameters.wrong-type-refused", "parameters.constraints-enforced"
UNKNOWN, MISSING = "parameters.unknown-refused", "parameters.missing-refused"


class Plain(Notes):
    """Notes of which all that is declared of reading is kept."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "list_notes": ("READ", [])}


class Strict(Plain):
    """Notes whose constraints are kept."""

    def create_note(self, params: Record) -> object:
        if not 1 <= len(params["title"]) <= 80 or not 0 <= params.get("pages", 1) <= 1000:
            raise Wrong("VALIDATION_OUT_OF_RANGE", "'title' or 'pages' is out of range")
        return super().create_note(params)


class Careless(Plain):
    """Whatever is given to make a note is taken."""

    def check_params(self, parameters: list[Record], params: Record) -> None:
        if parameters != self.operations["create_note"][1]:
            super().check_params(parameters, params)


class Silent(Careless):
    """Nor is it told what was made."""

    def create_note(self, params: Record) -> object:
        note = super().create_note(params)
        return note if set(params) <= {one["name"] for one in self.fields} else {"done": True}


class Asking(Careless):
    """Somebody must agree to every note."""

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        token = {"name": "confirmation_token", "type": "string", "required": False}
        known = super().operations
        return {**known, "create_note": ("CREATE", [*self.fields, token])}

    def create_note(self, params: Record) -> object:
        self.confirm(params)
        return super().create_note({name: value for name, value in params.items() if name != "confirmation_token"})


async def of(check: str, notes: Notes, **options: Any) -> CheckResult:
    return await result_of(opener_of_notes(notes), CHECKS[check], **{"allowed": ALLOWED, **options})


@pytest.mark.parametrize("check", [TYPES, RULES, UNKNOWN, MISSING])
async def test_what_refuses_every_fault_passes_and_keeps_nothing(check: str) -> None:
    notes = Strict()
    before = set(notes.notes)

    assert (await of(check, notes)).verdict is Verdict.PASS
    assert set(notes.notes) == before


@pytest.mark.parametrize("kind", [Careless, Asking])
@pytest.mark.parametrize("check", [TYPES, RULES, UNKNOWN, MISSING])
async def test_what_is_wrongly_made_is_found_and_taken_away_again(check: str, kind: type[Notes]) -> None:
    notes = kind()
    before = set(notes.notes)
    result = await of(check, notes)

    assert result.verdict is Verdict.FAIL
    assert {finding.subject.partition(".")[0] for finding in result.broken} == {"create_note"}
    assert notes.made > len(before)
    assert set(notes.notes) == before


async def test_what_cannot_be_made_at_all_shows_nothing() -> None:
    class Closed(Plain):
        def create_note(self, params: Record) -> object:
            raise Wrong("PERMISSION_DENIED", "No more notes")

    result = await of(RULES, Closed())

    assert "create_note" not in {finding.subject.partition(".")[0] for finding in result.findings}


async def test_what_cannot_be_taken_away_is_told() -> None:
    result = await of(UNKNOWN, Silent())

    assert [finding.words.rpartition("; ")[2] for finding in result.broken] == [
        "the note that it made could not be deleted again"
    ]


@pytest.mark.parametrize("check", [TYPES, RULES, UNKNOWN])
async def test_what_could_not_be_deleted_is_not_made(check: str) -> None:
    notes = Careless()
    made = notes.made

    assert not (await of(check, notes, allowed=frozenset({"CREATE"}))).broken
    assert notes.made == made


async def test_where_nothing_can_be_deleted_nothing_more_is_made() -> None:
    class Stuck(Careless):
        def delete_note(self, params: Record) -> object:
            raise Wrong("PERMISSION_DENIED", "Notes stay")

    notes = Stuck()
    made = notes.made

    assert not (await of(UNKNOWN, notes)).broken
    assert notes.made == made + 1
