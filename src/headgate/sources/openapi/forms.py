"""Forms as bytes: ``application/x-www-form-urlencoded`` and ``multipart``."""

import base64
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus

from headgate.protocol.errors import Invalid
from headgate.sources.openapi.escaping import json_text, text_of
from headgate.sources.openapi.fields import FormField
from headgate.sources.openapi.styles import as_query

__all__ = ["form", "multipart"]

_OCTETS: Final = "application/octet-stream"


class _Part(NamedTuple):
    name: str
    content: bytes
    media: str = ""
    file_name: str | None = None


def form(values: Mapping[str, Any], fields: Mapping[str, FormField]) -> bytes:
    """The fields as they stand in a form: by their style, or items one by one, and objects as JSON."""
    return "&".join(f"{key}={text}" for key, text in _pairs(values, fields)).encode()


def _pairs(values: Mapping[str, Any], fields: Mapping[str, FormField]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        field = fields.get(name)
        if field is not None and field.style is not None:
            yield from as_query(name, field.style, value)
            continue
        for item in value if isinstance(value, list) and not _is_document(field) else [value]:
            if item is not None:
                yield _escaped(name, name), _escaped(json_text(item) if _is_document(field) else text_of(item), name)


def _is_document(field: FormField | None) -> bool:
    return field is not None and "json" in field.media


def _escaped(text: str, name: str) -> str:
    try:
        return quote_plus(text, safe="*")
    except UnicodeEncodeError:
        raise Invalid(name, "it holds characters that no UTF-8 can carry") from None


def multipart(values: Mapping[str, Any], fields: Mapping[str, FormField], media: str) -> tuple[bytes, str]:
    """The fields as parts, one for each item of a list, and the content type with what is between them."""
    boundary = f"headgate-{secrets.token_hex(16)}"
    lines = [_written(part, boundary) for part in _parts(values, fields)]
    content = b"".join([*lines, f"--{boundary}--\r\n".encode()])
    return content, f"{media.partition(';')[0].strip()}; boundary={boundary}"


def _parts(values: Mapping[str, Any], fields: Mapping[str, FormField]) -> Iterator[_Part]:
    beside = {key for field in fields.values() for key in (field.file_name_key, field.mime_type_key) if key}
    for name, value in values.items():
        if name in beside:
            continue
        field = fields.get(name, FormField(name=name))
        for item in value if isinstance(value, list) else [value]:
            yield _file(field, item, values) if field.is_file else _field(field, item)


def _file(field: FormField, item: Any, values: Mapping[str, Any]) -> _Part:
    media = values.get(field.mime_type_key) or field.media or _OCTETS
    file_name = values.get(field.file_name_key) or field.name
    return _Part(field.name, base64.b64decode(item), _one_line(str(media), field), str(file_name))


def _field(field: FormField, item: Any) -> _Part:
    if isinstance(item, dict | list) or _is_document(field):
        return _Part(field.name, json_text(item).encode(), field.media or "application/json")
    try:
        return _Part(field.name, text_of(item).encode(), field.media)
    except UnicodeEncodeError:
        raise Invalid(field.name, "it holds characters that no UTF-8 can carry") from None


def _one_line(media: str, field: FormField) -> str:
    if not media.isprintable() or not media.isascii() or "/" not in media:
        raise Invalid(field.mime_type_key, "it must be a media type such as 'image/png'")
    return media


def _written(part: _Part, boundary: str) -> bytes:
    about = f'form-data; name="{_quoted(part.name)}"'
    if part.file_name is not None:
        about += f'; filename="{_quoted(part.file_name)}"'
    lines = [f"--{boundary}", f"Content-Disposition: {about}"]
    if part.media:
        lines.append(f"Content-Type: {part.media}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace") + part.content + b"\r\n"


def _quoted(text: str) -> str:
    """A name inside quotes, as browsers write it: nothing in it can end the line or the quotes."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
