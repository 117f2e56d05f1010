"""Adapter files for tests, made of values."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import ANONYMOUS, Context, Session
from headgate.protocol.tables import FORMAT
from headgate.sources.files.building import adapter_from, connection_for
from headgate.sources.files.mistakes import AdapterFileError, Mistake
from headgate.sources.files.plugins.interfaces import Opener, Surroundings
from headgate.sources.files.reading import adapter_file_from
from headgate.sources.files.values import CONTEXT, AdapterFile

GET_ITEM: dict[str, Any] = {
    "name": "get_item",
    "maps_to": "GET /items/{id}",
    "description": "Get an item",
    "params": {"id": {"type": "string", "required": True, "description": "Which item"}},
}

HEAD: dict[str, Any] = {
    "name": "items",
    "type": "adapter",
    "version": "1.0.0",
    "description": "Items of a shop",
    "target": {
        "base_url": "https://api.example.com/v1",
        "transport": "http",
        "protocol": "rest",
        "serialization": "json",
    },
    "operations": {"read": [GET_ITEM]},
}


def head(**changes: Any) -> dict[str, Any]:
    """The head of a small file with some of its fields replaced; None takes one out."""
    made = {**copy.deepcopy(HEAD), **changes}
    return {name: value for name, value in made.items() if value is not None}


def changed(steps: str, value: Any, start: Mapping[str, Any] = HEAD) -> dict[str, Any]:
    """A head with one value replaced, by its path with dots."""
    made = copy.deepcopy(dict(start))
    *way, last = [int(step) if step.isdigit() else step for step in steps.split(".")]
    here: Any = made
    for step in way:
        here = here[step]
    here[last] = value
    return made


def reading(operation: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """A head with one READ operation."""
    return head(operations={"read": [operation]}, **changes)


def text_of(values: Mapping[str, Any], body: str = "# Items\n\nAbout items.\n") -> str:
    """A head as the text of a file."""
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n{body}"


def file_of(values: Mapping[str, Any], body: str = "") -> AdapterFile:
    return adapter_file_from(text_of(values, body), "items-adapter.md")


def mistakes_in(values: Mapping[str, Any], body: str = "") -> tuple[Mistake, ...]:
    """All that is wrong in a file."""
    with pytest.raises(AdapterFileError) as caught:
        file_of(values, body)
    return caught.value.mistakes


def mistakes_in_text(text: str) -> tuple[Mistake, ...]:
    with pytest.raises(AdapterFileError) as caught:
        adapter_file_from(text, "items-adapter.md")
    return caught.value.mistakes


def adapter_of(values: Mapping[str, Any], folder: Path = Path(), opener: Opener | None = None) -> Adapter:
    """The adapter of a head, ready to be called."""
    file = adapter_file_from(text_of(values), "items-adapter.md", folder)
    connection = connection_for(file, Surroundings(name=file.name, folder=folder, opener=opener))
    adapter = adapter_from(file, connection)
    adapter.on_close(connection.close)
    return adapter


def context_of(name: str) -> Context:
    return Context(name, "request", ANONYMOUS, Session())


async def called(adapter: Adapter, name: str, context: Context | None = None, **params: Any) -> Any:
    """What an operation answers to parameters that it allows."""
    operation = adapter.operations[name]
    assert operation.validator.is_valid(params), [error.message for error in operation.validator.iter_errors(params)]
    values = {**operation.defaults, **params}
    if operation.tabular:
        del values[FORMAT]  # the engine's own
    return await operation.function(**values, **{CONTEXT: context or context_of(name)})
