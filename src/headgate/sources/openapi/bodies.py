"""Request bodies: which of its media types is sent, and whether its fields become parameters or stay together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.adapter.text_formats import BASE64
from headgate.sources.openapi.examples import body_example, exemplified
from headgate.sources.openapi.fields import FormField, read_fields
from headgate.sources.openapi.media import Kind, kind_of, preferred
from headgate.sources.openapi.references import References
from headgate.sources.openapi.schemas import Rewritten, Schemas
from headgate.sources.openapi.words import FIELD, plain

__all__ = ["BODY", "CONTENT_TYPE", "Body", "read_body"]

BODY: Final = "body"
CONTENT_TYPE: Final = "content_type"
_DEEPEST: Final = 20
_OCTETS: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How a body is sent. Unless ``whole``, its fields are parameters of their own."""

    kind: Kind
    media: str
    schema: Rewritten
    required: bool
    whole: bool
    free: bool = False
    """Whether it is an object of any fields at all."""
    choices: tuple[str, ...] = ()
    """The media types that the caller may choose among, where that cannot be decided without him."""
    fields: Mapping[str, FormField] = field(default_factory=dict)
    description: str = ""
    exemplified: bool = False
    """Whether the document gives an example of it."""

    def parameter(self) -> Schema:
        """The schema of the one parameter that a whole body is."""
        if self.kind is Kind.BINARY:
            schema: Schema = {"type": "string", "format": BASE64}
        else:
            schema = {"type": "string"} if self.kind is Kind.TEXT else self.schema.schema
        words = self.description or schema.get("description") or f"The body of the request, as {self.media}."
        return {**schema, "description": words}

    def choice(self) -> Schema:
        """The schema of the parameter that chooses the media type."""
        words = "The media type of 'body'."
        if any("*" in media for media in self.choices):
            pattern = r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"
            return {"type": "string", "pattern": pattern, "description": f"{words} Such as {', '.join(self.choices)}."}
        return {"type": "string", "enum": list(self.choices), "description": words}


def read_body(given: object, file: str, method: str, references: References, schemas: Schemas) -> Body | None:
    """The body that an operation takes, if it takes one."""
    node, file = references.resolved(given, file)
    content = node.get("content")
    offered = {str(media): one for media, one in content.items()} if isinstance(content, Mapping) else {}
    if not offered:
        return None
    media = preferred(offered, method)
    described: Mapping[str, Any] = offered[media] if isinstance(offered[media], Mapping) else {}
    kind = Kind.BINARY if "*" in media and _is_bytes(described, references, file) else kind_of(media)
    made = schemas.rewritten(described.get("schema", {}), file, "request")
    body = Body(
        kind=kind,
        media="application/json" if kind is Kind.JSON and "*" in media else media,
        schema=made,
        required=node.get("required") is True,
        whole=True,
        choices=_choices(kind, media, offered),
        description=plain(node.get("description"), FIELD),
    )
    read = _by_kind(body, described, _Reading(references, schemas, file))
    example = body_example(described, references, file)
    if example is None:
        return read
    return replace(read, schema=exemplified(read.schema, example, schemas), exemplified=True)


def _is_bytes(described: Mapping[str, Any], references: References, file: str) -> bool:
    schema, _ = references.resolved(described.get("schema"), file)
    return str(schema.get("format")) == "binary"


@dataclass(frozen=True)
class _Reading:
    references: References
    schemas: Schemas
    file: str


def _choices(kind: Kind, media: str, offered: Mapping[str, object]) -> tuple[str, ...]:
    """The types to choose among: only bytes and texts say nothing themselves of what they are."""
    if kind not in (Kind.BINARY, Kind.TEXT):
        return ()
    same = tuple(one for one in offered if kind_of(one) is kind)
    return same if len(same) > 1 or "*" in media else ()


def _by_kind(body: Body, described: Mapping[str, Any], reading: _Reading) -> Body:
    if body.kind is Kind.JSON:
        node, _ = reading.references.resolved(described.get("schema", {}), reading.file)
        shape = _Shape(reading.references, reading.file)
        is_object = shape.is_object(described.get("schema", {}), reading.file)
        has_fields = is_object and shape.has_fields(described.get("schema", {}), reading.file)
        return replace(
            body, whole=not has_fields, free=is_object and not has_fields and node.get("nullable") is not True
        )
    if body.kind in (Kind.FORM, Kind.MULTIPART):
        schema, file = reading.references.resolved(described.get("schema", {}), reading.file)
        flat = _flattened(schema, file, reading.references)
        fields = dict(read_fields(flat, described.get("encoding"), body.kind, reading.references))
        made = _form_schema(body.schema, fields, reading.schemas)
        return replace(body, whole=False, schema=made, fields=fields)
    if body.kind is Kind.BINARY and not body.choices and "*" in body.media:
        return replace(body, media=_OCTETS)
    return body


@dataclass(frozen=True)
class _Shape:
    """What a schema is, seen through its references and unions."""

    references: References
    file: str

    def is_object(self, given: object, file: str, depth: int = 0) -> bool:
        """Whether every value is an object, so that its fields can be parameters."""
        node, file = self.references.resolved(given, file)
        if depth > _DEEPEST or node.get("nullable") is True:
            return False
        declared = node.get("type")
        if declared is not None:
            return declared in ("object", ["object"])
        if isinstance(node.get("properties"), Mapping):
            return True
        branches = [one for key in ("oneOf", "anyOf") for one in _listed(node.get(key))]
        parts = _listed(node.get("allOf"))
        if branches:
            return all(self.is_object(one, file, depth + 1) for one in branches)
        return any(self.is_object(one, file, depth + 1) for one in parts)

    def has_fields(self, given: object, file: str, depth: int = 0) -> bool:
        """Whether it names any of its fields."""
        node, file = self.references.resolved(given, file)
        if depth > _DEEPEST:
            return False
        if isinstance(node.get("properties"), Mapping) and node["properties"]:
            return True
        inner = [one for key in ("oneOf", "anyOf", "allOf") for one in _listed(node.get(key))]
        return any(self.has_fields(one, file, depth + 1) for one in inner)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _flattened(
    node: Mapping[str, Any], file: str, references: References, depth: int = 0
) -> dict[str, tuple[object, str]]:
    """The fields of an object and of all its parts, each with the file in which it stands."""
    found: dict[str, tuple[object, str]] = {}
    if depth > _DEEPEST:
        return found
    for key in ("allOf", "oneOf", "anyOf"):
        for one in _listed(node.get(key)):
            inner, where = references.resolved(one, file)
            found |= _flattened(inner, where, references, depth + 1)
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        found |= {str(name): (child, file) for name, child in properties.items()}
    return found


def _form_schema(made: Rewritten, fields: Mapping[str, FormField], schemas: Schemas) -> Rewritten:
    """The schema of a form, with its files as base64 and what goes with them."""
    changed = {name: one for name, one in fields.items() if one.is_file}
    companions = dict(_companions(fields))
    if not changed and made.schema.get("type") in ("object", None):
        return made
    definitions = schemas.definitions(made.names)
    root = _merged(made.schema, definitions)
    properties = {name: _as_file(child) if name in changed else child for name, child in root["properties"].items()}
    return Rewritten({**root, "properties": {**properties, **companions}}, made.names)


def _merged(schema: Schema, definitions: Mapping[str, Schema], depth: int = 0) -> Schema:
    """An object with the fields of all its parts in one place."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    here = {**definitions.get(name, {}), **schema} if name else schema
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for part in here.get("allOf", ()) if depth < _DEEPEST else ():
        inner = _merged(part, definitions, depth + 1)
        properties |= inner["properties"]
        required += inner["required"]
    for key in ("oneOf", "anyOf"):
        for part in here.get(key, ()) if depth < _DEEPEST else ():
            properties = {**_merged(part, definitions, depth + 1)["properties"], **properties}
    properties |= here.get("properties", {})
    listed = here.get("required")
    required += listed if isinstance(listed, list) else []
    return {
        "type": "object",
        "properties": properties,
        "required": list(dict.fromkeys(required)),
        **({"additionalProperties": here["additionalProperties"]} if "additionalProperties" in here else {}),
    }


def _as_file(schema: Schema) -> Schema:
    words = str(schema.get("description", ""))
    one: Schema = {"type": "string", "format": BASE64}
    made: Schema = {"type": "array", "items": one} if schema.get("type") == "array" else one
    return {**made, **({"description": words} if words else {})}


def _companions(fields: Mapping[str, FormField]) -> Iterator[tuple[str, Schema]]:
    """What a file is besides its bytes: its name and its media type."""
    for name, one in fields.items():
        if one.is_file:
            yield one.file_name_key, {"type": "string", "description": f"The name of the file in '{name}'."}
            yield (
                one.mime_type_key,
                {"type": "string", "description": f"The media type of '{name}', such as image/png."},
            )
