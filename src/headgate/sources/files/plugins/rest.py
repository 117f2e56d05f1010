"""The protocol rest: ``METHOD /path/{parameter}``, and the rest of the parameters in the query or the body."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, urlsplit

from headgate.adapter.context import Context
from headgate.adapter.operations import DRY_RUN, INPUT
from headgate.protocol.categories import Category
from headgate.protocol.errors import AqlError
from headgate.protocol.names import resource_of
from headgate.sources.files.choosing import FIELDS, chosen
from headgate.sources.files.paging import AFTER, FIRST, Pager
from headgate.sources.files.plugins.formats import plain_text
from headgate.sources.files.plugins.interfaces import Connection, Serialization
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Entry, Place, Sent, Target
from headgate.sources.http.failures import failure_of
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.http.paths import segment
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["METHODS", "REST", "Mapped", "Rest", "RestPlan", "mapped"]

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_WITHOUT_BODY: Final = ("GET", "DELETE")
_PLACEHOLDER: Final = re.compile(r"\{([^{}/]*)\}")
_PATH: Final = re.compile(r"/[A-Za-z0-9/._~!$&'()*+,;=:@%{}-]*\Z")
_OURS: Final = (DRY_RUN, FIRST, AFTER, FIELDS)
"""Parameters that mean something here, and nothing there, unless the file says what they are there."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A mapping, taken apart."""

    method: str
    path: str

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in braces."""
        return tuple(_PLACEHOLDER.findall(self.path))


def mapped(maps_to: str) -> Mapped | None:
    """The method and the path of a mapping, or None if it has another form."""
    method, _, path = maps_to.partition(" ")
    plain = _PLACEHOLDER.sub("x", path)
    steps = plain.split("/")
    is_right = method in METHODS and _PATH.match(path) and not {"{", "}"} & set(plain) and not {".", ".."} & set(steps)
    return Mapped(method, path) if is_right else None


@dataclass(frozen=True)
class RestPlan:
    """How one operation is called."""

    entry: Entry
    target: Target
    serialization: Serialization
    mapping: Mapped
    pager: Pager | None

    async def call(self, values: Mapping[str, object], connection: Connection, context: Context | None) -> object:
        """Send the request and read the answer: a page where the operation has pages, chosen fields where it has."""
        own = {name: value for name, value in values.items() if value is not NOT_GIVEN}
        fields = own.pop(FIELDS, None) if self.entry.fields is not None else None
        if self.pager is None:
            data: Any = self._data(await connection.send(self.request(own), context), own)
            return self._chosen(data, fields)
        turn = self.pager.turn(own, context)
        request = self.request(turn.values, turn.query) if not turn.place else self._at(turn.place)
        answer = await connection.send(request, context)
        page = self.pager.page(turn, answer, self._data(answer, own), self.target.base_url)
        return {**page, "items": self._chosen(page["items"], fields)}

    def request(self, values: Mapping[str, object], extra: Mapping[str, object] | None = None) -> OutRequest:
        """The request that a call with these values is; ``extra`` goes into the query."""
        parts = self._parts(values)
        query = [pair for name, value in (*parts["query"], *(extra or {}).items()) for pair in _query(name, value)]
        url = f"{self.target.base_url}{self._path(dict(parts['path']))}"
        headers = [(name, plain_text(value)) for name, value in parts["header"]]
        content = self._content(dict(parts["body"]))
        if content is not None:
            headers.append(("Content-Type", self.serialization.content_type))
        if not any(name.lower() == "accept" for name, _ in headers):
            headers.append(("Accept", f"{self.serialization.content_type}, */*;q=0.5"))
        return OutRequest(self.mapping.method, f"{url}?{'&'.join(query)}" if query else url, tuple(headers), content)

    def _at(self, place: str) -> OutRequest:
        """The request for what the upstream itself has linked to, inside its own origin."""
        origin = urlsplit(self.target.base_url)
        headers = (("Accept", f"{self.serialization.content_type}, */*;q=0.5"),)
        return OutRequest("GET", f"{origin.scheme}://{origin.netloc}{place}", headers)

    def _parts(self, values: Mapping[str, object]) -> dict[Place, list[tuple[str, object]]]:
        """The values by where they stand in the request, under the names that they have there."""
        parts: dict[Place, list[tuple[str, object]]] = {"path": [], "query": [], "header": [], "body": []}
        for name, value in self._flat(values):
            sent = self.entry.sent.get(name)
            if sent is None and name in _OURS:
                continue
            own = sent or Sent(name)
            parts[self._place(own)].append((own.name, value))
        return parts

    def _flat(self, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """The values with the fields of an UPDATE's ``input`` among them."""
        for name, value in values.items():
            if name == INPUT and self.entry.category is Category.UPDATE and isinstance(value, Mapping):
                yield from value.items()
            else:
                yield name, value

    def _place(self, sent: Sent) -> Place:
        if sent.place:
            return sent.place
        if sent.name in self.mapping.placeholders:
            return "path"
        return "query" if self.mapping.method in _WITHOUT_BODY else "body"

    def _path(self, values: Mapping[str, object]) -> str:
        def filled(found: re.Match[str]) -> str:
            name = found[1]
            if name not in values:
                message = f"Missing parameter '{name}': the path of operation '{self.entry.name}' needs it"
                raise AqlError("PROTOCOL_MISSING_PARAM", message, {"param_name": name})
            return segment(plain_text(values[name]), name)

        return _PLACEHOLDER.sub(filled, self.mapping.path)

    def _content(self, body: Mapping[str, object]) -> bytes | None:
        """The body, also an empty one where the operation may have something in it."""
        return self.serialization.serialize(body, self.target) if body or self._has_body else None

    @cached_property
    def _has_body(self) -> bool:
        names = [name for name in self.entry.sent if self._place(self.entry.sent[name]) == "body"]
        return bool(names) or self.entry.category is Category.UPDATE

    def _data(self, answer: Answer, values: Mapping[str, object]) -> object:
        if not 200 <= answer.status < 300:
            identifier = next((values[name] for name in values if self._is_in_path(name)), None)
            resource = resource_of(self.entry.name)
            raise failure_of(answer, operation=self.entry.name, resource=resource, identifier=identifier)
        return self.serialization.deserialize(answer)

    def _is_in_path(self, name: str) -> bool:
        sent = self.entry.sent.get(name)
        return sent is not None and self._place(sent) == "path"

    def _chosen(self, data: object, fields: object) -> object:
        choice = self.entry.fields
        return data if choice is None else chosen(data, choice.default if fields is None else fields)


def _query(name: str, value: object) -> Iterator[str]:
    """The pairs of a query: a list repeats its name, and what is null is left out."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if one is not None:
            yield f"{quote(name, safe='')}={quote(plain_text(one), safe='')}"


@dataclass(frozen=True, slots=True)
class Rest:
    """Requests of REST."""

    name: str = "rest"
    description: str = "METHOD /path/{parameter}"
    keys: tuple[str, ...] = ()
    transports: tuple[str, ...] = ("http",)

    def check(self, maps_to: Spot, entry: Entry) -> None:
        """A method, a path, and a required parameter for each name in braces."""
        mapping = mapped(entry.maps_to)
        if mapping is None:
            expected = f"one of {', '.join(METHODS)}, a space, and a path such as '/items/{{id}}'"
            maps_to.wrong(expected, "Write 'GET /items/{id}'.", code="PROTOCOL_INVALID_MAPPING")
            return
        for name in mapping.placeholders:
            _check_placeholder(name, maps_to, entry)
        _check_reading(mapping, maps_to, entry)
        if entry.paging and mapping.method != "GET":
            maps_to.wrong("GET, where an operation has pages", "Remove 'pagination'.", code="PROTOCOL_INVALID_MAPPING")

    def plan(self, entry: Entry, target: Target, serialization: Serialization) -> RestPlan:
        """How an operation is called."""
        mapping = mapped(entry.maps_to)
        if mapping is None:
            raise AqlError("PROTOCOL_INVALID_MAPPING", f"Operation '{entry.name}' has no usable mapping")
        pager = Pager(entry.name, entry.paging) if entry.paging else None
        return RestPlan(entry, target, serialization, mapping, pager)


def _check_placeholder(name: str, maps_to: Spot, entry: Entry) -> None:
    own = next((key for key, sent in entry.sent.items() if sent.name == name), None)
    parameter = next((one for one in entry.parameters if one.name == own), None)
    if parameter is None:
        fix = f"Add '{name}: {{type: string, required: true}}' to its params."
        maps_to.wrong(f"a parameter for '{{{name}}}'", fix, found="none", code="SCHEMA_UNRESOLVED_REF")
    elif not parameter.required and parameter.default in (None, NOT_GIVEN):
        fix = f"Add 'required: true' to '{name}', or a default."
        maps_to.wrong(f"'{name}' to be required, as it stands in the path", fix, found="an optional parameter")


def _check_reading(mapping: Mapped, maps_to: Spot, entry: Entry) -> None:
    """What is read without asking must not be a change: a search that is posted says why it is one."""
    if entry.category is not Category.READ or mapping.method == "GET":
        return
    if mapping.method != "POST":
        fix = "Move the operation to the category of its effect."
        maps_to.wrong("GET, as it stands below 'read'", fix, code="PROTOCOL_INVALID_MAPPING")
    elif not entry.rationale:
        fix = "Add 'rationale:' with why a POST changes nothing, or move the operation to 'execute'."
        maps_to.wrong("GET, as it stands below 'read'", fix, code="PROTOCOL_INVALID_MAPPING")


REST: Final = Rest()
