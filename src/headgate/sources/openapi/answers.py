"""What an operation answers: the schema of its success, as far as it helps to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.adapter.binary import BINARY_ANSWER
from headgate.adapter.parameters import Schema
from headgate.sources.openapi.media import Kind, kind_of
from headgate.sources.openapi.references import Found, References
from headgate.sources.openapi.schemas import Schemas, usable
from headgate.sources.openapi.words import SUMMARY, plain

__all__ = ["Success", "read_success"]

_MOST_DEFINITIONS: Final = 12
"""How many named schemas are told of one answer: a large document has hundreds behind each."""
_JSON: Final = "application/json"


@dataclass(frozen=True)
class Success:
    """The answer of a request that went well."""

    description: str = ""
    schema: Found | None = None
    """What the document says of its data, if that is JSON."""
    media: tuple[str, ...] = ()
    has_links: bool = False
    returns: Schema = field(default_factory=dict)
    definitions: Mapping[str, Schema] = field(default_factory=dict)

    @property
    def accept(self) -> str:
        """What to ask for: JSON, if there is any."""
        json = [one for one in self.media if kind_of(one) is Kind.JSON and "*" not in one]
        if _JSON in json or (not json and not self.media):
            return _JSON
        return ", ".join(json or self.media)


def read_success(responses: object, file: str, references: References, schemas: Schemas) -> Success:
    """The first success that a document describes."""
    listed = responses if isinstance(responses, Mapping) else {}
    codes = sorted(str(code) for code in listed if str(code).upper().startswith("2"))
    code = next(iter(codes), "default" if "default" in listed else None)
    if code is None:
        return Success()
    node, file = references.resolved(listed.get(code, listed.get(_number(code))), file)
    content = node.get("content")
    offered = {str(media): one for media, one in content.items()} if isinstance(content, Mapping) else {}
    headers = node.get("headers")
    has_links = isinstance(headers, Mapping) and any(str(name).lower() == "link" for name in headers)
    found = _data(offered, file)
    returns, definitions = _told(found, schemas) if found else _other(offered)
    return Success(plain(node.get("description"), SUMMARY), found, tuple(offered), has_links, returns, definitions)


def _number(code: str) -> object:
    return int(code) if code.isdigit() else code


def _data(offered: Mapping[str, Any], file: str) -> Found | None:
    for media, described in offered.items():
        if kind_of(media) is Kind.JSON and isinstance(described, Mapping) and "schema" in described:
            return Found(described["schema"], file)
    return None


def _told(found: Found, schemas: Schemas) -> tuple[Schema, Mapping[str, Schema]]:
    made = schemas.rewritten(found.node, found.file, "response")
    return usable(made), schemas.usable_definitions(made.names, _MOST_DEFINITIONS)


def _other(offered: Mapping[str, Any]) -> tuple[Schema, Mapping[str, Schema]]:
    kinds = {kind_of(media) for media in offered}
    if kinds == {Kind.BINARY}:
        return dict(BINARY_ANSWER), {}
    return ({"type": "string"} if kinds == {Kind.TEXT} else {}), {}
