"""The one operation that every adapter has: what it takes, and who answers (Spec 7.2)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from headgate.adapter.context import Context
from headgate.adapter.operations import Example, Operation
from headgate.adapter.overview import PAGE as GROUPS
from headgate.adapter.parameters import Parameter
from headgate.protocol.categories import Category
from headgate.protocol.errors import AqlError
from headgate.protocol.tables import FORMAT

__all__ = ["COMPACT", "INTROSPECT", "PAGE", "SEARCH_PAGE", "Guard", "check_names", "introspect_operation", "unknown"]

INTROSPECT: Final = "introspect"
COMPACT: Final = "compact"
PAGE: Final = 500
"""How many operations are listed unless another number is asked for."""

SEARCH_PAGE: Final = 10
"""How many operations a search finds unless another number is asked for."""

_MOST: Final = 1000
_MOST_NAMES: Final = 50
_NAMED: Final = ("operations", "types")


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

    def trust_of(self, source: str) -> str:
        """How far a source is trusted."""
        ...

    async def answer(self, query: str, name: str | None, context: Context) -> object:
        """The data of one of its queries."""
        ...


def introspect_operation(answer: Callable[..., object], guard: Guard | None) -> Operation:
    """The one operation that every adapter has (Spec 7.2)."""

    async def introspect(ctx: Context, **params: Any) -> object:
        query = params["query"]
        check_names(query, params["name"], params["names"])
        if guard is not None and query in guard.queries:
            return await guard.answer(query, params["name"], ctx)
        in_short = params.pop(FORMAT) == COMPACT
        return answer(ctx.session.id, **params, in_short=in_short)

    def optional(name: str, **schema: object) -> Parameter:
        return Parameter(name, dict(schema), required=False)

    words = {
        "operations": "what can be done, or with name one operation in full",
        "types": "the types, or with name one in full",
        "search": "operations that match the words in name, the best first",
        "groups": "the sources and groups of operations with their numbers, or with name the operations of one",
        "collections": "the collections with their fields, operators, presets and relationships, or with name one",
        "executions": "the states of long work, and what leads from one to another",
        "errors": "the error codes",
        "limits": "the size limits",
        "adapter_info": "this adapter, its sources, endpoints and conventions, or with name where an operation is from",
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
                description=f"How many at most; else {SEARCH_PAGE} of a search, {PAGE} operations, {GROUPS} groups, "
                "all types.",
            ),
            optional(
                "after",
                type=["string", "null"],
                description="Go on after this name, the last of the page before.",
            ),
            optional(
                "names",
                type=["array", "null"],
                items={"type": "string"},
                minItems=1,
                maxItems=_MOST_NAMES,
                description="Several operations or types at once, in place of name.",
            ),
            optional(
                FORMAT,
                type=["string", "null"],
                enum=["full", COMPACT, None],
                description="'compact' tells the same in a line each: operations, search, groups, types, collections.",
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


def check_names(query: str, name: str | None, names: Sequence[str] | None) -> None:
    """Refuse several names where one is given, or where they mean nothing."""
    if names is not None and (name is not None or query not in _NAMED):
        rule = "give it without 'name'" if name is not None else f"it goes with {' and '.join(_NAMED)}"
        raise AqlError("VALIDATION_INVALID_VALUE", f"Parameter 'names' is not valid: {rule}")


def unknown(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that nothing has, if there are any."""
    missing = list(names)
    return {"unknown": missing} if missing else {}
