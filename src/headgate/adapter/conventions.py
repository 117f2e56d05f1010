"""What an adapter documents of itself beyond the specification: its data, its conventions, and what is added."""

from collections.abc import Mapping
from typing import Final

__all__ = ["CONVENTIONS", "EXTENSIONS", "QUERIES"]

QUERIES: Final = (
    *("operations", "types", "search", "groups", "collections", "executions", "errors", "limits", "adapter_info"),
)
"""What introspection can be asked, before anything that guards adds to it."""

CONVENTIONS: Final[Mapping[str, str]] = {
    "parameters": "inside 'params', or beside 'operation'; 'params' wins. camelCase spellings are read too.",
    "unknown_parameters": "refused; names that start with an underscore are metadata and ignored.",
    "null": "stands for an absent value; it is refused where the type does not include null. In the 'input' of an "
    "UPDATE it removes the field, while a field left out stays as it is.",
    "dates": "ISO 8601. Timestamps carry a zone and are answered in UTC with 'Z'. A date alone is in no zone.",
    "numbers": "integers beyond 2^53-1 and exact decimals are strings, in requests and answers.",
    "binary": "base64 with padding; '<name>_encoding' and '<name>_mime_type' stand beside it.",
    "text": "UTF-8; a JSON text where an object or array is declared is read as such, with a warning.",
    "dry_run": "true on any operation that changes something tells what would happen, and changes nothing.",
    "confirmation": "a gated call answers CONFIRMATION_REQUIRED with a token; repeated with it as "
    "'confirmation_token', the very same call runs once.",
    "batch": "{'operations': [{'operation': …, 'params': …}, …]} in one tool, in order; one failure stops no other. "
    "With 'transaction': true beside it, where a database is behind, all are kept or none.",
}
"""What the specification wants an adapter to document of its data (Spec 4.7, 10.3)."""

EXTENSIONS: Final = (
    *(f"introspect query '{query}'" for query in (*QUERIES[2:], "danger", "policies", "quota_status")),
    "introspect parameters 'first' and 'after', and 'page' in _protocol: long lists come in pages",
    "introspect parameters 'names', several operations or types at once, and 'format': 'compact' is a line each",
    "'format': 'table' of operations that answer a list of objects: columns once, then a row for each",
    "'transaction' beside 'operations' in a batch: kept together, or undone together",
    "operators of filters, such as {field: {gte: 1}}, and the combiners 'and', 'or' and 'not'",
    "'problems' in the details of an error: every fault of a request at once",
    "'headgate/requestId' and 'headgate/sessionId' in the _meta of MCP's result, when a call fails",
    "warning 'VALIDATION_STRINGIFIED_WARNING': a JSON text was read as the object or array that it holds",
    "warning 'VALIDATION_UNKNOWN_PARAM_WARNING': outside strict mode, an unknown parameter was ignored",
)
"""What the specification wants listed of all that is added to it (Spec 10.2, 10.3)."""
