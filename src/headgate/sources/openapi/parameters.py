"""The parameters of an operation outside of its body: in the path, the query, headers and cookies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.sources.openapi.references import References
from headgate.sources.openapi.schemas import Rewritten, Schemas
from headgate.sources.openapi.styles import DEFAULT_STYLES, STYLES, Style
from headgate.sources.openapi.words import FIELD, plain

__all__ = ["Located", "keyed", "read_parameters"]

_NOT_TO_SET: Final = frozenset(
    {
        *("accept", "content-type", "authorization", "cookie", "host", "connection", "content-length", "expect"),
        *("transfer-encoding", "accept-encoding", "upgrade", "te", "trailer", "keep-alive"),
        *("proxy-authorization", "proxy-connection"),
    }
)
"""Headers that a document may list and nobody may choose: the first three by the specification, the others because they
say how a message travels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A parameter: what it is called, where it stands, and how it is written there."""

    name: str
    where: str
    style: Style
    schema: Rewritten
    required: bool
    deprecated: bool = False
    key: str = ""
    """What tells it apart from parameters of the same name elsewhere."""


def read_parameters(references: References, schemas: Schemas, levels: Iterable[tuple[object, str]]) -> list[Located]:
    """The parameters of an operation; those of a later level go before those of the same name and place."""
    found: dict[tuple[str, str], Located] = {}
    for listed, file in levels:
        for given in listed if isinstance(listed, list) else ():
            node, where = references.resolved(given, file)
            made = _located(node, where, schemas)
            if made is not None:
                found[made.name, made.where] = made
    order = tuple(DEFAULT_STYLES)
    return sorted(found.values(), key=lambda one: order.index(one.where))


def _located(node: Mapping[str, Any], file: str, schemas: Schemas) -> Located | None:
    name, where = node.get("name"), node.get("in")
    if not isinstance(name, str) or not name or where not in DEFAULT_STYLES:
        return None
    if where == "header" and name.lower() in _NOT_TO_SET:
        return None
    media, schema = _content(node)
    style = _style(node, str(where), media)
    made = schemas.rewritten(schema, file, "request")
    words = plain(node.get("description"), FIELD)
    full = {
        **made.schema,
        **({"description": words} if words else {}),
        **_example(node, file, made.schema, schemas.references),
    }
    return Located(
        name=name,
        where=str(where),
        style=style,
        schema=Rewritten(_or_empty(full) if style.empty else full, made.names),
        required=where == "path" or node.get("required") is True,
        deprecated=node.get("deprecated") is True,
    )


def _content(node: Mapping[str, Any]) -> tuple[str | None, object]:
    """The media type of a parameter that is a document of its own, and its schema."""
    content = node.get("content")
    if isinstance(content, Mapping) and content:
        media, described = next(iter(content.items()))
        return str(media), described.get("schema") if isinstance(described, Mapping) else {}
    return None, node.get("schema")


def _style(node: Mapping[str, Any], where: str, media: str | None) -> Style:
    declared = node.get("style")
    name = declared if declared in STYLES[where] else DEFAULT_STYLES[where]
    explode = node.get("explode")
    return Style(
        name=str(name),
        explode=explode if isinstance(explode, bool) else name in ("form", "deepObject"),
        reserved=where == "query" and node.get("allowReserved") is True,
        empty=where == "query" and node.get("allowEmptyValue") is True,
        media=media,
    )


def _example(node: Mapping[str, Any], file: str, schema: Schema, references: References) -> Schema:
    """The example that a parameter has beside its schema."""
    if "example" in node:
        return {"examples": [node["example"]]}
    named = node.get("examples")
    found = (references.resolved(one, file).node for one in (named.values() if isinstance(named, Mapping) else ()))
    values = [one["value"] for one in found if "value" in one]
    return {"examples": values[:1]} if values and "examples" not in schema else {}


def _or_empty(schema: Schema) -> Schema:
    said: Schema = {key: schema[key] for key in ("description", "examples", "deprecated") if key in schema}
    return {**said, "anyOf": [schema, {"const": ""}]}


def keyed(parameters: Iterable[Located], taken: Iterable[str] = ()) -> tuple[dict[str, Located], list[str]]:
    """The parameters by a key of their own, and a note for each that has not simply its name."""
    found: dict[str, Located] = {}
    notes: list[str] = []
    used = set(taken)
    for one in parameters:
        key = one.name
        if key in found or key in used:
            key = _free(f"{one.where}_{one.name}", found.keys() | used)
            notes.append(f"'{key}' is '{one.name}' in the {one.where}")
        found[key] = one
    return found, notes


def _free(wanted: str, used: Iterable[str]) -> str:
    taken, name, number = set(used), wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
