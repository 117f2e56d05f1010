"""The examples of a document as requests to headgate, where they are valid."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.operations import INPUT, Example, Operation
from headgate.adapter.parameters import Schema
from headgate.protocol.categories import Category
from headgate.sources.openapi.escaping import json_text
from headgate.sources.openapi.references import References
from headgate.sources.openapi.schemas import Rewritten, Schemas

__all__ = ["body_example", "example_of", "exemplified"]

_LONGEST: Final = 2_000


def body_example(described: Mapping[str, Any], references: References, file: str) -> Any:
    """The example that a document gives of a body; None if it gives none, or a very long one."""
    found = _found(described, references, file)
    return None if found is None or len(json_text(found)) > _LONGEST else found


def _found(described: Mapping[str, Any], references: References, file: str) -> Any:
    if "example" in described:
        return described["example"]
    named = described.get("examples")
    for one in named.values() if isinstance(named, Mapping) else ():
        example, _ = references.resolved(one, file)
        if "value" in example:
            return example["value"]
    schema, _ = references.resolved(described.get("schema"), file)
    return schema.get("example")


def exemplified(made: Rewritten, example: Any, schemas: Schemas) -> Rewritten:
    """A schema that has the parts of an example with its fields, so that they are renamed as the fields are."""
    if not isinstance(example, dict):
        return Rewritten({**made.schema, "examples": [example]}, made.names) if example is not None else made
    name = str(made.schema.get("$ref", "")).rpartition("/")[2]
    root: Schema = {**schemas.definitions((name,), 1)[name], **made.schema} if name else dict(made.schema)
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return made
    root.pop("$ref", None)
    shown = {
        key: {**child, "examples": [example[key]]} if key in example else child for key, child in properties.items()
    }
    return Rewritten({**root, "properties": shown}, (*made.names, *(schemas.names_in(name) if name else ())))


def example_of(operation: Operation) -> Example | None:
    """A request of all parameters that have an example, if it is one that works."""
    params: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.name == INPUT and operation.category is Category.UPDATE:
            params[INPUT] = _fields(parameter.schema)
        elif parameter.schema.get("examples"):
            params[parameter.name] = parameter.schema["examples"][0]
        elif parameter.required:
            return None
    return Example(params, operation.summary) if params and operation.validator.is_valid(params) else None


def _fields(schema: Schema) -> dict[str, Any]:
    fields = schema.get("properties", {})
    return {name: child["examples"][0] for name, child in fields.items() if child.get("examples")}
