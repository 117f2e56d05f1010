"""The examples of a document as requests to headgate, where they are valid."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.operations import INPUT, Example, Operation
from headgate.protocol.categories import Category
from headgate.sources.openapi.calling import Call
from headgate.sources.openapi.escaping import json_text
from headgate.sources.openapi.references import References
from headgate.sources.shapes import Shaped
from headgate.sources.shapes.renaming import translated

__all__ = ["example_of"]

_LONGEST: Final = 2_000


def example_of(
    operation: Operation, node: Mapping[str, Any], call: Call, references: References, file: str
) -> Example | None:
    """A request with the example of the body and of each parameter that needs one; None if none works."""
    body = call.inputs.body
    if body is None:
        return None
    found = _of_body(node.get("requestBody"), body.media, references, file)
    if found is None or len(json_text(found)) > _LONGEST:
        return None
    params = _outside(operation, call)
    if params is None:
        return None
    params |= _inside(found, call, is_update=operation.category is Category.UPDATE)
    return Example(params, operation.summary) if operation.validator.is_valid(params) else None


def _of_body(given: object, media: str, references: References, file: str) -> Any:
    node, file = references.resolved(given, file)
    content = node.get("content")
    described = content.get(media) if isinstance(content, Mapping) else None
    if not isinstance(described, Mapping):
        return None
    if "example" in described:
        return described["example"]
    named = described.get("examples")
    for one in named.values() if isinstance(named, Mapping) else ():
        example, _ = references.resolved(one, file)
        if "value" in example:
            return example["value"]
    schema, _ = references.resolved(described.get("schema"), file)
    return schema.get("example")


def _outside(operation: Operation, call: Call) -> dict[str, Any] | None:
    """The parameters outside of the body that are needed, each by its own example."""
    params: dict[str, Any] = {}
    for name, key in call.inputs.outside.own_names.items():
        one = call.located.get(key)
        if one is None or not one.required:
            continue
        parameter = operation.parameter(name)
        examples = parameter.schema.get("examples") if parameter else None
        if not examples:
            return None
        params[name] = examples[0]
    return params


def _inside(found: Any, call: Call, *, is_update: bool) -> dict[str, Any]:
    inputs = call.inputs
    if inputs.fields is None:
        whole = {inputs.body_key: found}
        return {INPUT: whole} if is_update else whole
    fields = _spelt(found, inputs.fields) if isinstance(found, dict) else {}
    return {INPUT: fields} if is_update else fields


def _spelt(found: dict[str, Any], fields: Shaped) -> dict[str, Any]:
    """An object of the upstream's spelling in headgate's own."""
    names = {own: name for name, own in fields.own_names.items()}
    inside = {own: name for name, own in fields.own_inside.items()}
    return {names.get(own, own): translated(value, [{}], {}, inside) for own, value in found.items()}
