"""Binary values and the metadata that travels beside them (Spec 4.7.4)."""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from headgate.adapter.parameters import Parameter
from headgate.adapter.text_formats import BASE64

__all__ = ["DEFAULT_MIME_TYPE", "Binary", "binder", "companions", "encoding_name", "mime_type_name"]

DEFAULT_MIME_TYPE: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Binary:
    """Bytes with their media type. A parameter or an answer of this type keeps both."""

    data: bytes
    mime_type: str = DEFAULT_MIME_TYPE

    @classmethod
    def from_base64(cls, text: str) -> "Binary":
        """The bytes that a base64 text stands for."""
        return cls(base64.b64decode(text))


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
    added = []
    for parameter in declared:
        if parameter.schema.get("format") != BASE64:
            continue
        encoding: dict[str, object] = {"type": "string", "enum": [BASE64], "default": BASE64}
        encoding["description"] = f"How '{parameter.name}' is encoded."
        mime_type = {
            "type": "string",
            "description": f"The media type of '{parameter.name}', such as \"image/png\".",
        }
        added += [
            Parameter(encoding_name(parameter.name), encoding, required=False, default=BASE64),
            Parameter(mime_type_name(parameter.name), mime_type, required=False, default=None),
        ]
    return tuple(parameter for parameter in added if parameter.name not in names)


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
