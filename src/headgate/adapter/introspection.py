"""The answers of ``introspect``, made from the registry alone (Spec 7; Introspection 2 to 5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar

from headgate._version import __version__
from headgate.adapter.adapter import Adapter
from headgate.adapter.collections.words import collection_info
from headgate.adapter.context import Context
from headgate.adapter.examples import examples_of
from headgate.adapter.exposure import Exposure
from headgate.adapter.operations import IF_MATCH, INPUT, Example, Operation
from headgate.adapter.parameters import Parameter
from headgate.adapter.schemas import parameter_info
from headgate.adapter.search import SearchIndex
from headgate.adapter.types import PROTOCOL_TYPES, TypeDef, returns_info, type_from_schema
from headgate.protocol import PROTOCOL_VERSION, lifecycle
from headgate.protocol.categories import Category
from headgate.protocol.error_codes import REGISTRY
from headgate.protocol.errors import AqlError
from headgate.protocol.limits import LIMIT_ROWS, Limits

__all__ = ["CONFIRMATION_TOKEN", "INTROSPECT", "QUERIES", "Guard", "Introspector", "introspect_operation"]

T = TypeVar("T")

INTROSPECT: Final = "introspect"
QUERIES: Final = ("operations", "types", "search", "collections", "executions", "errors", "limits", "adapter_info")
CONFIRMATION_TOKEN: Final = "confirmation_token"  # noqa: S105  (a parameter's name)
_PAGE: Final = 500
_MOST: Final = 1000
_SEARCH_PAGE: Final = 10
_LEFT_OUT_OR_NULL: Final = "A field left out stays as it is, null removes it."

_TOKEN: Final = Parameter(
    CONFIRMATION_TOKEN,
    {"type": "string", "description": "The token of a CONFIRMATION_REQUIRED answer, once the user has agreed."},
    required=False,
)

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
    "'transaction' beside 'operations' in a batch: kept together, or undone together",
    "operators of filters, such as {field: {gte: 1}}, and the combiners 'and', 'or' and 'not'",
    "'problems' in the details of an error: every fault of a request at once",
    "'headgate/requestId' and 'headgate/sessionId' in the _meta of MCP's result, when a call fails",
    "warning 'VALIDATION_STRINGIFIED_WARNING': a JSON text was read as the object or array that it holds",
    "warning 'VALIDATION_UNKNOWN_PARAM_WARNING': outside strict mode, an unknown parameter was ignored",
)
"""What the specification wants listed of all that is added to it (Spec 10.2, 10.3)."""


class Guard(Protocol):
    """What stands before operations, as far as introspection tells of it."""

    @property
    def queries(self) -> Mapping[str, str]:
        """The queries that it answers, each with a few words."""
        ...

    @property
    def capabilities(self) -> Mapping[str, object]:
        """What it adds to the capabilities of the protocol."""
        ...

    def may_ask(self, operation: Operation) -> bool:
        """Whether a call may have to be confirmed."""
        ...

    def note(self, operation: Operation) -> str:
        """What a model should know before it calls."""
        ...

    async def answer(self, query: str, name: str | None, context: Context) -> object:
        """The data of one of its queries."""
        ...


@dataclass(frozen=True)
class Introspector:
    """Everything introspection can tell. Frozen with the registry it was made from, so answers stay the same."""

    adapter: Adapter
    exposure: Exposure
    limits: Limits
    concurrency: str
    max_concurrent_requests: int
    guard: Guard | None = None
    added: Mapping[str, Operation] = field(default_factory=dict)
    """The operations of the safety loop and those of executions, where there are any."""
    operations: Mapping[str, Operation] = field(init=False)
    _details: dict[str, Mapping[str, object]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        own = introspect_operation(self)
        object.__setattr__(self, "operations", {**self.adapter.operations, **self.added, own.name: own})

    def answer(self, session_id: str, query: str, name: str | None, first: int | None, after: str | None) -> object:
        """The data of one ``introspect`` request."""
        match query:
            case "operations":
                return (
                    {"operation": self._operation(name)}
                    if name is not None
                    else self._operations(session_id, first, after)
                )
            case "types":
                return {"type": self._type(name)} if name is not None else self._types(first, after)
            case "search":
                return self._search(name, first)
            case "collections":
                return self._collections(name)
            case "executions":
                return lifecycle.table()
            case "errors":
                return {"errors": [row.wire() for row in REGISTRY.values() if name in (None, row.code)]}
            case "limits":
                return self._limits()
            case _:
                return self._adapter_info()

    # operations

    def _operations(self, session_id: str, first: int | None, after: str | None) -> object:
        page = _page(list(self.operations), first, after)
        protocol = self._protocol | {"session_id": session_id}
        if len(page) < len(self.operations):
            protocol["page"] = {
                "total": len(self.operations),
                "returned": len(page),
                "after": page[-1] if page else after,
            }
        return {"_protocol": protocol, "operations": [self._infos[name] for name in page]}

    @cached_property
    def _infos(self) -> Mapping[str, Mapping[str, object]]:
        return {name: self._info(operation) for name, operation in self.operations.items()}

    def _info(self, operation: Operation) -> dict[str, object]:
        return {
            "name": operation.name,
            "semantic_category": operation.category.value,
            "endpoint": self.exposure.family_of(operation).name,
            "description": operation.brief,
        }

    def _operation(self, name: str) -> Mapping[str, object] | None:
        operation = self.operations.get(name)
        if operation is None:
            return None
        if name not in self._details:
            self._details[name] = self._in_full(operation)
        return self._details[name]

    def _in_full(self, operation: Operation) -> Mapping[str, object]:
        return self._info(operation) | {
            "mcpTool": self.exposure.tool_of(operation),
            "description": "\n".join(filter(None, [operation.full_description, self._note(operation)])),
            "permissions": {
                "readOnly": operation.category.read_only,
                "destructive": operation.category.destructive,
            },
            "parameters": [_parameter_info(parameter, operation) for parameter in self._parameters(operation)],
            "returns": returns_info(operation.answer, operation.definitions, operation.answer_description),
            "examples": [_example(operation.name, example) for example in examples_of(operation)],
            **operation.shown_features,
        }

    def _note(self, operation: Operation) -> str:
        return self.guard.note(operation) if self.guard and operation.name != INTROSPECT else ""

    def _parameters(self, operation: Operation) -> Iterator[Parameter]:
        """What it takes, and the token if it may have to be confirmed."""
        yield from operation.parameters
        is_guarded = self.guard is not None and operation.name != INTROSPECT and self.guard.may_ask(operation)
        if is_guarded and operation.parameter(CONFIRMATION_TOKEN) is None:
            yield _TOKEN

    @cached_property
    def _protocol(self) -> dict[str, object]:
        operations = self.operations.values()
        features = {name for operation in operations for name in operation.features}
        names = {parameter.name for operation in operations for parameter in operation.parameters}
        return {
            "version": PROTOCOL_VERSION,
            "conformance": "level-1",
            "mode": self.exposure.mode.value,
            "capabilities": {
                "batch": True,
                "field_selection": "fields" in names,
                "aggregations": "aggregation_support" in features,
                "computed_fields": "computed_fields" in features,
                "pagination": bool(len(self.adapter.collections.catalog)),
                "relationship_queries": "relationship_capabilities" in features,
                "warnings": True,
                "confirmation": self.guard is not None,
                "dangerous_operations": self.guard is not None,
                "executions": any(operation.background for operation in operations),
                **(self.guard.capabilities if self.guard else {}),
            },
            "limits": self.limits.wire(),
            "concurrency": self.concurrency,
            "supports_etag": any(operation.parameter(IF_MATCH) for operation in operations),
            "max_concurrent_requests": self.max_concurrent_requests,
        }

    # types

    def _types(self, first: int | None, after: str | None) -> object:
        names = list(self._type_defs)
        return {"types": [self._type_defs[name].info() for name in _page(names, first or len(names), after)]}

    def _type(self, name: str) -> Mapping[str, object] | None:
        definition = self._type_defs.get(name)
        return definition.details() if definition else None

    @cached_property
    def _type_defs(self) -> Mapping[str, TypeDef]:
        types: dict[str, TypeDef] = {}
        for operation in self.operations.values():
            for name, schema in operation.definitions.items():
                if name not in types:
                    types[name] = type_from_schema(name, schema, operation.definitions)
        return {**types, **PROTOCOL_TYPES}

    # more queries

    def _search(self, words: str | None, first: int | None) -> object:
        if not words or not words.strip():
            raise AqlError(
                "VALIDATION_MISSING_PARAM",
                "Missing required parameter 'name'. Expected: string (the words to search for, when query is 'search')",
            )
        found = self._index.search(words, _SEARCH_PAGE if first is None else first)
        return {"operations": [self._found(operation) for operation in found]}

    @cached_property
    def _index(self) -> SearchIndex:
        return SearchIndex(self.operations.values())

    def _found(self, operation: Operation) -> dict[str, object]:
        return self._info(operation) | {
            "mcpTool": self.exposure.tool_of(operation),
            "required": [
                parameter_info(parameter.name, parameter.schema, operation.definitions, required=True)
                for parameter in operation.parameters
                if parameter.required
            ],
        }

    def _collections(self, name: str | None) -> object:
        collections = self.adapter.collections
        if name is None:
            return {"collections": [collection_info(one, collections.options) for one in collections.catalog]}
        found = next((one for one in collections.catalog if name in (one.name, one.singular)), None)
        return {"collection": found and collection_info(found, collections.options)}

    def _limits(self) -> object:
        values = self.limits.wire()
        return {
            "limits": [
                {
                    "name": name,
                    "value": values[name],
                    "unit": row.unit,
                    "lowest": row.lowest,
                    "highest": row.highest,
                }
                for name, row in LIMIT_ROWS.items()
            ]
        }

    def _adapter_info(self) -> object:
        counts: dict[str, int] = {}
        for operation in self.operations.values():
            family = self.exposure.family_of(operation).name
            counts[family] = counts.get(family, 0) + 1
        return {
            "name": self.adapter.name,
            "version": self.adapter.version,
            "description": self.adapter.description,
            "implementation": {"name": "headgate", "version": __version__},
            "protocol": self._protocol,
            "profile": self.exposure.profile.name,
            "endpoints": [
                {"endpoint": family.name, "purpose": family.purpose, "operations": counts.get(family.name, 0)}
                for family in self.exposure.profile.families
            ],
            "extensions": list(EXTENSIONS),
            "conventions": dict(CONVENTIONS),
        }


def _page(names: Sequence[str], first: int | None, after: str | None) -> Sequence[str]:
    """The names after one that is known. The last name of a page is the cursor of the next."""
    start = 0
    if after is not None:
        if after not in names:
            raise AqlError(
                "VALIDATION_INVALID_VALUE",
                "Parameter 'after' is not valid: give the last name of the page before",
            )
        start = names.index(after) + 1
    return names[start : start + (first or _PAGE)]


def _parameter_info(parameter: Parameter, operation: Operation) -> dict[str, object]:
    note = parameter.deprecated.sentence if parameter.deprecated else ""
    if operation.category is Category.UPDATE and parameter.name == INPUT:
        note = f"{_LEFT_OUT_OR_NULL} {note}".strip()
    return parameter_info(
        parameter.name, parameter.schema, operation.definitions, required=parameter.required, note=note
    )


def _example(name: str, example: Example) -> dict[str, object]:
    request: dict[str, object] = {"operation": name}
    if example.params:
        request["params"] = dict(example.params)
    return {"description": example.description, "request": request} if example.description else {"request": request}


def introspect_operation(introspector: Introspector) -> Operation:
    """The one operation that every adapter has (Spec 7.2)."""

    guard = introspector.guard

    async def introspect(ctx: Context, **params: Any) -> object:
        query = params["query"]
        if guard is not None and query in guard.queries:
            return await guard.answer(query, params["name"], ctx)
        return introspector.answer(ctx.session.id, **params)

    def optional(name: str, **schema: object) -> Parameter:
        return Parameter(name, dict(schema), required=False)

    words = {
        "operations": "what can be done, or with name one operation in full",
        "types": "the types, or with name one in full",
        "search": "operations that match the words in name, the best first",
        "collections": "the collections with their fields, operators, presets and relationships, or with name one",
        "executions": "the states of long work, and what leads from one to another",
        "errors": "the error codes",
        "limits": "the size limits",
        "adapter_info": "this adapter, its endpoints and conventions",
        **(guard.queries if guard else {}),
    }
    query = {
        "type": "string",
        "enum": list(words),
        "description": "What to introspect: " + "; ".join(f"'{key}': {value}" for key, value in words.items()) + ".",
    }
    return Operation(
        name=INTROSPECT,
        category=Category.READ,
        function=introspect,
        parameters=(
            Parameter("query", query),
            optional("name", type=["string", "null"], description="One item by name, or the words to search for."),
            optional(
                "first",
                type=["integer", "null"],
                minimum=1,
                maximum=_MOST,
                description=f"How many at most; else {_SEARCH_PAGE} of a search, {_PAGE} operations, all types.",
            ),
            optional(
                "after",
                type=["string", "null"],
                description="Go on after this name, the last of the page before.",
            ),
        ),
        summary="Discover available operations and types",
        returns={"type": "object"},
        returns_description="The list or the item that was asked for",
        examples=(
            Example({"query": "operations"}, "List all operations"),
            Example({"query": "search", "name": "words to look for"}, "Find operations by words"),
            Example({"query": "operations", "name": "introspect"}, "One operation in full"),
        ),
        context_parameter="ctx",
    )
