"""Operations made from a type hint, and values run through them."""

from collections.abc import Callable
from typing import Any

from headgate import Adapter, AqlError, Category, Limits, Operation
from headgate.adapter.functions import Options, operation_from_function
from headgate.engine.validation import validate
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.names import category_of_verb, verb_of

__all__ = ["adapter", "operation", "operation_of", "read", "refusal"]


def operation(function: Callable[..., Any], category: Category | None = None, **options: Any) -> Operation:
    """The operation that a function makes, of the category that its verb says."""
    said = category_of_verb(verb_of(function.__name__)) or Category.READ
    return operation_from_function(function, category or said, Options(**options))


def operation_of(annotation: object) -> Operation:
    """An operation with one required parameter ``x`` of a type."""

    async def get_thing(x: Any) -> None:
        """Get a thing."""

    get_thing.__annotations__ = {"x": annotation}
    return operation(get_thing)


def read(annotation: object, value: object) -> Any:
    """What a handler gets for a JSON value sent as a parameter of this type."""
    return validate(operation_of(annotation), {"x": value}, Limits(), strict=True).values["x"]


def refusal(annotation: object, value: object) -> ErrorDetail:
    """The error with which a JSON value is refused as a parameter of this type."""
    try:
        validate(operation_of(annotation), {"x": value}, Limits(), strict=True)
    except AqlError as error:
        return error.error
    raise AssertionError(f"{value!r} was taken")


def adapter(*functions: Callable[..., Any], name: str = "things") -> Adapter:
    """An adapter with these functions as READ operations."""
    made = Adapter(name, "Things")
    for function in functions:
        made.read(function)
    return made
