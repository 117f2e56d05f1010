"""Parameters: from everywhere in a document to one list of names, and back to where each belongs."""

import json
from typing import Any

import pytest

from headgate.protocol.categories import Category
from headgate.protocol.errors import AqlError
from tests.sources.openapi.making import Node, adapter_of, document, get, operation_of, prepared


def given(where: str, name: str = "id", **more: Any) -> Node:
    return {"name": name, "in": where, "schema": {"type": "string"}, **more}


def body(schema: Node, *, required: bool = True, media: str = "application/json", **more: Any) -> Node:
    return {"required": required, "content": {media: {"schema": schema, **more}}}


def names(operation: Any) -> list[str]:
    return [parameter.name for parameter in operation.parameters]


def test_the_same_name_in_four_places_becomes_four_parameters_and_is_said() -> None:
    node = get(given("query"), given("header"), given("cookie"), given("path"))
    operation = operation_of(node, "/things/{id}")
    assert names(operation) == ["id", "query_id", "header_id", "cookie_id", "fields"]
    for where in ("query", "header", "cookie"):
        assert f"'{where}_id' is 'id' in the {where}." in operation.description
    sent = prepared(operation, id="a", query_id="b", header_id="c", cookie_id="d")
    assert sent.url == "https://shop.example/things/a"
    assert sent.query == (("id", "b"),)
    assert dict(sent.headers) == {"Accept": "application/json", "id": "c", "Cookie": "id=d"}


def test_a_field_of_the_body_with_the_name_of_a_parameter_has_another_and_is_said() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    operation = operation_of(get(given("path"), requestBody=body(schema)), "/things/{id}", "post")
    [renamed] = [name for name in names(operation) if name.startswith("id_")]
    assert f"'{renamed}' is 'id' there." in operation.description
    sent = prepared(operation, **{"id": "a", renamed: 5})
    assert sent.url.endswith("/things/a")
    assert json.loads(sent.content or b"") == {"id": 5}


def test_an_update_keeps_the_path_beside_its_input() -> None:
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "theName": {}}}
    node = get(given("path"), given("query", "dryRun"), requestBody=body(schema))
    operation = operation_of(node, "/things/{id}", "put")
    assert operation.category is Category.UPDATE
    assert operation.identifiers == ("id",)
    [field] = [name for name in operation.schema["properties"]["input"]["properties"] if name.startswith("id")]
    params: Node = {"id": "a", "input": {field: 5, "the_name": "x"}}
    assert json.loads(prepared(operation, **params).content or b"") == {"id": 5, "theName": "x"}


@pytest.mark.parametrize(
    ("parameters", "category", "expected"),
    [
        ([given("path"), given("query", "state")], Category.UPDATE, ["id", "input", "dry_run"]),
        ([given("path")], Category.EXECUTE, ["id", "dry_run"]),
    ],
    ids=["a query is the change", "nothing to change"],
)
def test_an_update_without_a_body_changes_by_its_query_or_is_none(
    parameters: list[Node], category: Category, expected: list[str]
) -> None:
    operation = operation_of(get(*parameters), "/things/{id}", "put")
    assert (operation.category, names(operation)) == (category, expected)
    if category is Category.UPDATE:
        assert prepared(operation, id="a", input={"state": "on"}).query == (("state", "on"),)


def test_headers_that_are_not_a_callers_to_set_are_left_out() -> None:
    headers = ["Accept", "content-type", "AUTHORIZATION", "Host", "Content-Length", "Cookie", "X-Own"]
    operation = operation_of(get(*(given("header", name) for name in headers)))
    assert names(operation) == ["x_own", "fields"]


def test_an_operation_goes_before_its_path_and_what_is_odd_is_left_out() -> None:
    tree = document(
        {
            "/things": {
                "parameters": [
                    given("query", "a", required=True),
                    given("query", "b"),
                    "odd",
                    {"name": 5, "in": "query"},
                ],
                "get": get({**given("query", "a"), "deprecated": True}, given("body", "c"), given("query", "")),
            }
        }
    )
    [operation] = adapter_of(tree).operations.values()
    assert names(operation) == ["a", "b", "fields"]
    first, *_ = operation.parameters
    assert not first.required
    assert first.deprecated is not None


def test_a_name_in_the_path_that_is_not_described_is_a_text() -> None:
    operation = operation_of(get(given("path", "unused")), "/things/{thingId}/parts/{part}.json")
    assert names(operation) == ["thing_id", "part", "fields"]
    assert prepared(operation, thing_id="a b", part="x/y").url == "https://shop.example/things/a%20b/parts/x%2Fy.json"


@pytest.mark.parametrize("value", ["", ".", "..", "a/../b", "..\\x"])
def test_a_path_parameter_cannot_leave_its_segment(value: str) -> None:
    operation = operation_of(get(), "/things/{id}/parts")
    with pytest.raises(AqlError, match="stands in a path"):
        prepared(operation, id=value)


def test_two_parameters_cannot_make_a_step_up_together() -> None:
    operation = operation_of(get(given("path", "a", style="label"), given("path", "b")), "/x/{a}/{b}")
    with pytest.raises(AqlError, match="stands in a path"):
        prepared(operation, a=".", b="c")
    with pytest.raises(AqlError, match="stands in a path"):
        prepared(operation, a="", b="c")


def test_an_empty_value_passes_where_the_document_allows_it() -> None:
    parameter = {"name": "on", "in": "query", "allowEmptyValue": True, "schema": {"type": "boolean"}}
    operation = operation_of(get(parameter))
    assert prepared(operation, on="").query == (("on", ""),)
    assert prepared(operation, on=True).query == (("on", "true"),)
    assert not operation.validator.is_valid({"on": "x"})


def test_defaults_are_shown_and_not_sent() -> None:
    parameter = {"name": "size", "in": "query", "schema": {"type": "integer", "default": 5, "nullable": True}}
    operation = operation_of(get(parameter))
    assert operation.parameters[0].schema["default"] == 5
    assert prepared(operation).query == ()
    assert prepared(operation, size=None).query == ()


@pytest.mark.parametrize("kind", ["oneOf", "anyOf"])
def test_alternatives_of_fields_are_checked_together(kind: str) -> None:
    card = {"type": "object", "required": ["card"], "properties": {"card": {"type": "string"}}}
    cash = {"type": "object", "required": ["cash"], "properties": {"cash": {"type": "integer"}}}
    operation = operation_of(get(requestBody=body({kind: [card, cash]})), method="post")
    assert names(operation) == ["card", "cash", "dry_run"]
    assert operation.validator.is_valid({"card": "x"})
    assert operation.validator.is_valid({"cash": 1, "dry_run": True})
    assert not operation.validator.is_valid({})


def test_parts_of_a_schema_come_together() -> None:
    base = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    more = {"type": "object", "properties": {"b": {"type": "integer"}}}
    operation = operation_of(get(requestBody=body({"allOf": [base, more]})), method="post")
    assert names(operation) == ["a", "b", "dry_run"]
    assert not operation.validator.is_valid({"b": 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {}}, "nullable": True},
        {"type": ["object", "null"], "properties": {"a": {}}},
        {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]},
        {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 1},
        {"oneOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}]},
        {},
        True,
    ],
)
def test_what_is_no_plain_object_is_one_parameter(schema: Any) -> None:
    operation = operation_of(get(requestBody=body(schema)), method="post")
    assert names(operation) == ["body", "dry_run"]
    assert operation.parameters[0].required


def test_a_parameter_that_is_called_body_stands_beside_the_body() -> None:
    operation = operation_of(get(given("query", "body"), requestBody=body({"type": "string"})), method="post")
    sent = prepared(operation, body="a", request_body="b")
    assert (sent.query, sent.content) == ((("body", "a"),), b'"b"')


def test_an_optional_body_is_sent_if_any_of_it_is_given_and_then_it_must_be_whole() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    operation = operation_of(get(requestBody=body(schema, required=False)), method="post")
    assert prepared(operation).content is None
    assert json.loads(prepared(operation, a="x").content or b"") == {"a": "x"}
    assert not operation.validator.is_valid({"b": "x"})


def test_an_optional_body_of_alternatives_may_be_left_out_too() -> None:
    card = {"type": "object", "required": ["card"], "properties": {"card": {"type": "string"}}}
    cash = {"type": "object", "required": ["cash"], "properties": {"cash": {"type": "integer"}}}
    operation = operation_of(get(requestBody=body({"oneOf": [card, cash]}, required=False)), method="post")
    assert prepared(operation).content is None
    assert prepared(operation, cash=1).content == b'{"cash":1}'
    assert not operation.validator.is_valid({"card": "x", "cash": 1})


def test_a_body_without_a_schema_of_a_required_kind_is_sent_empty() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    operation = operation_of(get(requestBody=body(schema)), method="post")
    assert prepared(operation).content == b"{}"


def test_open_objects_take_further_fields() -> None:
    schema = {"type": "object", "properties": {"aB": {"type": "string"}}, "additionalProperties": True}
    operation = operation_of(get(requestBody=body(schema)), method="post")
    assert json.loads(prepared(operation, a_b="x", Own=1).content or b"") == {"aB": "x", "Own": 1}
    assert "dry_run" not in str(prepared(operation, a_b="x").content)


@pytest.mark.parametrize(
    ("offered", "method", "chosen"),
    [
        (["application/xml", "application/json"], "post", "application/json"),
        (["application/json-patch+json", "application/merge-patch+json"], "patch", "application/merge-patch+json"),
        (["application/json", "application/merge-patch+json"], "patch", "application/merge-patch+json"),
        (["application/json", "application/merge-patch+json"], "post", "application/json"),
        (["multipart/form-data", "application/x-www-form-urlencoded"], "post", "application/x-www-form-urlencoded"),
        (["application/vnd.x+json", "text/plain"], "post", "application/vnd.x+json"),
        (["*/*"], "post", "application/json"),
    ],
)
def test_of_several_media_types_json_is_taken(offered: list[str], method: str, chosen: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    node = get(requestBody={"required": True, "content": {media: {"schema": schema} for media in offered}})
    operation = operation_of(node, method=method)
    params: Node = {"input": {"a": "x"}} if operation.category is Category.UPDATE else {"a": "x"}
    assert dict(prepared(operation, **params).headers)["Content-Type"] == chosen


def test_images_of_several_types_need_their_type_said() -> None:
    content: Node = {"image/png": {}, "image/jpeg": {}}
    operation = operation_of(get(requestBody={"required": True, "content": content}), method="post")
    assert names(operation) == ["body", "content_type", "dry_run"]
    sent = prepared(operation, body="AAEC", content_type="image/jpeg")
    assert (dict(sent.headers)["Content-Type"], sent.content) == ("image/jpeg", b"\0\1\2")
    assert not operation.validator.is_valid({"body": "AAEC", "content_type": "text/html"})


@pytest.mark.parametrize("media", ["image/*", "video/*"])
def test_any_image_may_say_its_type(media: str) -> None:
    operation = operation_of(get(requestBody={"required": True, "content": {media: {}}}), method="post")
    assert not operation.validator.is_valid({"body": "AAEC", "content_type": "image/png\r\nX: y"})
    assert dict(prepared(operation, body="AAEC", content_type="image/gif").headers)["Content-Type"] == "image/gif"


def test_bytes_of_any_type_are_octets() -> None:
    content = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
    operation = operation_of(get(requestBody={"required": True, "content": content}), method="post")
    params: Node = {"body": "AAEC", "content_type": "application/pdf"}
    assert (
        prepared(operation, **{name: params[name] for name in names(operation) if name in params}).content == b"\0\1\2"
    )


def test_a_file_has_a_name_and_a_type_beside_it() -> None:
    schema = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}, "file_mime_type": {}}}
    operation = operation_of(get(requestBody=body(schema, media="multipart/form-data")), method="post")
    content = prepared(operation, file="AAEC", file_filename='a"b\r\nX: y', file_mime_type_2="image/png").content or b""
    assert b'; filename="a%22b%0D%0AX: y"\r\nContent-Type: image/png\r\n\r\n\x00\x01\x02\r\n' in content
    with pytest.raises(AqlError, match="must be a media type"):
        prepared(operation, file="AAEC", file_mime_type_2="image/png\r\nX: y")


def test_a_form_may_be_put_together_of_parts() -> None:
    upload = {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "contentMediaType": "image/png"}},
    }
    schema = {"allOf": [upload, {"oneOf": [{"properties": {"note": {"type": "string"}}}]}]}
    operation = operation_of(get(requestBody=body(schema, media="multipart/form-data")), method="post")
    assert {"file", "note"} <= set(names(operation))
    assert not operation.validator.is_valid({"note": "x"})
    assert b"\x00\x01\x02" in (prepared(operation, file="AAEC").content or b"")


def test_examples_of_the_document_are_examples_of_the_operation() -> None:
    schema = {
        "type": "object",
        "required": ["petName"],
        "properties": {
            "petName": {"type": "string"},
            "owner": {"type": "object", "properties": {"firstName": {"type": "string"}}},
        },
    }
    example = {"petName": "Rex", "owner": {"firstName": "Ada"}}
    node = get(given("path", example="7"), requestBody=body(schema, example=example))
    operation = operation_of(node, "/pets/{id}", "post")
    [shown] = operation.examples
    assert shown.params == {"id": "7", "pet_name": "Rex", "owner": {"first_name": "Ada"}}
    updating = operation_of(node, "/pets/{id}", "put")
    assert updating.examples[0].params["input"] == {"pet_name": "Rex", "owner": {"first_name": "Ada"}}


@pytest.mark.parametrize(
    "content",
    [
        {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}, "example": {"a": "no number"}},
        {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}, "example": {"a": "x" * 3000}},
        {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}, "example": 5},
        {
            "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
            "examples": {"one": {"$ref": "#/gone"}},
        },
    ],
    ids=["wrong", "long", "of another type", "nowhere"],
)
def test_an_example_that_does_not_work_is_not_shown(content: Node) -> None:
    node = get(requestBody={"required": True, "content": {"application/json": content}})
    assert operation_of(node, method="post").examples == ()


def test_named_examples_count_too() -> None:
    examples = {"one": {"$ref": "#/components/examples/One"}}
    content = {"schema": {"type": "string"}, "examples": examples}
    node = get(
        {**given("query", "q", required=True), "examples": examples},
        requestBody={"required": True, "content": {"application/json": content}},
    )
    operation = operation_of(node, method="post", components={"examples": {"One": {"value": "x"}}})
    assert operation.examples[0].params == {"q": "x", "body": "x"}


def test_a_body_that_a_method_does_not_have_is_left_out() -> None:
    operation = operation_of(get(requestBody=body({"type": "string"})))
    assert names(operation) == ["fields"]


def test_a_named_schema_may_be_whole_in_a_parameter_and_far_away_in_the_body() -> None:
    to = "#/components/schemas"
    schemas: Node = {
        f"S{n}": {
            "type": "object",
            "properties": {
                **{f"field{i}": {"type": "string"} for i in range(700)},
                "next": {"$ref": f"{to}/S{n + 1}"},
                "colors": {"type": "array", "items": {"$ref": f"{to}/C"}},
            },
        }
        for n in range(3)
    }
    schemas |= {"S3": {"type": "string"}, "C": {"type": "string", "enum": ["red", "green"]}}
    schemas["S0"]["properties"].pop("colors")
    color = {"name": "color", "in": "query", "schema": {"$ref": f"{to}/C"}}
    node = get(color, requestBody=body({"$ref": f"{to}/S0"}))
    operation = operation_of(node, method="post", components={"schemas": schemas})
    assert not operation.validator.is_valid({"color": "blue"})
    assert operation.validator.is_valid({"color": "red", "next": {"colors": ["blue"]}})


def test_a_body_too_large_to_be_checked_is_one_parameter_of_any_form() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"anyOf": [{}] * 10} for n in range(9_000)}}
    operation = operation_of(get(requestBody=body(schema)), method="post")
    assert operation.validator.is_valid({"body": {"p1": 1}})
    assert json.loads(prepared(operation, body={"p1": 1}).content or b"") == {"p1": 1}


def test_an_update_of_a_body_that_is_no_object_has_it_inside_its_input() -> None:
    operation = operation_of(get(given("path"), requestBody=body({"type": "array", "items": {}})), "/a/{id}", "put")
    assert prepared(operation, id="x", input={"body": [1]}).content == b"[1]"
    assert not operation.validator.is_valid({"id": "x", "input": {}})


def test_forms_refuse_half_characters_in_every_field() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for media in ("multipart/form-data", "application/x-www-form-urlencoded"):
        operation = operation_of(get(requestBody=body(schema, media=media)), method="post")
        function: Any = operation.function
        with pytest.raises(AqlError, match="no UTF-8 can carry"):
            function.prepared({"a": "\ud800"})


def test_a_null_field_of_a_form_is_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}
    operation = operation_of(get(requestBody=body(schema, media="application/x-www-form-urlencoded")), method="post")
    assert prepared(operation, a=None).content == b""


def test_a_required_name_of_the_path_that_is_not_given_is_said() -> None:
    function: Any = operation_of(get(), "/things/{id}").function
    with pytest.raises(AqlError, match="Missing parameter 'id'"):
        function.prepared({})


def test_an_example_of_a_body_that_is_one_value_is_shown_whole() -> None:
    node = get(requestBody=body({"type": "array", "items": {"type": "string"}}, example=["a"]))
    assert operation_of(node, method="post").examples[0].params == {"body": ["a"]}


def test_an_example_is_not_shown_where_a_needed_parameter_has_none() -> None:
    node = get(given("path"), requestBody=body({"type": "string"}, example="x"))
    assert operation_of(node, "/things/{id}", "post").examples == ()


def test_schemas_may_be_true_or_false_and_names_may_meet() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": True,
            "b": False,
            "c": {"$ref": "#/components/schemas/X"},
            "d": {"$ref": "#/components/parameters/X"},
        },
    }
    components = {"schemas": {"X": {"type": "string"}}, "parameters": {"X": {"type": "integer"}}}
    operation = operation_of(get(requestBody=body(schema)), method="post", components=components)
    assert operation.validator.is_valid({"a": 1, "c": "x", "d": 1})
    assert not operation.validator.is_valid({"b": 1})
    assert not operation.validator.is_valid({"c": 1})
    assert not operation.validator.is_valid({"d": "x"})
