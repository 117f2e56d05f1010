"""Schemas with the names of fields as they are called here."""

from collections.abc import Iterable, Mapping

from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import with_children
from headgate.sources.shapes.translating import Translator

__all__ = ["renamed"]


def renamed(schema: Schema, translator: Translator) -> Schema:
    """The schema and all inside it with the names that the translator knows; what it refers to is not touched."""
    made = with_children(schema, lambda _, child: renamed(child, translator))
    names = translator.names.get(id(schema))
    if names is not None:
        _rename(made, names)
    if isinstance(made.get("default"), dict | list):
        made["default"] = translator.place([schema]).ahead(made["default"])
    if "examples" in made:
        made["examples"] = [translator.place([schema]).ahead(example) for example in made["examples"]]
    return made


def _rename(made: Schema, names: Mapping[str, str]) -> None:
    for key in ("properties", "dependentSchemas"):
        if key in made:
            made[key] = {names.get(name, name): child for name, child in made[key].items()}
    if "required" in made:
        made["required"] = _all(made["required"], names)
    if "dependentRequired" in made:
        made["dependentRequired"] = {
            names.get(name, name): _all(needs, names) for name, needs in made["dependentRequired"].items()
        }


def _all(own: Iterable[str], names: Mapping[str, str]) -> list[str]:
    return [names.get(name, name) for name in own]
