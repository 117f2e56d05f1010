"""One document with every style, exploded and not, in every place, of every type; and every kind of body."""

from typing import Any, Final

__all__ = ["BODIES", "SHAPES", "STYLED", "document_with"]

Node = dict[str, Any]

THING: Final[Node] = {
    "type": "object",
    "required": ["red"],
    "properties": {
        "red": {"type": "integer"},
        "fullName": {"type": "string"},
        "dash-ed": {"type": "boolean"},
    },
    "additionalProperties": False,
}
SHAPES: Final[dict[str, Node]] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "wholes": {"type": "array", "items": {"type": "integer"}},
    "thing": THING,
}
_STYLES: Final = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}


def _is_defined(style: str, explode: bool, shape: str) -> bool:
    """Whether the specification gives the combination a meaning."""
    if style == "deepObject":
        return explode and shape == "thing"
    if style in ("spaceDelimited", "pipeDelimited"):
        return shape in ("texts", "wholes") or (shape == "thing" and not explode)
    return True


def _parameter(where: str, style: str, explode: bool, shape: str, **more: object) -> Node:
    name = "Some-Value" if where == "header" else "someValue"
    return {
        "name": name,
        "in": where,
        "style": style,
        "explode": explode,
        "required": where == "path",
        "schema": SHAPES[shape],
        **more,
    }


STYLED: Final[dict[str, Node]] = {
    f"{where}_{style}_{'explode' if explode else 'plain'}_{shape}": _parameter(where, style, explode, shape)
    for where, styles in _STYLES.items()
    for style in styles
    for explode in (False, True)
    for shape in SHAPES
    if _is_defined(style, explode, shape)
} | {
    f"query_reserved_{shape}": _parameter("query", "form", True, shape, allowReserved=True)
    for shape in ("text", "texts", "thing")
}
STYLED["query_reserved_plain_texts"] = _parameter("query", "form", False, "texts", allowReserved=True)
for _where in _STYLES:
    _node = _parameter(_where, "", False, "thing")
    STYLED[f"{_where}_content_json"] = {
        **{key: _node[key] for key in ("name", "in", "required")},
        "content": {"application/json": {"schema": {**THING, "additionalProperties": {"type": "string"}}}},
    }

_FILE: Final[Node] = {"type": "string", "format": "binary"}
_FORM: Final[Node] = {
    "type": "object",
    "properties": {
        "plainText": {"type": "string"},
        "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "thing": THING,
    },
    "additionalProperties": False,
}


def _form(properties: Node | None = None, encoding: Node | None = None) -> Node:
    schema = {**_FORM, "properties": {**_FORM["properties"], **(properties or {})}}
    return {"schema": schema, **({"encoding": encoding} if encoding else {})}


def _body(media: str, described: Node, *, required: bool = True) -> Node:
    return {"required": required, "content": {media: described}}


_URLENCODED: Final = "application/x-www-form-urlencoded"
BODIES: Final[dict[str, Node]] = {
    "json_object": _body("application/json", {"schema": THING}),
    "json_optional": _body("application/json", {"schema": THING}, required=False),
    "json_nested": _body(
        "application/json",
        {"schema": {"type": "object", "properties": {"inner": {"type": "array", "items": THING}, "a": {}}}},
    ),
    "json_array": _body("application/json", {"schema": SHAPES["texts"]}),
    "json_scalar": _body("application/json", {"schema": {"type": ["string", "number", "null"]}}),
    "json_free": _body("application/json", {"schema": {"type": "object"}}),
    "json_suffix": _body("application/vnd.thing+json; version=2", {"schema": THING}),
    "form_default": _body(_URLENCODED, _form()),
    "form_deep": _body(_URLENCODED, _form(encoding={"thing": {"style": "deepObject", "explode": True}})),
    "form_comma": _body(_URLENCODED, _form(encoding={"tags": {"style": "form", "explode": False}})),
    "form_pipe": _body(_URLENCODED, _form(encoding={"tags": {"style": "pipeDelimited", "explode": False}})),
    "form_json": _body(_URLENCODED, _form(encoding={"tags": {"contentType": "application/json"}})),
    "multipart_default": _body("multipart/form-data", _form()),
    "multipart_file": _body("multipart/form-data", _form({"upload": _FILE})),
    "multipart_files": _body("multipart/form-data", _form({"upload": {"type": "array", "items": _FILE}})),
    "multipart_typed": _body(
        "multipart/form-data",
        _form(
            {"upload": _FILE},
            {"upload": {"contentType": "image/png, image/jpeg"}, "thing": {"contentType": "application/json"}},
        ),
    ),
    "text": _body("text/plain", {"schema": {"type": "string"}}),
    "xml": _body("application/xml", {"schema": {"type": "object"}}),
    "bytes": _body("application/octet-stream", {"schema": _FILE}),
    "image": _body("image/png", {}),
}


def document_with(base_url: str) -> Node:
    """The whole document, for a server."""
    paths: Node = {}
    for name, parameter in STYLED.items():
        tail = "/{someValue}" if parameter["in"] == "path" else ""
        paths[f"/{name}{tail}"] = {
            "get": {"operationId": f"get_{name}", "parameters": [parameter], "responses": {"204": {"description": "-"}}}
        }
    for name, body in BODIES.items():
        for method, verb in (("post", "create"), ("put", "update")):
            paths.setdefault(f"/{name}/{{id}}", {})[method] = {
                "operationId": f"{verb}_{name}",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "requestBody": body,
                "responses": {"204": {"description": "-"}},
            }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Everything", "version": "1"},
        "servers": [{"url": base_url}],
        "paths": paths,
    }
