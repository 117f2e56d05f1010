"""The same operations as a GraphQL schema, by strawberry-graphql: written as its documentation shows it."""

import inspect
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Final, cast

import orjson

from benchmarks.books import get_book
from headgate import Adapter, Category, Operation

__all__ = ["BOOK_QUERY", "HAS_STRAWBERRY", "book_schema", "camel", "execute", "flat", "quiet", "schema_of"]

HAS_STRAWBERRY: Final = find_spec("strawberry") is not None

_FIELDS: Final = "{ isbn title author copies }"
BOOK_QUERY: Final = f"query ($isbn: String!, $copies: Int!) {{ getBook(isbn: $isbn, copies: $copies) {_FIELDS} }}"
_SCALARS: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list[str],
}


@dataclass
class Book:
    """What ``get_book`` gives, with a type for each field."""

    isbn: str
    title: str
    author: str
    copies: int


async def _typed(isbn: str, copies: int = 1) -> Book:
    return Book(**cast("Any", await get_book(isbn, copies)))


def book_schema(*, cached: bool) -> Any:
    """A schema with the one field; ``cached`` keeps what queries mean, which is the fastest that is documented."""
    strawberry = import_module("strawberry")
    strawberry.type(Book)
    field = strawberry.field(resolver=_typed, name="getBook")
    query = import_module("strawberry.tools").create_type("Query", [field])
    return strawberry.Schema(query, extensions=_caches() if cached else ())


def _caches() -> list[Any]:
    """For as many queries as they keep when nothing else is said. They are given as what makes them."""
    known = import_module("strawberry.extensions")
    return [known.ParserCache, known.ValidationCache]


async def execute(schema: Any, query: str, variables: Mapping[str, object] | None = None) -> str:
    """The answer as JSON, in the envelope that all others have too. Refusals are not written to the log."""
    result = await schema.execute(query, variable_values=variables)
    if result.errors:
        return orjson.dumps({"success": False, "errors": [error.formatted for error in result.errors]}).decode()
    [data] = result.data.values() if len(result.data) == 1 else [result.data]
    return orjson.dumps({"success": True, "data": data}).decode()


def quiet() -> None:
    """Nothing in the log about requests that are refused: headgate writes nothing there either."""
    for name in ("strawberry", "fastmcp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def schema_of(adapter: Adapter) -> Any:
    """A field for each operation: reads are queries, and the rest mutations. Whatever they give is JSON."""
    strawberry = import_module("strawberry")
    make = import_module("strawberry.tools").create_type
    reads = [each for each in adapter.operations.values() if each.category is Category.READ]
    rest = [each for each in adapter.operations.values() if each.category is not Category.READ]
    fields = partial(_fields, strawberry)
    return strawberry.Schema(make("Query", fields(reads)), make("Mutation", fields(rest)) if rest else None)


def _fields(strawberry: Any, operations: Iterable[Operation]) -> list[Any]:
    return [
        strawberry.field(resolver=_resolver(strawberry, each), name=camel(each.name), description=each.summary)
        for each in operations
    ]


def _resolver(strawberry: Any, operation: Operation) -> Any:
    """A function that takes what the operation takes, as GraphQL sees it."""

    async def resolve(**_arguments: object) -> None:
        pass

    fields = flat(operation)
    known = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_annotation(strawberry, schema, is_required),
            default=inspect.Parameter.empty if is_required else strawberry.UNSET,
        )
        for name, schema, is_required in fields
    ]
    returned = strawberry.scalars.JSON | None
    signature = inspect.Signature(known, return_annotation=returned)
    resolve.__name__ = operation.name
    resolve.__signature__ = signature  # type: ignore[attr-defined]  # a function has room for it
    resolve.__annotations__ = {each.name: each.annotation for each in known} | {"return": returned}
    return resolve


def flat(operation: Operation) -> list[tuple[str, Mapping[str, Any], bool]]:
    """The parameters of an operation, each with its schema and whether it is required; for an object, its fields."""
    found: list[tuple[str, Mapping[str, Any], bool]] = []
    for each in operation.parameters:
        if each.schema.get("type") == "object":
            needed = each.schema.get("required", ())
            found += [(name, schema, name in needed) for name, schema in each.schema["properties"].items()]
        else:
            found.append((each.name, each.schema, each.required))
    return found


def _annotation(strawberry: Any, schema: Mapping[str, Any], is_required: bool) -> Any:
    said = schema["type"]
    kind: Any = _SCALARS[said if isinstance(said, str) else said[0]]
    words = strawberry.argument(description=schema.get("description"))
    return Annotated[kind if is_required else kind | None, words]


def camel(name: str) -> str:
    """A name as GraphQL writes it."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
