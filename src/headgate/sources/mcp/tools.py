"""From a tool as its server lists it to an operation."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from headgate.adapter.context import Context
from headgate.adapter.functions import TRYING
from headgate.adapter.operations import Operation
from headgate.adapter.origins import Origin
from headgate.adapter.parameters import Schema
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.sources.classification import Classified, Facts, Hints, classified
from headgate.sources.curation import Choice, curated
from headgate.sources.mcp.captures import json_of
from headgate.sources.naming import snake
from headgate.sources.shapes import Shaped, has_changes, normalized, shaped
from headgate.sources.words import clean, first_sentence

__all__ = ["CONTEXT", "CallTool", "operation_of"]

CallTool: TypeAlias = Callable[[str, Mapping[str, object], Context], Awaitable[object]]
"""Calls a tool by its own name, with its own parameters."""

CONTEXT: Final = "·context"
"""Where the handler finds what it may know of a request: no parameter can have this name."""

_LONGEST_DESCRIPTION: Final = 4000
_LARGEST: Final = 1_000_000
_POINTER: Final = re.compile(
    r"(?:^|_)(?:id|ids|uuid|guid|key|path|file|uri|url|slug|owner|repo|repository|number|sha|ref|branch|tag|index)$"
)
"""How parameters are called that say which resource is meant."""
_NAME: Final = re.compile(r"(?:^|_)name$")
"""This may be one of them, or what is changed."""


def operation_of(tool: Mapping[str, Any], name: str, source: str, call: CallTool, choice: Choice | None) -> Operation:
    """The operation that a tool becomes. An AdapterError says why it cannot be one."""
    own = str(tool["name"])
    if len(json_of(tool)) > _LARGEST:
        raise AdapterError(f"the tool is described in more than {_LARGEST // 1_000_000} MB")
    schema = normalized(tool.get("inputSchema"))
    told = _classified(tool, schema.schema, choice)
    category = Category(told.category.value)
    beside = partial(_points, _required(tool.get("inputSchema")))
    if category is Category.UPDATE and not has_changes(schema, beside):
        told, category = _as_action(told), Category.EXECUTE  # nothing to put into 'input'
    shape = shaped(schema, update=beside if category is Category.UPDATE else None)
    description = clean(tool.get("description"), _LONGEST_DESCRIPTION)
    returns, definitions = _returns(tool.get("outputSchema"), shape)
    operation = Operation(
        name=name,
        category=category,
        function=_handler(own, shape, call),
        parameters=(*shape.parameters, *(() if category.read_only else (TRYING,))),
        summary=first_sentence(description) or clean(tool.get("title"), 200) or f"The tool '{clean(own, 100)}'",
        description=_described(description, shape),
        returns=returns,
        returns_description="What the tool answers",
        definitions=definitions,
        rules=shape.rules,
        rationale=f"it is the tool '{clean(own, 100)}' of '{source}'",
        danger=_danger(told),
        tries_nothing=not category.read_only,
        context_parameter=CONTEXT,
        asks_user=True,
        origin=Origin(
            own_name=own,
            maps_to=f"TOOL {own}",
            category=told.category,
            danger=told.danger,
            needs_review=told.needs_review,
        ),
        checked=True,
    )
    return curated(operation, choice) if choice is not None else operation


def _handler(own: str, shape: Shaped, call: CallTool) -> Callable[..., Awaitable[object]]:
    async def handler(**values: Any) -> object:
        context = values.pop(CONTEXT)
        return await call(own, shape.back(values), context)

    return handler


def _classified(tool: Mapping[str, Any], schema: Schema, choice: Choice | None) -> Classified:
    """What its server, its words and its schema tell; an operator's own choice goes before all of it."""
    said = tool.get("annotations")
    hints = said if isinstance(said, Mapping) else {}
    told = classified(
        Facts(
            name=str(tool["name"]),
            title=clean(tool.get("title") or hints.get("title"), 200),
            description=clean(tool.get("description"), _LONGEST_DESCRIPTION),
            schema=schema,
            hints=Hints(
                read_only=_flag(hints, "readOnlyHint"),
                destructive=_flag(hints, "destructiveHint"),
                idempotent=_flag(hints, "idempotentHint"),
                open_world=_flag(hints, "openWorldHint"),
            ),
        )
    )
    return told if choice is None or choice.category is None else told.chosen(choice.category)


def _flag(hints: Mapping[str, Any], name: str) -> bool | None:
    value = hints.get(name)
    return value if isinstance(value, bool) else None


def _danger(told: Classified) -> Danger:
    level = DangerLevel(told.danger.value)
    reasons = () if level is DangerLevel.SAFE else tuple(told.danger.evidence[:3])
    return Danger(level, reasons)


def _as_action(told: Classified) -> Classified:
    """An UPDATE that has nothing to change but what it names is something that is done to it."""
    evidence = (*told.category.evidence, "all its parameters only say what is meant")
    return replace(told, category=replace(told.category, value=Category.EXECUTE.value, evidence=evidence))


def _required(schema: object) -> frozenset[str]:
    names = schema.get("required") if isinstance(schema, Mapping) else None
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def _points(required: frozenset[str], own: str) -> bool:
    """Whether a parameter says which resource is meant, rather than what becomes of it.

    A name does where nothing else can; beside an id it is mostly a new one.
    """
    if own not in required:
        return False
    if _POINTER.search(snake(own)):
        return True
    return _NAME.search(snake(own)) is not None and not any(_POINTER.search(snake(other)) for other in required)


def _described(description: str, shape: Shaped) -> str:
    notes = [f"Note: {note}." for note in shape.notes[:10]]
    return "\n".join(filter(None, [description, *notes]))


def _returns(schema: object, shape: Shaped) -> tuple[Schema, Mapping[str, Schema]]:
    """The schema of the answer, with the named ones that it needs beside those of the parameters."""
    if not isinstance(schema, Mapping):
        return {}, shape.definitions
    made = normalized(schema)
    if any(name in shape.definitions for name in made.definitions):
        return {"type": "object"}, shape.definitions  # two types of one name cannot both be shown
    return made.schema, {**made.definitions, **shape.definitions}
