"""Any adapter as an adapter file, from which the same operations are read again."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from headgate._version import __version__
from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import SENSITIVE, Deprecated, Parameter, Schema
from headgate.adapter.schemas import REF
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger
from headgate.protocol.profiles import CRUDE, PROFILES
from headgate.sources.files.documents import LARGEST_FILE
from headgate.sources.files.leaks import without_credentials, without_secrets
from headgate.sources.files.parameters import KEYWORDS, SAYS_WHAT, default_fits
from headgate.sources.files.reading import VERSION, adapter_file_from
from headgate.sources.files.references import IN_FILE, reached, references_in, referring
from headgate.sources.files.schemas import DATA_TYPES
from headgate.sources.files.values import Entry, Paging, Target
from headgate.sources.files.wiring import Wired, Wiring, wiring_of
from headgate.sources.files.writing import written
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["exported", "file_name_of"]

_NOT_NAME: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 64


def exported(adapter: Adapter, target: Target | Wiring | None = None) -> str:
    """The text of an adapter file for an adapter.

    ``target`` says where its operations are carried out; without it the adapter must come from an adapter file itself.
    What is written can be read, or an AdapterError says why not. Credentials are left out wherever they stood.
    """
    wiring = target if isinstance(target, Wiring) else wiring_of(adapter, target)
    head = _Writer(adapter, wiring).head()
    text = written(without_secrets(head), _body(adapter, wiring))
    if len(text.encode()) > LARGEST_FILE:
        raise AdapterError(
            f"The adapter file of '{adapter.name}' would be larger than the {LARGEST_FILE} bytes which are read: leave "
            "some of its operations out."
        )
    adapter_file_from(text, file_name_of(adapter))
    return text


def file_name_of(adapter: Adapter) -> str:
    """What the file of an adapter is called."""
    return f"{_name(adapter.name)}-adapter.md"


def _name(name: str) -> str:
    plain = _NOT_NAME.sub("-", name.lower()).strip("-")
    plain = plain if plain[:1].isalpha() else f"a-{plain}".rstrip("-")
    return plain[:_LONGEST_NAME].rstrip("-") if len(plain) > 1 else f"{plain}-api"


def _body(adapter: Adapter, wiring: Wiring) -> str:
    """The prose: the file's own, or a page about what is offered."""
    if wiring.file is not None and wiring.file.documentation:
        return wiring.file.documentation
    about = without_credentials(" ".join(adapter.description.split()))
    lines = [f"# {_name(adapter.name)}", "", *([about, ""] if about else []), "| operation | |", "|---|---|"]
    for operation in adapter.operations.values():
        words = without_credentials(operation.summary).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{operation.name}` | {words} |")
    return "\n".join(lines)


@dataclass(slots=True)
class _Version:
    """One of the schemas that operations have under a name, and how many have it."""

    schema: Schema
    count: int = 1


def _weight(version: _Version) -> tuple[bool, int]:
    return bool(version.schema), version.count


@dataclass(frozen=True)
class _Writer:
    """Writes one adapter."""

    adapter: Adapter
    wiring: Wiring

    def head(self) -> dict[str, object]:
        """All that stands before the prose."""
        adapter, target = self.adapter, self.wiring.target
        shared = self._shared()
        head: dict[str, object] = {
            "name": _name(adapter.name),
            "type": "adapter",
            "version": adapter.version if VERSION.match(adapter.version) else "0.1.0",
            "description": " ".join(adapter.description.split())[:2_000] or f"Operations of {_name(adapter.name)}",
            **(dict(self.wiring.file.metadata) if self.wiring.file else {}),
            **({"profile": adapter.profile.name} if self._has_profile else {}),
            "target": _target(target),
        }
        if self.wiring.auth.type != "none":
            head["auth"] = {"type": self.wiring.auth.type, **self.wiring.auth.options}
        head["trust"] = self._trust()
        if self.wiring.file and self.wiring.file.limits:
            head["rate_limits"] = self.wiring.file.limits
        head["operations"] = self._operations(shared)
        if shared:
            head["schemas"] = {name: _in_file(schema) for name, schema in shared.items()}
        return head

    @property
    def _has_profile(self) -> bool:
        profile = self.adapter.profile
        return profile.name != CRUDE.name and PROFILES.get(profile.name) == profile

    def _trust(self) -> dict[str, object]:
        """What the adapter's origin says of it; else that a program has written the file."""
        if self.adapter.trust is not None:
            return {"level": self.adapter.trust.value}
        return {"level": "generated", "generated_by": f"headgate {__version__}"}

    def _shared(self) -> dict[str, Schema]:
        """For each name the schema that most operations have under it; the others have theirs for themselves."""
        versions: dict[str, list[_Version]] = {}
        for operation in self.adapter.operations.values():
            for name, schema in _definitions(operation).items():
                known = versions.setdefault(name, [])
                found = next((one for one in known if one.schema == schema), None)
                if found is None:
                    known.append(_Version(schema))
                else:
                    found.count += 1
        return {name: max(known, key=_weight).schema for name, known in versions.items()}

    def _operations(self, shared: Mapping[str, Schema]) -> dict[str, object]:
        blocks: dict[str, list[object]] = {category.value.lower(): [] for category in Category}
        for name, operation in self.adapter.operations.items():
            entry = dict(self._operation(operation, self.wiring.operations[name], shared))
            blocks[operation.category.value.lower()].append(entry)
        return {word: entries for word, entries in blocks.items() if entries}

    def _operation(
        self, operation: Operation, wired: Wired, shared: Mapping[str, Schema]
    ) -> Iterator[tuple[str, object]]:
        own = {name: schema for name, schema in _definitions(operation).items() if schema != shared[name]}
        yield "name", operation.name
        yield "maps_to", wired.maps_to
        yield from _words(operation)
        if operation.group:
            yield "group", operation.group
        if operation.endpoint and (self._has_profile or self.adapter.profile.name == CRUDE.name):
            yield "endpoint", operation.endpoint
        if wired.parameters:
            yield "params", {one.name: _parameter(one, wired, operation.definitions) for one in wired.parameters}
        yield from _rest(operation, wired.entry)
        if own:
            yield "schemas", {name: _in_file(schema) for name, schema in own.items()}


def _rest(operation: Operation, entry: Entry | None) -> Iterator[tuple[str, object]]:
    """What is said of an operation beside its request."""
    yield from _answering(operation, entry)
    if operation.danger is not None:
        yield from _danger(operation.danger)
    if entry and entry.requires_confirmation:
        yield "requires_confirmation", True
    said = {
        "rationale": operation.rationale or None,
        "examples": [_example(one) for one in operation.examples] or None,
        "deprecated": _deprecated(operation.deprecated) if operation.deprecated else None,
        "rules": _in_file(operation.rules) or None,
        "locks": None if operation.locks is None else list(operation.locks),
        "background": {**operation.background.wire(), "process": False} if operation.background else None,
    }
    yield from ((name, value) for name, value in said.items() if value is not None)


def _answering(operation: Operation, entry: Entry | None) -> Iterator[tuple[str, object]]:
    """What is said of its answer."""
    paging = entry.paging if entry else None
    fields = entry.fields if entry else None
    response = _response(operation)
    if paging is not None:
        yield "pagination", _pagination(paging)
    elif response:
        yield "response", response
    if fields is not None:
        yield "supports_fields", True
        if fields.default:
            yield "default_fields", list(fields.default)


def _definitions(operation: Operation) -> dict[str, Schema]:
    """The named schemas that an operation refers to; one that its source has cut off may be anything."""
    schemas = [*(one.schema for one in operation.parameters), operation.rules, operation.returns]
    found = reached(schemas, operation.definitions)
    named = (reference for schema in (*schemas, *found.values()) for _, reference in references_in(schema))
    return {**{reference.removeprefix(REF): {} for reference in named}, **found}


def _target(target: Target) -> dict[str, object]:
    base = {"base_url": target.base_url} if target.base_url else {}
    plugins = {name: getattr(target, name) for name in ("transport", "protocol", "serialization")}
    return {**base, **plugins, **target.options}


def _words(operation: Operation) -> Iterator[tuple[str, object]]:
    """The description, and the summary where the description does not begin with it."""
    text = operation.description or operation.summary
    if " ".join(text.strip().partition("\n\n")[0].split()) != operation.summary:
        yield "summary", operation.summary
    yield "description", text


def _parameter(parameter: Parameter, wired: Wired, definitions: Mapping[str, Schema]) -> dict[str, object]:
    schema = {key: value for key, value in parameter.schema.items() if key != "default" or not _hides(parameter)}
    request = dict(_request(parameter, wired))
    required: dict[str, object] = {"required": True} if parameter.required else {}
    notice: dict[str, object] = (
        {} if parameter.deprecated is None else {"deprecated": _deprecated(parameter.deprecated)}
    )
    if not _stands_inline(parameter, schema, definitions):
        return {**required, **request, **notice, "schema": _in_file(schema)}
    inline = _in_file({key: value for key, value in schema.items() if key != "deprecated"})
    kind: dict[str, object] = {key: inline[key] for key in ("type", "$ref") if key in inline}
    return {**kind, **required, **request, **{key: inline[key] for key in inline if key not in kind}, **notice}


def _hides(parameter: Parameter) -> bool:
    return bool(parameter.schema.get(SENSITIVE))


def _request(parameter: Parameter, wired: Wired) -> Iterator[tuple[str, object]]:
    sent = wired.sent.get(parameter.name)
    if sent is not None and sent.name != parameter.name:
        yield "sent_as", sent.name
    if sent is not None and sent.place:
        yield "in", sent.place


def _stands_inline(parameter: Parameter, schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a schema can stand among the fields of its parameter without being taken for something else."""
    keys = set(schema) - {"deprecated"}
    is_told = any(key in keys for key in SAYS_WHAT) and keys <= set(KEYWORDS)
    agrees = (schema.get("deprecated") is True) == (parameter.deprecated is not None)
    is_sent = "default" not in schema or parameter.default is not NOT_GIVEN
    return is_told and agrees and is_sent and default_fits(schema, definitions)


def _in_file(schema: Schema) -> Schema:
    return referring(schema, lambda reference: f"{IN_FILE}{reference.removeprefix(REF)}")


def _response(operation: Operation) -> dict[str, object]:
    """What an operation answers."""
    words = {"description": operation.returns_description} if operation.returns_description else {}
    schema = operation.returns
    if not schema:
        return dict(words)
    is_plain = schema.get("type") in DATA_TYPES and "description" not in schema and "schema" not in schema
    return {**_in_file(schema), **words} if is_plain else {**words, "schema": _in_file(schema)}


def _pagination(paging: Paging) -> dict[str, object]:
    said = {name: getattr(paging, name) for name in Paging.__dataclass_fields__}
    return {name: value for name, value in said.items() if value != ""}


def _danger(danger: Danger) -> Iterator[tuple[str, object]]:
    said = {
        "level": danger.level.value,
        "reasons": list(danger.reasons),
        "confirmation_message": danger.confirmation_message,
        "cooldown_seconds": danger.cooldown_seconds,
        "requires_reauth": danger.requires_reauth,
    }
    given = {name: value for name, value in said.items() if value}
    yield ("danger_level", danger.level.value) if len(given) == 1 else ("danger", given)


def _example(example: Example) -> dict[str, object]:
    words = {"description": example.description} if example.description else {}
    return {"params": example.params, **words}


def _deprecated(deprecated: Deprecated) -> object:
    said = {
        "note": deprecated.note,
        "replacement": deprecated.replacement,
        "removal_date": deprecated.removal_date.isoformat() if deprecated.removal_date else None,
    }
    given = {name: value for name, value in said.items() if value}
    return True if not given else deprecated.note if list(given) == ["note"] else given
