"""Every fault that the museum can have: what is wrong, where the texts forbid it, and the check meant for it."""

from typing import Final

from tests.conformance.faulty.asking_defects import FORMAT, REQUESTS
from tests.conformance.faulty.defect import Defect
from tests.conformance.faulty.telling_defects import INTROSPECTION

__all__ = ["DEFECTS", "Defect"]

_WRITING: Final = (
    Defect(
        "create-drops-a-field", "A new exhibit loses its maker.", "companion, round trips", "round-trips.create-read"
    ),
    Defect(
        "new-exhibit-without-maker",
        "What 'create_new_exhibit' makes loses its maker.",
        "companion, round trips",
        "round-trips.create-read",
    ),
    Defect(
        "create-ignores-the-hall",
        "Every new exhibit stands in the first hall.",
        "companion, round trips",
        "round-trips.create-read",
    ),
    Defect("delete-keeps", "What is deleted is still there.", "specification 8.1", "round-trips.delete-gone"),
    Defect("reading-counts", "Reading changes what is read.", "specification 8.1", "round-trips.read-changes-nothing"),
    Defect(
        "missing-resource-code-other",
        "A missing exhibit is an invalid value.",
        "operations 8.1",
        "round-trips.missing-resource-code",
    ),
    Defect("flat-update", "The new values stand beside the id.", "specification 4.5", "updates.input-declared"),
    Defect("input-optional", "An update without 'input' is fine.", "specification 4.5.3", "updates.input-required"),
    Defect("input-as-text", "'input' may be a text.", "specification 4.5.3", "updates.input-object"),
    Defect(
        "update-drops-the-rest", "An update removes what it does not name.", "specification 4.5.1", "updates.preserve"
    ),
    Defect(
        "update-resets-the-display",
        "An update sets what it does not name to its default.",
        "specification 4.5.1",
        "updates.preserve",
    ),
    Defect("update-touches-others", "An update changes all exhibits.", "specification 4.5.1", "updates.preserve"),
    Defect("update-not-kept", "An update is answered and not kept.", "specification 4.5", "updates.applied"),
    Defect("objects-replaced", "Inner objects are replaced.", "specification 4.5.1", "updates.merge-objects"),
    Defect("arrays-joined", "Lists are joined.", "specification 4.5.1", "updates.arrays-replaced"),
    Defect("null-ignored", "null changes nothing.", "specification 4.5.2", "updates.null-removes"),
    Defect(
        "unknown-field-in-input-ignored",
        "Unknown fields in 'input' are ignored.",
        "specification 4.5.3",
        "updates.unknown-field",
    ),
    Defect(
        "identifier-in-input-taken",
        "The id may stand in 'input'.",
        "specification 4.5.3",
        "updates.identifier-in-input",
    ),
    Defect(
        "input-not-validated", "Values in 'input' are of any type.", "specification 4.5.3", "updates.fields-validated"
    ),
    Defect("dry-run-runs", "A dry run changes something.", "operations 4.4.1", "updates.dry-run"),
    Defect(
        "read-only-taken", "Read-only fields can be changed.", "introspection 8.2.2", "constraints.read-only-enforced"
    ),
    Defect("batch-stops", "A batch stops after a failure.", "operations 7.3", "batches.go-on"),
    Defect("batch-reversed", "Results stand in another order.", "operations 7.3", "batches.order"),
    Defect("batch-without-results", "Results have no index and no name.", "operations 7.2", "batches.results-each"),
    Defect("batch-fails-as-a-whole", "One failure fails the batch.", "operations 7.3", "batches.success"),
    Defect("batch-summary-wrong", "The summary counts failures as fine.", "operations 7.2", "batches.summary"),
    Defect(
        "malformed-batch-taken",
        "What is no request is left out of a batch.",
        "operations 7.3",
        "batches.malformed-refused",
    ),
    Defect("batch-does-not-halt", "A batch goes on when a person must confirm.", "operations 7.5.2", "batches.halt"),
    Defect(
        "token-left-out",
        "A confirmation is wanted, and how is not said.",
        "companion, confirmation",
        "confirmation.token",
    ),
    Defect("token-never-works", "A token does not confirm anything.", "operations 7.5.3", "confirmation.works"),
    Defect("token-reusable", "A token works twice.", "companion, confirmation", "confirmation.once"),
    Defect("token-unbound", "A token works for another exhibit.", "companion, confirmation", "confirmation.bound"),
    Defect(
        "deleted-before-asking",
        "It is deleted before anybody confirms.",
        "companion, confirmation",
        "confirmation.nothing-before",
    ),
    Defect("one-mode-only", "There is no single mode.", "specification 10.1", "features.both-modes"),
    Defect("etag-left-out", "No version is told.", "specification 9.3.2", "concurrency.etag-given"),
    Defect("stale-match-taken", "A stale 'if_match' is taken.", "specification 9.3.2", "concurrency.stale-refused"),
    Defect("token-survives-session", "A token works in another session.", "specification 2.3.3", "sessions.token-ends"),
    Defect("batch-cuts-lists", "Lists in a batch come without their items.", "operations 7.3", "batches.independent"),
    Defect(
        "requests-mixed-up",
        "Requests that come together get each other's answers.",
        "specification 9.3",
        "concurrency.parallel-reads",
    ),
    Defect(
        "claims-believed", "Who claims to be an admin is told more.", "specification 2.3.5", "sessions.meta-is-label"
    ),
    Defect("session-id-shared", "All sessions have one id.", "specification 2.3.5", "sessions.own-id"),
)
_LISTS: Final = (
    Defect("page-too-large", "A page holds one more than 'first'.", "collection querying 2.6", "paging.size"),
    Defect(
        "cursor-repeats", "A page begins with the last of the page before.", "collection querying 2.6", "paging.walk"
    ),
    Defect("total-of-the-page", "The number of all items is that of the page.", "operations 4.4.3", "paging.walk"),
    Defect("always-a-next-page", "There is always a next page.", "operations 4.4.3", "paging.walk"),
    Defect(
        "mixed-paging-taken", "'first' and 'last' are taken together.", "collection querying 5", "paging.mixed-refused"
    ),
    Defect("false-cursor-taken", "Any cursor is taken.", "collection querying 5", "paging.false-cursor-refused"),
    Defect("page-metadata-left-out", "Pages do not tell where they stand.", "operations 4.4.3", "paging.metadata"),
    Defect("fields-ignored", "'fields' is ignored.", "collection querying 2.4", "selection.fields"),
    Defect(
        "unknown-field-ignored",
        "Unknown fields are ignored.",
        "collection querying 5",
        "selection.unknown-field-refused",
    ),
    Defect("filter-ignored", "'filter' is ignored.", "collection querying 2.2", "selection.filter"),
    Defect(
        "unknown-filter-ignored",
        "Unknown filters are ignored.",
        "collection querying 2.2",
        "selection.unknown-filter-refused",
    ),
    Defect("sort-ignored", "'sort' is ignored.", "collection querying 2.3", "selection.sort"),
    Defect(
        "unknown-sort-ignored",
        "Unknown fields to sort by are ignored.",
        "collection querying 5",
        "selection.unknown-sort-refused",
    ),
    Defect("aggregate-of-the-page", "Counts are of the page.", "collection querying 2.5", "aggregation.count"),
    Defect("groups-lose-one", "A group is left out.", "collection querying 2.5", "aggregation.groups"),
    Defect(
        "items-beside-summaries",
        "Items come with summaries unasked.",
        "collection querying 2.5",
        "aggregation.summary-only",
    ),
    Defect(
        "paging-undocumented",
        "More follows, and how to get it is not told.",
        "collection querying 2.6",
        "collections.style-documented",
    ),
    Defect("grammar-untold", "How to query is not told.", "collection querying 4.2", "collections.grammar-documented"),
    Defect("all-words-wanted", "All words must match.", "collection querying 4.1", "collections.any-word-matches"),
)
_DATA: Final = (
    Defect("depth-unlimited", "Nesting has no limit.", "specification 4.7.5", "data.depth-limit"),
    Defect("arrays-unlimited", "Lists have no limit.", "specification 4.7.5", "data.array-limit"),
    Defect("strings-unlimited", "Texts have no limit.", "specification 4.7.5", "data.string-limit"),
    Defect("request-size-unlimited", "Requests have no limit.", "specification 4.7.5", "data.request-limit"),
    Defect("limit-code-other", "Too much is an invalid value.", "specification 4.7.5", "data.limit-code"),
    Defect("surrogates-accepted", "Half a character is taken.", "specification 4.7.1", "data.encoding-refused"),
    Defect("encoding-code-other", "Half a character is an invalid value.", "specification 4.7.1", "data.encoding-code"),
    Defect("null-bytes-accepted", "Null bytes are taken.", "specification 4.7.1", "data.null-bytes"),
    Defect("dates-in-words", "A day is '1 March 2026'.", "specification 4.7.2", "data.dates"),
    Defect("times-local", "Times have an offset.", "specification 4.7.2", "data.utc"),
    Defect("numbers-unsafe", "An integer is beyond 2^53.", "specification 4.7.3", "data.safe-integers"),
    Defect(
        "search-finds-nothing",
        "The search ranks upside down.",
        "companion, semantic tier",
        "discoverability.search-finds",
    ),
    Defect("base64-unpadded", "Base64 has no padding.", "specification 4.7.4", "data.base64"),
    Defect(
        "limit-details-left-out", "Which limit was passed is not told.", "specification 4.7.5", "data.limit-details"
    ),
)
_SUPERVISION: Final = (
    Defect("times-as-numbers", "An execution began in '1770200000'.", "specification 8.4.3", "executions.state-shape"),
    Defect("status-undocumented", "A state is not documented.", "specification 8.4.4", "executions.states-documented"),
    Defect(
        "completed-becomes-cancelled",
        "What is completed can be cancelled.",
        "specification 8.4.2",
        "executions.terminal-final",
    ),
    Defect("cancel-does-nothing", "Cancelling changes nothing.", "specification 8.4.4", "executions.cancel"),
    Defect("progress-empty", "Progress tells nothing known.", "specification 8.4.3", "executions.progress-shape"),
    Defect("safety-loop-oddly-declared", "The safety loop is 'on'.", "specification 8.6.1", "protocol.safety-loop"),
    Defect("agent-optional", "A step may leave out its agent.", "specification 8.6.3", "safety.step-requires-agent"),
    Defect(
        "hint-optional", "A step may leave out the next action.", "specification 8.6.3", "safety.step-requires-hint"
    ),
    Defect("factors-left-out", "A directive has no factors.", "specification 8.7.1", "safety.directive-shape"),
    Defect("verification-id-left-out", "A stop names no challenge.", "specification 8.8.1", "safety.verification-id"),
    Defect("block-not-broadcast", "Nobody else hears of a stop.", "specification 8.8.1", "safety.broadcast"),
    Defect(
        "blocked-agent-goes-on", "A stopped agent may report on.", "specification 8.8.3", "safety.blocked-stays-blocked"
    ),
    Defect(
        "blocked-agent-starts-anew",
        "A stopped agent may begin anew.",
        "specification 8.8.3",
        "safety.new-execution-keeps-block",
    ),
    Defect("any-code-verifies", "Any code lifts a block.", "specification 8.8.2", "safety.made-up-code-refused"),
    Defect("failure-goes-on", "A failure does not pause.", "specification 8.7.2", "safety.failure-pauses"),
    Defect("steps-unlimited", "Steps have no limit.", "specification 8.7.5", "safety.step-limit"),
    Defect("no-way-to-abort", "There is no abort_execution.", "specification 8.6.2", "safety.operations-present"),
    Defect(
        "monitoring-blocks",
        "A loop that only monitors stops agents.",
        "specification 8.6.4",
        "safety.monitoring-never-blocks",
    ),
)

DEFECTS: Final[tuple[Defect, ...]] = (
    *FORMAT,
    *REQUESTS,
    *INTROSPECTION,
    *_WRITING,
    *_LISTS,
    *_DATA,
    *_SUPERVISION,
)
