"""Faults in what the museum says of itself."""

from typing import Final

from tests.conformance.faulty.defect import Defect

__all__ = ["INTROSPECTION"]

INTROSPECTION: Final = (
    Defect(
        "entry-without-description",
        "A listed operation lacks its description.",
        "introspection 3.2",
        "introspection.entry-shape",
    ),
    Defect(
        "details-missing", "A listed operation has no details.", "introspection 8.1", "introspection.details-answered"
    ),
    Defect("returns-left-out", "Details lack 'returns'.", "introspection 3.3", "introspection.details-shape"),
    Defect(
        "list-and-details-differ",
        "List and details name two categories.",
        "introspection 8.1.1",
        "introspection.list-and-details-agree",
    ),
    Defect("category-made-up", "A category is 'QUERY'.", "specification 6.1", "introspection.categories"),
    Defect("name-listed-twice", "An operation is listed twice.", "specification 6.2", "introspection.names-unique"),
    Defect("permissions-wrong", "UPDATE is not destructive.", "specification 6.1", "introspection.permissions"),
    Defect(
        "tool-does-not-exist", "A tool is named that is not there.", "introspection 3.3", "introspection.tool-exists"
    ),
    Defect("type-left-out", "A parameter has no type.", "introspection 3.4", "introspection.parameter-shape"),
    Defect(
        "required-as-text", "'required' is the text 'no'.", "introspection 8.1", "introspection.required-is-boolean"
    ),
    Defect(
        "unknown-operation-an-error",
        "Details of an unknown operation are an error.",
        "introspection 4.3",
        "introspection.unknown-operation-null",
    ),
    Defect(
        "unknown-type-an-error",
        "Details of an unknown type are an error.",
        "introspection 8.1",
        "introspection.unknown-type-null",
    ),
    Defect("query-defaulted", "No query means operations.", "specification 7.2", "introspection.query-required"),
    Defect("introspect-not-listed", "introspect is not listed.", "introspection 8.2", "introspection.lists-itself"),
    Defect("examples-left-out", "An operation has no example.", "introspection 8.2", "introspection.examples"),
    Defect(
        "example-does-not-fit",
        "An example uses an unknown parameter.",
        "introspection 8.2",
        "introspection.examples-fit",
    ),
    Defect(
        "descriptions-left-out", "A parameter has no description.", "introspection 8.2", "introspection.descriptions"
    ),
    Defect(
        "fields-untyped",
        "The type of 'fields' is 'any'.",
        "introspection 8.1.2",
        "introspection.feature-parameters-typed",
    ),
    Defect(
        "annotations-wrong", "Every tool says that it only reads.", "companion, tools", "introspection.tool-annotations"
    ),
    Defect("types-refused", "There is no query 'types'.", "introspection 8.1", "types.listed"),
    Defect("type-kind-made-up", "A type is of the kind 'record'.", "introspection 3.5", "types.entry-shape"),
    Defect("type-details-missing", "A listed type has no details.", "introspection 8.1", "types.details"),
    Defect("enum-without-values", "An enumeration tells no values.", "introspection 3.6", "types.details-shape"),
    Defect("type-not-listed", "An unlisted type is returned.", "introspection 8.1", "types.names-consistent"),
    Defect("version-left-out", "'_protocol' has no version.", "introspection 8.1", "protocol.version"),
    Defect("version-no-semver", "The version is '1.0'.", "introspection 4.1.1", "protocol.version"),
    Defect("mode-untrue", "'_protocol' names another mode.", "introspection 4.1.1", "protocol.mode-true"),
    Defect("limits-left-out", "The limits are not told.", "specification 4.7.5", "protocol.limits"),
    Defect("concurrency-unknown", "Concurrency is 'parallel'.", "specification 9.3.1", "protocol.concurrency"),
    Defect(
        "safety-loop-undeclared",
        "The safety loop is there and not declared.",
        "specification 8.6.1",
        "protocol.safety-loop",
    ),
    Defect("camel-case-parameter", "A parameter is 'pageSize'.", "specification 4.3", "naming.parameters-snake-case"),
    Defect(
        "camel-case-operation", "An operation is 'listLoans'.", "specification 8.5.2", "naming.operations-snake-case"
    ),
    Defect(
        "list-by-another-name",
        "The list of operations is called 'items'.",
        "introspection 4.1",
        "introspection.operations-listed",
    ),
    Defect(
        "introspect-no-read", "introspect is said to create.", "introspection 8.1", "introspection.introspect-is-read"
    ),
    Defect(
        "any-query-answered",
        "An unknown query is answered with the operations.",
        "specification 7.2",
        "introspection.unknown-query-refused",
    ),
    Defect(
        "endpoint-in-capitals",
        "Endpoints are written in capitals.",
        "introspection 4.1",
        "introspection.endpoint-lowercase",
    ),
    Defect("capability-as-text", "A capability is 'yes'.", "introspection 4.1.1", "protocol.capabilities"),
    Defect(
        "session-id-left-out", "Errors do not tell the session.", "specification 2.3.5", "protocol.session-id-in-errors"
    ),
    Defect(
        "reserved-name-elsewhere",
        "verify_challenge is an EXECUTE operation.",
        "specification 8.5.4",
        "naming.reserved-names",
    ),
)
