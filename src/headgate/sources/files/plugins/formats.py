"""The serializations that are there beside XML: json, form, and none where data is never made bytes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

import orjson

from headgate.protocol.errors import AqlError
from headgate.sources.files.values import Target
from headgate.sources.http.decoding import data_of, media_type_of, text_of
from headgate.sources.http.messages import Answer

__all__ = ["FORM", "JSON", "NOTHING", "Form", "Json", "Nothing", "plain_text"]

_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class Json:
    """Bodies and answers in JSON; an answer that says to be something else is read as that."""

    name: str = "json"
    description: str = "JSON"
    keys: tuple[str, ...] = ()
    content_type: str = "application/json"

    def serialize(self, data: object, target: Target) -> bytes:
        """The data as JSON."""
        return _json(data)

    def deserialize(self, answer: Answer) -> object:
        """The data of an answer."""
        return data_of(answer)


@dataclass(frozen=True, slots=True)
class Form:
    """Bodies as an HTML form sends them. ``address[city]`` is a field inside another, a list repeats its name."""

    name: str = "form"
    description: str = "Forms, as browsers send them"
    keys: tuple[str, ...] = ()
    content_type: str = _FORM_TYPE

    def serialize(self, data: object, target: Target) -> bytes:
        """The data as a form; what is null is left out."""
        fields = data if isinstance(data, Mapping) else {"value": data}
        return urlencode([pair for name, value in fields.items() for pair in _pairs(str(name), value, 0)]).encode()

    def deserialize(self, answer: Answer) -> object:
        """A form as a mapping, in which a name that stands several times has a list; anything else as what it is."""
        if media_type_of(answer) != _FORM_TYPE:
            return data_of(answer)
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(text_of(answer), keep_blank_values=True):
            found.setdefault(name, []).append(value)
        return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _pairs(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise circular()
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _pairs(f"{name}[{key}]", child, depth + 1)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _pairs(f"{name}[]" if isinstance(child, Mapping) else name, child, depth + 1)
    elif value is not None:
        yield name, plain_text(value)


def plain_text(value: object) -> str:
    """A value as it stands in a query, a form or a header: texts as they are, the rest as JSON writes it."""
    return value if isinstance(value, str) else _json(value).decode()


def _json(data: object) -> bytes:
    try:
        return orjson.dumps(data)
    except TypeError:  # a very large number, which the slower writer can write, or a ring, which none can
        pass
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise circular() from None


def circular() -> AqlError:
    """That data cannot be written since it is nested without end, or nearly so."""
    message = "The value refers to itself, or is nested too deep to be sent"
    return AqlError("SERIALIZATION_CIRCULAR_REF", message, {"path": ""})


@dataclass(frozen=True, slots=True)
class Nothing:
    """For targets in this machine, which take values as they are."""

    name: str = "none"
    description: str = "Values as they are"
    keys: tuple[str, ...] = ()
    content_type: str = ""

    def serialize(self, data: object, target: Target) -> bytes:
        """Nothing: there are no bytes."""
        return b""

    def deserialize(self, answer: Answer) -> object:
        """The data, should there be bytes after all."""
        return data_of(answer)


JSON: Final = Json()
FORM: Final = Form()
NOTHING: Final = Nothing()
