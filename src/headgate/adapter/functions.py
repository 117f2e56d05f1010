"""From a Python function to an operation: parameters from its hints, words from its docstring."""

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, get_args

from pydantic_core import PydanticSerializationError, to_jsonable_python

from headgate.adapter.background import Background
from headgate.adapter.binary import BINARY_ANSWER, binder, companions
from headgate.adapter.context import Context
from headgate.adapter.docstrings import read_docstring
from headgate.adapter.hints import Hint, hint_for
from headgate.adapter.operations import DRY_RUN, INPUT, Example, Operation
from headgate.adapter.parameters import Deprecated, Param, Parameter, Schema
from headgate.adapter.tabular import offering_tables
from headgate.adapter.text_formats import BASE64
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger

__all__ = ["TRYING", "Options", "operation_from_function"]

TRYING: Final = Parameter(
    DRY_RUN,
    {"type": "boolean", "default": False, "description": "Only tell whether it would run, and run nothing."},
    required=False,
    default=False,
)
_WITHOUT_A_NAME: Final = (
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
    inspect.Parameter.POSITIONAL_ONLY,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a decorator may say beyond the function itself."""

    name: str | None = None
    description: str | None = None
    examples: tuple[Example, ...] = ()
    endpoint: str | None = None
    deprecated: Deprecated | None = None
    locks: tuple[str, ...] | None = None
    rationale: str = ""
    danger: Danger | None = None
    background: Background | None = None


class _Argument(NamedTuple):
    parameter: Parameter
    hint: Hint


def operation_from_function(function: Callable[..., Any], category: Category, options: Options) -> Operation:
    """The operation that a function is. An AdapterError names what it lacks."""
    name = options.name or str(getattr(function, "__name__", ""))
    documented = read_docstring(function.__doc__)
    words = read_docstring(options.description) if options.description else documented
    try:
        hints = _hints(function)
        arguments = tuple(_arguments(function, hints, {**documented.parameters, **words.parameters}))
        returns = hint_for(hints["return"], "serialization") if "return" in hints else Hint({})
        definitions = _definitions([argument.hint for argument in arguments], returns)
    except AdapterError as error:
        raise AdapterError(f"Operation '{name}': {error}") from None
    parameters = tuple(argument.parameter for argument in arguments)
    if category is Category.UPDATE:
        definitions = _without_identifiers(definitions, parameters)
    binary = [parameter.name for parameter in parameters if parameter.schema.get("format") == BASE64]
    added = companions(parameters)
    tries_nothing = not category.read_only and not any(parameter.name == DRY_RUN for parameter in parameters)
    operation = Operation(
        name=name,
        category=category,
        function=function,
        parameters=(*parameters, *added, *((TRYING,) if tries_nothing else ())),
        summary=words.summary,
        description=words.description,
        returns=BINARY_ANSWER if returns.schema.get("format") == BASE64 else returns.schema,
        returns_description=words.returns or documented.returns,
        definitions=definitions,
        examples=options.examples,
        endpoint=options.endpoint,
        deprecated=options.deprecated,
        locks=options.locks,
        rationale=options.rationale,
        danger=options.danger,
        background=options.background,
        tries_nothing=tries_nothing,
        is_async=inspect.iscoroutinefunction(function),
        context_parameter=_context_parameter(hints),
        bind=binder(binary, added) if binary else None,
        checked=True,
    )
    return offering_tables(operation)


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    if not inspect.isroutine(function):
        raise AdapterError("only a function or a method can be an operation")
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise AdapterError(
            f"the type hint '{error.name}' cannot be found: define it in the module, not inside a function"
        ) from None


def _context_parameter(hints: Mapping[str, Any]) -> str | None:
    return next((name for name, hint in hints.items() if hint is Context and name != "return"), None)


def _arguments(
    function: Callable[..., Any], hints: Mapping[str, Any], descriptions: Mapping[str, str]
) -> Iterator[_Argument]:
    for name, argument in inspect.signature(function).parameters.items():
        annotation = hints.get(name)
        if annotation is Context:
            continue
        if argument.kind in _WITHOUT_A_NAME:
            raise AdapterError(f"parameter '{name}' cannot be given by name; write each parameter out")
        if name not in hints:
            raise AdapterError(f"parameter '{name}' has no data type: give it a type hint (Operations 5.2)")
        try:
            hint = hint_for(annotation)
        except AdapterError as error:
            raise AdapterError(f"parameter '{name}': {error}") from None
        yield _argument(name, argument, annotation, hint, descriptions.get(name, ""))


def _argument(name: str, argument: inspect.Parameter, annotation: Any, hint: Hint, described: str) -> _Argument:
    required = argument.default is inspect.Parameter.empty
    schema = dict(hint.schema)
    if described and "description" not in schema:
        schema["description"] = described
    if not required:
        schema |= _default(argument.default)
    parameter = Parameter(
        name,
        schema,
        required=required,
        default=None if required else argument.default,
        convert=hint.convert,
        deprecated=_deprecation(annotation) if "deprecated" in schema else None,
    )
    return _Argument(parameter, hint)


def _default(value: object) -> Schema:
    """The default as introspection can show it; one that has no JSON form is simply not shown."""
    try:
        return {"default": to_jsonable_python(value, bytes_mode="base64", by_alias=True)}
    except PydanticSerializationError:
        return {}


def _deprecation(annotation: Any) -> Deprecated | None:
    """What a ``Param`` says of it, on the type itself or on one of a union."""
    said = (item.deprecation if isinstance(item, Param) else _deprecation(item) for item in get_args(annotation))
    return next((deprecation for deprecation in said if deprecation), None)


def _definitions(hints: Iterable[Hint], returns: Hint) -> dict[str, Schema]:
    """All named schemas of an operation. What a parameter demands goes before what an answer promises."""
    demanded: dict[str, Schema] = {}
    for hint in hints:
        for name, schema in hint.definitions.items():
            if demanded.setdefault(name, schema) != schema:
                raise AdapterError(f"two different types of its parameters are named '{name}': rename one")
    return {**returns.definitions, **demanded}


def _without_identifiers(definitions: dict[str, Schema], parameters: Iterable[Parameter]) -> dict[str, Schema]:
    """The definitions with the identifiers taken out of an UPDATE's ``input``: they stand beside it (Spec 4.5.3)."""
    names = {parameter.name for parameter in parameters if parameter.required}
    schema = next((parameter.schema for parameter in parameters if parameter.name == INPUT), {})
    target = str(schema.get("$ref", "")).rpartition("/")[2]
    properties = definitions.get(target, {}).get("properties", {})
    kept = {name: child for name, child in properties.items() if name not in names}
    if len(kept) == len(properties):
        return definitions
    required = [name for name in definitions[target].get("required", ()) if name in kept]
    return {**definitions, target: {**definitions[target], "properties": kept, "required": required}}
