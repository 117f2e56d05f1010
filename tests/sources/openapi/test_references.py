"""References: into the document, into files beside it, round in rings, and nowhere else."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from headgate.adapter.adapter import Adapter
from headgate.sources.openapi.source import openapi_adapter
from tests.sources.openapi.making import Node, adapter_of, document, get, operation_of, prepared

PET = {"type": "object", "properties": {"petName": {"type": "string"}}, "required": ["petName"]}


def posting(schema: Node) -> Node:
    return get(requestBody={"required": True, "content": {"application/json": {"schema": schema}}})


def fields(**properties: Node) -> Node:
    return {"type": "object", "properties": properties}


def to(name: str) -> Node:
    return {"$ref": f"#/components/schemas/{name}"}


def written(folder: Path, files: dict[str, Any]) -> Adapter:
    """The adapter of the first of these files."""
    for name, tree in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(tree))
    return openapi_adapter(folder / next(iter(files)))


def test_references_lead_to_schemas_parameters_bodies_and_answers() -> None:
    tree = document(
        {"/pets/{petId}": {"$ref": "#/components/pathItems/Pets"}},
        components={
            "pathItems": {
                "Pets": {
                    "parameters": [{"$ref": "#/components/parameters/Id"}],
                    "post": {
                        "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                        "responses": {"200": {"$ref": "#/components/responses/Pet"}},
                    },
                }
            },
            "parameters": {"Id": {"name": "petId", "in": "path", "schema": {"$ref": "#/components/schemas/Id"}}},
            "requestBodies": {
                "Pet": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                }
            },
            "responses": {
                "Pet": {
                    "description": "A pet",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                }
            },
            "schemas": {"Id": {"type": "integer"}, "Pet": PET},
        },
    )
    [operation] = adapter_of(tree).operations.values()
    assert [parameter.name for parameter in operation.parameters] == ["pet_id", "pet_name", "dry_run"]
    assert not operation.validator.is_valid({"pet_id": "x", "pet_name": "Rex"})
    assert operation.validator.is_valid({"pet_id": 1, "pet_name": "Rex"})
    assert operation.returns == {"$ref": "#/$defs/Pet"}
    assert operation.returns_description == "A pet"


@pytest.mark.parametrize(
    ("schemas", "good", "bad"),
    [
        (
            {"Node": fields(v={"type": "integer"}, next=to("Node"))},
            {"v": 1, "next": {"v": 2, "next": {"v": 3}}},
            {"v": 1, "next": {"v": 2, "next": {"v": "x"}}},
        ),
        (
            {
                "Node": fields(a=to("Other")),
                "Other": fields(b={"type": "array", "items": to("Node")}),
            },
            {"a": {"b": [{"a": {"b": []}}]}},
            {"a": {"b": [{"a": {"b": 5}}]}},
        ),
    ],
    ids=["itself", "each other"],
)
def test_a_schema_may_contain_itself(schemas: Node, good: Node, bad: Node) -> None:
    node = posting({"$ref": "#/components/schemas/Node"})
    operation = operation_of(node, method="post", components={"schemas": schemas})
    assert operation.validator.is_valid(good)
    assert not operation.validator.is_valid(bad)


@pytest.mark.parametrize(
    "schemas",
    [
        {"Node": {"$ref": "#/components/schemas/Node"}},
        {"Node": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/Node"}},
        {"Node": {"allOf": [{"$ref": "#/components/schemas/Node"}]}},
        {
            "Node": {"anyOf": [{"$ref": "#/components/schemas/B"}]},
            "B": {"oneOf": [{"$ref": "#/components/schemas/Node"}]},
        },
        {"Node": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
        {"Node": {"type": "object", "properties": {"a": {"$ref": "#/components"}}}},
        {"Node": {"type": "object", "properties": {"a": {"$ref": "#/paths"}}}},
        {"Node": {"not": {"$ref": "#/components/schemas/Node"}}},
    ],
    ids=["itself", "a pair", "of all", "of any", "the document", "its components", "its paths", "its opposite"],
)
def test_a_ring_that_stands_for_itself_does_no_harm(schemas: Node) -> None:
    node = posting({"$ref": "#/components/schemas/Node"})
    operation = operation_of(node, method="post", components={"schemas": schemas})
    operation.validator.is_valid({"a": {"a": 1}})
    operation.validator.is_valid({"body": {"a": 1}})


@pytest.mark.parametrize("kind", ["parameters", "requestBodies", "responses", "pathItems"])
def test_a_ring_of_anything_else_stands_for_nothing(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    ring = {"$ref": f"#/components/{kind}/A"}
    node = {
        "parameters": [ring] if kind == "parameters" else [],
        "requestBody": ring if kind == "requestBodies" else {},
        "responses": {"200": ring if kind == "responses" else {"description": "-"}},
    }
    paths = {"/a": {"post": node}, **({"/b": ring} if kind == "pathItems" else {})}
    adapter = adapter_of(document(paths, components={kind: {"A": ring}}))
    assert [operation.origin.maps_to for operation in adapter.operations.values() if operation.origin] == ["POST /a"]
    assert "a reference that leads back to itself" in caplog.text


def test_files_beside_the_document_are_read_from_where_they_stand(tmp_path: Path) -> None:
    adapter = written(
        tmp_path,
        {
            "shop.json": document({"/pets": {"$ref": "paths/pets.json#/pets"}}),
            "paths/pets.json": {"pets": {"post": posting({"$ref": "../schemas/pet.json"})}},
            "schemas/pet.json": {
                "type": "object",
                "properties": {"petTag": {"$ref": "tag.json#/definitions/a~1b%20c"}},
            },
            "schemas/tag.json": {"definitions": {"a/b c": {"type": "string", "maxLength": 3}}},
        },
    )
    [operation] = adapter.operations.values()
    assert operation.validator.is_valid({"pet_tag": "abc"})
    assert not operation.validator.is_valid({"pet_tag": "abcd"})


@pytest.mark.parametrize(
    "reference",
    ["../secret.json", "/etc/passwd", "sub/../../secret.json", "link.json", "file:///etc/passwd", "%2e%2e/secret.json"],
)
def test_no_reference_leads_out_of_the_folder(tmp_path: Path, reference: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "secret.json").write_text('{"enum": ["the secret"]}')
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    adapter = written(folder, {"shop.json": document({"/pets": {"post": posting({"$ref": reference})}})})
    [operation] = adapter.operations.values()
    assert "the secret" not in json.dumps(operation.schema)
    assert operation.validator.is_valid({"body": {"anything": 1}})
    assert "leads out of the document's folder" in caplog.text or "nothing is fetched" in caplog.text


@pytest.mark.parametrize("reference", ["https://evil.example/x.json", "http://169.254.169.254/", "//evil.example/x"])
def test_no_reference_is_fetched(reference: str, caplog: pytest.LogCaptureFixture) -> None:
    operation = operation_of(posting({"$ref": reference}), method="post")
    assert operation.validator.is_valid({"body": 1})
    assert "nothing is fetched over the network" in caplog.text


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("#/components/schemas/Missing", "leads nowhere"),
        ("#anchor", "is no pointer"),
        ("gone.json", "There is no file 'gone.json'"),
        ("broken.json", "is not valid JSON"),
        ("#/servers/99999999999999999999", "leads nowhere"),
        ("#/servers/7", "leads nowhere"),
    ],
)
def test_a_reference_to_nothing_allows_anything_and_is_said(
    tmp_path: Path, reference: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "broken.json").write_text('{"a": ')
    adapter = written(tmp_path, {"shop.json": document({"/pets": {"post": posting({"$ref": reference})}})})
    [operation] = adapter.operations.values()
    assert operation.validator.is_valid({"body": {"anything": 1}})
    assert words in caplog.text


def test_requests_and_answers_have_their_own_form_of_a_schema() -> None:
    pet = {
        "type": "object",
        "required": ["id", "name", "secret"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "made": {"$ref": "#/components/schemas/Moment"},
            "name": {"type": "string"},
            "secret": {"type": "string", "writeOnly": True},
        },
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}
    node = {
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "-", "content": content}},
    }
    moment = {"type": "string", "format": "date-time", "readOnly": True}
    operation = operation_of(node, method="post", components={"schemas": {"Pet": pet, "Moment": moment}})
    assert [parameter.name for parameter in operation.parameters] == ["name", "secret", "dry_run"]
    assert [parameter.required for parameter in operation.parameters] == [True, True, False]
    assert set(operation.definitions["Pet"]["properties"]) == {"id", "made", "name"}


def test_what_lies_far_inside_a_very_large_body_is_left_to_the_upstream() -> None:
    schemas: Node = {
        f"S{n}": {
            "type": "object",
            "properties": {
                **{f"field{i}": {"type": "string"} for i in range(100)},
                "deeperIn": {"$ref": f"#/components/schemas/S{n + 1}"},
            },
        }
        for n in range(30)
    }
    schemas["S30"] = {"type": "integer"}
    operation = operation_of(
        posting({"$ref": "#/components/schemas/S0"}), method="post", components={"schemas": schemas}
    )
    near = {"field1": "x", "deeper_in": {"field1": "y"}}
    assert operation.validator.is_valid(near)
    assert not operation.validator.is_valid({"deeper_in": {"field1": 5}})
    assert len(json.dumps(operation.schema)) < 150_000


def test_names_inside_a_reference_are_sent_as_the_document_spells_them() -> None:
    operation = operation_of(
        posting({"type": "object", "properties": {"thePet": {"$ref": "#/components/schemas/Pet"}}}),
        method="post",
        components={"schemas": {"Pet": PET}},
    )
    assert json.loads(prepared(operation, the_pet={"pet_name": "Rex"}).content or b"") == {"thePet": {"petName": "Rex"}}


def test_more_files_than_anybody_has_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for number in range(502):
        (tmp_path / f"f{number}.json").write_text('{"type": "string"}')
    properties = {f"p{number}": {"$ref": f"f{number}.json"} for number in range(502)}
    adapter = written(
        tmp_path, {"shop.json": document({"/a": {"post": posting({"type": "object", "properties": properties})}})}
    )
    assert not adapter.operations
    assert "refers to more than 500 files" in caplog.text
