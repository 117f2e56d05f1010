"""The fields of a form: how each is written, by its ``encoding`` or as the specification says without one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.sources.openapi.media import Kind
from headgate.sources.openapi.references import References
from headgate.sources.openapi.styles import STYLES, Style

__all__ = ["FormField", "read_fields"]

_STYLING: Final = ("style", "explode", "allowReserved")
_OCTETS: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field. It is written by a style, or else as a document of its own media type."""

    name: str
    style: Style | None = None
    media: str = ""
    """The media type that is declared; else it follows from the value."""
    is_file: bool = False
    file_name_key: str = ""
    mime_type_key: str = ""


def read_fields(
    found: Mapping[str, tuple[object, str]], encoding: object, kind: Kind, references: References
) -> Iterator[tuple[str, FormField]]:
    """The fields of a form by name."""
    declared = encoding if isinstance(encoding, Mapping) else {}
    for name, (schema, file) in found.items():
        said = declared.get(name)
        node, _ = references.resolved(schema, file)
        is_file = kind is Kind.MULTIPART and _is_file(node, file, references)
        yield name, _field(name, said if isinstance(said, Mapping) else {}, kind, is_file=is_file, taken=found)


def _field(name: str, said: Mapping[str, Any], kind: Kind, *, is_file: bool, taken: Mapping[str, object]) -> FormField:
    media = str(said.get("contentType") or "").partition(",")[0].strip()
    is_styled = kind is Kind.FORM and any(key in said for key in _STYLING)
    return FormField(
        name=name,
        style=_style(said) if is_styled else None,
        media="" if "*" in media else media,
        is_file=is_file,
        file_name_key=_free(f"{name}_filename", taken) if is_file else "",
        mime_type_key=_free(f"{name}_mime_type", taken) if is_file else "",
    )


def _style(said: Mapping[str, Any]) -> Style:
    name = said.get("style") if said.get("style") in STYLES["query"] else "form"
    explode = said.get("explode")
    return Style(
        name=str(name),
        explode=explode if isinstance(explode, bool) else name in ("form", "deepObject"),
        reserved=said.get("allowReserved") is True,
    )


def _is_file(node: Mapping[str, Any], file: str, references: References) -> bool:
    """Whether a field holds bytes, or several do."""
    if node.get("type") in ("array", ["array"]):
        items, _ = references.resolved(node.get("items"), file)
        return _is_bytes(items)
    return _is_bytes(node)


def _is_bytes(node: Mapping[str, Any]) -> bool:
    if node.get("format") == "binary":
        return True
    media = str(node.get("contentMediaType", ""))
    return bool(media) and not media.startswith("text/") and "contentEncoding" not in node


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    name = wanted
    while name in taken:
        name = f"{name}_2"
    return name
