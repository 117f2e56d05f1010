"""The answers of ``introspect``, made from the registry alone (Spec 7; Introspection 2 to 5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from headgate._version import __version__
from headgate.adapter.adapter import Adapter
from headgate.adapter.brevity import SHORT_QUERIES, Brevity
from headgate.adapter.collections.words import collection_info
from headgate.adapter.conventions import CONVENTIONS, EXTENSIONS, QUERIES
from headgate.adapter.examples import examples_of
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspecting import (
    INTROSPECT,
    PAGE,
    SEARCH_PAGE,
    Guard,
    introspect_operation,
    unknown,
)
from headgate.adapter.operations import IF_MATCH, INPUT, Example, Operation
from headgate.adapter.overview import Overview
from headgate.adapter.pages import page_info, page_of
from headgate.adapter.parameters import Parameter
from headgate.adapter.schemas import parameter_info
from headgate.adapter.search import SearchIndex
from headgate.adapter.types import PROTOCOL_TYPES, TypeDef, returns_info, type_from_schema
from headgate.protocol import PROTOCOL_VERSION, lifecycle
from headgate.protocol.categories import Category
from headgate.protocol.error_codes import REGISTRY
from headgate.protocol.errors import AqlError
from headgate.protocol.limits import LIMIT_ROWS, Limits

__all__ = ["CONFIRMATION_TOKEN", "INTROSPECT", "QUERIES", "Guard", "Introspector"]

T = TypeVar("T")

CONFIRMATION_TOKEN: Final = "confirmation_token"  # noqa: S105  (a parameter's name)
_LEFT_OUT_OR_NULL: Final = "A field left out stays as it is, null removes it."

_TOKEN: Final = Parameter(
    CONFIRMATION_TOKEN,
    {"type": "string", "description": "The token of a CONFIRMATION_REQUIRED answer, once the user has agreed."},
    required=False,
)


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
        own = introspect_operation(self.answer, self.guard)
        object.__setattr__(self, "operations", {**self.adapter.operations, **self.added, own.name: own})

    def answer(
        self,
        session_id: str,
        query: str,
        name: str | None,
        first: int | None,
        after: str | None,
        names: Sequence[str] | None = None,
        *,
        in_short: bool = False,
    ) -> object:
        """The data of one ``introspect`` request. What has no short form is told in full."""
        if in_short and query == "search":
            return self._brevity.found(self._matching(name, first))
        if in_short and query in SHORT_QUERIES:
            return self._brevity.answer(query, names if name is None else [name], first, after)
        if names is not None:
            return self._several(query, names)
        return self._told(session_id, query, name, first, after)

    def _told(self, session_id: str, query: str, name: str | None, first: int | None, after: str | None) -> object:
        """Everything that there is to a query."""
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
            case "groups":
                return (
                    self._overview.groups(first, after)
                    if name is None
                    else self._overview.group(name, self._infos, first, after)
                )
            case "collections":
                return self._collections(name)
            case "executions":
                return lifecycle.table()
            case "errors":
                return {"errors": [row.wire() for row in REGISTRY.values() if name in (None, row.code)]}
            case "limits":
                return self._limits()
            case _:
                return (
                    self._adapter_info(first, after)
                    if name is None
                    else {"operation": self._overview.whence(self.operations.get(name))}
                )

    # operations

    def _operations(self, session_id: str, first: int | None, after: str | None) -> object:
        names = list(self.operations)
        page = page_of(names, first or PAGE, after)
        protocol = self._protocol | {"session_id": session_id} | page_info(page, names)
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

    def _several(self, query: str, names: Sequence[str]) -> object:
        """Several items in full."""
        one: Callable[[str], Mapping[str, object] | None] = self._type if query == "types" else self._operation
        found = {name: one(name) for name in names}
        return {query: [told for told in found.values() if told], **unknown(name for name in found if not found[name])}

    @cached_property
    def _brevity(self) -> Brevity:
        return Brevity(
            self.operations, self._type_defs, self.adapter.collections, self.exposure, self._overview, self._as_called
        )

    def _as_called(self, operation: Operation) -> tuple[tuple[Parameter, ...], str]:
        return tuple(self._parameters(operation)), self._note(operation)

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
            "conformance": "level-2",
            "mode": self.exposure.mode.value,
            "capabilities": {
                "batch": True,
                "field_selection": "fields" in names,
                "aggregations": "aggregation_support" in features,
                "computed_fields": "computed_fields" in features,
                "pagination": bool(len(self.adapter.collections.catalog)) or any(map(_is_paged, operations)),
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
        return {"types": [self._type_defs[name].info() for name in page_of(names, first or len(names), after)]}

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
        found = self._matching(words, first)
        return {"operations": [self._found(operation) for operation in found], **self._overview.not_ready()}

    def _matching(self, words: str | None, first: int | None) -> Sequence[Operation]:
        if not words or not words.strip():
            raise AqlError(
                "VALIDATION_MISSING_PARAM",
                "Missing required parameter 'name'. Expected: string (the words to search for, when query is 'search')",
            )
        return self._index.search(words, SEARCH_PAGE if first is None else first)

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

    @cached_property
    def _overview(self) -> Overview:
        return Overview(self.adapter, self.guard.trust_of if self.guard else None)

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

    def _adapter_info(self, first: int | None, after: str | None) -> object:
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
            **self._overview.sources(first, after),
            "extensions": list(EXTENSIONS),
            "conventions": dict(CONVENTIONS),
        }


def _is_paged(operation: Operation) -> bool:
    """Whether an operation is read page by page. ``introspect`` is, everywhere, and says nothing of what is served."""
    takes_both = all(operation.parameter(name) is not None for name in ("first", "after"))
    return operation.name != INTROSPECT and takes_both


def _parameter_info(parameter: Parameter, operation: Operation) -> dict[str, object]:
    note = parameter.deprecated.sentence if parameter.deprecated else ""
    if operation.category is Category.UPDATE and parameter.name == INPUT:
        note = f"{_LEFT_OUT_OR_NULL if operation.origin is None else ''} {note}".strip()
    return parameter_info(
        parameter.name, parameter.schema, operation.definitions, required=parameter.required, note=note
    )


def _example(name: str, example: Example) -> dict[str, object]:
    request: dict[str, object] = {"operation": name}
    if example.params:
        request["params"] = dict(example.params)
    return {"description": example.description, "request": request} if example.description else {"request": request}
