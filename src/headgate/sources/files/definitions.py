"""The operations of a file: from what stands below ``operations`` to entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from headgate.adapter.background import Background
from headgate.adapter.operations import INPUT, Example
from headgate.adapter.parameters import Parameter, Schema
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.names import is_snake_case
from headgate.sources.files.choosing import choice_of
from headgate.sources.files.mistakes import shown
from headgate.sources.files.pagination import read_fields, read_paging
from headgate.sources.files.paging import paging_parameters
from headgate.sources.files.parameters import Given, read_deprecated, read_parameters
from headgate.sources.files.plugins.rest import mapped
from headgate.sources.files.references import reached
from headgate.sources.files.schemas import DATA_TYPES, read_schema, read_schemas
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Entry
from headgate.sources.naming import HELD_OPERATIONS

__all__ = ["OPERATION_KEYS", "Read", "read_operations"]

OPERATION_KEYS: Final = (
    *("name", "maps_to", "description", "summary", "params", "response", "pagination", "supports_fields"),
    *("default_fields", "danger_level", "danger", "requires_confirmation", "non_idempotent", "examples", "deprecated"),
    *("group", "rationale", "rules", "schemas", "endpoint", "locks", "background"),
)
_CATEGORIES: Final = {category.value.lower(): category for category in Category}
_DANGER_KEYS: Final = ("level", "reasons", "confirmation_message", "cooldown_seconds", "requires_reauth")
_DUPLICATE: Final = "SCHEMA_DUPLICATE_NAME"
_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 20_000
_MOST_OPERATIONS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Read:
    """An entry with its place, for whoever finds something wrong with it later."""

    entry: Entry
    spot: Spot

    @property
    def maps_to(self) -> Spot:
        """Where its mapping stands."""
        return self.spot.below("maps_to", self.entry.maps_to)


def read_operations(block: Spot, shared: Mapping[str, Schema]) -> list[Read]:
    """All operations of a file, in its order."""
    found: list[Read] = []
    taken: dict[str, str] = {}
    for word, spots in block.fields(tuple(_CATEGORIES)).items():
        for spot in spots.items():
            read = _operation(spot, _CATEGORIES[word], shared)
            if read is None:
                continue
            name = read.entry.name
            if name in taken:
                where = spot.below("name", name)
                where.wrong("a name of its own", "Rename one.", found=f"the one of {taken[name]}", code=_DUPLICATE)
            taken.setdefault(name, f"'{spot.path}'")
            found.append(read)
    if not found and not block.notes.mistakes:
        block.wrong("one operation or more", "Add one, below 'read:' for instance.", found="none")
    if len(found) > _MOST_OPERATIONS:
        block.wrong(f"{_MOST_OPERATIONS} operations or fewer", "Split the file.", found=f"{len(found)} operations")
    return found


def _operation(spot: Spot, category: Category, shared: Mapping[str, Schema]) -> Read | None:
    fields = spot.fields(OPERATION_KEYS, ("name", "maps_to"))
    name = _name(fields["name"]) if "name" in fields else None
    maps_to = fields["maps_to"].text(longest=2_000) if "maps_to" in fields else None
    definitions = {**shared, **(read_schemas(fields["schemas"], shared) if "schemas" in fields else {})}
    params = fields.get("params")
    given = read_parameters(params, definitions) if params is not None and params.value is not None else ()
    said = _said(fields, definitions)
    if name is None or maps_to is None:
        return None
    summary, description = _words(fields.get("description"), said.summary, name, maps_to)
    shape = _shape(given, category, maps_to, said, spot)
    made = replace(
        said,
        name=name,
        category=category,
        maps_to=maps_to,
        summary=summary,
        description=description,
        parameters=shape,
        sent={one.parameter.name: one.sent for one in given},
        folded=category is Category.UPDATE and all(one.parameter.name != INPUT for one in given),
        definitions=reached([*(one.schema for one in shape), said.rules, said.returns], definitions),
    )
    return Read(made, spot)


def _said(fields: Mapping[str, Spot], definitions: Mapping[str, Schema]) -> Entry:
    """What is said of an operation beside its request; the rest is filled in by whoever knows it."""
    texts = {key: fields[key].text() for key in ("group", "rationale", "summary", "endpoint") if key in fields}
    flags = {key: fields[key].flag() for key in ("requires_confirmation", "non_idempotent") if key in fields}
    returns, returned = _response(fields.get("response"), list(definitions))
    return Entry(
        name="",
        category=Category.READ,
        maps_to="",
        summary=texts.get("summary") or "",
        rules=read_schema(fields["rules"], list(definitions)) if "rules" in fields else {},
        returns=returns,
        returns_description=returned,
        examples=tuple(_examples(fields["examples"])) if "examples" in fields else (),
        deprecated=read_deprecated(fields["deprecated"]) if "deprecated" in fields else None,
        danger=_danger(fields),
        requires_confirmation=bool(flags.get("requires_confirmation")),
        endpoint=texts.get("endpoint"),
        locks=fields["locks"].texts() if "locks" in fields else None,
        rationale=texts.get("rationale") or "",
        group=texts.get("group") or "",
        background=_background(fields["background"]) if "background" in fields else None,
        paging=read_paging(fields["pagination"]) if "pagination" in fields else None,
        fields=read_fields(fields),
    )


def _name(spot: Spot) -> str | None:
    name = spot.text()
    if name is None:
        return None
    if not is_snake_case(name) or len(name) > _LONGEST_NAME:
        expected = f"lower-case letters, digits and underscores, no more than {_LONGEST_NAME} characters"
        spot.wrong(expected, "Write it like 'get_book'.", code="SCHEMA_INVALID_NAME")
        return None
    if name in HELD_OPERATIONS:
        spot.wrong("a name of its own, not one of the protocol", "Choose another.", code="SCHEMA_INVALID_NAME")
        return None
    return name


def _words(spot: Spot | None, summary: str, name: str, maps_to: str) -> tuple[str, str]:
    """One line, and all that the file says; out of the name and the mapping if it says nothing."""
    text = spot.text(longest=_LONGEST_DESCRIPTION) if spot is not None else None
    if text is None:
        return summary or f"{name.replace('_', ' ').capitalize()} ({maps_to})", ""
    first = summary or " ".join(text.strip().partition("\n\n")[0].split())
    return first, "" if text.strip() == first else text


def _shape(given: Sequence[Given], category: Category, maps_to: str, said: Entry, spot: Spot) -> tuple[Parameter, ...]:
    """The parameters that callers see: an UPDATE has its ``input``, a list ``first`` and ``after``."""
    paging = said.paging
    parameters = tuple(one.parameter for one in given)
    if paging is not None:
        own = (paging.param_name, paging.per_page_param)
        parameters = tuple(one.parameter for one in given if one.sent.name not in own) + paging_parameters(paging)
    if said.fields is not None:
        parameters = (*parameters, choice_of(said.fields))
    names = [one.name for one in parameters]
    for name in {name for name in names if names.count(name) > 1}:
        here = spot.below("params", None).below(name, None)
        here.wrong(
            "a name which paging and field selection do not use", "Rename it.", found=f"'{name}'", code=_DUPLICATE
        )
    if category is Category.UPDATE and INPUT not in names:
        return _folded(given, maps_to)
    return parameters


def _folded(given: Sequence[Given], maps_to: str) -> tuple[Parameter, ...]:
    """The parameters of an UPDATE: what stands in the path or beside the body stays, the rest is ``input``."""
    mapping = mapped(maps_to)
    in_path = mapping.placeholders if mapping else ()
    beside = [one for one in given if one.sent.name in in_path or one.sent.place in ("path", "query", "header")]
    inside = [one.parameter for one in given if one not in beside]
    schema: dict[str, Any] = {
        "type": "object",
        "description": "The fields to change.",
        "properties": {one.name: one.schema for one in inside},
        "required": [one.name for one in inside if one.required],
        "additionalProperties": False,
    }
    return (*(one.parameter for one in beside), Parameter(INPUT, schema))


def _response(spot: Spot | None, names: Sequence[str]) -> tuple[Schema, str]:
    """What an operation answers. A type that JSON does not have is only words."""
    if spot is None:
        return {}, ""
    fields = spot.fields(None)
    described = fields["description"].text() if "description" in fields else None
    if "schema" in fields:
        return read_schema(fields["schema"], names), described or ""
    said = {name: field.value for name, field in fields.items() if name != "description"}
    kind = said.get("type")
    if isinstance(kind, str) and kind not in DATA_TYPES:
        return {}, f"{kind}: {described}" if described else kind
    return read_schema(Spot(said, spot.steps, spot.notes), names), described or ""


def _danger(fields: Mapping[str, Spot]) -> Danger | None:
    """What the file declares, as a word or with all that goes with it."""
    if "danger" not in fields:
        spot = fields.get("danger_level")
        level = spot.choice(list(DangerLevel)) if spot is not None else None
        return Danger(DangerLevel(level)) if level else None
    if "danger_level" in fields:
        fields["danger_level"].wrong("one of 'danger' and 'danger_level'", "Keep 'danger'.", found="both")
    parts = fields["danger"].fields(_DANGER_KEYS, ("level",))
    level = parts["level"].choice(list(DangerLevel)) if "level" in parts else None
    message = parts["confirmation_message"].text() if "confirmation_message" in parts else None
    cooldown = parts["cooldown_seconds"].number(0, 120) if "cooldown_seconds" in parts else None
    reauth = parts["requires_reauth"].flag() if "requires_reauth" in parts else None
    reasons = parts["reasons"].texts() if "reasons" in parts else ()
    return Danger(DangerLevel(level), reasons, message or "", cooldown or 0.0, bool(reauth)) if level else None


def _examples(spot: Spot) -> Any:
    for item in spot.items():
        fields = item.fields(("params", "description"), ("params",))
        params = fields["params"].value if "params" in fields else None
        if not isinstance(params, Mapping):
            item.below("params", params).wrong("a mapping of parameters", "Write '{id: 1}', or '{}' for none.")
            continue
        words = fields["description"].text() if "description" in fields else None
        yield Example(params, words or "")


def _background(spot: Spot) -> Background | None:
    if isinstance(spot.value, bool):
        return Background() if spot.value else None
    wire = spot.fields(tuple(Background().wire()))
    try:
        key = wire["key"].texts() if "key" in wire else ()
        return Background(**{**{name: field.value for name, field in wire.items()}, "key": key})  # type: ignore[arg-type]
    except (AdapterError, TypeError) as error:
        spot.wrong("how long work runs, such as '{retries: 3}'", "Correct it.", found=shown(str(error)))
        return None
