"""A shape means what the schema means: whatever fits the one fits the other, and comes back as it was."""

import os
from typing import Any

import jsonschema_rs
from hypothesis import event, given, settings
from hypothesis import strategies as st

from headgate.sources.shapes import shaped
from tests.sources.shapes.making import Maker, ahead, operation_of

CASES = int(os.environ.get("HEADGATE_CASES", "600"))


def takes(schema: dict[str, Any], value: object) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


def takes_names(schema: dict[str, Any], value: object) -> bool:
    """Whether the schema takes the value, and something that holds speaks of each of its fields."""
    rest = {key: child for key, child in schema.items() if key != "$defs"}
    return takes({"allOf": [rest], "unevaluatedProperties": False, "$defs": schema["$defs"]}, value)


@settings(max_examples=CASES)
@given(st.integers(0, 2**40))
def test_a_shape_takes_what_the_schema_takes_and_gives_it_back_as_it_was(seed: int) -> None:
    maker = Maker(seed)
    schema = maker.document()
    shape = shaped(schema)
    operation = operation_of(shape)
    is_exact = all(note.startswith("'") for note in shape.notes)
    for value in [maker.value(schema) for _ in range(5)]:
        sent = ahead(shape, value)
        if sent is None:
            event("cannot be said")
            continue
        assert shape.back(sent) == value
        is_taken = operation.validator.is_valid(sent)
        event(f"exact {is_exact}, taken there {takes(schema, value)}, here {is_taken}")
        assert is_taken or not takes_names(schema, value), (schema, value, sent, shape)
        assert takes(schema, value) or not (is_exact and is_taken), (schema, value, sent, shape)
