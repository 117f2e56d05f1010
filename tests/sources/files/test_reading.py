"""What a right file says."""

from datetime import date
from typing import Any

import pytest

from headgate.adapter.operations import Example
from headgate.adapter.origins import Provenance
from headgate.adapter.parameters import Deprecated
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.sources.files.reading import adapter_file_from
from tests.sources.files.texts import GET_ITEM, adapter_of, changed, file_of, head, text_of
from tests.support import has_spec_schemas, schema_errors, spec_schema, spec_schemas


def test_a_small_file_says_what_is_needed() -> None:
    file = adapter_file_from(text_of(head(author="Ada", tags=["x"])), "items-adapter.md")
    assert (file.name, file.version, file.description) == ("items", "1.0.0", "Items of a shop")
    assert file.documentation == "# Items\n\nAbout items."
    assert file.metadata == {"author": "Ada", "tags": ["x"]}
    assert [entry.name for entry in file.entries] == ["get_item"]


def test_the_small_file_is_one_by_the_schema_of_the_specification() -> None:
    assert schema_errors(head(), "adapter-schema") == []


@pytest.mark.skipif(not has_spec_schemas(), reason="the JSON Schemas of the specification are not here")
def test_the_examples_of_the_specification_are_read() -> None:
    import json

    schema = json.loads((spec_schemas() / "adapter-schema.schema.json").read_text())
    for example in schema["examples"]:
        assert spec_schema("adapter-schema").is_valid(example)
        file = file_of(example)
        assert file.trust is Trust.VALIDATED
        assert {entry.category for entry in file.entries} == set(Category) - {Category.EXECUTE}
        adapter_of(example)


def test_a_missing_trust_is_the_lowest() -> None:
    assert file_of(head()).trust is Trust.UNTESTED
    assert adapter_of(head()).trust is Trust.UNTESTED


@pytest.mark.parametrize(
    ("word", "trust"),
    [(one.value, one) for one in Trust]
    + [("untrusted", Trust.UNTESTED), ("low", Trust.GENERATED), ("medium", Trust.VALIDATED)]
    + [("high", Trust.COMMUNITY_REVIEWED), ("verified", Trust.CERTIFIED)],
)
def test_the_trust_of_a_file_is_its_adapters(word: str, trust: Trust) -> None:
    assert adapter_of(head(trust={"level": word, "verified_by": "somebody"})).trust is trust


def test_an_operation_without_words_is_described_by_its_name() -> None:
    adapter = adapter_of(changed("operations.read.0", {"name": "get_status", "maps_to": "GET /status"}))
    assert adapter.operations["get_status"].summary == "Get status (GET /status)"


def test_a_description_of_several_paragraphs_has_a_summary() -> None:
    operation = adapter_of(changed("operations.read.0.description", "Get an\nitem.\n\nMore of it.")).operations[
        "get_item"
    ]
    assert operation.summary == "Get an item."
    assert operation.full_description == "Get an\nitem.\n\nMore of it."


def test_everything_that_a_file_may_say_of_an_operation_is_kept() -> None:
    said: dict[str, Any] = {
        **GET_ITEM,
        "summary": "One item",
        "group": "shop",
        "danger": {
            "level": "dangerous",
            "reasons": ["It costs"],
            "confirmation_message": "Get '{id}'?",
            "cooldown_seconds": 5,
            "requires_reauth": True,
        },
        "examples": [{"params": {"id": "x"}, "description": "One"}, {"params": {"id": "y"}}],
        "deprecated": {"note": "old", "replacement": "read_item", "removal_date": "2027-01-31"},
        "response": {"type": "object", "properties": {"id": {"type": "string"}}, "description": "The item"},
        "rules": {"minProperties": 1},
        "locks": ["id"],
        "rationale": "why not",
        "non_idempotent": False,
    }
    operation = adapter_of(changed("operations.read.0", said)).operations["get_item"]
    assert operation.summary == "One item"
    assert operation.group == "shop"
    assert operation.danger == Danger(DangerLevel.DANGEROUS, ("It costs",), "Get '{id}'?", 5, True)
    assert operation.examples == (Example({"id": "x"}, "One"), Example({"id": "y"}))
    assert operation.deprecated == Deprecated("old", "read_item", date(2027, 1, 31))
    assert operation.returns == {"type": "object", "properties": {"id": {"type": "string"}}}
    assert operation.returns_description == "The item"
    assert operation.rules == {"minProperties": 1}
    assert operation.locks == ("id",)
    assert operation.rationale == "why not"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, Deprecated()),
        (False, None),
        ("use more", Deprecated("use more")),
        ({"replacement": "key"}, Deprecated(replacement="key")),
    ],
)
def test_a_parameter_may_be_deprecated_in_several_ways(said: object, expected: Deprecated | None) -> None:
    parameter = adapter_of(changed("operations.read.0.params.id.deprecated", said)).operations["get_item"].parameters[0]
    assert parameter.deprecated == expected
    assert ("deprecated" in parameter.schema) is (expected is not None)


def test_a_type_that_json_does_not_have_is_only_words() -> None:
    operation = adapter_of(changed("operations.read.0.response", {"type": "Item", "description": "It"})).operations[
        "get_item"
    ]
    assert (operation.returns, operation.returns_description) == ({}, "Item: It")
    operation = adapter_of(changed("operations.read.0.response", {"type": "Item"})).operations["get_item"]
    assert (operation.returns, operation.returns_description) == ({}, "Item")


def test_an_operation_says_where_it_comes_from() -> None:
    operation = adapter_of(changed("operations.read.0.danger_level", "safe")).operations["get_item"]
    assert operation.origin
    assert operation.origin.maps_to == "GET /items/{id}"
    assert operation.origin.category.provenance is Provenance.DIRECT
    assert operation.origin.danger.provenance is Provenance.DIRECT
    assert (operation.origin.category.value, operation.origin.danger.value) == ("READ", "safe")
    assert not operation.origin.needs_review


def test_what_a_file_does_not_say_of_danger_category_and_name_do() -> None:
    purge = {"name": "purge_items", "maps_to": "DELETE /items"}
    operation = adapter_of(head(operations={"delete": [purge]})).operations["purge_items"]
    assert operation.danger is None
    assert operation.origin
    assert (operation.origin.danger.value, operation.origin.danger.provenance) == ("dangerous", Provenance.NORMALIZED)


def test_a_schema_of_its_own_goes_before_a_shared_one() -> None:
    values = head(schemas={"Id": {"type": "string"}, "Other": {"type": "null"}})
    own = {"name": "get_other", "maps_to": "GET /x", "params": {"id": {"$ref": "#/schemas/Id"}}}
    values["operations"]["read"] = [
        {**own, "schemas": {"Id": {"type": "integer"}}},
        {**own, "name": "get_more"},
    ]
    adapter = adapter_of(values)
    assert adapter.operations["get_other"].definitions == {"Id": {"type": "integer"}}
    assert adapter.operations["get_more"].definitions == {"Id": {"type": "string"}}


def test_long_work_runs_in_the_background() -> None:
    run = {"name": "execute_build", "maps_to": "POST /builds", "background": {"retries": 2, "key": ["app"]}}
    run["params"] = {"app": {"type": "string", "required": True}}
    operation = adapter_of(head(operations={"execute": [run]})).operations["execute_build"]
    assert operation.background
    assert (operation.background.retries, operation.background.keys) == (2, ("app",))
    plain = adapter_of(head(operations={"execute": [{**run, "background": True}]})).operations["execute_build"]
    assert plain.background
    off = adapter_of(head(operations={"execute": [{**run, "background": False}]})).operations["execute_build"]
    assert off.background is None
