"""How a file refers to its source, without the secrets of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import Operation
from headgate.adapter.schemas import REF
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.reading import adapter_file_from
from headgate.sources.files.references import references_in
from headgate.sources.gate.exporting import exported_document, exported_source, target_of
from headgate.sources.gate.specs import SourceKind, SourceSpec
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.source import openapi_adapter
from tests.sources.files.test_exporting import assert_same, read_back
from tests.sources.http.upstream import always, reply, running
from tests.sources.openapi.real import DOCUMENTS, real_documents


def options_of(spec: SourceSpec, folder: Path | None = None) -> Any:
    target = target_of(spec, folder)
    assert target
    return dict(target.options)


def server(**said: Any) -> SourceSpec:
    return SourceSpec(name="my-files", kind=SourceKind.MCP, mcp=McpSpec(name="my-files", **said))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (SourceSpec(name="demo", kind=SourceKind.DEMO), {"source": "demo"}),
        (SourceSpec(name="x", kind=SourceKind.MODULE, where="package.module:shop"), {"source": "package.module:shop"}),
        (SourceSpec(name="x", kind=SourceKind.DATABASE, where="missing.db"), {"source": "missing.db"}),
        (
            SourceSpec(name="big shop", kind=SourceKind.DATABASE, where="postgresql://ada:pw@db.example/shop"),
            {"source": "${BIG_SHOP_URL}"},
        ),
        (
            SourceSpec(name="x", kind=SourceKind.DATABASE, where="postgresql://db.example/shop"),
            {"source": "postgresql://db.example/shop"},
        ),
        (
            server(command="npx", args=("-y", "some-server", "/data"), env={"API_TOKEN": "s3cret"}, cwd="/srv"),
            {
                "command": "npx",
                "args": ["-y", "some-server", "/data"],
                "env": {"API_TOKEN": "${API_TOKEN}"},
                "cwd": "/srv",
            },
        ),
        (
            server(command="x", args=("--api-key", "s3cret", "--token=s3cret", "--verbose", "--password", "-q", "v")),
            {
                "command": "x",
                "args": [
                    *("--api-key", "${MY_FILES_API_KEY}", "--token=${MY_FILES_TOKEN}", "--verbose"),
                    *("--password", "-q", "v"),
                ],
            },
        ),
        (
            server(command="x", args=("glpat-" + "aB3dE6gH9jK2mN5pQ8sT",)),
            {"command": "x", "args": ["${MY_FILES_SECRET}"]},
        ),
        (
            server(
                url="https://ada:s3cret@mcp.example/mcp?api_key=s3cret&team=7",
                headers={"Authorization": "Bearer s3cret", "X-Key": "s3cret"},
            ),
            {
                "url": "https://mcp.example/mcp?api_key=${MY_FILES_API_KEY}&team=7",
                "headers": {"Authorization": "Bearer ${MY_FILES_TOKEN}", "X-Key": "${MY_FILES_X_KEY}"},
            },
        ),
        (server(url="https://mcp.example/mcp"), {"url": "https://mcp.example/mcp"}),
    ],
    ids=["demo", "module", "file", "password", "url", "command", "options", "token", "server url", "plain url"],
)
def test_a_source_is_named_without_its_secrets(spec: SourceSpec, options: dict[str, Any]) -> None:
    assert options_of(spec) == options
    assert "s3cret" not in str(options)


def test_a_file_is_named_as_seen_from_where_the_adapter_file_lies(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "data" / "shop.db").touch()
    (tmp_path / "data" / "shop.py").touch()
    for name, kind in (("shop.db", SourceKind.DATABASE), ("shop.py:adapter", SourceKind.MODULE)):
        spec = SourceSpec(name="shop", kind=kind, where=str(tmp_path / "data" / name))
        assert options_of(spec, tmp_path / "files") == {"source": f"../data/{name}"}
        assert options_of(spec) == {"source": str(tmp_path / "data" / name)}


def test_an_adapter_file_speaks_for_itself() -> None:
    assert target_of(SourceSpec(name="x", kind=SourceKind.ADAPTER_FILE, where="x-adapter.md")) is None


def test_a_server_that_says_nothing_cannot_be_named() -> None:
    with pytest.raises(AdapterError, match="neither a command nor a URL"):
        target_of(SourceSpec(name="x", kind=SourceKind.MCP))


# OpenAPI documents

PET = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tag": {"type": "string"}}}
ID = {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}
GET_PET = {
    "operationId": "getPet",
    "tags": ["pets"],
    "summary": "One pet",
    "parameters": [
        {"name": "expand", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "lang", "in": "query", "schema": {"type": "string", "default": "de"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    ],
    "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": PET}}}},
}


def body(schema: dict[str, Any], media: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"required": True, "content": {media: {"schema": schema}}, **more}


PATHS: dict[str, Any] = {
    "/pets/{petId}": {
        "parameters": [ID],
        "get": GET_PET,
        "patch": {
            "operationId": "updatePet",
            "requestBody": body({"type": "object", "properties": {"newName": {"type": "string"}}}),
            "responses": {"200": {"description": "ok"}},
        },
        "delete": {"operationId": "deletePet", "responses": {"204": {"description": "gone"}}},
    },
    "/pets": {
        "post": {
            "operationId": "createPet",
            "parameters": [{"name": "notify", "in": "query", "schema": {"type": "boolean"}}],
            "requestBody": body(PET),
            "responses": {"201": {"description": "made"}},
        }
    },
}


def document(tmp_path: Path, paths: dict[str, Any], **more: Any) -> Path:
    whole = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1.0.0"}, "paths": paths, **more}
    file = tmp_path / "pets.json"
    file.write_text(json.dumps({"servers": [{"url": "https://pets.example/v2"}], **whole}))
    return file


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_pet", {"pet_id": 7, "expand": ["a", "b c"], "lang": "en", "x_trace": "t"}),
    ("get_pet", {"pet_id": 7}),
    ("update_pet", {"pet_id": 7, "input": {"new_name": "Rex"}}),
    ("update_pet", {"pet_id": 7, "input": {}}),
    ("delete_pet", {"pet_id": 7}),
    ("create_pet", {"name": "Rex", "notify": True}),
    ("create_pet", {"name": "é", "tag": "x"}),
]


@pytest.mark.anyio
async def test_a_simple_document_becomes_requests_of_its_own_and_they_are_the_same(tmp_path: Path) -> None:
    file = document(tmp_path, PATHS)
    async with running(always(reply(200, b'{"name":"Rex"}', content_type="application/json"))) as upstream:
        adapter = openapi_adapter(file, OpenApiOptions(base_url=f"{upstream.url}/v2"))
        text = exported_document(adapter, "pets.json")
        again = read_back(text)
        assert_same(adapter, again)
        assert "maps_to: GET /pets/{petId}" in text
        for name, params in CALLS:
            for one in (adapter, again):
                operation = one.operations[name]
                assert operation.validator.is_valid(params)
                await operation.function(**{**operation.defaults, **params})
        await adapter.close()
        await again.close()
    for ours, theirs in zip(upstream.requests[1::2], upstream.requests[::2], strict=True):
        assert (ours.method, ours.target) == (theirs.method, theirs.target)
        assert json.loads(ours.body or b"0") == json.loads(theirs.body or b"0")
        for header in ("content-type", "x-trace"):
            assert ours.headers.get(header) == theirs.headers.get(header)


@pytest.mark.parametrize(
    ("scheme", "auth"),
    [
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, ("api_key", "header_name")),
        ({"type": "apiKey", "in": "query", "name": "key"}, ("api_key", "param_name")),
        ({"type": "http", "scheme": "bearer"}, ("bearer", "token_env")),
        ({"type": "http", "scheme": "basic"}, ("basic", "username_env")),
    ],
)
def test_one_credential_for_all_is_said_in_the_file(tmp_path: Path, scheme: dict[str, str], auth: Any) -> None:
    more = {"security": [{"it": []}], "components": {"securitySchemes": {"it": scheme}}}
    adapter = openapi_adapter(document(tmp_path, PATHS, **more))
    file = adapter_file_from(exported_document(adapter, "pets.json"), "x")
    assert file.target.transport == "http"
    assert (file.auth.type, next(iter(file.auth.options))) == auth


ODD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a style of its own": (
        {
            "parameters": [
                {
                    "name": "q",
                    "in": "query",
                    "style": "pipeDelimited",
                    "schema": {"type": "array", "items": {"type": "string"}},
                }
            ]
        },
        {},
    ),
    "an object in the query": ({"parameters": [{"name": "q", "in": "query", "schema": {"type": "object"}}]}, {}),
    "a cookie": ({"parameters": [{"name": "q", "in": "cookie", "schema": {"type": "string"}}]}, {}),
    "a form": ({"requestBody": body(PET, "application/x-www-form-urlencoded")}, {}),
    "a body that may be missing": ({"requestBody": body(PET, required=False)}, {}),
    "a list as a body": ({"requestBody": body({"type": "array", "items": PET})}, {}),
    "other names inside": (
        {
            "requestBody": body(
                {"type": "object", "properties": {"a": {"type": "object", "properties": {"bC": {"type": "string"}}}}}
            )
        },
        {},
    ),
    "two credentials": (
        {},
        {
            "security": [{"a": []}, {"b": []}],
            "components": {
                "securitySchemes": {"a": {"type": "http", "scheme": "bearer"}, "b": {"type": "http", "scheme": "basic"}}
            },
        },
    ),
    "a server of its own": ({"servers": [{"url": "https://other.example"}]}, {}),
}


@pytest.mark.parametrize(("odd", "more"), ODD.values(), ids=list(ODD))
def test_a_document_that_says_more_than_a_file_can_is_referred_to(
    tmp_path: Path, odd: dict[str, Any], more: dict[str, Any]
) -> None:
    operation = {"operationId": "createOdd", "responses": {"200": {"description": "ok"}}, **odd}
    adapter = openapi_adapter(document(tmp_path, {**PATHS, "/odd": {"post": operation}}, **more))
    text = exported_document(adapter, "pets.json")
    file = adapter_file_from(text, "x")
    assert (file.target.transport, file.target.options) == ("headgate", {"source": "pets.json"})
    assert_same(adapter, read_back(text))


def test_a_document_is_referred_to_through_its_source(tmp_path: Path) -> None:
    file = document(tmp_path, PATHS)
    adapter = openapi_adapter(file)
    spec = SourceSpec(name="pets", kind=SourceKind.OPENAPI, where=str(file))
    assert "base_url: 'https://pets.example/v2'" in exported_source(adapter, spec, tmp_path)


def test_other_adapters_are_none_of_a_document() -> None:
    adapter = Adapter("x")
    adapter.read(name="get_x", description="x")(lambda: None)
    assert "transport: headgate" in exported_document(adapter, "x.json")


def test_a_document_whose_schemas_are_cut_off_comes_back() -> None:
    """Its nodes hold each other without end, so that each operation knows only the nearest of them."""
    real_documents()
    figma = next(one for one in DOCUMENTS if one.service == "figma")
    adapter = openapi_adapter(figma.file)
    cut = {name for one in adapter.operations.values() for name in _missing(one)}
    assert cut
    file = adapter_file_from(exported_document(adapter, str(figma.file)), "figma-adapter.md")
    assert {entry.name for entry in file.entries} == set(adapter.operations)


def _missing(operation: Operation) -> set[str]:
    """The names that the schemas of an operation refer to and that are not among them."""
    schemas = (operation.returns, *operation.definitions.values())
    named = {reference.removeprefix(REF) for one in schemas for _, reference in references_in(one)}
    return named - set(operation.definitions)
