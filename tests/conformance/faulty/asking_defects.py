"""Faults in how requests are read and answered."""

from typing import Final

from tests.conformance.faulty.defect import Defect

__all__ = ["FORMAT", "REQUESTS"]

FORMAT: Final = (
    Defect("error-as-text", "Errors are bare texts.", "operations 3.3", "format.failure-has-error"),
    Defect("success-as-text", "'success' is the text 'true'.", "operations 3.1", "format.success-flag"),
    Defect("data-left-out", "A success without payload has no 'data'.", "operations 3.2", "format.success-has-data"),
    Defect("error-beside-data", "A success has 'error': null.", "operations 3.1", "format.success-without-error"),
    Defect("data-beside-error", "A failure has 'data': null.", "operations 3.1", "format.failure-without-data"),
    Defect("code-left-out", "Errors have a message only.", "operations 8.2", "format.error-code"),
    Defect("code-in-small-letters", "A code is written like a slug.", "operations 8.2", "format.error-code"),
    Defect("message-left-out", "Errors have a code only.", "operations 8.2", "format.error-message"),
    Defect(
        "malformed-params-thrown", "Bad 'params' are a JSON-RPC error.", "operations 5.4", "format.errors-are-answers"
    ),
    Defect("metadata-bare", "'requestId' stands in the envelope.", "operations 3.4", "format.metadata-underscored"),
    Defect("answer-no-json", "An operation answers 'OK'.", "specification 5.1", "format.json-object"),
    Defect("warnings-as-text", "Warnings are one text.", "operation-result schema", "format.warnings"),
    Defect("words-of-python", "A message quotes a TypeError.", "introspection 8.1.3", "errors.no-language-words"),
    Defect("trace-in-message", "A message holds a trace.", "introspection 8.1.3", "errors.no-stack-traces"),
    Defect("path-in-message", "A message names a file.", "introspection 8.1.3", "errors.no-internal-names"),
    Defect("code-made-up", "A code is of no known family.", "operations 8.3", "errors.standard-codes"),
    Defect("words-say-nothing", "Messages say 'Invalid request'.", "operations 8.4", "errors.name-what-is-wrong"),
    Defect("missing-words-vague", "What is expected is not said.", "introspection 8.2.3", "errors.missing-param-words"),
    Defect("operation-not-named", "An unknown operation is not named.", "introspection 8.2.3", "errors.name-operation"),
)
REQUESTS: Final = (
    Defect(
        "wrong-endpoint-runs", "Any tool runs any operation.", "specification 6.2", "routing.wrong-endpoint-refused"
    ),
    Defect(
        "delete-anywhere",
        "Every tool deletes what it is told to.",
        "specification 6.2",
        "routing.wrong-endpoint-refused",
    ),
    Defect("read-tool-creates", "The tool for reading creates.", "specification 6.2", "routing.wrong-endpoint-refused"),
    Defect(
        "wrong-endpoint-code-other", "A wrong tool is INTERNAL_ERROR.", "operations 6.3", "routing.wrong-endpoint-code"
    ),
    Defect(
        "unknown-operation-answered",
        "Unknown operations give null.",
        "operations 2.2",
        "routing.unknown-operation-refused",
    ),
    Defect(
        "unknown-operation-code-other",
        "An unknown operation is a missing resource.",
        "operations 8.1",
        "routing.unknown-operation-code",
    ),
    Defect("names-in-any-case", "Operations are found in any case.", "operations 2.4", "routing.case-sensitive"),
    Defect(
        "operation-defaulted", "No operation means list_exhibits.", "specification 4.1", "requests.operation-required"
    ),
    Defect(
        "operation-any-value",
        "An operation that is no name means list_exhibits.",
        "operations 2.2",
        "requests.operation-text",
    ),
    Defect(
        "params-of-any-form", "'params' that are no object are ignored.", "specification 4.1", "requests.params-object"
    ),
    Defect("top-level-wins", "The top level wins over 'params'.", "specification 4.2", "requests.params-first"),
    Defect("metadata-refused", "'_meta' is an unknown parameter.", "specification 4.6.1", "requests.metadata-ignored"),
    Defect(
        "missing-defaulted", "A missing id means the first exhibit.", "operations 5.4", "parameters.missing-refused"
    ),
    Defect(
        "missing-code-other", "A missing parameter is an invalid value.", "operations 8.1", "parameters.missing-code"
    ),
    Defect(
        "wrong-types-taken",
        "Values of wrong types are dropped or made texts.",
        "operations 5.4",
        "parameters.wrong-type-refused",
    ),
    Defect("fractions-cut", "A fraction is cut to a whole number.", "operations 5.4", "parameters.wrong-type-refused"),
    Defect(
        "wrong-type-code-other", "A wrong type is an invalid value.", "operations 8.1", "parameters.wrong-type-code"
    ),
    Defect("unknown-ignored", "Unknown parameters are ignored.", "specification 4.6", "parameters.unknown-refused"),
    Defect(
        "unknown-code-other",
        "An unknown parameter is an invalid value.",
        "specification 4.6",
        "parameters.unknown-code",
    ),
    Defect(
        "unknown-top-level-ignored",
        "Unknown names beside 'params' are ignored.",
        "specification 4.6.1",
        "parameters.unknown-top-level",
    ),
    Defect(
        "unknown-details-left-out",
        "Which parameters are unknown is not told apart.",
        "specification 4.6",
        "parameters.unknown-details",
    ),
    Defect(
        "minimum-not-enforced", "Numbers may be below the minimum.", "operations 5.4", "parameters.constraints-enforced"
    ),
    Defect(
        "enum-not-enforced",
        "Any text is taken for an enumeration.",
        "operations 5.4",
        "parameters.constraints-enforced",
    ),
    Defect(
        "create-unchecked",
        "Whatever is created may break the documented constraints.",
        "operations 5.4",
        "parameters.constraints-enforced",
    ),
    Defect("maximum-refused", "The maximum itself is refused.", "introspection 3.4", "parameters.edges-accepted"),
    Defect(
        "documented-parameter-refused",
        "A documented parameter is refused.",
        "introspection 8.1.1",
        "parameters.valid-accepted",
    ),
    Defect(
        "documented-operation-breaks",
        "A documented operation always ends in an internal error.",
        "introspection 8.1.1",
        "parameters.valid-answered",
    ),
    Defect(
        "default-differs",
        "The page size is not the documented default.",
        "operations 5.4",
        "parameters.defaults-applied",
    ),
    Defect("limit-taken-in-secret", "An undocumented 'limit' is taken.", "introspection 8.1.2", "parameters.complete"),
)
