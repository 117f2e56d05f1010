"""From a place in a document to an operation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from headgate.adapter.functions import TRYING
from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Deprecated, Parameter, Schema
from headgate.adapter.tabular import offering_tables
from headgate.protocol.categories import Category
from headgate.protocol.danger import DEFAULT_LEVELS, Danger, DangerLevel
from headgate.protocol.names import category_of_verb, verb_of
from headgate.query.keys import cursor_key
from headgate.sources.classifying.values import Classified
from headgate.sources.curation import Choice
from headgate.sources.openapi.answers import Success, read_success
from headgate.sources.openapi.bodies import Body, read_body
from headgate.sources.openapi.calling import Call
from headgate.sources.openapi.connections import Connections
from headgate.sources.openapi.cursors import PositionCursors
from headgate.sources.openapi.deciding import Request, decided
from headgate.sources.openapi.documents import OpenApiDocument
from headgate.sources.openapi.examples import example_of
from headgate.sources.openapi.inputs import Inputs, Shaping, inputs_of
from headgate.sources.openapi.naming import Spot
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.pages import AFTER, CONTEXT, FIRST, Pages, page_schema
from headgate.sources.openapi.paging import Paging, paging_of
from headgate.sources.openapi.parameters import Located, keyed, read_parameters
from headgate.sources.openapi.paths import PathTemplate, path_template
from headgate.sources.openapi.references import References
from headgate.sources.openapi.schemas import Rewritten, Schemas
from headgate.sources.openapi.security import Schemes, Security
from headgate.sources.openapi.servers import base_url_of
from headgate.sources.openapi.styles import Style
from headgate.sources.openapi.words import DESCRIPTION, plain, summarized
from headgate.sources.selecting import FIELDS

__all__ = ["METHODS", "Builder", "Place"]

METHODS: Final = ("get", "head", "options", "post", "put", "patch", "delete")
_WITHOUT_A_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_GROUP: Final = 64


@dataclass(frozen=True, slots=True)
class Place:
    """An operation of a document as it is written: itself, what it shares with its path, and the file of both."""

    spot: Spot
    node: Mapping[str, Any]
    item: Mapping[str, Any]
    file: str


@dataclass(frozen=True)
class Builder:
    """Makes the operations of one document."""

    document: OpenApiDocument
    options: OpenApiOptions
    references: References
    shaping: Shaping
    connections: Connections
    adapter: str

    @property
    def schemas(self) -> Schemas:
        """The schemas of the document."""
        return self.shaping.schemas

    def operation(self, name: str, place: Place, choice: Choice | None) -> Operation:
        """The operation of a place; an AdapterError says why there is none."""
        read = self._read(place)
        told = self._decided(place, read, choice)
        return _Making(self, name, place, read, told).operation()

    def _read(self, place: Place) -> "_Read":
        template = path_template(place.spot.path)
        levels = [(place.item.get("parameters"), place.file), (place.node.get("parameters"), place.file)]
        base_url = base_url_of(self._first(place, "servers"), self.options, self.document.url)
        schemes = self._schemes(base_url)
        found = read_parameters(self.references, self.schemas, levels)
        shown = [one for one in found if not schemes.carries(one.name, one.where)]
        body = self._body(place)
        return _Read(
            template=template,
            parameters=(*_undeclared(template, shown), *shown),
            body=body,
            success=read_success(place.node.get("responses"), place.file, self.references, self.schemas),
            base_url=base_url,
            security=schemes.security(self._requirements(place)),
        )

    def _body(self, place: Place) -> Body | None:
        if place.spot.method in _WITHOUT_A_BODY or "requestBody" not in place.node:
            return None
        return read_body(place.node["requestBody"], place.file, place.spot.method, self.references, self.schemas)

    def _first(self, place: Place, key: str) -> object:
        """What the operation says of something, else its path, else the document."""
        levels = (place.node, place.item, self.document.tree)
        return next((level[key] for level in levels if level.get(key)), None)

    def _requirements(self, place: Place) -> object:
        return place.node["security"] if "security" in place.node else self.document.tree.get("security")

    def _schemes(self, base_url: str) -> Schemes:
        components = self.document.tree.get("components")
        declared = components.get("securitySchemes") if isinstance(components, Mapping) else None
        found = {
            str(name): self.references.resolved(one, "").node
            for name, one in (declared.items() if isinstance(declared, Mapping) else ())
        }
        return Schemes(self.adapter, found, self.options, base_url)

    def _decided(self, place: Place, read: "_Read", choice: Choice | None) -> Classified:
        spot = place.spot
        words = plain(place.node.get("summary") or place.node.get("description"), DESCRIPTION)
        named = spot.operation_id or spot.path.rsplit("/{", 1)[0].rpartition("/")[2]
        request = Request(spot.method, spot.path, named, words, self._taken(read))
        told = decided(request, has_changes=read.has_changes)
        if choice is None or choice.category is None:
            return told
        chosen = choice.category
        if chosen is Category.UPDATE and not read.has_changes:
            chosen = Category.EXECUTE
        return told.chosen(chosen)

    def _taken(self, read: "_Read") -> Schema:
        """All that a request takes as one object, without what lies deeper: that is mostly kept, not run."""
        body = read.body.schema if read.body is not None else Rewritten({}, ())
        near = (
            [body.schema, *self.schemas.definitions(body.names, 1).values()] if "$ref" in body.schema else [body.schema]
        )
        fields = {name: _alone(one) for schema in near for name, one in schema.get("properties", {}).items()}
        return {"properties": {**fields, **{one.name: _alone(one.schema.schema) for one in read.parameters}}}


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What a document says of an operation, before it is decided what that becomes."""

    template: PathTemplate
    parameters: tuple[Located, ...]
    body: Body | None
    success: Success
    base_url: str
    security: Security

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to be put into the ``input`` of an UPDATE."""
        return self.body is not None or any(one.where != "path" for one in self.parameters)


def _alone(schema: object) -> Schema:
    """What a schema says of its own value."""
    kept = ("type", "enum", "const", "description")
    return {key: schema[key] for key in kept if key in schema} if isinstance(schema, Mapping) else {}


def _undeclared(template: PathTemplate, declared: list[Located]) -> Iterator[Located]:
    """Names of the path that the document does not describe: they are texts."""
    known = {one.name for one in declared if one.where == "path"}
    for name in template.names:
        if name not in known:
            schema = Rewritten({"type": "string"}, ())
            yield Located(name=name, where="path", style=Style(name="simple"), schema=schema, required=True)


@dataclass(frozen=True)
class _Making:
    builder: Builder
    name: str
    place: Place
    read: _Read
    told: Classified

    def operation(self) -> Operation:
        """The operation itself."""
        paging = self._paging()
        replaced = paging.replaced if paging else frozenset()
        kept = [one for one in self._used() if not (one.where == "query" and one.name in replaced)]
        located, notes = keyed(kept)
        inputs = inputs_of(located, self.read.body, self.told.kind, self.builder.shaping)
        names = {parameter.name for parameter in inputs.parameters}
        if paging is not None and names & {FIRST.name, AFTER.name}:
            return replace(self, read=replace(self.read, success=replace(self.read.success, schema=None))).operation()
        selects = self.told.kind is Category.READ and FIELDS.name not in names
        call = self._call(located, inputs, selects=selects)
        return self._made(call, paging, tuple(self._added(paging, selects=selects)), (*notes, *inputs.notes))

    def _used(self) -> list[Located]:
        """The parameters that can be sent: those of the path only if the path has their name."""
        names = self.read.template.names
        return [one for one in self.read.parameters if one.where != "path" or one.name in names]

    def _paging(self) -> Paging | None:
        if not self.builder.options.paging or self.place.spot.method != "GET" or self.told.kind is not Category.READ:
            return None
        success = self.read.success
        return paging_of(
            self.read.parameters, success.schema, has_links=success.has_links, references=self.builder.references
        )

    def _call(self, located: Mapping[str, Located], inputs: Inputs, *, selects: bool) -> Call:
        read = self.read
        return Call(
            name=self.name,
            method=self.place.spot.method,
            base_url=read.base_url,
            template=read.template,
            located=located,
            inputs=inputs,
            security=read.security,
            connections=self.builder.connections,
            accept=read.success.accept,
            selects=selects,
        )

    def _added(self, paging: Paging | None, *, selects: bool) -> Iterator[Parameter]:
        if paging is not None:
            yield from (FIRST, AFTER)
        if selects:
            yield FIELDS
        if self.told.kind is not Category.READ:
            yield TRYING

    def _made(
        self, call: Call, paging: Paging | None, added: tuple[Parameter, ...], notes: tuple[str, ...]
    ) -> Operation:
        inputs, node, spot = call.inputs, self.place.node, self.place.spot
        category, success = self.told.kind, self.read.success
        cursors = PositionCursors(cursor_key(), f"{self.builder.adapter}\x00{self.name}")
        returns = _paged(success, paging) if paging else success.returns
        made = Operation(
            name=self.name,
            category=category,
            function=Pages(call, paging, cursors) if paging else call,
            parameters=(*inputs.parameters, *added),
            summary=summarized(node.get("summary")) or summarized(node.get("description")) or f"Send {spot.maps_to}",
            description=self._description(notes),
            returns=returns,
            returns_description=success.description,
            definitions={**success.definitions, **inputs.definitions},
            deprecated=Deprecated() if node.get("deprecated") is True else None,
            rationale=self._rationale(),
            context_parameter=CONTEXT if paging else None,
            danger=self._danger(),
            tries_nothing=category is not Category.READ,
            rules=inputs.rules,
            source=self.builder.adapter,
            group=self._group(),
            origin=self.told.origin(spot.own_name, spot.maps_to),
            checked=True,
        )
        example = example_of(made) if inputs.body is not None and inputs.body.exemplified else None
        return offering_tables(replace(made, examples=(example,), checked=True) if example else made)

    def _description(self, notes: tuple[str, ...]) -> str:
        node = self.place.node
        words = plain(node.get("description") or node.get("summary"), DESCRIPTION)
        said = [words, *(f"{note[:1].upper()}{note[1:]}." for note in notes[:20])]
        return "\n".join(one for one in said if one)

    def _rationale(self) -> str:
        named_like = category_of_verb(verb_of(self.name))
        is_suspicious = self.told.kind is Category.READ and named_like not in (None, Category.READ)
        return f"it is a {self.place.spot.method} that changes nothing" if is_suspicious else ""

    def _danger(self) -> Danger | None:
        """What the name tells beyond the category."""
        level = DangerLevel(self.told.danger.value)
        is_graver = level.rank > DEFAULT_LEVELS[self.told.kind].rank
        return Danger(level, self.told.danger.evidence) if is_graver else None

    def _group(self) -> str:
        tags = self.place.node.get("tags")
        first = tags[0] if isinstance(tags, list) and tags else None
        words = plain(first, _LONGEST_GROUP)
        parts = [part for part in self.place.spot.path.split("/") if part and not part.startswith("{")]
        return words or (plain(parts[0], _LONGEST_GROUP) if parts else "")


def _paged(success: Success, paging: Paging) -> Schema:
    """The form of a page, with the items as the document describes them."""
    here: Schema = success.returns
    for step in (*paging.items, None):
        name = str(here.get("$ref", "")).rpartition("/")[2]
        here = {**success.definitions.get(name, {}), **here} if name else here
        if step is not None:
            here = here.get("properties", {}).get(step, {})
    items = here.get("items", {})
    return page_schema(items if isinstance(items, dict) else {})
