"""The shapes of introspection are as strict as the specification's own schema: whatever it refuses, some check does."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.conformance.shapes import DETAILS, additions, faults, shown
from tests.conformance.checks.telling import OURS, Told, failing, fine, report_on, warned
from tests.support import has_spec_schemas, schema_errors

pytestmark = pytest.mark.anyio
SCHEMA = "introspection-response"

DETAILED = {
    "computed_fields": [{"name": "age_days", "type": "number", "filterable": True, "sortable": True}],
    "aggregation_support": {
        "supported": True,
        "default_mode": "summary_only",
        "functions": ["count", "sum"],
        "groupable_fields": ["genre"],
        "numeric_fields": ["pages"],
    },
    "relationship_capabilities": {
        "supported": True,
        "directions": ["both"],
        "relationship_types": ["wrote"],
        "max_depth": 3,
    },
    "lifecycle": {
        "states": ["pending", "running"],
        "supports_cancel": True,
        "supports_retry": False,
        "progress_reporting": True,
    },
}
CONSTRAINED = {
    "name": "isbn",
    "type": "string",
    "required": False,
    "description": "The number on the back.",
    "enum": ["1"],
    "minimum": 0,
    "maximum": 9.5,
    "minLength": 1,
    "maxLength": 9,
    "pattern": "^[0-9]$",
    "format": "uri",
    "items": {"type": "string"},
    "sensitive": False,
}


def rich() -> Told:
    """A server that tells everything that can be told."""
    told = fine()
    del told.types[4:], told.operations[2:]
    told.details["list_books"] |= copy.deepcopy(DETAILED)
    told.details["list_books"]["examples"][0]["description"] = "All of them."
    told.details["list_books"]["parameters"].append(copy.deepcopy(CONSTRAINED))
    told.details["list_books"]["returns"]["description"] = "One after the other."
    told.types[0]["description"] = "A thing with pages."
    told.protocol["capabilities"] |= {"warnings": True, "pagination": False}
    return told


def answers(told: Told) -> dict[str, Any]:
    """The four kinds of answers, of which one part each may be spoiled."""
    return {
        "list": {"_protocol": told.protocol, "operations": told.operations},
        "details": {"operation": told.details["list_books"]},
        "types": {"types": told.types},
        "object": {"type": told.type_details["Book"]},
        "enum": {"type": told.type_details["Genre"]},
        "union": {"type": told.type_details["Found"]},
        "scalar": {"type": told.type_details["Isbn"]},
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value, but of a list only the first and of schemas of items nothing."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, held in inner:
        yield (*path, key)
        if key not in ("items", "request", "limits"):
            yield from places(held, (*path, key))


WRONG: dict[str, Any] = {
    "number": -5,
    "text": "§",
    "flag": True,
    "null": None,
    "list": [5],
    "object": {"strange": 1},
}
WHERE = [
    (kind, path)
    for kind, data in answers(rich()).items()
    for path in places(data)
    if len(path) > (2 if kind == "list" else 1)
]


def spoiled(kind: str, path: tuple[Any, ...], how: str) -> Told:
    told = rich()
    held = answers(told)[kind]
    for key in path[:-1]:
        held = held[key]
    if how == "missing":
        del held[path[-1]]
    else:
        held[path[-1]] = copy.deepcopy(WRONG[how])
    return told


SHAPES = tuple(
    check
    for check in OURS
    if check.id.endswith(("-shape", ".categories", "-boolean", ".details", ".no-additions", "-answered", "-listed"))
    or check.id in ("protocol.version", "protocol.capabilities", "protocol.conformance", "protocol.mode")
)
"""The checks that look only at forms."""


def refused(told: Told) -> bool:
    """Whether the schema refuses one of the answers."""
    return any(schema_errors({"success": True, "data": data}, SCHEMA) for data in answers(told).values())


@pytest.mark.skipif(not has_spec_schemas(), reason="the JSON Schemas of the specification are not here")
class TestAgainstTheSchema:
    async def test_what_the_rich_server_tells_fits_the_schema_and_breaks_no_check(self) -> None:
        assert not refused(rich())
        report = await report_on(rich(), *SHAPES)
        assert failing(report) | warned(report) == set()

    @pytest.mark.parametrize("how", ["missing", *WRONG])
    async def test_whatever_the_schema_refuses_a_check_refuses(self, how: str) -> None:
        missed = []
        for kind, path in WHERE:
            told = spoiled(kind, path, how)
            if refused(told):
                report = await report_on(told, *SHAPES)
                if not failing(report) | warned(report):
                    missed.append((kind, path))
        assert not missed


@pytest.mark.parametrize("value", [None, 5, "text", [], [{}]])
def test_what_is_no_object_is_said_to_be_none(value: object) -> None:
    assert list(faults(value, DETAILS)) == [f"'it' is {shown(value)}; expected an object"]
    assert list(additions(value, DETAILS)) == []


def test_a_long_value_is_cut_and_one_of_no_json_is_shown_all_the_same() -> None:
    assert len(shown("x" * 1000)) < 100
    assert shown({1, 2}) == "{1, 2}"
    assert shown(2**70) == str(2**70)
