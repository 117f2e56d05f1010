"""Batches, confirmation, modes and concurrency: each fault is found by the check meant for it, and by no other."""

from typing import Any

import pytest

from headgate.conformance.values import Verdict
from tests.conformance.checks.notes import DRY, INPUT, KEY, Notes, Record, Wrong, complaints, parameter, report_on

pytestmark = pytest.mark.anyio


def name_of(one: object) -> str:
    return one if isinstance(one, str) else type(one).__name__


class LeavesOutTheIndex(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        bare = [{name: value for name, value in one.items() if name != "index"} for one in results]
        return super().batch_answer(total, bare, **halt)


class LeavesOutTheName(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        bare = [{name: value for name, value in one.items() if name != "operation"} for one in results]
        return super().batch_answer(total, bare, **halt)


class LeavesOutResults(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, "results": [{**one, "result": "done"} for one in results]}


class RefusesBatches(Notes):
    def batch(self, tool: str, requests: Any, mode: str) -> Record:
        if isinstance(requests, list) and len(requests) > 1:
            raise Wrong("VALIDATION_INVALID_VALUE", "One by one, please")
        return super().batch(tool, requests, mode)


class AnswersBackwards(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        return super().batch_answer(total, results[::-1], **halt)


class CountsFromOne(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        return super().batch_answer(total, [{**one, "index": one["index"] + 1} for one in results], **halt)


class MixesUpAnswers(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        if all(one["result"]["success"] for one in results):
            mixed = [one["result"] for one in results][::-1]
            results = [{**one, "result": other} for one, other in zip(results, mixed, strict=True)]
        return super().batch_answer(total, results, **halt)


class StopsAtAFailure(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        failed = next((place for place, one in enumerate(results) if not one["result"]["success"]), total)
        return super().batch_answer(total, results[: failed + 1], **halt)


class FailsAfterAFailure(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        failed = next((place for place, one in enumerate(results) if not one["result"]["success"]), total)
        error = {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "Internal error: 'skipped'"}}
        after = [{**one, "result": error} for one in results[failed + 1 :]]
        return super().batch_answer(total, [*results[: failed + 1], *after], **halt)


class FailsAsAWhole(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        if answer["summary"]["failed"]:
            error = {"code": "VALIDATION_INVALID_VALUE", "message": "One operation failed"}
            return {"success": False, "error": error, "results": results, "summary": answer["summary"]}
        return answer


class Miscounts(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, "summary": {**answer["summary"], "failed": 0, "succeeded": len(results)}}


class CountsNothing(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return answer if halt else {name: value for name, value in answer.items() if name != "summary"}


class TakesMalformedBatches(Notes):
    def batch(self, tool: str, requests: Any, mode: str) -> Record:
        return super().batch(tool, requests if isinstance(requests, list) else [], mode)


class LeavesOutTheToken(Notes):
    def confirm(self, params: Record) -> None:
        raise Wrong("CONFIRMATION_REQUIRED", "This operation requires confirmation")


class KnowsNoToken(Notes):
    def redeem(self, token: str, call: str) -> None:
        raise Wrong("TOKEN_INVALID", "The token is not for this")


class TakesTokensTwice(Notes):
    def redeem(self, token: str, call: str) -> None:
        super().redeem(token, call)
        self.tokens[token] = call


class TakesTokensForAnything(Notes):
    def redeem(self, token: str, call: str) -> None:
        if self.tokens.pop(token, None) is None:
            raise Wrong("TOKEN_INVALID", "The token is not known")


class DeletesBeforeItAsks(Notes):
    def confirm(self, params: Record) -> None:
        if "confirmation_token" not in params:
            self.notes.pop(params["note_id"], None)
        super().confirm(params)


class HasOneMode(Notes):
    modes = ("semantic",)


class StaysInItsMode(Notes):
    """It is started in the other mode, and has the same tools."""

    def started_in(self, mode: str) -> str:
        return "semantic"


class LosesAnOperation(Notes):
    def introspect(self, params: Record, mode: str) -> Record:
        told = super().introspect(params, mode)
        if mode == "single" and "operations" in told:
            told["operations"] = told["operations"][:-1]
        return told


class ListsNothingInSingleMode(Notes):
    def introspect(self, params: Record, mode: str) -> Record:
        return {"operations": []} if mode == "single" else super().introspect(params, mode)


class AnswersSomebodyElse(Notes):
    """Every answer about an operation is the one to the request before, once it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, int] = {}

    def introspect(self, params: Record, mode: str) -> Record:
        told = super().introspect(params, mode)
        name = params.get("name", "")
        self.asked[name] = self.asked.get(name, 0) + 1
        if name == "get_note" and self.asked[name] > 1:
            return {"operation": self.entry("list_notes", mode)}
        return told


MUSTS: list[tuple[Notes, str]] = [
    (LeavesOutTheIndex(), "batches.results-each"),
    (LeavesOutTheName(), "batches.results-each"),
    (LeavesOutResults(), "batches.results-each"),
    (RefusesBatches(), "batches.results-each"),
    (AnswersBackwards(), "batches.order"),
    (CountsFromOne(), "batches.order"),
    (MixesUpAnswers(), "batches.independent"),
    (StopsAtAFailure(), "batches.go-on"),
    (FailsAfterAFailure(), "batches.go-on"),
    (FailsAsAWhole(), "batches.success"),
    (Miscounts(), "batches.summary"),
    (CountsNothing(), "batches.summary"),
    (TakesMalformedBatches(), "batches.malformed-refused"),
    (LeavesOutTheToken(), "confirmation.token"),
    (KnowsNoToken(), "confirmation.works"),
    (DeletesBeforeItAsks(), "confirmation.nothing-before"),
    (HasOneMode(), "features.both-modes"),
    (StaysInItsMode(), "features.both-modes"),
    (LosesAnOperation(), "features.both-modes"),
    (ListsNothingInSingleMode(), "features.both-modes"),
    (AnswersSomebodyElse(), "concurrency.parallel-reads"),
]


@pytest.mark.parametrize(("notes", "meant"), MUSTS, ids=name_of)
async def test_a_fault_fails_the_check_meant_for_it_alone(notes: Notes, meant: str) -> None:
    failed, _warned = complaints(await report_on(notes))
    assert failed == [meant]


class RunsAnythingInABatch(Notes):
    def batch(self, tool: str, requests: Any, mode: str) -> Record:
        return super().batch("mcp_aql", requests, mode)


class GoesOnUnconfirmed(Notes):
    """What waits for a confirmation is a failure like any other, and the rest runs."""

    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        if halt:
            results = [*results, halt["halted_at"]]
        return super().batch_answer(total, results)


class SaysNotWhatIsPending(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, **({"pending_operations": []} if halt else {})}


class CountsWaitingAsFailed(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, "summary": {**answer["summary"], "failed": 1}} if halt else answer


class CallsWaitingAFailure(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, "success": not halt}


class HaltsWithoutAReason(Notes):
    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        answer = super().batch_answer(total, results, **halt)
        return {**answer, **({"halted_at": {"index": 0, "operation": "delete_note"}} if halt else {})}


class HasNoBatches(Notes):
    knows_batches = False
    capabilities = {"batch": False}  # noqa: RUF012  (a word of its own)


class HasNoFields(Notes):
    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "list_notes": ("READ", [])}


class TellsNoVersion(Notes):
    def shown(self, note: Record) -> Record:
        return {name: value for name, value in super().shown(note).items() if name != "_etag"}


class TakesStaleTags(Notes):
    def match(self, note: Record, tag: str) -> None:
        pass


class RefusesEveryTag(Notes):
    def match(self, note: Record, tag: str) -> None:
        raise Wrong("CONFLICT_VERSION_MISMATCH", "The note was changed by somebody else")


class HasAnotherCodeForStaleTags(Notes):
    def match(self, note: Record, tag: str) -> None:
        try:
            super().match(note, tag)
        except Wrong as error:
            raise Wrong("CONFLICT_ALREADY_EXISTS", str(error)) from None


@pytest.mark.parametrize(
    ("notes", "meant"),
    [
        (RunsAnythingInABatch(), "batches.one-family"),
        (GoesOnUnconfirmed(), "batches.halt"),
        (SaysNotWhatIsPending(), "batches.halt"),
        (CountsWaitingAsFailed(), "batches.halt"),
        (CallsWaitingAFailure(), "batches.halt"),
        (HaltsWithoutAReason(), "batches.halt"),
        (TakesTokensTwice(), "confirmation.once"),
        (TakesTokensForAnything(), "confirmation.bound"),
        (HasNoBatches(), "features.batches"),
        (HasNoFields(), "features.field-selection"),
        (TellsNoVersion(), "concurrency.etag-given"),
        (TakesStaleTags(), "concurrency.stale-refused"),
        (RefusesEveryTag(), "concurrency.if-match"),
        (HasAnotherCodeForStaleTags(), "concurrency.stale-refused"),
    ],
    ids=name_of,
)
async def test_a_weakness_is_warned_of_by_the_check_meant_for_it_alone(notes: Notes, meant: str) -> None:
    assert complaints(await report_on(notes)) == ([], [meant])


# what may be otherwise


class SkipsWhatMustBeConfirmed(Notes):
    """The other way that the texts allow: the rest runs, and the answer says what waits."""

    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        if halt:
            waiting = {**halt["halted_at"], "status": "pending_confirmation"}
            results = [*results, waiting]
        return super().batch_answer(total, results)


class AsksAPerson(Notes):
    def confirm(self, params: Record) -> None:
        raise Wrong("CONFIRMATION_REQUIRED", "This operation requires confirmation", approval_id="a1")


class LooksForNotesFirst(Notes):
    def confirm(self, params: Record) -> None:
        self.find(params)
        super().confirm(params)


class RunsInOneModeOfAll(Notes):
    modes = ("single", "semantic")


class HasAllModesAtOnce(Notes):
    modes = ("all",)


class HasNoVersions(Notes):
    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        return {**super().operations, "update_note": ("UPDATE", [KEY, INPUT, DRY])}


class DeletesWithoutAsking(Notes):
    gated = False


class HasNothingToRead(Notes):
    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        read = [parameter("query", "string", required=True), parameter("name", "string")]
        return {"introspect": ("READ", read), "create_note": ("CREATE", list(self.fields))}


@pytest.mark.parametrize(
    ("notes", "skipped"),
    [
        (SkipsWhatMustBeConfirmed(), ""),
        (AsksAPerson(), "confirmation.works"),
        (LooksForNotesFirst(), "confirmation.once"),
        (RunsInOneModeOfAll(), "batches.one-family"),
        (HasAllModesAtOnce(), "batches.one-family"),
        (HasNoVersions(), "concurrency.etag-given"),
        (DeletesWithoutAsking(), "confirmation.token"),
        (HasNothingToRead(), "round-trips.read-changes-nothing"),
    ],
    ids=name_of,
)
async def test_what_is_only_different_fails_nothing(notes: Notes, skipped: str) -> None:
    report = await report_on(notes)
    assert complaints(report) == ([], [])
    assert not skipped or {one.check.id: one.verdict for one in report.results}[skipped] is Verdict.SKIP


async def test_batches_and_modes_are_looked_at_without_permission_to_change_anything() -> None:
    report = await report_on(Notes(), allowed=frozenset())
    seen = {one.check.id for one in report.results if one.verdict is Verdict.PASS}
    assert {"batches.go-on", "batches.order", "features.both-modes", "concurrency.etag-given"} <= seen
    assert {"concurrency.parallel-reads", "updates.input-declared"} <= seen
