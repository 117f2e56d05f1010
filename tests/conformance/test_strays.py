"""Operations that change something go astray only so that nothing is lost by it."""

from typing import Any

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.values import CheckResult, Verdict
from tests.conformance.checks.notes import ALLOWED, KEY, Notes, Record, Wrong, opener_of_notes, parameter
from tests.conformance.servers import result_of

pytestmark = pytest.mark.anyio

REFUSED, CODE = "routing.wrong-endpoint-refused", "routing.wrong-endpoint-code"
CHECKS = {check.id: check for check in ALL_CHECKS}


class Open(Notes):
    """Notes of which some operations are done by every tool."""

    anywhere: tuple[str, ...] = ()
    gated = False

    def __init__(self, *anywhere: str) -> None:
        super().__init__()
        self.anywhere = anywhere
        self.asked: list[tuple[str, str, Record]] = []

    def perform(self, tool: str, request: Any, mode: str) -> object:
        name = request.get("operation")
        self.asked.append((tool, str(name), request.get("params") or {}))
        return super().perform("mcp_aql" if name in self.anywhere else tool, request, mode)

    def strayed(self) -> set[str]:
        """The operations that came to a tool which is not theirs."""
        known = {name: f"mcp_aql_{category.lower()}" for name, (category, _) in self.operations.items()}
        return {name for tool, name, _ in self.asked if name in known and tool != known[name]}


class Patterned(Open):
    """Notes whose identifiers are short: one more digit in the same form is somebody's."""

    def __init__(self, *anywhere: str) -> None:
        super().__init__(*anywhere)
        self.notes = {f"n{digit}": {**next(iter(self.notes.values())), "id": f"n{digit}"} for digit in range(10)}

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        short = parameter("note_id", "string", required=True, pattern="^n[0-9]$")
        return {
            name: (category, [short if one == KEY else one for one in parameters])
            for name, (category, parameters) in super().operations.items()
        }


async def of(check: str, notes: Notes, **options: Any) -> CheckResult:
    return await result_of(opener_of_notes(notes), CHECKS[check], **{"allowed": ALLOWED, **options})


@pytest.mark.parametrize("name", ["create_note", "update_note", "delete_note"])
async def test_what_any_tool_does_is_found_and_leaves_nothing_behind(name: str) -> None:
    notes = Open(name)
    before = dict(notes.notes)
    result = await of(REFUSED, notes)

    assert result.verdict is Verdict.FAIL
    assert {finding.subject for finding in result.broken} == {name}
    assert notes.notes == before


@pytest.mark.parametrize("check", [REFUSED, CODE])
async def test_families_that_are_kept_apart_pass(check: str) -> None:
    notes = Open()

    assert (await of(check, notes)).verdict is Verdict.PASS
    assert notes.strayed() == {"list_notes", "get_note", "create_note", "update_note", "delete_note"}


@pytest.mark.parametrize(
    ("allowed", "strayed"),
    [
        (frozenset(), {"list_notes", "get_note"}),
        (frozenset({"CREATE"}), {"list_notes", "get_note"}),
        (frozenset({"UPDATE"}), {"list_notes", "get_note", "update_note"}),
        (frozenset({"DELETE"}), {"list_notes", "get_note", "delete_note"}),
    ],
    ids=["only READ", "CREATE alone", "UPDATE", "DELETE"],
)
async def test_only_what_is_allowed_and_can_be_undone_goes_astray(allowed: frozenset[str], strayed: set[str]) -> None:
    notes = Open()
    await of(REFUSED, notes, allowed=allowed)

    assert notes.strayed() == strayed


async def test_nothing_goes_astray_by_an_identifier_that_somebody_has() -> None:
    notes = Patterned("delete_note", "update_note")
    before = dict(notes.notes)
    await of(REFUSED, notes)

    assert notes.notes == before


@pytest.mark.parametrize("code", ["NOT_FOUND_OPERATION", "NOT_FOUND_RESOURCE"])
async def test_a_tool_that_does_not_know_the_operation_has_not_looked_for_a_thing(code: str) -> None:
    class Unknowing(Open):
        def perform(self, tool: str, request: Any, mode: str) -> object:
            try:
                return super().perform(tool, request, mode)
            except Wrong as error:
                if error.code in ("VALIDATION_ENDPOINT_MISMATCH", "NOT_FOUND_OPERATION"):
                    raise Wrong(code, "There is no such operation here") from None
                raise

    assert not (await of(REFUSED, Unknowing())).broken


async def test_what_can_pretend_goes_astray_in_pretence_only() -> None:
    class Pretending(Open):
        @property
        def operations(self) -> dict[str, tuple[str, list[Record]]]:
            return {**super().operations, "create_note": ("CREATE", [*self.fields, parameter("dry_run", "boolean")])}

    notes = Pretending()
    await of(REFUSED, notes)
    astray = [params for tool, name, params in notes.asked if name == "create_note" and tool != "mcp_aql_create"]

    assert astray
    assert all(params["dry_run"] is True for params in astray)


async def test_where_it_cannot_be_asked_what_exists_no_change_goes_astray() -> None:
    notes = Open()
    await of(REFUSED, notes, fixtures=Fixtures(leave_alone=frozenset({"get_note"})), allowed=frozenset({"DELETE"}))

    assert notes.strayed() == {"list_notes"}


async def test_what_needs_something_that_cannot_be_made_does_not_go_astray() -> None:
    class Secretive(Open):
        @property
        def operations(self) -> dict[str, tuple[str, list[Record]]]:
            return {**super().operations, "delete_note": ("DELETE", [KEY, parameter("seal", "Seal", required=True)])}

    notes = Secretive()
    await of(REFUSED, notes, allowed=frozenset({"DELETE"}))

    assert "delete_note" not in notes.strayed()
