"""Introspection in short, for whoever pays by the word: a line an operation, such as ``get_book(isbn: string)``."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Parameter, Schema
from headgate.adapter.schemas import REF, dereference, return_name, type_name
from headgate.adapter.types import TypeDef
from headgate.protocol.names import singular

__all__ = ["Shortened", "call_of", "hint_of", "name_of", "type_in_short"]

_MOST_CHOICES: Final = 20
_DEEPEST: Final = 2
_SENTENCE: Final = re.compile(r"(?<=[^.\s]{2}[.;])\s")
_WORD: Final = re.compile(r"[^\W_]+")
_TELL_NOTHING: Final = frozenset(
    ["a", "an", "the", "of", "its", "this", "that", "which", "is", "s", "meant", "to", "for", "in", "name", "one"]
)
_PLAIN_ANSWERS: Final = frozenset({"object", "any"})


def call_of(operation: Operation, parameters: Iterable[Parameter]) -> str:
    """How an operation is called, with the type of each parameter; those with a question mark may be left out."""
    known = operation.definitions
    shown = (
        f"{one.name}{'' if one.required else '?'}: {_type(one.schema, known)}{_default(one)}" for one in parameters
    )
    answer = return_name(operation.answer, known)
    return f"{operation.name}({', '.join(shown)})" + ("" if answer in _PLAIN_ANSWERS else f" -> {answer}")


def name_of(operation: Operation) -> str:
    """The name and what must be given; an ellipsis stands for what may be left out."""
    return _with_required(operation, [one.name for one in operation.parameters if one.required])


def hint_of(operation: Operation) -> str:
    """The same with types, and what it is for."""
    known = operation.definitions
    required = [f"{one.name}: {_type(one.schema, known)}" for one in operation.parameters if one.required]
    return f"{_with_required(operation, required)} # {operation.brief.rstrip('.')}"


def _with_required(operation: Operation, required: list[str]) -> str:
    rest = ["…"] if len(required) < len(operation.parameters) else []
    return f"{operation.name}({', '.join([*required, *rest])})"


@dataclass(frozen=True, slots=True)
class Shortened:
    """The operations of one answer in short. What several of them say of their parameters is said once."""

    _said: set[tuple[str, str]] = field(default_factory=set)

    def operation(self, operation: Operation, parameters: Iterable[Parameter], note: str = "") -> str:
        """How it is called, what it does, and what its parameters mean beyond their names."""
        taken = tuple(parameters)
        about = [operation.short] if operation.short else operation.notes
        words = [] if operation.short else [words for one in taken for words in self._words(one, operation)]
        said = (_sentence(part) for part in (*about, note, *words) if part)
        return f"{call_of(operation, taken)} # {' '.join(said)}"

    def _words(self, parameter: Parameter, operation: Operation) -> Iterable[str]:
        """What a parameter means in a sentence, if that is more than its name says and was not said before."""
        said = str(dereference(parameter.schema, operation.definitions).get("description", ""))
        words = _SENTENCE.split(" ".join(said.split()))[0].rstrip(".;")
        known = set(_words(f"{operation.name} {parameter.name}"))
        if parameter.deprecated:
            words = parameter.deprecated.sentence.rstrip(".")
        if words and (parameter.name, words) not in self._said and not known.issuperset(_words(words)):
            self._said.add((parameter.name, words))
            yield f"{parameter.name}: {words}"


def type_in_short(definition: TypeDef) -> str:
    """A type in a line: its fields, its values or its members."""
    if definition.kind == "object":
        fields = (f"{one['name']}{'' if one['required'] else '?'}: {one['type']}" for one in definition.fields)
        shown = f"{{{', '.join(fields)}}}"
    else:
        shown = " | ".join(definition.values or definition.members) or definition.kind
    return f"{definition.name} = {shown}" + (f" # {definition.description}" if definition.description else "")


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _words(text: str) -> Iterable[str]:
    """The words that can tell something."""
    words = (singular(word) for word in _WORD.findall(text.casefold().replace("_", " ")) if len(word) > 1)
    return (word for word in words if word not in _TELL_NOTHING)


def _default(parameter: Parameter) -> str:
    value = parameter.schema.get("default")
    return "" if value is None or parameter.sensitive else f" = {orjson.dumps(value).decode()}"


def _type(schema: Schema, definitions: Mapping[str, Schema], depth: int = 0) -> str:
    """A type as it is written in a call: the values of an enum, the fields of an object, the form of a text."""
    full = dereference(schema, definitions)
    choices = full.get("enum", [full["const"]] if "const" in full else None)
    if choices is not None and len(choices) <= _MOST_CHOICES:
        return "|".join(value if isinstance(value, str) else orjson.dumps(value).decode() for value in choices)
    for union in ("anyOf", "oneOf"):
        if union in full:
            return " | ".join(dict.fromkeys(_type(branch, definitions, depth) for branch in full[union]))
    if full.get("type") == "array" and full.get("items"):
        return _list(full, definitions, depth)
    if full.get("type") == ["array", "null"] and full.get("items"):
        return f"{_list(full, definitions, depth)} | null"
    if full.get("properties"):
        return _fields(full, definitions, depth) if depth < _DEEPEST else _name(schema)
    form = full.get("format")
    if form:
        return f"{form} | null" if "null" in full.get("type", ()) else str(form)
    return type_name(full, definitions)


def _list(schema: Schema, definitions: Mapping[str, Schema], depth: int) -> str:
    inner = _type(schema["items"], definitions, depth)
    return f"({inner})[]" if "|" in inner else f"{inner}[]"


def _name(schema: Schema) -> str:
    return str(schema.get("$ref", "object")).removeprefix(REF)


def _fields(schema: Mapping[str, Any], definitions: Mapping[str, Schema], depth: int) -> str:
    """The fields of an object that may be given."""
    required = schema.get("required", ())
    shown = (
        f"{name}{'' if name in required else '?'}: {_type(child, definitions, depth + 1)}"
        for name, child in schema["properties"].items()
        if child.get("not") != {}
    )
    return f"{{{', '.join(shown)}}}"
