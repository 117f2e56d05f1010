"""Binary values and the metadata that travels beside them (Spec 4.7.4)."""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_core import CoreSchema, core_schema

from headgate.adapter.parameters import Parameter
from headgate.adapter.text_formats import BASE64

__all__ = ["BINARY_ANSWER", "DEFAULT_MIME_TYPE", "Binary", "binder", "companions", "encoding_name", "mime_type_name"]

DEFAULT_MIME_TYPE: Final = "application/octet-stream"

BINARY_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("content", "encoding", "mime_type")},
}
"""The form of an answer that is nothing but binary: its metadata stands inside it."""


@dataclass(frozen=True, slots=True)
class Binary:
    """Bytes with their media type. A parameter or an answer of this type keeps both."""

    data: bytes
    mime_type: str = DEFAULT_MIME_TYPE

    @classmethod
    def from_base64(cls, text: str) -> "Binary":
        """The bytes that a base64 text stands for."""
        return cls(base64.b64decode(text))

    def wire(self) -> dict[str, object]:
        """The value alone, with its metadata inside."""
        return {
            "content": base64.b64encode(self.data).decode(),
            "encoding": BASE64,
            "mime_type": self.mime_type,
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Be a field of pydantic models, dataclasses and unions too."""
        return core_schema.no_info_plain_validator_function(
            _read, serialization=core_schema.plain_serializer_function_ser_schema(cls.wire)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, source: Any, handler: Any) -> dict[str, Any]:
        """The form in which requests carry it."""
        return {"type": "string", "format": BASE64}


def _read(value: object) -> Binary:
    """A Binary out of itself, of the bytes that a request carried, or of its own written form."""
    match value:
        case Binary():
            return value
        case bytes():
            return Binary(value)
        case {"content": str(content), "mime_type": str(mime_type)}:
            return Binary(base64.b64decode(content), mime_type)
        case _:
            raise ValueError


def encoding_name(name: str) -> str:
    """Where the encoding of a binary value stands: ``file_content`` has ``file_encoding``."""
    return f"{name.removesuffix('_content')}_encoding"


def mime_type_name(name: str) -> str:
    """Where the media type of a binary value stands: ``file_content`` has ``file_mime_type``."""
    return f"{name.removesuffix('_content')}_mime_type"


def companions(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The metadata parameters that go with the binary ones, less those that the author declared."""
    declared = tuple(parameters)
    names = {parameter.name for parameter in declared}
    added: dict[str, Parameter] = {}
    for parameter in declared:
        if parameter.schema.get("format") != BASE64:
            continue
        encoding: dict[str, object] = {"type": "string", "enum": [BASE64], "default": BASE64}
        encoding["description"] = f"How '{parameter.name}' is encoded."
        mime_type = {
            "type": "string",
            "description": f"The media type of '{parameter.name}', such as \"image/png\".",
        }
        for companion in (
            Parameter(encoding_name(parameter.name), encoding, required=False, default=BASE64),
            Parameter(mime_type_name(parameter.name), mime_type, required=False, default=None),
        ):
            added.setdefault(companion.name, companion)
    return tuple(companion for name, companion in added.items() if name not in names)


def binder(binary: Iterable[str], added: Iterable[Parameter]) -> Callable[[dict[str, object]], Mapping[str, object]]:
    """What takes the metadata out of the parameters and gives each Binary its media type."""
    names, extra = tuple(binary), tuple(parameter.name for parameter in added)

    def bind(params: dict[str, object]) -> Mapping[str, object]:
        bound = {name: value for name, value in params.items() if name not in extra}
        for name in names:
            value, mime_type = bound.get(name), params.get(mime_type_name(name))
            if isinstance(value, Binary) and isinstance(mime_type, str):
                bound[name] = replace(value, mime_type=mime_type)
        return bound

    return bind
