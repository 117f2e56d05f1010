"""What several suites share: where the specification's own JSON Schemas are, and a validator for each."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

__all__ = ["ROOT", "has_spec_schemas", "schema_errors", "spec_schema", "spec_schemas"]

ROOT = Path(__file__).parent.parent


def _folder() -> Path:
    given = os.environ.get("HEADGATE_SPEC")
    return Path(given) if given else ROOT.parent / "shared" / "spec" / "schemas"


def has_spec_schemas() -> bool:
    """Whether the specification's JSON Schemas are on this machine."""
    return _folder().is_dir()


def spec_schemas() -> Path:
    """The folder of the specification's JSON Schemas; the test is skipped where there is none."""
    if not has_spec_schemas():
        pytest.skip("the JSON Schemas of the specification are not here; set HEADGATE_SPEC to their folder")
    return _folder()


@cache
def spec_schema(name: str, definition: str = "") -> jsonschema_rs.Draft202012Validator:
    """The validator of one schema, such as ``operation-result``, or of one of its definitions."""
    schema = json.loads((spec_schemas() / f"{name}.schema.json").read_text())
    if definition:
        schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def schema_errors(value: Any, name: str, definition: str = "") -> list[str]:
    """What the schema has against a value; nothing if it fits."""
    return [f"{error.instance_path}: {error.message}" for error in spec_schema(name, definition).iter_errors(value)]
