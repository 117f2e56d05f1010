"""The ``params`` of an operation: what each is called, what it may be, and what it is in the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import jsonschema_rs

from headgate.adapter.parameters import Deprecated, Parameter, Schema
from headgate.adapter.text_formats import FORMATS
from headgate.protocol.names import REQUEST_FIELDS, is_snake_case
from headgate.sources.files.mistakes import shown
from headgate.sources.files.schemas import DATA_TYPES, read_schema
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import PLACES, Place, Sent
from headgate.sources.naming import snake
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["KEYWORDS", "OWN_KEYS", "SAYS_WHAT", "Given", "default_fits", "read_deprecated", "read_parameters"]

OWN_KEYS: Final = ("required", "schema", "sent_as", "in", "deprecated")
"""What a file says of a parameter beside its schema."""

KEYWORDS: Final = (
    *("type", "description", "default", "enum", "minimum", "maximum", "pattern", "format", "items", "properties"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "additionalProperties", "minProperties", "maxProperties", "propertyNames", "prefixItems", "const"),
    *("anyOf", "oneOf", "allOf", "not", "$ref", "examples", "title", "readOnly", "writeOnly", "x-sensitive"),
    *("patternProperties", "contains", "minContains", "maxContains", "if", "then", "else", "dependentRequired"),
    *("dependentSchemas", "contentEncoding", "contentMediaType", "unevaluatedProperties", "unevaluatedItems"),
)
"""The keywords of JSON Schema that may stand beside those; any others go below ``schema``."""

SAYS_WHAT: Final = ("type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf")
"""Of these keywords a parameter has one, or says all of its schema below ``schema``."""

_LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter as the file has it."""

    parameter: Parameter
    sent: Sent
    spot: Spot


def read_parameters(block: Spot, definitions: Mapping[str, Schema]) -> tuple[Given, ...]:
    """The parameters of an operation. Those with mistakes are noted and left out."""
    taken: dict[str, str] = {}
    found = []
    for own, spot in block.fields(None).items():
        given = _parameter(own, spot, definitions)
        if given is None:
            continue
        name = given.parameter.name
        if name in taken:
            expected, fix = f"one parameter named '{name}'", f"Rename it, and say 'sent_as: {shown(own)[1:-1]}'."
            spot.wrong(expected, fix, found=f"it and {shown(taken[name])}", code="SCHEMA_DUPLICATE_NAME")
            continue
        taken[name] = own
        found.append(given)
    return tuple(found)


def _parameter(own: str, spot: Spot, definitions: Mapping[str, Schema]) -> Given | None:
    name = own if is_snake_case(own) else snake(own)
    if len(name) > _LONGEST_NAME or not own.isprintable():
        fix = "Give it a short name, and its own one as 'sent_as'."
        spot.wrong("a name such as 'page_size'", fix, found=shown(own), code="SCHEMA_INVALID_NAME")
        return None
    if name in REQUEST_FIELDS:
        fix = "Choose another name, and give its own one as 'sent_as'."
        spot.wrong("a name of its own, not a field of every request", fix, found=shown(own), code="SCHEMA_INVALID_NAME")
        return None
    fields = spot.fields((*OWN_KEYS, *KEYWORDS))
    return Given(_made(name, fields, spot, definitions), _sent(own, fields), spot)


def _made(name: str, fields: Mapping[str, Spot], spot: Spot, definitions: Mapping[str, Schema]) -> Parameter:
    """The parameter; one that may be anything where it is wrong, so that no more is told than is wrong."""
    schema = _schema(fields, spot, list(definitions))
    required = fields["required"].flag() if "required" in fields else False
    deprecated = read_deprecated(fields["deprecated"]) if "deprecated" in fields else None
    if schema is None or required is None:
        return Parameter(name, {})
    if deprecated and "schema" not in fields:
        schema["deprecated"] = True
    if "default" in fields and not default_fits(schema, definitions):
        fields["default"].wrong("a default within the bounds of the parameter", "Correct the default, or the type.")
    default = None if required else fields["default"].value if "default" in fields else NOT_GIVEN
    return Parameter(name, schema, required=required, default=default, deprecated=deprecated)


def _sent(own: str, fields: Mapping[str, Spot]) -> Sent:
    name = fields["sent_as"].text() if "sent_as" in fields else None
    place = fields["in"].choice(PLACES) if "in" in fields else None
    known: Place | None = next((one for one in PLACES if one == place), None)
    return Sent(name or own, known)


def _schema(fields: Mapping[str, Spot], spot: Spot, names: Sequence[str]) -> Schema | None:
    """The schema that stands among a parameter's fields, or as a whole below ``schema``."""
    inline = {name: field for name, field in fields.items() if name not in OWN_KEYS}
    if "schema" in fields:
        for field in inline.values():
            field.wrong("nothing beside 'schema'", "Move it below 'schema'.", found="a keyword of its own")
        before = len(spot.notes.mistakes)
        schema = read_schema(fields["schema"], names)
        return schema if len(spot.notes.mistakes) == before else None
    if not spot.value or not isinstance(spot.value, Mapping):
        return None
    if not any(name in inline for name in SAYS_WHAT):
        here = spot.below("type", None)
        fix = f"Add 'type:' with one of {', '.join(DATA_TYPES)}."
        here.wrong("the field 'type'", fix, found="none", code="SCHEMA_MISSING_FIELD")
        return None
    before = len(spot.notes.mistakes)
    whole = Spot({name: field.value for name, field in inline.items()}, spot.steps, spot.notes)
    schema = read_schema(whole, names)
    return schema if len(spot.notes.mistakes) == before else None


def default_fits(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a parameter would take its own default; null stands for nothing, whatever the type."""
    if schema.get("default") is None:
        return True
    whole: dict[str, Any] = {**schema, "$defs": dict(definitions)}
    try:
        validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True, formats=FORMATS)
    except (ValueError, jsonschema_rs.ReferencingError):
        return True  # what is wrong with the schema is said elsewhere
    return validator.is_valid(schema["default"])


def read_deprecated(spot: Spot) -> Deprecated | None:
    """That something will go: yes, in words, or with what to use instead and until when."""
    if isinstance(spot.value, bool):
        return Deprecated() if spot.value else None
    if isinstance(spot.value, str):
        return Deprecated(spot.value)
    fields = spot.fields(("note", "replacement", "removal_date"))
    texts = {name: field.text() for name, field in fields.items()}
    return Deprecated(texts.get("note") or "", texts.get("replacement"), _day(fields.get("removal_date")))


def _day(spot: Spot | None) -> date | None:
    if spot is None or not isinstance(spot.value, str):
        return None
    try:
        return date.fromisoformat(spot.value)
    except ValueError:
        spot.wrong("a date such as '2027-01-31'", "Write year, month and day.")
        return None
